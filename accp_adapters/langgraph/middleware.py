"""The middleware for `create_agent`: tool results reach the model in fewer tokens, with nothing lost."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
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
from accp_adapters.langgraph.metadata import is_carriable
from accp_adapters.langgraph.policy import Policy
from accp_adapters.langgraph.projection import ProjectedMessages, agent_name, project, projector_after
from accp_adapters.langgraph.results import ResultCompressor
from accp_adapters.langgraph.runtime import FOLD_KEY, agents_of, has_references, messages_of, new_session, session_of
from accp_core.ports import Summarizer
from accp_core.references import StoredText

__all__ = ["AccpMiddleware", "AccpState"]

ToolAnswer: TypeAlias = ToolMessage | Command[Any]
"""What a tool returns."""
ModelAnswer: TypeAlias = ModelResponse[Any]
"""What a model returns."""


class AccpState(AgentState[Any]):
    """The agent's state with the keys that are this middleware's own."""

    accp_session: NotRequired[Annotated[str, PrivateStateAttr]]
    """The session of a run without a thread; callers neither see nor set it."""
    accp_fold: NotRequired[Annotated[dict[str, Any], PrivateStateAttr]]
    """The fold in force (`Fold.to_json`). It is part of each checkpoint, so that a fork has the folds before it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _ModelCall:
    """One call of the model, with what is stored before it and what the state gets after it."""

    request: ModelRequest
    """The request as the model is sent it."""
    session_id: str = ""
    """The session whose store gets `texts`."""
    texts: tuple[StoredText, ...] = ()
    """Texts to store before the call."""
    update: dict[str, Any] | None = None
    """The update of the state after the call."""

    def with_update(self, answer: ModelAnswer) -> ModelAnswer | ExtendedModelResponse[Any]:
        """Return the model's answer with the update."""
        if self.update is None:
            return answer
        return ExtendedModelResponse(model_response=answer, command=Command(update=self.update))


