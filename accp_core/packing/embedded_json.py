"""A JSON document inside a string, opened out; only where the same bytes can be written again.

Tool results hold JSON in JSON strings (an MCP text block, a LangChain message): the escaping alone costs 12 to 15 %
of their tokens. `pack_embedded_json` and `unpack_embedded_json` are inverse.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from accp_core.packing.number import SpelledFloat, read_float
from accp_core.packing.tree import EmbeddedJson
from accp_core.strict_json import refuse_constant

__all__ = ["STYLES", "pack_embedded_json", "read_styled_json", "unpack_embedded_json", "write_styled_json"]


Opening: TypeAlias = tuple[object, str]
"""A value and the code of the style in which it was written."""


_DECODER: Final = json.JSONDecoder(parse_constant=refuse_constant)
_EXACT_DECODER: Final = json.JSONDecoder(parse_constant=refuse_constant, parse_float=read_float)
# Where a spelled number stands while `json` writes the rest; it has no way to be told how a number is written.
_MARKED: Final = re.compile(r'"\\u0000(-?[0-9.]+(?:[eE][+-]?[0-9]+)?)\\u0000"')
_LAYOUTS: Final[dict[str, tuple[tuple[str, str] | None, int | str | None]]] = {
    "": (None, None),  # json.dumps: ", " and ": "
    "0": ((",", ":"), None),  # compact: JSON.stringify
    "1": ((",", ": "), 1),
    "2": ((",", ": "), 2),
    "3": ((",", ": "), 3),
    "4": ((",", ": "), 4),
    "t": ((",", ": "), "\t"),
}
_MARKABLE: Final = frozenset((SpelledFloat, dict, list))
_PACKED: Final = frozenset((str, dict, list))
_UNPACKED: Final = frozenset((EmbeddedJson, dict, list))
STYLES: Final[dict[str, Callable[[object], str]]] = {
    code + suffix: json.JSONEncoder(ensure_ascii=ensure_ascii, indent=indent, separators=separators).encode
    for code, (separators, indent) in _LAYOUTS.items()
    for suffix, ensure_ascii in (("", True), ("u", False))
}
"""Code to writer: a digit for the indentation (0: no blanks at all, none: blanks in one line), `u` for raw Unicode."""


def write_styled_json(value: object, style: str) -> str:
    """Return `value` as JSON text in the style of that code, numbers as they were spelled."""
    if not _holds_spelled(value):
        return STYLES[style](value)
    return _MARKED.sub(r"\1", STYLES[style](_mark(value)))


_SPELLING_STYLES: Final = {style: functools.partial(write_styled_json, style=style) for style in STYLES}


def read_styled_json(text: str) -> Opening | None:
    """Return the JSON value of `text` and the code of its style, None where no style rebuilds the same bytes.

    Duplicate keys, NaN, `-0` and documents nested too deeply are not opened.
    """
    if "\\u0000" in text and _MARKED.search(text):
        # A string like a mark would be written as the number in it, next to spelled numbers of other documents.
        return None
    try:
        return _open(text, _DECODER, STYLES) or _open(text, _EXACT_DECODER, _SPELLING_STYLES)
    except (ValueError, RecursionError):
        return None


def _open(text: str, decoder: json.JSONDecoder, styles: Mapping[str, Callable[[object], str]]) -> Opening | None:
    value = decoder.decode(text)
    return next(((value, style) for style in _likely_styles(text) if styles[style](value) == text), None)


def _mark(value: object) -> object:
    """Return `value` with marks in the place of spelled numbers."""
    if type(value) is SpelledFloat:
        return f"\0{value.spelling}\0"
    if type(value) is dict:
        return {name: _mark(member) if type(member) in _MARKABLE else member for name, member in value.items()}
    assert type(value) is list
    return [_mark(member) if type(member) in _MARKABLE else member for member in value]


def _holds_spelled(value: object) -> bool:
    level = [value]
    while level:
        if SpelledFloat in set(map(type, level)):
            return True
        containers = [member for member in level if type(member) is dict or type(member) is list]
        level = [each for member in containers for each in (member.values() if type(member) is dict else member)]
    return False


def pack_embedded_json(value: object) -> object:
    """Return `value` with every string that holds a JSON array or object, not an empty one, opened."""
    if type(value) is str:
        return _pack_string(value)
    if type(value) is dict:
        return {
            name: pack_embedded_json(member) if type(member) in _PACKED else member for name, member in value.items()
        }
    if type(value) is list:
        return [pack_embedded_json(member) if type(member) in _PACKED else member for member in value]
    return value


def unpack_embedded_json(value: object, *, limit: int = 50_000_000) -> object:
    """Return `value` with every opened document written back into its string.

    `limit` bounds the characters that are written: each document within a document doubles the escapes of the inner.

    Raises:
        ValueError: the documents pass `limit`.
    """
    return _Writing(limit).of(value)


class _Writing:
    """One walk, from the inner documents to the outer."""

    def __init__(self, limit: int) -> None:
        self.left = limit

    def of(self, value: object) -> object:
        """Return `value` with strings in the place of opened documents."""
        if type(value) is EmbeddedJson:
            text = write_styled_json(self.of(value.value), value.style)
            self.left -= len(text)
            if self.left < 0:
                raise ValueError("expected shorter documents: JSON within JSON asks for too much memory")
            return text
        if type(value) is dict:
            return {name: self.of(member) if type(member) in _UNPACKED else member for name, member in value.items()}
        if type(value) is list:
            return [self.of(member) if type(member) in _UNPACKED else member for member in value]
        return value


def _pack_string(text: str) -> object:
    if len(text) < 3 or text[0] not in "[{" or text[-1] not in "]}":
        return text
    opened = read_styled_json(text)
    if opened is None or not opened[0]:
        return text
    return EmbeddedJson(pack_embedded_json(opened[0]), opened[1])


def _likely_styles(text: str) -> tuple[str, ...]:
    """Return the codes that can fit, judged by the first line break or the first separator."""
    suffix = "" if text.isascii() else "u"
    codes: tuple[str, ...]
    if text[1:2] != "\n":
        codes = ("", "0") if '": ' in text else ("0", "")
    elif text[2:3] == "\t":
        codes = ("t",)
    else:
        indented = text[2:40]
        codes = (str(len(indented) - len(indented.lstrip(" "))),)
    return tuple(code + suffix for code in codes if code + suffix in STYLES)
