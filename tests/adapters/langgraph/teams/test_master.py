"""A master and its agents as users run them: isolated, streamed, interrupted, replayed, retried, stored."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import pytest
from langchain_core.tools import BaseTool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command, interrupt

from accp_adapters.langgraph import AciState, begin, isolate, master_graph, read_results
from accp_core.aci import AgentContext, TaskContext
from tests.adapters.langgraph.jobs import crm as crm_tool
from tests.adapters.langgraph.jobs import refs_in, thread
from tests.adapters.langgraph.teams.plans import TASK, planner, read_by, subtask, words, worker
from tests.adapters.langgraph.ways import alternating
from tests.scripted_model import ScriptedModel, call, calls

NAMES = ("crm", "market", "web")


def lookup(name: str) -> BaseTool:
    @tool(f"look_up_{name}")
    def look_up(query: str) -> str:
        """Look something up."""
        return f"RAW-{name} " + "data " * 50

    return look_up


def workers(*, store: bool = False) -> dict[str, tuple[Any, ScriptedModel]]:
    """Return an agent for each name; each calls its tool, and says what only it should know."""
    return {
        name: worker(
            [calls(call(f"look_up_{name}", query=f"QUERY-{name}")), f"done: result of {name}"],
            lookup(name),
            middleware=store,
        )
        for name in NAMES
    }


def secrets(name: str) -> list[str]:
    """Return what nobody but agent `name` (and the master, for its context) may see."""
    return [f"CONTEXT-{name}", f"QUERY-{name}", f"RAW-{name}", f"Step of {name}"]


CONTEXTS = [subtask(name, context=(f"CONTEXT-{name}",)) for name in NAMES]


def compiled(team: dict[str, tuple[Any, Any]], *contexts: AgentContext, **options: Any) -> Any:
    agents = {name: agent for name, (agent, _) in team.items()}
    return master_graph(agents, plan=planner(*(contexts or CONTEXTS))).compile(**options)


@pytest.mark.requirement("aci:1-1", "aci:2.1-1", "aci:4.1-1")
def test_no_agent_reads_anything_of_another_agent_or_of_the_task() -> None:
    team = workers()
    compiled(team).invoke({})
    for mine, other in product(NAMES, NAMES):
        seen = read_by(team[mine][1])
        assert TASK.user_query not in seen
        for secret in secrets(other):
            assert (secret in seen) is (mine == other), (mine, secret)


@pytest.mark.requirement("aci:2.1-3")
def test_nothing_an_agent_worked_with_reaches_the_masters_state() -> None:
    state = compiled(workers()).invoke({})
    text = json.dumps(state, default=str)
    assert not [name for name in NAMES if f"RAW-{name}" in text or f"QUERY-{name}" in text]
    assert read_results(state) == {f"Part of {name}": f"result of {name}" for name in NAMES}


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_an_agents_stream_and_state_hold_nothing_of_another(asynchronous: bool) -> None:
    team, saver = workers(), InMemorySaver()
    graph = compiled(team, checkpointer=saver)
    modes: Any = {"stream_mode": ["messages", "values", "updates", "custom"], "subgraphs": True}
    if asynchronous:
        chunks = [chunk async for chunk in graph.astream({}, thread("t"), **modes)]
    else:
        chunks = list(graph.stream({}, thread("t"), **modes))
    inner = [chunk for chunk in chunks if chunk[0]]
    assert {agent_of(namespace) for namespace, _, _ in inner} == set(NAMES)
    for namespace, _, payload in inner:
        mine = agent_of(namespace)
        others = [secret for other in NAMES if other != mine for secret in secrets(other)]
        assert not [secret for secret in (*others, TASK.user_query) if secret in repr(payload)]
    outer = repr([payload for namespace, mode, payload in chunks if not namespace and mode in ("values", "updates")])
    assert not [name for name in NAMES if f"RAW-{name}" in outer]
    for (_, namespace, _), blob in by_namespace(saver):
        mine = agent_of(namespace.split("|"))
        for other in set(NAMES) - {mine}:
            assert not namespace or not [secret for secret in secrets(other) if secret in blob], namespace


def agent_of(namespace: Sequence[str]) -> str:
    """Return the agent in a namespace such as ("work:…", "crm:…"); "" for the master's."""
    return namespace[1].partition(":")[0] if len(namespace) > 1 else ""


def by_namespace(saver: InMemorySaver) -> Iterator[tuple[tuple[str, str, str], str]]:
    """Yield everything that a checkpointer keeps, and where."""
    for (thread_id, namespace, channel, _), blob in saver.blobs.items():
        yield (thread_id, namespace, channel), repr(blob)


