"""Reads a view line by line, with the text blocks below a line, and finds the position of an error."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass, field
from typing import Final, NoReturn

from accp_core.error_codes import ErrorCode
from accp_core.errors import DecodeError
from accp_core.packing.tree import ABSENT, NEXT_ROW, Column, Constant, KeyColumn, PooledLists, Table
from accp_core.packing.values import read_float, read_int
from accp_core.view.notation import ABSENT_CELL, FENCE, TEXT_BLOCK, TIGHT

__all__ = [
    "CELL_END",
    "CONSTANT_END",
    "END_OF_LINE",
    "INLINE_END",
    "NESTED_END",
    "WORD_END",
    "CellColumn",
    "Header",
    "LineReader",
    "QuotedCell",
    "cell_value",
    "column_values",
    "plain_value",
    "read_repeat_number",
]


_NEVER: Final = re.compile(r"[\x00-\x08\x0b-\x1f]")
"""Characters that no view holds; a tab stands in text blocks only."""


class LineReader:
    """The lines of a view, read from top to bottom; truthy while there are more."""

    def __init__(self, text: str) -> None:
        self.text: Final = text
        # A source that ends with a line break has one behind its view, too.
        self.lines: Final = (text.rstrip("\r\n") if text.endswith("\n") else text).split("\n")
        self.number = 0
        """The index of the next line."""
        self.blocks: deque[str] = deque()
        """The text blocks of the current line that were not used yet."""
        # Most texts hold no such character, and to look at them line by line takes much longer.
        if not self.text.replace("\n", "").isprintable() and (never := _NEVER.search("\n".join(self.lines))):
            reason = f"expected no control character, found {never[0]!r}"
            raise DecodeError(reason, code=ErrorCode.PARSE_ERROR, text=text, position=never.start())

    def __bool__(self) -> bool:
        return self.number < len(self.lines)

    def next_line(self) -> str:
        """Return the next line and put the text blocks below it into `blocks`.

        Raises:
            DecodeError: E1001, the text ends here, or within a block; the line holds a tab or ends with a blank.
        """
        if self.number >= len(self.lines):
            self.fail("expected another line, found the end of the text", 0)
        line = self.lines[self.number]
        self.number += 1
        if line.endswith(" ") or "\t" in line:
            at = line.find("\t") if "\t" in line else len(line.rstrip())
            self.fail(f"expected no tab, and no blank at the end of a line, found {line[at]!r}", at)
        if TEXT_BLOCK in line:
            for fence in FENCE.findall(line):
                self.blocks.append(self._next_block(fence))
        return line

    def peek(self, count: int) -> list[str]:
        """Return the next `count` lines, or fewer if the text ends, without moving on."""
        return self.lines[self.number : self.number + count]

    def _next_block(self, fence: str) -> str:
        try:
            end = self.lines.index(fence, self.number)
        except ValueError:
            self.fail(f"expected a line {fence!r} at the end of a text block, found the end of the text", 0)
        block = "\n".join(self.lines[self.number : end])
        self.number = end + 1
        return block

    def fail(self, reason: str, column: int, *, code: ErrorCode = ErrorCode.PARSE_ERROR) -> NoReturn:
        """Refuse the text at `column` of the current line.

        Raises:
            DecodeError: `code`, always.
        """
        before = sum(len(line) + 1 for line in self.lines[: max(self.number - 1, 0)])
        raise DecodeError(reason, code=code, text=self.text, position=min(before + column, len(self.text)))


# Reads values without quotes or brackets: literals, numbers and plain strings (see `notation`).

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


# The header of a table that is being read, with the cells that were read so far (see `notation`).


@dataclass(slots=True)
class CellColumn:
    """A column that has a cell in each row, with the cells that were read so far."""

    inside: Header | CellColumn | None = None
    """The header of the rows inside the brackets of a cell; None: a cell is a value."""
    bracket: str = ""
    """The bracket of each cell: "{" for one row, "[" for several, "" for a value."""
    separator: str = " "
    """The text between a cell and the next one."""
    key: str = ""
    """What a cell of a sparse column begins with, `key=`; "" for a column that has a cell in each row."""
    cells: list[object] = field(default_factory=list)
    """Plain cells as text, which `column_values` converts all at once; strings as QuotedCell; others as values."""

    def to_column(self, rows: int) -> Column:
        """Return the values of the cells."""
        if self.inside is None:
            return column_values(self.cells)
        members = self.inside.to_column(0)
        if self.bracket == "[":
            assert type(members) is Table or type(members) is PooledLists
            return PooledLists(self.cells, members)
        assert type(members) is Table
        return Table(members.columns, self.cells, members.rows)


@dataclass(slots=True)
class Header:
    """The columns of a table, with the rows that were read so far."""

    columns: dict[str, CellColumn | Header | Constant | KeyColumn]
    leaves: list[CellColumn]
    """The columns that have a cell in each row, those of nested headers included, in the order of the cells."""
    slots: list[object] = field(default_factory=list)
    """The slots of the `Table`."""
    rows: int = 0
    """The number of rows that were read."""
    is_sparse: bool = field(init=False)
    """Whether a row may lack cells."""

    def __post_init__(self) -> None:
        self.is_sparse = any(leaf.key for leaf in self.leaves)

    def is_flat(self) -> bool:
        """Return whether all cells are plain ones that no row lacks."""
        return not any(leaf.bracket or leaf.key for leaf in self.leaves)

    def to_column(self, rows: int) -> Column:
        """Return the table; `rows` is the number of rows of the table that contains it, or 0."""
        rows = rows or self.rows
        columns: dict[str, Column] = {
            name: column if isinstance(column, Constant | KeyColumn) else column.to_column(rows)
            for name, column in self.columns.items()
        }
        whole = self.slots.count(NEXT_ROW) == len(self.slots)
        return Table(columns, None if whole else self.slots, rows)
