"""A complete master graph in one call: plan, isolated agents, evaluation, report (ACI Figure 5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, get_type_hints

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.runnables import Runnable
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import RetryPolicy

from accp_adapters.langgraph.references import stores
from accp_adapters.langgraph.teams.deliveries import Deliveries
from accp_adapters.langgraph.teams.isolate import isolated
from accp_adapters.langgraph.teams.planning import plan_node, report_node
from accp_adapters.langgraph.teams.reporter import Reporter
from accp_adapters.langgraph.teams.state import AciState, read_results
from accp_adapters.langgraph.teams.tasks import Tasks
from accp_adapters.langgraph.teams.verifier import AsyncVerifier, Judge
from accp_adapters.langgraph.teams.work import Team, work_node
from accp_adapters.policy import Policy
from accp_core.aci import Mode, verify_by_rule
from accp_core.ports import Verifier

__all__ = ["MasterState", "master_graph"]

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
    verifier: Verifier | AsyncVerifier = verify_by_rule,
    reporter: Runnable[Any, BaseMessage] | None = None,
    mode: Mode | str = Mode.ASYNCHRONOUS,
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
        report: The node "report". A function with a parameter `context` gets the course of the task, such as
            `context.results["Find churn"]`, failures with their reasons included. None: an AIMessage with the result of
            each step by its name, where `state_schema` has messages.
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
        mode=Mode(mode),
        retries=retries,
        tasks=Tasks.of(nodes, again, judge, policies, awaited=False),
        awaited=Tasks.of(nodes, again, judge, policies, awaited=True),
        timeout=timeout,
    )
    return _graph(plan_node(plan, agents), work_node(team), report_node(report), state_schema)


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
