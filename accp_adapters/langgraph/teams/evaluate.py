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
from accp_adapters.langgraph.teams.deliveries import CONTEXT_KEY, DELIVERY_KEY, SESSION_KEY, TEXTS_KEY
from accp_adapters.langgraph.teams.replies import is_awaited
from accp_core.aci import (
    AcceptedReply,
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
"""A `Verifier` whose call is awaited: subtask, item and abstract to None or feedback."""

_MAX_CONCURRENT: Final = 8
"""Verdicts that are awaited at the same time."""


class EvaluateNode(Runnable[Any, Any]):
    """The node that drives a task: it takes replies, judges them, and sends the next deliveries.

    `graph.add_node("evaluate", EvaluateNode(then="report"))`, with edges to it from the planner and from each
    isolated agent. It sends to the node of each AgentID, again where items are not done, and goes to `then` when all
    subtasks are completed or failed. Its state is in the channels of `AciState`, none in the object.
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
            verifier: Called with subtask, item and abstract of each item that an agent reports as done; it returns None
                for a yes, else feedback. One whose call is a coroutine needs `ainvoke`, which prefers a method
                `averify`.
            then: The node after the last subtask.
            agents: The AgentIDs that have a node; a plan with another one is refused. None: any.
            mode: "asynchronous" (all that is ready at once) or "synchronous" (one after the other).
            retries: How often a subtask is tried again.

        Raises:
            ValueError: there is no such mode.
        """
        super().__init__()
        self._verifier: Final[Any] = verifier
        self._is_awaited: Final = is_awaited(verifier)
        self._then: Final = then
        self._agents: Final = None if agents is None else frozenset(agents)
        self._mode: Final = Mode(mode)
        self._retries: Final = retries

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Return the command that updates the state `input` and goes to agents or on.

        Raises:
            ProtocolError: E1004, the state holds no task or no plan.
            TypeError: the verifier has to be awaited.
        """
        if self._is_awaited:
            raise TypeError("expected `ainvoke` with an asynchronous verifier, found `invoke`")
        interaction, session_id = self._received(input)
        return self._command(interaction.verify(self._verifier), session_id, input)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """`invoke`, asynchronously; several verdicts are awaited at once."""
        interaction, session_id = self._received(input)
        free = asyncio.Semaphore(_MAX_CONCURRENT)

        async def ask(*claim: str) -> str | None:
            async with free:
                return await self._averify(*claim)

        claims = interaction.claims
        verdicts = await asyncio.gather(
            *(ask(claim.subtask_name, claim.description, claim.abstract) for claim in claims)
        )
        items = [(claim.subtask_id, claim.item_id) for claim in claims]
        return self._command(interaction.judge(dict(zip(items, verdicts, strict=True))), session_id, input)

    async def _averify(self, *claim: str) -> str | None:
        asynchronous = self._verifier if self._is_awaited else getattr(self._verifier, "averify", None)
        waiting = asynchronous(*claim) if asynchronous else asyncio.to_thread(self._verifier, *claim)
        verdict: str | None = await waiting
        return verdict

    def _received(self, state: Any) -> tuple[Interaction, str]:
        """Return the interaction with the replies that arrived, and the session whose store the task uses."""
        progress = state.get("aci_progress")
        if not progress:
            return self._started(state), session_of(get_runtime(), state) or new_session()
        interaction = interaction_from_json(progress["interaction"])
        for delivery_id, reply in state.get("aci_replies", {}).items():
            try:
                interaction = interaction.receive(delivery_id, AcceptedReply.from_json(reply))
            except LocalProtocolError:
                continue  # it belongs to an earlier attempt or task
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
            "agent_contexts": {name: context.to_json() for name, context in interaction.contexts.items()},
            "aci_progress": {"interaction": interaction_to_json(interaction), "session": session_id},
            "aci_replies": dict.fromkeys(state.get("aci_replies", {})),
        }
        goto = (
            self._then
            if interaction.finished
            else [_send(delivery, session_id, state.get(TEXTS_KEY) or {}) for delivery in deliveries]
        )
        return Command(update=update, goto=goto)


def _send(delivery: Delivery, session_id: str, texts: Mapping[str, str]) -> Send:
    """Return the `Send` of a delivery, with those texts that its agent may open."""
    keys = {uri_to_key(uri) for uri in delivery.context.context_uri}
    granted = {key: text for key, text in texts.items() if key in keys}
    sent = {CONTEXT_KEY: delivery.payload, DELIVERY_KEY: delivery.id, SESSION_KEY: session_id}
    return Send(delivery.context.agent_id, {**sent, TEXTS_KEY: granted} if granted else sent)
