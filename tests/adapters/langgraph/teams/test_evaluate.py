"""What a master does with replies: retries, order, verifiers of every kind, refused plans."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from accp_adapters.langgraph import ModelVerifier, master_graph, read_interaction, read_results
from accp_core.aci import AgentContext, TaskContext
from accp_core.errors import ProtocolError
from tests.adapters.langgraph.teams.plans import TASK, planner, subtask
from tests.scripted_model import ScriptedModel


def team(*contexts: AgentContext, agents: dict[str, Any], plan: Any = None, **options: Any) -> Any:
    """Return a compiled master graph."""
    return master_graph(agents, plan=plan or planner(*contexts), **options).compile()


def says(*answers: str) -> Callable[[AgentContext], str]:
    """Return an agent that gives these answers, one each time it is asked; the last one again."""
    left = list(answers)
    return lambda _: left.pop(0) if len(left) > 1 else left[0]


def status(state: dict[str, Any]) -> str:
    return str(TaskContext.from_json(state["task_context"]).overall_status)


def test_an_agent_is_asked_again_for_what_is_not_done_with_feedback_and_then_it_fails() -> None:
    seen: list[AgentContext] = []

    def agent(context: AgentContext) -> str:
        seen.append(context)
        return "1: done: six\n2: not done: no access"

    state = team(subtask("crm", "Count", "Name"), agents={"crm": agent}, retries=2).invoke({})
    assert status(state) == "failed"
    assert [len(context.todo_items) for context in seen] == [2, 1, 1]
    assert seen[1].context == ({"done": {"1": "six"}, "feedback": "no access"},)
    assert AgentContext.from_json(state["agent_contexts"]["s_crm"]).states == {"1": 1, "2": 0}


class Asynchronous:
    async def __call__(self, subtask: str, item: str, abstract: str, /) -> str | None:
        await asyncio.sleep(0)
        return None if abstract == "six" else f"{subtask}, {item}: not {abstract}"


async def averify(subtask: str, item: str, abstract: str, /) -> str | None:
    return await Asynchronous()(subtask, item, abstract)


@pytest.mark.parametrize("verifier", [Asynchronous(), averify])
async def test_a_verifier_may_have_to_be_awaited(verifier: Any) -> None:
    seen: list[AgentContext] = []

    def agent(context: AgentContext) -> str:
        seen.append(context)
        return "done: seven" if len(seen) == 1 else "done: six"

    graph = team(subtask("crm"), agents={"crm": agent}, verifier=verifier, retries=1)
    assert status(await graph.ainvoke({})) == "completed"
    assert seen[1].context == ({"feedback": "Part of crm, Step of crm: not seven"},)
    with pytest.raises(TypeError, match="ainvoke"):
        graph.invoke({})


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_a_model_may_judge_and_sees_one_result(asynchronous: bool) -> None:
    judge = ScriptedModel(script=["The year is missing.", "**Yes.**"])
    graph = team(subtask("crm"), agents={"crm": says("done: six", "done: six in 2026")}, verifier=ModelVerifier(judge))
    state = await graph.ainvoke({}) if asynchronous else graph.invoke({})
    assert status(state) == "completed"
    (first,), (second,) = judge.received
    assert first.text.startswith("task Part of crm\nstep Step of crm\nresult six\n\n")
    assert "six in 2026" in second.text


@pytest.mark.parametrize("plan", [{}, {"task_context": TASK.to_json()}])
def test_without_a_plan_there_is_nothing_to_evaluate(plan: Any) -> None:
    with pytest.raises(ProtocolError, match="E1004: expected a planner"):
        team(agents={}, plan=lambda _: plan).invoke({})


# Failures


@pytest.mark.parametrize(
    ("asynchronous", "said"), [(False, "Done."), (True, "Done."), (False, "6 of 40"), (False, "The answer is 6.")]
)
async def test_a_reporter_reads_what_an_agent_left_unsaid(asynchronous: bool, said: str) -> None:
    agent = ScriptedModel(script=[said])
    reporter = ScriptedModel(script=["done: 6 of 40"])
    graph = team(subtask("crm"), agents={"crm": agent}, reporter=reporter)
    state = await graph.ainvoke({}) if asynchronous else graph.invoke({})
    assert read_results(state) == {"Part of crm": "6 of 40"}
    assert (len(agent.received), len(reporter.received)) == (1, 1)
    assert read_interaction(state).results.usage["crm"].calls == 2


def test_there_is_no_other_mode() -> None:
    with pytest.raises(ValueError, match="parallel"):
        team(subtask("a"), agents={"a": says("fine 1")}, mode="parallel")
