"""Langfuse: exported observations of type GENERATION, alone or within their trace.

Sources: https://api.reference.langfuse.com (`Observation`, `TraceWithFullDetails`) and
https://langfuse.com/docs/observability/features/observation-types
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from accp_adapters.replay.formats.conversation import Request
from accp_adapters.replay.formats.findings import Findings
from accp_adapters.replay.formats.traces.logged_messages import read_answer, read_prompt

__all__ = ["is_observation", "read_observation"]

_OWNER: Final = "a Langfuse generation"


def is_observation(document: Any) -> bool:
    """Return whether a document is in this format."""
    match document:
        case {"observations": [{"type": str()}, *_]} | {"data": [{"type": str(), "traceId": _}, *_]}:
            return True
        case {"type": str(kind), "input": _} if kind.isupper():
            return "traceId" in document or "trace_id" in document
    return False


def read_observation(document: Mapping[str, Any], findings: Findings) -> Iterator[Request]:
    """Yield the model call of an observation, or those of a trace."""
    inner = document.get("observations") or document.get("data")
    if isinstance(inner, list):
        for observation in inner:
            yield from read_observation({"traceId": document.get("id")} | observation, findings)
    elif document.get("type") != "GENERATION":
        findings.add("observation", f"of type {document.get('type')!r} of Langfuse", left_out=True)
    else:
        prompt, tools = read_prompt(document.get("input"), findings, _OWNER)
        yield Request(
            prompt=prompt,
            output=read_answer(document.get("output"), findings, _OWNER),
            tools=tools,
            group=str(document.get("traceId") or document.get("trace_id") or document.get("id")),
            started=str(document.get("startTime") or document.get("start_time") or ""),
        )
