"""Reads a view back into the JSON value that it was rendered from (see `notation`)."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from json.decoder import scanstring  # type: ignore[attr-defined]  # the stubs miss it
from typing import Final, TypeAlias

from accp_core.documents.json_forms import WriteString, unpack_embedded_json
from accp_core.documents.json_styles import STYLE_CODE, STYLES
from accp_core.error_codes import ErrorCode
from accp_core.errors import DecodeError
from accp_core.packing import tree as nodes
from accp_core.packing.columns import unpack_column, unpack_derived
from accp_core.packing.expansion import (
    DEFAULT_EXPANSION,
    Expansion,
    ExpansionError,
    ExpansionLimits,
    size_of,
    table_size,
)
from accp_core.packing.repeated_values import unpack_repeated_values
from accp_core.packing.values import spelling_decoder
from accp_core.view import line_reader
from accp_core.view.notation import FENCE, KEY, KEY_COLUMN, TEXT_BLOCK, read_derived

__all__ = ["MAX_READ_DEPTH", "read"]

MAX_READ_DEPTH: Final = 200
"""Levels of nested values; `render` writes far fewer."""
_MAX_HEADER_DEPTH: Final = 60
_STARTS: Final = frozenset('"{[&*!')
_IN_KEY: Final = r'[^\s"{}\[\],;:=?]'
_KEY: Final = re.compile(rf"{_IN_KEY}++(?::(?! |$){_IN_KEY}*+)*+")
_Columns: TypeAlias = dict[str, line_reader.CellColumn | line_reader.Header | nodes.Constant | nodes.KeyColumn]

_REPEATED_ROW: Final = re.compile(r"&([1-9][0-9]{0,9}): ")
_ROW_REPETITION: Final = re.compile(r"\*([1-9][0-9]{0,9})(?=$|[;\]}])")
_EMPTY_ROW: Final = re.compile(r"\{\}(?=$|[;\]}])")
_REPEATED_CELL: Final = re.compile(r"&([1-9][0-9]{0,9}) (?=[\[{])")
# The start of a cell that is not plain, a blank too many, or a tab or a text block anywhere.
_SPECIAL: Final = re.compile(r'[\n ]["\[{&*! \n,]|,["\[{&*!]|\t|"""')
_STARTS_OR_END: Final = frozenset(("", *'"{[&*!'))
_SPARSE_ENDS: Final = {
    False: {" ": line_reader.WORD_END, ", ": line_reader.CELL_END},
    True: {" ": re.compile(r"[ ;\]}]"), ", ": re.compile(rf"{line_reader.CELL_END.pattern}|[;\]}}]")},
}
"""What ends a cell in a row with sparse columns, inside brackets or not, by the separator of its column."""

_read_json: Final = spelling_decoder()
_FIRST_OF_JSON: Final = frozenset('[{"-0123456789tfn \t\r\n')
# A plain text with a blank at an end is none of these.
_PLAIN_ITEM: Final = re.compile(r'[^ "\[\]{}&*!,][^,\]}]*+(?<! )')
_PLAIN_ARRAY: Final = re.compile(
    r'\[([^ "\[\]{}&*!,][^"\[\]{}&*!,]*+(?:(?<! ), ?[^" \[\]{}&*!,][^"\[\]{}&*!,]*+)*+)(?<! )\]'
)
_PLAIN_PAIR: Final = re.compile(r'([^\s"\[\]{},]++) ([^ "\[\]{}&*!,][^,\]}]*+)(?<! )')
_COUNTED: Final = re.compile(r"([\[{])([1-9][0-9]{0,9})[\]}](:$| )")
_DERIVED_PAIR: Final = re.compile(r'("(?:[^"\\]|\\.)*+"|[^\s"=]++)=[^ ]*+$')
_REPEATED: Final = re.compile("[&*][0-9]")
_EMBEDDED_JSON: Final = re.compile(rf"!(?:json({STYLE_CODE}|{nodes.BESIDE})|{nodes.IS_VIEW}) ")


