"""Shadow calls in a compiled `create_agent` graph: what a policy that hides a needed value does, and a harmless one."""

from __future__ import annotations

import asyncio
import json
import logging
import random
import threading
from collections.abc import Callable
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

from accp_adapters.langgraph import AccpMiddleware, Policy, Shadow
from accp_adapters.langgraph.shadow.comparison import Outcomes
from tests.adapters.langgraph.jobs import ROWS, crm, thread
from tests.scripted_model import ScriptedModel, call, calls

HIDDEN = ROWS[177]["trace"]
HIDES = Policy(inline_limit=600, preview_limit=500)


@tool
def book(trace: str) -> str:
    """Book what has a trace."""
    return "booked"


def looks_up_then(answer: Callable[[list[BaseMessage]], AIMessage]) -> Callable[[list[BaseMessage]], AIMessage]:
    def step(messages: list[BaseMessage]) -> AIMessage:
        return (
            answer(messages)
            if isinstance(messages[-1], ToolMessage)
            else calls(call("crm", f"c{len(messages)}", query="all"))
        )

    return step


def books_what_it_reads(messages: list[BaseMessage]) -> AIMessage:
    if isinstance(messages[-1], ToolMessage) and messages[-1].name == "book":
        return AIMessage("done")
    seen = "".join(message.text for message in messages)
    return calls(call("book", f"b{len(messages)}", trace=HIDDEN if HIDDEN in seen else "unknown"))


def answers_what_it_reads(messages: list[BaseMessage]) -> AIMessage:
    return AIMessage(f"There are 300 of them; the first is {ROWS[0]['id']}.")


def agent(step: Callable[[list[BaseMessage]], AIMessage], shadow: Shadow, **options: Any) -> tuple[Any, Any, Any]:
    model = ScriptedModel(script=[looks_up_then(step)])
    middleware = AccpMiddleware(options.pop("policy", HIDES), shadow=shadow)
    return create_agent(model, [crm, book], middleware=[middleware], **options), model, middleware


def run(graph: Any, middleware: AccpMiddleware, number: int) -> dict[str, Any]:
    state: dict[str, Any] = graph.invoke({"messages": f"find {number}"}, thread(f"t{number}"))
    assert middleware.wait_for_shadow(60)
    return state


def test_a_policy_that_hides_a_needed_value_is_caught_and_a_harmless_one_is_not() -> None:
    for step, harmful in ((books_what_it_reads, True), (answers_what_it_reads, False)):
        graph, _, middleware = agent(step, Shadow(rate=1, min_calls=10))
        for number in range(10):
            run(graph, middleware, number)
        whole = middleware.shadow_counts()[0]
        assert (whole.policy, whole.tool) == ("tight", "")
        assert (whole.changed > 0, whole.difference.low > 5, whole.noise) == (harmful, harmful, 0)
        assert {each.tool for each in middleware.shadow_counts()[1:]} == {"crm"}
        stats = middleware.stats()
        assert (stats.shadow_compared, stats.shadow_changed) == (whole.compared, whole.changed)


async def test_asynchronous_calls_are_compared_in_tasks() -> None:
    graph, model, middleware = agent(books_what_it_reads, Shadow(rate=1, min_calls=1))
    await graph.ainvoke({"messages": "find"}, thread("t"))
    await middleware.await_shadow(60)
    assert middleware.stats().shadow_compared == 2
    unprojected = [messages for messages in model.received if HIDDEN in "".join(each.text for each in messages)]
    assert len(unprojected) == 4, "two for each call with a projected prompt"


def test_nothing_is_called_again_by_default_or_where_nothing_is_projected() -> None:
    for shadow, policy in (
        (None, HIDES),
        (Shadow(rate=0), HIDES),
        (Shadow(rate=1), Policy(inline_limit=None, repeats=False)),
    ):
        model = ScriptedModel(script=["nothing to do"])
        middleware = AccpMiddleware(policy, shadow=shadow)
        create_agent(model, [crm], middleware=[middleware]).invoke({"messages": "hello"})
        assert middleware.wait_for_shadow(60)
        assert (len(model.received), middleware.shadow_counts()) == (1, ())


def test_the_choice_is_the_same_for_the_same_call_and_has_the_rate() -> None:
    shadow = Shadow(rate=0.02)
    chosen = [number for number in range(20_000) if shadow.chooses(("thread", number))]
    assert chosen == [number for number in range(20_000) if Shadow(rate=0.02).chooses(("thread", number))]
    assert 300 < len(chosen) < 500


