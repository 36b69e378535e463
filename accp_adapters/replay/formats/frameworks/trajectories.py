"""Runs in the trajectory format: one JSON object a line; a value is kept with the layout that rebuilds its text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from accp_adapters.replay.formats.findings import Findings
from accp_adapters.replay.formats.frameworks.json_layouts import write_value
from accp_adapters.replay.formats.parts import require_mapping
from accp_adapters.replay.recorded_run import RecordedCall, RecordedMessage, Role, Run, calls_in_order
from accp_core.strict_json import compact_json

__all__ = ["is_trajectory", "read_trajectory"]


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
        name=line["trajectory_id"],
        source=findings.path,
        messages=messages,
        calls=calls or calls_in_order(messages, ""),
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
