"""Contexts over A2A: between two of ours, and with strangers who know only figure 4 of ACI."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from a2a.client import ClientConfig
from a2a.helpers import new_data_part, new_text_part
from a2a.types import Part, Task, TaskState
from google.protobuf.json_format import MessageToDict
from httpx import AsyncClient
from langchain_core.messages import AIMessage

from accp_adapters.a2a import ContextExecutor, GrantedTexts, RemoteAgent
from accp_adapters.langgraph import begin, master_graph, read_results, step
from accp_adapters.stores import SqliteColdStore
from accp_core.aci import AgentContext, ItemAnswer, Outcome, TaskContext, todo, with_answers
from accp_core.errors import ProtocolError
from accp_core.references import HANDED_TEXTS_KEY, StoredText, short_reference
from tests.adapters.a2a.calls import Recorder, connect, request
from tests.adapters.a2a.serve import Served, Wrap, always, negotiating, plain, serve

LONG = "\n".join(f"ORD-{7000 + n}: {n * 37} EUR, open since {n} days" for n in range(120))
ORDERS, SALARIES = StoredText.of("Haas AG 820.44\nBerg GmbH 214.37"), StoredText.of("Haas 90,000")
STORE = {stored.key: stored.text for stored in (ORDERS, SALARIES)}


def a_context(**more: Any) -> AgentContext:
    """Return the context of one subtask."""
    fields: dict[str, Any] = {"agent_id": "crm", "subtask_id": "s1", "subtask_name": "Find open orders"}
    return AgentContext(**{**fields, "todo_items": todo("List them", "Sum them up"), **more})


async def worker(context: AgentContext, granted: GrantedTexts) -> AgentContext:
    """Do all items in few words."""
    answers = {item.item_id: ItemAnswer(Outcome.DONE, f"did {item.item_id}") for item in context.todo_items}
    return with_answers(context, answers)


def lister(context: AgentContext, granted: GrantedTexts) -> str:
    """Give a result that is no abstract; a plain function."""
    return f"1: {LONG}\n2: 264,180 EUR"


async def opener(context: AgentContext, granted: GrantedTexts) -> str:
    """Open the orders; where the subtask says so, the salaries, too."""
    opened = granted.open(SALARIES.reference if "salaries" in context.subtask_name else ORDERS.reference)
    return f"1: {opened.splitlines()[0]}\n2: done"


@asynccontextmanager
async def served(agent: Any = worker, wrap: Wrap = negotiating) -> AsyncIterator[Served]:
    """Serve an agent that takes contexts."""
    async with serve(wrap, executor=ContextExecutor(agent, agent_id="crm")) as running:
        yield running


@pytest.mark.requirement("aci:6-1")
@pytest.mark.parametrize("wrap", [plain, negotiating, always])
async def test_a_context_goes_and_comes_back_checked(wrap: Wrap) -> None:
    async with served(wrap=wrap) as running:
        reply = await RemoteAgent(running.url, agent_id="crm")(a_context())
        assert reply.context == replace(a_context(), **{n: getattr(reply.context, n) for n in CHANGED})
        assert reply.context.abstracts == {"1": "did 1", "2": "did 2"}
        assert (await asyncio.to_thread(RemoteAgent(running.card, agent_id="crm").run, a_context())).full == {}


CHANGED = ("item_state_updates", "key_information", "last_updated")


@pytest.mark.requirement("aci:6-1")
async def test_a_long_result_comes_whole_and_graphs_take_it() -> None:
    store = SqliteColdStore()
    async with served(lister) as running:
        agent = RemoteAgent(running.url, agent_id="crm")
        reply = await agent(a_context())
        assert reply.full == {"1": LONG}
        assert reply.context.abstracts["2"] == "264,180 EUR"
        graph = master_graph({"crm": agent}, plan=plan, store=store).compile()
        state = await graph.ainvoke({}, {"configurable": {"thread_id": "t1"}})
    assert "264,180 EUR" in str(read_results(state))
    (returned,) = (AgentContext.from_json(context) for context in state["agent_contexts"].values())
    assert store.get("t1", returned.context_uri[0].replace("accp://cold/", "cold.")) == LONG


def plan(state: Any) -> dict[str, Any]:
    """Plan one subtask for the remote agent."""
    return begin(TaskContext(task_id="t1", user_query="What is open?"), [a_context()])


@pytest.mark.requirement("aci:6-1")
async def test_an_agent_opens_what_its_context_grants_and_nothing_else() -> None:
    granted = a_context(context_uri=(ORDERS.uri,))
    async with served(opener) as running:
        agent = RemoteAgent(running.url, agent_id="crm", fetch=STORE.get)
        assert (await agent(granted)).context.abstracts["1"] == "Haas AG 820.44"
        with pytest.raises(ProtocolError, match="E5002"):
            await agent(replace(granted, subtask_name="salaries"))
        with pytest.raises(ProtocolError, match="E2001"):
            await RemoteAgent(running.url, agent_id="crm", fetch={ORDERS.key: "another text"}.get)(granted)
        with pytest.raises(ProtocolError, match="E5001: expected a context of agent 'crm', found one of 'hr'"):
            await agent(a_context(agent_id="hr"))
        with pytest.raises(ProtocolError, match="E5001"):
            await RemoteAgent(running.url, agent_id="hr")(a_context(agent_id="hr"))


def reader(context: AgentContext, granted: GrantedTexts) -> str:
    """List the orders, or count the lines of what the context cites."""
    texts = [granted.open(uri) for uri in context.context_uri]
    return f"done: {len(texts[0].splitlines())} lines" if texts else f"done: {LONG}"


TWO_STEPS = [step("crm", "list", repeatable=True), step("crm", "count", after="list")]


@pytest.mark.requirement("aci:6-1")
@pytest.mark.parametrize("store", [None, SqliteColdStore()], ids=["in the state", "in a store"])
@pytest.mark.parametrize("wrap", [plain, negotiating])
async def test_a_step_opens_the_long_result_of_an_earlier_one(wrap: Wrap, store: SqliteColdStore | None) -> None:
    async with served(reader, wrap) as running:
        agents = {"crm": RemoteAgent(running.url, agent_id="crm")}
        state = await master_graph(agents, plan=TWO_STEPS, store=store).compile().ainvoke({})
    assert read_results(state)["count"] == "120 lines"


@pytest.mark.requirement("aci:6-1")
async def test_a_stranger_that_can_open_nothing_is_sent_the_whole() -> None:
    async with serve(plain) as running:
        running.agent.says = [new_text_part("done: read")]
        remote = RemoteAgent(running.card, agent_id="crm")
        await remote(a_context(context_uri=(ORDERS.uri,)), STORE)
        assert f"The whole of {short_reference(ORDERS.key)}:" in [part.text for part in running.agent.seen[0].parts]
        assert ORDERS.text in [part.text for part in running.agent.seen[0].parts]
        with pytest.raises(ProtocolError, match="E2001"):
            await remote(a_context(context_uri=(ORDERS.uri,)))


class Graph:
    """Stands for a graph: says what it was given, and answers as told."""

    def __init__(self, answer: Any) -> None:
        """Answer with this message, or with a structured response."""
        self.answer = answer
        self.given: Any = None

    async def ainvoke(self, given: Any) -> Any:
        """Return a state."""
        self.given = given
        return {"messages": [AIMessage(self.answer)]} if isinstance(self.answer, list | str) else self.answer


@pytest.mark.requirement("aci:6-1")
@pytest.mark.parametrize(
    "answer",
    ["5 items", ["5 items"], ["5 ", {"type": "text", "text": "items"}], {"structured_response": {"1": "5 items"}}],
)
async def test_a_graph_answers_in_any_form_of_content(answer: Any) -> None:
    graph, context = Graph(answer), a_context(todo_items=todo("Count"), context_uri=(ORDERS.uri,))
    async with served(graph) as running:
        reply = await RemoteAgent(running.url, agent_id="crm", fetch=STORE.get)(context)
    assert reply.context.abstracts == {"1": "5 items"}
    assert graph.given[HANDED_TEXTS_KEY] == {ORDERS.key: ORDERS.text}
    assert "Count" in graph.given["messages"][0]["content"]


@pytest.mark.requirement("aci:6-1")
async def test_a_graph_without_an_answer_and_an_agent_that_breaks_say_so() -> None:
    failed = "E9999: expected an answer of agent 'crm', found an error in it: ask its operator"
    for agent, code in ((Graph({}), "E1004"), (lambda *_: 1 / 0, f"^{failed}$")):
        async with served(agent) as running:
            with pytest.raises(ProtocolError, match=code):
                await RemoteAgent(running.url, agent_id="crm")(a_context())


# --- strangers, who know figure 4 of ACI ------------------------------------------------------------------------------

FIGURE_4 = {
    "AgentID": "crm",
    "SubTaskID": "s1",
    "SubTaskName": "Find open orders",
    "todoItems": [{"itemId": "1", "description": "List them"}],
}


@pytest.mark.requirement("aci:6-1")
@pytest.mark.parametrize("wrapped", [True, False])
@pytest.mark.parametrize("media_type", ["", "application/json", "application/aci+json"])
@pytest.mark.parametrize("as_text", [True, False])
async def test_a_strangers_master_is_answered_by_figure_4(wrapped: bool, media_type: str, as_text: bool) -> None:
    sent: Any = {"AgentContext": FIGURE_4} if wrapped else FIGURE_4
    part = new_text_part(str(sent).replace("'", '"')) if as_text else new_data_part(sent)
    part.media_type = media_type
    async with served() as running, Recorder() as http, await connect(running.card, aware=False, http=http) as client:
        (response,) = [each async for each in client.send_message(request("m", new_text_part("Please"), part))]
    (answer,) = response.task.status.message.parts
    assert answer.media_type == "application/json"
    returned = MessageToDict(answer.data)["AgentContext"]
    assert (returned["AgentID"], returned["SubTaskID"]) == ("crm", "s1")
    assert returned["ItemstateUpdates"] == [{"itemId": "1", "state": 1}]
    assert returned["KeyInformation"] == [{"itemId": "1", "outputabstract": "did 1"}]
    assert "@crm>" not in str(http.answered) and "application/accp" not in str(response)


@pytest.mark.requirement("aci:6-1")
@pytest.mark.parametrize(
    ("parts", "code"),
    [
        ([new_text_part("hello")], "E1001"),
        ([new_data_part({**FIGURE_4, "AgentID": "hr"})], "E5001"),
        ([new_data_part({**FIGURE_4, "todoItems": 3})], "E1004"),
    ],
)
async def test_what_is_no_context_for_this_agent_is_refused_in_words(parts: list[Part], code: str) -> None:
    async with served() as running, await connect(running.card, aware=False) as client:
        (response,) = [each async for each in client.send_message(request("m", *parts))]
    task: Task = response.task
    rejected = TaskState.TASK_STATE_REJECTED if code == "E5001" else TaskState.TASK_STATE_FAILED
    assert task.status.state == rejected
    (words,) = task.status.message.parts
    assert words.text.startswith("expected") and words.metadata["code"] == code
    assert "@crm>" not in str(task)


@pytest.mark.requirement("aci:6-1")
@pytest.mark.parametrize(
    ("said", "abstract"),
    [
        ([new_text_part("done: 5 items")], "5 items"),
        ([new_data_part({"of": 6, "total": 5})], '{"of":6,"total":5}'),
        ([new_data_part({**FIGURE_4, "ItemstateUpdates": [{"itemId": "1", "state": 1}],
                         "KeyInformation": [{"itemId": "1", "outputabstract": "5 items"}]})], "5 items"),
    ],
)  # fmt: skip
async def test_a_strangers_agent_answers_in_words_or_by_figure_4(said: list[Part], abstract: str) -> None:
    async with serve(plain) as running:
        running.agent.says = said
        reply = await RemoteAgent(running.card, agent_id="crm")(a_context(todo_items=todo("List them")))
        words, context = running.agent.seen[0].parts
    assert "List them" in words.text
    sent = MessageToDict(context.data)["AgentContext"]
    assert (sent["AgentID"], sent["AgentName"], sent["SubTaskID"]) == ("crm", "", "s1")
    assert (sent["Dependencies"], sent["ItemstateUpdates"], sent["KeyInformation"]) == ([], [], [])
    assert reply.context.abstracts == {"1": abstract}


@pytest.mark.requirement("aci:6-1")
@pytest.mark.parametrize(
    ("name", "code"),
    [("reject", "E5001"), ("auth", "E5001"), ("fail", "E4002"), ("crash", "E9999"), ("tck-input-required", "Which")],
)
async def test_a_task_that_does_not_complete_says_why(name: str, code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accp_adapters.a2a.contexts.secrets.token_hex", lambda _: name)
    async with serve(plain) as running:
        with pytest.raises(ProtocolError, match=code):
            await RemoteAgent(running.url, agent_id="crm")(a_context())


@pytest.mark.requirement("aci:6-1")
async def test_an_agent_that_is_silent_or_not_there_is_an_error_with_a_code(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ProtocolError, match="E3001: 'crm': "):
        await RemoteAgent("http://127.0.0.1:9", agent_id="crm")(a_context())
    monkeypatch.setattr("accp_adapters.a2a.contexts.secrets.token_hex", lambda _: "gate")
    async with serve(plain) as running, AsyncClient() as http:
        config = ClientConfig(httpx_client=http)
        with pytest.raises(ProtocolError, match=r"E3001: expected 'crm' to answer within 0\.5 seconds"):
            await RemoteAgent(running.card, agent_id="crm", config=config, timeout=0.5)(a_context())
        assert not http.is_closed


@pytest.mark.requirement("aci:6-1")
async def test_granted_texts_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accp_adapters.a2a.contexts.MAX_GRANTED_BYTES", len(ORDERS.text))
    async with served(opener) as running:
        with pytest.raises(ProtocolError, match="E2003"):
            await RemoteAgent(running.url, agent_id="crm", fetch=STORE.get)(a_context(context_uri=(ORDERS.uri,)))
