"""The body of an OTLP export as its spans or its counters: protobuf or JSON, perhaps gzip.

Source: https://opentelemetry.io/docs/specs/otlp/#otlphttp.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from http import HTTPStatus
from typing import Any, Final, TypeVar

from google.protobuf.json_format import MessageToDict
from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from accp_adapters.inspector.live.telemetry.counters import COUNTERS, Program
from accp_adapters.replay.formats.traces.otlp import attributes_of
from accp_adapters.serving.bodies import BodyRefused
from accp_core.strict_json import compact_json, read_json

__all__ = ["JSON", "MAX_BODY", "PROTOBUF", "read_counters", "read_spans", "unpacked"]

PROTOBUF: Final = "application/x-protobuf"
JSON: Final = "application/json"
MAX_BODY: Final = 8 << 20
"""Bytes of an export, packed and unpacked."""
_MAX_SPANS: Final = 10_000
"""Spans, or series of counters, of one export."""
_GZIP: Final = 16 + zlib.MAX_WBITS
_Item = TypeVar("_Item")


def unpacked(body: bytes, encoding: str) -> bytes:
    """Return a body as it was before it was packed by `encoding`, "gzip" or nothing.

    Raises:
        BodyRefused: 415, it is another encoding; 400, it is broken; 413, it is too long.
    """
    if encoding in ("", "identity"):
        return body
    if encoding != "gzip":
        raise BodyRefused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"expected gzip or nothing, found {encoding!r:.40}")
    stream = zlib.decompressobj(_GZIP)
    try:
        plain = stream.decompress(body, MAX_BODY)
    except zlib.error as error:
        raise BodyRefused(HTTPStatus.BAD_REQUEST, f"expected gzip, found {error}") from error
    if stream.unconsumed_tail:
        reason = (
            f"expected at most {MAX_BODY:,} bytes, found more: make batches smaller (OTEL_BSP_MAX_EXPORT_BATCH_SIZE)"
        )
        raise BodyRefused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, reason)
    if not stream.eof:
        raise BodyRefused(HTTPStatus.BAD_REQUEST, "expected the end of the gzip stream, found none")
    return plain


def read_spans(body: bytes, media_type: str) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the service and the span, as OTLP writes it in JSON, of each span in an export.

    Raises:
        BodyRefused: 415, it is neither protobuf nor JSON; 400, it is no export of spans; 413, it has too many.
    """
    return _read({PROTOBUF: _spans_of_protobuf, JSON: _spans_of_json}, body, media_type, "spans")


def read_counters(body: bytes, media_type: str) -> list[tuple[Program, Mapping[str, Any]]]:
    """Return the program and the metric, as OTLP writes it in JSON, of each of our counters in an export of metrics.

    Raises:
        BodyRefused: as `read_spans`.
    """
    return _read({PROTOBUF: _counters_of_protobuf, JSON: _counters_of_json}, body, media_type, "metrics")


def _read(
    readers: Mapping[str, Callable[[bytes], Iterator[_Item]]], body: bytes, media_type: str, what: str
) -> list[_Item]:
    if media_type not in readers:
        reason = f"expected {PROTOBUF} or {JSON}, found {media_type!r:.80}"
        raise BodyRefused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, reason)
    found = []
    try:
        for each in readers[media_type](body):
            found.append(each)
            if len(found) > _MAX_SPANS:
                reason = f"expected at most {_MAX_SPANS:,} {what}, found more"
                raise BodyRefused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, reason)
    except (DecodeError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BodyRefused(HTTPStatus.BAD_REQUEST, f"expected an export of {what}, found {error!r:.200}") from error
    return found


def _spans_of_protobuf(body: bytes) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
        service = _service(MessageToDict(resource.resource))
        for scope in resource.scope_spans:
            for span in scope.spans:
                ids = {"traceId": span.trace_id.hex(), "spanId": span.span_id.hex()}
                yield service, {**MessageToDict(span), **ids, "parentSpanId": span.parent_span_id.hex()}


def _spans_of_json(body: bytes) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for resource in read_json(body.decode()).get("resourceSpans") or ():
        service = _service(resource.get("resource") or {})
        for scope in resource.get("scopeSpans") or ():
            for span in scope.get("spans") or ():
                yield service, span


def _counters_of_protobuf(body: bytes) -> Iterator[tuple[Program, Mapping[str, Any]]]:
    for resource in ExportMetricsServiceRequest.FromString(body).resource_metrics:
        program = _program(MessageToDict(resource.resource))
        for scope in resource.scope_metrics:
            for metric in scope.metrics:
                if metric.name in COUNTERS:
                    yield program, MessageToDict(metric)


def _counters_of_json(body: bytes) -> Iterator[tuple[Program, Mapping[str, Any]]]:
    for resource in read_json(body.decode()).get("resourceMetrics") or ():
        program = _program(resource.get("resource") or {})
        for scope in resource.get("scopeMetrics") or ():
            for metric in scope.get("metrics") or ():
                if metric.get("name") in COUNTERS:
                    yield program, metric


def _program(resource: Mapping[str, Any]) -> Program:
    text = compact_json(resource).encode("utf-8", "surrogatepass")
    return Program(service=_service(resource), id=sha256(text).hexdigest())


def _service(resource: Mapping[str, Any]) -> str:
    return str(attributes_of(resource.get("attributes")).get("service.name") or "")
