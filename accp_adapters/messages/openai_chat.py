"""Messages of OpenAI's Chat Completions (https://platform.openai.com/docs/api-reference/chat/create)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from accp_adapters.fetching import FETCH_DESCRIPTION, FETCH_NAME, FETCH_PARAMETERS
from accp_adapters.messages.placed import MessageItem, Placed, json_call, text_parts, with_cited, with_projected
from accp_core.projection import CallRecord, MessageRecord, Role

__all__ = ["answer_message", "fetch_tool", "read_call", "read_messages", "with_projected"]

_ANSWERS = ("tool", "function")
_INSTRUCTIONS = ("system", "developer")


def read_messages(messages: Sequence[MessageItem]) -> Iterator[Placed]:
    """Yield the record of each message."""
    for index, message in enumerate(messages):
        texts, places = text_parts(message.get("content"), (index, "content"))
        record = MessageRecord(
            role=_role_of(message),
            blocks=texts,
            name=message.get("name"),
            calls=tuple(_calls_of(message)),
            call_id=message.get("tool_call_id"),
            is_plain=isinstance(message.get("content"), str),
        )
        placed = Placed(record=record, places=places)
        yield from with_cited(placed) if record.role is Role.USER else (placed,)


def _role_of(message: MessageItem) -> Role:
    if message.get("role") in _ANSWERS:
        return Role.TOOL
    if message.get("role") in _INSTRUCTIONS:
        return Role.INSTRUCTIONS
    return Role.MODEL if message.get("role") == "assistant" else Role.USER


def _calls_of(message: MessageItem) -> Iterator[CallRecord]:
    for call in message.get("tool_calls") or ():
        match call:
            case {"function": Mapping() as function}:
                yield json_call(call.get("id"), function.get("name"), function.get("arguments"), call.get("caller"))
            case {"custom": Mapping() as custom}:
                yield json_call(call.get("id"), custom.get("name"), {"input": custom.get("input")}, call.get("caller"))


def fetch_tool() -> dict[str, Any]:
    """Return the definition of the tool that opens references."""
    function = {"name": FETCH_NAME, "description": FETCH_DESCRIPTION, "parameters": FETCH_PARAMETERS}
    return {"type": "function", "function": function}


def read_call(call: MessageItem) -> CallRecord:
    """Return the record of an entry of `tool_calls`."""
    function = call.get("function")
    named = function if isinstance(function, Mapping) else {}
    return json_call(call.get("id"), named.get("name"), named.get("arguments"), call.get("caller"))


def answer_message(call_id: str | None, text: str, *, failed: bool) -> dict[str, Any]:
    """Return the message that answers a call."""
    return {"role": "tool", "tool_call_id": call_id, "content": text}
