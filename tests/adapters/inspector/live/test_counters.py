"""A program that exports counters and no spans: the inspector shows what it counts, by service and adapter."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.sdk.metrics import Counter, MeterProvider
from opentelemetry.sdk.metrics.export import AggregationTemporality, PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource

from accp_adapters import telemetry
from accp_adapters.inspector.live.telemetry import counters, exports
from accp_adapters.inspector.live.telemetry.collected import CollectedSpans
from accp_adapters.inspector.live.telemetry.counters import Program
from accp_adapters.telemetry import Telemetry
from tests.adapters.inspector.live.clients import opened
from tests.adapters.inspector.live.exports import metric, metrics_export, point
from tests.adapters.inspector.live.sending import KEY, receiving
from tests.adapters.inspector.live.test_hostile_exports import JSON, JSON_VALUES, sender
from tests.adapters.inspector.live.test_pages import texts_of
from tests.adapters.inspector.pages import elements_of
from tests.adapters.inspector.test_report_page import HOSTILE

METRICS = f"/otlp/{KEY}/v1/metrics"
DELTA = {Counter: AggregationTemporality.DELTA}


def totals(spans: CollectedSpans) -> dict[tuple[str, str], dict[str, int]]:
    """Return the sums that are not 0, by service and adapter."""
    rows = spans.read().counted
    return {(row.service, row.adapter): {name: value for name, value in row.sums if value} for row in rows}


@pytest.mark.parametrize("preferred", [None, DELTA], ids=["cumulative", "delta"])
def test_the_sdk_sends_counters_and_the_page_shows_them(preferred: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    spans = CollectedSpans()
    with receiving(spans) as origin:
        exporter = OTLPMetricExporter(f"{origin}/otlp/{KEY}/v1/metrics", preferred_temporality=preferred)
        reader = PeriodicExportingMetricReader(exporter, export_interval_millis=float("inf"))
        provider = MeterProvider([reader], resource=Resource.create({"service.name": "clerks"}))
        monkeypatch.setattr(telemetry.metrics, "get_meter", provider.get_meter)
        provider.get_meter("others").create_histogram("http.duration").record(3)
        provider.get_meter("others").create_counter("http.requests").add(3)
        told = Telemetry("langgraph")
        for number in range(3):
            told.opened(["cold.1", "cold.2"])
            told.refused("E5002: no")
            assert provider.force_flush(), number
        Telemetry("mcp").store_failed("no store")
        assert provider.force_flush()
        provider.shutdown()
    assert totals(spans) == {
        ("clerks", "langgraph"): {"accp.reference.opened": 6, "accp.reference.refused": 3},
        ("clerks", "mcp"): {"accp.store.failed": 1},
    }
    page = opened(spans)
    assert texts_of(page, "/", "summary") == ["Counters of 2 adapters in running programs"]
    assert texts_of(page, "/", "tr")[1:] == ["clerkslanggraph00006300", "clerksmcp00000001"]


def test_programs_of_a_service_stand_together_also_one_that_began_again() -> None:
    spans = CollectedSpans()
    client = sender(spans)
    client.post(METRICS, json=metrics_export(metric(point(5, began=1))))
    client.post(METRICS, json=metrics_export(metric(point("7", began=1, at=9)), metric(point(2, began=10))))
    client.post(METRICS, json=metrics_export(metric(point(6, began=1, at=8))))  # late
    other = metrics_export(metric(point(100)))
    other["resourceMetrics"][0]["resource"]["attributes"].append({"key": "host", "value": {"stringValue": "b"}})
    client.post(METRICS, json=other)
    assert totals(spans) == {("clerks", "langgraph"): {"accp.tokens.before": 7 + 2 + 100}}
    assert spans.read() is spans.read()


@pytest.mark.parametrize(
    "given",
    [
        metric(point(-1)),
        metric(point((1 << 53) + 1)),
        metric(point("x")),
        metric(point(True)),
        metric({"asDouble": 1e308}),
        metric({}),
        metric(point(1), temporality=0),
        metric(point(1), temporality=None),
        {"name": "accp.tokens.before", "gauge": {"dataPoints": [point(1)]}},
        {"name": "accp.tokens.before", "sum": []},
    ],
)
def test_what_is_no_counter_is_said_to_be_none(given: dict[str, Any]) -> None:
    spans = CollectedSpans()
    assert sender(spans).post(METRICS, json=metrics_export(given)).status_code == 200
    assert spans.read().counted == ()
    assert spans.read().findings == ("1 counters that are not as OTLP has them",)


def test_too_many_series_are_refused_or_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exports, "_MAX_SPANS", 4)
    monkeypatch.setattr(counters, "_MAX_SERIES", 2)
    spans = CollectedSpans()
    client = sender(spans)
    answer = client.post(METRICS, json=metrics_export(*[metric(point(1))] * 5))
    assert (answer.status_code, answer.text) == (413, "expected at most 4 metrics, found more")
    many = [point(n, adapter=f"a{n}") for n in range(1, 4)]
    assert client.post(METRICS, json=metrics_export(metric(*many))).status_code == 200
    assert [adapter for _, adapter in totals(spans)] == ["a1", "a2"]
    assert spans.read().findings == ("1 values of counters beyond the series that are kept",)
    client.post(METRICS, json=metrics_export(metric(point(9, adapter="a1", at=3))))
    assert totals(spans)["clerks", "a1"] == {"accp.tokens.before": 9}, "a series that is kept goes on"


@pytest.mark.parametrize("body", [b"[]", b"\xff", b'{"resourceMetrics":[1]}', b"[" * 100_000])
def test_what_is_no_export_of_metrics_is_refused(body: bytes) -> None:
    answer = sender(CollectedSpans()).post(METRICS, content=body, headers=JSON)
    assert (answer.status_code, "expected an export of metrics" in answer.text) == (400, True), answer.text


@pytest.mark.parametrize("text", [*HOSTILE, "postgres://me:hunter2-of@db/x", "api_key=hunter2-of-the-clerk"])
def test_no_name_is_markup_or_a_secret(text: str) -> None:
    spans = CollectedSpans()
    sent = json.dumps(metrics_export(metric(point(1, adapter=text)), service=text))
    assert sender(spans).post(METRICS, content=sent, headers=JSON).status_code in (200, 400)
    spans.count([(Program(service=text, id="p"), metric(point(1, adapter=text)))])
    page = opened(spans).get("/").text
    assert "hunter2" not in page
    found = elements_of(page)
    assert len([each for each in found if each.name == "script"]) == 1
    assert not [each for each in found if each.name in {"iframe", "img", "object", "embed", "base", "style", "form"}]


@settings(max_examples=25)
@given(st.dictionaries(st.sampled_from(["name", "sum", "dataPoints", "aggregationTemporality"]), JSON_VALUES))
def test_whatever_a_metric_is_it_is_counted_or_not_understood(document: dict[str, Any]) -> None:
    spans = CollectedSpans()
    given = metric(point(1)) | document
    spans.count([(Program(service="clerks", id="p"), given), (Program(service="clerks", id="p"), metric(document))])
    assert len(spans.read().counted) + len(spans.read().findings) >= 1
