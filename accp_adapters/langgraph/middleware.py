"""One line for `create_agent`: tool results reach the model in fewer tokens, with nothing lost."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Final, NotRequired, TypeAlias

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
from langchain.agents.middleware.types import PrivateStateAttr
from langchain_core.messages import ToolMessage
from langgraph.runtime import Runtime
from langgraph.types import Command

from accp_adapters.fetching import FETCH_NAME
from accp_adapters.langgraph import stores
from accp_adapters.langgraph.fetch import fetch_tool
from accp_adapters.langgraph.fold import Fold, Folder
from accp_adapters.langgraph.messages import ColdItem
from accp_adapters.langgraph.policy import Policy
from accp_adapters.langgraph.projection import agent_name, prompt_of, read
from accp_adapters.langgraph.results import compact_result
from accp_adapters.langgraph.runtime import (
    FOLD_KEY,
    agents_of,
    has_references,
    messages_of,
    new_session,
    request_of,
    results_beside,
    session_of,
)
from accp_core.ports import Summarizer

__all__ = ["AccpMiddleware", "AccpState"]

Result: TypeAlias = ToolMessage | Command[Any]
Answer: TypeAlias = ModelResponse[Any]


class AccpState(AgentState[Any]):
    """The agent's state with the key that this middleware keeps to itself."""

    accp_session: NotRequired[Annotated[str, PrivateStateAttr]]
    """The session of a run without a thread; callers neither see nor set it."""
    accp_fold: NotRequired[Annotated[dict[str, Any], PrivateStateAttr]]
    """What is folded (`Fold.kept`); it goes with each checkpoint, so that a fork knows of the folds before it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Prompt:
    """What one model call is sent."""

    request: ModelRequest
    session_id: str = ""
    items: tuple[ColdItem, ...] = ()
    """Texts that must be stored before."""
    update: dict[str, Any] | None = None
    """What the state keeps of it, when the model has answered."""

    def answered(self, answer: Answer) -> Answer | ExtendedModelResponse[Any]:
        """Return the answer with the update."""
        if self.update is None:
            return answer
        return ExtendedModelResponse(model_response=answer, command=Command(update=self.update))


class AccpMiddleware(AgentMiddleware[AccpState, Any, Any]):
    """Rewrites each tool result once, when the tool returns it, before anything is saved or sent.

    `create_agent(model, tools, middleware=[AccpMiddleware()])`. Messages already in the state never change,
    so the provider's prompt cache holds. It keeps no state of its own: a replay, a fork or a second
    thread on the same graph comes to the same text. Put it last: a middleware after it that takes messages out of
    the prompt (`ContextEditingMiddleware`) may take what `[as above: …]` names.
    """

    state_schema = AccpState
    # Without it each hook's span in a trace would copy the conversation.
    trace_policy = TracePolicy(process_inputs=omit_payload)

    def __init__(
        self,
        policy: Policy | None = None,
        *,
        store: stores.Store | None = None,
        hot_budget: int | None = None,
        summarizer: Summarizer | None = None,
    ) -> None:
        """Rewrite by `policy` and keep full texts in `store`.

        Args:
            policy: None: the defaults.
            store: A `ColdStore` or LangGraph `BaseStore`; None: the graph's own, else each full text travels,
                compressed, in the metadata of the message that cites it.
            hot_budget: Tokens of system prompt, tools and messages beyond which older tool results are folded into
                one summary with a reference; None: never. Each fold breaks the provider's prompt cache once.
            summarizer: Writes the summaries, in at most 100 tokens; None: rules do.

        Raises:
            ValueError: `hot_budget` leaves no room for a summary.
        """
        super().__init__()
        chosen = policy or Policy()
        self._policy: Final = chosen.excluding(FETCH_NAME)
        self._store: Final = store
        self._folder: Final = (
            Folder(
                budget=hot_budget,
                counter=chosen.counter,
                exclude_tools=chosen.exclude_tools,
                summarizer=summarizer,
            )
            if hot_budget is not None
            else None
        )
        self.tools = [fetch_tool(self._policy, store=store)] if self._policy.previews or self._folder else []

    def before_agent(self, state: AccpState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Give a run without a thread a session."""
        return None if session_of(runtime, state) else {"accp_session": new_session()}

    async def abefore_agent(self, state: AccpState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """`before_agent`, asynchronously."""
        return self.before_agent(state, runtime)

    def wrap_model_call(
        self, request: ModelRequest, handler: Callable[[ModelRequest], Answer]
    ) -> Answer | ExtendedModelResponse[Any]:
        """Fold what is due, show nothing twice, and offer the fetch tool once there is a reference, not before."""
        prompt = self._prompt(request)
        if prompt.items:
            stores.put(stores.choose(self._policy, self._store, request.runtime.store), prompt.session_id, prompt.items)
        return prompt.answered(handler(prompt.request))

    async def awrap_model_call(
        self, request: ModelRequest, handler: Callable[[ModelRequest], Awaitable[Answer]]
    ) -> Answer | ExtendedModelResponse[Any]:
        """`wrap_model_call`, asynchronously."""
        prompt = await asyncio.to_thread(self._prompt, request)
        if prompt.items:
            store = stores.choose(self._policy, self._store, request.runtime.store)
            await stores.aput(store, prompt.session_id, prompt.items)
        return prompt.answered(await handler(prompt.request))

    def wrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Result]) -> Result:
        """Return the tool's answer rewritten, its full text being in the store already."""
        if request.tool_call["name"] in self._policy.exclude_tools:
            return handler(request)
        result, items, session_id = self._compact(handler(request), request)
        stores.put(stores.choose(self._policy, self._store, request.runtime.store), session_id, items)
        return result

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Result]]
    ) -> Result:
        """`wrap_tool_call`, asynchronously."""
        if request.tool_call["name"] in self._policy.exclude_tools:
            return await handler(request)
        answer = await handler(request)
        result, items, session_id = await asyncio.to_thread(self._compact, answer, request)
        await stores.aput(stores.choose(self._policy, self._store, request.runtime.store), session_id, items)
        return result

    def _prompt(self, request: ModelRequest) -> _Prompt:
        """Return what a model is sent, with what must be stored before and what the state keeps of it."""
        state: Any = request.state
        session_id = session_of(request.runtime, state) or new_session()
        if self._folder is None:
            return _Prompt(request=self._read(request, session_id))
        before = Fold.of(state.get(FOLD_KEY))
        holds = before is not None or has_references(messages_of(state), agents_of(request.runtime))
        overhead = self._folder.overhead(request.system_message, _offered(request, holds=holds).tools)
        shown = partial(self._shown, request, session_id)
        due = self._folder.fold(request.messages, before, overhead=overhead, session_id=session_id, read=shown)
        fold, items = (due[0], (due[1],)) if due else (before, ())
        if fold and not stores.has_store(self._store, request.runtime.store):
            fold, items = fold.carrying(items), ()
        folded = request.override(messages=self._folder.view(request.messages, fold))
        return _Prompt(
            request=self._read(folded, session_id, holds=fold is not None),
            session_id=session_id,
            items=items,
            update={FOLD_KEY: fold.kept()} if due and fold else None,
        )

    def _read(self, request: ModelRequest, session_id: str, *, holds: bool = False) -> ModelRequest:
        """Return the request as the model is to read it, with the fetch tool where it `holds` or cites a reference."""
        shown = self._shown(request, session_id, request.messages)
        holds = holds or has_references([*messages_of(request.state), *shown], agents_of(request.runtime))
        return _offered(request.override(messages=shown), holds=holds)

    def _shown(self, request: ModelRequest, session_id: str, messages: Sequence[Any]) -> list[Any]:
        instructions = request.system_message.text if request.system_message else ""
        return read(messages, self._policy, session_id, agent=agent_name(), instructions=instructions)

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
            prompt=prompt_of(messages, agent_name()),
            carries=not stores.has_store(self._store, request.runtime.store),
        )
        return small, items, session_id


def _offered(request: ModelRequest, *, holds: bool) -> ModelRequest:
    """Return the request with the fetch tool last, or without it where there is nothing to fetch.

    Most conversations never hold a reference, and the schema would stand in each of their prompts. Where one
    comes, the changed list of tools breaks the provider's cached prompt once: on recorded runs that costs half a
    percent, the schema in every call costs three.
    """
    fetch = [tool for tool in request.tools if getattr(tool, "name", None) == FETCH_NAME]
    others = [tool for tool in request.tools if getattr(tool, "name", None) != FETCH_NAME]
    return request.override(tools=[*others, *fetch] if holds else others)
