"""The master's work in one node: each agent starts when what it needs has ended, and no result is lost (ACI 2.1, 5.3).

Agents and verdicts are tasks of LangGraph (`langgraph.func.task`) with futures, since supersteps are barriers. A task's
result is kept by the checkpointer as soon as it ends, so that after an interrupt or a crash only unfinished work runs.

LangGraph knows a task again by its name and by how many the node has called before. So the calls must come in the same
order each time: where several results are awaited, a task of its own keeps which one was taken, and the times are those
that the tasks took.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda
from langgraph.errors import GraphInterrupt
from langgraph.runtime import get_runtime
from langgraph.types import Interrupt

from accp_adapters.langgraph.runtime import new_session, thread_session
from accp_adapters.langgraph.teams.deliveries import ACI_TEXTS_KEY, delivery_state
from accp_adapters.langgraph.teams.state import interaction_update, receive_reply, start_interaction
from accp_adapters.langgraph.teams.tasks import Tasks, start_time, verdict_from_json
from accp_adapters.langgraph.teams.verifier import Judge
from accp_core.aci import AcceptedReply, Claim, Interaction, Mode, Verdict, evaluate

__all__ = ["Team", "work_node"]

Future: TypeAlias = Any
"""A future of LangGraph: of asyncio in an asynchronous run, else of concurrent.futures."""
Steps: TypeAlias = Generator[set[Future], set[Future], dict[str, Any]]
"""Yields futures to wait for, is sent those that are done, returns the update of the state."""

_MAX_ASKED: Final = 8
"""Verdicts that are awaited at the same time."""
_MIN_CONCURRENCY: Final = 3
"""The node, LangGraph's own waiting for output, and one task."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Team:
    """What the node works with."""

    agents: Mapping[str, Runnable[Any, dict[str, Any]]]
    """AgentID to isolated node."""
    judge: Judge
    """Asks the verifier."""
    mode: Mode
    """One delivery at a time, or every subtask that is ready."""
    retries: int
    """How often a subtask is tried again."""
    tasks: Tasks
    """The tasks that a synchronous run calls."""
    awaited: Tasks
    """The tasks that an asynchronous run calls."""
    timeout: float | None
    """Seconds that an agent may take."""


def work_node(team: Team) -> Runnable[Any, dict[str, Any]]:
    """Return the node that does the planned work and returns its results.

    Its run raises ValueError for a `max_concurrency` under which it would wait for ever, and TypeError for `invoke`
    where something has to be awaited.
    """

    def run(state: Any, config: RunnableConfig) -> dict[str, Any]:
        team.judge.check_sync()
        if team.timeout is not None:
            raise TypeError("expected `ainvoke` with a timeout, found `invoke`")
        return _wait(_course(team, team.tasks, state, config).steps())

    async def arun(state: Any, config: RunnableConfig) -> dict[str, Any]:
        return await _await(_course(team, team.awaited, state, config).steps())

    return RunnableLambda(run, arun, name="work")


def _wait(steps: Steps) -> dict[str, Any]:
    try:
        wanted = next(steps)
        while True:
            wanted = steps.send(concurrent.futures.wait(wanted, return_when=concurrent.futures.FIRST_COMPLETED).done)
    except StopIteration as end:
        update: dict[str, Any] = end.value
        return update


async def _await(steps: Steps) -> dict[str, Any]:
    try:
        wanted = next(steps)
        while True:
            done, _ = await asyncio.wait(wanted, return_when=asyncio.FIRST_COMPLETED)
            wanted = steps.send(done)
    except StopIteration as end:
        update: dict[str, Any] = end.value
        return update


def _course(team: Team, tasks: Tasks, state: Mapping[str, Any], config: RunnableConfig) -> _Course:
    limit = config.get("max_concurrency")
    if limit is not None and limit < _MIN_CONCURRENCY:
        raise ValueError(f"expected max_concurrency of at least {_MIN_CONCURRENCY} for a master graph, found {limit}")
    interaction = start_interaction(state, agents=team.agents, mode=team.mode, retries=team.retries)
    session_id = thread_session(get_runtime()) or new_session()
    return _Course(team, tasks, interaction, session_id, state.get(ACI_TEXTS_KEY) or {})


@dataclass(frozen=True, slots=True)
class _Awaited:
    """What a future is about."""

    key: str
    """Identifies it within the course."""
    delivery_id: str
    claim: Claim | None = None
    """The claim that is judged; None: the delivery itself."""


@dataclass(frozen=True, slots=True)
class _Judged:
    """A reply whose claims are being judged."""

    reply: dict[str, Any]
    claims: tuple[Claim, ...]
    verdicts: dict[tuple[str, str], Verdict]


