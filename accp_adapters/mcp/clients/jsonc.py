"""JSON with comments and trailing commas, as editors write configuration files; every value knows where it stands.

RFC 8259 for the values. VS Code reads its files with comments (`//` to the end of the line, `/* … */`) and trailing
commas (https://code.visualstudio.com/docs/languages/json#_json-with-comments). A file is edited in place by the
positions of its values, never written anew, so that comments and layout stay what they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, NoReturn, TypeAlias

from accp_core.error_codes import ErrorCode
from accp_core.errors import DecodeError
from accp_core.strict_json import read_json

__all__ = ["Edit", "Member", "Node", "edited", "parse_jsonc", "refuse"]

Edit: TypeAlias = tuple[int, int, str]
"""Start and end in the old text, and what stands there in the new one."""

_BLANK: Final = re.compile(r"(?:[ \t\r\n\ufeff]|//[^\n]*|/\*.*?\*/)*+", re.DOTALL)
_SCALAR: Final = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*+"|[-+.0-9a-zA-Z]+')
_MAX_NESTING: Final = 100
_MAX_SHOWN: Final = 20
"""Characters of a malformed text that its refusal shows."""


@dataclass(frozen=True, slots=True)
class Node:
    """A value and its place."""

    start: int
    end: int
    content: Any
    """The members of an object by name, the nodes of an array, or the value of anything else."""

    @property
    def members(self) -> dict[str, Member]:
        """The members of an object; none for any other value."""
        return self.content if isinstance(self.content, dict) else {}

    @property
    def items(self) -> list[Node]:
        """The nodes of an array; none for any other value."""
        return self.content if isinstance(self.content, list) else []

    @property
    def value(self) -> Any:
        """The value as Python's `json` would return it."""
        if isinstance(self.content, dict):
            return {name: member.node.value for name, member in self.content.items()}
        return [node.value for node in self.content] if isinstance(self.content, list) else self.content


@dataclass(frozen=True, slots=True)
class Member:
    """A member of an object: its name from `start` to `name_end`, its value after that."""

    start: int
    name_end: int
    node: Node


def refuse(text: str, position: int, expected: str) -> NoReturn:
    """Refuse `text`.

    Raises:
        DecodeError: E1001, always.
    """
    found = repr(text[position : position + _MAX_SHOWN]) if position < len(text) else "the end"
    reason = f"expected {expected}, found {found}"
    raise DecodeError(reason, code=ErrorCode.PARSE_ERROR, text=text, position=position)


def parse_jsonc(text: str) -> Node:
    """Return the value of a document.

    Raises:
        DecodeError: E1001, the text is no JSON with comments, has a name twice in an object, or more than 100 levels.
    """
    position, node = _parse_value(text, _skip_blank(text, 0), 0)
    position = _skip_blank(text, position)
    if position < len(text):
        refuse(text, position, "the end of the document")
    return node


def edited(text: str, edits: Iterable[Edit]) -> str:
    """Return `text` with all `edits`, which do not overlap."""
    for start, end, written in sorted(edits, reverse=True):
        text = text[:start] + written + text[end:]
    return text


def _skip_blank(text: str, position: int) -> int:
    match = _BLANK.match(text, position)
    return match.end() if match else position


def _parse_value(text: str, position: int, nesting: int) -> tuple[int, Node]:
    if nesting > _MAX_NESTING:
        refuse(text, position, f"at most {_MAX_NESTING} levels")
    if text.startswith("{", position):
        return _parse_object(text, position, nesting)
    if text.startswith("[", position):
        return _parse_array(text, position, nesting)
    return _parse_scalar(text, position)


def _parse_scalar(text: str, position: int) -> tuple[int, Node]:
    match = _SCALAR.match(text, position)
    try:
        value = read_json(match.group() if match else "")
    except ValueError:
        refuse(text, position, "a JSON value")
    end = match.end() if match else position
    return end, Node(position, end, value)


def _parse_object(text: str, start: int, nesting: int) -> tuple[int, Node]:
    members: dict[str, Member] = {}
    position = _skip_blank(text, start + 1)
    while not text.startswith("}", position):
        name_start = position
        name_end, name = _parse_scalar(text, position)
        if not isinstance(name.content, str) or name.content in members:
            refuse(text, name_start, "a name in quotes, once in its object")
        position = _skip_blank(text, name_end)
        if not text.startswith(":", position):
            refuse(text, position, "':'")
        position, node = _parse_value(text, _skip_blank(text, position + 1), nesting + 1)
        members[name.content] = Member(name_start, name_end, node)
        position = _after_item(text, position, "}")
    return position + 1, Node(start, position + 1, members)


def _parse_array(text: str, start: int, nesting: int) -> tuple[int, Node]:
    items: list[Node] = []
    position = _skip_blank(text, start + 1)
    while not text.startswith("]", position):
        position, node = _parse_value(text, position, nesting + 1)
        items.append(node)
        position = _after_item(text, position, "]")
    return position + 1, Node(start, position + 1, items)


def _after_item(text: str, position: int, end: str) -> int:
    """Return the position after a comma, or of the `end` of the array or object."""
    position = _skip_blank(text, position)
    if text.startswith(",", position):
        return _skip_blank(text, position + 1)
    if not text.startswith(end, position):
        refuse(text, position, f"',' or {end!r}")
    return position
