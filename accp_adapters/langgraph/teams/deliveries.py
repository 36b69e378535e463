"""One delivery to an isolated agent: opened from the state of the graph, closed with the agent's reply (ACI 5.3)."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any, Final
from uuid import NAMESPACE_OID, UUID, uuid5

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import BaseLanguageModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, LLMResult
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import merge_configs
from langgraph.errors import GraphBubbleUp
from langgraph.runtime import Runtime, get_runtime
from langgraph.types import RetryPolicy

from accp_adapters.fetching import FETCH_NAME
from accp_adapters.langgraph import stores
from accp_adapters.langgraph.conversation import as_json, count_tokens, messages_of, new_session, thread_session
from accp_adapters.langgraph.grants import HANDED_TEXTS_KEY, find_texts
from accp_adapters.policy import Policy
from accp_adapters.telemetry import Telemetry
from accp_core import aci
from accp_core.aci import AcceptedReply, AgentContext, AgentReply, Usage
from accp_core.aci.items import MAX_ABSTRACT_CHARS
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError
from accp_core.ports import ColdStore, TokenCounter
from accp_core.references import StoredText, find_references, uri_to_key

__all__ = [
    "ACI_SESSION_KEY", "ACI_TEXTS_KEY", "CONTEXT_KEY", "DELIVERY_KEY", "Deliveries", "Reporter", "UsageCounter",
    "WorkAttempt", "WorkDelivery", "agent_input", "cited_texts", "delivery_state", "is_awaited", "messages_in",
    "read_reply", "takes_texts", "usage_of",
]  # fmt: skip


# What an isolated agent is given for its AgentContext, and its result as a reply: the pure part of `isolate`.


def agent_input(agent: Any, context: AgentContext, texts: Mapping[str, str], *, counter: TokenCounter) -> Any:
    """Return what the agent of `context` is invoked with: one message, and the texts that it may open.

    The id of the message is made of its text, so that it is the same in a replay.

    Args:
        agent: A chat model gets the message, anything else a state with it.
        context: The agent's own context.
        texts: Key to text of what the context cites.
        counter: Counts the tokens of the model.
    """
    words = aci.brief(context, counter=counter)
    message = HumanMessage(words, id=str(uuid5(NAMESPACE_OID, f"{context.agent_id}/{context.subtask_id}/{words}")))
    if isinstance(agent, BaseLanguageModel):
        return [message]
    return {"messages": [message], **({HANDED_TEXTS_KEY: dict(texts)} if texts else {})}


def read_reply(context: AgentContext, result: Any) -> AgentReply:
    """Return the reply that an agent's result means; one that means none is unread, with the reason.

    Args:
        context: The context that was delivered.
        result: An `AgentReply`, an AgentContext or its JSON, a state with a `structured_response` or `messages`, a
            message, or text.
    """
    try:
        return _read(context, result)
    except ProtocolError as refusal:
        return aci.unread_reply(context, str(refusal))


def _read(context: AgentContext, result: Any) -> AgentReply:
    if isinstance(result, AgentReply):
        return result
    if isinstance(result, AgentContext) or (isinstance(result, Mapping) and _is_context(result)):
        return AgentReply(context=result)
    if isinstance(result, Mapping) and result.get("structured_response") is not None:
        return aci.reply_from_value(context, result["structured_response"])
    text = result if isinstance(result, str) else _last_words(messages_in(result))
    if text is None:
        raise ProtocolError(
            f"expected a state with an answer of the agent, found {type(result).__name__}", code=ErrorCode.INVALID_TYPE
        )
    return _with_answer(context, aci.reply_from_words(context, text), text)


def _with_answer(context: AgentContext, reply: AgentReply, text: str) -> AgentReply:
    """Return the reply with the agent's own words where no result was found in them, so that a person can judge."""
    known = AcceptedReply.of(context, reply).context
    if known.abstracts or not text.strip():
        return reply
    words = text.strip()[:MAX_ABSTRACT_CHARS]
    return replace(
        reply, context=replace(known, key_information=tuple(aci.KeyInformation(i, words) for i in reply.unread))
    )


def messages_in(result: Any) -> list[BaseMessage]:
    """Return the messages in an agent's result."""
    return [result] if isinstance(result, BaseMessage) else messages_of(result)


