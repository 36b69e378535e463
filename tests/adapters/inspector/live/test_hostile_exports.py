"""Exports of programs that mean harm, and senders that are no exporters of this machine."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from starlette.testclient import TestClient

from accp_adapters.inspector.live import inspector_app
from accp_adapters.inspector.live.pages import Pages, Shown
from accp_adapters.inspector.live.telemetry import collected, exports
from accp_adapters.inspector.live.telemetry.collected import CollectedSpans
from accp_adapters.inspector.live.telemetry.receiver import Receiver
from accp_adapters.replay import StrategyName
from accp_adapters.telemetry import AGENT, CODE, CONVERSATION, FETCH, KEYS, MODEL_CALL, REWRITTEN, SOURCE
from tests.adapters.inspector.live.clients import HOST, TOKEN
from tests.adapters.inspector.live.exports import export, span
from tests.adapters.inspector.live.sending import KEY
from tests.adapters.inspector.pages import elements_of
from tests.adapters.inspector.test_report_page import HOSTILE

TRACES = f"/otlp/{KEY}/v1/traces"
LISTED = {"arrayValue": {"values": [{"stringValue": "cold.1"}]}}


def sender(spans: CollectedSpans) -> TestClient:
    app = Receiver(inspector_app(spans, token=TOKEN), spans, key=KEY)
    return TestClient(app, base_url=f"http://{HOST}", follow_redirects=False)


def every_page(spans: CollectedSpans) -> Iterator[str]:
    """Yield each page about what was sent."""
    pages = Pages(StrategyName.DEFAULT)
    shown = Shown(source=spans.name, observed=spans.read(), version=1, problem="")
    for thread in shown.observed.threads:
        for tab in ("timeline", "prompts", "agents", "references"):
            yield pages.render(shown, {"thread": thread.id, "tab": tab})
        for number in range(len(thread.events)):
            yield pages.render(shown, {"thread": thread.id, "event": str(number)})


def test_json_protobuf_and_gzip_say_the_same() -> None:
    given = export(
        span(FETCH, {KEYS: LISTED, AGENT: {"stringValue": "clerk"}}, startTimeUnixNano="1714000000000000000")
    )
    message = ExportTraceServiceRequest()
    resource = message.resource_spans.add()
    resource.resource.attributes.add(key="service.name").value.string_value = "clerks"
    told = resource.scope_spans.add().spans.add(name=FETCH, trace_id=bytes.fromhex("5b8efff798038103d269b633813fc60c"))
    told.span_id, told.start_time_unix_nano = b"\xb7", 1714000000000000000
    told.attributes.add(key=AGENT).value.string_value = "clerk"
    told.attributes.add(key=KEYS).value.array_value.values.add().string_value = "cold.1"
    threads = []
    for body, media_type, encoding in (
        (json.dumps(given).encode(), "application/json; charset=utf-8", ""),
        (message.SerializeToString(), "application/x-protobuf", ""),
        (gzip.compress(message.SerializeToString()), "application/x-protobuf", "gzip"),
    ):
        spans = CollectedSpans()
        headers = {"content-type": media_type, "content-encoding": encoding}
        answer = sender(spans).post(TRACES, content=body, headers=headers)
        assert (answer.status_code, answer.headers["content-type"]) == (200, media_type.partition(";")[0])
        threads.append([(thread.name, [event.title for event in thread.events]) for thread in spans.read().threads])
    assert threads == [[("clerks", ["opened $cold.1"])]] * 3


BODY = json.dumps(export()).encode()
JSON = {"content-type": "application/json"}
BOMB = gzip.compress(b" " * (exports.MAX_BODY + 1))


@pytest.mark.parametrize(
    ("method", "path", "headers", "body", "status", "reason"),
    [
        ("POST", "/otlp/another-key/v1/traces", {}, BODY, 403, "expected the address that `accp inspect --otlp`"),
        ("POST", f"/otlp/{TOKEN}/v1/traces", {}, BODY, 403, "expected the address"),
        ("POST", TRACES, {"host": "evil.example"}, BODY, 421, "expected a host in"),
        ("POST", TRACES, {"origin": f"http://{HOST}"}, BODY, 403, "found one of a browser"),
        ("POST", TRACES, {"sec-fetch-site": "none"}, BODY, 403, "found one of a browser"),
        ("OPTIONS", TRACES, {"origin": f"http://{HOST}"}, b"", 403, "found one of a browser"),
        ("GET", TRACES, {}, b"", 405, "expected POST"),
        ("POST", f"/otlp/{KEY}/v1/profiles", {}, BODY, 404, "expected one of v1/traces, v1/metrics, v1/logs"),
        ("POST", f"/otlp/{KEY}/traces", {}, BODY, 404, "found 'traces'"),
        ("POST", TRACES, {"content-type": "text/plain"}, BODY, 415, "expected application/x-protobuf or"),
        ("POST", TRACES, {"content-encoding": "br"}, BODY, 415, "expected gzip or nothing, found 'br'"),
        ("POST", TRACES, {"content-encoding": "gzip"}, BODY, 400, "expected gzip, found"),
        ("POST", TRACES, {"content-encoding": "gzip"}, gzip.compress(BODY)[:-9], 400, "expected the end of the gzip"),
        ("POST", TRACES, {"content-encoding": "gzip"}, BOMB, 413, "OTEL_BSP_MAX_EXPORT_BATCH_SIZE"),
        ("POST", TRACES, {}, b" " * (exports.MAX_BODY + 1), 413, "expected a body of at most 8388608 bytes"),
        ("POST", TRACES, {}, b"[]", 400, "expected an export of spans, found AttributeError"),
        ("POST", TRACES, {}, b"[" * 100_000, 400, "expected an export of spans"),
        ("POST", TRACES, {}, b'{"resourceSpans":[NaN]}', 400, "expected an export of spans"),
        ("POST", TRACES, {"content-type": "application/x-protobuf"}, b"\xff" * 9, 400, "expected an export of spans"),
    ],
)
def test_what_no_exporter_sends_is_refused(
    method: str, path: str, headers: dict[str, str], body: bytes, status: int, reason: str
) -> None:
    spans = CollectedSpans()
    answer = sender(spans).request(method, path, headers=JSON | headers, content=body)
    assert (answer.status_code, reason in answer.text) == (status, True), answer.text
    assert "access-control-allow-origin" not in answer.headers
    assert spans.read().threads == () and not spans.read().findings


def test_the_key_opens_no_page_and_logs_are_taken_and_not_kept() -> None:
    spans = CollectedSpans()
    client = sender(spans)
    assert client.get(f"/?token={KEY}").status_code == 403
    assert client.post("/", content=BODY, headers=JSON).status_code == 405, "the pages stay read-only"
    answer: httpx.Response = client.post(f"/otlp/{KEY}/v1/logs", content=b"\xff", headers=JSON)
    assert (answer.status_code, answer.text) == (200, "{}")
    assert spans.read().threads == ()


def test_too_many_spans_are_refused_or_leave_the_last_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exports, "_MAX_SPANS", 4)
    monkeypatch.setattr(collected, "_MAX_SPANS", 3)
    spans = CollectedSpans()
    client = sender(spans)
    many = [span(MODEL_CALL, {AGENT: {"stringValue": f"a{n}"}}) for n in range(5)]
    assert client.post(TRACES, json=export(*many)).status_code == 413
    assert client.post(TRACES, json=export(*many[:4])).status_code == 200
    (thread,) = spans.read().threads
    assert [event.sender for event in thread.events] == ["a1", "a2", "a3"]
    assert spans.read().findings == ("1 earlier spans are no longer kept",)
    assert spans.read() is spans.read()
    monkeypatch.setattr(collected, "_MAX_SIZE", 10_000)
    large = {"arrayValue": {"values": [{"kvlistValue": {"values": [{"key": "k", "value": {"intValue": "1"}}]}}] * 99}}
    assert client.post(TRACES, json=export(span(MODEL_CALL, {"large": large}))).status_code == 200
    assert spans.read().threads == (), "a span that alone is too large is not kept"


def hostile(text: str) -> list[dict[str, Any]]:
    """Return spans that have a text in every field."""
    words = {"stringValue": text}
    keys = {"arrayValue": {"values": [words, {"intValue": "1"}]}}
    named = {AGENT: words, CONVERSATION: words, KEYS: keys, text: words, f"gen_ai.{text}": keys}
    event = {"name": REWRITTEN, "attributes": [{"key": SOURCE, "value": words}, {"key": KEYS, "value": keys}]}
    message = {"role": "user", "parts": [{"type": "text", "content": text}]}
    chat = {
        "gen_ai.operation.name": {"stringValue": "chat"},
        "gen_ai.input.messages": {"stringValue": json.dumps([message])},
        "gen_ai.output.messages": {"stringValue": json.dumps([message | {"role": "assistant"}])},
    }
    return [
        span(MODEL_CALL, named, events=[event], status={"code": 2, "message": text}),
        span(FETCH, {**named, CODE: words}),
        span(FETCH, named, startTimeUnixNano=text, endTimeUnixNano="9" * 50),
        span(text, {"openinference.span.kind": words, **named}, traceId=text, spanId=text, parentSpanId=text),
        span(text, {**named, **chat}, spanId="c1"),
    ]


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_of_an_export_is_markup(text: str) -> None:
    spans = CollectedSpans()
    sent = export(*hostile(text), service=text)
    assert sender(spans).post(TRACES, content=json.dumps(sent), headers=JSON).status_code in (200, 400)
    spans.add(("clerks", each) for each in hostile(text))
    assert sum(len(thread.runs) for thread in spans.read().threads) >= 1
    for page in every_page(spans):
        for element in elements_of(page):
            assert element.name not in {"iframe", "img", "object", "embed", "base", "style", "form"}
            assert not [name for name in element.attributes if name.startswith("on") or name in ("style", "srcdoc")]
            address = element.attributes.get("href", element.attributes.get("src", "/"))
            assert address.startswith(("/", "#")) and not address.startswith("//"), address
            assert element.name != "script" or element.attributes == {"src": "/inspector.js", "defer": ""}


def test_secrets_in_attributes_are_hidden() -> None:
    spans = CollectedSpans()
    secret = {"stringValue": "hunter2-of-the-clerk"}
    attributes = {"http.request.header.api_key": secret, "db.url": {"stringValue": "postgres://me:hunter2-of@db/x"}}
    spans.add([("clerks", span(MODEL_CALL, attributes))])
    pages = list(every_page(spans))
    assert any("[redacted]" in page for page in pages)
    assert not [page for page in pages if "hunter2" in page]


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["key", "value", "name"]), inner),
    max_leaves=8,
)


@settings(max_examples=25)
@given(
    st.dictionaries(
        st.sampled_from(["name", "attributes", "events", "status", "traceId", "startTimeUnixNano", "parentSpanId"]),
        JSON_VALUES,
    )
)
def test_whatever_a_span_is_it_is_shown_or_counted(document: dict[str, Any]) -> None:
    spans = CollectedSpans()
    spans.add([("clerks", document), ("clerks", span(MODEL_CALL, {}) | document), ("clerks", span(FETCH, {}))])
    assert list(every_page(spans))
