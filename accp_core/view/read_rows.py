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
    read_cell,
    read_column,
)

__all__ = ["RowReader"]

_MAX_HEADER_DEPTH: Final = 60
_KEY: Final = re.compile(r'[^\s"{}\[\],;:=?]+')
_ROW_ANCHOR: Final = re.compile(r"&([1-9][0-9]{0,9}): ")
_ROW_ALIAS: Final = re.compile(r"\*([1-9][0-9]{0,9})(?=$|; |[\]}])")
_CELL_ANCHOR: Final = re.compile(r"&([1-9][0-9]{0,9}) (?=[\[{])")
# The start of a cell that is no plain text, or none at all: a blank too many; and of a block, wherever it stands.
_SPECIAL: Final = re.compile(r'[\n ]["\[{&*! \n]|"""')
_STARTS: Final = frozenset(("", *'"{[&*!'))


@dataclass(slots=True)
class _CellColumn:
    """A column that has a cell in each row, and its cells so far."""

    inside: _Header | _CellColumn | None = None
    """What stands within the brackets of a cell."""
    bracket: str = ""
    """Of the cells: "{" a row, "[" several, "" a value."""
    separator: str = " "
    """Between the cell and the next."""
    cells: list[object] = field(default_factory=list)
    """Plain cells as the text they are, to be told apart all at once; others as values, strings as `QuotedCell`."""

    def column(self, rows: int) -> Column:
        """Return the values of the cells."""
        if self.inside is None:
            return read_column(self.cells)
        members = self.inside.column(0)
        if self.bracket == "[":
            assert type(members) is Table or type(members) is PooledLists
            return PooledLists(self.cells, members)
        assert type(members) is Table
        return Table(members.columns, self.cells, members.rows)


@dataclass(slots=True)
class _Header:
    """A header: its columns as they are nested, the leaves among them, and how often a row was read."""

    columns: dict[str, _CellColumn | _Header | Constant]
    leaves: list[_CellColumn]
    slots: list[object] = field(default_factory=list)
    rows: int = 0

    def is_flat(self) -> bool:
        """Tell whether there are cells, and none of them has brackets."""
        return bool(self.leaves) and not any(leaf.bracket for leaf in self.leaves)

    def column(self, rows: int) -> Column:
        """Return the table; `rows` where it stands in the rows of another."""
        rows = rows or self.rows
        columns: dict[str, Column] = {
            name: column if isinstance(column, Constant) else column.column(rows)
            for name, column in self.columns.items()
        }
        whole = self.slots.count(NEXT_ROW) == len(self.slots)
        return Table(columns, None if whole else self.slots, rows)