def cited_texts(context: AgentContext, reply: AgentReply, messages: list[BaseMessage]) -> tuple[StoredText, ...]:
    """Return the texts that the answers cite and the agent's own messages hold; other references are mere words."""
    known = AcceptedReply.of(context, reply)
    answers = {**known.context.abstracts, **known.full}.values()
    names = dict.fromkeys(name for answer in answers for name in find_references(answer))
    return tuple(map(StoredText.of, dict.fromkeys(find_texts(names, None, messages).values())))


def _is_context(result: Mapping[str, Any]) -> bool:
    return "AgentContext" in result or {"AgentID", "SubTaskID"} <= set(result)


def _last_words(messages: list[BaseMessage]) -> str | None:
    return next((message.text for message in reversed(messages) if isinstance(message, AIMessage)), None)


def is_awaited(function: Callable[..., Any]) -> bool:
    """Return whether a call of `function`, or of an object, has to be awaited."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)


def takes_texts(agent: Any) -> bool:
    """Return whether an agent, such as one on another machine, is called with its context and the texts it grants."""
    return getattr(agent, "takes_texts", False) is True


# The result of work whose words are missing, read from the agent's transcript by a model without tools (ACI 5.2).


@dataclass(frozen=True, slots=True)
class Reporter:
    """Asks a model once for the results that an agent's answer lacks.

    An exception of the model leaves the reply as it is, with the reason: the work is done, whoever can tell of it. So
    does an interrupt, after which the agent would work again.
    """

    model: Runnable[Any, BaseMessage]
    """A chat model without tools."""

    def complete(
        self, sent: AgentContext, reply: AgentReply, messages: list[BaseMessage], config: RunnableConfig
    ) -> AgentReply:
        """Return `reply` with those answers that the agent's `messages` show."""
        if not _can_report(reply, messages):
            return reply
        try:
            words = self.model.invoke(_request(sent, reply, messages), config).text
        except Exception as error:
            return _without_report(reply, error)
        return aci.with_report(sent, reply, words)

    async def acomplete(
        self, sent: AgentContext, reply: AgentReply, messages: list[BaseMessage], config: RunnableConfig
    ) -> AgentReply:
        """`complete`, asynchronously."""
        if not _can_report(reply, messages):
            return reply
        try:
            words = (await self.model.ainvoke(_request(sent, reply, messages), config)).text
        except Exception as error:
            return _without_report(reply, error)
        return aci.with_report(sent, reply, words)


def _can_report(reply: AgentReply, messages: list[BaseMessage]) -> bool:
    return bool(reply.unread) and any(isinstance(message, AIMessage) for message in messages)


def _request(sent: AgentContext, reply: AgentReply, messages: list[BaseMessage]) -> list[BaseMessage]:
    transcript = [entry for message in messages for entry in _entries(message)]
    return [HumanMessage(aci.report_request(sent, reply.unread, transcript))]


def _entries(message: BaseMessage) -> Iterator[tuple[str, str]]:
    """Yield speaker and text of what a message holds: its words, its calls of tools."""
    if isinstance(message, ToolMessage):
        yield f"result of {message.name or 'a tool'}", message.text
    elif message.text:
        yield ("agent" if isinstance(message, AIMessage) else message.type), message.text
    for call in message.tool_calls if isinstance(message, AIMessage) else ():
        yield f"call {call['name']}", as_json(call["args"])


def _without_report(reply: AgentReply, error: Exception) -> AgentReply:
    reason = f"the reporter failed: {type(error).__name__}: {error}"
    return replace(reply, unread={item: f"{problem}; {reason}" for item, problem in reply.unread.items()})


# What an agent's work cost: the calls of its models and their tokens, counted by a callback.


class UsageCounter(BaseCallbackHandler):
    """Counts the calls of all models below one run, those of sub-agents included.

    Tokens are those that a provider reports (`usage_metadata`); where it reports none, those of the messages are
    counted, without the definitions of tools. A call that failed counts as a call without tokens.
    """

    run_inline = True

    def __init__(self, counter: TokenCounter) -> None:
        """Count with `counter` where a model reports nothing."""
        self._counter: Final = counter
        self._prompts: Final[dict[UUID, list[BaseMessage]]] = {}
        self._lock: Final = Lock()
        self.usage = Usage()

    def added_to(self, config: RunnableConfig) -> RunnableConfig:
        """Return `config` for a run that this object counts."""
        return merge_configs(config, {"callbacks": [self]})

    def on_chat_model_start(
        self, serialized: dict[str, Any], messages: list[list[BaseMessage]], *, run_id: UUID, **kwargs: Any
    ) -> None:
        """Remember the prompt until the model has answered."""
        self._prompts[run_id] = [message for batch in messages for message in batch]

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **kwargs: Any) -> None:
        """Add what the call cost."""
        prompt = self._prompts.pop(run_id, [])
        answers = [generation for generations in response.generations for generation in generations[:1]]
        said = [each.message for each in answers if isinstance(each, ChatGeneration)]
        self._add(_usage(said, prompt, self._counter))

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """Add a call that gave no answer."""
        self._prompts.pop(run_id, None)
        self._add(Usage(calls=1))

    def _add(self, usage: Usage) -> None:
        with self._lock:
            self.usage = self.usage + usage


def _usage(said: list[BaseMessage], prompt: list[BaseMessage], counter: TokenCounter) -> Usage:
    reported = [found for message in said if (found := _reported(message))]
    if reported:
        return _sum(reported)
    return Usage(
        calls=1,
        input_tokens=sum(count_tokens(message, counter) for message in prompt),
        output_tokens=sum(count_tokens(message, counter) for message in said),
    )


def usage_of(messages: Iterable[BaseMessage]) -> Usage:
    """Return what the calls cost that left `messages` with `usage_metadata`, those before an interrupt included."""
    return _sum(found for message in messages if (found := _reported(message)))


def _reported(message: BaseMessage) -> UsageMetadata | None:
    return message.usage_metadata if isinstance(message, AIMessage) else None


def _sum(reported: Iterable[UsageMetadata]) -> Usage:
    each = [
        Usage(calls=1, input_tokens=max(0, found["input_tokens"]), output_tokens=max(0, found["output_tokens"]))
        for found in reported
    ]
    return sum(each, Usage())


CONTEXT_KEY: Final = "agent_context"
"""The key under which a `Send` carries the context."""
DELIVERY_KEY: Final = "aci_delivery"
"""The key of the delivery's id, where a master sends."""
ACI_TEXTS_KEY: Final = "aci_texts"
"""The key of the texts behind references, key to text, where no store has them."""
ACI_SESSION_KEY: Final = "aci_session"
"""The key of the session whose store the task uses, where a master sends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkDelivery:
    """One context on its way to an agent."""

    planned: AgentContext
    """The context as in the master's state."""
    sent: AgentContext
    """The context as the agent gets it: with the results that it waits for."""
    session_id: str
    """The session whose store the task uses."""
    id: str | None
    """The id of the delivery; None: no master expects a reply."""
    store: ColdStore | None
    """The store for long results; None: the graph's state carries them."""
    texts: Mapping[str, str]
    """The texts that the state carries and the context cites, key to text."""


