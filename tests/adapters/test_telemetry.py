"""What operators are told: totals, log records, counters and span attributes, and nothing of any text."""

from __future__ import annotations

import copy
import json
import logging
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage

from accp_adapters import telemetry
from accp_adapters.langgraph import AccpMiddleware
from accp_adapters.telemetry import Rewriting, Stats, Telemetry
from accp_adapters.tokens import count_o200k
from tests.adapters.langgraph.jobs import LOOK_UP, ROWS, crm, fetch_last, refs_in
from tests.scripted_model import ScriptedModel, call, calls

SOURCE = json.dumps(ROWS)
UNKNOWN = calls(call("accp_fetch", "f2", ref="$cold.00000000000000000123456789012"))


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_a_run_is_told_without_a_word_of_its_texts(asynchronous: bool, caplog: pytest.LogCaptureFixture) -> None:
    accp = AccpMiddleware()
    model = ScriptedModel(script=[LOOK_UP, fetch_last, UNKNOWN, "done"])
    graph: Any = create_agent(model, [crm], middleware=[accp])
    given = {"messages": "go"}
    with caplog.at_level(logging.INFO, logger="accp"):
        if asynchronous:
            events = [event async for event in graph.astream(given, stream_mode="custom")]
        else:
            events = list(graph.stream(given, stream_mode="custom"))
    sent = count_o200k(model.received[1][-1].text)
    stats = accp.stats()
    assert (stats.rewritten, stats.tokens_before, stats.tokens_after) == (1, count_o200k(SOURCE), sent)
    assert (stats.references_made, stats.references_opened, stats.references_refused) == (1, 1, 1)
    made = {"rewritten": 1, "tokens_before": stats.tokens_before, "tokens_after": sent, "references_made": 1}
    assert events == [{"accp": made}]
    assert [record.getMessage() for record in caplog.records] == [
        f"langgraph: crm sent in {sent} of {stats.tokens_before} tokens, 1 references",
        "langgraph: 1 references opened",
        "langgraph: a reference was refused: E5002",
    ]


def test_references_in_a_final_answer_are_counted() -> None:
    accp = AccpMiddleware()
    model = ScriptedModel(script=[LOOK_UP, lambda messages: f"See {refs_in(messages[-1])[0]}."])
    graph: Any = create_agent(model, [crm], middleware=[accp])
    graph.invoke({"messages": "go"})
    assert accp.stats().references_answered == 1


def test_what_was_sent_before_is_not_told_again() -> None:
    accp = AccpMiddleware()
    model = ScriptedModel(script=[LOOK_UP, "found", "done"])
    graph: Any = create_agent(model, [crm], middleware=[accp])
    state = graph.invoke({"messages": "go"})
    graph.invoke({"messages": [*state["messages"], ("user", "and?")]})
    assert accp.stats().rewritten == 1
    assert isinstance(model.received[2][-2], AIMessage)


class Meter:
    """Takes what an OpenTelemetry meter and a span take."""

    def __init__(self) -> None:
        self.added: list[tuple[str, int, Any]] = []
        self.attributes: dict[str, int] = {}

    def get_meter(self, name: str) -> Meter:
        return self

    def get_current_span(self) -> Meter:
        return self

    def create_counter(self, name: str) -> Any:
        meter = self

        class Counter:
            def add(self, value: int, attributes: Any) -> None:
                meter.added.append((name, value, attributes))

        return Counter()

    def set_attribute(self, name: str, value: int) -> None:
        self.attributes[name] = value


def test_opentelemetry_gets_counters_and_attributes(monkeypatch: pytest.MonkeyPatch) -> None:
    meter = Meter()
    monkeypatch.setattr(telemetry, "metrics", meter)
    monkeypatch.setattr(telemetry, "trace", meter)
    told = Telemetry("mcp")
    told.rewritten([Rewriting(source="crm", tokens_before=90, tokens_after=30)])
    told.opened(2)
    assert meter.added == [
        ("accp.rewritten", 1, {"accp.adapter": "mcp"}),
        ("accp.tokens_before", 90, {"accp.adapter": "mcp"}),
        ("accp.tokens_after", 30, {"accp.adapter": "mcp"}),
        ("accp.references_opened", 2, {"accp.adapter": "mcp"}),
    ]
    assert meter.attributes["accp.tokens_after"] == 30


def test_without_opentelemetry_the_totals_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(telemetry, "metrics", None)
    told = Telemetry("mcp")
    told.refused("E5002: no")
    assert told.stats() == Stats(references_refused=1)


def test_a_middleware_can_be_copied_with_its_totals() -> None:
    accp = AccpMiddleware()
    accp._telemetry.refused("E5002: no")
    other = copy.deepcopy(accp)
    other._telemetry.refused("E5002: no")
    assert accp.stats() == Stats(references_refused=1)
    assert other.stats() == Stats(references_refused=2)
