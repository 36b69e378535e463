"""JSON documents inside strings, replaced by their values where the same bytes can be written again.

Tool results hold JSON in JSON strings (an MCP text block, a LangChain message), and the escapes alone cost 12 to 15 %
of their tokens. `pack_embedded_json` and `unpack_embedded_json` are inverse.
"""

from __future__ import annotations

import functools
import json
import math
import re
from collections.abc import Callable
from json.encoder import encode_basestring, encode_basestring_ascii
from typing import Any, Final, TypeAlias

from accp_core.packing.number import SpelledFloat, read_float, read_int
from accp_core.packing.tree import EmbeddedJson
from accp_core.strict_json import refuse_constant

__all__ = [
    "LINE_STYLES", "STYLES", "STYLE_CODE", "find_style", "python_size",
    "read_styled_json", "write_styled_json", "written_size",
]  # fmt: skip

StyledJson: TypeAlias = tuple[object, str]
"""A JSON value and the code of the style in which it was written."""

# Not strict about duplicate names: a text with one is not written again as it was.
_DECODER: Final = json.JSONDecoder(parse_constant=refuse_constant)
_SPELLING_DECODER: Final = json.JSONDecoder(parse_constant=refuse_constant, parse_float=read_float, parse_int=read_int)
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
_HTML: Final = {sign: f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}
_ESCAPES: Final[dict[str, dict[str, str]]] = {
    "h": _HTML,  # Go, Rails
    "g": {**_HTML, "=": "\\u003d", "'": "\\u0027"},  # Gson
    "s": {"/": "\\/"},  # PHP
}
"""What some writers escape besides, by the letter of the style; none of it stands in JSON outside strings."""
STYLE_CODE: Final = f"[0-9t]?[{''.join(_ESCAPES)}]?u?"
"""The pattern of what may be a code of STYLES."""
_MAY_HOLD_SPELLED: Final = frozenset((SpelledFloat, dict, list))
_LITERALS: Final = {None: "null", True: "true", False: "false"}
_PACKED: Final = frozenset((str, dict, list))
_UNPACKED: Final = frozenset((EmbeddedJson, dict, list))
_ENCODERS: Final[dict[str, Callable[[object], str]]] = {
    code + suffix: json.JSONEncoder(ensure_ascii=ensure_ascii, indent=indent, separators=separators).encode
    for code, (separators, indent) in _LAYOUTS.items()
    for suffix, ensure_ascii in (("", True), ("u", False))
}


def write_styled_json(value: object, style: str) -> str:
    """Return `value` as JSON text in the style of that code; a SpelledFloat keeps its spelling.

    Raises:
        ValueError: `value` cannot be written as JSON.
        KeyError: `style` is not a code of STYLES.
    """
    return _encode(value, style) if style in _ONE_LINE else STYLES[style](value)


def _encode(value: object, style: str) -> str:
    """Return `value` as `json` writes it, but for each SpelledFloat."""
    if not _holds_spelled(value):
        return _ENCODERS[style](value)
    return _PLACEHOLDER.sub(r"\1", _ENCODERS[style](_with_placeholders(value)))


def _write_escaped(value: object, *, style: str, letter: str) -> str:
    text = write_styled_json(value, style)
    for sign, escape in _ESCAPES[letter].items():
        text = text.replace(sign, escape)
    return text


def _indented_writer(style: str) -> Callable[[object], str]:
    """Return the writer of a style over lines; `json` has one in Python only, which takes twice as long."""
    quote = _quote_of(style)
    indent = _layout_of(style)[1]
    step = " " * indent if isinstance(indent, int) else str(indent)
    scalars: dict[type, Callable[[Any], str]] = {
        str: quote, int: repr, float: _float_text, SpelledFloat: repr,
        bool: _LITERALS.__getitem__, type(None): _LITERALS.__getitem__,
    }  # fmt: skip

    def write_member(value: Any, line: str) -> str:
        scalar = scalars.get(type(value))
        return scalar(value) if scalar else write_container(value, line)

    def write_container(value: Any, line: str) -> str:
        inner = line + step
        if type(value) is dict:
            members = [f"{quote(name)}: {write_member(member, inner)}" for name, member in value.items()]
            return f"{{{inner}{f',{inner}'.join(members)}{line}}}" if members else "{}"
        if type(value) is not list:
            raise TypeError(f"expected a JSON value, found {type(value).__name__!r}")
        members = [write_member(member, inner) for member in value]
        return f"[{inner}{f',{inner}'.join(members)}{line}]" if members else "[]"

    def write(value: object) -> str:
        try:
            return write_member(value, "\n")
        except TypeError:
            # A tuple, or a number as a name: `json` decides.
            return _encode(value, style)

    return write


