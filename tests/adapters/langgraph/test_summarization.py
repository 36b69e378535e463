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
from tests.scripted_model import ScriptedModel, call, calls

SOURCE = json.dumps(ROWS)
needs_summarizer = pytest.mark.skipif(
    "summarizer" not in inspect.signature(SummarizationMiddleware).parameters,
    reason="this langchain has no summarizer argument; upgrade langchain",
)


def test_the_counter_counts_what_is_sent_of_any_part() -> None:
    messages: list[BaseMessage] = [HumanMessage("go"), LOOK_UP, ToolMessage(SOURCE, tool_call_id="c1", name="crm")]
    accp = AccpMiddleware(Policy.tight())
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
@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("stored", [False, True])
async def test_what_a_summary_cites_opens_with_a_store_and_without_it_cites_nothing(
    stored: bool, asynchronous: bool
) -> None:
    store = SqliteColdStore() if stored else None
    accp = AccpMiddleware(Policy.tight(), store=store)
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