class _Course:
    """The course of one run of the node: which tasks it calls, and whose results it takes when."""

    def __init__(
        self, team: Team, tasks: Tasks, interaction: Interaction, session_id: str, texts: Mapping[str, str]
    ) -> None:
        self._team: Final = team
        self._tasks: Final = tasks
        self._interaction = interaction
        self._session_id: Final = session_id
        self._texts: Final = dict(texts)
        self._new_texts: Final[dict[str, str]] = {}
        self._now = start_time(interaction.base)
        self._running: Final[dict[Future, _Awaited]] = {}
        self._interrupted: Final[dict[Future, tuple[Interrupt, ...]]] = {}
        self._judged: Final[dict[str, _Judged]] = {}
        self._to_ask: Final[list[_Awaited]] = []

    def steps(self) -> Steps:
        """Work until all subtasks have ended.

        Raises:
            GraphInterrupt: only agents that wait for somebody are left; with the interrupts of all of them.
            Exception: an agent's or the verifier's, where it is not to be caught; after all that runs has ended.
        """
        self._call()
        while self._running:
            future = yield from self._next()
            if future is None:
                raise GraphInterrupt(tuple(each for found in self._interrupted.values() for each in found))
            if future.exception():
                yield from self._end()
            self._take(self._running.pop(future), future.result())
            self._call()
        update = interaction_update(self._interaction, self._session_id)
        return {**update, ACI_TEXTS_KEY: self._new_texts} if self._new_texts else update

    def _call(self) -> None:
        """Call the tasks of all verdicts and deliveries that are due."""
        while self._to_ask and sum(each.claim is not None for each in self._running.values()) < _MAX_ASKED:
            asked = self._to_ask.pop(0)
            self._running[self._tasks.judge(asked.claim)] = asked
        self._interaction, deliveries = self._interaction.deliver(self._now)
        for each in deliveries:
            sent = delivery_state(each, self._session_id, self._texts)
            repeatable = each.context.subtask_id in self._interaction.plan.repeatable
            called = self._tasks.call(each.context.agent_id, sent, repeatable=repeatable)
            self._running[called] = _Awaited(each.id, each.id)

    def _next(self) -> Generator[set[Future], set[Future], Future | None]:
        """Return the future whose result comes next, None where only interrupted ones are left."""
        while waiting := [future for future in self._running if future not in self._interrupted]:
            done = yield set(waiting)
            ended = [future for future in waiting if future in done and not self._is_interrupted(future)]
            if ended:
                future = yield from self._in_order(ended[0])
                if not self._is_interrupted(future):
                    return future
        return None

    def _end(self) -> Generator[set[Future], set[Future], None]:
        """Wait for all that runs: work that is stopped in the middle would be lost, and done again."""
        while running := {future for future in self._running if not future.done()}:
            yield running

    def _in_order(self, ended: Future) -> Generator[set[Future], set[Future], Future]:
        """Return the future that was taken here in an earlier run of the node, else `ended`."""
        if len(self._running) == 1:
            return ended
        order = self._tasks.take(self._running[ended].key)
        yield {order}
        key = order.result()
        taken = next((future for future, each in self._running.items() if each.key == key), ended)
        while not taken.done():
            yield {taken}
        return taken

    def _is_interrupted(self, future: Future) -> bool:
        error = future.exception()
        if isinstance(error, GraphInterrupt):
            self._interrupted[future] = tuple(error.args[0])
        return future in self._interrupted

    def _take(self, awaited: _Awaited, result: dict[str, Any]) -> None:
        """Take a result: a reply, or the verdict on a claim."""
        self._now = max(self._now, result["ended"])
        if awaited.claim is not None:
            judged = self._judged[awaited.delivery_id]
            verdict = verdict_from_json(result["verdict"])
            judged.verdicts[awaited.claim.subtask_id, awaited.claim.item_id] = verdict
        else:
            self._texts.update(result["texts"])
            self._new_texts.update(result["texts"])
            judged = self._judged[awaited.delivery_id] = _Judged(result["reply"], _claims(result["reply"]), {})
            self._ask(awaited.delivery_id, judged)
        if len(judged.verdicts) == len(judged.claims):
            del self._judged[awaited.delivery_id]
            received = receive_reply(self._interaction, awaited.delivery_id, judged.reply, self._now)
            self._interaction = received.judge(judged.verdicts, self._now)

    def _ask(self, delivery_id: str, judged: _Judged) -> None:
        """Ask the verifier about the claims of a reply, at once where it is a rule."""
        for claim in judged.claims:
            if self._team.judge.is_rule:
                judged.verdicts[claim.subtask_id, claim.item_id] = self._team.judge.ask(claim)
            else:
                self._to_ask.append(_Awaited(f"{delivery_id}/{claim.item_id}", delivery_id, claim))


def _claims(reply: dict[str, Any]) -> tuple[Claim, ...]:
    if "lost" in reply:
        return ()
    accepted = AcceptedReply.from_json(reply)
    return evaluate(accepted.context, accepted.unread)[1]
