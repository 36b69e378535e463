"""AgentContexts over A2A: the agent that takes them, and the master's function that calls it (ACI sections 2.1, 5.3).

    ContextExecutor(agent, agent_id="crm")                          an AgentExecutor for the SDK's DefaultRequestHandler
    isolate(RemoteAgent("https://crm.example", agent_id="crm"), agent_id="crm")                       a node of a graph

"The ACI client and server can be realized by an A2A client and an A2A server": an AgentContext travels as figure 4 has
it, in a data part of JSON, and comes back so. An agent that does not know contexts gets it as words, too, and may
answer in words. A long result is an artifact beside the returned context. The texts behind the references that a
context grants travel with it; the agent opens them and no others (E5002), and one that cannot open any reads them.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import secrets
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from a2a.client import A2ACardResolver, ClientCallContext, ClientConfig, create_client
from a2a.client.errors import A2AClientError, A2AClientTimeoutError
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.tasks import TaskUpdater
from a2a.types import AgentCard, Message, Part, Role, SendMessageRequest, Task, TaskState, TaskStatus
from a2a.utils.errors import A2AError
from httpx import AsyncClient

from accp_adapters.a2a.client import AccpClientInterceptor
from accp_adapters.a2a.extension import VIEWS, error_code, is_declared
from accp_adapters.a2a.values import read_struct, read_value, write_value
from accp_adapters.a2a.walk import state_kind
from accp_adapters.tokens import o200k_base
from accp_core import aci, references
from accp_core.aci import AcceptedReply, AgentContext, AgentReply
from accp_core.aci.items import MAX_ABSTRACT_CHARS
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError
from accp_core.ports import TokenCounter
from accp_core.strict_json import compact_json, read_json

__all__ = ["ContextAgent", "ContextExecutor", "GrantedTexts", "RemoteAgent"]

_LOGGER: Final = logging.getLogger("accp.a2a")
MAX_GRANTED_BYTES: Final = (8 << 20) - (64 << 10)
"""Bytes of the texts that travel with one context, as JSON; `BoundedRequests` takes 8 MiB with the context."""
_ITEM: Final = "itemId"
"""The metadata key of an artifact that is the whole result of an item (the name is that of ACI figure 4)."""
_URI: Final = "ContextURI"
"""The metadata key of a part that is the text behind a reference of the context."""
_CODE: Final = "code"
_FIGURE_4: Final[Mapping[str, Any]] = {
    **dict.fromkeys(("AgentID", "AgentName", "SubTaskID", "SubTaskName"), ""),
    **{name: [] for name in ("Dependencies", "todoItems", "ItemstateUpdates", "KeyInformation")},
}
"""The fields of ACI figure 4 that are always written, but for the context itself, which has two names there."""
_SAID: Final = frozenset({"text", "data"})
_REFUSED: Final = frozenset({TaskState.TASK_STATE_REJECTED, TaskState.TASK_STATE_AUTH_REQUIRED})


class GrantedTexts:
    """The texts that an agent may open while it works on one context (ACI section 5.2)."""

    def __init__(self, context: AgentContext, texts: Mapping[str, str]) -> None:
        """Grant the references of `context`; `texts` maps the keys, such as "cold.…", to what the master sent."""
        self._context: Final = context
        self.texts: Final = texts
        """Key to text."""

    def open(self, reference: str) -> str:
        """Return the text behind `reference`, such as "$cold.…".

        Raises:
            ProtocolError: E5002, the context does not grant it; E2001, the master sent no text for it, or another one.
        """
        key = aci.check_context_grant(self._context, reference)
        return references.checked_text(key, self.texts.get(key))


ContextAgent: TypeAlias = Callable[[AgentContext, GrantedTexts], Any]
"""Works on one context, and returns a context, an `AgentReply` or words as `brief` asks for them, or an awaitable."""
FetchText: TypeAlias = Callable[[str], str | Awaitable[str | None] | None]
"""Returns the text under a key of the master's store, such as "cold.…", None where there is none."""


# --- the agent --------------------------------------------------------------------------------------------------------


