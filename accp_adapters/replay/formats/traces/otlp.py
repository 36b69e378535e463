"""OpenTelemetry spans: OTLP in JSON, or as `ReadableSpan.to_json` writes them; those of model calls are read.

Where an instrumentation logs the messages as events, these log records are read, and the spans have no messages.

Sources: https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding and `opentelemetry.sdk.trace.ReadableSpan`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from accp_adapters.replay.formats.conversation import Request
from accp_adapters.replay.formats.findings import Findings
from accp_adapters.replay.formats.traces import genai, langfuse, openinference
from accp_adapters.replay.formats.traces.span import Span

__all__ = ["is_spans", "read_spans"]


def is_spans(document: Any) -> bool:
    """Return whether a document is in this format."""
    match document:
        case {"resourceSpans": [*_]} | {"resource_spans": [*_]} | {"resourceLogs": [*_]}:
            return True
        case {"context": {"trace_id": _}, "attributes": {}} | {"spanId": str(), "attributes": _}:
            return True
    return False


def read_spans(document: Mapping[str, Any], findings: Findings) -> Iterator[Request]:
    """Yield the model calls in the spans of a document."""
    if "resourceLogs" in document:
        yield from (genai.read_call(span, findings) for span in _logged_spans(document, findings))
        return
    for span in map(_to_span, _spans(document)):
        # A call of which nothing is recorded is named and makes no run.
        yield from (call for call in _read_call(span, findings) if call.prompt or call.output or call.tools)


def _read_call(span: Span, findings: Findings) -> Iterator[Request]:
    """Yield the model call that a span is; nothing for a span of another kind."""
    if openinference.is_call(span):
        yield replace(openinference.read_call(span, findings), identity=span.key)
    elif span.attributes.get("langfuse.observation.type") == "generation":
        for request in langfuse.read_observation(_observation(span), findings):
            yield replace(request, identity=span.key)
    elif genai.is_call(span):
        yield replace(genai.read_call(span, findings), identity=span.key)
    else:
        findings.add("span", "that is no model call", left_out=True)


def _observation(span: Span) -> Mapping[str, Any]:
    """Return a span of Langfuse's SDK as the observation that Langfuse exports."""
    sides = {name: span.attributes.get(f"langfuse.observation.{name}") for name in ("input", "output")}
    return {"type": "GENERATION", "traceId": span.trace, "startTime": span.started, **sides}


def _spans(document: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    if "resourceSpans" not in document and "resource_spans" not in document:
        yield document
        return
    for resource in document.get("resourceSpans") or document.get("resource_spans") or ():
        for scope in resource.get("scopeSpans") or resource.get("scope_spans") or ():
            yield from scope.get("spans") or ()


def _logged_spans(document: Mapping[str, Any], findings: Findings) -> Iterator[Span]:
    """Yield the model calls whose events are log records, in one document; those of one call name one span."""
    spans: dict[str, Span] = {}
    scopes = (scope for resource in document["resourceLogs"] for scope in resource.get("scopeLogs") or ())
    for record in (record for scope in scopes for record in scope.get("logRecords") or ()):
        span = _to_span(record)
        name = str(record.get("eventName") or span.attributes.get("event.name"))
        if not genai.is_event(name):
            findings.add("log record", "that is no part of a model call", left_out=True)
            continue
        body = _value(record.get("body") or {})
        said = {**span.attributes, **(body if isinstance(body, Mapping) else {})}
        logged = str(record.get("timeUnixNano") or record.get("observedTimeUnixNano") or "")
        known = spans.get(span.key, replace(span, started=logged))
        spans[span.key] = replace(known, events=(*known.events, (name, said)))
    yield from spans.values()


def _to_span(span: Mapping[str, Any]) -> Span:
    """Return a span from its JSON."""
    context = span.get("context") or {}
    trace = str(span.get("traceId") or span.get("trace_id") or context.get("trace_id") or "")
    own = str(span.get("spanId") or span.get("span_id") or context.get("span_id") or "")
    return Span(
        trace=trace,
        key=f"{trace} {own}" if trace and own else "",
        started=str(span.get("startTimeUnixNano") or span.get("start_time") or ""),
        attributes=_attributes_of(span.get("attributes")),
        events=tuple(
            (event.get("name", ""), _attributes_of(event.get("attributes"))) for event in span.get("events") or ()
        ),
    )


def _attributes_of(attributes: Any) -> dict[str, Any]:
    """Return attributes by their names, from a list of them or a mapping."""
    if isinstance(attributes, Mapping):
        return dict(attributes)
    return {each["key"]: _value(each.get("value") or {}) for each in attributes or ()}


def _value(value: Mapping[str, Any]) -> Any:
    match value:
        case {"stringValue": plain} | {"boolValue": plain} | {"doubleValue": plain} | {"bytesValue": plain}:
            return plain
        case {"intValue": number}:
            return int(number)
        case {"arrayValue": array}:
            return [_value(each) for each in array.get("values") or ()]
        case {"kvlistValue": entries}:
            return _attributes_of(entries.get("values"))
    return None
