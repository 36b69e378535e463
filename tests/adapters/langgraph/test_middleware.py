"""The middleware in a compiled `create_agent` graph."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from langgraph.types import Command

from accp_adapters.langgraph import AccpMiddleware, Policy
from accp_adapters.messages import project_messages
from accp_adapters.tokens import count_o200k
from accp_core.references import key_of
from tests.adapters.langgraph.jobs import LOOK_UP, ROWS, agent, crm, fetch_last, prose, refs_in, results, thread
from tests.scripted_model import ScriptedModel, call, calls

SOURCE = json.dumps(ROWS)
FEW = json.dumps(ROWS[:20])


def tokens(messages: list[Any]) -> int:
    return sum(count_o200k(message.text) for message in messages)


def test_a_large_result_becomes_a_preview_and_its_rows_are_one_fetch_away() -> None:
    graph, model = agent([LOOK_UP, fetch_last, "done"])
    state = graph.invoke({"messages": "find customers"}, thread("t"))
    whole, fetched = results(state)
    shown = model.received[1][-1]
    assert whole.text == SOURCE
    assert len(set(refs_in(shown))) == 1
    assert tokens([shown]) <= Policy().preview_limit
    assert (fetched.status, fetched.name, fetched.tool_call_id) == ("success", "accp_fetch", "f1")
    assert ROWS[1]["email"] in fetched.text
    assert (whole.additional_kwargs, fetched.additional_kwargs) == ({}, {})
    assert model.received[2][: len(model.received[1])] == model.received[1]


async def test_the_fetch_tool_is_offered_from_the_first_reference_on() -> None:
    talk = calls(call("prose", "p1", query="x"))
    graph, model = agent([talk, LOOK_UP, fetch_last, "done"], crm, prose)
    await graph.ainvoke({"messages": "find customers"})
    offered = ["accp_fetch" in names for names in model.tool_names]
    assert offered == [False, False, True, True]
    same, sync_model = agent([talk, LOOK_UP, fetch_last, "done"], crm, prose)
    same.invoke({"messages": "find customers"})
    assert sync_model.tool_names == model.tool_names


@pytest.mark.parametrize("runs", [1, 2])
async def test_references_open_in_a_run_without_a_thread(runs: int) -> None:
    graph, _ = agent([LOOK_UP, "shown", fetch_last, "done"])
    state = graph.invoke({"messages": "find customers"})
    assert set(state) == {"messages"}
    state["messages"].append(HumanMessage("which were won?"))
    state = await graph.ainvoke(state) if runs == 2 else graph.invoke(state)
    assert results(state)[1].status == "success"


def test_the_model_reads_a_view_and_everything_but_its_text_stays() -> None:
    @tool(response_format="content_and_artifact")
    def report(day: str) -> tuple[str, dict[str, str]]:
        """Return a report."""
        return json.dumps(ROWS[:9]), {"raw": day}

    graph, model = agent([calls(call("report", "c7", day="Monday")), "done"], report)
    (message,) = results(graph.invoke({"messages": "go"}))
    assert message.content == json.dumps(ROWS[:9])
    shown = model.received[1][-1]
    assert shown.text.startswith("[9] id name")
    assert shown.model_copy(update={"content": message.content}) == message


def test_errors_excluded_tools_and_prose_reach_the_model_as_they_are() -> None:
    @tool
    def broken(query: str) -> str:
        """Fail."""
        return FEW

    broken.handle_tool_error = True
    broken.func = _fail
    asked = [call("broken", "c1", query="x"), call("crm", "c2", query="x"), call("prose", "c3", query="x")]
    policy = Policy(tools={"crm": "as_is"})
    graph, model = agent([calls(*asked), "done"], broken, crm, prose, middleware=AccpMiddleware(policy))
    graph.invoke({"messages": "go"})
    failed, excluded, text = model.received[1][-3:]
    assert (failed.status, failed.text) == ("error", FEW)
    assert excluded.text == SOURCE
    assert text.text == "Nothing is known about x."


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_an_excluded_tool_is_known_by_its_call_whatever_it_returns(asynchronous: bool) -> None:
    @tool
    def note(query: str) -> Command[Any]:
        """Write to the state, in a message without a name."""
        return Command(update={"messages": [ToolMessage(SOURCE, tool_call_id="c1")]})

    policy = Policy(tools={"note": "as_is"})
    graph, model = agent([calls(call("note", query="x")), "done"], note, middleware=AccpMiddleware(policy))
    asked: Any = {"messages": "go"}
    await graph.ainvoke(asked) if asynchronous else graph.invoke(asked)
    assert model.received[1][-1].text == SOURCE


def _fail(query: str) -> str:
    from langchain_core.tools import ToolException  # noqa: PLC0415  the tool needs its name only here

    raise ToolException(FEW)


def test_text_blocks_as_mcp_servers_send_them_are_opened_and_images_stay() -> None:
    image = {"type": "image", "base64": "AAAA", "mime_type": "image/png"}

    @tool
    def remote(query: str) -> list[dict[str, Any]]:
        """Return content blocks."""
        return [{"type": "text", "text": SOURCE}, image]

    graph, model = agent([calls(call("remote", query="x")), fetch_last, "done"], remote)
    whole, fetched = results(graph.invoke({"messages": "go"}))
    shown = model.received[1][-1]
    assert whole.content[1] == shown.content[1] == image
    assert tokens([shown]) <= Policy().preview_limit
    assert ROWS[0]["email"] in fetched.text


def test_the_messages_of_a_command_are_projected() -> None:
    @tool
    def note(query: str, runtime: Any = None) -> Command[Any]:
        """Write to the state."""
        return Command(update={"messages": [ToolMessage(SOURCE, tool_call_id="c1")]})

    graph, model = agent([calls(call("note", query="x")), "done"], note)
    (message,) = results(graph.invoke({"messages": "go"}))
    assert message.text == SOURCE
    assert len(set(refs_in(model.received[1][-1]))) == 1


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_parallel_results_stay_within_the_batch_budget(asynchronous: bool) -> None:
    policy = Policy(batch_limit=4_000, repeats=False)  # the eight results are the same
    turn = calls(*(call("crm", f"c{number}", query=str(number)) for number in range(8)))
    graph, model = agent([turn, fetch_all, "done"], middleware=AccpMiddleware(policy))
    state = await graph.ainvoke({"messages": "go"}) if asynchronous else graph.invoke({"messages": "go"})
    found = results(state)
    assert len(found) == 16
    assert {message.status for message in found} == {"success"}
    assert tokens(model.received[1][-8:]) <= 4_000
    assert tokens(found[8:]) <= 4_000


def fetch_all(messages: list[Any]) -> Any:
    shown = [message for message in messages if refs_in(message)]
    return calls(*(call("accp_fetch", f"f{n}", ref=refs_in(message)[0]) for n, message in enumerate(shown)))


def test_the_fetch_tool_stands_behind_the_others_and_is_absent_where_nothing_is_previewed() -> None:
    graph, model = agent([LOOK_UP, "done"])
    graph.invoke({"messages": "go"})
    assert model.tool_names == [["crm"], ["crm", "accp_fetch"]]
    graph, model = agent([LOOK_UP, "done"], middleware=AccpMiddleware(Policy.lossless()))
    graph.invoke({"messages": "go"})
    assert model.tool_names == [["crm"], ["crm"]]


def test_a_tool_may_be_answered_by_another_middleware() -> None:
    class Canned(AgentMiddleware):
        def wrap_tool_call(self, request: Any, handler: Any) -> ToolMessage:
            return ToolMessage(SOURCE, tool_call_id=request.tool_call["id"], name=request.tool_call["name"])

    model = ScriptedModel(script=[LOOK_UP, "done"])
    graph = create_agent(model, [crm], middleware=[AccpMiddleware(), Canned()])
    graph.invoke({"messages": "go"})
    assert refs_in(model.received[1][-1])


def test_it_can_be_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACCP_DISABLED", "1")
    graph, model = agent([LOOK_UP, "done"])
    state = graph.invoke({"messages": "go"})
    assert model.received[1][-1].text == SOURCE
    assert project_messages(state["messages"]).messages == state["messages"]
    assert model.tool_names == [["crm"], ["crm"]]


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_the_fetch_tool_of_an_mcp_server_stands_for_both(asynchronous: bool) -> None:
    theirs = f"${key_of('theirs')}"

    @tool
    def accp_fetch(ref: str) -> str:
        """Open a reference of the server."""
        return f"the server's text of {ref}"

    script = [LOOK_UP, fetch_last, calls(call("accp_fetch", "f2", ref=theirs)), "done"]
    graph, model = agent(script, crm, accp_fetch)
    given: Any = {"messages": "go"}
    state = await graph.ainvoke(given) if asynchronous else graph.invoke(given)
    _, ours, server = results(state)
    assert ROWS[1]["email"] in ours.text
    assert server.text == f"the server's text of {theirs}"
    assert [sorted(names) for names in model.tool_names] == [["accp_fetch", "crm"]] * 4


def test_the_fetch_tool_stays_once_it_was_offered() -> None:
    graph, model = agent([LOOK_UP, "done", "again"], checkpointer=InMemorySaver())
    graph.invoke({"messages": "go"}, thread("t"))
    graph.update_state(thread("t"), {"messages": [RemoveMessage(REMOVE_ALL_MESSAGES)]})
    graph.invoke({"messages": "so?"}, thread("t"))
    assert [message.text for message in model.received[-1]] == ["so?"]
    assert model.tool_names[-1] == ["crm", "accp_fetch"]


def test_a_model_can_be_asked_for_an_answer_that_a_person_reads() -> None:
    middleware = AccpMiddleware()
    graph, _ = agent([LOOK_UP, lambda messages: AIMessage(f"It is {refs_in(messages[-1])[0]}.")], middleware=middleware)
    state = graph.invoke({"messages": "go"})
    assert middleware.expand(state["messages"][-1].text, state) == f"It is {SOURCE}."
    assert middleware.expand(f"It is ${key_of('gone')}.", state) == f"It is ${key_of('gone')}."


RESULTS: Final = {
    "orders": json.dumps([{"id": n, "of": n * 7919 % 1009} for n in range(900)]),
    "story": "The quick words of a long story go on. " * 20,
    "ping": "ok",
    "read_file": "x = 1\n" * 80,
    "token": json.dumps("y" * 600),
    "raw": json.dumps([{"a": 1}] * 90),
}


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_observing_changes_no_prompt_and_counts_what_would_be_sent_and_why_results_stay(
    asynchronous: bool,
) -> None:
    observer = AccpMiddleware(Policy(tools={"raw": "as_is"}), apply=False)

    async def run(*middleware: AccpMiddleware) -> tuple[ScriptedModel, dict[str, Any]]:
        model = ScriptedModel(script=[*(calls(call(name, f"c-{name}")) for name in RESULTS), "done"])
        tools = [tool(name, description="x")(lambda text=text: text) for name, text in RESULTS.items()]
        agent = create_agent(model, tools, middleware=middleware)
        asked: Any = {"messages": [HumanMessage("go", id="1")]}
        return model, await agent.ainvoke(asked) if asynchronous else agent.invoke(asked)

    (plain, state), (observed, same) = await run(), await run(observer)
    assert observed.tool_names == plain.tool_names
    sent, as_is = ([[m.model_dump(exclude={"id"}) for m in p] for p in each.received] for each in (observed, plain))
    assert json.dumps(sent) == json.dumps(as_is)
    assert same.keys() == state.keys()
    stats = observer.stats()
    assert (stats.rewritten, stats.references_made) == (1, 1) and stats.tokens_after < stats.tokens_before / 5
    kept = ["story: prose", "ping: small", "read_file: verbatim", "token: no smaller form", "raw: excluded"]
    assert stats.kept == dict.fromkeys(kept, 1) and "'ping: small': 1" in str(stats)