class ContextExecutor(AgentExecutor):
    """Runs an agent on the contexts that a master delivers: it gets one context and returns it, nothing else."""

    def __init__(self, agent: ContextAgent | Any, *, agent_id: str, counter: TokenCounter | None = None) -> None:
        """Serve `agent` under `agent_id`.

        Args:
            agent: A function of a context and the texts that it grants; or a graph, or anything else with `ainvoke`,
                that takes `{"messages": […]}`.
            agent_id: The AgentID whose contexts it takes.
            counter: Counts the tokens of the model of a graph; None: o200k_base.
        """
        self._agent = agent
        self._agent_id: Final = agent_id
        self._counter: Final = counter or o200k_base()

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Answer a delivery by the agent's context, and by an artifact for each long result."""
        updater = TaskUpdater(event_queue, context.task_id or "", context.context_id or "")
        parts = list(context.message.parts) if context.message else []
        if context.current_task is None:
            status = TaskStatus(state=TaskState.TASK_STATE_SUBMITTED)
            task = Task(id=updater.task_id, context_id=updater.context_id, status=status)
            task.history.extend([context.message] if context.message else [])
            await event_queue.enqueue_event(task)
        try:
            reply = await self._reply(parts)
        except A2AError:  # meant for the peer
            raise
        except Exception as error:
            refusal = error if isinstance(error, ProtocolError) else _failure(self._agent_id, error)
            end = updater.reject if refusal.code.startswith("E5") else updater.failed
            words = Part(text=refusal.reason, metadata={_CODE: str(refusal.code)})
            await end(updater.new_agent_message([words]))
            return
        for item, text in reply.full.items():
            await updater.add_artifact([Part(text=text)], name=f"result {item}", metadata={_ITEM: item})
        await updater.complete(updater.new_agent_message([_context_part(reply.context)]))

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Cancel the task; the SDK stops the work on it."""
        await TaskUpdater(event_queue, context.task_id or "", context.context_id or "").cancel()

    async def _reply(self, parts: Sequence[Part]) -> AcceptedReply:
        sent = _context_in(parts)
        if sent is None:
            raise ProtocolError("expected an AgentContext, found none in the message", code=ErrorCode.PARSE_ERROR)
        _check_agent(sent, self._agent_id)
        result = await self._run(sent, GrantedTexts(sent, _granted_in(parts)))
        if isinstance(result, str):
            result = aci.reply_from_words(sent, result)
        return AcceptedReply.of(sent, result)

    async def _run(self, sent: AgentContext, granted: GrantedTexts) -> Any:
        if hasattr(self._agent, "ainvoke"):
            return await run_graph(self._agent, sent, granted, counter=self._counter)
        found = await asyncio.to_thread(self._agent, sent, granted)
        return await found if inspect.isawaitable(found) else found


def _failure(agent_id: str, error: Exception) -> ProtocolError:
    """Return what a peer is told of an exception of the agent, whose words may be those of a text; the log has them."""
    _LOGGER.error("agent %r failed", agent_id, exc_info=error)
    reason = f"expected an answer of agent {agent_id!r}, found an error in it: ask its operator"
    return ProtocolError(reason, code=ErrorCode.INTERNAL_ERROR)


async def run_graph(graph: Any, context: AgentContext, granted: GrantedTexts, *, counter: TokenCounter) -> AgentReply:
    """Return the reply of a graph that begins with one message, `brief(context)`, and the texts that it may open.

    Raises:
        ProtocolError: E1004, the state that it returns has no answer.
    """
    message = {"role": "user", "content": aci.brief(context, counter=counter)}
    handed = {references.HANDED_TEXTS_KEY: dict(granted.texts)} if granted.texts else {}
    found = await graph.ainvoke({"messages": [message], **handed})
    structured = _field(found, "structured_response")
    if structured is not None:
        return aci.reply_from_value(context, structured)
    words = next((_text_of(each) for each in reversed(_field(found, "messages") or []) if _is_answer(each)), None)
    if words is None:
        reason = f"expected a state with an answer of the agent, found {type(found).__name__}"
        raise ProtocolError(reason, code=ErrorCode.INVALID_TYPE)
    return aci.reply_from_words(context, words)


def _field(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def _is_answer(message: Any) -> bool:
    return bool(_field(message, "type") == "ai" or _field(message, "role") == "assistant")


def _text_of(message: Any) -> str:
    content = _field(message, "content")
    blocks = [content] if isinstance(content, str) else content or ()
    return "".join(block if isinstance(block, str) else str(_field(block, "text") or "") for block in blocks)


# --- the master -------------------------------------------------------------------------------------------------------


class RemoteAgent:
    """An agent that takes contexts behind A2A: `await agent(context)`, or `agent.run(context)` in a thread."""

    takes_texts: Final = True
    """LangGraph's nodes call it with the context and the texts that the graph has for it."""

    def __init__(
        self,
        agent: str | AgentCard,
        *,
        agent_id: str,
        fetch: FetchText | None = None,
        config: ClientConfig | None = None,
        timeout: float = 300.0,
    ) -> None:
        """Call the agent at a URL, or the agent of a card.

        Args:
            agent: The URL below which the agent's card is, or the card.
            agent_id: The AgentID whose contexts it takes.
            fetch: Reads the texts that a context grants, where the caller has others than those that it gives.
            config: How to connect: transports, HTTP client, credentials. An HTTP client in it is not closed.
            timeout: Seconds that one delivery may take.
        """
        self.agent_id: Final = agent_id
        self._agent = agent
        self._fetch = fetch
        self._timeout = timeout
        # Only the final state of the task answers a context.
        self._config = replace(config or ClientConfig(), streaming=False, polling=False)
        self._interceptor: Final = AccpClientInterceptor()

    async def __call__(self, context: AgentContext, texts: Mapping[str, str] = MappingProxyType({})) -> AcceptedReply:
        """Return the agent's reply to `context`: its context, checked, and in `full` the whole of each long result.

        LangGraph's `isolate` and `Interaction.receive` take the reply as it is. `texts` maps keys, such as "cold.…", to
        the texts that the context grants; `fetch` reads the others.

        Raises:
            ProtocolError: E5001, the context is another agent's, or the reply breaks a rule of `accept_reply`; E2001,
                there is no text behind a reference; E2003, the granted texts are too long; E3001, the delivery took too
                long; the code of the agent's own refusal, or of the connection.
        """
        _check_agent(context, self.agent_id)
        try:
            async with asyncio.timeout(self._timeout):
                return AcceptedReply.of(context, _reply_in(await self._deliver(context, texts), context))
        except (TimeoutError, A2AClientTimeoutError) as error:
            reason = f"expected {self.agent_id!r} to answer within {self._timeout!r} seconds, it did not"
            raise ProtocolError(reason, code=ErrorCode.TIMEOUT) from error
        except (A2AError, A2AClientError) as error:
            raise ProtocolError(f"{self.agent_id!r}: {error}", code=error_code(error)) from error

    def run(self, context: AgentContext) -> AcceptedReply:
        """Return the same as `await agent(context)`, for callers without an event loop."""
        return asyncio.run(self(context))

    async def _deliver(self, context: AgentContext, texts: Mapping[str, str]) -> Task | Message:
        """Return the task or the message that answers the delivery."""
        if isinstance(self._agent, str):
            async with AsyncClient(timeout=self._timeout) as http:
                self._agent = await A2ACardResolver(http, self._agent).get_agent_card()
        parts = await self._parts(context, self._agent, texts)
        message = Message(message_id=secrets.token_hex(6), role=Role.ROLE_USER, parts=parts)
        client = await create_client(self._agent, self._config, interceptors=[self._interceptor])
        answer: Task | Message = Task()
        try:
            call = ClientCallContext(timeout=self._timeout)
            async for response in client.send_message(SendMessageRequest(message=message), context=call):
                answer = response.task if response.HasField("task") else response.message
        finally:
            if self._config.httpx_client is None:  # closing the client would close the caller's own HTTP client
                await client.close()
        return answer

    async def _parts(self, context: AgentContext, card: AgentCard, given: Mapping[str, str]) -> list[Part]:
        """Return the parts that deliver `context`: for an agent that may not know contexts, also as words."""
        keys = [key for uri in context.context_uri if (key := references.uri_to_key(uri))]
        texts = {key: references.checked_text(key, given.get(key) or await self._text(key)) for key in keys}
        size = sum(len(compact_json(text).encode()) for text in texts.values())
        if size > MAX_GRANTED_BYTES:
            reason = f"expected granted texts of at most {MAX_GRANTED_BYTES} bytes as JSON, found {size}; grant less"
            raise ProtocolError(reason, code=ErrorCode.BUDGET_EXCEEDED)
        parts = [] if is_declared(card, VIEWS) else [Part(text=aci.brief(context, counter=o200k_base()))]
        parts.append(_context_part(context))
        for key, text in texts.items():
            named = Part(text=f"The whole of {references.short_reference(key)}:")
            uri = references.reference_to_uri(references.reference_to(key))
            parts += [named, Part(text=text, metadata={_URI: uri})]
        return parts

    async def _text(self, key: str) -> str | None:
        text = None if self._fetch is None else self._fetch(key)
        return await text if inspect.isawaitable(text) else text


