"""Pydantic AI: message histories as `ModelMessagesTypeAdapter` writes them (`kind`, `parts`, `part_kind`).

Sources: https://ai.pydantic.dev/message-history/ and pydantic/pydantic-ai, `pydantic_ai_slim/pydantic_ai/messages.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from accp_adapters.replay.formats.conversation import Item, Part, Snapshot, Step, Turn, call, result, text, written
from accp_adapters.replay.formats.findings import Findings
from accp_adapters.replay.formats.parts import content_parts, instructions, read_turns
from accp_adapters.replay.recorded_run import Role

__all__ = ["is_history", "read_history"]

_OWNER: Final = "a Pydantic AI message"
_ROLES: Final = {
    "system-prompt": Role.INSTRUCTIONS,
    "user-prompt": Role.USER,
    "retry-prompt": Role.TOOL,
    "tool-return": Role.TOOL,
}


def is_history(document: Any) -> bool:
    """Return whether a document is in this format."""
    match document:
        case {"kind": "request" | "response", "parts": [*_]}:
            return True
        case [{"kind": "request" | "response", "parts": [*_]}, *_]:
            return True
    return False


def read_history(document: Any, findings: Findings) -> Iterator[Item]:
    """Yield what a document says."""
    if isinstance(document, Mapping):
        given = instructions(document.get("instructions") or "")
        yield from (Step(turn=turn, once=True) for turn in given)
        yield from (Step(turn=turn) for turn in _read_message(document, findings))
        return
    # Instructions are sent with each request and kept with it; the last ones count.
    words = [message.get("instructions") for message in document if isinstance(message, Mapping)]
    given = instructions(next((each for each in reversed(words) if each), ""))
    yield Snapshot(turns=(*given, *read_turns(document, _read_message, findings)))


def _read_message(message: Mapping[str, Any], findings: Findings) -> Iterator[Turn]:
    findings.fields(message, ("parts", "instructions"), _OWNER)
    if message.get("kind") == "response":
        yield Turn(role=Role.AGENT, parts=tuple(content_parts(message["parts"], _read_output, findings)))
    elif message.get("kind") == "request":
        for part in message["parts"]:
            yield from _read_input(part, findings)
    else:
        findings.role(message.get("kind"), "a Pydantic AI history")


def _read_input(part: Mapping[str, Any], findings: Findings) -> Iterator[Turn]:
    kind = part.get("part_kind")
    role = _ROLES.get(str(kind))
    content = part.get("content")
    if role is None:
        findings.block(kind, _OWNER)
    elif role is Role.TOOL and part.get("tool_name"):
        yield Turn(role=role, parts=(result(content, part.get("tool_call_id"), part["tool_name"]),))
    elif kind == "retry-prompt":
        yield Turn(role=Role.USER, parts=(text(written(content)),))
    else:
        parts = [each.text for each in content_parts(content, _read_content, findings)]
        yield Turn(role=role, parts=(text("\n".join(parts)),))


def _read_content(block: Mapping[str, Any], findings: Findings) -> Iterator[Part]:
    match block:
        case {"kind": "text", "content": str(words)}:
            yield text(words)
        case {"kind": "cache-point"}:
            return
        case _:
            findings.block(block.get("kind"), _OWNER)


def _read_output(part: Mapping[str, Any], findings: Findings) -> Iterator[Part]:
    match part:
        case {"part_kind": "text", "content": str(words)}:
            yield text(words)
        case {"part_kind": "tool-call" | "builtin-tool-call", "tool_name": str(tool)}:
            yield call(tool, part.get("args"), part.get("tool_call_id"))
        case {"part_kind": "builtin-tool-return", "tool_name": str(tool)}:
            yield result(part.get("content"), part.get("tool_call_id"), tool)
        case {"part_kind": "thinking"}:
            findings.thoughts("thinking", _OWNER)
        case _:
            findings.block(part.get("part_kind"), _OWNER)
