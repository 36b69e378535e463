"""What operators are told: totals, log records, counters and span attributes, and nothing of any text."""

from __future__ import annotations

import copy
import json
import logging
import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from accp_adapters import telemetry
from accp_adapters.langgraph import AccpMiddleware
from accp_adapters.mcp import Encoder
from accp_adapters.telemetry import ADAPTER, METRICS, RewritingRecord, Stats, Telemetry
from accp_adapters.tokens import count_o200k
from accp_core.references import find_references
from tests.adapters.langgraph.jobs import LOOK_UP, ROWS, crm, fetch_last, refs_in
from tests.adapters.mcp.messages import Wire, request, served
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


@pytest.fixture
def exported(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[InMemoryMetricReader, InMemorySpanExporter]]:
    """Yield what the SDK of OpenTelemetry exports while it is in use."""
    reader, spans = InMemoryMetricReader(), InMemorySpanExporter()
    meters, tracers = MeterProvider([reader]), TracerProvider()
    tracers.add_span_processor(SimpleSpanProcessor(spans))
    # The API sets a provider once in the life of a process; what it hands out is what tests replace.
    monkeypatch.setattr(telemetry.metrics, "get_meter", meters.get_meter)
    monkeypatch.setattr(telemetry.trace, "get_tracer", tracers.get_tracer)
    yield reader, spans
    meters.shutdown()
    tracers.shutdown()


def sums_of(reader: InMemoryMetricReader) -> dict[str, tuple[str, int, dict[str, Any]]]:
    """Return unit, sum and attributes of each counter."""
    data = reader.get_metrics_data()
    found = [each for resource in data.resource_metrics for scope in resource.scope_metrics for each in scope.metrics]
    points = {each.name: (each.unit, list(each.data.data_points)) for each in found}
    return {name: (unit, point.value, dict(point.attributes)) for name, (unit, (point,)) in points.items()}


def test_the_sdk_exports_every_counter_and_the_spans_that_were_current(
    exported: tuple[InMemoryMetricReader, InMemorySpanExporter],
) -> None:
    reader, spans = exported
    told = Telemetry("mcp")
    with telemetry.trace.get_tracer("test").start_as_current_span("call"):
        told.rewritten([RewritingRecord(source="crm", tokens_before=90, tokens_after=30, references=("cold.1",))])
    told.opened(["cold.1", "cold.2"])
    told.refused("E5002: no")
    told.answered(3)
    told.passed_on("write", ["cold.1"], 7)
    told.store_failed("no store")
    told.opened(["cold.1", "cold.2"])
    mcp = {ADAPTER: "mcp"}
    assert sums_of(reader) == {
        "accp.messages.rewritten": ("{message}", 1, mcp),
        "accp.tokens.before": ("{token}", 90, mcp),
        "accp.tokens.after": ("{token}", 30, mcp),
        "accp.reference.made": ("{reference}", 1, mcp),
        "accp.reference.opened": ("{reference}", 4, mcp),
        "accp.reference.refused": ("{fetch}", 1, mcp),
        "accp.reference.answered": ("{reference}", 3, mcp),
        "accp.reference.passed": ("{reference}", 1, mcp),
        "accp.store.failed": ("{failure}", 1, mcp),
    }
    (span,) = spans.get_finished_spans()
    assert dict(span.attributes or {}) == {
        "accp.messages.rewritten": 1,
        "accp.tokens.before": 90,
        "accp.tokens.after": 30,
        "accp.reference.made": 1,
        **mcp,
    }


def test_a_real_run_is_exported(exported: tuple[InMemoryMetricReader, InMemorySpanExporter]) -> None:
    reader, _ = exported
    accp = AccpMiddleware()
    model = ScriptedModel(script=[LOOK_UP, fetch_last, UNKNOWN, "done"])
    graph: Any = create_agent(model, [crm], middleware=[accp])
    graph.invoke({"messages": "go"})
    sums = {name: value for name, (_, value, _) in sums_of(reader).items()}
    assert sums == {METRICS[name].name: value for name, value in accp.stats().to_json().items() if value}
    assert sums["accp.tokens.after"] < sums["accp.tokens.before"]


