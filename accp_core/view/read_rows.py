"""Reads tables: a header, then the cells of each row (see `notation`)."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from json.decoder import scanstring  # type: ignore[attr-defined]  # the stubs miss it
from typing import Final

from accp_core.packing.columns import unpack_column
from accp_core.packing.tree import NEXT_ROW, Column, Constant, PooledLists, RepeatedValue, Repetition, Table
from accp_core.view.line_reader import LineReader
from accp_core.view.notation import ABSENT_CELL, TEXT_BLOCK
from accp_core.view.plain_values import (
    CELL_END,
    CONSTANT_END,
    END_OF_LINE,
    NESTED_END,
    WORD_END,
    QuotedCell,
    cell_value,
    column_values,
)

__all__ = ["RowReader"]

_MAX_HEADER_DEPTH: Final = 60
_KEY: Final = re.compile(r'[^\s"{}\[\],;:=?]+')
_REPEATED_ROW: Final = re.compile(r"&([1-9][0-9]{0,9}): ")
_ROW_REPETITION: Final = re.compile(r"\*([1-9][0-9]{0,9})(?=$|; |[\]}])")
_REPEATED_CELL: Final = re.compile(r"&([1-9][0-9]{0,9}) (?=[\[{])")
# The start of a cell that is not plain, a blank too many, or a text block anywhere.
_SPECIAL: Final = re.compile(r'[\n ]["\[{&*! \n]|"""')
_STARTS: Final = frozenset(("", *'"{[&*!'))


@dataclass(slots=True)
class _CellColumn:
    """A column that has a cell in each row, with the cells that were read so far."""

    inside: _Header | _CellColumn | None = None
    """The header of the rows inside the brackets of a cell; None: a cell is a value."""
    bracket: str = ""
    """The bracket of each cell: "{" for one row, "[" for several, "" for a value."""
    separator: str = " "
    """The text between a cell and the next one."""
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
class _Header:
    """The columns of a table, with the rows that were read so far."""

    columns: dict[str, _CellColumn | _Header | Constant]
    leaves: list[_CellColumn]
    """The columns that have a cell in each row, those of nested headers included, in the order of the cells."""
    slots: list[object] = field(default_factory=list)
    """The slots of the `Table`."""
    rows: int = 0
    """The number of rows that were read."""

    def is_flat(self) -> bool:
        """Return whether a row has cells and none of them is in brackets."""
        return bool(self.leaves) and not any(leaf.bracket for leaf in self.leaves)

    def to_column(self, rows: int) -> Column:
        """Return the table; `rows` is the number of rows of the table that contains it, or 0."""
        rows = rows or self.rows
        columns: dict[str, Column] = {
            name: column if isinstance(column, Constant) else column.to_column(rows)
            for name, column in self.columns.items()
        }
        whole = self.slots.count(NEXT_ROW) == len(self.slots)
        return Table(columns, None if whole else self.slots, rows)