def _reply_in(answer: Task | Message, sent: AgentContext) -> AgentReply:
    """Return the agent's reply: from a context, else from words.

    Raises:
        ProtocolError: The code in the words of a refusal; without one E5001 for a task that was rejected or needs a
            log-in, E4002 for one in any other state but completed; E1004, E2003, the context is malformed.
    """
    artifacts = [] if isinstance(answer, Message) else list(answer.artifacts)
    parts = list(answer.parts if isinstance(answer, Message) else answer.status.message.parts)
    if isinstance(answer, Task) and answer.status.state != TaskState.TASK_STATE_COMPLETED:
        raise _refusal(answer, parts)
    full = {
        str(read_struct(each.metadata)[_ITEM]): _words_in(each.parts) for each in artifacts if _ITEM in each.metadata
    }
    others = [part for each in artifacts if _ITEM not in each.metadata for part in each.parts]
    context = _context_in([*parts, *others])
    if context is None:
        return aci.reply_from_words(sent, _words_in([*parts, *others]))
    long = {item: text for item, text in full.items() if len(text) > MAX_ABSTRACT_CHARS}
    return AgentReply(context=context, full=long)


def _refusal(answer: Task, parts: Sequence[Part]) -> ProtocolError:
    given = next((str(read_struct(part.metadata)[_CODE]) for part in parts if _CODE in part.metadata), "")
    state = answer.status.state
    usual = ErrorCode.POLICY_DENIED if state in _REFUSED else ErrorCode.TOOL_EXEC_FAILED
    expected = f"expected a completed task, found one {state_kind(state).state_name}"
    is_failed = state in (TaskState.TASK_STATE_FAILED, TaskState.TASK_STATE_REJECTED)
    words = _words_in(parts)
    reason = words if words and is_failed else f"{expected}: {words}".removesuffix(": ")
    return ProtocolError(reason, code=ErrorCode(given) if given in set(ErrorCode) else usual)


