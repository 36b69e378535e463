"""Programs that send to the inspector with the real exporter of OpenTelemetry."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

from accp_adapters import telemetry
from accp_adapters.inspector.live import inspector_app
from accp_adapters.inspector.live.telemetry.collected import CollectedSpans
from accp_adapters.inspector.live.telemetry.receiver import Receiver
from accp_adapters.serving.listening import http_server, listen_at
from tests.adapters.inspector.live.clients import TOKEN
from tests.limits import PATIENCE
from tests.served import in_thread

__all__ = ["KEY", "receiving", "sending"]

KEY = "key-of-those-who-send"


@contextmanager
def receiving(spans: CollectedSpans) -> Iterator[str]:
    """Serve an inspector that takes spans, in a thread; yield its origin."""
    app = Receiver(inspector_app(spans, token=TOKEN), spans, key=KEY)
    with (
        listen_at("127.0.0.1", 0) as listening,
        in_thread(http_server(app, header_seconds=PATIENCE), listening) as origin,
    ):
        yield origin


@contextmanager
def sending(origin: str, monkeypatch: pytest.MonkeyPatch, service: str = "clerks") -> Iterator[TracerProvider]:
    """Send each span to the inspector at `origin` when it ends, by the variable that every exporter reads."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"{origin}/otlp/{KEY}")
    tracers = TracerProvider(resource=Resource.create({"service.name": service}))
    tracers.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter()))
    # The API sets a provider once in the life of a process; what it hands out is what tests replace.
    monkeypatch.setattr(telemetry.trace, "get_tracer", tracers.get_tracer)
    try:
        yield tracers
    finally:
        tracers.shutdown()
