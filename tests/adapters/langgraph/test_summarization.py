"""Beside `SummarizationMiddleware`: it counts and reads what the model is sent, and what a summary cites opens."""

from __future__ import annotations

import inspect
import json
from collections.abc import Sequence
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import SummarizationMiddleware
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver

from accp_adapters.langgraph import AccpMiddleware, Policy
from accp_adapters.langgraph.turns import count_tokens
from accp_adapters.stores import SqliteColdStore
from accp_adapters.tokens import count_o200k
from accp_core.references import find_references
from tests.adapters.langgraph.jobs import LOOK_UP, ROWS, crm, prose, results, thread
from tests.adapters.langgraph.ways import alternating
from tests.scripted_model import ScriptedModel, call, calls

SOURCE = json.dumps(ROWS)
needs_summarizer = pytest.mark.skipif(
    "summarizer" not in inspect.signature(SummarizationMiddleware).parameters,
    reason="this langchain has no summarizer argument; upgrade langchain",
)


def test_the_counter_counts_what_is_sent_of_any_part() -> None:
    messages: list[BaseMessage] = [HumanMessage("go"), LOOK_UP, ToolMessage(SOURCE, tool_call_id="c1", name="crm")]
    accp = AccpMiddleware(Policy(inline_limit=600, preview_limit=500))
    graph: Any = create_agent(model := ScriptedModel(script=["done"]), [crm], middleware=[accp])
    graph.invoke({"messages": messages})
    sent = sum(count_tokens(message, count_o200k) for message in model.received[0])
    assert accp.count_tokens(messages) == pytest.approx(sent, abs=30)
    assert accp.count_tokens(messages[2:]) < 500 < count_o200k(SOURCE)
    assert accp.count_tokens([]) == 0


def summary(prompt: list[BaseMessage]) -> AIMessage:
    """Return a summary that cites what the prompt cites."""
    keys = find_references(prompt[-1].text)
    return AIMessage(f"All rows are in ${keys[0]}." if keys else "There were rows.")


def fetch_summary(messages: Sequence[BaseMessage]) -> AIMessage:
    keys = [key for message in messages for key in find_references(message.text)]
    return calls(call("accp_fetch", "f1", ref=f"${keys[0]}")) if keys else AIMessage("nothing is cited")


@needs_summarizer
@alternating("stored", [False, True])
async def test_what_a_summary_cites_opens_with_a_store_and_without_it_cites_nothing(
    stored: bool, asynchronous: bool
) -> None:
    store = SqliteColdStore() if stored else None
    accp = AccpMiddleware(Policy(inline_limit=600, preview_limit=500), store=store)
    writer = ScriptedModel(script=[summary])
    talk = [calls(call("prose", f"p{number}", query=str(number))) for number in range(4)]
    model = ScriptedModel(script=[LOOK_UP, *talk, "found", fetch_summary, "done"])
    summarize = SummarizationMiddleware(
        model,
        trigger=("tokens", 450),
        keep=("messages", 2),
        token_counter=accp.count_tokens,
        summarizer=accp.summarizer(writer),
    )
    beside: list[Any] = [summarize, accp]
    graph: Any = create_agent(model, [crm, prose], middleware=beside, checkpointer=InMemorySaver())
    for words in ("find customers", "open them"):
        given: Any = {"messages": words}
        state = await graph.ainvoke(given, thread("t")) if asynchronous else graph.invoke(given, thread("t"))
    assert writer.received
    assert all(count_o200k(messages[-1].text) < 1_500 for messages in writer.received)
    if stored:
        assert results(state)[-1].status == "success"
        assert ROWS[0]["email"] in results(state)[-1].text
    else:
        assert not any(find_references(messages[-1].text) for messages in writer.received)
        assert state["messages"][-1].text == "nothing is cited"


def summarizing(model: ScriptedModel, writer: ScriptedModel, **settings: Any) -> Any:
    """Return an agent that summarizes after some turns, with a summarizer that may read all of them."""
    accp = AccpMiddleware(Policy(inline_limit=600, preview_limit=500), store=SqliteColdStore())
    summarize = SummarizationMiddleware(
        model,
        trigger=("messages", 8),
        keep=("messages", 2),
        token_counter=accp.count_tokens,
        trim_tokens_to_summarize=None,
        summarizer=accp.summarizer(writer),
    )
    settings = {"system_prompt": "Be brief.", "checkpointer": InMemorySaver()} | settings
    return create_agent(model, [crm, prose], middleware=[summarize, accp], **settings)


TALK = [calls(call("prose", f"p{number}", query=str(number))) for number in range(2)]


@needs_summarizer
@pytest.mark.parametrize("asynchronous", [False, True])
async def test_a_summary_is_asked_for_at_the_end_of_the_prompt_that_was_sent(asynchronous: bool) -> None:
    model = ScriptedModel(script=[LOOK_UP, *TALK, "found", "There were rows.", "done"])
    graph = summarizing(model, model)
    for words in ("find customers", "go on"):
        given: Any = {"messages": words}
        state = await graph.ainvoke(given, thread("t")) if asynchronous else graph.invoke(given, thread("t"))
    before, asked, after = model.received[-3:]
    shared = len(asked) - 1
    assert shared > 3
    assert asked[:shared] == before[:shared]
    assert asked[-1].text.endswith("Call no tool.\n</messages>")
    assert model.tool_names[-3] == model.tool_names[-2]
    assert "There were rows." in after[1].text
    assert state["messages"][-1].text == "done"


@needs_summarizer
@pytest.mark.parametrize(
    "answer", [calls(call("crm", "late", query="more")), AIMessage("")], ids=["a tool call", "nothing"]
)
def test_an_answer_that_is_no_summary_is_asked_for_in_a_text_of_its_own(answer: AIMessage) -> None:
    model = ScriptedModel(script=[LOOK_UP, *TALK, "found", answer, "There were rows.", "done"])
    graph = summarizing(model, model)
    for words in ("find customers", "go on"):
        graph.invoke({"messages": words}, thread("t"))
    *_, alone, after = model.received
    assert len(alone) == 1
    assert "<messages>" in alone[0].text
    assert "There were rows." in after[1].text


@needs_summarizer
@pytest.mark.parametrize("lost", ["another model", "a new process"])
def test_what_was_sent_may_be_lost_or_sent_to_another_model(lost: str) -> None:
    script = [LOOK_UP, *TALK, "found"]
    model, later = ScriptedModel(script=script), ScriptedModel(script=["There were rows.", "done"])
    saver = InMemorySaver()
    writer = later if lost == "another model" else model
    summarizing(model, writer, checkpointer=saver).invoke({"messages": "find customers"}, thread("t"))
    summarizing(later, later, checkpointer=saver).invoke({"messages": "go on"}, thread("t"))
    assert len(later.received[0]) == 1