@pytest.mark.requirement("aci:6-2")
def test_what_is_stored_of_one_agent_is_read_by_no_other() -> None:
    store = InMemoryStore()
    long = "row of crm, " * 300
    crm, _ = worker([f"done: {long}"])
    market, market_model = worker(
        [lambda messages: calls(call("accp_fetch", "f", ref=stored(store)[0])), "not done: refused"], middleware=True
    )
    contexts = [subtask("crm"), subtask("market")]
    graph = master_graph({"crm": crm, "market": market}, plan=planner(*contexts), mode="synchronous", retries=0)
    state = graph.compile(store=store, checkpointer=InMemorySaver()).invoke({}, thread("t"))
    assert len(stored(store)) == 1
    assert "row of crm" not in read_by(market_model)
    (refused,) = (message.text for message in market_model.received[-1] if message.type == "tool")
    assert refused.startswith("E5002: ")
    assert TaskContext.from_json(state["task_context"]).overall_status == "failed"


def stored(store: InMemoryStore) -> list[str]:
    return [f"${item.key}" for item in store.search(("accp",), limit=100)]


@pytest.mark.requirement("aci:4.1-4")
@alternating("store", [None, InMemoryStore()])
async def test_a_dependant_opens_a_full_result_which_the_state_carries_without_a_store(
    store: InMemoryStore | None, asynchronous: bool
) -> None:
    long = " ".join(f"row {number} of crm costs {number * 3};" for number in range(300))
    search = [
        lambda messages: calls(call("accp_fetch", "f", ref=refs_in(messages[0])[0], query="row 7 of")),
        "done: Dear Ana",
    ]
    contexts = [subtask("crm"), subtask("mail", after=["crm"]), subtask("web", after=["mail"])]
    team = {"crm": worker([f"done: {long}"]), "mail": worker(search, middleware=True), "web": worker(["done: fine 1"])}
    graph = compiled(team, *contexts, store=store, checkpointer=InMemorySaver())
    kept: Any = await graph.ainvoke({}, thread("t")) if asynchronous else graph.invoke({}, thread("t"))
    assert "row 77 of crm" not in json.dumps(kept["agent_contexts"])
    assert list(kept["aci_texts"].values()) == ([] if store else [long])
    mail, web = team["mail"][1], team["web"][1]
    fetched = next(message for message in mail.received[-1] if message.type == "tool")
    assert "row 7 of crm costs 21" in fetched.text
    assert len(mail.received[0][0].text) < len(long) / 5
    assert web.received[0][0].additional_kwargs == {}


@pytest.mark.parametrize("options", [{}, {"checkpointer": InMemorySaver()}, {"store": InMemoryStore()}])
def test_what_an_answer_cites_can_be_opened_with_a_store_and_without(options: dict[str, Any]) -> None:
    cite = [calls(call("crm", query="all")), lambda messages: f"done: all rows are in {refs_in(messages[-1])[0]}"]
    look = [
        lambda messages: calls(call("accp_fetch", "f", ref=refs_in(messages[0])[0], query="id=CRM-0007")),
        "done: fine 1",
    ]
    crm, _ = worker(cite, crm_tool, middleware=True)
    mail, mail_model = worker(look, middleware=True)
    plan = planner(subtask("crm"), subtask("mail", after=["crm"]))
    master_graph({"crm": crm, "mail": mail}, plan=plan).compile(**options).invoke({}, thread("t"))
    fetched = next(message for message in mail_model.received[-1] if message.type == "tool")
    assert "Customer 7" in fetched.text


# Interrupts, time travel, retries


def asking(ran: list[str]) -> BaseTool:
    @tool
    def ask(query: str) -> str:
        """Ask a person."""
        ran.append(query)
        return str(interrupt(f"may {query}?"))

    return ask


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_an_interrupt_of_one_agent_waits_and_the_others_are_not_run_again(asynchronous: bool) -> None:
    ran: list[str] = []
    crm, crm_model = worker(
        [calls(call("ask", query="crm")), lambda messages: f"done: they said {messages[-1].text}"], asking(ran)
    )
    market, market_model = worker(["done: result of market"])
    contexts = [subtask("crm"), subtask("market")]
    graph = master_graph({"crm": crm, "market": market}, plan=planner(*contexts)).compile(checkpointer=InMemorySaver())
    if asynchronous:
        await graph.ainvoke({}, thread("t"))
    else:
        graph.invoke({}, thread("t"))
    (waiting,) = graph.get_state(thread("t")).tasks
    assert [each.value for each in waiting.interrupts] == ["may crm?"]
    resume: Any = Command(resume="yes")
    state = await graph.ainvoke(resume, thread("t")) if asynchronous else graph.invoke(resume, thread("t"))
    assert read_results(state) == {"Part of crm": "they said yes", "Part of market": "result of market"}
    assert (ran, len(crm_model.received), len(market_model.received)) == (["crm", "crm"], 2, 1)