def read(
    text: str, *, limits: ExpansionLimits = DEFAULT_EXPANSION, writers: Sequence[WriteString] | None = None
) -> object:
    """Return the JSON value whose view is `text`: `read(render(value)) == value`, with types and order of keys.

    A number in another spelling than Python's (`12.50`, `1E5`) becomes a float whose `repr` is that spelling.

    Args:
        text: A view, or JSON.
        limits: How large the value may be, because tables, repeated values and JSON in strings expand.
        writers: What writes the strings that hold documents, of a view that keeps their layouts beside it; None: it
            names their styles.

    Raises:
        DecodeError: E1001, `text` is not a view; E2003, its value would pass `limits`. No part of it is returned.
    """
    if text[:1] in _FIRST_OF_JSON:
        try:
            return _read_json(text)
        except ValueError:
            pass
    try:
        return _read_view(text, Expansion(limits.of(len(text)) - len(text)), writers)
    except DecodeError:
        raise
    except ExpansionError as error:
        position = max(text.find(error.sign), 0)
        raise DecodeError(str(error), code=ErrorCode.BUDGET_EXCEEDED, text=text, position=position) from None
    except (ValueError, RecursionError) as error:
        raise DecodeError(str(error), code=ErrorCode.PARSE_ERROR, text=text, position=len(text)) from error


def _read_view(text: str, expansion: Expansion, writers: Sequence[WriteString] | None) -> object:
    reader = _ViewReader(text, expansion)
    tree = reader.read_document()
    if ("&" in text or "*" in text) and _REPEATED.search(text):
        tree = unpack_repeated_values(tree, expansion)
    if reader.has_derived:
        unpack_derived(tree, expansion)
    if not reader.has_embedded:
        return tree
    return unpack_embedded_json(tree, expansion, None if writers is None else iter(writers))


