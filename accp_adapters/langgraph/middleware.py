"""The middleware for `create_agent`: the model reads a projection of the messages, the state stays as it is."""

from __future__ import annotations

import asyncio
import logging
import warnings
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, NotRequired, TypeAlias, cast

from langchain.agents.middleware import (
    AgentMiddleware,
    AgentState,
    ExtendedModelResponse,
    ModelRequest,
    ModelResponse,
    ToolCallRequest,
    TracePolicy,
    omit_payload,
)
from langchain.agents.middleware.types import OmitFromOutput, PrivateStateAttr
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.runtime import Runtime
from langgraph.types import Command

from accp_adapters.fetching import FETCH_NAME, with_references
from accp_adapters.langgraph import conversation, grants, stores
from accp_adapters.langgraph.conversation import MessageProjector, ProjectedMessages, agent_name, messages_of
from accp_adapters.langgraph.fetch import Passing, is_own, is_refused, private_fetch_tool, private_texts
from accp_adapters.langgraph.grants import HANDED_TEXTS_KEY, Retention, ToolAnswer
from accp_adapters.policy import Policy, is_disabled
from accp_adapters.telemetry import RewritingRecord, Stats, Telemetry
from accp_core.errors import ProtocolError
from accp_core.projection import ToolForms

__all__ = ["AccpMiddleware", "AccpState", "PreparedCall", "offered_tools", "warn_of_unknown_tools", "without_fetch"]


_log: Final = logging.getLogger("accp")

# The state keys that are the middleware's own, and one call of the model as it is prepared.


def _newest(_old: Any, new: Any) -> Any:
    return new


