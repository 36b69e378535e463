"""Writes a tree of JSON values and packing nodes as a view (see `notation`)."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, TypeGuard

from accp_core.packing import tree as nodes
from accp_core.packing.columns import HIDDEN, last_column_with_cells, pack_keyed_rows, pack_list, pays_in_its_line
from accp_core.view import notation

__all__ = ["write_view"]

_MAX_PAIRS: Final = 4
"""Pairs of a map in one line."""
_MAX_TEXT_CHARS: Final = 40
"""Characters of a string in a map or an array in one line."""
_ROWS: Final = frozenset((dict, nodes.RepeatedValue, nodes.Repetition))
"""Types of the rows of a keyed table."""
_STRUCTURED: Final = frozenset((dict, list, nodes.RepeatedValue, nodes.EmbeddedJson))
_NOT_IN_BLOCK: Final = re.compile(rf"(?![\t\n])[{HIDDEN}]")
_NUMBER_WITH_COMMA: Final = re.compile(r"[+-]?[0-9][0-9.]*,[0-9]")
_BLOCK_PLACEHOLDER: Final = re.compile(r"\x01([0-9]+)\x01")


def write_view(tree: object) -> str:
    """Return the view of a tree of JSON values and packing nodes."""
    writer = _ViewWriter()
    return writer.with_blocks(writer.write_document(tree))


@dataclass(slots=True)
class _Cells:
    """The texts of the cells of a column."""

    texts: list[str]
    """A text for each row; "" where a sparse column has no cell."""
    separator: str = " "
    """The separator between a cell and the next one."""
    key: str = ""
    """What a cell of a sparse column begins with, `key=`; "" for any other column."""


class _ViewWriter:
    """Writes one view; it keeps the text blocks, which go below the line in which they are used."""

    def __init__(self) -> None:
        self.blocks: list[str] = []

    def with_blocks(self, text: str) -> str:
        """Return `text` with each text block below the line in which it is used."""
        if not self.blocks:
            return text

        def below(line: str) -> str:
            blocks = [self.blocks[int(number)] for number in _BLOCK_PLACEHOLDER.findall(line)]
            fences = iter(list(map(notation.fence_of, blocks)))
            shown = _BLOCK_PLACEHOLDER.sub(lambda _: next(fences), line)
            return "\n".join((shown, *(f"{block}\n{notation.fence_of(block)}" for block in blocks)))

        return "\n".join([below(line) if "\x01" in line else line for line in text.split("\n")])

    def pack_keyed(self, members: dict[str, object]) -> nodes.Table | None:
        """Return the values of a map of maps as a table, or None if they do not make one."""
        if len(members) < 2 or not set(map(type, members.values())) <= _ROWS:
            return None
        return pack_keyed_rows(members)

    def write_document(self, tree: object) -> str:
        if type(tree) is str and (notation.LINE.allows(tree) or not _is_block(tree)):
            # A plain text would be read as a pair.
            return notation.quote(tree)
        if type(tree) is dict and tree:
            return self.write_keyed_table(tree) or self.write_pairs(tree)
        return self.write_value(tree)

    def write_pairs(self, members: dict[str, object]) -> str:
        """Return the pairs of a map, one in each line."""
        return "\n".join(
            [
                # Most values are plain strings; to test them here saves a call for each.
                f"{notation.write_key(key)} {value}"
                if type(value) is str and notation.LINE.allows(value)
                else self.write_pair(key, value)
                for key, value in members.items()
            ]
        )

    def write_pair(self, key: str, value: object) -> str:
        if type(value) is not nodes.Derived:
            return f"{notation.write_key(key)} {self.write_value(value)}"
        if pays_in_its_line(value):
            return f"{notation.write_key(key)}={notation.write_derived(value)}"
        return f"{notation.write_key(key)} {value.text}"

    def write_value(self, value: object) -> str:
        """Return a value that takes the rest of a line, and perhaps more lines."""
        if type(value) is str:
            return self.write_string(value, notation.LINE)
        if type(value) is dict:
            return self.write_map(value)
        if type(value) is list:
            return self.write_array(value)
        if type(value) is nodes.RepeatedValue:
            return f"&{value.number} {self.write_value(value.value)}"
        if type(value) is nodes.EmbeddedJson:
            return f"{value.mark} {self.write_value(value.value)}"
        return _scalar(value)

    def write_map(self, members: dict[str, object]) -> str:
        if not members:
            return "{}"
        short = _short_map(members)
        return short or self.write_keyed_table(members) or f"{{\n{self.write_pairs(members)}\n}}"

    def write_keyed_table(self, members: dict[str, object]) -> str | None:
        """Return a map of maps as a table, or None if it does not make one."""
        table = self.pack_keyed(members)
        if table is None:
            return None
        header, rows = self.write_table(table, nested=False)
        keyed = [f"{notation.write_key(key)} {row}" for key, row in zip(members, rows, strict=True)]
        return "\n".join([f"{{{len(members)}}} {notation.KEY_COLUMN}{header}", *keyed])

    def write_array(self, items: list[object]) -> str:
        if (texts := _short_texts(items)) is not None:
            return f"[{notation.join_members(texts, ',')}]"
        if _is_one_map(items):
            short = _short_map(items[0])
            # Over lines, a string needs quotes in fewer cases.
            return f"[{short}]" if short and '"' not in short else f"[{{\n{self.write_pairs(items[0])}\n}}]"
        table = pack_list(items)
        if table is None:
            return "\n".join([f"[{len(items)}]:", *map(self.write_value, items)])
        header, rows = self.write_table(table, nested=False)
        return "\n".join([f"[{len(items)}] {header}", *rows])

    def write_inline(self, value: object, plain: notation.PlainTextRule) -> str:
        """Return a value in one line; `plain` decides which strings need no quotes."""
        if type(value) is str:
            return self.write_string(value, plain)
        if type(value) is nodes.Derived:
            return self.write_string(value.text, plain)
        if type(value) is dict:
            return self.write_inline_map(value)
        if type(value) is list:
            return self.write_inline_array(value)
        if type(value) is nodes.RepeatedValue:
            return f"&{value.number} {self.write_inline(value.value, plain)}"
        if type(value) is nodes.EmbeddedJson:
            return f"{value.mark} {self.write_inline(value.value, plain)}"
        return _scalar(value)

    def write_inline_map(self, members: dict[str, object]) -> str:
        table = self.pack_keyed(members)
        if table is None:
            plain = notation.INLINE
            cells = (
                value if type(value) is str and plain.allows(value) else self.write_inline(value, plain)
                for value in members.values()
            )
            pairs = [f"{notation.write_inline_key(key)} {cell}" for key, cell in zip(members, cells, strict=True)]
            return f"{{{notation.join_members(pairs, ',')}}}"
        header, rows = self.write_table(table, nested=True)
        keyed = [f"{notation.write_key(key)} {row}" for key, row in zip(members, rows, strict=True)]
        return f"{{:{notation.KEY_COLUMN}{header}: {notation.join_members(keyed, ';')}}}"

    def write_inline_array(self, items: list[object]) -> str:
        table = pack_list(items)
        if table is None:
            texts = [
                item if type(item) is str and notation.INLINE.allows(item) else self.write_inline(item, notation.INLINE)
                for item in items
            ]
            return f"[{notation.join_members(texts, ',')}]"
        header, rows = self.write_table(table, nested=True)
        return f"[:{header}: {notation.join_members(rows, ';')}]"

    def write_string(self, text: str, plain: notation.PlainTextRule) -> str:
        """Return a string as it is, as a JSON string, or as the placeholder of a text block."""
        if plain.allows(text):
            return text
        if _is_block(text):
            self.blocks.append(text)
            return f"\x01{len(self.blocks) - 1}\x01"
        return notation.quote(text)

    def write_table(self, members: nodes.Table | nodes.PooledLists, *, nested: bool) -> tuple[str, list[str]]:
        """Return the header and a text for each item; `nested`: the rows are inside brackets."""
        if type(members) is nodes.PooledLists:
            header, texts = self.write_lists(members)
            return f"[{header}]", texts
        assert type(members) is nodes.Table
        header, rows = self.write_rows(members, nested=nested)
        return header, rows if members.slots is None else self.write_items(members.slots, rows, "{}", "&{}: {}")

    def write_rows(self, table: nodes.Table, *, nested: bool) -> tuple[str, list[str]]:
        """Return the header and the text of each row."""
        heads, cells = self.write_columns(table, nested=nested, last=True)
        constants = (
            f"{notation.write_key(name)}=" for name, column in table.columns.items() if type(column) is nodes.Constant
        )
        _quote_like(cells, (*constants, *(column.key for column in cells if column.key)))
        return " ".join(heads), _join_cells(cells)

    def write_columns(self, table: nodes.Table, *, nested: bool, last: bool) -> tuple[list[str], list[_Cells]]:
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
            if type(column) is nodes.Constant:
                value = column.value
                text = (
                    notation.write_derived(value)
                    if type(value) is nodes.Derived
                    else self.write_inline(value, notation.CONSTANT)
                )
                constants.append(f"{notation.write_key(name)}={text}")
                continue
            heads += _in_parentheses(constants)
            constants = []
            if type(column) is nodes.KeyColumn:
                heads.append(f"{notation.write_key(name)}=={notation.KEY}")
                continue
            is_last = last and name == final
            head, more = self.write_column(name, column, nested=nested, last=is_last)
            heads.append(f"{notation.write_key(name)}{head}")
            cells += more
        return heads + _in_parentheses(constants), cells

    def write_column(self, name: str, column: nodes.Column, *, nested: bool, last: bool) -> tuple[str, list[_Cells]]:
        """Return the text behind the name of a column in the header, and its cells."""
        if type(column) is list:
            texts, separator = self.write_cells(column, nested=nested, last=last)
            return separator.rstrip(), [_Cells(texts, separator)]
        if type(column) is nodes.Sparse:
            return self._write_sparse(name, column, nested=nested, last=last)
        if type(column) is nodes.PooledLists:
            header, texts = self.write_lists(column)
            return f"[{header}]", [_Cells(texts)]
        if type(column) is nodes.Table and column.slots is None:
            heads, cells = self.write_columns(column, nested=nested, last=last)
            return f"{{{' '.join(heads)}}}", cells
        assert type(column) is nodes.Table
        header, rows = self.write_rows(column, nested=True)
        return f"={{{header}}}", [_Cells(self.write_items(column.slots or [], rows, "{{{}}}", "&{} {{{}}}"))]

    def _write_sparse(self, name: str, column: nodes.Sparse, *, nested: bool, last: bool) -> tuple[str, list[_Cells]]:
        present = [value for value in column.values if value is not nodes.ABSENT]
        written, separator = self.write_cells(present, nested=nested, last=last)
        rest, key = iter(written), f"{notation.write_key(name)}="
        texts = ["" if value is nodes.ABSENT else f"{key}{next(rest)}" for value in column.values]
        return f"?{separator.rstrip()}", [_Cells(texts, separator, key)]

    def write_lists(self, lists: nodes.PooledLists) -> tuple[str, list[str]]:
        """Return the header of the members and the text of each list, in brackets."""
        header, members = self.write_table(lists.members, nested=True)
        texts = []
        at = 0
        for slot in lists.slots:
            length = nodes.content_of(slot)
            if type(length) is int:
                prefix = f"&{slot.number} " if type(slot) is nodes.RepeatedValue else ""
                texts.append(f"{prefix}[{notation.join_members(members[at : at + length], ';')}]")
                at += length
            else:
                texts.append(self.write_other(slot))
        return header, texts

    def write_items(self, slots: list[object], rows: list[str], form: str, repeated: str) -> list[str]:
        """Return a text for each slot: the next row in `form` (or `repeated`, with its number), or another value."""
        rest = iter(rows)
        return [
            (repeated.format(slot.number, next(rest)) if type(slot) is nodes.RepeatedValue else form.format(next(rest)))
            if nodes.content_of(slot) is nodes.NEXT_ROW
            else self.write_other(slot)
            for slot in slots
        ]

    def write_other(self, slot: object) -> str:
        """Return the text of a slot that has no row and no list."""
        return notation.ABSENT_CELL if slot is nodes.ABSENT else self.write_inline(slot, notation.INLINE)

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
            else notation.ABSENT_CELL
            if value is nodes.ABSENT
            else self.write_inline(value, plain)
            for value in values
        ], separator


def _is_one_map(items: list[object]) -> TypeGuard[list[dict[str, object]]]:
    """Return whether an array holds nothing but one map with keys."""
    return len(items) == 1 and type(items[0]) is dict and bool(items[0])


def _is_block(text: str) -> bool:
    """Return whether a string has many lines or quotes and nothing that needs an escape."""
    lines = text.count("\n")
    many = lines > 2 or lines + text.count('"') > 5
    return many and _NOT_IN_BLOCK.search(text) is None


def _short_texts(members: Collection[object]) -> list[str] | None:
    """Return the members as texts if they can be in one line, else None."""
    texts = []
    for member in members:
        if type(member) is str:
            if len(member) > _MAX_TEXT_CHARS or "\n" in member:
                return None
            texts.append(member if notation.INLINE.allows(member) else notation.quote(member))
        elif type(member) not in _STRUCTURED:
            texts.append(_scalar(member))
        elif member == {} or member == []:
            texts.append(repr(member))
        else:
            return None
    return texts


def _short_map(members: dict[str, object]) -> str | None:
    """Return a map of few short members in one line, else None."""
    if len(members) > _MAX_PAIRS or nodes.Derived in set(map(type, members.values())):
        return None
    texts = _short_texts(members.values())
    if texts is None:
        return None
    pairs = [f"{notation.write_inline_key(key)} {text}" for key, text in zip(members, texts, strict=True)]
    return f"{{{notation.join_members(pairs, ',')}}}"


def _scalar(value: object) -> str:
    if value is None:
        return "null"
    if type(value) is bool:
        return "true" if value else "false"
    if type(value) is nodes.Repetition:
        return f"*{value.number}"
    return repr(value)


def _cell_rule(
    values: list[object], kinds: set[type], *, nested: bool, last: bool
) -> tuple[notation.PlainTextRule, str]:
    """Return which strings need no quotes in a column, and the separator behind its cells."""
    if last:
        return notation.NESTED_LAST if nested else notation.LINE, ""
    # Quotes around few cells with blanks cost less than a comma after every cell.
    if 2 * _spaced(values, kinds) <= len(values):
        return notation.NESTED_WORD if nested else notation.WORD, " "
    return notation.NESTED_CELL if nested else notation.CELL, ", "


def _in_parentheses(constants: list[str]) -> list[str]:
    """Return the words of the header for constants next to each other."""
    return [f"({' '.join(constants)})"] if constants else []


def _quote_like(cells: list[_Cells], keys: tuple[str, ...]) -> None:
    """Put in quotes what could be taken for a cell of a sparse column, or for another value of a constant.

    A model would take `999,77` for two cells where it stands behind a comma.
    """
    for column, following in pairwise(cells):
        if column.separator == ", ":
            following.texts = [
                notation.quote(text) if _NUMBER_WITH_COMMA.match(text) else text for text in following.texts
            ]
    for column in cells if keys else ():
        if not column.key:
            # Only a plain string can begin like that.
            column.texts = [notation.quote(text) if text.startswith(keys) else text for text in column.texts]


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
            columns.append([notation.separator_before(text, ",") for text in following.texts])
    return list(map(f"{form}%s".__mod__, zip(*columns, cells[-1].texts, strict=True)))


def _join_sparse(cells: list[_Cells]) -> list[str]:
    """Return the text of each row, in which the cells of sparse columns may be missing."""
    ends = [column.separator for column in cells]
    rows = []
    for texts in zip(*[column.texts for column in cells], strict=True):
        row, separator = "", ""
        for text, following in zip(texts, ends, strict=True):
            if text:
                row += (notation.separator_before(text, ",") if separator == ", " else separator) + text
                separator = following
        rows.append(row)
    return rows


def _spaced(values: list[object], kinds: set[type]) -> int:
    """Return the number of cells that are strings with a blank."""
    if kinds == {str}:
        return len([text for text in values if " " in text])  # type: ignore[operator]  # all are strings
    if kinds.isdisjoint((str, nodes.RepeatedValue)):
        return 0
    return sum(type(text) is str and " " in text for text in map(nodes.content_of, values))
