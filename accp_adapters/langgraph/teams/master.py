"""A complete master graph in one call: plan, isolated agents, evaluation, report (ACI Figure 5)."""

from __future__ import annotations

import asyncio
import concurrent.futures
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any, Final, TypeAlias, get_type_hints

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda
from langgraph.errors import GraphInterrupt
from langgraph.func import task
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.runtime import get_runtime
from langgraph.types import Interrupt, RetryPolicy

from accp_adapters.langgraph import stores
from accp_adapters.langgraph.conversation import new_session, thread_session
from accp_adapters.langgraph.teams.deliveries import ACI_TEXTS_KEY, DELIVERY_KEY, Deliveries, Reporter, delivery_state
from accp_adapters.langgraph.teams.isolate import isolated
from accp_adapters.langgraph.teams.planner import AsyncVerifier, Judge, plan_node
from accp_adapters.langgraph.teams.state import (
    AciState,
    interaction_update,
    read_results,
    receive_reply,
    start_interaction,
)
from accp_adapters.policy import Policy
from accp_core import aci
from accp_core.ports import Verifier

__all__ = ["MasterState", "Tasks", "Team", "master_graph", "start_time", "verdict_from_json", "work_node"]


# The tasks of LangGraph that the master's node calls: an agent, a verdict, and which result was taken next.

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tasks:
    """The tasks of a run; each call returns a future, whose result the checkpointer keeps."""

    agents: Mapping[str, Callable[[Json], Any]]
    """AgentID to the task that delivers a step to that agent."""
    repeatable: Mapping[str, Callable[[Json], Any]]
    """AgentID to the task that delivers a step that may be run again."""
    verdict: Callable[[Json], Any]
    """The task that asks the verifier."""
    take: Callable[[str], Any]
    """The task that returns what it is given; in a later run of the node, what it was given in the first."""

    def call(self, agent_id: str, sent: Json, *, repeatable: bool) -> Any:
        """Deliver to an agent; the result is {"reply", "texts", "ended"}."""
        return (self.repeatable if repeatable else self.agents)[agent_id](sent)

    def judge(self, claim: aci.Claim | None) -> Any:
        """Ask for the verdict on a claim; the result is {"verdict", "ended"}."""
        return self.verdict(asdict(claim) if claim else {})

    @classmethod
    def of(
        cls,
        agents: Mapping[str, Runnable[Any, Json]],
        repeatable: Mapping[str, Runnable[Any, Json]],
        judge: Judge,
        retry: Sequence[RetryPolicy],
        *,
        awaited: bool,
    ) -> Tasks:
        """Return the tasks of a synchronous run, or of an asynchronous one.

        Args:
            agents: AgentID to isolated node.
            repeatable: The same for steps that may be run again.
            judge: Asks the verifier.
            retry: When LangGraph runs such a step again.
            awaited: Whether the run is asynchronous.
        """
        return cls(
            agents={name: _task(_call(node, awaited=awaited), name) for name, node in agents.items()},
            repeatable={name: _task(_call(node, awaited=awaited), name, retry) for name, node in repeatable.items()},
            verdict=_task(_verdict(judge, awaited=awaited), "verdict"),
            take=_task(_order(awaited=awaited), "next"),
        )


def _task(function: Callable[..., Any], name: str, retry: Sequence[RetryPolicy] = ()) -> Callable[..., Any]:
    as_task: Any = task(name=name, retry_policy=list(retry))
    called: Callable[..., Any] = as_task(function)
    return called


def _call(node: Runnable[Any, Json], *, awaited: bool) -> Callable[[Json], Any]:
    def deliver(sent: Json) -> Json:
        return _result(sent, node.invoke(sent))

    async def adeliver(sent: Json) -> Json:
        return _result(sent, await node.ainvoke(sent))

    return adeliver if awaited else deliver


def _result(sent: Json, update: Json) -> Json:
    reply = update["aci_replies"][sent[DELIVERY_KEY]]
    return {"reply": reply, "texts": update.get(ACI_TEXTS_KEY, {}), "ended": time.time()}


