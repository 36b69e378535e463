"""One agent behind its context: what goes in, what comes out, whatever the agent is."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from deepagents import create_deep_agent
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import Runnable, RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Send
from langgraph_supervisor import create_supervisor
from langgraph_swarm import create_swarm
from pydantic import BaseModel

from accp_adapters.langgraph import AccpMiddleware, AciState, AgentReply, Policy, isolate
from accp_adapters.stores import SqliteColdStore
from accp_core.aci import AgentContext, ItemState, KeyInformation
from accp_core.errors import ProtocolError
from accp_core.references import key_of, short_reference, uri_to_key
from tests.adapters.langgraph.jobs import crm, fetch_last, refs_in, results, thread
from tests.adapters.langgraph.teams.plans import read_by, subtask, worker
from tests.adapters.langgraph.ways import alternating
from tests.scripted_model import ScriptedModel, call, calls

CONTEXT = subtask("crm", "Count them", "Name them")
LONG = " ".join(f"row {number}: customer-{number:04} pays {number * 7} a year;" for number in range(300))


def returned(update: dict[str, Any], subtask_id: str = "s_crm") -> AgentContext:
    return AgentContext.from_json(update["agent_contexts"][subtask_id])


def answer(node: Runnable[Any, Any], context: AgentContext = CONTEXT, **state: Any) -> dict[str, Any]:
    """Run a node by itself on a context."""
    update: dict[str, Any] = node.invoke({"agent_context": context.to_json(), **state})
    return update


def finished(context: AgentContext) -> AgentContext:
    return replace(
        context,
        item_state_updates=tuple(ItemState(item.item_id, 1) for item in context.todo_items),
        key_information=tuple(KeyInformation(item.item_id, f"result {item.item_id}") for item in context.todo_items),
    )


async def afinished(context: AgentContext) -> dict[str, Any]:
    await asyncio.sleep(0)
    return finished(context).to_json()


class Remote:
    """An agent somewhere else, as an object."""

    async def __call__(self, context: AgentContext) -> AgentContext:
        await asyncio.sleep(0)
        return finished(context)


def test_a_model_reads_its_context_and_the_parent_gets_the_context_back() -> None:
    agent, model = worker(["1: done: six\n2: done: Ana, Bo"])
    graph = StateGraph(AciState)
    graph.add_node("crm", isolate(agent, agent_id="crm"))
    graph.add_edge(START, "crm")
    state = graph.compile().invoke({"agent_contexts": {"s_crm": CONTEXT.to_json()}})
    (messages,) = model.received
    assert [type(message) for message in messages] == [HumanMessage]
    assert messages[0].text.startswith("task Part of crm\ndo {1 Count them,2 Name them}\n")
    assert set(state) - {"aci_texts"} == {"agent_contexts"}
    context = returned(state)
    assert (context.states, context.abstracts) == ({"1": 1, "2": 1}, {"1": "six", "2": "Ana, Bo"})


def test_as_the_target_of_send_it_gets_that_context_and_nothing_of_the_state() -> None:
    class State(AciState):
        secret: str
        messages: list[Any]

    agent, model = worker(["1: done: six\n2: done: Ana, Bo"])
    graph = StateGraph(State)
    graph.add_node("plan", lambda state: {"task_context": {"TaskContext": {"TaskID": "MARKER"}}})
    graph.add_node("crm", isolate(agent, agent_id="crm"))
    graph.add_edge(START, "plan")
    graph.add_conditional_edges("plan", lambda _: [Send("crm", {"agent_context": CONTEXT.to_json()})], ["crm"])
    state = graph.compile().invoke({"secret": "MARKER", "messages": [HumanMessage("MARKER")]})
    assert "MARKER" not in read_by(model)
    assert returned(state).states == {"1": 1, "2": 1}
    assert len(state["messages"]) == 1


def test_as_a_plain_node_it_gets_the_abstracts_it_waits_for() -> None:
    agent, model = worker(["done: Dear Ana"])
    graph = StateGraph(AciState)
    graph.add_node("crm", isolate(lambda context: finished(context), agent_id="crm"))
    graph.add_node("mail", isolate(agent, agent_id="mail"))
    graph.add_edge(START, "crm")
    graph.add_edge("crm", "mail")
    mail = subtask("mail", after=["crm"])
    contexts = {each.subtask_id: each.to_json() for each in (CONTEXT, mail)}
    state = graph.compile().invoke({"agent_contexts": contexts})
    assert '"Part of crm" [result 1, result 2]' in model.received[0][0].text
    assert returned(state, "s_mail") == replace(
        mail, item_state_updates=(ItemState("1", 1),), key_information=(KeyInformation("1", "Dear Ana"),)
    )


@pytest.mark.parametrize("agent", [finished, afinished, Remote()])
async def test_a_function_or_an_object_may_stand_for_an_agent(agent: Any) -> None:
    node = isolate(agent, agent_id="crm")
    context = {"agent_context": CONTEXT.to_json()}
    assert returned(await node.ainvoke(context)) == finished(CONTEXT)
    if agent is finished:
        assert returned(node.invoke(context)) == finished(CONTEXT)
    else:
        with pytest.raises(TypeError, match="ainvoke"):
            node.invoke(context)


def structured(response: Any) -> Runnable[Any, Any]:
    return RunnableLambda(lambda _: {"messages": [AIMessage("ignored")], "structured_response": response})


class Update(BaseModel):
    ItemstateUpdates: list[dict[str, Any]]
    KeyInformation: list[dict[str, Any]]


UPDATE: dict[str, Any] = {
    "ItemstateUpdates": [{"itemId": "1", "state": 1}],
    "KeyInformation": [{"itemId": "1", "outputabstract": "six"}],
}


@pytest.mark.parametrize(
    "agent",
    [
        ScriptedModel(script=["1: done: six"]),
        RunnableLambda(lambda _: "1: done: six"),
        RunnableLambda(lambda _: AIMessage("1: done: six")),
        RunnableLambda(
            lambda given: {"messages": [*given["messages"], AIMessage("1: done: six"), HumanMessage("thanks")]}
        ),
        structured(UPDATE),
        structured(Update(**UPDATE)),
        structured({"AgentID": "somebody else", **UPDATE}),
        lambda context: {"AgentID": "crm", "SubTaskID": "s_crm", **UPDATE},
        lambda context: {"AgentContext": {"AgentID": "crm", "SubTaskID": "s_crm", **UPDATE}},
        lambda context: AgentReply(context={"AgentID": "crm", "SubTaskID": "s_crm", **UPDATE}),
        lambda context: "1: done: six",
    ],
)
def test_a_result_is_a_message_a_text_a_state_or_a_context(agent: Any) -> None:
    context = returned(answer(isolate(agent, agent_id="crm")))
    assert (context.states, context.abstracts) == ({"1": 1}, {"1": "six"})


def inner() -> Any:
    return create_agent(ScriptedModel(script=["1: done: six"]), [], name="inner")


TEAMS: dict[str, Any] = {
    "deepagents": lambda: create_deep_agent(model=ScriptedModel(script=["1: done: six"])),
    "supervisor": lambda: create_supervisor([inner()], model=ScriptedModel(script=["1: done: six"])).compile(),
    "swarm": lambda: create_swarm([inner()], default_active_agent="inner").compile(),
}


@pytest.mark.filterwarnings("ignore:create_react_agent has been moved")  # langgraph-supervisor uses it
@pytest.mark.parametrize("team", TEAMS)
def test_a_whole_team_of_another_library_may_be_an_agent(team: str) -> None:
    update = answer(isolate(TEAMS[team](), agent_id="crm"))
    assert set(update) == {"agent_contexts"}
    assert returned(update).abstracts == {"1": "six"}


@pytest.mark.parametrize(
    ("result", "code"),
    [
        (None, "E1004"),
        (7, "E1004"),
        ({}, "E1004"),
        ({"messages": []}, "E1004"),
        ({"messages": [HumanMessage("hi")]}, "E1004"),
        (replace(finished(CONTEXT), agent_id="market"), "E5001"),
        (replace(finished(CONTEXT), subtask_name="Something easier"), "E5001"),
        (replace(finished(CONTEXT), todo_items=CONTEXT.todo_items[:1]), "E5001"),
        (replace(finished(CONTEXT), context_uri=("$cold.00000000000000000123456789012",)), "E5002"),
        ({"AgentID": "crm", "SubTaskID": "s_crm", "ItemstateUpdates": [{"itemId": "1", "state": True}]}, "E1004"),
    ],
)
def test_a_result_that_breaks_a_rule_is_unverified_and_says_why(result: Any, code: str) -> None:
    context = returned(answer(isolate(lambda _: result, agent_id="crm")))
    assert context.states == {}
    assert all(reason.startswith(f"{code}: ") for reason in context.abstracts.values())
    assert (context.todo_items, context.context_uri) == (CONTEXT.todo_items, ())


def test_what_else_a_result_holds_reaches_nobody() -> None:
    full = {"AgentID": "crm", "SubTaskID": "s_crm", "full_output": "MARKER", "trace": ["MARKER"], **UPDATE}
    update = answer(isolate(lambda _: full, agent_id="crm"))
    assert "MARKER" not in repr(update)
    noisy = RunnableLambda(lambda _: {"messages": [AIMessage("MARKER"), AIMessage("1: done: six")], "secret": "MARKER"})
    assert "MARKER" not in repr(answer(isolate(noisy, agent_id="crm")))


def test_a_context_of_another_agent_is_refused() -> None:
    with pytest.raises(ProtocolError, match="E5001: expected a context of agent 'crm', found one of 'mail'"):
        answer(isolate(finished, agent_id="crm"), subtask("mail"))


@pytest.mark.parametrize(
    "state",
    [
        [],
        {},
        {"agent_contexts": None},
        {"agent_contexts": {"s_mail": subtask("mail").to_json()}},
        {"agent_contexts": {"s_crm": finished(CONTEXT).to_json()}},
        {"agent_contexts": {each: replace(CONTEXT, subtask_id=each).to_json() for each in "ab"}},
    ],
)
def test_without_exactly_one_open_context_there_is_nothing_to_do(state: Any) -> None:
    with pytest.raises(ProtocolError, match="E1004"):
        isolate(finished, agent_id="crm").invoke(state)


def test_what_is_no_agent_is_refused() -> None:
    with pytest.raises(TypeError, match="int"):
        isolate(7, agent_id="crm")


# Memory between subtasks


def graph_of(agent: Any, **options: Any) -> Any:
    return StateGraph(MessagesState).add_node("inner", agent).add_edge(START, "inner").compile(**options)


WRAPPED: list[Any] = [
    lambda agent: agent,
    lambda agent: agent.with_retry(),
    lambda agent: RunnableLambda(lambda given: given) | agent,
    graph_of,
]


@pytest.mark.parametrize("checkpointer", [True, InMemorySaver()])
@pytest.mark.parametrize("wrap", WRAPPED)
def test_an_agent_with_a_memory_of_its_own_is_refused(checkpointer: Any, wrap: Any) -> None:
    agent, _ = worker(["x"], checkpointer=checkpointer)
    with pytest.raises(ValueError, match="checkpointer="):
        isolate(wrap(agent), agent_id="crm")


def test_an_agent_in_a_function_of_a_runnable_is_looked_at_too() -> None:
    agent, _ = worker(["x"], checkpointer=True)
    with pytest.raises(ValueError, match="checkpointer=True"):
        isolate(RunnableLambda(lambda given: agent.invoke(given)), agent_id="crm")


@pytest.mark.parametrize("checkpointer", [None, False])
def test_an_agent_starts_fresh_each_time(checkpointer: Any) -> None:
    agent, model = worker(["1: done: six\n2: done: Ana", "1: done: two\n2: done: Bo"], checkpointer=checkpointer)
    graph = StateGraph(AciState)
    graph.add_node("crm", isolate(agent, agent_id="crm"))
    graph.add_edge(START, "crm")
    compiled = graph.compile(checkpointer=InMemorySaver())
    for _ in range(2):
        compiled.invoke({"agent_contexts": {"s_crm": CONTEXT.to_json()}}, thread("t"))
    assert [len(messages) for messages in model.received] == [1, 1]


# Full results and references


def stored_in(store: SqliteColdStore, session: str, context: AgentContext) -> list[str | None]:
    return [store.get(session, uri.replace("accp://cold/", "cold.")) for uri in context.context_uri]


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_a_long_answer_is_stored_whole_before_the_context_cites_it(asynchronous: bool) -> None:
    store = SqliteColdStore()
    node = isolate(RunnableLambda(lambda _: f"1: done: six\n2: done: {LONG}"), agent_id="crm", store=store)
    given = {"agent_context": CONTEXT.to_json(), "aci_session": "session"}
    context = returned(await node.ainvoke(given) if asynchronous else node.invoke(given))
    assert stored_in(store, "session", context) == [LONG]
    assert short_reference(key_of(LONG)) in context.abstracts["2"]
    assert Policy().counter(context.abstracts["2"]) <= Policy().abstract_limit
    assert context.abstracts["1"] == "six"
    store.close()


def test_the_limit_of_an_abstract_is_the_policys() -> None:
    text = "one of three hundred " * 20
    short = answer(isolate(lambda _: f"1: done: {text}", agent_id="crm", policy=Policy(abstract_limit=60)))
    assert returned(short).context_uri
    assert not returned(answer(isolate(lambda _: f"1: done: {text}", agent_id="crm"))).context_uri
    with pytest.raises(ValueError, match="abstract"):
        Policy(abstract_limit=59)


@pytest.mark.parametrize("text", ["\n".join("x" * 1_900 for _ in range(9)), " " * 100_000 + "end", "=" * 9_000])
def test_a_long_answer_of_few_tokens_is_an_abstract_all_the_same(text: str) -> None:
    store = SqliteColdStore()
    node = isolate(lambda _: AgentReply(context=finished(CONTEXT), full={"1": text}), agent_id="crm", store=store)
    context = returned(answer(node, aci_session="s"))
    assert stored_in(store, "s", context) == [text]
    assert len(context.abstracts["1"]) <= 2_000
    store.close()


def test_a_function_gives_full_results_and_names_what_it_stored() -> None:
    def remote(context: AgentContext) -> AgentReply:
        known = replace(finished(context), context_uri=(*context.context_uri, "https://example.com/report"))
        return AgentReply(context=known, full={"2": LONG}, stored=["https://example.com/report"])

    context = returned(answer(isolate(remote, agent_id="crm"), replace(CONTEXT, context_uri=("$cold.given",))))
    assert context.context_uri[:2] == ("accp://cold/given", "https://example.com/report")
    assert len(context.context_uri) == 3


def test_an_agent_opens_what_its_context_grants_and_nothing_it_was_told() -> None:
    agent, model = worker(
        [
            fetch_last,
            lambda messages: calls(call("accp_fetch", "f2", ref="$cold.00000000000000000123456789012")),
            "1: done: read\n2: not done: refused",
        ],
        middleware=True,
    )
    graph = StateGraph(AciState)
    graph.add_node("crm", isolate(lambda _: f"1: done: six\n2: done: {LONG}", agent_id="crm"))
    graph.add_node("mail", isolate(agent, agent_id="mail"))
    graph.add_conditional_edges(START, lambda _: [Send("crm", {"agent_context": CONTEXT.to_json()})], ["crm"])

    def hand_over(state: dict[str, Any]) -> list[Send]:
        granted = returned(state).context_uri
        context = subtask("mail", "Read it", "Read more", context_uri=granted)
        return [Send("mail", {"agent_context": context.to_json(), "aci_texts": state["aci_texts"]})]

    graph.add_conditional_edges("crm", hand_over, ["mail"])
    graph.compile(checkpointer=InMemorySaver()).invoke({}, thread("t"))
    opened, refused = (message for message in model.received[-1] if message.type == "tool")
    assert "customer-0001" in opened.text
    assert refused.text.startswith("E5002")
    assert model.tool_names == [["accp_fetch"]] * 3


@alternating("config", [{}, thread("t")])
async def test_what_an_answer_cites_is_granted_on_if_the_agent_may_open_it(config: Any, asynchronous: bool) -> None:
    store = SqliteColdStore()
    model = ScriptedModel(
        script=[
            calls(call("crm", query="all")),
            lambda messages: (
                f"1: done: rows in {refs_in(messages[-1])[0]} and $cold.00000000000000000123456789012\n2: done: six"
            ),
        ]
    )
    agent = create_agent(model, [crm], middleware=[AccpMiddleware(store=store)])
    graph = StateGraph(AciState).add_node("crm", isolate(agent, agent_id="crm", store=store)).add_edge(START, "crm")
    compiled = graph.compile(checkpointer=InMemorySaver() if config else None)
    given: Any = {"agent_contexts": {"s_crm": CONTEXT.to_json()}, "aci_session": "s"}
    context = returned(await compiled.ainvoke(given, config) if asynchronous else compiled.invoke(given, config))
    assert len(context.context_uri) == 1
    assert short_reference(uri_to_key(context.context_uri[0]) or "") in context.abstracts["1"]
    store.close()


def test_what_an_answer_cites_is_put_into_the_session_of_the_task() -> None:
    store = SqliteColdStore()
    script = [
        calls(call("crm", query="all")),
        lambda messages: f"1: done: rows in {refs_in(messages[-1])[0]}\n2: done: six",
    ]
    agent = create_agent(ScriptedModel(script=script), [crm], middleware=[AccpMiddleware(store=store)])
    graph = StateGraph(AciState).add_node("crm", isolate(agent, agent_id="crm", store=store))
    send = Send("crm", {"agent_context": CONTEXT.to_json(), "aci_session": "session of the task"})
    graph.add_conditional_edges(START, lambda _: [send], ["crm"])
    context = returned(graph.compile().invoke({}))
    assert "CRM-0007" in str(stored_in(store, "session of the task", context)[0])
    store.close()


@alternating("config", [{}, thread("t")])
async def test_what_only_the_agents_own_messages_carry_is_kept_for_the_task(config: Any, asynchronous: bool) -> None:
    """Without a store the state of the graph carries the texts; the agent's messages do not leave it."""
    script = [
        calls(call("crm", query="all")),
        lambda messages: f"1: done: rows in {refs_in(messages[-1])[0]}\n2: done: six",
    ]
    agent = create_agent(ScriptedModel(script=script), [crm], middleware=[AccpMiddleware()])
    graph = StateGraph(AciState).add_node("crm", isolate(agent, agent_id="crm"))
    send = Send("crm", {"agent_context": CONTEXT.to_json(), "aci_session": "t"})
    graph.add_conditional_edges(START, lambda _: [send], ["crm"])
    compiled = graph.compile(checkpointer=InMemorySaver() if config else None)
    state = await compiled.ainvoke({}, config) if asynchronous else compiled.invoke({}, config)
    (uri,) = returned(state).context_uri
    ((key, text),) = state["aci_texts"].items()
    assert uri == f"accp://{key.replace('.', '/')}"
    assert "CRM-0007" in text


