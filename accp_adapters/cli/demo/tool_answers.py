"""The answers of tools in a conversation, read as a model reads them: as JSON, as a view, or through a reference.

The reader has what any model has, the text of the messages, and nothing of the state behind them.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from accp_adapters.fetching import FETCH_NAME
from accp_adapters.fetching.page import split_page
from accp_core.references import find_references, reference_to
from accp_core.view import read

__all__ = ["MustCall", "ToolAnswers", "last_reference", "tool_call"]

_LINE_NUMBER: Final = re.compile(r"^\d+: ")


class MustCall(Exception):
    """The model needs the answer of a tool; `message` is the turn that calls the tool."""

    def __init__(self, message: AIMessage) -> None:
        """Demand the calls of `message`."""
        super().__init__(str(message.tool_calls))
        self.message = message


@dataclass(frozen=True, slots=True)
class ToolAnswers:
    """The answers of tools in the conversation so far."""

    messages: Sequence[BaseMessage]
    """The conversation as the model is sent it."""
    can_fetch: bool
    """Whether the model has the tool that opens references."""

    def rows(self, call_id: str, tool: str, arguments: Mapping[str, Any], columns: str) -> list[dict[str, Any]]:
        """Return the rows of a tool's answer; of an answer that is a preview, only `columns`.

        Args:
            call_id: The id of the call, which names it in every turn.
            tool: The tool.
            arguments: The arguments of the call.
            columns: The query that fetches the rows of a preview.

        Raises:
            MustCall: the tool, or the fetch of its answer, was not called yet.
        """
        parts, _ = self._parts(self._answer(call_id, tool, arguments), columns)
        return [row for part in parts for row in _rows(_value(part))]

    def line_with(self, call_id: str, tool: str, arguments: Mapping[str, Any], words: str) -> str:
        """Return the first line of a tool's answer that contains `words`, an empty text where none does.

        Raises:
            MustCall: as `rows`.
        """
        parts, is_fetched = self._parts(self._answer(call_id, tool, arguments), words)
        lines = (line for part in parts for line in part.splitlines() if words.casefold() in line.casefold())
        line = next(lines, "")
        return (_LINE_NUMBER.sub("", line) if is_fetched else line).strip()

    def _answer(self, call_id: str, tool: str, arguments: Mapping[str, Any]) -> ToolMessage:
        for message in self.messages:
            if isinstance(message, ToolMessage) and message.tool_call_id == call_id:
                return message
        raise MustCall(tool_call(tool, call_id, arguments))

    def _parts(self, answer: ToolMessage, query: str) -> tuple[list[str], bool]:
        """Return the texts to read, and whether they were fetched: the answer, or the pages behind its reference.

        A reference that the fetch tool refuses was only text that looks like one.
        """
        reference = last_reference(answer.text) if self.can_fetch else ""
        parts: list[str] = []
        offset = 0 if reference else None
        while offset is not None:
            arguments = {"ref": reference, "query": query, "offset": offset}
            page = self._answer(f"{answer.tool_call_id}-part-{len(parts) + 1}", FETCH_NAME, arguments)
            if page.status == "error":
                return [answer.text], False
            text, offset = split_page(page.text)
            parts.append(text)
        return (parts, True) if parts else ([answer.text], False)


def last_reference(text: str) -> str:
    """Return the last reference in `text`, an empty text where there is none."""
    keys = find_references(text)
    return reference_to(keys[-1]) if keys else ""


def tool_call(tool: str, call_id: str, arguments: Mapping[str, Any]) -> AIMessage:
    """Return the turn of a model that calls one tool."""
    call = {"name": tool, "args": dict(arguments), "id": call_id, "type": "tool_call"}
    return AIMessage(content="", tool_calls=[call])


def _value(text: str) -> object:
    """Return the value that `text` is as JSON or as a view, None where it is neither."""
    for reader in (json.loads, read):
        with contextlib.suppress(ValueError):
            value: object = reader(text)
            return value
    return None


def _rows(value: object) -> list[dict[str, Any]]:
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []
