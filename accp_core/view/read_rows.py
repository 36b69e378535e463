"""Reads tables: a header, then the cells of each row (see `notation`)."""

from __future__ import annotations

import re
from typing import Final

from accp_core.error_codes import ErrorCode
from accp_core.packing.columns import unpack_column
from accp_core.packing.expansion import ExpansionError, size_of, table_size
from accp_core.packing.tree import ABSENT, NEXT_ROW, Column, KeyColumn, RepeatedValue, Repetition, Table
from accp_core.view.header import CellColumn, Header
from accp_core.view.notation import KEY, KEY_COLUMN, TEXT_BLOCK
from accp_core.view.plain_values import (
    CELL_END,
    END_OF_LINE,
    NESTED_END,
    WORD_END,
    QuotedCell,
    cell_value,
)
from accp_core.view.read_headers import HeaderReader

__all__ = ["RowReader"]

_REPEATED_ROW: Final = re.compile(r"&([1-9][0-9]{0,9}): ")
_ROW_REPETITION: Final = re.compile(r"\*([1-9][0-9]{0,9})(?=$|[;\]}])")
_EMPTY_ROW: Final = re.compile(r"\{\}(?=$|[;\]}])")
_REPEATED_CELL: Final = re.compile(r"&([1-9][0-9]{0,9}) (?=[\[{])")
# The start of a cell that is not plain, a blank too many, or a tab or a text block anywhere.
_SPECIAL: Final = re.compile(r'[\n ]["\[{&*! \n,]|,["\[{&*!]|\t|"""')
_STARTS: Final = frozenset(("", *'"{[&*!'))
_SPARSE_ENDS: Final = {
    False: {" ": WORD_END, ", ": CELL_END},
    True: {" ": re.compile(r"[ ;\]}]"), ", ": re.compile(rf"{CELL_END.pattern}|[;\]}}]")},
}
"""What ends a cell in a row with sparse columns, inside brackets or not, by the separator of its column."""


class RowReader(HeaderReader):
    """Reads the tables of a view; a subclass reads everything else (as two objects they would refer to each other)."""

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
        at = self.expect(line, at, KEY_COLUMN) if keyed else at
        keys: list[str] | None = [] if keyed else None
        header, end = self.read_header(line, at, keyed=keyed)
        if end != len(line):
            self.lines.fail("expected the end of the header", end)
        if not (type(header) is Header and header.is_flat() and self._read_plain_rows(header, count, keys)):
            for _ in range(count):
                self._read_row_of_line(header, self.lines.next_line(), keys)
        return self._unpacked(header, keys)

    def _read_plain_rows(self, header: Header, count: int, keys: list[str] | None) -> bool:
        """Read the next rows column by column if all their keys and cells are plain; return whether they are."""
        rests = self.lines.peek(count)
        if len(rests) < count or _SPECIAL.search("\n".join(["", *rests, ""])):
            return False
        columns = []
        for separator in [" "] * (keys is not None) + [leaf.separator for leaf in header.leaves[:-1]]:
            cells, rests = _cut(rests, separator)
            columns.append(cells)
        if not all(map(all, [*columns, rests])):
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
        header, at = self._read_inline_header(line, at, keyed=False)
        while not line.startswith("]", at):
            at = self.next_member(line, self.read_item(header, line, at, nested=True), ";", "]")
        items = self._unpacked(header, None)
        assert type(items) is list
        return items, at + 1

    def read_inline_keyed_table(self, line: str, at: int) -> tuple[dict[str, object], int]:
        """Return the keyed table behind `{:` within a line and the position behind it."""
        header, at = self._read_inline_header(line, self.expect(line, at, KEY_COLUMN), keyed=True)
        keys: list[str] = []
        while not line.startswith("}", at):
            key, at = self.read_key(line, at)
            keys.append(key)
            at = self.next_member(line, self.read_item(header, line, at, nested=True), ";", "}")
        members = self._unpacked(header, keys)
        assert type(members) is dict
        return members, at + 1

    def _read_inline_header(self, line: str, at: int, *, keyed: bool) -> tuple[Header | CellColumn, int]:
        header, at = self.read_header(line, at, keyed=keyed)
        return header, self.expect(line, at, ": ")

    def _unpacked(self, header: Header | CellColumn, keys: list[str] | None) -> object:
        items = unpack_column(self._to_column(header, keys), 0)
        if keys is None:
            return items
        if len(set(keys)) != len(keys):
            self.lines.fail("expected each key once", 0)
        return dict(zip(keys, items, strict=True))

    def _to_column(self, header: Header | CellColumn, keys: list[str] | None) -> Column:
        """Return the rows that were read; what they add is counted before they are built."""
        column = header.to_column(0)
        if keys is not None and type(column) is Table:
            self._put_keys(column, keys)
        try:
            self.expansion.add(table_size(column, 0), "the rows of this table")
        except ExpansionError as error:
            self.lines.fail(str(error), 0, code=ErrorCode.BUDGET_EXCEEDED)
        return column

    def _put_keys(self, table: Table, keys: list[str]) -> None:
        """Replace the columns that are the same as the keys of the rows."""
        for name, column in table.columns.items():
            if type(column) is KeyColumn:
                self.expansion.add(size_of(keys), f"{name}=={KEY}")
                table.columns[name] = list(keys)

    def _read_row_of_line(self, header: Header | CellColumn, line: str, keys: list[str] | None) -> None:
        at = 0
        if keys is not None:
            key, at = self.read_key(line, at)
            keys.append(key)
        end = self.read_item(header, line, at, nested=False)
        if end != len(line):
            self.lines.fail("expected the end of the row", end)

    def read_item(self, header: Header | CellColumn, line: str, at: int, *, nested: bool) -> int:
        """Read one item of a table (a row, the repetition of one, or a list); return the position behind it."""
        if isinstance(header, CellColumn):
            return self.read_cell(header, line, at, NESTED_END if nested else END_OF_LINE)
        sign = line[at : at + 1]
        if sign == "*" and len(header.leaves) != 1 and (repetition := _ROW_REPETITION.match(line, at)):
            header.slots.append(Repetition(int(repetition[1])))
            return repetition.end()
        if sign == "{" and len(header.leaves) != 1 and (empty := _EMPTY_ROW.match(line, at)):
            header.slots.append({})
            return empty.end()
        if sign == "&" and (repeated := _REPEATED_ROW.match(line, at)):
            header.slots.append(RepeatedValue(int(repeated[1]), NEXT_ROW))
            at = repeated.end()
        else:
            header.slots.append(NEXT_ROW)
        return self.read_row(header, line, at, nested=nested)

    def read_row(self, header: Header, line: str, at: int, *, nested: bool) -> int:
        """Read the cells of a row; return the position behind them."""
        header.rows += 1
        if header.is_sparse:
            return self._read_sparse_row(header, line, at, nested=nested)
        for leaf in header.leaves[:-1]:
            is_word = leaf.separator == " "
            end = line.find(" ", at) if is_word else -1
            if end > at and line[at] not in _STARTS and not leaf.bracket:
                leaf.cells.append(line[at:end])
                at = end + 1
            elif is_word:
                at = self.expect(line, self.read_cell(leaf, line, at, WORD_END), " ")
            else:
                at = self._after_comma(line, self.read_cell(leaf, line, at, CELL_END))
        leaf = header.leaves[-1]
        if nested or leaf.bracket or line[at : at + 1] in _STARTS:
            return self.read_cell(leaf, line, at, NESTED_END if nested else END_OF_LINE)
        leaf.cells.append(self.plain_text(line, at, len(line)))
        return len(line)

    def _read_sparse_row(self, header: Header, line: str, at: int, *, nested: bool) -> int:
        """Read the cells of a row that may lack those of sparse columns."""
        self.expansion.add(len(header.leaves), "?")
        ends = _SPARSE_ENDS[nested]
        is_last = False
        for leaf in header.leaves:
            if leaf.key and (is_last or not line.startswith(leaf.key, at)):
                leaf.cells.append(ABSENT)
                continue
            if is_last:
                self.lines.fail("expected another cell", at)
            if leaf is header.leaves[-1]:
                return self.read_cell(leaf, line, at + len(leaf.key), NESTED_END if nested else END_OF_LINE)
            at = self.read_cell(leaf, line, at + len(leaf.key), ends[leaf.separator])
            is_last = at == len(line) or (nested and line[at] in ";]}")
            if not is_last:
                at = self.expect(line, at, " ") if leaf.separator == " " else self._after_comma(line, at)
        if not is_last:
            self.lines.fail("expected another cell", at)
        return at

    def _after_comma(self, line: str, at: int) -> int:
        comma = CELL_END.match(line, at)
        if comma is None:
            self.lines.fail("expected ', '", at)
        return comma.end()

    def read_cell(self, leaf: CellColumn, line: str, at: int, end: re.Pattern[str]) -> int:
        """Read one cell; return the position behind it."""
        sign = line[at : at + 1]
        if sign not in _STARTS:
            found = end.search(line, at)
            stop = found.start() if found else len(line)
            text = self.plain_text(line, at, stop)
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

    def plain_text(self, line: str, at: int, stop: int) -> str:
        """Return a text without quotes, which is not empty and has no blank at its ends."""
        if stop <= at or " " in (line[at], line[stop - 1]):
            self.lines.fail("expected a value without blanks around it", at)
        return line[at:stop]

    def _read_bracketed(self, leaf: CellColumn, line: str, at: int) -> int:
        assert leaf.inside is not None
        repeated = _REPEATED_CELL.match(line, at)
        at = self.expect(line, at if repeated is None else repeated.end(), leaf.bracket)
        slot: object = NEXT_ROW
        if leaf.bracket == "{" and line.startswith("}", at):
            slot, at = {}, at + 1
        elif leaf.bracket == "{":
            assert type(leaf.inside) is Header
            at = self.expect(line, self.read_row(leaf.inside, line, at, nested=True), "}")
        else:
            slot, at = self._read_items(leaf.inside, line, at)
        leaf.cells.append(slot if repeated is None else RepeatedValue(int(repeated[1]), slot))
        return at

    def _read_items(self, header: Header | CellColumn, line: str, at: int) -> tuple[int, int]:
        count = 0
        while not line.startswith("]", at):
            at = self.next_member(line, self.read_item(header, line, at, nested=True), ";", "]")
            count += 1
        return count, at + 1

    def next_member(self, line: str, at: int, sign: str, close: str) -> int:
        """Return the position of the member behind `sign` at `at`, or `at` if the text there is `close`."""
        if line.startswith(close, at):
            return at
        if not line.startswith(sign, at):
            self.lines.fail(f"expected {sign!r} or {close!r}", at)
        return at + 2 if line.startswith(" ", at + 1) else at + 1


def _cut(rests: list[str], separator: str) -> tuple[list[str], list[str]]:
    """Return the plain cells that the rows begin with, and the rest of each row; "" where there is none."""
    if separator == " ":
        parts = [rest.partition(" ") for rest in rests]
        return [part[0] for part in parts], [part[2] for part in parts]
    pairs = [CELL_END.split(rest, 1) for rest in rests]
    return [pair[0] for pair in pairs], [pair[1] if len(pair) > 1 else "" for pair in pairs]
