"""The middleware for `create_agent`: the model reads a projection of the messages, the state stays as it is."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, TypeAlias, cast

from langchain.agents.middleware import (
    AgentMiddleware,
    ExtendedModelResponse,
    ModelRequest,
    ModelResponse,
    ToolCallRequest,
    TracePolicy,
    omit_payload,
)
from langchain_core.messages import BaseMessage, ToolMessage
from langgraph.runtime import Runtime
from langgraph.types import Command

from accp_adapters.fetching import FETCH_NAME
from accp_adapters.langgraph.agent_tools import (
    offered_tools,
    warn_of_unknown_tools,
    without_fetch,
)
from accp_adapters.langgraph.fetch import is_own, is_refused, private_fetch_tool
from accp_adapters.langgraph.passing import Passing
from accp_adapters.langgraph.prepared_call import AccpState, PreparedCall
from accp_adapters.langgraph.projection import MessageProjector, ProjectedMessages
from accp_adapters.langgraph.references import handing_over, stores
from accp_adapters.langgraph.references.grants import expand, has_grants, keys_handed_over
from accp_adapters.langgraph.references.retention import STORED_KEY, Retention, retain, stored_index
from accp_adapters.langgraph.runtime import (
    SESSION_KEY,
    agent_name,
    messages_of,
    new_session,
    private_session,
    thread_id,
)  # fmt: skip
from accp_adapters.policy import Policy, is_disabled
from accp_adapters.telemetry import RewritingRecord, Stats, Telemetry
from accp_core.references import find_references

__all__ = ["AccpMiddleware", "AccpState"]

ToolAnswer: TypeAlias = ToolMessage | Command[Any]
"""What a tool returns."""
ModelAnswer: TypeAlias = ModelResponse[Any]
"""What a model returns."""


class AccpMiddleware(AgentMiddleware[AccpState, Any, Any]):
    """Sends the model a projection of the messages: views, previews, nothing twice. The state keeps every message.

    `create_agent(model, tools, middleware=[AccpMiddleware()])`. What is sent of a message depends on the messages up to
    it and on the policy, and on nothing else, so that the provider's prompt cache stays valid, and a replay, a fork, a
    copy or another worker comes to the same bytes. What is not shown is one `accp_fetch` away, in the state itself.
    Put it last: a middleware after it that clears messages (`ContextEditingMiddleware`) may clear the lines that
    `[as above: …]` names. The environment variable ACCP_DISABLED=1 switches it off.
    """

    state_schema = AccpState
    # Without it each hook's span in a trace would copy the conversation.
    trace_policy = TracePolicy(process_inputs=omit_payload)

    def __init__(
        self,
        policy: Policy | str | None = None,
        *,
        store: stores.Store | str | None = None,
    ) -> None:
        """Project by `policy`.

        Args:
            policy: A Policy or the name of a preset, such as "lossless"; None: the defaults.
            store: A `ColdStore`, a LangGraph `BaseStore` or an address (`sqlite:PATH`, `redis://HOST`): it keeps the
                texts behind references as well, so that these survive what removes messages from the state: summaries,
                trimming. None: the state alone opens them.

        Raises:
            ValueError: An option has no such value; it names the option and the value.
            TypeError: `policy` or `store` is nothing of the kind.
        """
        super().__init__()
        is_disabled()
        chosen = Policy.of(policy)
        self._policy: Final = chosen
        self._projector: Final = MessageProjector(self._policy)
        self._store: Final = stores.opened(store)
        self._telemetry: Final = Telemetry("langgraph")
        self._has_checked_tools = False
        self._passing: Final = Passing(chosen, self._store, self._telemetry)
        self.describe_call: Final = self._passing.describe
        self.tools = [private_fetch_tool(chosen, self._store, self._telemetry)] if self._policy.previews else []

    def before_agent(self, state: AccpState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Give a thread whose texts are stored a session."""
        return None if self._store is None or private_session(state) else {SESSION_KEY: new_session()}

    async def abefore_agent(self, state: AccpState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """`before_agent`, asynchronously."""
        return self.before_agent(state, runtime)

    def wrap_model_call(
        self, request: ModelRequest, handler: Callable[[ModelRequest], ModelAnswer]
    ) -> ModelAnswer | ExtendedModelResponse[Any]:
        """Call the model with the projection, and offer the fetch tool from the first reference on."""
        if is_disabled():
            return handler(request.override(tools=without_fetch(request.tools)))
        with self._telemetry.model_call(agent_name(), thread_id()):
            call = self._prepare(request)
            self._tell(call)
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
        with self._telemetry.model_call(agent_name(), thread_id()):
            call = await asyncio.to_thread(self._prepare, request)
            self._tell(call)
            if store := stores.choose(self._store, None):
                with self._storing(call.update):
                    await stores.in_thread(call.retention.apply, store)
            answer = await handler(call.request)
            return await asyncio.to_thread(self._finished, call, answer)

    def wrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], ToolAnswer]) -> ToolAnswer:
        """Take over the texts that an agent which runs as this tool cites in its answer."""
        if (own := self._own_fetch(request)) and not is_refused(answer := self.tools[0].invoke(own)):
            return cast(ToolMessage, answer)
        return self._passing.call(request, handler)

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[ToolAnswer]]
    ) -> ToolAnswer:
        """`wrap_tool_call`, asynchronously."""
        if (own := self._own_fetch(request)) and not is_refused(answer := await self.tools[0].ainvoke(own)):
            return cast(ToolMessage, answer)
        return await self._passing.acall(request, handler)

    def stats(self) -> Stats:
        """Return what this middleware has done in this process: rewritten messages, tokens, references."""
        return self._telemetry.stats()

    def expand(self, text: str, state: Any) -> str:
        """Return `text` with each reference replaced by the text that `state` holds for it; others stay.

        For the final answer of a model, which a person reads who cannot open references.
        """
        return expand(text, state)

    def _prepare(self, request: ModelRequest) -> PreparedCall:
        """Return what the model is sent, what must be stored before, and what the state keeps after."""
        if not self._has_checked_tools:
            self._has_checked_tools = True
            warn_of_unknown_tools(self._policy.tools, request.tools)
        state: Any = request.state
        shown = self._project(request)
        offers = bool(state.get("accp_offered") or shown.offers_tool or has_grants(state))
        update: dict[str, Any] = {}
        if offers and self.tools and not state.get("accp_offered"):
            update["accp_offered"] = True
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
        known = stored_index(state)
        retention = retain(known, messages_of(state), shown.stored, session_id=private_session(state) or "")
        if retention.index != known:
            update[STORED_KEY] = retention.index
        return retention

    @contextmanager
    def _storing(self, update: dict[str, Any]) -> Iterator[None]:
        """Go on where the store fails: the state opens what it holds, and the next call stores again what is due."""
        try:
            yield
        except Exception as failure:
            self._telemetry.store_failed(stores.failure_of(self._store, failure))
            update.pop(STORED_KEY, None)

    def _finished(self, call: PreparedCall, answer: ModelAnswer) -> ModelAnswer | ExtendedModelResponse[Any]:
        """Return the answer with the update; what a final answer cites is counted, and handed over where it is due."""
        final = " ".join(message.text for message in answer.result if not getattr(message, "tool_calls", None))
        if keys := find_references(final):
            self._telemetry.answered(len(keys))
            handing_over.hand_over(keys, call.request.state)
        return call.with_update(answer)

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
        if call.rewritten:
            call.request.runtime.stream_writer({"accp": self._telemetry.rewritten(call.rewritten)})

    def _project(self, request: ModelRequest) -> ProjectedMessages:
        state = messages_of(request.state)
        same = _are_the_same(request.messages, state)
        return self._projector.project(
            request.messages,
            state=None if same else state,
            agent=agent_name(),
            handed_over=keys_handed_over(request.state),
        )


def _are_the_same(messages: Sequence[Any], state: Sequence[BaseMessage]) -> bool:
    """Return whether the messages of a request are those of the state."""
    return len(messages) == len(state) and all(a is b for a, b in zip(messages, state, strict=True))
