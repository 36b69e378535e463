"""JSON documents inside strings, replaced by their values where the same bytes can be written again.

Tool results hold JSON in JSON strings (an MCP text block, a LangChain message), and the escapes alone cost 12 to 15 %
of their tokens. `pack_embedded_json` and `unpack_embedded_json` are inverse.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from accp_core.packing.number import SpelledFloat, read_float
from accp_core.packing.tree import EmbeddedJson, map_members
from accp_core.strict_json import refuse_constant

__all__ = ["STYLES", "pack_embedded_json", "read_styled_json", "unpack_embedded_json", "write_styled_json"]

StyledJson: TypeAlias = tuple[object, str]
"""A JSON value and the code of the style in which it was written."""

# Not strict about duplicate names: a text with one is not written again as it was.
_DECODER: Final = json.JSONDecoder(parse_constant=refuse_constant)
_SPELLING_DECODER: Final = json.JSONDecoder(parse_constant=refuse_constant, parse_float=read_float)
# `json` cannot be told how to write a number, so it writes a string in place of a SpelledFloat.
_PLACEHOLDER: Final = re.compile(r'"\\u0000(-?[0-9.]+(?:[eE][+-]?[0-9]+)?)\\u0000"')
_LAYOUTS: Final[dict[str, tuple[tuple[str, str] | None, int | str | None]]] = {
    "": (None, None),  # json.dumps: ", " and ": "
    "0": ((",", ":"), None),  # compact: JSON.stringify
    "1": ((",", ": "), 1),
    "2": ((",", ": "), 2),
    "3": ((",", ": "), 3),
    "4": ((",", ": "), 4),
    "t": ((",", ": "), "\t"),
}
_MAY_HOLD_SPELLED: Final = frozenset((SpelledFloat, dict, list))
_PACKED: Final = frozenset((str, dict, list))
_UNPACKED: Final = frozenset((EmbeddedJson, dict, list))
STYLES: Final[dict[str, Callable[[object], str]]] = {
    code + suffix: json.JSONEncoder(ensure_ascii=ensure_ascii, indent=indent, separators=separators).encode
    for code, (separators, indent) in _LAYOUTS.items()
    for suffix, ensure_ascii in (("", True), ("u", False))
}
"""Style code to writer: the indentation (a number of blanks, `t` a tab; `0`: no blanks at all, none: one line with
blanks after commas and colons), then `u` for raw Unicode instead of escapes."""


def write_styled_json(value: object, style: str) -> str:
    """Return `value` as JSON text in the style of that code; a SpelledFloat keeps its spelling.

    Raises:
        ValueError: `value` cannot be written as JSON.
        KeyError: `style` is not a code of STYLES.
    """
    if not _holds_spelled(value):
        return STYLES[style](value)
    return _PLACEHOLDER.sub(r"\1", STYLES[style](_with_placeholders(value)))


_SPELLING_STYLES: Final = {style: functools.partial(write_styled_json, style=style) for style in STYLES}


def read_styled_json(text: str) -> StyledJson | None:
    """Return the JSON value of `text` and the code of its style, or None if no style writes the same bytes.

    That is so for duplicate names, NaN, `-0`, unusual blanks, and documents that are nested too deep.
    """
    if "\\u0000" in text and _PLACEHOLDER.search(text):
        # A string that looks like a placeholder would be written as a number.
        return None
    try:
        return _read_with(_DECODER, STYLES, text) or _read_with(_SPELLING_DECODER, _SPELLING_STYLES, text)
    except (ValueError, RecursionError):
        return None


def _read_with(
    decoder: json.JSONDecoder, styles: Mapping[str, Callable[[object], str]], text: str
) -> StyledJson | None:
    value = decoder.decode(text)
    return next(((value, style) for style in _likely_styles(text) if styles[style](value) == text), None)


def _with_placeholders(value: object) -> object:
    """Return `value` with a placeholder for each SpelledFloat."""
    if type(value) is SpelledFloat:
        return f"\0{value.spelling}\0"
    if type(value) is dict:
        return {
            name: _with_placeholders(member) if type(member) in _MAY_HOLD_SPELLED else member
            for name, member in value.items()
        }
    assert type(value) is list
    return [_with_placeholders(member) if type(member) in _MAY_HOLD_SPELLED else member for member in value]


def _holds_spelled(value: object) -> bool:
    level = [value]
    while level:
        if SpelledFloat in set(map(type, level)):
            return True
        containers = [member for member in level if type(member) is dict or type(member) is list]
        level = [member for owner in containers for member in (owner.values() if type(owner) is dict else owner)]
    return False


def pack_embedded_json(value: object) -> object:
    """Return `value` with EmbeddedJson for each string that is a JSON array or object with members."""
    if type(value) is str:
        return _pack_string(value)
    if type(value) is dict or type(value) is list:
        return map_members(value, pack_embedded_json, _PACKED)
    return value


def unpack_embedded_json(value: object, *, limit: int = 50_000_000) -> object:
    """Return `value` with each EmbeddedJson written back as a string.

    Args:
        value: A tree that `pack_embedded_json` returned.
        limit: Characters that are written in total. Each document within a document doubles the escapes of the inner
            one, so a short text could ask for more memory than there is.

    Raises:
        ValueError: the documents have more characters than `limit`.
    """
    return _Unpacking(limit).unpack(value)


class _Unpacking:
    """One walk through a tree, which writes inner documents before outer ones."""

    def __init__(self, limit: int) -> None:
        self.left = limit

    def unpack(self, value: object) -> object:
        """Return `value` with a string for each EmbeddedJson."""
        if type(value) is EmbeddedJson:
            text = write_styled_json(self.unpack(value.value), value.style)
            self.left -= len(text)
            if self.left < 0:
                raise ValueError("expected shorter documents, found JSON within JSON that asks for too much memory")
            return text
        if type(value) is dict or type(value) is list:
            return map_members(value, self.unpack, _UNPACKED)
        return value


def _pack_string(text: str) -> object:
    if len(text) < 3 or text[0] not in "[{" or text[-1] not in "]}":
        return text
    document = read_styled_json(text)
    if document is None or not document[0]:
        return text
    value, style = document
    return EmbeddedJson(pack_embedded_json(value), style)


def _likely_styles(text: str) -> tuple[str, ...]:
    """Return the codes of the styles that `text` may have, by its first line break or its first separator."""
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
