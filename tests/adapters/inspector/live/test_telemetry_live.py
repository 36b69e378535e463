"""A running graph tells OpenTelemetry what it does, and the inspector shows it while it runs."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver

from accp_adapters.inspector.live.telemetry.collected import CollectedSpans
from accp_adapters.inspector.live.threads import Thread
from accp_adapters.langgraph import AccpMiddleware
from tests.adapters.inspector.live.clients import opened, thread_paths
from tests.adapters.inspector.live.sending import receiving, sending
from tests.adapters.inspector.live.test_in_chromium import opened_in
from tests.adapters.inspector.live.test_pages import texts_of
from tests.adapters.langgraph.jobs import LOOK_UP, crm, fetch_last
from tests.limits import PATIENCE
from tests.scripted_model import ScriptedModel, call, calls

UNKNOWN = calls(call("accp_fetch", "f2", ref="$cold.00000000000000000123456789012"))


def run(script: list[Any], thread: str = "orders") -> AccpMiddleware:
    """Let an agent do its job; return its middleware."""
    accp = AccpMiddleware()
    agent: Any = create_agent(
        ScriptedModel(script=script), [crm], middleware=[accp], name="clerk", checkpointer=InMemorySaver()
    )
    agent.invoke({"messages": "go"}, {"configurable": {"thread_id": thread}})
    return accp


def thread_of(spans: CollectedSpans) -> Thread:
    (thread,) = spans.read().threads
    return thread


def test_calls_queries_and_refusals_of_a_real_agent_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    spans = CollectedSpans()
    with receiving(spans) as origin, sending(origin, monkeypatch):
        stats = run([LOOK_UP, fetch_last, UNKNOWN, "done"]).stats()
    thread = thread_of(spans)
    assert thread.name == "orders"
    told = [event.told for event in thread.events if event.told]
    (rewriting,) = (each for one in told for each in one.rewritten)
    (key,) = rewriting.references
    assert (rewriting.source, rewriting.tokens_before, rewriting.tokens_after) == (
        "crm",
        stats.tokens_before,
        stats.tokens_after,
    )
    changed = f"model call: crm {stats.tokens_before:,} → {stats.tokens_after:,} tokens, 1 references"
    assert [(event.kind, event.sender, event.title) for event in thread.events] == [
        ("prompt", "clerk", "model call"),
        ("prompt", "clerk", changed),
        ("call", "clerk", f"opened ${key}"),
        ("prompt", "clerk", "model call"),
        ("failure", "clerk", "query refused: E5002"),
        ("prompt", "clerk", "model call"),
    ]
    page = opened(spans)
    (path,) = thread_paths(page).values()
    (row,) = (row for row in texts_of(page, f"{path}/references", "tr") if key in row)
    assert row == f"${key}crmclerk-{stats.tokens_before:,}not known here"
    (call,) = (row for row in texts_of(page, f"{path}/prompts", "tr") if "crm" in row)
    assert call.startswith(f"2 clerkcrm{stats.tokens_before:,}{stats.tokens_after:,}1")
    agents = texts_of(page, f"{path}/agents", "section")
    assert len(agents) == 1 and "4 model calls." in agents[0] and "query refused: E5002" in agents[0]


def test_the_page_shows_each_call_while_the_graph_runs(browser: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    gates = [threading.Event() for _ in range(3)]

    def after(gate: threading.Event, answer: Any) -> Callable[[list[Any]], AIMessage]:
        def answered(messages: list[Any]) -> AIMessage:
            assert gate.wait(PATIENCE)
            return answer(messages) if callable(answer) else answer

        return answered

    script = [LOOK_UP, after(gates[0], fetch_last), after(gates[1], UNKNOWN), after(gates[2], AIMessage("done"))]
    spans = CollectedSpans()
    with receiving(spans) as origin, sending(origin, monkeypatch), opened_in(browser, origin) as window:
        page = window.page
        page.wait_for_selector("h1:text-is('Nothing yet')")
        working = threading.Thread(target=run, args=(script,))
        working.start()
        page.wait_for_selector(".events li:nth-child(1) .what:has-text('model call')")
        assert page.locator(".events li").count() == 1
        gates[0].set()
        page.wait_for_selector(".events li:nth-child(2) .what:has-text('→')")
        page.wait_for_selector(".events li:nth-child(3) .what:has-text('opened $cold.')")
        assert page.locator(".events li").count() == 3
        gates[1].set()
        page.wait_for_selector(".events li:nth-child(5) .what:has-text('query refused: E5002')")
        assert working.is_alive()
        gates[2].set()
        page.wait_for_selector(".events li:nth-child(6)")
        working.join(PATIENCE)
        page.locator(".events a").nth(1).click()
        page.wait_for_selector("text=Sent in another form for the first time")
        assert window.complaints == []
