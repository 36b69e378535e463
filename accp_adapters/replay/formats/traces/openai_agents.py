"""OpenAI's Agents SDK: the spans that its trace processors export; generations have the messages of a chat model.

Spans of the Responses model hold the id of a response alone.
Sources: https://openai.github.io/openai-agents-python/tracing/ and `agents.tracing.Span.export`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from accp_adapters.replay.formats.conversation import Request
from accp_adapters.replay.formats.findings import Findings
from accp_adapters.replay.formats.traces.logged_messages import read_answer, read_prompt

__all__ = ["is_agents_span", "read_agents_span"]

_OWNER: Final = "a span of OpenAI's Agents SDK"


def is_agents_span(document: Any) -> bool:
    """Return whether a document is in this format."""
    return isinstance(document, Mapping) and document.get("object") in ("trace", "trace.span")


def read_agents_span(document: Mapping[str, Any], findings: Findings) -> Iterator[Request]:
    """Yield the model call of a span."""
    said = document.get("span_data") or {}
    kind = said.get("type")
    if kind == "response":
        findings.add("model call", f"without its messages, in {_OWNER}")
    elif kind != "generation":
        findings.add("record", f"that is no model call, of type {kind!r} in {_OWNER}", left_out=True)
    else:
        yield Request(
            prompt=read_prompt(said.get("input") or [], findings, _OWNER)[0],
            output=read_answer(said.get("output"), findings, _OWNER),
            group=str(document.get("trace_id") or ""),
            started=str(document.get("started_at") or ""),
            identity=str(document.get("id") or ""),
        )