@pytest.mark.parametrize("meta", [{}, {"traceparent": "00-" + "ab" * 16 + "-" + "cd" * 8 + "-01", "tracestate": 5}])
def test_what_a_proxy_does_is_exported_in_the_trace_of_its_client(
    exported: tuple[InMemoryMetricReader, InMemorySpanExporter], meta: dict[str, Any]
) -> None:
    reader, spans = exported
    wire = Wire(
        encoder=Encoder(policy="always", host="text", fetch=True, inline_limit=100, preview_limit=80), decoder=None
    )
    wire.ask(request("tools/call", {"name": "crm", "arguments": {}, "_meta": meta}), served(ROWS))
    shown = wire.between[0]["result"]["content"][0]["text"]
    (key,) = find_references(shown)
    for ref in (f"${key}", "$cold.1"):
        wire.ask(request("tools/call", {"name": "accp_fetch", "arguments": {"ref": ref}, "_meta": meta}), {})
    rewriting, opening, refusing = spans.get_finished_spans()
    assert [span.name for span in (rewriting, opening, refusing)] == ["accp.tool_result", "accp.fetch", "accp.fetch"]
    before, after = count_o200k(served(ROWS)["content"][0]["text"]), count_o200k(shown)
    sums = {name: value for name, (_, value, _) in sums_of(reader).items()}
    assert (sums["accp.tokens.before"], sums["accp.tokens.after"]) == (before, after)
    assert [sums[f"accp.reference.{each}"] for each in ("made", "opened", "refused")] == [1, 1, 1]
    attributes = dict(rewriting.attributes or {})
    assert attributes[telemetry.TOOL] == "crm" and attributes["accp.tokens.after"] == after
    (event,) = rewriting.events
    assert (event.attributes or {})["accp.reference.keys"] == (opening.attributes or {})["accp.reference.keys"]
    assert (refusing.attributes or {})["accp.error.code"] == "E5002"
    parents = {span.parent and f"{span.parent.trace_id:032x}" for span in (rewriting, opening, refusing)}
    assert parents == {"ab" * 16 if meta else None}


def test_no_client_of_a_proxy_can_harm_the_telemetry(
    exported: tuple[InMemoryMetricReader, InMemorySpanExporter],
) -> None:
    _, spans = exported
    for meta in (5, [], {"traceparent": "x" * 100_000, "tracestate": "=," * 10_000}, {"traceparent": "00-0-0-00"}):
        wire = Wire(encoder=Encoder(policy="always"), decoder=None)
        wire.ask(request("tools/call", {"name": "n" * 10_000, "arguments": {}, "_meta": meta}), served(ROWS))
    assert [span.parent for span in spans.get_finished_spans()] == [None] * 4
    assert {len(str((span.attributes or {})[telemetry.TOOL])) for span in spans.get_finished_spans()} == {100}


def test_every_total_has_a_counter_of_its_own_and_the_documents_name_it() -> None:
    assert [*METRICS, "kept"] == [field.name for field in fields(Stats)]
    names = [metric.name for metric in METRICS.values()]
    assert len(set(names)) == len(names)
    page = (Path(__file__).parents[2] / "docs" / "telemetry.md").read_text(encoding="utf-8")
    assert [name for name in (*names, ADAPTER) if f"`{name}`" not in page] == []


def test_the_documents_name_what_is_told_and_nothing_else(
    exported: tuple[InMemoryMetricReader, InMemorySpanExporter],
) -> None:
    reader, spans = exported
    told = Telemetry("langgraph")
    with told.model_call("clerk", "orders"):
        told.rewritten([RewritingRecord(source="crm", tokens_before=90, tokens_after=30, references=("cold.1",))])
        told.answered(1)
    with told.tool_result("crm", None):
        pass
    with told.fetch("clerk", "orders"):
        told.opened(["cold.1"])
        told.store_failed("no store")
        told.projection_failed(1)
    with told.passing_on("write", "clerk", "orders"):
        told.passed_on("write", ["cold.1"], 7)
    with pytest.raises(ValueError), told.fetch("clerk", "orders"):
        told.refused("E5002: no")
        raise ValueError("no")
    names = set(sums_of(reader))
    for span in spans.get_finished_spans():
        names |= {span.name, *(span.attributes or {})}
        for event in span.events:
            names |= {event.name, *(event.attributes or {})}
    page = (Path(__file__).parents[2] / "docs" / "telemetry.md").read_text(encoding="utf-8")
    assert set(re.findall(r"`((?:accp|gen_ai|error)\.[\w.]+)`", page)) == names


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