def test_a_call_that_fetches_is_not_compared() -> None:
    def fetches(messages: list[BaseMessage]) -> AIMessage:
        shown = "".join(message.text for message in messages)
        ref = "$cold." + shown.split("$cold.")[1][:12] if "$cold." in shown else "$cold.0"
        return AIMessage("done") if messages[-1].name == "accp_fetch" else calls(call("accp_fetch", "f1", ref=ref))

    graph, _, middleware = agent(fetches, Shadow(rate=1))
    run(graph, middleware, 1)
    assert middleware.stats().shadow_compared == 1, "the one after the fetch"


@pytest.mark.parametrize("is_async", [False, True])
async def test_a_shadow_call_that_fails_harms_nothing(is_async: bool, caplog: pytest.LogCaptureFixture) -> None:
    def fails_without_a_preview(messages: list[BaseMessage]) -> AIMessage:
        if HIDDEN in "".join(message.text for message in messages):
            raise RuntimeError(HIDDEN)
        return AIMessage("done")

    caplog.set_level(logging.INFO, "accp")
    graph, _, middleware = agent(fails_without_a_preview, Shadow(rate=1))
    asked = {"messages": "find"}
    state = await graph.ainvoke(asked) if is_async else graph.invoke(asked)
    await middleware.await_shadow(60)
    assert middleware.wait_for_shadow(60)
    assert state["messages"][-1].text == "done"
    assert (middleware.stats().shadow_failures, middleware.stats().shadow_compared) == (1, 0)
    assert HIDDEN not in caplog.text


@pytest.mark.parametrize("is_async", [False, True])
async def test_a_slow_shadow_call_is_not_waited_for(is_async: bool) -> None:
    answered = threading.Event()

    def waits(messages: list[BaseMessage]) -> AIMessage:
        if HIDDEN in "".join(message.text for message in messages):
            assert answered.wait(60), "the real answer came first"
        return AIMessage("done")

    graph, _, middleware = agent(waits, Shadow(rate=1, timeout=0.001))
    asked = {"messages": "find"}
    state = await graph.ainvoke(asked) if is_async else await asyncio.to_thread(graph.invoke, asked)
    assert state["messages"][-1].text == "done"
    answered.set()
    await middleware.await_shadow(60)
    assert await asyncio.to_thread(middleware.wait_for_shadow, 60)
    assert middleware.stats().shadow_failures == 1


def test_a_thread_that_cannot_start_harms_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    start = threading.Thread.start

    def refuse(thread: threading.Thread) -> None:
        if thread.name == "accp-shadow":
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", refuse)
    graph, _, middleware = agent(answers_what_it_reads, Shadow(rate=1))
    assert run(graph, middleware, 1)["messages"][-1].text.startswith("There are 300")
    assert (middleware.stats().shadow_failures, middleware.stats().shadow_compared) == (1, 0)


def test_nothing_of_a_shadow_call_is_streamed() -> None:
    graph, _, middleware = agent(books_what_it_reads, Shadow(rate=1))
    parts = list(graph.stream({"messages": "find"}, stream_mode="messages"))
    assert middleware.wait_for_shadow(60)
    alone, _, _ = agent(books_what_it_reads, Shadow(rate=0))
    assert len(parts) == len(list(alone.stream({"messages": "find"}, stream_mode="messages")))


def test_threads_that_begin_after_the_verdict_fall_back_and_the_others_stay() -> None:
    saver = InMemorySaver()
    shadow = Shadow(rate=1, min_calls=20, fall_back="lossless")
    graph, model, middleware = agent(books_what_it_reads, shadow, checkpointer=saver)
    for number in range(10):
        run(graph, middleware, number)
    before = model.received[:]
    running = next(each for each in before if isinstance(each[-1], ToolMessage) and HIDDEN not in each[-1].text)
    state = run(graph, middleware, 0)
    assert "accp_policy" not in state
    again = [each for each in model.received[len(before) :] if each[: len(running)] == running]
    assert again, "the prompt of the running thread begins as before"
    before = model.received[:]
    state = run(graph, middleware, 99)
    assert all(HIDDEN in each[2].text for each in model.received[len(before) :] if len(each) > 2)
    assert saver.get(thread("t99"))["channel_values"]["accp_policy"] == "fall_back"
    assert HIDDEN in json.dumps([each.text for each in state["messages"]])


def test_a_harmless_policy_is_taken_for_a_harmful_one_in_under_one_percent() -> None:
    chance, wrong, trials = random.Random(7), 0, 300
    for _ in range(trials):
        outcomes = Outcomes(margin=Shadow().margin, next_look=Shadow().min_calls)
        for _ in range(400):
            outcomes.add("tight", "crm", noise=chance.random() < 0.2, changed=chance.random() < 0.2)
        wrong += outcomes.harmful
    assert wrong <= 2


@pytest.mark.parametrize("options", [{"rate": 1.5}, {"rate": -0.1}, {"timeout": 0}, {"min_calls": 0}])
def test_options_without_a_meaning_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"expected {next(iter(options))} to be .*, found "):
        Shadow(**options)