@dataclass(slots=True, kw_only=True)
class WorkAttempt:
    """One call of an agent."""

    config: RunnableConfig
    """The configuration of the call; its callback counts what the call costs."""
    counter: UsageCounter
    """What the call costs."""
    result: Any = None
    """What it returned."""
    lost: str | None = None
    """The exception that ended it; None: none did."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deliveries:
    """The deliveries to one agent of any kind."""

    agent_id: str
    """The AgentID whose contexts it takes."""
    policy: Policy
    """The token counter and the limit of an abstract."""
    store: stores.Store | None
    """The store that the user gave."""
    catch: tuple[type[Exception], ...] = ()
    """Exceptions of the agent that fail its subtask."""
    retry: tuple[RetryPolicy, ...] = ()
    """The policies by which LangGraph runs the agent again before that."""
    timeout: float | None = None
    """Seconds that the agent may take, where it is awaited; None: no limit."""
    reporter: Reporter | None = None
    """Reads results from the agent's transcript where its answer lacks them."""

    def open(self, state: Any) -> WorkDelivery:
        """Return the delivery that a `Send`, or the state of a node, holds for this agent.

        Raises:
            ProtocolError: E5001, the context is another agent's; E1004, there is none, or more than one.
        """
        if not isinstance(state, Mapping):
            raise _refusal(f"a state with {CONTEXT_KEY!r} or 'agent_contexts'", type(state).__name__)
        # Outside of a graph there is no runtime, although its type has no None.
        running: Runtime[Any] | None = get_runtime()
        runtime = running or Runtime()
        is_sent = CONTEXT_KEY in state
        planned = AgentContext.from_json(state[CONTEXT_KEY]) if is_sent else self._open_context(state)
        if planned.agent_id != self.agent_id:
            raise ProtocolError(
                f"expected a context of agent {self.agent_id!r}, found one of {planned.agent_id!r}",
                code=ErrorCode.POLICY_DENIED,
            )
        sent = planned if is_sent else _with_upstream(planned, state["agent_contexts"])
        return WorkDelivery(
            planned=planned,
            sent=sent,
            session_id=state.get(ACI_SESSION_KEY) or thread_session(runtime) or new_session(),
            id=state.get(DELIVERY_KEY),
            store=stores.choose(self.store, runtime.store),
            texts={key: text for key, text in (state.get(ACI_TEXTS_KEY) or {}).items() if key in _cited(sent)},
        )

    def _open_context(self, state: Mapping[str, Any]) -> AgentContext:
        """Return the one context of this agent in which nothing is done."""
        contexts = (AgentContext.from_json(context) for context in (state.get("agent_contexts") or {}).values())
        own = [context for context in contexts if context.agent_id == self.agent_id and not context.states]
        if len(own) != 1:
            names = [context.subtask_id for context in own]
            raise _refusal(f"one open context of agent {self.agent_id!r}; Send each where there are several", names)
        return own[0]

    def input_for(self, agent: Any, delivery: WorkDelivery) -> Any:
        """Return what the agent is invoked with: a function with its context, or as a pair with the texts it grants."""
        if not isinstance(agent, Runnable) and not takes_texts(agent):
            return delivery.sent
        texts = dict(delivery.texts)
        if delivery.store:
            with _storing(delivery.store):
                missing = [key for key in _cited(delivery.sent) if key not in texts]
                found = {key: delivery.store.get(delivery.session_id, key) for key in missing}
                texts |= {key: text for key, text in found.items() if text is not None}
        if takes_texts(agent):
            return delivery.sent, texts
        return agent_input(agent, delivery.sent, texts, counter=self.policy.counter)

    @contextmanager
    def attempt(self, config: RunnableConfig) -> Iterator[WorkAttempt]:
        """Yield the attempt to call the agent in; an exception that is to be caught loses it."""
        counter = UsageCounter(self.policy.counter)
        attempt = WorkAttempt(config=counter.added_to(config), counter=counter)
        try:
            yield attempt
        except GraphBubbleUp:  # an interrupt of the agent is no failure
            raise
        except self.catch as error:
            if not _is_last_attempt(error, self.retry):
                raise
            attempt.lost = f"{type(error).__name__}: {error}"

    async def wait_for(self, answer: Awaitable[Any]) -> Any:
        """Return the agent's answer.

        Raises:
            TimeoutError: it takes longer than `timeout`.
        """
        try:
            async with asyncio.timeout(self.timeout) as limit:
                return await answer
        except TimeoutError as error:
            if not limit.expired():
                raise
            raise TimeoutError(f"no answer within {self.timeout:g} s") from error

    def close(self, delivery: WorkDelivery, attempt: WorkAttempt) -> dict[str, Any]:
        """Return the update for the parent, after the texts that it cites were stored; else it carries them."""
        if attempt.lost is not None:
            return self._lost(delivery, attempt, attempt.lost)
        reply, messages = read_reply(delivery.sent, attempt.result), messages_in(attempt.result)
        if self.reporter:
            reply = self.reporter.complete(delivery.sent, reply, messages, attempt.config)
        accepted, texts = self._accept(delivery, _paid(reply, attempt, messages), messages)
        if delivery.store:
            with _storing(delivery.store):
                stores.put(delivery.store, delivery.session_id, texts)
                texts = []
        return self._update(delivery, accepted, texts)

    async def aclose(self, delivery: WorkDelivery, attempt: WorkAttempt) -> dict[str, Any]:
        """`close`, asynchronously."""
        if attempt.lost is not None:
            return self._lost(delivery, attempt, attempt.lost)
        reply, messages = read_reply(delivery.sent, attempt.result), messages_in(attempt.result)
        if self.reporter:
            reply = await self.reporter.acomplete(delivery.sent, reply, messages, attempt.config)
        accepted, texts = await asyncio.to_thread(self._accept, delivery, _paid(reply, attempt, messages), messages)
        if delivery.store:
            with _storing(delivery.store):
                await stores.in_thread(stores.put, delivery.store, delivery.session_id, texts)
                texts = []
        return self._update(delivery, accepted, texts)

    def _accept(
        self, delivery: WorkDelivery, reply: AgentReply, messages: list[BaseMessage]
    ) -> tuple[AcceptedReply, list[StoredText]]:
        """Return the accepted reply and what to store; a reply that breaks a rule is unread."""
        sent = delivery.sent
        try:
            cited = cited_texts(sent, reply, messages)
            accepted = AcceptedReply.of(sent, reply)
            limit, counter = self.policy.abstract_limit, self.policy.counter
            context, long = aci.offload_long(
                accepted.context, accepted.full, limit=limit, counter=counter, open_with=FETCH_NAME
            )
        except ProtocolError as refusal:
            return AcceptedReply.of(sent, replace(aci.unread_reply(sent, str(refusal)), usage=reply.usage)), []
        context = replace(context, context_uri=(*context.context_uri, *(text.reference for text in cited)))
        new = tuple(uri for uri in context.context_uri if uri not in sent.context_uri)
        return replace(accepted, context=context, full={}, stored=new), [*long, *cited]

    def _lost(self, delivery: WorkDelivery, attempt: WorkAttempt, reason: str) -> dict[str, Any]:
        """Return the update for the parent after an exception: nothing is done, for `reason`."""
        failed = AcceptedReply.of(delivery.planned, aci.failed_reply(delivery.planned, reason)).context
        update: dict[str, Any] = {"agent_contexts": {failed.subtask_id: failed.to_json()}}
        if delivery.id:
            update["aci_replies"] = {delivery.id: {"lost": reason, "usage": attempt.counter.usage.to_json()}}
        return update

    def _update(self, delivery: WorkDelivery, reply: AcceptedReply, texts: Iterable[StoredText]) -> dict[str, Any]:
        """Return the update for the parent: the agent's own context, and the texts that no store has."""
        planned = delivery.planned
        kept = replace(reply.context, context=planned.context, context_uri=(*planned.context_uri, *reply.stored))
        update: dict[str, Any] = {"agent_contexts": {kept.subtask_id: kept.to_json()}}
        if delivery.id:
            update["aci_replies"] = {delivery.id: reply.to_json()}
        carried = {text.key: text.text for text in texts}
        return {**update, ACI_TEXTS_KEY: carried} if carried else update


