"""Messages of Anthropic's Messages (https://docs.anthropic.com/en/api/messages)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from accp_adapters.fetching import FETCH_DESCRIPTION, FETCH_NAME, FETCH_PARAMETERS
from accp_adapters.messages.placed import MessageItem, Placed, json_call, text_parts, with_cited, with_projected
from accp_core.projection import CallRecord, MessageRecord, Role

__all__ = ["answer_message", "fetch_tool", "read_call", "read_messages", "with_projected"]


def read_messages(messages: Sequence[MessageItem]) -> Iterator[Placed]:
    """Yield a record for the words of each message, and one for each result in it, which come first."""
    for index, message in enumerate(messages):
        content = message.get("content")
        blocks = content if isinstance(content, list) else []
        results = [number for number, block in enumerate(blocks) if _is(block, "tool_result")]
        for number in results:
            yield _result(blocks[number], index, number)
        if len(results) < len(blocks) or isinstance(content, str):
            words = _words(message, index)
            yield from with_cited(words) if words.record.role is Role.USER else (words,)


def _is(block: Any, kind: str) -> bool:
    return isinstance(block, Mapping) and block.get("type") == kind


def _result(block: MessageItem, index: int, number: int) -> Placed:
    texts, places = text_parts(block.get("content"), (index, "content", number, "content"))
    failed, call_id = block.get("is_error") is True, block.get("tool_use_id")
    record = MessageRecord(role=Role.TOOL, blocks=texts, call_id=call_id, failed=failed)
    return Placed(record=record, places=places)


def _words(message: MessageItem, index: int) -> Placed:
    content = message["content"]
    texts, places = text_parts(content, (index, "content"))
    blocks = content if isinstance(content, list) else []
    calls = tuple(read_call(block) for block in blocks if _is(block, "tool_use"))
    role = Role.MODEL if message.get("role") == "assistant" else Role.USER
    return Placed(record=MessageRecord(role=role, blocks=texts, calls=calls), places=places)


def fetch_tool() -> dict[str, Any]:
    """Return the definition of the tool that opens references."""
    return {"name": FETCH_NAME, "description": FETCH_DESCRIPTION, "input_schema": FETCH_PARAMETERS}


def read_call(call: MessageItem) -> CallRecord:
    """Return the record of a block `tool_use`."""
    return json_call(call.get("id"), call.get("name"), call.get("input"), call.get("caller"))


def answer_message(call_id: str | None, text: str, *, failed: bool) -> dict[str, Any]:
    """Return the message that answers a call; the results of one turn belong into one message."""
    block = {"type": "tool_result", "tool_use_id": call_id, "content": text}
    return {"role": "user", "content": [{**block, "is_error": True} if failed else block]}
