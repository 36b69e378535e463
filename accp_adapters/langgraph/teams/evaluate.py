"""The master's side as one node: replies in, two-phase evaluation, the next deliveries out (ACI 4.1 and 5.3)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Any, Final, TypeAlias

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.graph import END
from langgraph.runtime import get_runtime
from langgraph.types import Command, Send

from accp_adapters.langgraph.runtime import new_session, session_of
from accp_adapters.langgraph.teams.isolate import CONTEXT, DELIVERY, SESSION, TEXTS
from accp_adapters.langgraph.teams.replies import is_awaited
from accp_core.aci import (
    AgentContext,
    Delivery,
    Interaction,
    Mode,
    TaskContext,
    interaction_from_json,
    interaction_to_json,
    verify_by_rule,
)
from accp_core.error_codes import ErrorCode
from accp_core.errors import LocalProtocolError, ProtocolError
from accp_core.ports import Verifier
from accp_core.references import uri_to_key

__all__ = ["AsyncVerifier", "EvaluateNode"]

AsyncVerifier: TypeAlias = Callable[[str, str, str], Awaitable[str | None]]
"""A `Verifier` that one awaits: subtask, item and abstract to None or feedback."""

_AT_ONCE: Final = 8
"""Verdicts that are awaited at the same time."""


class EvaluateNode(Runnable[Any, Any]):
    """The node that keeps a task going: it takes replies, judges them, and sends what is to be done next.

    `graph.add_node("evaluate", EvaluateNode(then="report"))`, with edges to it from the planner and from each
    isolated agent. It sends by AgentID, again where items are not done, and goes to `then` when all is completed or
    failed. Its state stands in the channels of `AciState`, none in the object.
    """

    def __init__(
        self,
        verifier: Verifier | AsyncVerifier = verify_by_rule,
        *,
        then: str = END,
        agents: Collection[str] | None = None,
        mode: Mode | str = Mode.ASYNCHRONOUS,
        retries: int = 2,
    ) -> None:
        """Judge by `verifier` and go on to `then`.

        Args:
            verifier: Called with subtask, item and abstract of each item said to be done; None is a yes, words are
                feedback. One whose call is a coroutine function needs `ainvoke`, which prefers a method `averify`.
            then: The node after the last subtask.
            agents: The AgentIDs that have a node; a plan that names another one is refused. None: any.
            mode: "asynchronous" (all that is ready at once) or "synchronous" (one after the other).
            retries: How often a subtask is tried again.

        Raises:
            ValueError: There is no such mode.
        """
        super().__init__()
        self._verifier: Final[Any] = verifier
        self._waits: Final = is_awaited(verifier)
        self._then: Final = then
        self._agents: Final = None if agents is None else frozenset(agents)
        self._mode: Final = Mode(mode)
        self._retries: Final = retries

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Return the command that updates the state `input` and goes to agents or on.

        Raises:
            ProtocolError: The state holds no task, or a plan that is none.
            TypeError: The verifier has to be awaited.
        """
        if self._waits:
            raise TypeError("expected `ainvoke` with an asynchronous verifier, found `invoke`")
        interaction, session_id = self._received(input)
        return self._command(interaction.verify(self._verifier), session_id, input)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """`invoke`, asynchronously; several verdicts are awaited at once."""
        interaction, session_id = self._received(input)
        places = asyncio.Semaphore(_AT_ONCE)

        async def ask(*claim: str) -> str | None:
            async with places:
                return await self._averify(*claim)

        claims = interaction.claims
        found = await asyncio.gather(*(ask(each.subtask_name, each.description, each.abstract) for each in claims))
        names = [(each.subtask_id, each.item_id) for each in claims]
        return self._command(interaction.judge(dict(zip(names, found, strict=True))), session_id, input)

    async def _averify(self, *claim: str) -> str | None:
        asynchronous = self._verifier if self._waits else getattr(self._verifier, "averify", None)
        waiting = asynchronous(*claim) if asynchronous else asyncio.to_thread(self._verifier, *claim)
        answer: str | None = await waiting
        return answer

    def _received(self, state: Any) -> tuple[Interaction, str]:
        """Return the interaction with the replies that came, and the session whose store the task uses."""
        progress = state.get("aci_progress")
        if not progress:
            return self._started(state), session_of(get_runtime(), state) or new_session()
        interaction = interaction_from_json(progress["interaction"])
        for delivery_id, reply in state.get("aci_replies", {}).items():
            try:
                interaction = interaction.receive(delivery_id, reply["context"], stored=reply["stored"])
            except LocalProtocolError:
                continue  # of an earlier attempt or task: nobody waits for it
        return interaction, progress["session"]

    def _started(self, state: Mapping[str, Any]) -> Interaction:
        if not state.get("task_context") or not state.get("agent_contexts"):
            raise ProtocolError(
                f"expected a planner to have written task_context and agent_contexts, as `begin` does, found "
                f"{sorted(key for key, value in state.items() if value)}",
                code=ErrorCode.INVALID_TYPE,
            )
        contexts = [AgentContext.from_json(context) for context in state["agent_contexts"].values()]
        for context in contexts:
            if self._agents is not None and context.agent_id not in self._agents:
                raise ProtocolError(
                    f"expected an agent of {sorted(self._agents)} for subtask {context.subtask_id!r}, found "
                    f"{context.agent_id!r}",
                    code=ErrorCode.TOOL_NOT_FOUND,
                )
        task = TaskContext.from_json(state["task_context"])
        return Interaction.start(task, contexts, mode=self._mode, retries=self._retries)

    def _command(self, judged: Interaction, session_id: str, state: Mapping[str, Any]) -> Command[Any]:
        interaction, deliveries = judged.deliver()
        update = {
            "task_context": interaction.task.to_json(),
            "agent_contexts": {each: context.to_json() for each, context in interaction.contexts.items()},
            "aci_progress": {"interaction": interaction_to_json(interaction), "session": session_id},
            "aci_replies": dict.fromkeys(state.get("aci_replies", {})),
        }
        goto = (
            self._then
            if interaction.finished
            else [_send(each, session_id, state.get(TEXTS) or {}) for each in deliveries]
        )
        return Command(update=update, goto=goto)


def _send(delivery: Delivery, session_id: str, texts: Mapping[str, str]) -> Send:
    """Return the delivery on its way, with those texts that its agent may open."""
    keys = {uri_to_key(uri) for uri in delivery.context.context_uri}
    granted = {key: text for key, text in texts.items() if key in keys}
    given = {CONTEXT: delivery.payload, DELIVERY: delivery.id, SESSION: session_id}
    return Send(delivery.context.agent_id, {**given, TEXTS: granted} if granted else given)
