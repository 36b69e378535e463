"""Runs in the trajectory format: one JSON object a line; a value is kept with the layout that rebuilds its text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from accp_adapters.replay.formats.json_layouts import write_value
from accp_adapters.replay.recorded_run import RecordedCall, RecordedMessage, Role, Run, calls_in_order
from accp_core.strict_json import compact_json

__all__ = ["is_trajectory", "trajectory_to_run"]


def is_trajectory(document: object) -> bool:
    """Return whether `document` is one line of a trajectory file."""
    match document:
        case {"trajectory_id": str(), "messages": [*_]}:
            return True
    return False


def trajectory_to_run(document: Mapping[str, Any], source: str, definitions: object = None) -> Run:
    """Return the run of one line.

    Args:
        document: The value of the line.
        source: The file.
        definitions: The tool definitions of a run that holds none, or None.

    Raises:
        KeyError, TypeError, ValueError: a field is missing or has another type; the text names it.
    """
    messages = tuple(map(_message, document["messages"]))
    calls = _recorded_calls(document, _positions(document["messages"]))
    tools = "" if definitions is None else compact_json(definitions)
    return Run(
        name=document["trajectory_id"],
        source=source,
        messages=messages,
        calls=calls or calls_in_order(messages, tools),
    )


def _message(recorded: Mapping[str, Any]) -> RecordedMessage:
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


def _positions(messages: Sequence[Mapping[str, Any]]) -> dict[int, int]:
    return {message["seq"]: position for position, message in enumerate(messages)}


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
