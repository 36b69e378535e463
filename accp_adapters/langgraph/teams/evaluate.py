"""The master's side as one node: replies in, two-phase evaluation, the next deliveries out (ACI 4.1 and 5.3)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.graph import END
from langgraph.runtime import get_runtime
from langgraph.types import Command, Send

from accp_adapters.langgraph.runtime import new_session, thread_session
from accp_adapters.langgraph.teams.deliveries import TEXTS_KEY, delivery_state
from accp_adapters.langgraph.teams.state import interaction_update, receive_reply, start_interaction
from accp_adapters.langgraph.teams.verifier import AsyncVerifier, Judge
from accp_core.aci import Claim, Interaction, Mode, Verdict, interaction_from_json, verify_by_rule
from accp_core.errors import LocalProtocolError
from accp_core.ports import Verifier

__all__ = ["EvaluateNode"]

_MAX_CONCURRENT: Final = 8
"""Verdicts that are awaited at the same time."""


class EvaluateNode(Runnable[Any, Any]):
    """The node that drives a task: it takes replies, judges them, and sends the next deliveries.

    `graph.add_node("evaluate", EvaluateNode(then="report"))`, with edges to it from the planner and from each
    isolated agent. It sends to the node of each AgentID, again where items are not done, and goes to `then` when all
    subtasks have ended. Its state is in the channels of `AciState`, none in the object.
    """

    def __init__(
        self,
        verifier: Verifier | AsyncVerifier = verify_by_rule,
        *,
        then: str = END,
        agents: Collection[str] | None = None,
        mode: Mode | str = Mode.ASYNCHRONOUS,
        retries: int = 2,
        catch: tuple[type[Exception], ...] = (Exception,),
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
            catch: Exceptions of the verifier that leave an item unverified, with the reason; others end the run.

        Raises:
            ValueError: there is no such mode.
        """
        super().__init__()
        self._judge: Final = Judge(verifier, catch)
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
        self._judge.check_sync()
        interaction, session_id = self._received(input)
        verdicts = [self._judge.ask(claim) for claim in interaction.claims]
        return self._command(interaction, verdicts, session_id, input)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """`invoke`, asynchronously; several verdicts are awaited at once."""
        interaction, session_id = self._received(input)
        free = asyncio.Semaphore(_MAX_CONCURRENT)

        async def ask(claim: Claim) -> Verdict:
            async with free:
                return await self._judge.aask(claim)

        verdicts = await asyncio.gather(*map(ask, interaction.claims))
        return self._command(interaction, verdicts, session_id, input)

    def _received(self, state: Any) -> tuple[Interaction, str]:
        """Return the interaction with the replies that arrived, and the session whose store the task uses."""
        progress = state.get("aci_progress") or {}
        if "interaction" not in progress:
            begun = start_interaction(state, agents=self._agents, mode=self._mode, retries=self._retries)
            return begun, thread_session(get_runtime()) or new_session()
        interaction = interaction_from_json(progress["interaction"])
        for delivery_id, reply in state.get("aci_replies", {}).items():
            try:
                interaction = receive_reply(interaction, delivery_id, reply, time.time())
            except LocalProtocolError:
                continue  # it belongs to an earlier attempt or task
        return interaction, progress["session"]

    def _command(
        self, received: Interaction, verdicts: Iterable[Verdict], session_id: str, state: Mapping[str, Any]
    ) -> Command[Any]:
        items = [(claim.subtask_id, claim.item_id) for claim in received.claims]
        judged = received.judge(dict(zip(items, verdicts, strict=True)), time.time())
        interaction, deliveries = judged.deliver(time.time())
        update = {
            **interaction_update(interaction, session_id),
            "aci_replies": dict.fromkeys(state.get("aci_replies", {})),
        }
        texts = state.get(TEXTS_KEY) or {}
        sends = [Send(each.context.agent_id, delivery_state(each, session_id, texts)) for each in deliveries]
        return Command(update=update, goto=self._then if interaction.finished else sends)
