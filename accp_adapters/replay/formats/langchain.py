"""Runs in the formats of LangChain: `messages_to_dict` and `dumps` of a list of messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from accp_adapters.replay.formats.openai import chat_to_run
from accp_adapters.replay.recorded_run import Run
from accp_core.strict_json import compact_json

__all__ = ["is_message_dump", "message_dump_to_run"]

_ROLES = {
    "human": "user",
    "ai": "assistant",
    "AIMessageChunk": "assistant",
    "system": "system",
    "tool": "tool",
    "function": "function",
}


def is_message_dump(messages: object) -> bool:
    """Return whether `messages` is a list in one of the two formats."""
    match messages:
        case [{"type": str(), "data": {"content": _}}, *_]:
            return True
        case [{"lc": int(), "type": "constructor", "kwargs": {"content": _}}, *_]:
            return True
    return False


def message_dump_to_run(messages: list[Mapping[str, Any]], tools: object, *, name: str, source: str) -> Run:
    """Return the run of one list of messages, which are converted to the OpenAI chat format first.

    Args:
        messages: The messages.
        tools: The definitions of the request, or None.
        name: The name of the run.
        source: The file.

    Raises:
        KeyError, TypeError, ValueError: a field is missing or has another type; the text names it.
    """
    return chat_to_run([_chat_message(m) for m in messages], tools, name=name, source=source)


def _chat_message(message: Mapping[str, Any]) -> dict[str, Any]:
    fields = message["data"] if "data" in message else message["kwargs"]
    kind = message["type"] if "data" in message else fields["type"]
    chat = {
        "role": fields["role"] if kind == "chat" else _ROLES[kind],
        "content": fields["content"],
        "name": fields.get("name"),
        "tool_call_id": fields.get("tool_call_id"),
    }
    return chat | {"tool_calls": [_chat_tool_call(call) for call in fields.get("tool_calls") or ()]}


def _chat_tool_call(call: Mapping[str, Any]) -> dict[str, Any]:
    # LangChain holds arguments as a value; models write them as compact JSON.
    return {
        "id": call["id"] or "",
        "function": {"name": call["name"], "arguments": compact_json(call["args"])},
    }
