"""LiteLLM: the `StandardLoggingPayload` of a call.

Source: https://docs.litellm.ai/docs/proxy/logging_spec
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from accp_adapters.replay.formats.conversation import Request, definitions
from accp_adapters.replay.formats.findings import Findings
from accp_adapters.replay.formats.parts import instructions
from accp_adapters.replay.formats.traces.logged_messages import read_answer, read_prompt

__all__ = ["is_payload", "read_payload"]

_OWNER: Final = "a LiteLLM payload"


def is_payload(document: Any) -> bool:
    """Return whether a document is in this format."""
    match document:
        case {"standard_logging_object": {**payload}}:
            return is_payload(payload)
        case {"call_type": str(), "messages": _, "response": _}:
            return True
    return False


def read_payload(document: Mapping[str, Any], findings: Findings) -> Iterator[Request]:
    """Yield the call of a payload."""
    payload = document.get("standard_logging_object", document)
    parameters = payload.get("model_parameters") or {}
    messages = payload["messages"]
    prompt, tools = read_prompt({"messages": messages} if isinstance(messages, list) else messages, findings, _OWNER)
    response = payload.get("response")
    # The messages of a call of OpenAI Responses are its input; the instructions are in the response only.
    given = response.get("instructions") if isinstance(response, Mapping) else None
    yield Request(
        prompt=(*instructions(given if isinstance(given, str) else ""), *prompt),
        output=read_answer(response, findings, _OWNER),
        tools=tools or definitions(parameters.get("tools"), parameters.get("functions")),
        group=str(payload.get("trace_id") or ""),
        started=_time(payload.get("startTime")),
    )


def _time(started: object) -> str:
    """Return a time of which the order of the texts is the order in time; seconds have ten digits since 2001."""
    return f"{started:020.6f}" if isinstance(started, int | float) else str(started or "")