def _float_text(value: float) -> str:
    return repr(value) if math.isfinite(value) else _ENCODERS[""](value)


def _layout_of(style: str) -> tuple[tuple[str, str] | None, int | str | None]:
    return _LAYOUTS[style.removesuffix("u").rstrip("".join(_ESCAPES))]


def _quote_of(style: str) -> Callable[[str], str]:
    quote = encode_basestring if style.endswith("u") else encode_basestring_ascii
    escapes = _ESCAPES.get(style.removesuffix("u")[-1:])
    if escapes is None:
        return quote
    table = str.maketrans(escapes)
    return lambda text: quote(text).translate(table)


_INDENTED: Final = {style: _indented_writer(style) for style in _ENCODERS if _layout_of(style)[1]}
_ONE_LINE: Final = frozenset(_ENCODERS) - frozenset(_INDENTED)
STYLES: Final[dict[str, Callable[[object], str]]] = {
    **_ENCODERS,
    **_INDENTED,
    **{
        code + letter + suffix: functools.partial(_write_escaped, style=code + suffix, letter=letter)
        for code in _LAYOUTS
        for letter in _ESCAPES
        for suffix in ("", "u")
    },
}
"""Style code to writer: the indentation (a number of blanks, `t` a tab; `0`: no blanks at all, none: one line with
blanks after commas and colons), then `h`, `g` or `s` for more escapes, then `u` for raw Unicode instead of escapes."""
LINE_STYLES: Final = frozenset(style for style in STYLES if not _layout_of(style)[1])
"""The codes of the styles of one line."""


def written_size(value: object, style: str) -> int:
    """Return how many characters `write_styled_json` would write."""
    separators, indent = _layout_of(style)
    step = len(indent) if isinstance(indent, str) else indent
    return _size(value, separators or (", ", ": "), step, _quote_of(style))


def python_size(value: object) -> int:
    """Return how many characters `repr` would write for a JSON value."""
    return _size(value, (", ", ": "), None, repr)


def _size(value: object, separators: tuple[str, str], step: int | None, quote: Callable[[str], str]) -> int:
    """Return the characters of a value; `step`: blanks of a level, None: all is in one line."""
    item, colon = map(len, separators)
    size, level, depth = 0, [value], 0
    while level:
        # Each member of a container has a line break and its blanks, and so has the bracket behind them.
        before, behind = (0, 0) if step is None else (1 + step * (depth + 1), 1 + step * depth)
        inner: list[object] = []
        for part in level:
            if type(part) is dict:
                size += sum(map(len, map(quote, part))) + len(part) * colon
                inner += part.values()
            elif type(part) is list:
                inner += part
            else:
                size += _scalar_size(part, quote)
                continue
            size += 2 + (len(part) * (item + before) - item + behind if part else 0)
        level, depth = inner, depth + 1
    return size


def _scalar_size(value: object, quote: Callable[[str], str]) -> int:
    if type(value) is str:
        return len(quote(value))
    return 4 if value is None or value is True else 5 if value is False else len(repr(value))


def read_styled_json(text: str) -> StyledJson | None:
    """Return the JSON value of `text` and the code of its style, or None if no style writes the same bytes.

    That is so for duplicate names, NaN, unusual blanks, and documents that are nested too deep.
    """
    try:
        value = _DECODER.decode(text)
        style = find_style(text, value)
        if style is None:
            value = _SPELLING_DECODER.decode(text)
            style = find_style(text, value)
    except (ValueError, RecursionError):
        return None
    return None if style is None else (value, style)


def find_style(text: str, value: object) -> str | None:
    """Return the code of the style in which `text` writes `value`; None: no style writes the same characters."""
    if "\\u0000" in text and _PLACEHOLDER.search(text):
        # A string that looks like a placeholder would be written as a number.
        return None
    try:
        for style in _likely_styles(text):
            if write_styled_json(value, style) == text:
                return style
    except (ValueError, RecursionError):
        pass
    return None


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
    letters = ["", *_likely_letters(text)]
    return tuple(style for letter in letters for code in codes if (style := code + letter + suffix) in STYLES)


def _likely_letters(text: str) -> list[str]:
    """Return the letters whose signs stand in `text`, but only escaped; a backslash in a string may look like that."""
    if "\\/" not in text and "\\u" not in text:
        return []
    return [
        letter
        for letter, escapes in _ESCAPES.items()
        if any(escape in text for escape in escapes.values())
        and all(text.count(sign) == escape.count(sign) * text.count(escape) for sign, escape in escapes.items())
    ]
