"""Gemini `generateContent`: contents, requests, and requests with responses, in camel case or snake case.

Sources: https://ai.google.dev/api/generate-content, https://ai.google.dev/api/caching#Content and `google.genai.types`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from accp_adapters.replay.formats import conversation
from accp_adapters.replay.recorded_run import Findings, Role

__all__ = ["LAYOUT", "bare_result", "is_contents"]

_OWNER: Final = "a Gemini content"
_ROLES: Final = {"user": Role.USER, "model": Role.AGENT, "function": Role.TOOL, "tool": Role.TOOL, "": Role.USER}
_DATA: Final = frozenset(["text", "functionCall", "functionResponse", "executableCode"])
_CONFIG: Final = ("systemInstruction", "system_instruction", "generationConfig", "generation_config")
_KNOWN: Final = _DATA | {"thought", "thoughtSignature", "partMetadata"}


def is_contents(document: Any) -> bool:
    """Return whether a document is in this format."""
    match document:
        case {"request": _, "response": _}:
            exchange = conversation.exchange_of(document)
            return exchange is not None and is_contents(exchange[0])
        case {"role": "user" | "model" | "function", "parts": [{**part}, *_]}:
            return "type" not in part and "kind" not in part
        case [first, *_]:
            return is_contents(first)
    return "contents" in conversation.request_of(document)


def _read_content(content: Mapping[str, Any], findings: Findings) -> Iterator[conversation.Turn]:
    findings.fields(content, ("parts",), _OWNER)
    parts = conversation.content_parts(content.get("parts"), _read_part, findings)
    yield from conversation.turn_of(content.get("role") or "", parts, findings, "a Gemini conversation", _ROLES)


def _read_part(written_part: Mapping[str, Any], findings: Findings) -> Iterator[conversation.Part]:
    part = {_camel(name): value for name, value in written_part.items() if value is not None}
    findings.fields(part, _KNOWN, "a Gemini part")
    if part.get("thought") is True:
        findings.thoughts("thought", _OWNER)
        return
    for kind in (name for name in part if name in _DATA):
        yield from _read_data(kind, part[kind], findings)


def _read_data(kind: str, data: object, findings: Findings) -> Iterator[conversation.Part]:
    match kind, data:
        case "text", str(words):
            yield conversation.text(words)
        case "functionCall", {"name": str(tool), **asked}:
            yield conversation.call(tool, asked.get("args") or {}, asked.get("id") or tool)
        case "functionResponse", {"name": str(tool), "response": answer, **answered}:
            yield conversation.result(bare_result(answer), answered.get("id") or tool, tool)
        case _:
            findings.block(kind, _OWNER)


def bare_result(answer: object) -> object:
    """Return what a function returned; the SDK wraps a value that is no object into an object of one field."""
    match answer:
        case {"result": value} | {"output": value} if isinstance(answer, Mapping) and len(answer) == 1:
            return value
    return answer


def _read_response(body: Mapping[str, Any], findings: Findings) -> tuple[conversation.Turn, ...]:
    contents = (candidate.get("content") for candidate in body.get("candidates") or ())
    return tuple(turn for content in contents if content for turn in _read_content(content, findings))


def _system(body: Mapping[str, Any], findings: Findings) -> tuple[conversation.Turn, ...]:
    given = _field(body, "systemInstruction")
    content = given.get("parts") if isinstance(given, Mapping) and "parts" in given else given
    return conversation.instructions(
        "\n".join(part.text for part in conversation.content_parts(content, _read_part, findings))
    )


def _tools(body: Mapping[str, Any]) -> str:
    config = body.get("config") or {}
    settings = _field(body, "generationConfig") or config
    return conversation.definitions(body.get("tools") or config.get("tools"), _field(settings, "responseSchema"))


def _field(body: Mapping[str, Any], name: str) -> Any:
    """Return a field of a request, or of the `config` that the SDK's calls have."""
    for place in (body, body.get("config") or {}):
        found = next((value for key, value in place.items() if _camel(key) == name), None)
        if found is not None:
            return found
    return None


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))


LAYOUT: Final = conversation.ChatLayout(
    owner="Gemini",
    messages="contents",
    fields=frozenset((*_CONFIG, "tools", "config")),
    read_message=_read_content,
    read_response=_read_response,
    read_instructions=_system,
    read_tools=_tools,
    requests_only=True,
)
