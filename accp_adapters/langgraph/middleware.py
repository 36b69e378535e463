"""One line for `create_agent`: tool results reach the model in fewer tokens, with nothing lost."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Final, NotRequired, TypeAlias

from langchain.agents.middleware import (
    AgentMiddleware,
    AgentState,
    ModelRequest,
    ModelResponse,
    ToolCallRequest,
    TracePolicy,
    omit_payload,
)
from langchain.agents.middleware.types import PrivateStateAttr
from langchain_core.messages import ToolMessage
from langgraph.runtime import Runtime
from langgraph.types import Command

from accp_adapters.fetching import FETCH_NAME
from accp_adapters.langgraph import tiers
from accp_adapters.langgraph.convert import ColdItem
from accp_adapters.langgraph.fetch import fetch_tool
from accp_adapters.langgraph.grants import (
    has_references,
    messages_of,
    new_session,
    request_of,
    results_beside,
    session_of,
)
from accp_adapters.langgraph.policy import Policy
from accp_adapters.langgraph.results import compact_result

__all__ = ["AccpMiddleware", "AccpState"]

Result: TypeAlias = ToolMessage | Command[Any]
Answer: TypeAlias = ModelResponse[Any]


class AccpState(AgentState[Any]):
    """The agent's state with the key that this middleware keeps to itself."""

    accp_session: NotRequired[Annotated[str, PrivateStateAttr]]
    """The session of a run without a thread; callers neither see nor set it."""


class AccpMiddleware(AgentMiddleware[AccpState, Any, Any]):
    """Rewrites each tool result once, when the tool returns it, before anything is saved or sent.

    `create_agent(model, tools, middleware=[AccpMiddleware()])`. Messages already in the state never change,
    so the provider's prompt cache holds. It keeps no state of its own: a replay, a fork or a second
    thread on the same graph comes to the same text.
    """

    state_schema = AccpState
    # Without it each hook's span in a trace would copy the conversation.
    trace_policy = TracePolicy(process_inputs=omit_payload)

    def __init__(self, policy: Policy | None = None, *, store: tiers.Store | None = None) -> None:
        """Rewrite by `policy` and keep full texts in `store`.

        Args:
            policy: None: the defaults.
            store: A `ColdStore` or LangGraph `BaseStore`; None: the graph's own, else each full text travels,
                compressed, in the metadata of the message that cites it.
        """
        super().__init__()
        self._policy: Final = (policy or Policy()).excluding(FETCH_NAME)
        self._store: Final = store
        self.tools = [fetch_tool(self._policy, store=store)] if self._policy.previews else []

    def before_agent(self, state: AccpState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Give a run without a thread a session."""
        return None if session_of(runtime, state) else {"accp_session": new_session()}

    async def abefore_agent(self, state: AccpState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """`before_agent`, asynchronously."""
        return self.before_agent(state, runtime)

    def wrap_model_call(self, request: ModelRequest, handler: Callable[[ModelRequest], Answer]) -> Answer:
        """Offer the fetch tool once the conversation holds a reference, and not before."""
        return handler(_offered(request))

    async def awrap_model_call(
        self, request: ModelRequest, handler: Callable[[ModelRequest], Awaitable[Answer]]
    ) -> Answer:
        """`wrap_model_call`, asynchronously."""
        return await handler(_offered(request))

    def wrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Result]) -> Result:
        """Return the tool's answer rewritten, its full text being in the store already."""
        if request.tool_call["name"] in self._policy.exclude_tools:
            return handler(request)
        result, items, session_id = self._compact(handler(request), request)
        tiers.put(tiers.choose(self._policy, self._store, request.runtime.store), session_id, items)
        return result

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Result]]
    ) -> Result:
        """`wrap_tool_call`, asynchronously."""
        if request.tool_call["name"] in self._policy.exclude_tools:
            return await handler(request)
        answer = await handler(request)
        result, items, session_id = await asyncio.to_thread(self._compact, answer, request)
        await tiers.aput(tiers.choose(self._policy, self._store, request.runtime.store), session_id, items)
        return result

    def _compact(self, result: Result, request: ToolCallRequest) -> tuple[Result, list[ColdItem], str]:
        messages = messages_of(request.state)
        session_id = session_of(request.runtime, request.state) or new_session()
        limits = self._policy.limits(results_beside(messages, request.tool_call["id"]))
        words = request_of(messages, request.tool_call)
        known = {message.id for message in messages}
        small, items = compact_result(
            result,
            self._policy,
            session_id,
            limits=limits,
            request=words,
            known=known,
            carries=not tiers.has_store(self._store, request.runtime.store),
        )
        return small, items, session_id


def _offered(request: ModelRequest) -> ModelRequest:
    """Return the request with the fetch tool last, or without it where there is nothing to fetch.

    Most conversations never hold a reference, and the schema would stand in each of their prompts. Where one
    comes, the changed list of tools breaks the provider's cached prompt once: on recorded runs that costs half a
    percent, the schema in every call costs three.
    """
    fetch = [tool for tool in request.tools if getattr(tool, "name", None) == FETCH_NAME]
    others = [tool for tool in request.tools if getattr(tool, "name", None) != FETCH_NAME]
    return request.override(tools=[*others, *fetch] if has_references(messages_of(request.state)) else others)
