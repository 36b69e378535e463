"""Reads values without quotes or brackets: literals, numbers and plain strings (see `notation`)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from accp_core.packing.number import read_float, read_int
from accp_core.packing.tree import ABSENT
from accp_core.view.line_reader import LineReader
from accp_core.view.notation import ABSENT_CELL, TIGHT

__all__ = [
    "CELL_END", "CONSTANT_END", "END_OF_LINE", "INLINE_END", "NESTED_END", "WORD_END", "QuotedCell", "cell_value",
    "column_values", "plain_value", "read_repeat_number",
]  # fmt: skip

# What ends a plain string in each place; `notation.PlainTextRule` decides what it may contain.
END_OF_LINE: Final = re.compile(r"\Z")
WORD_END: Final = re.compile(" ")
CELL_END: Final = re.compile(rf",(?: |(?=[{TIGHT}]))")
NESTED_END: Final = re.compile(r"[;\]}]")
INLINE_END: Final = re.compile(r"[,\]}]")
CONSTANT_END: Final = re.compile("[ )]")

_REFERENCE: Final = re.compile(r"[&*]([1-9][0-9]{0,9})")
_WORDS: Final[dict[str, object]] = {"null": None, "true": True, "false": False}
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
# A search for a line break is many times faster than one for `^`.
_NO_STRING: Final = re.compile(r"\n(?:-|true|false|null|-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)$", re.MULTILINE)
_INTEGERS: Final = re.compile(r"(?:\n(?:0|-?[1-9][0-9]{0,17}))*")
_DECIMALS: Final = re.compile(r"(?:\n-?(?:0|[1-9][0-9]{0,17})\.[0-9]{1,17})*")
_FIRST_OF_LITERAL: Final = frozenset("-0123456789tfn")


@dataclass(slots=True)
class QuotedCell:
    """A cell that is a string, even if it looks like a number or a literal."""

    text: str


def plain_value(text: str) -> object:
    """Return the value of a plain text that is not empty: a literal, a number, or the text itself.

    Raises:
        ValueError: a number that Python cannot hold.
    """
    if text[0] not in _FIRST_OF_LITERAL:
        return text
    if text in _WORDS:
        return _WORDS[text]
    number = _NUMBER.fullmatch(text)
    if number is None:
        return text
    if number[1] is None and number[2] is None:
        return read_int(text)
    return read_float(text)


def cell_value(text: str) -> object:
    """Return the value of a plain cell: as `plain_value`, or ABSENT."""
    return ABSENT if text == ABSENT_CELL else plain_value(text)


def column_values(cells: list[object]) -> list[object]:
    """Return the values of cells, each a plain text, a QuotedCell, or a value already."""
    if set(map(type, cells)) != {str}:
        return [
            cell if type(cell) is str and cell[:1] not in _FIRST_OF_LITERAL else _read_mixed(cell) for cell in cells
        ]
    if _FIRST_OF_LITERAL.isdisjoint([cell[:1] for cell in cells]):  # type: ignore[index]  # all are strings
        return cells
    texts = "\n".join(["", *cells])  # type: ignore[list-item]  # as above
    if _NO_STRING.search(texts) is None:
        return cells
    if _INTEGERS.fullmatch(texts):
        return list(map(int, cells))  # type: ignore[arg-type]  # as above
    if _DECIMALS.fullmatch(texts):
        return list(map(read_float, cells))  # type: ignore[arg-type]  # as above
    return [cell_value(cell) for cell in cells]  # type: ignore[arg-type]  # as above


def _read_mixed(cell: object) -> object:
    if type(cell) is str:
        return cell_value(cell)
    return cell.text if type(cell) is QuotedCell else cell


def read_repeat_number(lines: LineReader, line: str, at: int, after: str) -> tuple[int, int]:
    """Return the number in `&1` or `*1` at `at`, and the position behind it and the text `after`."""
    number = _REFERENCE.match(line, at)
    if number is None or not line.startswith(after, number.end()):
        lines.fail("expected the number of a repeated value", at)
    return int(number[1]), number.end() + len(after)
