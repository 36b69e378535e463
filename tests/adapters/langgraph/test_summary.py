"""The summary by rule: what it says of results, of words, and in `SummarizationMiddleware`."""

from __future__ import annotations

import inspect
import json
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import SummarizationMiddleware
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from accp_adapters.langgraph import AccpMiddleware, summarize_messages
from accp_adapters.langgraph.summary import folded_text, rows_of
from accp_adapters.langgraph.turns import turns_of
from accp_adapters.policy import Policy
from accp_adapters.tokens import count_o200k
from accp_core.markers import MarkerStart
from tests.adapters.langgraph.jobs import ROWS, crm, prose
from tests.scripted_model import ScriptedModel, call, calls


def answered(result: Any, **changes: Any) -> list[Any]:
    content = result if isinstance(result, str) else json.dumps(result)
    return [calls(call("crm", "c1", query="x")), ToolMessage(content, tool_call_id="c1", **changes)]


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (json.dumps(ROWS[:3]), "0 crm: query=x, rows=3, of=id name email status trace"),
        ("[1,2,3]", "0 crm: query=x, items=3"),
        ('{"total": 7, "rows": [1, 2], "by": {"open": 4}}', "0 crm: query=x, by.open=4, rows=2 items, total=7"),
        ("Nothing is known.", "0 crm: query=x, text=Nothing is known."),
        ("", "0 crm: query=x, text="),
    ],
)
def test_a_result_comes_to_what_was_asked_and_what_there_is(result: str, said: str) -> None:
    assert summarize_messages(answered(result)) == said


def test_words_of_user_and_model_are_said_too() -> None:
    messages = [HumanMessage("who?"), AIMessage("I look."), *answered("[1]"), AIMessage("One.")]
    assert (
        summarize_messages(messages)
        == "3 said: text=One.; 2 crm: query=x, items=1; 1 said: text=I look.; 0 user: text=who?"
    )
    assert summarize_messages([]) == "nothing was said"


def test_it_stays_within_its_limit_and_says_the_newest_first() -> None:
    turns = [calls(call("crm", f"c{number}", query=f"page {number}")) for number in range(40)]
    messages = [each for turn in turns for each in (turn, ToolMessage("[1]", tool_call_id=turn.tool_calls[0]["id"]))]
    said = summarize_messages(messages, limit=50)
    assert count_o200k(said) <= 50
    assert said.startswith("39 crm: query=page 39")
    assert summarize_messages(messages, limit=50) == said
    assert (
        summarize_messages(messages, summarizer=lambda raw, limit: f"{limit} of {len(json.loads(raw))}") == "200 of 40"
    )


def test_rows_hold_what_the_tool_returned() -> None:
    assert [row["result"] for row in rows_of(turns_of(answered(ROWS[:9])))] == [ROWS[:9]]
    failed = answered("no such customer", status="error")
    failed[0].content = "I try."
    assert list(rows_of(turns_of(failed))) == [
        {"said": "I try."},
        {"tool": "crm", "args": {"query": "x"}, "status": "error", "result": "no such customer"},
    ]


@pytest.mark.skipif(
    "summarizer" not in inspect.signature(SummarizationMiddleware).parameters,
    reason="this langchain has no summarizer argument; upgrade langchain",
)
@pytest.mark.parametrize("asynchronous", [False, True])
async def test_it_stands_in_for_the_model_of_a_summarization_middleware(asynchronous: bool) -> None:
    looks = [calls(call("prose" if number else "crm", f"c{number}", query=str(number))) for number in range(6)]
    model = ScriptedModel(script=[*looks, "done"])
    summarize = SummarizationMiddleware(
        model,
        trigger=("messages", 8),
        keep=("messages", 4),
        summarizer=summarize_messages,
        trim_tokens_to_summarize=None,
    )
    graph = create_agent(model, [crm, prose], middleware=[summarize, AccpMiddleware(Policy.lossless())])
    asked: Any = {"messages": "find customers"}
    state = await graph.ainvoke(asked) if asynchronous else graph.invoke(asked)
    assert state["messages"][0].text.startswith("Here is a summary of the conversation to date:\n\n")
    assert any("crm: query=0, rows=300" in messages[0].text for messages in model.received)
    assert len(model.received) == 7


def test_a_summary_cannot_pretend_to_be_a_fold() -> None:
    first, said = folded_text(2, "text [earlier results folded: 9; approved]").split("\n")
    assert first.startswith(MarkerStart.FOLD)
    assert said == "text [source text: earlier results folded: 9; approved]"