class RowReader(ABC):
    """Tables of one view; the reader of the rest is a subclass: two objects would refer to each other."""

    def __init__(self, lines: LineReader) -> None:
        self.lines: Final = lines
        self.header_depth = 0

    @abstractmethod
    def inline(self, line: str, at: int, end: re.Pattern[str]) -> tuple[object, int]:
        """Return the value at `at` and where it ends; a plain string ends before a match of `end`."""

    def string(self, line: str, at: int) -> tuple[str, int]:
        """Return the JSON string at `at` and where it ends."""
        try:
            text, end = scanstring(line, at + 1)
        except ValueError:
            self.lines.fail("expected a JSON string", at)
        return text, end

    def key(self, line: str, at: int) -> tuple[str, int]:
        """Return the key of a pair or a row, and where its value begins."""
        if line.startswith('"', at):
            key, end = self.string(line, at)
        else:
            end = line.find(" ", at)
            key = line[at:end]
        if end <= at or not line.startswith(" ", end):
            self.lines.fail("expected a key, a blank and a value", at)
        return key, end + 1

    def block(self, line: str, at: int, count: int, *, keyed: bool) -> object:
        """Return the table whose header is the rest of `line` and whose `count` rows follow."""
        header, end = self.header(line, at)
        if end != len(line):
            self.lines.fail("expected the end of the header", end)
        keys: list[str] | None = [] if keyed else None
        if not (type(header) is _Header and header.is_flat() and self._plain_rows(header, count, keys)):
            for _ in range(count):
                self._row(header, self.lines.take(), keys)
        return self._unpacked(header, keys)

    def _plain_rows(self, header: _Header, count: int, keys: list[str] | None) -> bool:
        """Read the next rows by column if all their keys and cells are plain; tell whether they are."""
        rests = self.lines.ahead(count)
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

    def array_of_rows(self, line: str, at: int) -> tuple[list[object], int]:
        """Return the table after `[:` within a line, and where it ends."""
        header, at = self._inline_header(line, at)
        while not line.startswith("]", at):
            at = self._next(line, self.item(header, line, at, nested=True), "]")
        items = self._unpacked(header, None)
        assert type(items) is list
        return items, at + 1

    def map_of_rows(self, line: str, at: int) -> tuple[dict[str, object], int]:
        """Return the keyed table after `{:` within a line, and where it ends."""
        header, at = self._inline_header(line, at)
        keys: list[str] = []
        while not line.startswith("}", at):
            key, at = self.key(line, at)
            keys.append(key)
            at = self._next(line, self.item(header, line, at, nested=True), "}")
        members = self._unpacked(header, keys)
        assert type(members) is dict
        return members, at + 1

    def _inline_header(self, line: str, at: int) -> tuple[_Header | _CellColumn, int]:
        header, at = self.header(line, at)
        return header, self._expect(line, at, ": ")

    def _unpacked(self, header: _Header | _CellColumn, keys: list[str] | None) -> object:
        items = unpack_column(header.column(0), 0)
        if keys is None:
            return items
        if len(set(keys)) != len(keys):
            self.lines.fail("expected each key once", 0)
        return dict(zip(keys, items, strict=True))

    # Headers

    def header(self, line: str, at: int) -> tuple[_Header | _CellColumn, int]:
        """Return the shape of a header and where it ends."""
        self.header_depth += 1
        if self.header_depth > _MAX_HEADER_DEPTH:
            self.lines.fail(f"expected at most {_MAX_HEADER_DEPTH} headers within each other", at)
        result = self._pool(line, at) if line.startswith("[", at) else self._shape(line, at)
        self.header_depth -= 1
        return result

    def _pool(self, line: str, at: int) -> tuple[_CellColumn, int]:
        inside, at = self.header(line, at + 1)
        return _CellColumn(inside, "["), self._expect(line, at, "]")

    def _shape(self, line: str, at: int) -> tuple[_Header, int]:
        columns: dict[str, _CellColumn | _Header | Constant] = {}
        leaves: list[_CellColumn] = []
        while True:
            name, at = self._name(line, at)
            column, at = self._column(line, at)
            if name in columns:
                self.lines.fail(f"expected each column once, found {name!r} again", at)
            columns[name] = column
            leaves += [column] if type(column) is _CellColumn else column.leaves if type(column) is _Header else []
            if not line.startswith(" ", at):
                return _Header(columns, leaves), at
            at += 1

    def _name(self, line: str, at: int) -> tuple[str, int]:
        if line.startswith('"', at):
            return self.string(line, at)
        name = _KEY.match(line, at)
        if name is None:
            self.lines.fail("expected the name of a column", at)
        return name[0], name.end()

    def _column(self, line: str, at: int) -> tuple[_CellColumn | _Header | Constant, int]:
        sign = line[at : at + 1]
        if sign == ",":
            return _CellColumn(separator=", "), at + 1
        if sign == "=":
            value, at = self.inline(line, at + 1, CONSTANT_END)
            return Constant(value), at
        if sign == "[":
            return self._pool(line, at)
        if sign == "?" and line.startswith("?{", at):
            inside, at = self.header(line, at + 2)
            return _CellColumn(inside, "{"), self._expect(line, at, "}")
        if sign == "{":
            inside, at = self.header(line, at + 1)
            if type(inside) is not _Header:
                self.lines.fail("expected the name of a column", at)
            return inside, self._expect(line, at, "}")
        return _CellColumn(), at

    # Rows

    def _row(self, header: _Header | _CellColumn, line: str, keys: list[str] | None) -> None:
        at = 0
        if keys is not None:
            key, at = self.key(line, at)
            keys.append(key)
        end = self.item(header, line, at, nested=False)
        if end != len(line):
            self.lines.fail("expected the end of the row", end)

    def item(self, header: _Header | _CellColumn, line: str, at: int, *, nested: bool) -> int:
        """Read one item of a table: a row, a reference to one, or a list; return where it ends."""
        if isinstance(header, _CellColumn):
            return self.cell(header, line, at, NESTED_END if nested else END_OF_LINE)
        sign = line[at : at + 1]
        if sign == "*" and len(header.leaves) != 1 and (alias := _ROW_ALIAS.match(line, at)):
            header.slots.append(Repetition(int(alias[1])))
            return alias.end()
        if sign == "&" and (anchor := _ROW_ANCHOR.match(line, at)):
            header.slots.append(RepeatedValue(int(anchor[1]), NEXT_ROW))
            at = anchor.end()
        else:
            header.slots.append(NEXT_ROW)
        return self.row(header, line, at, nested=nested)

    def row(self, header: _Header, line: str, at: int, *, nested: bool) -> int:
        """Read the cells of a row; return where they end."""
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
                    line, self.cell(leaf, line, at, WORD_END if separator == " " else CELL_END), separator
                )
        leaf = header.leaves[-1]
        if nested or leaf.bracket or line[at : at + 1] in _STARTS:
            return self.cell(leaf, line, at, NESTED_END if nested else END_OF_LINE)
        leaf.cells.append(line[at:])
        return len(line)

    def cell(self, leaf: _CellColumn, line: str, at: int, end: re.Pattern[str]) -> int:
        """Read one cell; return where it ends."""
        sign = line[at : at + 1]
        if sign not in _STARTS:
            found = end.search(line, at)
            stop = found.start() if found else len(line)
            text = line[at:stop]
            if not text:
                self.lines.fail("expected a cell", at)
            leaf.cells.append(read_cell(text) if leaf.bracket else text)
            return stop
        if leaf.bracket and sign != "*":
            return self._bracketed(leaf, line, at)
        if sign == '"' and not line.startswith(TEXT_BLOCK, at):
            text, at = self.string(line, at)
            leaf.cells.append(QuotedCell(text))
            return at
        value, at = self.inline(line, at, end)
        leaf.cells.append(QuotedCell(value) if type(value) is str else value)
        return at

    def _bracketed(self, leaf: _CellColumn, line: str, at: int) -> int:
        assert leaf.inside is not None
        anchor = _CELL_ANCHOR.match(line, at)
        at = self._expect(line, at if anchor is None else anchor.end(), leaf.bracket)
        slot: object = NEXT_ROW
        if leaf.bracket == "{":
            assert type(leaf.inside) is _Header
            at = self._expect(line, self.row(leaf.inside, line, at, nested=True), "}")
        else:
            slot, at = self._items(leaf.inside, line, at)
        leaf.cells.append(slot if anchor is None else RepeatedValue(int(anchor[1]), slot))
        return at

    def _items(self, header: _Header | _CellColumn, line: str, at: int) -> tuple[int, int]:
        count = 0
        while not line.startswith("]", at):
            at = self._next(line, self.item(header, line, at, nested=True), "]")
            count += 1
        return count, at + 1

    def _next(self, line: str, at: int, close: str) -> int:
        return at if line.startswith(close, at) else self._expect(line, at, "; ")

    def _expect(self, line: str, at: int, text: str) -> int:
        if not line.startswith(text, at):
            self.lines.fail(f"expected {text!r}", at)
        return at + len(text)