class AccpMiddleware(AgentMiddleware[AccpState, Any, Any]):
    """Compresses each tool result once, when the tool returns it, before anything is saved or sent.

    `create_agent(model, tools, middleware=[AccpMiddleware()])`. Messages that are in the state already never change, so
    the provider's prompt cache stays valid. It keeps no state of its own: a replay, a fork or a second thread on the
    same graph gives the same texts. Put it last: a middleware after it that removes messages from the prompt
    (`ContextEditingMiddleware`) may remove the lines that `[as above: …]` names.
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
        """Compress by `policy` and keep full texts in `store`.

        Args:
            policy: None: the defaults.
            store: A `ColdStore` or LangGraph `BaseStore`; None: the graph's own, else each full text travels,
                compressed, in the metadata of the message that cites it.
            hot_budget: Tokens of system prompt, tools and messages beyond which older tool results are folded into
                one summary with a reference; None: never. Each fold breaks the provider's prompt cache once.
            summarizer: Writes the summaries, of at most 100 tokens; None: they are made by rule.

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
        self, request: ModelRequest, handler: Callable[[ModelRequest], ModelAnswer]
    ) -> ModelAnswer | ExtendedModelResponse[Any]:
        """Fold what is due, project the messages, and offer the fetch tool from the first reference on."""
        call = self._prepare(request)
        if call.texts:
            stores.put(stores.choose(self._policy, self._store, request.runtime.store), call.session_id, call.texts)
        return call.with_update(handler(call.request))

    async def awrap_model_call(
        self, request: ModelRequest, handler: Callable[[ModelRequest], Awaitable[ModelAnswer]]
    ) -> ModelAnswer | ExtendedModelResponse[Any]:
        """`wrap_model_call`, asynchronously."""
        call = await asyncio.to_thread(self._prepare, request)
        if call.texts:
            store = stores.choose(self._policy, self._store, request.runtime.store)
            await stores.aput(store, call.session_id, call.texts)
        return call.with_update(await handler(call.request))

    def wrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], ToolAnswer]) -> ToolAnswer:
        """Return the tool's answer compressed, after its full texts were stored."""
        if request.tool_call["name"] in self._policy.exclude_tools:
            return handler(request)
        answer, texts, session_id = self._compress(handler(request), request)
        stores.put(stores.choose(self._policy, self._store, request.runtime.store), session_id, texts)
        return answer

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[ToolAnswer]]
    ) -> ToolAnswer:
        """`wrap_tool_call`, asynchronously."""
        if request.tool_call["name"] in self._policy.exclude_tools:
            return await handler(request)
        answer, texts, session_id = await asyncio.to_thread(self._compress, await handler(request), request)
        await stores.aput(stores.choose(self._policy, self._store, request.runtime.store), session_id, texts)
        return answer

    def _prepare(self, request: ModelRequest) -> _ModelCall:
        """Return what the model is sent, what must be stored before, and what the state keeps after."""
        state: Any = request.state
        if self._folder is None:
            return _ModelCall(request=self._projected(request))
        before = Fold.of(state.get(FOLD_KEY))
        session_id = session_of(request.runtime, state) or new_session()
        has_fetch = before is not None or has_references(messages_of(state), agents_of(request.runtime))
        due = self._folder.fold(
            request.messages,
            before,
            overhead=self._folder.overhead(request.system_message, _offering(request, fetch=has_fetch).tools),
            session_id=session_id,
            project=lambda messages: self._project(request, messages).messages,
        )
        fold, texts = (due[0], (due[1],)) if due else (before, ())
        if due and not stores.has_store(self._store, request.runtime.store) and is_carriable(due[1].text):
            fold, texts = due[0].carrying(due[1]), ()
        folded = request.override(messages=self._folder.apply(request.messages, fold))
        return _ModelCall(
            request=self._projected(folded, has_fold=fold is not None),
            session_id=session_id,
            texts=texts,
            update={FOLD_KEY: fold.to_json()} if due and fold else None,
        )

    def _projected(self, request: ModelRequest, *, has_fold: bool = False) -> ModelRequest:
        """Return the request as the model is sent it, with the fetch tool where anything can be fetched."""
        shown = self._project(request, request.messages)
        in_force = [*messages_of(request.state), *shown.messages]
        fetch = has_fold or shown.has_previews or has_references(in_force, agents_of(request.runtime))
        return _offering(request.override(messages=shown.messages), fetch=fetch)

    def _project(self, request: ModelRequest, messages: Sequence[Any]) -> ProjectedMessages:
        instructions = request.system_message.text if request.system_message else ""
        return project(messages, self._policy, agent=agent_name(), instructions=instructions)

    def _compress(self, answer: ToolAnswer, request: ToolCallRequest) -> tuple[ToolAnswer, list[StoredText], str]:
        messages = messages_of(request.state)
        session_id = session_of(request.runtime, request.state) or new_session()
        compressor = ResultCompressor(
            policy=self._policy,
            session_id=session_id,
            before=projector_after(messages, self._policy, agent_name()),
            carries=not stores.has_store(self._store, request.runtime.store),
        )
        small, texts = compressor.compress_result(answer, {message.id for message in messages})
        return small, texts, session_id


def _offering(request: ModelRequest, *, fetch: bool) -> ModelRequest:
    """Return the request with the fetch tool last, or without it where there is nothing to fetch.

    Most conversations never hold a reference, and the definition would be part of each of their prompts. At the first
    reference the changed list of tools breaks the provider's cached prompt once: on recorded runs that costs half a
    percent, the definition in every call costs three.
    """
    fetch_tools = [tool for tool in request.tools if getattr(tool, "name", None) == FETCH_NAME]
    others = [tool for tool in request.tools if getattr(tool, "name", None) != FETCH_NAME]
    return request.override(tools=[*others, *fetch_tools] if fetch else others)