@contextmanager
def _storing(store: ColdStore) -> Iterator[None]:
    """Go on where the store fails, with the texts in the state: no agent must work again for this."""
    try:
        with stores.failures_as_refusals(store):
            yield
    except ProtocolError as failure:
        Telemetry("langgraph").store_failed(str(failure))


def delivery_state(delivery: aci.Delivery, session_id: str, texts: Mapping[str, str]) -> dict[str, Any]:
    """Return what an agent's node is sent for a delivery, with those of `texts` that the agent may open."""
    keys = set(_cited(delivery.context))
    granted = {key: text for key, text in texts.items() if key in keys}
    sent = {CONTEXT_KEY: delivery.payload, DELIVERY_KEY: delivery.id, ACI_SESSION_KEY: session_id}
    return {**sent, ACI_TEXTS_KEY: granted} if granted else sent


def _paid(reply: AgentReply, attempt: WorkAttempt, messages: list[BaseMessage]) -> AgentReply:
    """Return the reply with what the work cost; calls before an interrupt are known by their messages only."""
    counted, left = attempt.counter.usage, usage_of(messages)
    usage = left if left.calls > counted.calls else counted
    return replace(reply, usage=reply.usage + usage)


def _cited(context: AgentContext) -> list[str]:
    """Return the keys of stored texts that a context cites."""
    return [key for uri in context.context_uri if (key := uri_to_key(uri)) and key.startswith("cold.")]


def _with_upstream(planned: AgentContext, contexts: Mapping[str, Any]) -> AgentContext:
    """Return a context with the abstracts of those subtasks that it depends on and that are there."""
    upstream = [AgentContext.from_json(contexts[name]) for name in planned.dependencies if name in contexts]
    return aci.with_results(planned, [(context, ()) for context in upstream])


def _refusal(expected: str, found: object) -> ProtocolError:
    return ProtocolError(f"expected {expected}, found {found!r}", code=ErrorCode.INVALID_TYPE)


def _is_last_attempt(error: Exception, policies: Sequence[RetryPolicy]) -> bool:
    """Return whether a task that raised `error` is not run again under `policies`; the first that matches decides."""
    for policy in policies:
        if _matches(policy, error):
            info = get_runtime().execution_info
            return info is None or info.node_attempt >= policy.max_attempts
    return True


def _matches(policy: RetryPolicy, error: Exception) -> bool:
    wanted = policy.retry_on
    if isinstance(wanted, Sequence):
        return isinstance(error, tuple(wanted))
    if isinstance(wanted, type):
        return isinstance(error, wanted)
    return wanted(error)
