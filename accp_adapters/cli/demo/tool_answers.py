"""How the scripted model reads a tool's answer: as JSON, as a view, or through the reference of a preview.

It sees what any model sees, the text of the messages, and nothing of the state behind them.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from accp_core.view import read

__all__ = ["FETCH", "MustCall", "Transcript", "tool_call"]

FETCH: Final = "accp_fetch"
_REFERENCE: Final = re.compile(r"\$cold\.[0-9a-f]{12}")
_NOTE: Final = re.compile(r"\n?… (?:rows|lines) \d+-\d+ of \d+(?:; next: offset=(?P<next>\d+))?\s*\Z")
_NUMBERED: Final = re.compile(r"^\d+: ")


class MustCall(Exception):
    """The model cannot go on before a tool has answered; `message` is the turn that calls it."""

    def __init__(self, message: AIMessage) -> None:
        super().__init__(str(message.tool_calls))
        self.message = message


@dataclass(frozen=True, slots=True)
class Transcript:
    """The messages of a conversation so far, as a model is given them."""

    messages: Sequence[BaseMessage]
    can_fetch: bool
    """Whether the tool that opens references is among the model's tools."""

    def rows(self, call_id: str, tool: str, arguments: Mapping[str, Any], columns: str) -> list[dict[str, Any]]:
        """Return the rows that `tool` answers; of an answer that is only a preview, their `columns`.

        Raises:
            MustCall: the tool, or the reference that stands for its answer, has yet to be called.
        """
        parts, _ = self._parts(self._answer(call_id, tool, arguments), columns)
        return [row for part in parts for row in _rows(_value(part))]

    def line_with(self, call_id: str, tool: str, arguments: Mapping[str, Any], words: str) -> str:
        """Return the first line with `words` of the text that `tool` answers, empty when it has none.

        Raises:
            MustCall: as for `rows`.
        """
        parts, fetched = self._parts(self._answer(call_id, tool, arguments), words)
        lines = (line for part in parts for line in part.splitlines() if words.casefold() in line.casefold())
        found = next(lines, "")
        return (_NUMBERED.sub("", found) if fetched else found).strip()

    def _answer(self, call_id: str, tool: str, arguments: Mapping[str, Any]) -> ToolMessage:
        for message in self.messages:
            if isinstance(message, ToolMessage) and message.tool_call_id == call_id:
                return message
        raise MustCall(tool_call(tool, call_id, arguments))

    def _parts(self, answer: ToolMessage, query: str) -> tuple[list[str], bool]:
        """Return the texts to read and whether they were fetched: the answer, or what its reference leads to.

        A reference that the fetch tool refuses was only text that looks like one.
        """
        cited = _REFERENCE.findall(answer.text) if self.can_fetch else []
        parts: list[str] = []
        offset = 0 if cited else None
        while offset is not None:
            arguments = {"ref": cited[-1], "query": query, "offset": offset}
            page = self._answer(f"{answer.tool_call_id}-part-{len(parts) + 1}", FETCH, arguments)
            if page.status == "error":
                return [answer.text], False
            text, offset = _page(page.text)
            parts.append(text)
        return (parts, True) if parts else ([answer.text], False)


def tool_call(tool: str, call_id: str, arguments: Mapping[str, Any]) -> AIMessage:
    """Return the turn of a model that calls one tool."""
    call = {"name": tool, "args": dict(arguments), "id": call_id, "type": "tool_call"}
    return AIMessage(content="", tool_calls=[call])


def _page(text: str) -> tuple[str, int | None]:
    """Return what one answer of the fetch tool shows, and the offset at which to go on."""
    note = _NOTE.search(text)
    if note is None:
        return text, None
    return text[: note.start()], int(note["next"]) if note["next"] else None


def _value(text: str) -> object:
    """Return the value that `text` writes as JSON or as a view, None where it says nothing of the kind."""
    for reader in (json.loads, read):
        with contextlib.suppress(ValueError):
            value: object = reader(text)
            return value
    return None


def _rows(value: object) -> list[dict[str, Any]]:
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []
