"""Input items of OpenAI's Responses (https://platform.openai.com/docs/api-reference/responses/create)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from accp_adapters.fetching import FETCH_DESCRIPTION, FETCH_NAME, FETCH_PARAMETERS
from accp_adapters.messages import placed
from accp_adapters.messages.placed import with_projected
from accp_core.projection import CallRecord, MessageRecord, Role, is_program

__all__ = ["answer_message", "fetch_tool", "read_call", "read_messages", "with_projected"]

_TEXTS: Final = ("input_text", "output_text", "text")
_OUTPUTS: Final = frozenset({"function_call_output", "custom_tool_call_output"})
_CALLS: Final = frozenset({"function_call", "custom_tool_call"})


def read_messages(messages: Sequence[placed.MessageItem]) -> Iterator[placed.Placed]:
    """Yield the record of each message and output, and one for all items that the model wrote in a turn."""
    turn: list[int] = []
    for index, item in enumerate(messages):
        if _is_of_model(item):
            turn.append(index)
            continue
        if turn:
            yield _turn(messages, turn)
            turn = []
        yield from _other_item(item, index)
    if turn:
        yield _turn(messages, turn)


def _is_of_model(item: placed.MessageItem) -> bool:
    """Return whether the model wrote an item: its words, reasoning, a call."""
    if item.get("type", "message") == "message":
        return item.get("role") == "assistant"
    return item.get("type") not in _OUTPUTS


def _turn(messages: Sequence[placed.MessageItem], turn: Sequence[int]) -> placed.Placed:
    texts: list[str | None] = []
    places: list[placed.TextPath | None] = []
    for index in turn:
        found = placed.text_parts(messages[index].get("content"), (index, "content"), _TEXTS)
        texts += found[0]
        places += found[1]
    calls = tuple(read_call(messages[index]) for index in turn if messages[index].get("type") in _CALLS)
    return placed.Placed(record=MessageRecord(role=Role.MODEL, blocks=tuple(texts), calls=calls), places=tuple(places))


def _other_item(item: placed.MessageItem, index: int) -> Iterator[placed.Placed]:
    is_output = item.get("type") in _OUTPUTS
    field = "output" if is_output else "content"
    texts, places = placed.text_parts(item.get(field), (index, field), _TEXTS)
    is_user = not is_output and item.get("role") not in ("system", "developer")
    role = Role.TOOL if is_output else Role.USER if is_user else Role.INSTRUCTIONS
    by_program = is_output and is_program(item.get("caller"))
    record = MessageRecord(role=role, blocks=texts, call_id=item.get("call_id"), read_by_program=by_program)
    message = placed.Placed(record=record, places=places)
    yield from placed.with_cited(message) if is_user else (message,)


def fetch_tool() -> dict[str, Any]:
    """Return the definition of the tool that opens references."""
    definition = {"name": FETCH_NAME, "description": FETCH_DESCRIPTION, "parameters": FETCH_PARAMETERS}
    return {"type": "function", **definition, "strict": False}


def read_call(call: placed.MessageItem) -> CallRecord:
    """Return the record of an item with a call."""
    arguments = call.get("arguments") if "arguments" in call else {"input": call.get("input")}
    return placed.json_call(call.get("call_id"), call.get("name"), arguments, call.get("caller"))


def answer_message(call_id: str | None, text: str, *, failed: bool) -> dict[str, Any]:
    """Return the item that answers a call."""
    return {"type": "function_call_output", "call_id": call_id, "output": text}
