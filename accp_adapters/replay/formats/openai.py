"""Runs in the OpenAI chat format: a list of messages with roles, alone or with its tool definitions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from accp_adapters.replay.recorded_run import RecordedMessage, Role, Run, calls_in_order
from accp_core.strict_json import compact_json

__all__ = ["blocks_to_text", "chat_to_run", "is_chat", "json_value"]

_ROLES = {
    "system": Role.INSTRUCTIONS,
    "developer": Role.INSTRUCTIONS,
    "user": Role.USER,
    "assistant": Role.AGENT,
    "tool": Role.TOOL,
    "function": Role.TOOL,
}
_AGENT = "assistant"


def is_chat(messages: object) -> bool:
    """Return whether `messages` is a list of chat messages."""
    match messages:
        case [{"role": str(role)}, *_]:
            return role in _ROLES
    return False


def chat_to_run(messages: list[Mapping[str, Any]], tools: object, *, name: str, source: str) -> Run:
    """Return the run of one conversation.

    Each assistant message is one model call, which was sent all earlier messages; agents differ by their `name`.

    Args:
        messages: The messages of the conversation.
        tools: The definitions of the request, or None.
        name: The name of the run.
        source: The file.

    Raises:
        KeyError, TypeError, ValueError: a field is missing or has another type; the text names it.
    """
    tool_names: dict[str, str] = {}
    recorded = tuple(part for turn, message in enumerate(messages) for part in _parts(message, turn, tool_names))
    definitions = compact_json(tools) if tools else ""
    calls = calls_in_order(recorded, definitions, shared=True)
    return Run(name=name, source=source, messages=recorded, calls=calls)


def _parts(message: Mapping[str, Any], turn: int, tool_names: dict[str, str]) -> Iterator[RecordedMessage]:
    """Yield the text of one message, then each of its tool calls; `tool_names` keeps the tool of each call id."""
    role = _ROLES[message["role"]]
    text = blocks_to_text(message.get("content"))
    if role is Role.TOOL:
        yield _tool_result(message, text, turn, tool_names)
    elif role is Role.AGENT:
        yield from _agent_message(message, text, turn, tool_names)
    else:
        yield RecordedMessage(sender=role.value, recipient=_AGENT, role=role, text=text, turn=turn)


def _tool_result(message: Mapping[str, Any], text: str, turn: int, tool_names: Mapping[str, str]) -> RecordedMessage:
    call_id = message.get("tool_call_id") or ""
    tool = message.get("name") or tool_names.get(call_id, "tool")
    return RecordedMessage(
        sender=tool,
        recipient=_AGENT,
        role=Role.TOOL,
        text=text,
        value=json_value(text),
        tool=tool,
        call_id=call_id,
        turn=turn,
    )


def _agent_message(
    message: Mapping[str, Any], text: str, turn: int, tool_names: dict[str, str]
) -> Iterator[RecordedMessage]:
    sender = message.get("name") or _AGENT
    tool_calls = message.get("tool_calls") or ()
    if text or not tool_calls:
        yield _model_output(sender, "user", text, turn)
    for call in tool_calls:
        tool = tool_names[call["id"]] = call["function"]["name"]
        yield _model_output(sender, tool, call["function"]["arguments"], turn, tool=tool, call_id=call["id"])


def _model_output(
    sender: str, recipient: str, text: str, turn: int, *, tool: str = "", call_id: str = ""
) -> RecordedMessage:
    return RecordedMessage(
        sender=sender,
        recipient=recipient,
        role=Role.AGENT,
        text=text,
        value=json_value(text),
        tool=tool,
        call_id=call_id,
        turn=turn,
        by_model=True,
    )


def blocks_to_text(content: object) -> str:
    """Return the text of a message's content: a string, null, or a list of blocks, of which only text counts.

    Raises:
        TypeError: the content is something else.
    """
    match content:
        case None:
            return ""
        case str(text):
            return text
        case [*blocks]:
            return "\n".join(filter(None, map(_block_to_text, blocks)))
    raise TypeError(f"expected content as text or as a list of blocks, found {content!r:.60}")


def _block_to_text(block: object) -> str:
    match block:
        case str(text) | {"text": str(text)}:
            return text
    return ""


def json_value(text: str) -> object:
    """Return the JSON object or array that `text` is; None for any other text."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value
