"""Exports of OTLP in JSON, as programs send them."""

from __future__ import annotations

from typing import Any

__all__ = ["export", "metric", "metrics_export", "point", "span"]


def span(name: str, attributes: dict[str, Any], **more: Any) -> dict[str, Any]:
    listed = [{"key": key, "value": value} for key, value in attributes.items()]
    return {"traceId": "5b8efff798038103d269b633813fc60c", "spanId": "b7", "name": name, "attributes": listed, **more}


def export(*spans: dict[str, Any], service: str = "clerks") -> dict[str, Any]:
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": service}}]}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": list(spans)}]}]}


def point(value: object, *, began: int = 1, at: int = 2, adapter: str = "langgraph") -> dict[str, Any]:
    attributes = [{"key": "accp.adapter", "value": {"stringValue": adapter}}]
    times = {"startTimeUnixNano": str(began), "timeUnixNano": str(at)}
    return {"asInt": value, "attributes": attributes, **times}


def metric(*points: dict[str, Any], name: str = "accp.tokens.before", temporality: object = 2) -> dict[str, Any]:
    return {"name": name, "sum": {"dataPoints": [*points], "aggregationTemporality": temporality}}


def metrics_export(*metrics: dict[str, Any], service: str = "clerks") -> dict[str, Any]:
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": service}}]}
    return {"resourceMetrics": [{"resource": resource, "scopeMetrics": [{"metrics": [*metrics]}]}]}