def test_a_delivery_is_answered_under_its_id() -> None:
    update = answer(isolate(finished, agent_id="crm"), aci_delivery="d1", aci_session="s")
    assert update["aci_replies"] == {"d1": {"context": finished(CONTEXT).to_json(), "stored": []}}
    assert "aci_replies" not in answer(isolate(finished, agent_id="crm"))


def test_the_message_of_a_delivery_has_the_same_id_in_a_replay() -> None:
    seen = [ScriptedModel(script=["1: done: six"]) for _ in range(2)]
    for model in seen:
        answer(isolate(model, agent_id="crm"), aci_session="s")
    assert seen[0].received[0][0].id == seen[1].received[0][0].id


# Failures


def failing(error: Exception) -> Any:
    def agent(_: AgentContext) -> AgentContext:
        raise error

    return agent


@alternating("wrap", [lambda function: function, RunnableLambda])
async def test_an_exception_that_is_caught_counts_as_not_done(wrap: Any, asynchronous: bool) -> None:
    node = isolate(wrap(failing(TimeoutError("60 s"))), agent_id="crm", catch=(OSError,))
    given = {"agent_context": CONTEXT.to_json()}
    context = returned(await node.ainvoke(given) if asynchronous else node.invoke(given))
    assert context.states == {"1": 0, "2": 0}
    assert context.abstracts["1"] == "TimeoutError: 60 s"


def test_other_exceptions_end_the_run() -> None:
    with pytest.raises(KeyError):
        answer(isolate(failing(KeyError("x")), agent_id="crm", catch=(OSError,)))
    with pytest.raises(OSError, match="x"):
        answer(isolate(failing(OSError("x")), agent_id="crm"))


def test_results_of_tools_stay_with_the_agent() -> None:
    agent, _ = worker([calls(call("crm", query="all")), "1: done: six\n2: done: Ana"], crm)
    state = answer(isolate(agent, agent_id="crm"))
    assert "CRM-00" not in repr(state)
    assert results({"messages": []}) == []