class _ViewReader:
    """Reads one view into a tree of JSON values and packing nodes."""

    def __init__(self, text: str, expansion: Expansion) -> None:
        self.lines: Final = line_reader.LineReader(text)
        self.expansion: Final = expansion
        self.depth = 0
        self.header_depth = 0
        self.has_derived = False
        """Whether a string contains the value of another key, which is not yet in it."""
        self.has_embedded = False
        """Whether a string is to be written of what stands in its place."""

    def read_document(self) -> object:
        """Return the tree of the whole text."""
        text = self.lines.text
        is_value = text.startswith(("[", "{", "!", "&", "*", TEXT_BLOCK))
        value = self.read_value(self.lines.next_line(), 0) if is_value else self.read_pairs(None)
        if self.lines:
            self.lines.next_line()
            self.lines.fail("expected the end of the text, found another line", 0)
        return value

    def read_pairs(self, end: str | None) -> dict[str, object]:
        """Return the map whose pairs are on the next lines, up to a line `end`; None: up to the end of the text."""
        members: dict[str, object] = {}
        while end is not None or self.lines.number < len(self.lines.lines):
            line = self.lines.next_line()
            if line == end:
                break
            key, _, rest = line.partition(" ")
            at = len(key) + 1
            if not rest or key[:1] in ("", '"'):
                key, at = self._read_pair_key(line)
                rest = line[at:]
            if key in members:
                self.lines.fail(f"expected each key once, found {key!r} again", 0)
            if line[at - 1] == "=":
                members[key] = self.read_derived(line, at, len(line))
                continue
            members[key] = self.read_value(line, at) if rest[:1] in _STARTS else self._read_plain(line, at, len(line))
        return members

    def _read_pair_key(self, line: str) -> tuple[str, int]:
        """Return the key of a pair, which a blank or `=` ends, and the position of its value."""
        derived = _DERIVED_PAIR.match(line)
        if derived is None:
            return self.read_key(line, 0)
        key, end = self.read_string(line, 0) if line[0] == '"' else (derived[1], derived.end(1))
        return key, end + 1

    def read_value(self, line: str, at: int) -> object:
        """Return the value at `at`, which takes the rest of the line and perhaps more lines."""
        sign = line[at : at + 1]
        if sign not in _STARTS:
            return self._read_plain(line, at, len(line))
        self._enter(at)
        value = self._read_structure(line, at) if sign in "{[" else self._read_prefixed(line, at)
        self.depth -= 1
        return value

    def _read_structure(self, line: str, at: int) -> object:
        rest = line[at:]
        if rest == "{":
            return self.read_pairs("}")
        if rest == "[{":
            return [self.read_pairs("}]")]
        counted = _COUNTED.match(line, at)
        if counted is None:
            return self._read_rest_of_line(line, at)
        count = int(counted[2])
        if counted[3] == ":":
            return [self.read_value(self.lines.next_line(), 0) for _ in range(count)]
        return self.read_table(line, counted.end(), count, keyed=counted[1] == "{")

    def _read_prefixed(self, line: str, at: int) -> object:
        if line[at] == "&":
            number, at = line_reader.read_repeat_number(self.lines, line, at, " ")
            return nodes.RepeatedValue(number, self.read_value(line, at))
        embedded = _EMBEDDED_JSON.match(line, at)
        if embedded is not None:
            return self._embedded_json(embedded, self.read_value(line, embedded.end()))
        return self._read_rest_of_line(line, at)

    def _read_rest_of_line(self, line: str, at: int) -> object:
        value, end = self.read_inline(line, at, line_reader.END_OF_LINE)
        if end != len(line):
            self.lines.fail("expected the end of the line", end)
        return value

    def read_inline(self, line: str, at: int, end: re.Pattern[str]) -> tuple[object, int]:
        """Return the value at `at` and the position behind it; a plain string ends before a match of `end`."""
        sign = line[at : at + 1]
        if sign not in _STARTS:
            found = end.search(line, at)
            stop = found.start() if found else len(line)
            return self._read_plain(line, at, stop), stop
        self._enter(at)
        result = self._read_inline_structure(line, at, end)
        self.depth -= 1
        return result

    def _read_plain(self, line: str, at: int, stop: int) -> object:
        return line_reader.plain_value(self.plain_text(line, at, stop))

    def _read_inline_structure(self, line: str, at: int, end: re.Pattern[str]) -> tuple[object, int]:
        sign = line[at]
        if sign == '"':
            return self._read_text(line, at)
        if sign == "{":
            return self._read_inline_map(line, at)
        if sign == "[":
            return self._read_inline_array(line, at)
        if sign == "!":
            embedded = _EMBEDDED_JSON.match(line, at)
            if embedded is None:
                self.lines.fail("expected '!json' and the code of a style", at)
            value, at = self.read_inline(line, embedded.end(), end)
            return self._embedded_json(embedded, value), at
        if sign == "*":
            number, at = line_reader.read_repeat_number(self.lines, line, at, "")
            return nodes.Repetition(number), at
        number, at = line_reader.read_repeat_number(self.lines, line, at, " ")
        value, at = self.read_inline(line, at, end)
        return nodes.RepeatedValue(number, value), at

    def _read_text(self, line: str, at: int) -> tuple[str, int]:
        fence = FENCE.match(line, at)
        if fence is not None:
            # `next_line` read a block for each fence.
            return self.lines.blocks.popleft(), fence.end()
        return self.read_string(line, at)

    def _read_inline_map(self, line: str, at: int) -> tuple[dict[str, object], int]:
        if line.startswith("{:", at):
            return self.read_inline_keyed_table(line, at + 2)
        members: dict[str, object] = {}
        at += 1
        while not line.startswith("}", at):
            pair = _PLAIN_PAIR.match(line, at)
            if pair is not None:
                key, value, at = pair[1], line_reader.plain_value(pair[2]), pair.end(2)
            else:
                key, at = self.read_key(line, at)
                value, at = self.read_inline(line, at, line_reader.INLINE_END)
            if key in members:
                self.lines.fail(f"expected each key once, found {key!r} again", at)
            members[key] = value
            at = self.next_member(line, at, ",", "}")
        return members, at + 1

    def _read_inline_array(self, line: str, at: int) -> tuple[list[object], int]:
        if line.startswith("[:", at):
            return self.read_inline_table(line, at + 2)
        plain_items = _PLAIN_ARRAY.match(line, at)
        if plain_items is not None:
            return list(map(line_reader.plain_value, plain_items[1].replace(", ", ",").split(","))), plain_items.end()
        items: list[object] = []
        at += 1
        while not line.startswith("]", at):
            plain = _PLAIN_ITEM.match(line, at)
            if plain is not None:
                item, at = line_reader.plain_value(plain[0]), plain.end()
            else:
                item, at = self.read_inline(line, at, line_reader.INLINE_END)
            items.append(item)
            at = self.next_member(line, at, ",", "]")
        return items, at + 1

    def _embedded_json(self, embedded: re.Match[str], value: object) -> nodes.EmbeddedJson:
        style = nodes.IS_VIEW if embedded[1] is None else embedded[1]
        if style not in STYLES and style not in (nodes.IS_VIEW, nodes.BESIDE):
            self.lines.fail(f"expected the code of a style of JSON, found {style!r}", embedded.start(1))
        self.has_embedded = True
        return nodes.EmbeddedJson(value, style)

    def _enter(self, at: int) -> None:
        self.depth += 1
        if self.depth > MAX_READ_DEPTH:
            self.lines.fail(f"expected at most {MAX_READ_DEPTH} levels, found more", at)

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
        if not (type(header) is line_reader.Header and header.is_flat() and self._read_plain_rows(header, count, keys)):
            for _ in range(count):
                self._read_row_of_line(header, self.lines.next_line(), keys)
        return self._unpacked(header, keys)

    def _read_plain_rows(self, header: line_reader.Header, count: int, keys: list[str] | None) -> bool:
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
        header.slots = [nodes.NEXT_ROW] * count
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

    def _read_inline_header(
        self, line: str, at: int, *, keyed: bool
    ) -> tuple[line_reader.Header | line_reader.CellColumn, int]:
        header, at = self.read_header(line, at, keyed=keyed)
        return header, self.expect(line, at, ": ")

    def _unpacked(self, header: line_reader.Header | line_reader.CellColumn, keys: list[str] | None) -> object:
        items = unpack_column(self._to_column(header, keys), 0)
        if keys is None:
            return items
        if len(set(keys)) != len(keys):
            self.lines.fail("expected each key once", 0)
        return dict(zip(keys, items, strict=True))

    def _to_column(self, header: line_reader.Header | line_reader.CellColumn, keys: list[str] | None) -> nodes.Column:
        """Return the rows that were read; what they add is counted before they are built."""
        column = header.to_column(0)
        if keys is not None and type(column) is nodes.Table:
            self._put_keys(column, keys)
        try:
            self.expansion.add(table_size(column, 0), "the rows of this table")
        except ExpansionError as error:
            self.lines.fail(str(error), 0, code=ErrorCode.BUDGET_EXCEEDED)
        return column

    def _put_keys(self, table: nodes.Table, keys: list[str]) -> None:
        """Replace the columns that are the same as the keys of the rows."""
        for name, column in table.columns.items():
            if type(column) is nodes.KeyColumn:
                self.expansion.add(size_of(keys), f"{name}=={KEY}")
                table.columns[name] = list(keys)

    def _read_row_of_line(
        self, header: line_reader.Header | line_reader.CellColumn, line: str, keys: list[str] | None
    ) -> None:
        at = 0
        if keys is not None:
            key, at = self.read_key(line, at)
            keys.append(key)
        end = self.read_item(header, line, at, nested=False)
        if end != len(line):
            self.lines.fail("expected the end of the row", end)

    def read_item(
        self, header: line_reader.Header | line_reader.CellColumn, line: str, at: int, *, nested: bool
    ) -> int:
        """Read one item of a table (a row, the repetition of one, or a list); return the position behind it."""
        if isinstance(header, line_reader.CellColumn):
            return self.read_cell(header, line, at, line_reader.NESTED_END if nested else line_reader.END_OF_LINE)
        sign = line[at : at + 1]
        if sign == "*" and len(header.leaves) != 1 and (repetition := _ROW_REPETITION.match(line, at)):
            header.slots.append(nodes.Repetition(int(repetition[1])))
            return repetition.end()
        if sign == "{" and len(header.leaves) != 1 and (empty := _EMPTY_ROW.match(line, at)):
            header.slots.append({})
            return empty.end()
        if sign == "&" and (repeated := _REPEATED_ROW.match(line, at)):
            header.slots.append(nodes.RepeatedValue(int(repeated[1]), nodes.NEXT_ROW))
            at = repeated.end()
        else:
            header.slots.append(nodes.NEXT_ROW)
        return self.read_row(header, line, at, nested=nested)

    def read_row(self, header: line_reader.Header, line: str, at: int, *, nested: bool) -> int:
        """Read the cells of a row; return the position behind them."""
        header.rows += 1
        if header.is_sparse:
            return self._read_sparse_row(header, line, at, nested=nested)
        for leaf in header.leaves[:-1]:
            is_word = leaf.separator == " "
            end = line.find(" ", at) if is_word else -1
            if end > at and line[at] not in _STARTS_OR_END and not leaf.bracket:
                leaf.cells.append(line[at:end])
                at = end + 1
            elif is_word:
                at = self.expect(line, self.read_cell(leaf, line, at, line_reader.WORD_END), " ")
            else:
                at = self._after_comma(line, self.read_cell(leaf, line, at, line_reader.CELL_END))
        leaf = header.leaves[-1]
        if nested or leaf.bracket or line[at : at + 1] in _STARTS_OR_END:
            return self.read_cell(leaf, line, at, line_reader.NESTED_END if nested else line_reader.END_OF_LINE)
        leaf.cells.append(self.plain_text(line, at, len(line)))
        return len(line)

    def _read_sparse_row(self, header: line_reader.Header, line: str, at: int, *, nested: bool) -> int:
        """Read the cells of a row that may lack those of sparse columns."""
        self.expansion.add(len(header.leaves), "?")
        ends = _SPARSE_ENDS[nested]
        is_last = False
        for leaf in header.leaves:
            if leaf.key and (is_last or not line.startswith(leaf.key, at)):
                leaf.cells.append(nodes.ABSENT)
                continue
            if is_last:
                self.lines.fail("expected another cell", at)
            if leaf is header.leaves[-1]:
                return self.read_cell(
                    leaf, line, at + len(leaf.key), line_reader.NESTED_END if nested else line_reader.END_OF_LINE
                )
            at = self.read_cell(leaf, line, at + len(leaf.key), ends[leaf.separator])
            is_last = at == len(line) or (nested and line[at] in ";]}")
            if not is_last:
                at = self.expect(line, at, " ") if leaf.separator == " " else self._after_comma(line, at)
        if not is_last:
            self.lines.fail("expected another cell", at)
        return at

    def _after_comma(self, line: str, at: int) -> int:
        comma = line_reader.CELL_END.match(line, at)
        if comma is None:
            self.lines.fail("expected ', '", at)
        return comma.end()

    def read_cell(self, leaf: line_reader.CellColumn, line: str, at: int, end: re.Pattern[str]) -> int:
        """Read one cell; return the position behind it."""
        sign = line[at : at + 1]
        if sign not in _STARTS_OR_END:
            found = end.search(line, at)
            stop = found.start() if found else len(line)
            text = self.plain_text(line, at, stop)
            leaf.cells.append(line_reader.cell_value(text) if leaf.bracket else text)
            return stop
        if leaf.bracket and sign != "*":
            return self._read_bracketed(leaf, line, at)
        if sign == '"' and not line.startswith(TEXT_BLOCK, at):
            text, at = self.read_string(line, at)
            leaf.cells.append(line_reader.QuotedCell(text))
            return at
        value, at = self.read_inline(line, at, end)
        leaf.cells.append(line_reader.QuotedCell(value) if type(value) is str else value)
        return at

    def plain_text(self, line: str, at: int, stop: int) -> str:
        """Return a text without quotes, which is not empty and has no blank at its ends."""
        if stop <= at or " " in (line[at], line[stop - 1]):
            self.lines.fail("expected a value without blanks around it", at)
        return line[at:stop]

    def _read_bracketed(self, leaf: line_reader.CellColumn, line: str, at: int) -> int:
        assert leaf.inside is not None
        repeated = _REPEATED_CELL.match(line, at)
        at = self.expect(line, at if repeated is None else repeated.end(), leaf.bracket)
        slot: object = nodes.NEXT_ROW
        if leaf.bracket == "{" and line.startswith("}", at):
            slot, at = {}, at + 1
        elif leaf.bracket == "{":
            assert type(leaf.inside) is line_reader.Header
            at = self.expect(line, self.read_row(leaf.inside, line, at, nested=True), "}")
        else:
            slot, at = self._read_items(leaf.inside, line, at)
        leaf.cells.append(slot if repeated is None else nodes.RepeatedValue(int(repeated[1]), slot))
        return at

    def _read_items(self, header: line_reader.Header | line_reader.CellColumn, line: str, at: int) -> tuple[int, int]:
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

    def read_string(self, line: str, at: int) -> tuple[str, int]:
        """Return the JSON string at `at` and the position behind it."""
        try:
            text, end = scanstring(line, at + 1)
        except ValueError:
            self.lines.fail("expected a JSON string", at)
        return text, end

    def read_header(
        self, line: str, at: int, *, keyed: bool = False
    ) -> tuple[line_reader.Header | line_reader.CellColumn, int]:
        """Return the header at `at` and the position behind it; `keyed`: each row begins with its key."""
        self.header_depth += 1
        if self.header_depth > _MAX_HEADER_DEPTH:
            self.lines.fail(f"expected at most {_MAX_HEADER_DEPTH} nested headers", at)
        result = self._read_pool(line, at) if line.startswith("[", at) else self.read_columns(line, at, keyed=keyed)
        self.header_depth -= 1
        return result

    def _read_pool(self, line: str, at: int) -> tuple[line_reader.CellColumn, int]:
        inside, at = self.read_header(line, at + 1)
        return line_reader.CellColumn(inside, "["), self.expect(line, at, "]")

    def read_columns(self, line: str, at: int, *, keyed: bool = False) -> tuple[line_reader.Header, int]:
        """Return the header at `at`, which names columns, and the position behind it."""
        columns: _Columns = {}
        leaves: list[line_reader.CellColumn] = []
        while True:
            if line.startswith("(", at):
                at = self._read_constants(line, at + 1, columns)
            else:
                name, end = self._read_name(line, at, columns)
                if keyed and line.startswith(f"=={KEY}", end):
                    columns[name], at = nodes.KeyColumn(), end + 2 + len(KEY)
                else:
                    column, at = self._read_column(line, at, end)
                    columns[name] = column
                    leaves += column.leaves if isinstance(column, line_reader.Header) else [column]
            if not line.startswith(" ", at):
                break
            at += 1
        if not leaves:
            self.lines.fail("expected a column with cells", at)
        return line_reader.Header(columns, leaves), at

    def _read_constants(self, line: str, at: int, columns: _Columns) -> int:
        while True:
            name, at = self._read_name(line, at, columns)
            columns[name], at = self._read_constant(line, self.expect(line, at, "="))
            if not line.startswith(" ", at):
                return self.expect(line, at, ")")
            at += 1

    def _read_constant(self, line: str, at: int) -> tuple[nodes.Constant, int]:
        found = line_reader.CONSTANT_END.search(line, at)
        end = found.start() if found else len(line)
        if "$" in line[at:end] and line[at] not in _STARTS:
            return nodes.Constant(self.read_derived(line, at, end)), end
        value, at = self.read_inline(line, at, line_reader.CONSTANT_END)
        return nodes.Constant(value), at

    def read_derived(self, line: str, at: int, end: int) -> nodes.Derived:
        """Return the string in `line[at:end]`, which contains the value of another key or column."""
        derived = read_derived(line[at:end])
        if derived is None:
            self.lines.fail("expected a text with one '${name}' of a value", at)
        self.has_derived = True
        return derived

    def _read_name(self, line: str, at: int, columns: Container[str]) -> tuple[str, int]:
        if line.startswith('"', at):
            name, end = self.read_string(line, at)
        else:
            key = _KEY.match(line, at)
            if key is None:
                self.lines.fail("expected the name of a column", at)
            name, end = key[0], key.end()
        if name in columns:
            self.lines.fail(f"expected each column once, found {name!r} again", at)
        return name, end

    def _read_column(self, line: str, start: int, at: int) -> tuple[line_reader.CellColumn | line_reader.Header, int]:
        """Return the column whose name begins at `start` and ends at `at`, and the position behind it."""
        sign = line[at : at + 1]
        if sign == ",":
            return line_reader.CellColumn(separator=", "), at + 1
        if sign == "[":
            return self._read_pool(line, at)
        if sign == "?":
            comma = line.startswith(",", at + 1)
            return line_reader.CellColumn(separator=", " if comma else " ", key=f"{line[start:at]}="), at + 1 + comma
        if line.startswith("={", at):
            inside, at = self.read_header(line, at + 2)
            return line_reader.CellColumn(inside, "{"), self.expect(line, at, "}")
        if sign == "{":
            inside, at = self.read_header(line, at + 1)
            if type(inside) is not line_reader.Header:
                self.lines.fail("expected the name of a column", at)
            return inside, self.expect(line, at, "}")
        return line_reader.CellColumn(), at

    def expect(self, line: str, at: int, text: str) -> int:
        """Return the position behind `text`, which must stand at `at`."""
        if not line.startswith(text, at):
            self.lines.fail(f"expected {text!r}", at)
        return at + len(text)


def _cut(rests: list[str], separator: str) -> tuple[list[str], list[str]]:
    """Return the plain cells that the rows begin with, and the rest of each row; "" where there is none."""
    if separator == " ":
        parts = [rest.partition(" ") for rest in rests]
        return [part[0] for part in parts], [part[2] for part in parts]
    pairs = [line_reader.CELL_END.split(rest, 1) for rest in rests]
    return [pair[0] for pair in pairs], [pair[1] if len(pair) > 1 else "" for pair in pairs]
