"""Plain strings, literals and numbers: the smallest pieces of a view (see `notation`)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from accp_core.packing.number import read_float
from accp_core.packing.tree import ABSENT, Repetition
from accp_core.view.line_reader import LineReader
from accp_core.view.notation import ABSENT_CELL

__all__ = [
    "CELL_END",
    "CONSTANT_END",
    "END_OF_LINE",
    "INLINE_END",
    "NESTED_END",
    "WORD_END",
    "QuotedCell",
    "read_cell",
    "read_column",
    "read_plain",
    "read_repeat_number",
]

# Where a plain string ends, by the place it stands in; `notation.PlainTextRule` says what may be in it.
END_OF_LINE: Final = re.compile(r"\Z")
WORD_END: Final = re.compile(" ")
CELL_END: Final = re.compile(", ")
NESTED_END: Final = re.compile(r"[;\]}]")
INLINE_END: Final = re.compile(r"[,\]}]")
CONSTANT_END: Final = re.compile(r"[ :\]}]")

_REFERENCE: Final = re.compile(r"[&*]([1-9][0-9]{0,9})")
_WORDS: Final[dict[str, object]] = {"null": None, "true": True, "false": False}
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
# Searching for a line break is many times as fast as for `^`.
_NO_STRING: Final = re.compile(
    r"\n(?:-|\*[0-9]+|true|false|null|-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)$", re.MULTILINE
)
_INTEGERS: Final = re.compile(r"(?:\n(?:0|-?[1-9][0-9]{0,17}))*")
_DECIMALS: Final = re.compile(r"(?:\n-?(?:0|[1-9][0-9]{0,17})\.[0-9]{1,17})*")
_FIRST_OF_LITERAL: Final = frozenset("-0123456789tfn")
_FIRST_OF_CELL: Final = _FIRST_OF_LITERAL | {"*"}


@dataclass(slots=True)
class QuotedCell:
    """A cell that is a string and nothing else, whatever it looks like."""

    text: str


def read_plain(text: str) -> object:
    """Return the literal or plain string that `text`, not empty, is.

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
        return int(text)
    return read_float(text)


def read_cell(text: str) -> object:
    """Return the value of a plain cell: besides literals and strings an absent value or a reference."""
    if text == ABSENT_CELL:
        return ABSENT
    return Repetition(int(text[1:])) if text[0] == "*" and text[1:].isdecimal() else read_plain(text)


def read_column(cells: list[object]) -> list[object]:
    """Return the values of cells: of plain texts, of `QuotedCell` ones and of those that are values already."""
    if set(map(type, cells)) != {str}:
        return [cell if type(cell) is str and cell[:1] not in _FIRST_OF_CELL else _read_mixed(cell) for cell in cells]
    if _FIRST_OF_CELL.isdisjoint([cell[:1] for cell in cells]):  # type: ignore[index]  # all are strings
        return cells
    texts = "\n".join(["", *cells])  # type: ignore[list-item]  # as above
    if _NO_STRING.search(texts) is None:
        return cells
    if _INTEGERS.fullmatch(texts):
        return list(map(int, cells))  # type: ignore[arg-type]  # as above
    if _DECIMALS.fullmatch(texts):
        return list(map(read_float, cells))  # type: ignore[arg-type]  # as above
    return [read_cell(cell) for cell in cells]  # type: ignore[arg-type]  # as above


def _read_mixed(cell: object) -> object:
    if type(cell) is str:
        return read_cell(cell)
    return cell.text if type(cell) is QuotedCell else cell


def read_repeat_number(lines: LineReader, line: str, at: int, after: str) -> tuple[int, int]:
    """Return the number of the anchor or alias at `at`, and where it ends, past the text `after`."""
    number = _REFERENCE.match(line, at)
    if number is None or not line.startswith(after, number.end()):
        lines.fail("expected the number of a reference", at)
    return int(number[1]), number.end() + len(after)