# --- contexts among parts ---------------------------------------------------------------------------------------------


def _check_agent(context: AgentContext, agent_id: str) -> None:
    """Refuse the context of another agent (E5001)."""
    if context.agent_id != agent_id:
        reason = f"expected a context of agent {agent_id!r}, found one of {context.agent_id!r}"
        raise ProtocolError(reason, code=ErrorCode.POLICY_DENIED)


def _context_part(context: AgentContext) -> Part:
    """Return the part of a context, with every field that figure 4 does not call optional."""
    whole = {"AgentContext": {**_FIGURE_4, **context.to_json()["AgentContext"]}}
    return Part(data=write_value(whole), media_type="application/json")


def _context_in(parts: Iterable[Part]) -> AgentContext | None:
    """Return the context in the first data part, or text of JSON, that has the shape of ACI figure 4.

    Raises:
        ProtocolError: E1001, E1004, E2003, it is malformed.
    """
    for part in parts:
        value = _json_in(part)
        if isinstance(value, dict) and ("AgentContext" in value or {"AgentID", "SubTaskID"} <= value.keys()):
            return AgentContext.from_json(value)
    return None


def _json_in(part: Part) -> Any:
    if part.WhichOneof("content") == "data":
        return read_value(part.data)
    if not part.text.lstrip().startswith("{"):
        return None
    try:
        return read_json(part.text)
    except (ValueError, RecursionError):
        return None


def _granted_in(parts: Iterable[Part]) -> dict[str, str]:
    """Return key to text of the parts that are the texts behind references."""
    named = {str(read_struct(part.metadata)[_URI]): part.text for part in parts if _URI in part.metadata}
    return {key: text for uri, text in named.items() if (key := references.uri_to_key(uri))}


def _words_in(parts: Iterable[Part]) -> str:
    """Return texts as they are and data as JSON."""
    kinds = [(part, part.WhichOneof("content")) for part in parts]
    said = [(part, kind == "text") for part, kind in kinds if kind in _SAID]
    return "\n".join(part.text if is_text else compact_json(read_value(part.data)) for part, is_text in said)
