"""What people write first, and the mistakes that they make: each is understood, or refused in words that help."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import ToolMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.store.memory import InMemoryStore

from accp_adapters.langgraph import (
    AccpMiddleware,
    CompressedMessages,
    CompressNode,
    Policy,
    fetch_tool,
    isolate,
    master_graph,
    step,
)
from accp_adapters.messages import project_messages
from tests.adapters.langgraph.jobs import LOOK_UP, ROWS, agent, results, thread

SOURCE = json.dumps(ROWS)


@pytest.mark.parametrize("word", ["1", "true", "YES", " on "])
def test_words_that_switch_it_off(word: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACCP_DISABLED", word)
    graph, model = agent([LOOK_UP, "done"])
    graph.invoke({"messages": "go"})
    assert model.received[1][-1].text == SOURCE


@pytest.mark.parametrize("word", ["", "0", "false", "No", "off"])
def test_words_that_leave_it_on(word: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACCP_DISABLED", word)
    graph, model = agent([LOOK_UP, "done"])
    graph.invoke({"messages": "go"})
    assert model.received[1][-1].text != SOURCE


def test_any_other_word_is_refused_at_construction(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACCP_DISABLED", "maybe")
    with pytest.raises(ValueError, match=r"expected ACCP_DISABLED to be one of 1, true, yes, on, 0, .* found 'maybe'"):
        AccpMiddleware()


TAKES_A_POLICY: dict[str, Any] = {
    "AccpMiddleware": AccpMiddleware,
    "CompressNode": CompressNode,
    "CompressedMessages": CompressedMessages,
    "fetch_tool": fetch_tool,
    "project_messages": lambda policy: project_messages([], policy=policy),
    "isolate": lambda policy: isolate(lambda state: state, agent_id="crm", policy=policy),
    "master_graph": lambda policy: master_graph({"crm": lambda _: "done: 1"}, plan=[step("crm", "A")], policy=policy),
}


@pytest.mark.parametrize("make", TAKES_A_POLICY.values(), ids=TAKES_A_POLICY)
def test_the_name_of_a_policy_is_one(make: Any) -> None:
    make("lossless")
    with pytest.raises(ValueError, match="expected a policy of lossless, default, found 'thight'"):
        make("thight")
    with pytest.raises(TypeError, match=r"expected a Policy.*, found 400"):
        make(400)


TAKES_A_STORE: dict[str, Any] = {
    "AccpMiddleware": lambda store: AccpMiddleware(store=store),
    "CompressNode": lambda store: CompressNode(store=store),
    "fetch_tool": lambda store: fetch_tool(store=store),
    "isolate": lambda store: isolate(lambda state: state, agent_id="crm", store=store),
}


@pytest.mark.parametrize("make", TAKES_A_STORE.values(), ids=TAKES_A_STORE)
def test_the_address_of_a_store_is_one(make: Any, tmp_path: Path) -> None:
    make(f"sqlite:{tmp_path / 'cold.db'}")
    with pytest.raises(ValueError, match=r"expected sqlite:PATH or redis://HOST"):
        make("cold.sqlite")
    with pytest.raises(TypeError, match=r"expected a ColdStore, a LangGraph BaseStore or an address .*, found 400"):
        make(400)


def test_a_mistyped_name_of_a_tool_warns_once() -> None:
    middleware = AccpMiddleware(Policy(tools={"serch": "as_is", "crm": "lossless", "find_*": "as_is"}))
    graph, _ = agent([LOOK_UP, "done"], middleware=middleware)
    expected = r"expected Policy.tools to name tools of the agent \(accp_fetch, crm\), found 'serch'"
    with pytest.warns(UserWarning, match=expected):
        graph.invoke({"messages": "go"})
    again, _ = agent(["done"], middleware=middleware)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again.invoke({"messages": "go"})


@pytest.mark.parametrize("has_thread", [False, True])
def test_a_node_without_a_thread_says_so(has_thread: bool) -> None:
    graph = StateGraph(MessagesState)
    graph.add_node("compress", CompressNode("default", store=InMemoryStore()))
    graph.add_edge(START, "compress")
    given: Any = {"messages": [LOOK_UP, ToolMessage(SOURCE, tool_call_id="c1", id="r1")]}
    if has_thread:
        (shown,) = results(graph.compile().invoke(given, thread("t")))
        assert "$cold." in shown.text
        return
    with pytest.warns(UserWarning, match="CompressNode makes no previews in a run without a thread"):
        (shown,) = results(graph.compile().invoke(given))
    assert "$cold." not in shown.text


def test_a_master_without_a_report_answers_with_the_results_and_failures_in_words() -> None:
    def fails(_: Any) -> str:
        raise OSError("the server is away")

    agents = {"crm": lambda _: "done: 42 customers", "mail": fails}
    plan = [step("crm", "Count"), step("mail", "Write", repeatable=False)]
    state = master_graph(agents, plan=plan, retries=0).compile().invoke({"messages": [("user", "Count and write")]})
    count, write = state["messages"][-1].text.split("\n")
    assert count == "Count: 42 customers"
    assert write.startswith("Write: failed: ")
    assert "the server is away" in write
