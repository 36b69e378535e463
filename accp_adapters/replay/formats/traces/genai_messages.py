"""Messages of OpenTelemetry's conventions for generative AI, `{role, parts}`, wherever a tracer writes them.

Source: https://opentelemetry.io/docs/specs/semconv/gen-ai/ (gen-ai-input-messages.json, gen-ai-output-messages.json).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from accp_adapters.replay.formats.conversation import Part, Turn, call, result, text, written
from accp_adapters.replay.formats.findings import Findings
from accp_adapters.replay.formats.parts import ROLES, content_parts
from accp_adapters.replay.formats.providers.gemini import bare_result
from accp_adapters.replay.recorded_run import Role

__all__ = ["GENAI_ROLES", "is_genai_messages", "read_genai_message", "read_genai_part"]

_OWNER: Final = "a message of a GenAI span"
GENAI_ROLES: Final = {**ROLES, "model": Role.AGENT}


def is_genai_messages(document: Any) -> bool:
    """Return whether a document is messages of these conventions."""
    match document:
        case [{"role": str(), "parts": [{"type": str(), "content": _}, *_]}, *_]:
            return True
        case [{"role": str(), "parts": [{"type": "tool_call" | "tool_call_response"}, *_]}, *_]:
            return True
    return False


def read_genai_message(message: Mapping[str, Any], findings: Findings) -> Iterator[Turn]:
    """Yield the turn in one message."""
    findings.fields(message, ("parts", "name"), _OWNER)
    role = GENAI_ROLES.get(message["role"])
    if role is None:
        findings.role(message["role"], "a GenAI span")
        return
    agent = message.get("name") or "" if role is Role.AGENT else ""
    yield Turn(role=role, parts=tuple(content_parts(message["parts"], read_genai_part, findings)), agent=agent)


def read_genai_part(part: Mapping[str, Any], findings: Findings) -> Iterator[Part]:
    """Yield the parts in one block of a message."""
    match part:
        case {"type": "text", "content": str(words)}:
            yield text(words)
        case {"type": "tool_call" | "server_tool_call", "name": str(tool)}:
            yield call(tool, part.get("arguments"), part.get("id"))
        case {"type": "tool_call_response" | "server_tool_call_response"}:
            answer = part.get("response", part.get("result"))
            yield result(_answer(answer), part.get("id"), part.get("name"))
        case {"type": "reasoning" | "thinking" as kind}:
            findings.thoughts(kind, _OWNER)
        case _:
            findings.block(part.get("type"), _OWNER)


def _answer(answer: object) -> object:
    """Return a tool's answer without the blocks or the object in which a framework hands on its text."""
    if isinstance(answer, list) and all(isinstance(each, Mapping) and each.keys() == {"text"} for each in answer):
        return "\n".join(written(each["text"]) for each in answer)
    return bare_result(answer)
