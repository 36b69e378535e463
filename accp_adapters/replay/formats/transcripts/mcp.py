"""MCP: a log of JSON-RPC messages; each call of a tool is a model call, and its result is sent to the next one.

The log shows neither the user nor the instructions: the figures are of tools, their definitions and results only.
Source: https://modelcontextprotocol.io/specification/2025-06-18/server/tools
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from accp_adapters.replay.formats.conversation import Part, Step, Turn, call, definitions, result, text, written
from accp_adapters.replay.formats.findings import Findings
from accp_adapters.replay.formats.parts import content_parts
from accp_adapters.replay.recorded_run import Role

__all__ = ["is_message", "read_message"]

_WRAPPERS: Final = ("message", "payload", "data", "msg")


def is_message(document: Any) -> bool:
    """Return whether a document is a message, perhaps within a log record."""
    match _message(document):
        case {"jsonrpc": "2.0"}:
            return True
    return False


def read_message(document: Mapping[str, Any], findings: Findings) -> Iterator[Step]:
    """Yield what a message adds to the conversation."""
    message = _message(document)
    group = str(document.get("session_id") or document.get("sessionId") or "")
    match message:
        case {"method": "tools/call", "params": {"name": str(tool)} as asked}:
            part = call(tool, asked.get("arguments") or {}, message.get("id"))
            yield Step(turn=Turn(role=Role.AGENT, parts=(part,)), group=group, joined=True, awaits_answer=True)
        case {"result": {"content": [*blocks]} as answer}:
            words = [part.text for part in content_parts(blocks, _read_block, findings)]
            # Hosts send the content; the same value as structured content is for programs.
            joined = "\n".join(words) or written(answer.get("structuredContent"))
            yield _result(joined, message, group)
        case {"error": {**error}}:
            yield _result(str(error.get("message")), message, group)
        case {"result": {"tools": [*tools]}}:
            yield Step(tools=definitions(tools), group=group)
        case {"result": {"contents": _} | {"messages": _}}:
            findings.add("MCP result", "of resources or prompts, which a host may send")
        case {"method": str(method)}:
            findings.add("MCP message", f"{method!r}", left_out=True)
        case _:
            findings.add("MCP result", "without content", left_out=True)


def _result(words: str, message: Mapping[str, Any], group: str) -> Step:
    turn = Turn(role=Role.TOOL, parts=(result(words, message.get("id")),))
    return Step(turn=turn, group=group, awaits_answer=True)


def _message(document: object) -> Mapping[str, Any]:
    if not isinstance(document, Mapping) or "jsonrpc" in document:
        return document if isinstance(document, Mapping) else {}
    inner = (document.get(name) for name in _WRAPPERS)
    return next((each for each in inner if isinstance(each, Mapping) and "jsonrpc" in each), {})


def _read_block(block: Mapping[str, Any], findings: Findings) -> Iterator[Part]:
    match block:
        case {"type": "text", "text": str(words)} | {"type": "resource", "resource": {"text": str(words)}}:
            yield text(words)
        case {"type": "resource_link", "uri": str(address)}:
            yield text(address)
        case _:
            findings.block(block.get("type"), "an MCP result")
