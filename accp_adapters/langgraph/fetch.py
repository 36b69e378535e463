"""The tool that opens references: `accp_fetch(ref, query, offset, limit)`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import Any, Final

from langchain.agents.middleware import ToolCallRequest
from langchain.tools import ToolRuntime
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.tools import BaseTool, StructuredTool, ToolException

from accp_adapters import fetching
from accp_adapters.langchain import program_calls, texts_in
from accp_adapters.langgraph import conversation, grants, stores
from accp_adapters.langgraph.conversation import agent_name, find_request, messages_of, thread_id
from accp_adapters.langgraph.grants import ToolAnswer, grants_in, held_texts, stored_keys
from accp_adapters.policy import Policy
from accp_adapters.telemetry import Telemetry
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError
from accp_core.markers import printable
from accp_core.ports import ColdStore
from accp_core.projection import ToolForms, is_program, share_batch
from accp_core.references import StoredText, check_grant, checked_text, is_hash_key, is_named, key_of, parse_reference

__all__ = [
    "OpenedTexts", "Passing", "describe_passed", "fetch_tool", "is_own", "is_refused", "private_fetch_tool",
    "private_texts", "refusals_as_tool_errors",
]  # fmt: skip


_BEGINNING_CHARS: Final = 500
_BEGINNING_LINES: Final = 6
"""Characters and lines of a text that a person is shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stored:
    """Where the texts may be that the state does not hold."""

    cold: ColdStore
    """The store."""
    session_id: str
    """The session there."""
    keys: Collection[str] = ()
    """The keys that it may be asked for."""
    messages: Sequence[BaseMessage] = ()
    """The messages for whose previews a `CompressNode` may have stored others."""

    def read(self, names: Sequence[str], held: Container[str]) -> dict[str, str | None]:
        """Return by their keys those texts that it may be asked for, that `names` may mean and that are not `held`."""
        listed = [
            key
            for name in names
            if self.messages
            for key in ([name] if is_hash_key(name) else self.cold.find(self.session_id, name))
        ]
        granted = [key for key, grants in grants_in(self.messages, listed).items() if any(map(self._has, grants))]
        known = (*(key for key in self.keys if is_named(key, names)), *granted)
        return {key: self.cold.get(self.session_id, key) for key in dict.fromkeys(known) if key not in held}

    def _has(self, grant: StoredText) -> bool:
        return self.cold.get(self.session_id, grant.key) == grant.text


_METADATA: Final = "accp_fetch"
"""The metadata key that tells our tool from another one of its name."""


def fetch_tool(policy: Policy | str | None = None, *, store: stores.Store | str | None = None) -> BaseTool:
    """Return the tool `accp_fetch` for hand-built graphs; `AccpMiddleware` registers its own.

    It opens the texts of the agent's own messages, and those that `CompressNode` put into the store for previews that
    are still among these messages, as the store knows it: what a message says of itself grants nothing. An answer takes
    at most `policy.fetch_limit` tokens. A refusal is a ToolMessage with status "error" that begins with the code: E5002
    (no longer a text of this conversation), E2001 (the store has another text), E1004 (no such part).

    Args:
        policy: The policy of the node.
        store: Its store; None: the graph's own, if it has one.
    """
    chosen, kept = Policy.of(policy), stores.opened(store)

    def find_stored(runtime: ToolRuntime) -> _Stored | None:
        cold, session_id = stores.choose(kept, runtime.store), conversation.graph_session(runtime)
        messages = messages_of(runtime.state)
        return _Stored(cold=cold, session_id=session_id, messages=messages) if cold and session_id else None

    return _fetch_tool(chosen, find_stored, Telemetry("langgraph"))


def private_fetch_tool(policy: Policy, store: stores.Store | None, telemetry: Telemetry) -> BaseTool:
    """Return the tool of an `AccpMiddleware`: besides the state, it opens only what this thread put into `store`."""
    cold = stores.choose(store, None)

    return _fetch_tool(policy, lambda runtime: _private(cold, runtime.state), telemetry)


def private_texts(store: stores.Store | None, state: Any, references: Iterable[str]) -> OpenedTexts:
    """Return what opens `references` as the tool of an `AccpMiddleware` does."""
    return OpenedTexts(references, state, _private(stores.choose(store, None), state))


def _private(cold: ColdStore | None, state: Any) -> _Stored | None:
    session_id, keys = conversation.private_session(state), stored_keys(state)
    return _Stored(cold=cold, session_id=session_id, keys=keys) if cold and session_id else None


