"""Reads a view back into the JSON value that it was rendered from (see `notation`)."""

from __future__ import annotations

import re
from typing import Final

from accp_core.error_codes import ErrorCode
from accp_core.errors import DecodeError
from accp_core.packing.derived import unpack_derived
from accp_core.packing.embedded_json import STYLE_CODE, STYLES, unpack_embedded_json
from accp_core.packing.expansion import DEFAULT_EXPANSION, Expansion, ExpansionError, ExpansionLimits
from accp_core.packing.number import spelling_decoder
from accp_core.packing.repeated_values import unpack_repeated_values
from accp_core.packing.tree import EmbeddedJson, RepeatedValue, Repetition
from accp_core.view.line_reader import LineReader
from accp_core.view.notation import TEXT_BLOCK
from accp_core.view.plain_values import END_OF_LINE, INLINE_END, plain_value, read_repeat_number
from accp_core.view.read_rows import RowReader

__all__ = ["MAX_READ_DEPTH", "read"]

MAX_READ_DEPTH: Final = 200
"""Levels of nested values; `render` writes far fewer."""


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
_EMBEDDED_JSON: Final = re.compile(rf"!json({STYLE_CODE}) ")


def read(text: str, *, limits: ExpansionLimits = DEFAULT_EXPANSION) -> object:
    """Return the JSON value whose view is `text`: `read(render(value)) == value`, with types and order of keys.

    A number in another spelling than Python's (`12.50`, `1E5`) becomes a float whose `repr` is that spelling.

    Args:
        text: A view, or JSON.
        limits: How large the value may be, because tables, repeated values and JSON in strings expand.

    Raises:
        DecodeError: E1001, `text` is not a view; E2003, its value would pass `limits`. No part of it is returned.
    """
    if text[:1] in _FIRST_OF_JSON:
        try:
            return _read_json(text)
        except ValueError:
            pass
    try:
        return _read_view(text, Expansion(limits.of(len(text)) - len(text)))
    except DecodeError:
        raise
    except ExpansionError as error:
        position = max(text.find(error.sign), 0)
        raise DecodeError(str(error), code=ErrorCode.BUDGET_EXCEEDED, text=text, position=position) from None
    except (ValueError, RecursionError) as error:
        raise DecodeError(str(error), code=ErrorCode.PARSE_ERROR, text=text, position=len(text)) from error


def _read_view(text: str, expansion: Expansion) -> object:
    reader = _ViewReader(text, expansion)
    tree = reader.read_document()
    if ("&" in text or "*" in text) and _REPEATED.search(text):
        tree = unpack_repeated_values(tree, expansion)
    if reader.has_derived:
        unpack_derived(tree, expansion)
    return unpack_embedded_json(tree, expansion) if "!json" in text else tree


class _ViewReader(RowReader):
    """Reads one view into a tree of JSON values and packing nodes."""

    def __init__(self, text: str, expansion: Expansion) -> None:
        super().__init__(LineReader(text), expansion)
        self.depth = 0

    def read_document(self) -> object:
        """Return the tree of the whole text."""
        first = self.lines.text[:1]
        value = self.read_value(self.lines.next_line(), 0) if first and first in "[{!&*" else self.read_pairs(None)
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
            number, at = read_repeat_number(self.lines, line, at, " ")
            return RepeatedValue(number, self.read_value(line, at))
        embedded = _EMBEDDED_JSON.match(line, at)
        if embedded is not None:
            return self._embedded_json(embedded, self.read_value(line, embedded.end()))
        return self._read_rest_of_line(line, at)

    def _read_rest_of_line(self, line: str, at: int) -> object:
        value, end = self.read_inline(line, at, END_OF_LINE)
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
        return plain_value(self.plain_text(line, at, stop))

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
            number, at = read_repeat_number(self.lines, line, at, "")
            return Repetition(number), at
        number, at = read_repeat_number(self.lines, line, at, " ")
        value, at = self.read_inline(line, at, end)
        return RepeatedValue(number, value), at

    def _read_text(self, line: str, at: int) -> tuple[str, int]:
        if line.startswith(TEXT_BLOCK, at):
            # `next_line` read a block for each triple quote.
            return self.lines.blocks.popleft(), at + len(TEXT_BLOCK)
        return self.read_string(line, at)

    def _read_inline_map(self, line: str, at: int) -> tuple[dict[str, object], int]:
        if line.startswith("{:", at):
            return self.read_inline_keyed_table(line, at + 2)
        members: dict[str, object] = {}
        at += 1
        while not line.startswith("}", at):
            pair = _PLAIN_PAIR.match(line, at)
            if pair is not None:
                key, value, at = pair[1], plain_value(pair[2]), pair.end(2)
            else:
                key, at = self.read_key(line, at)
                value, at = self.read_inline(line, at, INLINE_END)
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
            return list(map(plain_value, plain_items[1].replace(", ", ",").split(","))), plain_items.end()
        items: list[object] = []
        at += 1
        while not line.startswith("]", at):
            plain = _PLAIN_ITEM.match(line, at)
            if plain is not None:
                item, at = plain_value(plain[0]), plain.end()
            else:
                item, at = self.read_inline(line, at, INLINE_END)
            items.append(item)
            at = self.next_member(line, at, ",", "]")
        return items, at + 1

    def _embedded_json(self, embedded: re.Match[str], value: object) -> EmbeddedJson:
        if embedded[1] not in STYLES:
            self.lines.fail(f"expected the code of a style of JSON, found {embedded[1]!r}", embedded.start(1))
        return EmbeddedJson(value, embedded[1])

    def _enter(self, at: int) -> None:
        self.depth += 1
        if self.depth > MAX_READ_DEPTH:
            self.lines.fail(f"expected at most {MAX_READ_DEPTH} levels, found more", at)


_STARTS: Final = frozenset('"{[&*!')