class RowReader(ABC):
    """Reads the tables of a view; a subclass reads everything else (as two objects they would refer to each other)."""

    def __init__(self, lines: LineReader) -> None:
        self.lines: Final = lines
        self.header_depth = 0

    @abstractmethod
    def read_inline(self, line: str, at: int, end: re.Pattern[str]) -> tuple[object, int]:
        """Return the value at `at` and the position behind it; a plain string ends before a match of `end`."""

    def read_string(self, line: str, at: int) -> tuple[str, int]:
        """Return the JSON string at `at` and the position behind it."""
        try:
            text, end = scanstring(line, at + 1)
        except ValueError:
            self.lines.fail("expected a JSON string", at)
        return text, end

    def read_key(self, line: str, at: int) -> tuple[str, int]:
        """Return the key of a pair or a row and the position of its value."""
        if line.startswith('"', at):
            key, end = self.read_string(line, at)
        else:
            end = line.find(" ", at)
            key = line[at:end]
        if end <= at or not line.startswith(" ", end):
            self.lines.fail("expected a key, a blank and a value", at)
        return key, end + 1

    def read_table(self, line: str, at: int, count: int, *, keyed: bool) -> object:
        """Return the table with the header at `at` of `line` and `count` rows in the lines below."""
        header, end = self.read_header(line, at)
        if end != len(line):
            self.lines.fail("expected the end of the header", end)
        keys: list[str] | None = [] if keyed else None
        if not (type(header) is _Header and header.is_flat() and self._read_plain_rows(header, count, keys)):
            for _ in range(count):
                self._read_row_of_line(header, self.lines.next_line(), keys)
        return self._unpacked(header, keys)

    def _read_plain_rows(self, header: _Header, count: int, keys: list[str] | None) -> bool:
        """Read the next rows column by column if all their keys and cells are plain; return whether they are."""
        rests = self.lines.peek(count)
        if len(rests) < count or _SPECIAL.search("\n".join(["", *rests, ""])):
            return False
        columns = []
        for separator in [" "] * (keys is not None) + [leaf.separator for leaf in header.leaves[:-1]]:
            parts = [rest.partition(separator) for rest in rests]
            columns.append([part[0] for part in parts])
            rests = [part[2] for part in parts]
        if not all(rests):
            return False
        if keys is not None:
            keys += columns.pop(0)
        for leaf, cells in zip(header.leaves, [*columns, rests], strict=True):
            leaf.cells += cells
        header.rows = count
        header.slots = [NEXT_ROW] * count
        self.lines.number += count
        return True

    def read_inline_table(self, line: str, at: int) -> tuple[list[object], int]:
        """Return the table behind `[:` within a line and the position behind it."""
        header, at = self._read_inline_header(line, at)
        while not line.startswith("]", at):
            at = self._next(line, self.read_item(header, line, at, nested=True), "]")
        items = self._unpacked(header, None)
        assert type(items) is list
        return items, at + 1

    def read_inline_keyed_table(self, line: str, at: int) -> tuple[dict[str, object], int]:
        """Return the keyed table behind `{:` within a line and the position behind it."""
        header, at = self._read_inline_header(line, at)
        keys: list[str] = []
        while not line.startswith("}", at):
            key, at = self.read_key(line, at)
            keys.append(key)
            at = self._next(line, self.read_item(header, line, at, nested=True), "}")
        members = self._unpacked(header, keys)
        assert type(members) is dict
        return members, at + 1

    def _read_inline_header(self, line: str, at: int) -> tuple[_Header | _CellColumn, int]:
        header, at = self.read_header(line, at)
        return header, self._expect(line, at, ": ")

    def _unpacked(self, header: _Header | _CellColumn, keys: list[str] | None) -> object:
        items = unpack_column(header.to_column(0), 0)
        if keys is None:
            return items
        if len(set(keys)) != len(keys):
            self.lines.fail("expected each key once", 0)
        return dict(zip(keys, items, strict=True))

    # Headers

    def read_header(self, line: str, at: int) -> tuple[_Header | _CellColumn, int]:
        """Return the header at `at` and the position behind it."""
        self.header_depth += 1
        if self.header_depth > _MAX_HEADER_DEPTH:
            self.lines.fail(f"expected at most {_MAX_HEADER_DEPTH} nested headers", at)
        result = self._read_pool(line, at) if line.startswith("[", at) else self._read_columns(line, at)
        self.header_depth -= 1
        return result

    def _read_pool(self, line: str, at: int) -> tuple[_CellColumn, int]:
        inside, at = self.read_header(line, at + 1)
        return _CellColumn(inside, "["), self._expect(line, at, "]")

    def _read_columns(self, line: str, at: int) -> tuple[_Header, int]:
        columns: dict[str, _CellColumn | _Header | Constant] = {}
        leaves: list[_CellColumn] = []
        while True:
            name, at = self._read_name(line, at)
            column, at = self._read_column(line, at)
            if name in columns:
                self.lines.fail(f"expected each column once, found {name!r} again", at)
            columns[name] = column
            leaves += [column] if type(column) is _CellColumn else column.leaves if type(column) is _Header else []
            if not line.startswith(" ", at):
                return _Header(columns, leaves), at
            at += 1

    def _read_name(self, line: str, at: int) -> tuple[str, int]:
        if line.startswith('"', at):
            return self.read_string(line, at)
        name = _KEY.match(line, at)
        if name is None:
            self.lines.fail("expected the name of a column", at)
        return name[0], name.end()

    def _read_column(self, line: str, at: int) -> tuple[_CellColumn | _Header | Constant, int]:
        sign = line[at : at + 1]
        if sign == ",":
            return _CellColumn(separator=", "), at + 1
        if sign == "=":
            value, at = self.read_inline(line, at + 1, CONSTANT_END)
            return Constant(value), at
        if sign == "[":
            return self._read_pool(line, at)
        if sign == "?" and line.startswith("?{", at):
            inside, at = self.read_header(line, at + 2)
            return _CellColumn(inside, "{"), self._expect(line, at, "}")
        if sign == "{":
            inside, at = self.read_header(line, at + 1)
            if type(inside) is not _Header:
                self.lines.fail("expected the name of a column", at)
            return inside, self._expect(line, at, "}")
        return _CellColumn(), at

    # Rows

    def _read_row_of_line(self, header: _Header | _CellColumn, line: str, keys: list[str] | None) -> None:
        at = 0
        if keys is not None:
            key, at = self.read_key(line, at)
            keys.append(key)
        end = self.read_item(header, line, at, nested=False)
        if end != len(line):
            self.lines.fail("expected the end of the row", end)

    def read_item(self, header: _Header | _CellColumn, line: str, at: int, *, nested: bool) -> int:
        """Read one item of a table (a row, the repetition of one, or a list); return the position behind it."""
        if isinstance(header, _CellColumn):
            return self.read_cell(header, line, at, NESTED_END if nested else END_OF_LINE)
        sign = line[at : at + 1]
        if sign == "*" and len(header.leaves) != 1 and (repetition := _ROW_REPETITION.match(line, at)):
            header.slots.append(Repetition(int(repetition[1])))
            return repetition.end()
        if sign == "&" and (repeated := _REPEATED_ROW.match(line, at)):
            header.slots.append(RepeatedValue(int(repeated[1]), NEXT_ROW))
            at = repeated.end()
        else:
            header.slots.append(NEXT_ROW)
        return self.read_row(header, line, at, nested=nested)

    def read_row(self, header: _Header, line: str, at: int, *, nested: bool) -> int:
        """Read the cells of a row; return the position behind them."""
        header.rows += 1
        if not header.leaves:
            return self._expect(line, at, ABSENT_CELL)
        for leaf in header.leaves[:-1]:
            separator = leaf.separator
            end = line.find(separator, at)
            if end > at and line[at] not in _STARTS and not leaf.bracket:
                leaf.cells.append(line[at:end])
                at = end + len(separator)
            else:
                at = self._expect(
                    line, self.read_cell(leaf, line, at, WORD_END if separator == " " else CELL_END), separator
                )
        leaf = header.leaves[-1]
        if nested or leaf.bracket or line[at : at + 1] in _STARTS:
            return self.read_cell(leaf, line, at, NESTED_END if nested else END_OF_LINE)
        leaf.cells.append(line[at:])
        return len(line)

    def read_cell(self, leaf: _CellColumn, line: str, at: int, end: re.Pattern[str]) -> int:
        """Read one cell; return the position behind it."""
        sign = line[at : at + 1]
        if sign not in _STARTS:
            found = end.search(line, at)
            stop = found.start() if found else len(line)
            text = line[at:stop]
            if not text:
                self.lines.fail("expected a cell", at)
            leaf.cells.append(cell_value(text) if leaf.bracket else text)
            return stop
        if leaf.bracket and sign != "*":
            return self._read_bracketed(leaf, line, at)
        if sign == '"' and not line.startswith(TEXT_BLOCK, at):
            text, at = self.read_string(line, at)
            leaf.cells.append(QuotedCell(text))
            return at
        value, at = self.read_inline(line, at, end)
        leaf.cells.append(QuotedCell(value) if type(value) is str else value)
        return at

    def _read_bracketed(self, leaf: _CellColumn, line: str, at: int) -> int:
        assert leaf.inside is not None
        repeated = _REPEATED_CELL.match(line, at)
        at = self._expect(line, at if repeated is None else repeated.end(), leaf.bracket)
        slot: object = NEXT_ROW
        if leaf.bracket == "{":
            assert type(leaf.inside) is _Header
            at = self._expect(line, self.read_row(leaf.inside, line, at, nested=True), "}")
        else:
            slot, at = self._read_items(leaf.inside, line, at)
        leaf.cells.append(slot if repeated is None else RepeatedValue(int(repeated[1]), slot))
        return at

    def _read_items(self, header: _Header | _CellColumn, line: str, at: int) -> tuple[int, int]:
        count = 0
        while not line.startswith("]", at):
            at = self._next(line, self.read_item(header, line, at, nested=True), "]")
            count += 1
        return count, at + 1

    def _next(self, line: str, at: int, close: str) -> int:
        return at if line.startswith(close, at) else self._expect(line, at, "; ")

    def _expect(self, line: str, at: int, text: str) -> int:
        if not line.startswith(text, at):
            self.lines.fail(f"expected {text!r}", at)
        return at + len(text)
