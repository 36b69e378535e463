"""Writes tables: the header that names the cells, and a row of cells for each map (see `notation`)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Final, TypeAlias

from accp_core.packing.columns import last_column_with_cells
from accp_core.packing.tree import (
    ABSENT,
    NEXT_ROW,
    Column,
    Constant,
    PooledLists,
    RepeatedValue,
    Table,
    content_of,
)
from accp_core.view.notation import (
    ABSENT_CELL,
    CELL,
    INLINE,
    LINE,
    NESTED_CELL,
    NESTED_LAST,
    NESTED_WORD,
    WORD,
    PlainTextRule,
    write_key,
)  # fmt: skip

__all__ = ["RowWriter"]

_CONSTANT: Final = PlainTextRule(r" ,;:\[\]{}")


_Cells: TypeAlias = tuple[list[str], str]
"""The cells of one column as text, and what stands between each and the next cell of its row."""


class RowWriter(ABC):
    """Headers and rows; the writer of the rest is a subclass: two objects would refer to each other."""

    @abstractmethod
    def inline(self, value: object, plain: PlainTextRule) -> str:
        """Return a value within a line, in a place where `plain` strings need no quotes."""

    def table(self, members: Table | PooledLists, *, nested: bool) -> tuple[str, list[str]]:
        """Return the header and a text per item; `nested` rows stand inside brackets."""
        if type(members) is PooledLists:
            header, texts = self.lists(members)
            return f"[{header}]", texts
        assert type(members) is Table
        header, rows = self.rows(members, nested=nested)
        return header, rows if members.slots is None else self.fill(members.slots, rows, "{}", "&{}: {}")

    def rows(self, table: Table, *, nested: bool) -> tuple[str, list[str]]:
        """Return the header, and the text of each row that is a map of its own."""
        heads, cells = self.columns(table, nested=nested, last=True)
        header = " ".join(heads)
        if not cells:
            return header, [ABSENT_CELL] * table.rows
        if len(cells) == 1:
            return header, cells[0][0]
        form = "".join([f"%s{separator}" for _, separator in cells[:-1]]) + "%s"
        return header, list(map(form.__mod__, zip(*[texts for texts, _ in cells], strict=True)))

    def columns(self, table: Table, *, nested: bool, last: bool) -> tuple[list[str], list[_Cells]]:
        """Return the header's words and the cells; with `last` the last cell ends the row."""
        heads: list[str] = []
        cells: list[_Cells] = []
        final = last_column_with_cells(table) if last else None
        for name, column in table.columns.items():
            if type(column) is list:
                texts, separator = self.cells(column, nested=nested, last=name == final)
                head = "," if separator == ", " else ""
                cells.append((texts, separator))
            else:
                head, more = self.column(column, nested=nested, last=name == final)
                cells += more
            heads.append(f"{write_key(name)}{head}")
        return heads, cells

    def column(self, column: Column, *, nested: bool, last: bool) -> tuple[str, list[_Cells]]:
        """Return what stands behind the key of a column with structure in the header, and the cells."""
        if type(column) is Constant:
            return f"={self.inline(column.value, _CONSTANT)}", []
        if type(column) is PooledLists:
            header, texts = self.lists(column)
            return f"[{header}]", [(texts, " ")]
        if type(column) is Table and column.slots is None:
            heads, cells = self.columns(column, nested=nested, last=last)
            return f"{{{' '.join(heads)}}}", cells
        assert type(column) is Table
        header, rows = self.rows(column, nested=True)
        return f"?{{{header}}}", [(self.fill(column.slots or [], rows, "{{{}}}", "&{} {{{}}}"), " ")]

    def lists(self, lists: PooledLists) -> tuple[str, list[str]]:
        """Return the header of the members, and each list as a text in brackets."""
        header, members = self.table(lists.members, nested=True)
        texts = []
        at = 0
        for slot in lists.slots:
            length = content_of(slot)
            if type(length) is int:
                anchor = f"&{slot.number} " if type(slot) is RepeatedValue else ""
                texts.append(f"{anchor}[{'; '.join(members[at : at + length])}]")
                at += length
            else:
                texts.append(self.other(slot))
        return header, texts

    def fill(self, slots: list[object], rows: list[str], form: str, anchored: str) -> list[str]:
        """Return a text per slot: the next row where one is due, else what stands instead."""
        rest = iter(rows)
        return [
            (anchored.format(slot.number, next(rest)) if type(slot) is RepeatedValue else form.format(next(rest)))
            if content_of(slot) is NEXT_ROW
            else self.other(slot)
            for slot in slots
        ]

    def other(self, slot: object) -> str:
        """Return what stands in the place of a row or a list."""
        return ABSENT_CELL if slot is ABSENT else self.inline(slot, INLINE)

    def cells(self, values: list[object], *, nested: bool, last: bool) -> tuple[list[str], str]:
        """Return the cells of a column without structure, and their separator."""
        kinds = set(map(type, values))
        if last:
            plain, separator = NESTED_LAST if nested else LINE, ""
        elif 2 * _spaced(values, kinds) <= len(values):
            # Two quotes for each of few cells with blanks cost less than a comma for every cell.
            plain, separator = NESTED_WORD if nested else WORD, " "
        else:
            plain, separator = NESTED_CELL if nested else CELL, ", "
        if kinds == {int} or kinds == {float}:
            return list(map(repr, values)), separator
        if kinds == {str} and plain.fit(values):  # type: ignore[arg-type]  # all are strings
            return values, separator  # type: ignore[return-value]  # as above
        return [
            value
            if type(value) is str and plain.fits(value)
            else ABSENT_CELL
            if value is ABSENT
            else self.inline(value, plain)
            for value in values
        ], separator


def _spaced(values: list[object], kinds: set[type]) -> int:
    """Return how many cells hold a string with a blank."""
    if kinds == {str}:
        return len([text for text in values if " " in text])  # type: ignore[operator]  # all are strings
    if kinds.isdisjoint((str, RepeatedValue)):
        return 0
    return sum(type(text) is str and " " in text for text in map(content_of, values))
