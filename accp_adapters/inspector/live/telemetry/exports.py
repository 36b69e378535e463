"""The body of an OTLP export as its spans: protobuf or JSON, perhaps gzip.

Source: https://opentelemetry.io/docs/specs/otlp/#otlphttp.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any, Final

from google.protobuf.json_format import MessageToDict
from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from accp_adapters.replay.formats.traces.otlp import attributes_of
from accp_adapters.serving.bodies import BodyRefused
from accp_core.strict_json import read_json

__all__ = ["JSON", "MAX_BODY", "PROTOBUF", "read_spans", "unpacked"]

PROTOBUF: Final = "application/x-protobuf"
JSON: Final = "application/json"
MAX_BODY: Final = 8 << 20
"""Bytes of an export, packed and unpacked."""
_MAX_SPANS: Final = 10_000
_GZIP: Final = 16 + zlib.MAX_WBITS


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
    readers = {PROTOBUF: _of_protobuf, JSON: _of_json}
    if media_type not in readers:
        reason = f"expected {PROTOBUF} or {JSON}, found {media_type!r:.80}"
        raise BodyRefused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, reason)
    found = []
    try:
        for each in readers[media_type](body):
            found.append(each)
            if len(found) > _MAX_SPANS:
                reason = f"expected at most {_MAX_SPANS:,} spans, found more"
                raise BodyRefused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, reason)
    except (DecodeError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BodyRefused(HTTPStatus.BAD_REQUEST, f"expected an export of spans, found {error!r:.200}") from error
    return found


def _of_protobuf(body: bytes) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
        service = _service(MessageToDict(resource.resource))
        for scope in resource.scope_spans:
            for span in scope.spans:
                ids = {"traceId": span.trace_id.hex(), "spanId": span.span_id.hex()}
                yield service, {**MessageToDict(span), **ids, "parentSpanId": span.parent_span_id.hex()}


def _of_json(body: bytes) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for resource in read_json(body.decode()).get("resourceSpans") or ():
        service = _service(resource.get("resource") or {})
        for scope in resource.get("scopeSpans") or ():
            for span in scope.get("spans") or ():
                yield service, span


def _service(resource: Mapping[str, Any]) -> str:
    return str(attributes_of(resource.get("attributes")).get("service.name") or "")