def _verdict(judge: Judge, *, awaited: bool) -> Callable[[Json], Any]:
    def verdict(claim: Json) -> Json:
        return {"verdict": _verdict_to_json(judge.ask(aci.Claim(**claim))), "ended": time.time()}

    async def averdict(claim: Json) -> Json:
        return {"verdict": _verdict_to_json(await judge.aask(aci.Claim(**claim))), "ended": time.time()}

    return averdict if awaited else verdict


def _order(*, awaited: bool) -> Callable[[str], Any]:
    def take(key: str) -> str:
        return key

    async def atake(key: str) -> str:
        return key

    return atake if awaited else take


def _verdict_to_json(verdict: aci.Verdict) -> Any:
    return {"not_judged": verdict.reason} if isinstance(verdict, aci.NotJudged) else verdict


def verdict_from_json(data: Any) -> aci.Verdict:
    """Return the verdict in the result of a task; the interaction refuses what is none."""
    verdict: aci.Verdict = (
        aci.NotJudged(data["not_judged"]) if isinstance(data, dict) and "not_judged" in data else data
    )
    return verdict


def start_time(base: aci.TaskContext) -> float:
    """Return when a task started, in seconds since 1970; now, where a planner did not say."""
    try:
        return datetime.fromisoformat(base.start_time or "").timestamp()
    except ValueError:
        return time.time()


# The master's work in one node: each agent starts when what it needs has ended, and no result is lost (ACI 2.1, 5.3).

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
    mode: aci.Mode
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
    claim: aci.Claim | None = None
    """The claim that is judged; None: the delivery itself."""


@dataclass(frozen=True, slots=True)
class _Judged:
    """A reply whose claims are being judged."""

    reply: dict[str, Any]
    claims: tuple[aci.Claim, ...]
    verdicts: dict[tuple[str, str], aci.Verdict]