def _fetch_tool(chosen: Policy, find_stored: Callable[[ToolRuntime], _Stored | None], telemetry: Telemetry) -> BaseTool:
    def accp_fetch(runtime: ToolRuntime, **arguments: object) -> str:
        with refusals_as_tool_errors(telemetry):
            request = fetching.read_request(arguments)
            texts = OpenedTexts(request.references, runtime.state, find_stored(runtime))
            answered = _answer(request, runtime, texts, chosen)
            telemetry.opened(texts.opened)
            return answered

    async def aaccp_fetch(runtime: ToolRuntime, **arguments: object) -> str:
        return await stores.in_thread(accp_fetch, runtime, **arguments)

    return StructuredTool.from_function(
        accp_fetch,
        coroutine=aaccp_fetch,
        name=fetching.FETCH_NAME,
        description=fetching.FETCH_DESCRIPTION,
        args_schema=fetching.FETCH_PARAMETERS,
        handle_tool_error=True,
        metadata={_METADATA: True},
    )


def is_own(tool: object) -> bool:
    """Return whether a tool of this name is ours."""
    return bool((getattr(tool, "metadata", None) or {}).get(_METADATA))


def is_refused(answer: object) -> bool:
    """Return whether our tool answers that a reference is not of this conversation."""
    refusal = f"{ErrorCode.UNAUTHORIZED_REF}: "
    return isinstance(answer, ToolMessage) and answer.status == "error" and answer.text.startswith(refusal)


@contextmanager
def refusals_as_tool_errors(telemetry: Telemetry | None = None) -> Iterator[None]:
    """Turn a refusal into a tool error, which the model reads and which does not end the run."""
    with telemetry.fetch(agent_name(), thread_id()) if telemetry else nullcontext():
        try:
            yield
        except Exception as error:
            refusal = _refusal_of(error)
            if telemetry:
                telemetry.refused(refusal)
            raise ToolException(refusal) from error


def _refusal_of(error: Exception) -> str:
    """Return what a model is told of an error of ours, which must not end the run; its words may be those of a text."""
    unknown = f"{ErrorCode.TOOL_EXEC_FAILED}: expected an answer, found {type(error).__name__}; ask otherwise"
    return str(error) if isinstance(error, ProtocolError) else unknown


class OpenedTexts:
    """The texts that an agent may open, of those that references name."""

    def __init__(self, references: Iterable[str], state: Any, stored: _Stored | None) -> None:
        """Find those that the state holds, and those of the store that `references`, as they are written, may mean.

        Raises:
            ProtocolError: E4002, the store failed.
        """
        self.names: Final = [parse_reference(each) for each in references]
        """The keys, whole or short, as the model wrote them."""
        self._texts: Final[dict[str, str | None]] = dict(held_texts(state))
        self.opened: Final[list[str]] = []
        """The keys of those that were opened."""
        if stored is not None:
            with stores.failures_as_refusals(stored.cold):
                found = stored.read(self.names, self._texts)
            self._texts.update({**dict.fromkeys(key for key in stored.keys if key not in self._texts), **found})

    def open(self, reference: str) -> str:
        """Return the text of a reference.

        Raises:
            ProtocolError: E5002, the agent may not open it; E2001, the store does not have it.
        """
        key = check_grant(reference, self._texts)
        text = checked_text(key, self._texts[key])
        self.opened.append(key)
        return text


def _is_by_program(runtime: ToolRuntime) -> bool:
    """Return whether a program made this call of our tool.

    The config says it, or the message that makes the call. A program's own calls stand in no message: interpreters make
    them under a new id, as `langchain-quickjs` does, or under the id of the call that runs them, as `langchain-monty`.
    """
    said, messages = conversation.said_caller(), messages_of(runtime.state)
    if said is not None:
        return is_program(said)
    turn = find_request(messages, runtime.tool_call_id, fetching.FETCH_NAME)
    return runtime.tool_call_id in program_calls(turn) if turn else bool(messages)


def _answer(request: fetching.FetchRequest, runtime: ToolRuntime, texts: OpenedTexts, policy: Policy) -> str:
    if _is_by_program(runtime):
        return fetching.answer_program({name: texts.open(name) for name in texts.names}, request)
    messages = messages_of(runtime.state)
    turn = find_request(messages, runtime.tool_call_id, fetching.FETCH_NAME)
    limit = policy.result_limits(len(turn.tool_calls) if turn else 0).fetch
    request = replace(request, verbatim=frozenset(_verbatim(messages, policy)))
    return fetching.open_and_answer(request, texts.open, limit=limit, counter=policy.counter)


def _verbatim(messages: Sequence[BaseMessage], policy: Policy) -> Iterator[str]:
    """Yield the keys of the texts of files that were shown as they are."""
    forms = ToolForms(policy.tools)
    tools = {call["id"]: call["name"] for each in messages if isinstance(each, AIMessage) for call in each.tool_calls}
    for message in (each for each in messages if isinstance(each, ToolMessage)):
        if forms.find(tools.get(message.tool_call_id) or message.name or "") == "verbatim":
            yield from map(key_of, texts_in(message))


# References in the arguments of other tools, `Policy.tools={"write_file": resolve("content")}`, in LangGraph.


