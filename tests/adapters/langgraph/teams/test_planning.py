"""Plans in every form, plans that are none, and reports with the course of the task."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableConfig, RunnableLambda
from pydantic import BaseModel

from accp_adapters.langgraph import (
    PLAN_SCHEMA,
    MasterState,
    ModelPlanner,
    begin,
    master_graph,
    read_interaction,
    read_results,
    step,
)
from accp_core.aci import AgentContext, TaskContext, todo
from accp_core.errors import ProtocolError
from tests.adapters.langgraph.teams.plans import TASK
from tests.adapters.langgraph.ways import alternating
from tests.scripted_model import ScriptedModel

STEPS = [step("crm", "Find churn"), step("mail", "Write one mail", after="crm")]
CONTEXTS = [
    AgentContext(agent_id="crm", subtask_id="s1", subtask_name="Find churn", todo_items=todo("Find churn")),
    AgentContext(
        agent_id="mail",
        subtask_id="s2",
        subtask_name="Write one mail",
        dependencies=("s1",),
        todo_items=todo("Write one mail"),
    ),
]
RESULTS = {"Find churn": "6 of 40", "Write one mail": "6 of 40 left"}
ASKED = {"messages": [HumanMessage("Why do accounts leave us?")]}


def team() -> dict[str, Any]:
    return {
        "crm": lambda context: "done: 6 of 40",
        "mail": lambda context: f"done: {context.context[0]['Find churn']} left",
    }


class Planner:
    def __call__(self, state: Any) -> list[Any]:
        return STEPS


async def awaited(state: MasterState) -> list[Any]:
    return STEPS


def with_config(state: MasterState, config: RunnableConfig) -> Any:
    assert "callbacks" in config
    return STEPS


PLANS: dict[str, Any] = {
    "steps": STEPS,
    "contexts": tuple(CONTEXTS),
    "function": lambda state: STEPS,
    "generator": lambda state: (each for each in CONTEXTS),
    "function with a config": with_config,
    "object": Planner(),
    "runnable": RunnableLambda(lambda state: STEPS),
    "coroutine": awaited,
    "node with steps": lambda state: begin(TASK, STEPS),
    "node with contexts": lambda state: begin(TASK, CONTEXTS),
    "runnable node": RunnableLambda(lambda state: begin(TASK, CONTEXTS)),
    "model": ModelPlanner(ScriptedModel(script=[json.dumps({"steps": [
        {"agent": "crm", "title": "Find churn", "items": [], "after": []},
        {"agent": "mail", "title": "Write one mail", "items": "Write one mail", "after": "crm"},
    ]})])),
}  # fmt: skip


@alternating("plan", PLANS)
async def test_a_plan_may_have_any_form(plan: str, asynchronous: bool) -> None:
    graph = master_graph(team(), plan=PLANS[plan]).compile()
    state = await graph.ainvoke(ASKED) if asynchronous or plan == "coroutine" else graph.invoke(ASKED)
    assert read_results(state) == RESULTS
    task = TaskContext.from_json(state["task_context"])
    assert task.user_query == (TASK.user_query if "node" in plan else "Why do accounts leave us?")


def test_what_is_repeatable_stays_so_in_every_form() -> None:
    called: list[str] = []

    def agent(context: AgentContext) -> str:
        called.append(context.subtask_id)
        return "Done."

    steps = [step("a", "A", items=["Do a"], repeatable=True), step("a", "B", items=["Do b"])]
    for plan in (steps, lambda state: steps, lambda state: begin(TASK, steps)):
        called.clear()
        master_graph({"a": agent}, plan=plan, retries=1).compile().invoke({})
        assert sorted(called) == ["s1", "s1", "s2"]
    called.clear()
    contexts = [AgentContext(agent_id="a", subtask_id="x", todo_items=todo("Do it"))]
    plan = lambda state: begin(TASK, contexts, repeatable=["x"])  # noqa: E731  one of the forms
    master_graph({"a": agent}, plan=plan, retries=1).compile().invoke({})
    assert called == ["x", "x"]


BAD_PLANS: list[tuple[list[Any], str]] = [
    ([], r"E2003: expected 1 to 1,000 subtasks, found 0"),
    ([step("web", "Look")], r"E4001: expected an agent of \['crm', 'mail'\] for subtask 's1', found 'web'"),
    ([step("crm", "A", after="B")], r"E1004: expected after of step 'A' to name another step of \[\], found 'B'"),
    ([step("crm", "A", after="mail"), step("mail", "B", after="crm")], r"E1004: expected dependencies without a cycle"),
    ([step("crm", "A", id="x"), step("crm", "B", id="x")], r"E1004: expected each of the subtasks once, found 'x'"),
    ([step("crm", "A"), step("crm", "B"), step("mail", "C", after="crm")], r"to name one step, by its title"),
    (["crm"], r"E1004: expected a plan of steps or of AgentContexts, found 'crm'"),
    ([AgentContext(agent_id="crm", subtask_id="x")], r"E1004: expected an item to do in subtask 'x'"),
]


@pytest.mark.parametrize(("plan", "reason"), BAD_PLANS)
def test_a_list_that_is_no_plan_is_refused_before_an_agent_works(plan: list[Any], reason: str) -> None:
    with pytest.raises(ProtocolError, match=reason):
        master_graph(team(), plan=plan)
    returned = master_graph(dict.fromkeys(("crm", "mail"), pytest.fail), plan=lambda state: plan).compile()
    with pytest.raises(ProtocolError, match=reason):
        returned.invoke({})


@pytest.mark.parametrize("plan", [7, None, "crm"])
def test_what_cannot_be_a_plan_is_refused(plan: Any) -> None:
    with pytest.raises(TypeError, match="expected steps, a function, a Runnable or a ModelPlanner as plan, found"):
        master_graph(team(), plan=plan)


@pytest.mark.parametrize(
    ("agents", "options", "reason"),
    [
        ({"work": lambda context: context}, {}, r"other than the names of the master's nodes, found \['work'\]"),
        ({"a|b": lambda context: context}, {}, r"expected AgentIDs without '\|' and ':', found \['a\|b'\]"),
        ({"": lambda context: context}, {}, r"expected AgentIDs without"),
        ({}, {"timeout": 0}, "expected a timeout of more than 0 seconds, found 0"),
        ({}, {"mode": "parallel"}, "parallel"),
    ],
)
def test_what_the_graph_cannot_work_with_is_refused(agents: Any, options: Any, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        master_graph({**team(), **agents}, plan=STEPS, **options)


# A model that plans

GOOD = (
    '{"steps":[{"agent":"crm","title":"Find churn"},{"agent":"mail","title":"Write one mail","after":["Find churn"]}]}'
)


class PlanOfAModel(BaseModel):
    steps: list[dict[str, Any]]


ANSWERS: dict[str, Any] = {
    "JSON": AIMessage(GOOD),
    "fenced": AIMessage(f"Here you are:\n```json\n{GOOD}\n```"),
    "in words": AIMessage(f"The plan is {GOOD}. Good luck."),
    "a list": AIMessage(json.dumps(json.loads(GOOD)["steps"])),
    "structured": json.loads(GOOD),
    "an object": PlanOfAModel(**json.loads(GOOD)),
}


@alternating("answer", ANSWERS)
async def test_a_models_plan_is_read(answer: str, asynchronous: bool) -> None:
    asked: list[Any] = []

    def model(messages: Any) -> Any:
        asked.append(messages)
        return ANSWERS[answer]

    planner = ModelPlanner(RunnableLambda(model), agents={"crm": "counts customers"})
    graph = master_graph(team(), plan=planner).compile()
    state = await graph.ainvoke(ASKED) if asynchronous else graph.invoke(ASKED)
    assert read_results(state) == RESULTS
    ((question,),) = asked
    assert "- crm: counts customers\n- mail\n" in question.text
    assert "Task: Why do accounts leave us?" in question.text


REFUSED = [
    ("I would ask the CRM.", "E1004: expected a plan in JSON"),
    ('{"plan": 1}', r"E1004: expected \{\"steps\": \[...\]\}, found"),
    ('{"steps": []}', "E2003: expected 1 to 1,000 subtasks"),
    ('{"steps": ["crm"]}', "E1004: expected a step with agent, title, items and after, found 'crm'"),
    ('{"steps": [{"agent": "web", "title": "Look"}]}', r"E4001: expected an agent of \['crm', 'mail'\]"),
    ('{"steps": [{"agent": "crm"}]}', "E1004: expected title to be a text that is not empty"),
    ('{"steps": [{"agent": "crm", "title": "A", "items": [7]}]}', "E1004: expected items of step 'A': a list of texts"),
    ('{"steps": [{"agent": "crm", "title": "A", "after": ["B"]}]}', "E1004: expected after of step 'A'"),
    (json.dumps({"steps": [{"agent": "crm", "title": f"{n}"} for n in range(21)]}), "E2003: expected at most 20 steps"),
    ('{"steps": "' + "x" * 100_001 + '"', "E2003: expected a plan of at most 100,000 characters"),
]


@alternating(("answer", "reason"), REFUSED)
async def test_a_plan_that_cannot_be_used_is_asked_for_once_more(answer: str, reason: str, asynchronous: bool) -> None:
    model = ScriptedModel(script=[answer, GOOD])
    graph = master_graph(team(), plan=ModelPlanner(model)).compile()
    state = await graph.ainvoke(ASKED) if asynchronous else graph.invoke(ASKED)
    assert read_results(state) == RESULTS
    first, second = model.received
    assert [message.type for message in second] == ["human", "ai", "human"]
    assert second[:1] == first
    assert second[2].text.startswith("This plan cannot be used: expected ")
    broken = ScriptedModel(script=[answer])
    graph = master_graph(team(), plan=ModelPlanner(broken)).compile()
    with pytest.raises(ProtocolError, match=reason):
        await graph.ainvoke(ASKED) if asynchronous else graph.invoke(ASKED)
    assert len(broken.received) == 2


def test_a_structured_plan_that_cannot_be_used_is_asked_for_once_more() -> None:
    answers = [{"steps": [{"agent": "web", "title": "Look"}]}, json.loads(GOOD)]
    asked: list[Any] = []

    def model(messages: Any) -> Any:
        asked.append(messages)
        return answers.pop(0)

    assert read_results(master_graph(team(), plan=ModelPlanner(RunnableLambda(model))).compile().invoke(ASKED))
    assert asked[1][1].text == '{"steps":[{"agent":"web","title":"Look"}]}'


def test_a_model_declares_nothing_repeatable() -> None:
    answer = '{"steps":[{"agent":"crm","title":"A","repeatable":true}]}'
    graph = master_graph(team(), plan=ModelPlanner(ScriptedModel(script=[answer]))).compile()
    assert read_interaction(graph.invoke(ASKED)).plan.repeatable == frozenset()
    assert "repeatable" not in json.dumps(PLAN_SCHEMA)


def test_a_planner_without_a_question_or_with_wrong_options_is_refused() -> None:
    model = ScriptedModel(script=[GOOD])
    with pytest.raises(ProtocolError, match="E1004: expected a message of a person in `messages` to plan for"):
        master_graph(team(), plan=ModelPlanner(model)).compile().invoke({})
    with pytest.raises(ValueError, match=r"expected descriptions of agents among \['crm', 'mail'\], found \['web'\]"):
        master_graph(team(), plan=ModelPlanner(model, agents={"web": "looks"}))
    for steps in (0, 101):
        with pytest.raises(ValueError, match=f"expected max_steps from 1 to 100, found {steps}"):
            ModelPlanner(model, max_steps=steps)


# Reports


def of_state(context: Any) -> Any:
    """The name of its parameter says nothing about what it gets."""
    return {"messages": [AIMessage(read_interaction(context).results["Find churn"].text)]}


async def awaited_report(state: Any) -> Any:
    return of_state(state)


@pytest.mark.parametrize("report", [awaited_report, of_state, RunnableLambda(of_state)])
async def test_a_report_gets_the_results_by_their_titles(report: Any) -> None:
    state = await master_graph(team(), plan=STEPS, report=report).compile().ainvoke(ASKED)
    assert state["messages"][-1].text.endswith("6 of 40")


def test_the_course_of_a_task_that_has_not_begun_is_refused() -> None:
    with pytest.raises(ProtocolError, match="E1004: expected an interaction"):
        read_interaction({})