def test_an_interrupt_is_no_failure_that_catch_catches() -> None:
    agent, _ = worker([calls(call("ask", query="crm")), "done: fine 1"], asking([]))
    graph = StateGraph(AciState)
    graph.add_node("crm", isolate(agent, agent_id="crm", catch=(Exception,)))
    graph.add_edge(START, "crm")
    run = graph.compile(checkpointer=InMemorySaver())
    state = run.invoke({"agent_contexts": {"s_crm": subtask("crm").to_json()}}, thread("t"))
    assert state["__interrupt__"][0].value == "may crm?"


def test_isolated_agents_are_found_as_subgraphs() -> None:
    graph = StateGraph(AciState)
    for name, (agent, _) in workers().items():
        graph.add_node(name, isolate(agent, agent_id=name))
        graph.add_edge(START, name)
    assert {name for name, _ in graph.compile().get_subgraphs()} == set(NAMES)


def test_time_travel_runs_an_agent_again_on_the_same_context() -> None:
    crm, crm_model = worker(["done: first result", "done: second result"])
    mail, mail_model = worker(["done: Dear Ana", "done: Dear Bo"])
    contexts = [subtask("crm"), subtask("mail", after=["crm"])]
    graph = master_graph({"crm": crm, "mail": mail}, plan=planner(*contexts)).compile(checkpointer=InMemorySaver())
    first = graph.invoke({}, thread("t"))
    before = next(past for past in graph.get_state_history(thread("t")) if past.next == ("work",))
    again = graph.invoke(None, before.config)
    assert read_results(first) == {"Part of crm": "first result", "Part of mail": "Dear Ana"}
    assert read_results(again) == {"Part of crm": "second result", "Part of mail": "Dear Bo"}
    assert words(crm_model.received[0]) == words(crm_model.received[1])
    assert "second result" in mail_model.received[1][0].text
    assert "first result" not in mail_model.received[1][0].text


def test_a_fork_changes_the_plan_of_what_is_not_done() -> None:
    team = workers()
    graph = compiled(team, checkpointer=InMemorySaver())
    graph.invoke({}, thread("t"), interrupt_after=["plan"])
    contexts = begin(TASK, [subtask("web", "Another step")])
    fork = graph.update_state(thread("t"), contexts, as_node="plan")
    state = graph.invoke(None, fork)
    assert read_results(state) == {"Part of web": "result of web"}
    assert "do Another step" in team["web"][1].received[0][0].text


def test_a_replay_stores_a_full_result_once() -> None:
    store = InMemoryStore()
    long = "row of crm, " * 300
    crm, _ = worker([f"done: {long}"])
    graph = master_graph({"crm": crm}, plan=planner(subtask("crm"))).compile(store=store, checkpointer=InMemorySaver())
    graph.invoke({}, thread("t"))
    before = next(past for past in graph.get_state_history(thread("t")) if past.next == ("work",))
    graph.invoke(None, before.config)
    assert len(stored(store)) == 1


# As part of something larger


def test_a_master_is_an_agent_of_another_graph_and_answers_in_messages() -> None:
    class State(AciState, MessagesState):
        pass

    team = workers()
    agents = {name: agent for name, (agent, _) in team.items()}

    def report(state: Any) -> Any:
        return {"messages": [("ai", "; ".join(read_results(state).values()))]}

    master = master_graph(agents, plan=planner(*CONTEXTS), report=report, state_schema=State).compile()
    outer = StateGraph(MessagesState).add_node("master", master).add_edge(START, "master")
    graph = outer.compile(checkpointer=InMemorySaver())
    state = graph.invoke({"messages": [("user", TASK.user_query)]}, thread("t"))
    assert words(state["messages"]) == [TASK.user_query, "result of crm; result of market; result of web"]
    assert TASK.user_query not in "".join(read_by(model) for _, model in team.values())


def test_a_master_may_itself_be_isolated() -> None:
    class State(AciState, MessagesState):
        pass

    inner_team = workers()
    inner_agents = {name: agent for name, (agent, _) in inner_team.items()}

    def report(state: Any) -> Any:
        return {"messages": [("ai", "done: " + "; ".join(read_results(state).values()))]}

    inner = master_graph(inner_agents, plan=planner(*CONTEXTS), report=report, state_schema=State).compile()
    graph = master_graph({"research": inner}, plan=planner(subtask("research"))).compile(checkpointer=InMemorySaver())
    state = graph.invoke({}, thread("t"))
    assert read_results(state) == {"Part of research": "result of crm; result of market; result of web"}


def test_two_tasks_in_one_thread_do_not_mix() -> None:
    crm, model = worker(["done: first result", "done: second result"])
    plans = iter(
        [begin(TASK, [subtask("crm", "Step A")]), begin(TaskContext(task_id="t2"), [subtask("crm", "Step B")])]
    )
    graph = master_graph({"crm": crm}, plan=lambda _: next(plans)).compile(checkpointer=InMemorySaver())
    graph.invoke({}, thread("t"))
    state = graph.invoke({}, thread("t"))
    assert read_results(state) == {"Part of crm": "second result"}
    assert [messages[0].text.splitlines()[1] for messages in model.received] == ["do Step A", "do Step B"]
