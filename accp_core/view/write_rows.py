"""Writes tables: the header with the names of the columns, and a row of cells for each map (see `notation`)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from itertools import pairwise

from accp_core.packing.columns import last_column_with_cells
from accp_core.packing.tree import (
    ABSENT,
    NEXT_ROW,
    Column,
    Constant,
    Derived,
    KeyColumn,
    PooledLists,
    RepeatedValue,
    Sparse,
    Table,
    content_of,
)
from accp_core.view.notation import (
    ABSENT_CELL,
    CELL,
    CONSTANT,
    INLINE,
    KEY,
    LINE,
    NESTED_CELL,
    NESTED_LAST,
    NESTED_WORD,
    WORD,
    PlainTextRule,
    join_members,
    quote,
    separator_before,
    write_derived,
    write_key,
)  # fmt: skip

__all__ = ["RowWriter"]


@dataclass(slots=True)
class _Cells:
    """The texts of the cells of a column."""

    texts: list[str]
    """A text for each row; "" where a sparse column has no cell."""
    separator: str = " "
    """The separator between a cell and the next one."""
    key: str = ""
    """What a cell of a sparse column begins with, `key=`; "" for any other column."""


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
        return " ".join(heads), _join_cells(cells)

    def write_columns(self, table: Table, *, nested: bool, last: bool) -> tuple[list[str], list[_Cells]]:
        """Return the words of the header and the cells.

        Args:
            table: The columns.
            nested: Whether the rows are inside brackets.
            last: Whether the last of the cells ends the row.
        """
        heads: list[str] = []
        cells: list[_Cells] = []
        constants: list[str] = []
        final = last_column_with_cells(table)
        for name, column in table.columns.items():
            if type(column) is Constant:
                value = column.value
                text = write_derived(value) if type(value) is Derived else self.write_inline(value, CONSTANT)
                constants.append(f"{write_key(name)}={text}")
                continue
            heads += _in_parentheses(constants)
            constants = []
            if type(column) is KeyColumn:
                heads.append(f"{write_key(name)}=={KEY}")
                continue
            is_last = last and name == final
            head, more = self.write_column(name, column, nested=nested, last=is_last)
            heads.append(f"{write_key(name)}{head}")
            cells += more
        return heads + _in_parentheses(constants), cells

    def write_column(self, name: str, column: Column, *, nested: bool, last: bool) -> tuple[str, list[_Cells]]:
        """Return the text behind the name of a column in the header, and its cells."""
        if type(column) is list:
            texts, separator = self.write_cells(column, nested=nested, last=last)
            return separator.rstrip(), [_Cells(texts, separator)]
        if type(column) is Sparse:
            return self._write_sparse(name, column, nested=nested, last=last)
        if type(column) is PooledLists:
            header, texts = self.write_lists(column)
            return f"[{header}]", [_Cells(texts)]
        if type(column) is Table and column.slots is None:
            heads, cells = self.write_columns(column, nested=nested, last=last)
            return f"{{{' '.join(heads)}}}", cells
        assert type(column) is Table
        header, rows = self.write_rows(column, nested=True)
        return f"?{{{header}}}", [_Cells(self.write_items(column.slots or [], rows, "{{{}}}", "&{} {{{}}}"))]

    def _write_sparse(self, name: str, column: Sparse, *, nested: bool, last: bool) -> tuple[str, list[_Cells]]:
        present = [value for value in column.values if value is not ABSENT]
        written, separator = self.write_cells(present, nested=nested, last=last)
        rest, key = iter(written), f"{write_key(name)}="
        texts = ["" if value is ABSENT else f"{key}{next(rest)}" for value in column.values]
        return f"?{separator.rstrip()}", [_Cells(texts, separator, key)]

    def write_lists(self, lists: PooledLists) -> tuple[str, list[str]]:
        """Return the header of the members and the text of each list, in brackets."""
        header, members = self.write_table(lists.members, nested=True)
        texts = []
        at = 0
        for slot in lists.slots:
            length = content_of(slot)
            if type(length) is int:
                prefix = f"&{slot.number} " if type(slot) is RepeatedValue else ""
                texts.append(f"{prefix}[{join_members(members[at : at + length], ';')}]")
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
        plain, separator = _cell_rule(values, kinds, nested=nested, last=last)
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


def _cell_rule(values: list[object], kinds: set[type], *, nested: bool, last: bool) -> tuple[PlainTextRule, str]:
    """Return which strings need no quotes in a column, and the separator behind its cells."""
    if last:
        return NESTED_LAST if nested else LINE, ""
    # Quotes around few cells with blanks cost less than a comma after every cell.
    if 2 * _spaced(values, kinds) <= len(values):
        return NESTED_WORD if nested else WORD, " "
    return NESTED_CELL if nested else CELL, ", "


def _in_parentheses(constants: list[str]) -> list[str]:
    """Return the words of the header for constants next to each other."""
    return [f"({' '.join(constants)})"] if constants else []


def _join_cells(cells: list[_Cells]) -> list[str]:
    """Return the text of each row."""
    if any(column.key for column in cells):
        return _join_sparse(cells)
    if len(cells) == 1:
        return cells[0].texts
    form = ""
    columns: list[list[str]] = []
    for column, following in pairwise(cells):
        columns.append(column.texts)
        if column.separator == " ":
            form += "%s "
        else:
            form += "%s%s"
            columns.append([separator_before(text, ",") for text in following.texts])
    return list(map(f"{form}%s".__mod__, zip(*columns, cells[-1].texts, strict=True)))


def _join_sparse(cells: list[_Cells]) -> list[str]:
    """Return the text of each row, in which the cells of sparse columns may be missing."""
    keys: tuple[str, ...] = ()
    for column in cells:
        if column.key:
            keys += (column.key,)
        elif keys:
            # Only a plain string can begin like the cell of a sparse column.
            column.texts = [quote(text) if text.startswith(keys) else text for text in column.texts]
    ends = [column.separator for column in cells]
    rows = []
    for texts in zip(*[column.texts for column in cells], strict=True):
        row, separator = "", ""
        for text, following in zip(texts, ends, strict=True):
            if text:
                row += (separator_before(text, ",") if separator == ", " else separator) + text
                separator = following
        rows.append(row)
    return rows


def _spaced(values: list[object], kinds: set[type]) -> int:
    """Return the number of cells that are strings with a blank."""
    if kinds == {str}:
        return len([text for text in values if " " in text])  # type: ignore[operator]  # all are strings
    if kinds.isdisjoint((str, RepeatedValue)):
        return 0
    return sum(type(text) is str and " " in text for text in map(content_of, values))
