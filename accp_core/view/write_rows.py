"""Writes tables: the header with the names of the columns, and a row of cells for each map (see `notation`)."""

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
"""The texts of the cells of a column, and the separator between each and the next cell of its row."""


class RowWriter(ABC):
    """Writes headers and rows; a subclass writes everything else (as two objects they would refer to each other)."""

    @abstractmethod
    def write_inline(self, value: object, plain: PlainTextRule) -> str:
        """Return a value in one line; `plain` decides which strings need no quotes."""

    def write_table(self, members: Table | PooledLists, *, nested: bool) -> tuple[str, list[str]]:
        """Return the header and a text for each item; `nested`: the rows are inside brackets."""
        if type(members) is PooledLists:
            header, texts = self.write_lists(members)
            return f"[{header}]", texts
        assert type(members) is Table
        header, rows = self.write_rows(members, nested=nested)
        return header, rows if members.slots is None else self.write_items(members.slots, rows, "{}", "&{}: {}")

    def write_rows(self, table: Table, *, nested: bool) -> tuple[str, list[str]]:
        """Return the header and the text of each row."""
        heads, cells = self.write_columns(table, nested=nested, last=True)
        header = " ".join(heads)
        if not cells:
            return header, [ABSENT_CELL] * table.rows
        if len(cells) == 1:
            return header, cells[0][0]
        form = "".join([f"%s{separator}" for _, separator in cells[:-1]]) + "%s"
        return header, list(map(form.__mod__, zip(*[texts for texts, _ in cells], strict=True)))

    def write_columns(self, table: Table, *, nested: bool, last: bool) -> tuple[list[str], list[_Cells]]:
        """Return the words of the header and the cells; `last`: the last of the cells ends the row."""
        heads: list[str] = []
        cells: list[_Cells] = []
        final = last_column_with_cells(table) if last else None
        for name, column in table.columns.items():
            if type(column) is list:
                texts, separator = self.write_cells(column, nested=nested, last=name == final)
                head = "," if separator == ", " else ""
                cells.append((texts, separator))
            else:
                head, more = self.write_column(column, nested=nested, last=name == final)
                cells += more
            heads.append(f"{write_key(name)}{head}")
        return heads, cells

    def write_column(self, column: Column, *, nested: bool, last: bool) -> tuple[str, list[_Cells]]:
        """Return the text behind the name of a structured column in the header, and its cells."""
        if type(column) is Constant:
            return f"={self.write_inline(column.value, _CONSTANT)}", []
        if type(column) is PooledLists:
            header, texts = self.write_lists(column)
            return f"[{header}]", [(texts, " ")]
        if type(column) is Table and column.slots is None:
            heads, cells = self.write_columns(column, nested=nested, last=last)
            return f"{{{' '.join(heads)}}}", cells
        assert type(column) is Table
        header, rows = self.write_rows(column, nested=True)
        return f"?{{{header}}}", [(self.write_items(column.slots or [], rows, "{{{}}}", "&{} {{{}}}"), " ")]

    def write_lists(self, lists: PooledLists) -> tuple[str, list[str]]:
        """Return the header of the members and the text of each list, in brackets."""
        header, members = self.write_table(lists.members, nested=True)
        texts = []
        at = 0
        for slot in lists.slots:
            length = content_of(slot)
            if type(length) is int:
                prefix = f"&{slot.number} " if type(slot) is RepeatedValue else ""
                texts.append(f"{prefix}[{'; '.join(members[at : at + length])}]")
                at += length
            else:
                texts.append(self.write_other(slot))
        return header, texts

    def write_items(self, slots: list[object], rows: list[str], form: str, repeated: str) -> list[str]:
        """Return a text for each slot: the next row in `form` (or `repeated`, with its number), or another value."""
        rest = iter(rows)
        return [
            (repeated.format(slot.number, next(rest)) if type(slot) is RepeatedValue else form.format(next(rest)))
            if content_of(slot) is NEXT_ROW
            else self.write_other(slot)
            for slot in slots
        ]

    def write_other(self, slot: object) -> str:
        """Return the text of a slot that has no row and no list."""
        return ABSENT_CELL if slot is ABSENT else self.write_inline(slot, INLINE)

    def write_cells(self, values: list[object], *, nested: bool, last: bool) -> tuple[list[str], str]:
        """Return the texts of the cells of a column of values, and their separator."""
        kinds = set(map(type, values))
        if last:
            plain, separator = NESTED_LAST if nested else LINE, ""
        elif 2 * _spaced(values, kinds) <= len(values):
            # Quotes around few cells with blanks cost less than a comma after every cell.
            plain, separator = NESTED_WORD if nested else WORD, " "
        else:
            plain, separator = NESTED_CELL if nested else CELL, ", "
        if kinds == {int} or kinds == {float}:
            return list(map(repr, values)), separator
        if kinds == {str} and plain.allows_all(values):  # type: ignore[arg-type]  # all are strings
            return values, separator  # type: ignore[return-value]  # as above
        return [
            value
            if type(value) is str and plain.allows(value)
            else ABSENT_CELL
            if value is ABSENT
            else self.write_inline(value, plain)
            for value in values
        ], separator


def _spaced(values: list[object], kinds: set[type]) -> int:
    """Return the number of cells that are strings with a blank."""
    if kinds == {str}:
        return len([text for text in values if " " in text])  # type: ignore[operator]  # all are strings
    if kinds.isdisjoint((str, RepeatedValue)):
        return 0
    return sum(type(text) is str and " " in text for text in map(content_of, values))
