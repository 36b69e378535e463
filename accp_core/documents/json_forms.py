"""Two forms: a JSON document, and lines of JSON objects or arrays (JSON Lines).

A layout is empty for compact JSON in raw Unicode, `@` and a code of `json_styles` for what a program writes by default,
and else what `writing` tells of the gaps and of the escapes in strings.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from accp_core.documents.document import BYTE_ORDER_MARK
from accp_core.documents.json_styles import ESCAPE_FORMS, STYLES, find_styles, write_styled_json
from accp_core.documents.writing import Kind, Spelling, as_is, find_brackets, write_brackets
from accp_core.packing.expansion import Expansion
from accp_core.packing.values import read_float, read_int, spelling_decoder
from accp_core.strict_json import has_surrogate_pair, strict_decoder

__all__ = ["JSON", "JSON_LINES", "JsonForm", "describe_json", "read_json_text", "write_json"]


_FIRST: Final = frozenset('[{"-0123456789tfnNI')


def _or_digits(read: Callable[[str], Any], digits: str) -> Any:
    """Return a number, or its digits where nothing holds it."""
    try:
        return read(digits)
    except ValueError:
        return digits


_FLOAT: Final = partial(_or_digits, read_float)
_decode: Final = spelling_decoder(read_float=_FLOAT, read_constant=str)
_decode_long: Final = strict_decoder(read_float=_FLOAT, read_constant=str, read_int=partial(_or_digits, read_int))
_MAX_DIGITS: Final = 4_000
"""Digits of an integer that Python reads: by default up to 4,300."""
_LONG: Final = re.compile(rf"(?<![0-9])[0-9]{{{_MAX_DIGITS}}}")


def read_json_text(text: str) -> Any:
    """Return the value of one document.

    Its numbers keep their spelling; one that no float holds, NaN among them, and an integer of more digits than Python
    reads become text.

    Raises:
        ValueError: it is no JSON, or a map repeats a key.
    """
    text = text.removeprefix(BYTE_ORDER_MARK)
    return _decode_long(text) if len(text) > _MAX_DIGITS and _LONG.search(text) else _decode(text)


@dataclass(eq=False, slots=True)
class JsonForm:
    """A form of JSON (see `WholeForm`)."""

    CODE: str
    IS_SEVERAL: bool

    def recognise(self, text: str) -> bool:
        """Return whether `text` begins like JSON; where there are several documents, whether it has a second line."""
        first = text.removeprefix(BYTE_ORDER_MARK)[:1]
        return first in ("{", "[") and "\n" in text if self.IS_SEVERAL else first in _FIRST

    def read(self, text: str) -> Any:
        """Return the value of the document, or those of the lines, of which there are several; blank lines hold none.

        Raises:
            ValueError: it is not written so.
        """
        if not self.IS_SEVERAL:
            return read_json_text(text)
        # Files that were joined have a byte order mark in front of the first line of each.
        lines = (line.removeprefix(BYTE_ORDER_MARK) for line in text.splitlines())
        values = [read_json_text(line) for line in lines if line.strip()]
        if len(values) < 2 or not all(isinstance(value, (dict, list)) for value in values):
            raise ValueError("expected several lines of JSON objects or arrays")
        return values

    def describe(self, text: str, value: object) -> str | None:
        """Return the layout (see above)."""
        return describe_json(text, self._documents(value))

    def write(self, value: object, how: str, expansion: Expansion) -> str:
        """Return the text in a layout."""
        return write_json(self._documents(value), how, expansion)

    def _documents(self, value: object) -> list[object]:
        if not self.IS_SEVERAL:
            return [value]
        if type(value) is not list:
            raise ValueError(f"expected an array for JSON Lines, found {type(value).__name__!r}")
        return value


JSON: Final = JsonForm("o", IS_SEVERAL=False)
JSON_LINES: Final = JsonForm("n", IS_SEVERAL=True)


def describe_json(text: str, values: Sequence[object]) -> str | None:
    """Return the layout of a text that is one JSON document after the other; None where it has none.

    Args:
        text: The text.
        values: The values of its documents, whose numbers keep their spelling.
    """
    if "\\u0000" in text:
        # A string that looks like a placeholder would be written as a number.
        return None
    try:
        compact = "\n".join([write_styled_json(value, "0u") for value in values])
        # Of two halves that were written in different ways, a view makes one character.
        if has_surrogate_pair(compact):
            return None
        if compact == text:
            return ""
        for style in find_styles(text):
            if "\n".join([write_styled_json(value, style) for value in values]) == text:
                return f"@{style}"
    except (ValueError, RecursionError):
        return None
    return find_brackets(text, _spell, values)


def write_json(values: Sequence[object], how: str, expansion: Expansion) -> str:
    """Return JSON documents one after the other in a layout; its characters are counted.

    Raises:
        ValueError: the layout does not fit the values; ExpansionError: the text is longer than allowed.
    """
    style = how[1:] if how else "0u"
    if (how and how[0] != "@") or style not in STYLES:
        return write_brackets(how, _spell, values, expansion)
    expansion.add(len(values) - 1, "this part")
    return "\n".join([write_styled_json(value, style, expansion, "this part") for value in values])


_PLAIN: Final = re.compile(r"[ !#-%(-*,-.0-;?-\[\]-_a-~]*")
"""A string that all forms write in the same way."""
_BEYOND: Final = frozenset("NI-0123456789")
_SPELLS_NUMBER: Final = re.compile(r"NaN|-?Infinity|-?[0-9]++(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?")
_OTHERS: Final[dict[type, Spelling]] = {dict: as_is("{"), list: as_is("["), type(None): as_is("null")}


def _spell(value: object, where: Kind) -> Spelling:
    if type(value) is str:
        return _spell_text(value)
    if type(value) is bool:
        return as_is("true" if value else "false")
    return _OTHERS.get(type(value)) or as_is(repr(value))


def _spell_text(text: str) -> Spelling:
    if text[:1] in _BEYOND and _SPELLS_NUMBER.fullmatch(text):
        # A number that no float holds has no quotes in the form "b".
        return Spelling(
            lambda form: text if form == "b" else f'"{text}"' if not form else None, ("", "b"), (text, "bare")
        )
    if _PLAIN.fullmatch(text):
        return as_is(f'"{text}"')
    return Spelling(partial(_write_text, text), ESCAPE_FORMS, ("escapes",))


def _write_text(text: str, form: str) -> str | None:
    """Return a string of JSON whose escapes are those of a style."""
    return write_styled_json(text, form) if form in ESCAPE_FORMS else None