class Passing:
    """Gives tools the texts of references that a model wrote as arguments."""

    def __init__(self, policy: Policy, store: stores.Store | None, telemetry: Telemetry) -> None:
        """Open what the fetch tool of a middleware with this policy and store opens."""
        self._rules: Final = policy.rules
        self._store: Final = store
        self._telemetry: Final = telemetry

    def call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], ToolAnswer]) -> ToolAnswer:
        """Return the answer of a tool that is given the texts, with those that it hands over; or the refusal."""
        given = self.resolved(request)
        if isinstance(given, ToolMessage):
            return given
        with grants.receiving() as handing:
            answer = handler(given)
        views = self._views(request, answer, handing) if handing.views else {}
        return grants.with_handed(answer, handing.texts, views)

    async def acall(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[ToolAnswer]]
    ) -> ToolAnswer:
        """`call`, asynchronously."""
        needs_thread = bool(self._requests(request.tool_call))
        given = await stores.in_thread(self.resolved, request) if needs_thread else request
        if isinstance(given, ToolMessage):
            return given
        with grants.receiving() as handing:
            answer = await handler(given)
        views = await stores.in_thread(self._views, request, answer, handing) if handing.views else {}
        return grants.with_handed(answer, handing.texts, views)

    def _views(self, request: ToolCallRequest, answer: ToolAnswer, handing: grants.Handing) -> dict[str, str]:
        """Return what the model is sent of the views that a tool returned, as VIEWS_KEY has it."""
        call, rules, count = request.tool_call, self._rules, self._rules.counter
        turn = find_request(messages_of(request.state), call["id"])
        own = rules.tools.limits_of(call["name"], rules.limits) or replace(rules.limits, inline=None)
        limits = share_batch(own, results=len(turn.tool_calls) if turn else 1, batch=rules.batch_limit)
        words, views = " ".join(map(str, call["args"].values())), dict[str, str]()
        for view in handing.views.keys() & grants.texts_of_answer(answer):
            is_long = limits.inline is not None and count(view) > limits.inline
            try:
                views[key_of(view)] = handing.views[view](limits.preview, count, words) if is_long else ""
            except Exception:  # of a store, or no room: the view is projected like any text
                self._telemetry.projection_failed(1)
        return views

    def resolved(self, request: ToolCallRequest) -> ToolCallRequest | ToolMessage:
        """Return the request with the texts in place of references, or the refusal, a tool error with its code."""
        call = request.tool_call
        if not (requests := self._requests(call)):
            return request
        with self._telemetry.passing_on(call["name"], agent_name(), thread_id()):
            try:
                texts, keys = self._texts(call["name"], request.state, requests)
            except Exception as error:
                self._telemetry.refused(refusal := _refusal_of(error))
                return ToolMessage(refusal, name=call["name"], tool_call_id=call["id"] or "", status="error")
            self._telemetry.passed_on(call["name"], keys, sum(map(len, texts.values())))
        return request.override(tool_call={**call, "args": {**call["args"], **texts}})

    def describe(self, call: Mapping[str, Any], state: Any, runtime: Any = None) -> str:
        """Return what a person is shown of a call: each argument, a reference with its size and first lines.

        For `HumanInTheLoopMiddleware(interrupt_on={"write_file": {"allowed_decisions": […], "description":
        accp.describe_call}})`.
        """
        requests, shown = self._requests(call), [f"Tool: {call['name']}"]
        for name, value in call["args"].items():
            if name not in requests:
                shown.append(f"{name if name.isprintable() else ascii(name)}: {value!r}")
                continue
            try:
                texts, _ = self._texts(call["name"], state, {name: requests[name]})
                shown.append(describe_passed(name, requests[name], texts[name]))
            except Exception as error:
                shown.append(f"{name}: {value!r}, which is refused: {_refusal_of(error)}")
        return "\n".join(shown)

    def _requests(self, call: Mapping[str, Any]) -> dict[str, fetching.FetchRequest]:
        return dict(fetching.passed_requests(call["args"], self._rules.tools.resolve(call["name"])))

    def _texts(
        self, tool: str, state: Any, requests: Mapping[str, fetching.FetchRequest]
    ) -> tuple[dict[str, str], list[str]]:
        """Return the texts by the names of their arguments, and the keys that they come from."""
        resolved = self._rules.tools.resolve(tool)
        most = resolved.max_chars if resolved else 0
        opened = private_texts(self._store, state, [name for each in requests.values() for name in each.references])
        texts = {name: fetching.passed_text(each, opened.open, max_chars=most) for name, each in requests.items()}
        return texts, opened.opened


def describe_passed(name: str, request: fetching.FetchRequest, text: str) -> str:
    """Return what a person is shown of an argument before the tool is given its text: reference, size, first lines."""
    cited = f"{request.ref} {request.query}".replace(" #/", "#/", 1).strip().replace("\n", "\\n")
    lines = text[:_BEGINNING_CHARS].replace("\r\n", "\n").split("\n")[:_BEGINNING_LINES]
    shown = "\n".join(f"  {line}" for line in lines)
    size = f"{len(text):,} characters, {text.count(chr(10)) + 1:,} lines"
    return printable(f"{name}: the text of {cited}, {size}, which begins:\n{shown}")
