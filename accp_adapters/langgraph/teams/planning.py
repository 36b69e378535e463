"""The master's plan in each form that `master_graph` takes: steps, contexts, a function, a node, a model."""

from __future__ import annotations

import functools
import inspect
import secrets
from collections.abc import Callable, Collection, Generator, Mapping
from typing import Any

from langchain_core.messages import HumanMessage
from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda

from accp_adapters.langgraph.runtime import messages_of
from accp_adapters.langgraph.teams.planner import ModelPlanner
from accp_adapters.langgraph.teams.replies import is_awaited
from accp_adapters.langgraph.teams.state import begin, check_agents, read_interaction
from accp_core.aci import TaskContext, plan_contexts

__all__ = ["plan_node", "report_node"]


def plan_node(plan: Any, agents: Collection[str]) -> Any:
    """Return the node "plan" for what `master_graph` was given.

    Raises:
        ProtocolError: E1004, E2003, E4001, E5001, `plan` is a list and no plan for these agents, as `begin`.
        TypeError: `plan` is nothing of this kind.
    """
    if isinstance(plan, ModelPlanner):
        plan.check_agents(agents)
        return _around_runnable(plan.runnable(agents), agents)
    if isinstance(plan, (list, tuple)):
        _begun(plan, {}, agents)
        return lambda state: _begun(plan, state, agents)
    if isinstance(plan, Runnable):
        return _around_runnable(plan, agents)
    if not callable(plan):
        raise TypeError(f"expected steps, a function, a Runnable or a ModelPlanner as plan, found {plan!r}")
    return _around_function(plan, agents)


def _around_runnable(plan: Runnable[Any, Any], agents: Collection[str]) -> Runnable[Any, Any]:
    def run(state: Any, config: RunnableConfig) -> Any:
        return _begun(plan.invoke(state, config), state, agents)

    async def arun(state: Any, config: RunnableConfig) -> Any:
        return _begun(await plan.ainvoke(state, config), state, agents)

    return RunnableLambda(run, arun, name="plan")


# `functools.wraps` keeps the signature, by which LangGraph finds the schema of the state and what else it passes.
def _around_function(plan: Callable[..., Any], agents: Collection[str]) -> Callable[..., Any]:
    @functools.wraps(plan)
    def run(state: Any, *args: Any, **kwargs: Any) -> Any:
        return _begun(plan(state, *args, **kwargs), state, agents)

    @functools.wraps(plan)
    async def arun(state: Any, *args: Any, **kwargs: Any) -> Any:
        return _begun(await plan(state, *args, **kwargs), state, agents)

    return arun if is_awaited(plan) else run


def _begun(planned: Any, state: Any, agents: Collection[str]) -> Any:
    """Return the update that begins what was planned; an update that begins it already stays."""
    if not isinstance(planned, (list, tuple, Generator)):
        return planned
    found = plan_contexts(planned)
    check_agents(found.contexts, agents)
    return begin(_task(state), found.contexts, repeatable=found.repeatable)


def _task(state: Any) -> TaskContext:
    """Return a new task for the last words of a person."""
    asked = [message.text for message in messages_of(state) if isinstance(message, HumanMessage)]
    return TaskContext(task_id=f"task-{secrets.token_hex(6)}", user_query=asked[-1] if asked else "")


def report_node(report: Any) -> Any:
    """Return the node "report": a function with a parameter `context` gets the `Interaction`."""
    if isinstance(report, Runnable) or not callable(report):
        return report
    names = list(inspect.signature(report).parameters)
    if "context" not in names:
        return report

    def arguments(state: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        interaction = read_interaction(state)
        return ((interaction,), {}) if names[0] == "context" else ((state,), {"context": interaction})

    def run(state: Any) -> Any:
        args, named = arguments(state)
        return report(*args, **named)

    async def arun(state: Any) -> Any:
        args, named = arguments(state)
        return await report(*args, **named)

    return arun if is_awaited(report) else run
