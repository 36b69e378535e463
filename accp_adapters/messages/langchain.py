"""LangChain messages, for loops of one's own; their records are those of LangGraph's middleware."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from langchain_core.messages import BaseMessage, ToolMessage

from accp_adapters.fetching import FETCH_NAME
from accp_adapters.langchain import to_records, with_projection
from accp_adapters.messages import openai_chat
from accp_adapters.messages.placed import Placed, json_call
from accp_core.projection import CallRecord, Projected

__all__ = ["answer_message", "fetch_tool", "read_call", "read_messages", "with_projected"]


def read_messages(messages: Sequence[BaseMessage]) -> Iterator[Placed]:
    """Yield the record of each message."""
    for index, record in enumerate(to_records(messages)):
        yield Placed(record=record, places=tuple((index, number) for number in range(len(record.blocks))))


def with_projected(
    messages: Sequence[BaseMessage], placed: Sequence[Placed], projected: Sequence[Projected]
) -> list[BaseMessage]:
    """Return the messages as the model is sent them."""
    return [with_projection(message, shown) for message, shown in zip(messages, projected, strict=True)]


def fetch_tool() -> dict[str, Any]:
    """Return the definition of the tool that opens references, as `bind_tools` takes it."""
    return openai_chat.fetch_tool()


def read_call(call: Mapping[str, Any]) -> CallRecord:
    """Return the record of an entry of `AIMessage.tool_calls`."""
    return json_call(call.get("id"), call.get("name"), call.get("args"))


def answer_message(call_id: str | None, text: str, *, failed: bool) -> ToolMessage:
    """Return the message that answers a call."""
    status = "error" if failed else "success"
    return ToolMessage(text, tool_call_id=call_id or "", name=FETCH_NAME, status=status)