class AccpState(AgentState[Any]):
    """The agent's state with the keys that are this middleware's own; none of them reaches a caller."""

    # LangGraph takes a reducer only where it comes last.
    accp_texts: NotRequired[Annotated[dict[str, str], OmitFromOutput, grants.joined]]
    """Texts that other agents handed over, key to text; those of several tools in one step are joined."""
    accp_views: NotRequired[Annotated[dict[str, str], PrivateStateAttr, grants.joined]]
    """See `grants.VIEWS_KEY`."""
    accp_session: NotRequired[Annotated[str, PrivateStateAttr]]
    """The session under which `store` keeps the texts of this thread and of its copies."""
    accp_stored: NotRequired[Annotated[dict[str, list[str]], PrivateStateAttr, _newest]]
    """Message id to the keys of its texts in `store`."""
    accp_offered: NotRequired[Annotated[bool, PrivateStateAttr, _newest]]
    """Whether the fetch tool was offered: from then on it always is, so that the list of tools changes once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedCall:
    """One call of the model, with what is stored before it and what the state gets after it."""

    request: ModelRequest
    """The request as the model is sent it."""
    retention: Retention = field(default_factory=Retention)
    """What the store gets and loses before the call."""
    update: dict[str, Any] = field(default_factory=dict)
    """The update of the private state after the call."""
    rewritten: tuple[RewritingRecord, ...] = ()
    """What the model is sent in another form for the first time."""
    kept: tuple[tuple[str, str], ...] = ()
    """The results that stay as they are, for the first time: the tool and the reason of each."""
    failed: int = 0
    """Messages that are sent as they are for the first time because their projection raised."""


# The tools of an agent: their names, and the list without the fetch tool.

_PATTERN: Final = frozenset("*?[")
"""Signs of a pattern of `fnmatch`."""


def without_fetch(tools: Sequence[Any]) -> list[Any]:
    """Return the tools without our fetch tool."""
    return [tool for tool in tools if getattr(tool, "name", None) != FETCH_NAME or not is_own(tool)]


def warn_of_unknown_tools(named: Iterable[str], tools: Sequence[Any]) -> None:
    """Warn of names in `Policy.tools` that no tool has: one may be mistyped. Patterns may match nothing."""
    names = sorted(filter(None, map(_name_of, tools)))
    unknown = sorted(name for name in named if not _PATTERN & set(name) and name not in names)
    if unknown and names:
        expected = f"expected Policy.tools to name tools of the agent ({', '.join(names)})"
        warnings.warn(f"{expected}, found {', '.join(map(repr, unknown))}", stacklevel=4)


def _name_of(tool: Any) -> str:
    """Return the name of a tool, or of its definition; "" where it has none."""
    if not isinstance(tool, dict):
        return str(getattr(tool, "name", ""))
    return str(tool.get("name") or (tool.get("function") or {}).get("name") or "")


def offered_tools(tools: Sequence[Any], own: Sequence[Any], policy: Policy, *, offers: bool) -> list[Any]:
    """Return the tools of a request as the model is offered them, the fetch tool last where there is something to open.

    Most conversations never hold a reference, and the definition would be part of each of their prompts. Another tool
    of this name, such as that of an MCP server, stands for both.

    Args:
        tools: Those of the request.
        own: Our fetch tool, or nothing where the policy needs none.
        policy: It says which arguments of the others take references.
        offers: Whether there is something to open.
    """
    fetch = [tool for tool in tools if getattr(tool, "name", None) == FETCH_NAME]
    shown_tools = [_as_offered(tool, ToolForms(policy.tools)) for tool in tools]
    if not all(map(is_own, fetch)):
        return shown_tools
    others = without_fetch(shown_tools)
    if not offers or not own:
        return others
    return [*others, *(fetch or own)[:1]]


def _as_offered(tool: Any, forms: ToolForms) -> Any:
    """Return a tool whose arguments say that they take references."""
    resolved = forms.resolve(_name_of(tool))
    if not resolved or not isinstance(tool, BaseTool | dict):
        return tool
    changed: Mapping[str, Any] = tool if isinstance(tool, dict) else convert_to_openai_tool(tool)["function"]
    if isinstance(tool, BaseTool):
        changed = {"parameters": {"type": "object"}, **changed}
    changed = with_references(changed, resolved)
    # The model is sent this schema anyway: with what is added to it, the rest of the definition stays the same.
    return tool.model_copy(update={"args_schema": changed["parameters"]}) if isinstance(tool, BaseTool) else changed


ModelAnswer: TypeAlias = ModelResponse[Any]
"""What a model returns."""


class AccpMiddleware(AgentMiddleware[AccpState, Any, Any]):
    """Sends the model a projection of the messages: views, previews, nothing twice. The state keeps every message.

    `create_agent(model, tools, middleware=[AccpMiddleware()])`. What is sent of a message depends on the messages up to
    it and on the policy, and on nothing else, so that the provider's prompt cache stays valid, and a replay, a fork, a
    copy or another worker comes to the same bytes. What is not shown is one `accp_fetch` away, in the state itself.
    Put it last: a middleware after it that clears messages (`ContextEditingMiddleware`) may clear the lines that
    `[as above: …]` names, and one that selects tools may leave `accp_fetch` out.
    The environment variable ACCP_DISABLED=1 switches it off.
    """

    state_schema = AccpState
    # Without it each hook's span in a trace would copy the conversation.
    trace_policy = TracePolicy(process_inputs=omit_payload)

    def __init__(
        self, policy: Policy | str | None = None, *, store: stores.Store | str | None = None, apply: bool = True
    ) -> None:
        """Project by `policy`.

        Args:
            policy: A Policy or the name of a preset, such as "lossless"; None: the defaults.
            store: A `ColdStore`, a LangGraph `BaseStore` or an address (`sqlite:PATH`, `redis://HOST`): it keeps the
                texts behind references as well, so that these survive what removes messages from the state: summaries,
                trimming. None: the state alone opens them.
            apply: Whether the model is sent the projection. False: nothing changes, and `stats` counts what would be
                sent; a reference that would be made opens nothing.

        Raises:
            ValueError: An option has no such value; it names the option and the value.
            TypeError: `policy` or `store` is nothing of the kind.
        """
        super().__init__()
        is_disabled()
        chosen = Policy.of(policy)
        self._policy: Final = chosen
        self._projector: Final = MessageProjector(self._policy)
        self._applies: Final = apply
        self._store: Final = stores.opened(store) if apply else None
        self._telemetry: Final = Telemetry("langgraph")
        self._has_checked_tools = False
        self._passing: Final = Passing(chosen, self._store, self._telemetry)
        self.describe_call: Final = self._passing.describe
        self.tools = [private_fetch_tool(chosen, self._store, self._telemetry)] if apply and chosen.previews else []

    def before_agent(self, state: AccpState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Give a thread whose texts are stored a session."""
        is_due = self._store is not None and not conversation.private_session(state)
        return {conversation.SESSION_KEY: conversation.new_session()} if is_due else None

    async def abefore_agent(self, state: AccpState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """`before_agent`, asynchronously."""
        return self.before_agent(state, runtime)

    def wrap_model_call(
        self, request: ModelRequest, handler: Callable[[ModelRequest], ModelAnswer]
    ) -> ModelAnswer | ExtendedModelResponse[Any]:
        """Call the model with the projection, and offer the fetch tool from the first reference on."""
        if is_disabled():
            return handler(request.override(tools=without_fetch(request.tools)))
        with self._telemetry.model_call(agent_name(), conversation.thread_id()):
            call = self._prepared(request)
            if not self._applies:
                return handler(request)
            if store := stores.choose(self._store, None):
                with self._storing(call.update):
                    call.retention.apply(store)
            answer = handler(call.request)
            return self._finished(call, answer)

    async def awrap_model_call(
        self, request: ModelRequest, handler: Callable[[ModelRequest], Awaitable[ModelAnswer]]
    ) -> ModelAnswer | ExtendedModelResponse[Any]:
        """`wrap_model_call`, asynchronously."""
        if is_disabled():
            return await handler(request.override(tools=without_fetch(request.tools)))
        with self._telemetry.model_call(agent_name(), conversation.thread_id()):
            call = await asyncio.to_thread(self._prepared, request)
            if not self._applies:
                return await handler(request)
            if store := stores.choose(self._store, None):
                with self._storing(call.update):
                    await stores.in_thread(call.retention.apply, store)
            answer = await handler(call.request)
            return await stores.in_thread(self._finished, call, answer)

    def wrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], ToolAnswer]) -> ToolAnswer:
        """Take over the texts that an agent which runs as this tool cites in its answer."""
        if (own := self._own_fetch(request)) and not is_refused(answer := self.tools[0].invoke(own)):
            return cast(ToolMessage, answer)
        return handler(request) if not self._applies else self._passing.call(request, handler)

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[ToolAnswer]]
    ) -> ToolAnswer:
        """`wrap_tool_call`, asynchronously."""
        if (own := self._own_fetch(request)) and not is_refused(answer := await self.tools[0].ainvoke(own)):
            return cast(ToolMessage, answer)
        return await (self._passing.acall(request, handler) if self._applies else handler(request))

    def stats(self) -> Stats:
        """Return what this middleware has done in this process: rewritten messages, tokens, references."""
        return self._telemetry.stats()

    def expand(self, text: str, state: Any) -> str:
        """Return `text` with each reference replaced by the text that `state` holds for it; others stay.

        For the final answer of a model, which a person reads who cannot open references.
        """
        return grants.expand(text, state)

    def _prepared(self, request: ModelRequest) -> PreparedCall:
        """Return the model call as it is sent, and report it; after an error of ours, the call is unchanged."""
        if not self._has_checked_tools:
            self._has_checked_tools = True
            warn_of_unknown_tools(self._policy.tools, request.tools)
        try:
            call = self._prepare(request)
            self._tell(call)
        except Exception as failure:
            self._survive("a request is sent as it was", failure)
            return PreparedCall(request=request)
        return call

    def _survive(self, what: str, failure: Exception) -> None:
        """Log and count an error of ours, which must not end a run. Its message may quote a text, so only its class."""
        _log.warning("%s: %s", what, type(failure).__name__)
        self._telemetry.projection_failed(1)

    def _prepare(self, request: ModelRequest) -> PreparedCall:
        """Return what the model is sent, what must be stored before, and what the state keeps after."""
        state: Any = request.state
        shown = self._project(request)
        offers = bool(state.get("accp_offered") or shown.offers_tool or state.get(HANDED_TEXTS_KEY))
        update: dict[str, Any] = {}
        if offers and self.tools and not state.get("accp_offered"):
            update["accp_offered"] = True
        if gone := grants.uncited(state):
            update[HANDED_TEXTS_KEY] = dict.fromkeys(gone)
        retention = Retention()
        if self._store is not None:
            with self._storing(update):
                retention = self._retained(state, shown, update)
        tools = offered_tools(request.tools, self.tools, self._policy, offers=offers)
        return PreparedCall(
            request=request.override(messages=shown.messages, tools=tools),
            retention=retention,
            update=update,
            failed=shown.failed,
            kept=tuple((message.name or message.type, reason) for message, reason in shown.kept),
            rewritten=tuple(
                RewritingRecord(
                    source=message.name or message.type,
                    tokens_before=projected.tokens_before,
                    tokens_after=projected.tokens_after,
                    references=tuple(stored.key for stored in projected.stored),
                )
                for message, projected in shown.rewritten
            ),
        )

    def _retained(self, state: Any, shown: ProjectedMessages, update: dict[str, Any]) -> Retention:
        """Return what the store must get and lose, and put its new index into the update of the state."""
        known = grants.stored_index(state)
        retention = grants.retain(
            known, messages_of(state), shown.stored, session_id=conversation.private_session(state) or ""
        )
        if retention.index != known:
            update[grants.STORED_KEY] = retention.index
        return retention

    @contextmanager
    def _storing(self, update: dict[str, Any]) -> Iterator[None]:
        """Go on where the store fails: the state opens what it holds, and the next call stores again what is due."""
        try:
            yield
        except Exception as failure:
            self._telemetry.store_failed(stores.failure_of(self._store, failure))
            update.pop(grants.STORED_KEY, None)

    def _finished(self, call: PreparedCall, answer: ModelAnswer) -> ModelAnswer | ExtendedModelResponse[Any]:
        """Return the answer with the update; what a final answer cites is counted, and handed over where it is due."""
        # A structured answer may be the arguments of a call.
        is_final = answer.structured_response is not None
        final = [message for message in answer.result if is_final or not getattr(message, "tool_calls", None)]
        try:
            if keys := list(dict.fromkeys(key for message in final for key in grants.references_in(message))):
                self._telemetry.answered(len(keys))
                grants.hand_over(keys, lambda names: self._opener(names, call.request.state))
        except Exception as failure:
            self._survive("what a final answer cites is not handed over", failure)
        command: Command[Any] = Command(update=call.update)
        return ExtendedModelResponse(model_response=answer, command=command) if call.update else answer

    def _opener(self, names: Sequence[str], state: Any) -> Callable[[str], str]:
        """Return what opens the references `names`: the state, and the store where it answers."""
        try:
            return private_texts(self._store, state, names).open
        except ProtocolError as failure:
            self._telemetry.store_failed(str(failure))
            return private_texts(None, state, names).open

    def _own_fetch(self, request: ToolCallRequest) -> dict[str, Any] | None:
        """Return the call of our fetch tool where another tool has its name, such as that of an MCP server."""
        call = request.tool_call
        if call["name"] != FETCH_NAME or not self.tools or request.tool is None or is_own(request.tool):
            return None
        return {**call, "args": {**call["args"], "runtime": request.runtime}, "type": "tool_call"}

    def _tell(self, call: PreparedCall) -> None:
        """Tell what is sent in another form; the stream mode "custom" gets the sums."""
        if call.failed:
            self._telemetry.projection_failed(call.failed)
        if call.kept:
            self._telemetry.kept(call.kept)
        if call.rewritten:
            told = {"accp": self._telemetry.rewritten(call.rewritten)}
            if self._applies:
                call.request.runtime.stream_writer(told)

    def _project(self, request: ModelRequest) -> ProjectedMessages:
        state, asked = messages_of(request.state), request.messages
        same = len(asked) == len(state) and all(a is b for a, b in zip(asked, state, strict=True))
        whole, views = None if same else state, grants.views_in(request.state)
        handed = grants.keys_handed_over(request.state)
        return self._projector.project(asked, state=whole, agent=agent_name(), handed_over=handed, views=views)
