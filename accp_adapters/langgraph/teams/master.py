"""A complete master graph in one call: plan, isolated agents, evaluation, report (ACI Figure 5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langgraph.graph import END, START, StateGraph

from accp_adapters.langgraph import stores
from accp_adapters.langgraph.policy import Policy
from accp_adapters.langgraph.teams.evaluate import AsyncVerifier, EvaluateNode
from accp_adapters.langgraph.teams.isolate import isolate
from accp_adapters.langgraph.teams.state import AciState
from accp_core.aci import Mode, verify_by_rule
from accp_core.ports import Verifier

__all__ = ["master_graph"]

_EVALUATE = "evaluate"


def master_graph(
    agents: Mapping[str, Any],
    *,
    plan: Any,
    report: Any = None,
    verifier: Verifier | AsyncVerifier = verify_by_rule,
    mode: Mode | str = Mode.ASYNCHRONOUS,
    retries: int = 2,
    state_schema: type[Any] = AciState,
    policy: Policy | None = None,
    store: stores.Store | None = None,
) -> StateGraph[Any, Any, Any, Any]:
    """Return the graph of a master and its agents, to be compiled with any checkpointer and store.

    Args:
        agents: AgentID to agent, as `isolate` takes it.
        plan: The node "plan": it reads the state and returns `begin(task, contexts)`.
        report: The node "report": it reads the results, `read_results(state)`. None: there is no such node.
        verifier, mode, retries: As `EvaluateNode` takes them.
        state_schema: `AciState` or a subclass with more keys, such as `messages`.
        policy, store: As `isolate` takes them.

    Raises:
        ValueError: as `isolate` and `EvaluateNode`, and for an AgentID that is the name of another node.
    """
    if taken := sorted({"plan", _EVALUATE, "report"} & set(agents)):
        raise ValueError(f"expected AgentIDs other than the names of the master's nodes, found {taken!r}")
    graph = StateGraph(state_schema)
    graph.add_node("plan", plan)
    graph.add_edge(START, "plan")
    graph.add_edge("plan", _EVALUATE)
    then = END if report is None else "report"
    judge = EvaluateNode(verifier, then=then, agents=agents, mode=mode, retries=retries)
    graph.add_node(_EVALUATE, judge, destinations=(*agents, then))
    for agent_id, agent in agents.items():
        graph.add_node(agent_id, isolate(agent, agent_id=agent_id, policy=policy, store=store))
        graph.add_edge(agent_id, _EVALUATE)
    if report is not None:
        graph.add_node("report", report)
    return graph
