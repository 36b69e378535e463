"""Our own form of a run: one JSON object a line; a value is kept with the layout that rebuilds its text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from accp_adapters.replay.formats.conversation import require_mapping
from accp_adapters.replay.recorded_run import Findings, RecordedCall, RecordedMessage, Role, Run, calls_in_order
from accp_core.strict_json import compact_json

__all__ = ["is_trajectory", "read_trajectory", "write_value"]

_INDENTS: Final[dict[str, dict[str, Any]]] = {f"indent{depth}": {"indent": depth} for depth in (1, 2, 4)}
_LAYOUTS: Final = {"py": {}, "native": {}, "compact": {"separators": (",", ":")}, **_INDENTS}
"""The arguments of json.dumps for each layout."""


def write_value(value: object, layout: str) -> str:
    """Return `value` in `layout`, byte for byte as it was recorded.

    Args:
        value: A JSON value.
        layout: `py` (the defaults of json.dumps, also called `native`), `compact`, `indent1`, `indent2` or `indent4`,
            each also with `-u` (no escapes for letters outside ASCII); or `mcp-repr` (see `_call_tool_result`).

    Raises:
        ValueError: there is no such layout.
    """
    if layout == "mcp-repr":
        return _call_tool_result(value)
    name, ascii_only = layout.removesuffix("-u"), not layout.endswith("-u")
    if name not in _LAYOUTS:
        raise ValueError(f"expected a layout such as 'py', 'compact' or 'indent2-u', found {layout!r}")
    return json.dumps(value, ensure_ascii=ascii_only, **_LAYOUTS[name])


def _call_tool_result(value: object) -> str:
    """Return the Python repr of an MCP CallToolResult, which LiveMCPBench put into its tool messages.

    The recorded value holds the fields `content` (text blocks) and `isError` only. We take it for the repr of the SDK
    of that time: `meta=None content=[TextContent(type='text', text='…', annotations=None)] isError=False`. Results
    that the recording cut off, and so kept as text, begin like this, and with it the file has exactly the number of
    tokens that its publisher counted (246,901). Every strategy is given this text, escapes included, so that none
    gains by the text block that another client would have sent.

    Raises:
        ValueError: `value` is not such a result.
    """
    match value:
        case {"content": [*blocks], "isError": bool(is_error)}:
            return f"meta=None content=[{', '.join(map(_text_content, blocks))}] isError={is_error}"
    raise ValueError("expected a CallToolResult with 'content' and 'isError'")


def _text_content(block: object) -> str:
    if not (isinstance(block, Mapping) and block.get("type") == "text"):
        raise ValueError(f"expected a text block, found {block!r}")
    return f"TextContent(type='text', text={block['text']!r}, annotations=None)"


def is_trajectory(document: Any) -> bool:
    """Return whether `document` is one line of a trajectory file."""
    match document:
        case {"trajectory_id": str(), "messages": [*_]}:
            return True
    return False


def read_trajectory(document: Any, findings: Findings) -> Iterator[Run]:
    """Yield the run of one line.

    Raises:
        KeyError, TypeError, ValueError: a field is missing or has another type; the text names it.
    """
    line = require_mapping(document, "a trajectory")
    findings.fields(line, ("source", "framework", "messages", "llm_calls", "tools", "meta"), "a trajectory")
    messages = tuple(_message(message, findings) for message in line["messages"])
    positions = {message["seq"]: position for position, message in enumerate(line["messages"])}
    calls = _recorded_calls(line, positions)
    yield Run(
        name=line["trajectory_id"], source=findings.path, messages=messages, calls=calls or calls_in_order(messages, "")
    )


def _message(recorded: Mapping[str, Any], findings: Findings) -> RecordedMessage:
    findings.fields(recorded, ("from", "to", "content", "raw", "ledger", "first_speaker"), "a message of a trajectory")
    content = recorded["content"]
    return RecordedMessage(
        sender=recorded["from"],
        recipient=recorded["to"],
        role=Role(recorded["role"]),
        text=_text(recorded),
        value=None if isinstance(content, str) else content,
        tool=recorded.get("tool_name", ""),
        call_id=recorded.get("tool_call_id") or "",
        turn=recorded["turn"],
        by_model=bool(recorded.get("llm")),
    )


def _text(recorded: Mapping[str, Any]) -> str:
    content = recorded["content"]
    if "raw" in recorded:
        return str(recorded["raw"])
    return content if isinstance(content, str) else write_value(content, recorded["fmt"])


def _recorded_calls(document: Mapping[str, Any], position: Mapping[int, int]) -> tuple[RecordedCall, ...]:
    definitions = document.get("tools", {})
    return tuple(
        RecordedCall(
            agent=call["agent"],
            prompt=tuple(position[seq] for seq in call["prompt"]),
            output=tuple(position[seq] for seq in call["completion"]),
            tools=compact_json(definitions[call["tools"]]) if call.get("tools") else "",
        )
        for call in document.get("llm_calls", ())
    )