class _Course:
    """The course of one run of the node: which tasks it calls, and whose results it takes when."""

    def __init__(
        self, team: Team, tasks: Tasks, interaction: aci.Interaction, session_id: str, texts: Mapping[str, str]
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


def _claims(reply: dict[str, Any]) -> tuple[aci.Claim, ...]:
    if "lost" in reply:
        return ()
    accepted = aci.AcceptedReply.from_json(reply)
    return aci.evaluate(accepted.context, accepted.unread)[1]


_NODES: Final = frozenset({"plan", "work", "report"})
_RESERVED: Final = "|:"
"""LangGraph separates namespaces with these."""


class MasterState(AciState, MessagesState):
    """The keys of a master graph that answers a conversation: those of `AciState`, and `messages`."""


def master_graph(
    agents: Mapping[str, Any],
    *,
    plan: Any,
    report: Any = None,
    verifier: Verifier | AsyncVerifier = aci.verify_by_rule,
    reporter: Runnable[Any, BaseMessage] | None = None,
    mode: aci.Mode | str = aci.Mode.ASYNCHRONOUS,
    retries: int = 2,
    catch: tuple[type[Exception], ...] = (Exception,),
    retry_policy: RetryPolicy | Sequence[RetryPolicy] | None = None,
    timeout: float | None = None,
    state_schema: type[Any] = MasterState,
    policy: Policy | str | None = None,
    store: stores.Store | str | None = None,
) -> StateGraph[Any, Any, Any, Any]:
    """Return the graph of a master and its agents, to be compiled with any checkpointer and store.

    Its nodes are "plan", "work" and "report". All agents run within "work", each as soon as what it depends on has
    ended. With a checkpointer their results survive an interrupt, a crash and a resume: no finished agent runs again.

    Args:
        agents: AgentID to agent, as `isolate` takes it.
        plan: What is to be done: a list of steps (`step`) or contexts, a function of the state that returns one, a
            `ModelPlanner`, or a node that returns `begin(task, …)`.
        report: The node "report", as LangGraph takes one. `read_interaction(state)` returns the course of the task,
            such as `.results["Find churn"]`, failures with their reasons included. None: an AIMessage with the result
            of each step by its name, where `state_schema` has messages.
        verifier: Called with subtask, item and abstract of each item that an agent reports as done; it returns None for
            a yes, else feedback. One whose call is a coroutine needs `ainvoke`, which prefers a method `averify`.
        reporter: As `isolate` takes it.
        mode: "asynchronous" (all that is ready at once) or "synchronous" (one after the other).
        retries: How often a subtask is tried again, where its agent or the verifier calls it not done. Where nobody
            knows what was done, only a step declared repeatable is tried again.
        catch: Exceptions of an agent that fail its subtask, and of the verifier that leave an item unverified, with the
            reason; others end the run. An interrupt is never caught.
        retry_policy: When LangGraph runs an agent again after an exception, before it counts as failed; only steps
            that are declared repeatable.
        timeout: Seconds that an agent may take before it counts as failed, in an asynchronous run; a synchronous
            agent cannot be stopped. None: no limit.
        state_schema: `MasterState`, or another class with the keys of `AciState`.
        policy: As `isolate` takes it.
        store: As `isolate` takes it.

    Raises:
        ProtocolError: E1004, E2003, E4001 or E5001, `plan` is a list and no plan for these agents.
        ValueError: as `isolate`; an AgentID is the name of a node or holds "|" or ":", the timeout is not positive, or
            there is no such mode.
        TypeError: an agent or the plan is nothing of the kind.
    """
    _check(agents, timeout)
    policies = _policies(retry_policy)
    tell = None if reporter is None else Reporter(reporter)
    chosen, kept = Policy.of(policy), stores.opened(store)
    deliveries = [
        Deliveries(agent_id=name, policy=chosen, store=kept, catch=catch, timeout=timeout, reporter=tell)
        for name in agents
    ]
    nodes = {each.agent_id: isolated(agents[each.agent_id], each) for each in deliveries}
    again = {each.agent_id: isolated(agents[each.agent_id], replace(each, retry=policies)) for each in deliveries}
    judge = Judge(verifier, catch)
    team = Team(
        agents=nodes,
        judge=judge,
        mode=aci.Mode(mode),
        retries=retries,
        tasks=Tasks.of(nodes, again, judge, policies, awaited=False),
        awaited=Tasks.of(nodes, again, judge, policies, awaited=True),
        timeout=timeout,
    )
    return _graph(plan_node(plan, agents), work_node(team), report, state_schema)


def _told(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return the results as the answer: a failure is said in words."""
    results = read_results(state)
    lines = [f"{name}: {text if isinstance(text, str) else '; '.join(text)}" for name, text in results.items()]
    return {"messages": [AIMessage("\n".join(lines))]}


def _check(agents: Mapping[str, Any], timeout: float | None) -> None:
    if taken := sorted(_NODES & set(agents)):
        raise ValueError(f"expected AgentIDs other than the names of the master's nodes, found {taken!r}")
    if wrong := sorted(name for name in agents if not name or set(name) & set(_RESERVED)):
        raise ValueError(f"expected AgentIDs without {' and '.join(map(repr, _RESERVED))}, found {wrong!r}")
    if timeout is not None and not timeout > 0:
        raise ValueError(f"expected a timeout of more than 0 seconds, found {timeout!r}")


def _policies(retry_policy: RetryPolicy | Sequence[RetryPolicy] | None) -> tuple[RetryPolicy, ...]:
    if retry_policy is None:
        return ()
    # A RetryPolicy is a tuple itself.
    return (retry_policy,) if isinstance(retry_policy, RetryPolicy) else tuple(retry_policy)


def _graph(plan: Any, work: Any, report: Any, state_schema: type[Any]) -> StateGraph[Any, Any, Any, Any]:
    graph = StateGraph(state_schema)
    graph.add_node("plan", plan)
    graph.add_node("work", work)
    graph.add_edge(START, "plan")
    graph.add_edge("plan", "work")
    if report is None and "messages" in get_type_hints(state_schema):
        report = _told
    if report is None:
        graph.add_edge("work", END)
    else:
        graph.add_node("report", report)
        graph.add_edge("work", "report")
    return graph
