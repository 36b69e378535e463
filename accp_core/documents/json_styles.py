"""JSON as programs write it by default: the styles that a code tells, where no layout is kept beside the value."""

from __future__ import annotations

import json
import marshal
import re
from typing import Any, Final

from accp_core.packing.expansion import Expansion
from accp_core.packing.tree import map_members
from accp_core.packing.values import SpelledFloat, read_float, read_int
from accp_core.strict_json import refuse_constant

__all__ = ["ESCAPE_FORMS", "STYLES", "STYLE_CODE", "find_styles", "read_styled_json", "write_styled_json"]

# Not strict about duplicate names: a text with one is not written again as it was.
_DECODER: Final = json.JSONDecoder(parse_constant=refuse_constant, parse_float=read_float, parse_int=read_int)
# `json` cannot be told how to write a number, so it writes a string in place of a SpelledFloat.
_PLACEHOLDER: Final = re.compile(r'"\\u0000(-?[0-9.]+(?:[eE][+-]?[0-9]+)?)\\u0000"')
_INDENTS: Final[dict[str, int | str]] = {"1": 1, "2": 2, "3": 3, "4": 4, "t": "\t"}
_SEPARATORS: Final = {"": (", ", ": "), "0": (",", ":"), **dict.fromkeys(_INDENTS, (",", ": "))}
_HTML: Final = {sign: f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}
_GSON: Final = {**_HTML, "=": "\\u003d", "'": "\\u0027"}
_ESCAPES: Final[dict[str, dict[str, str]]] = {"": {}, "h": _HTML, "g": _GSON, "s": {"/": "\\/"}}
"""What some writers escape although JSON needs no escape, by the letter of the style: Go and Rails, Gson, PHP.

None of these characters stands outside strings.
"""
ESCAPE_FORMS: Final = tuple(letter + suffix for suffix in ("u", "") for letter in _ESCAPES)
"""The codes of the styles that differ in the escapes of a string."""
STYLE_CODE: Final = "[0-9t]?[hgs]?u?"
"""The pattern of what may be a code of STYLES."""
_MAY_HOLD_SPELLED: Final = frozenset((SpelledFloat, dict, list))
STYLES: Final = {
    code + letter + u: (json.JSONEncoder(ensure_ascii=not u, indent=_INDENTS.get(code), separators=signs), escapes)
    for code, signs in _SEPARATORS.items()
    for letter, escapes in _ESCAPES.items()
    for u in ("", "u")
}
"""Writers by the codes of styles: the indentation (a number of blanks, `t` a tab; `0`: no blanks, none: one line with
blanks after commas and colons), then `h`, `g` or `s` for more escapes, then `u` for raw Unicode instead of escapes.
"""


def write_styled_json(value: object, style: str, expansion: Expansion | None = None, sign: str = "!json") -> str:
    """Return `value` as JSON text in the style of that code; a SpelledFloat keeps its spelling.

    Args:
        value: A JSON value.
        style: A code of STYLES.
        expansion: What the text may have in characters; None: any number.
        sign: What asks for the text, for an error message.

    Raises:
        ValueError: `value` cannot be written as JSON; ExpansionError: the text would be too long.
        KeyError: `style` is not a code of STYLES.
    """
    encoder, escapes = STYLES[style]
    is_spelled = _may_hold_spelled(value)
    written = _with_placeholders(value) if is_spelled else value
    # A text of one line is not much longer than its value; indentation may be.
    chunks = encoder.iterencode(written) if encoder.indent and expansion else [encoder.encode(written)]
    kept = []
    for chunk in chunks:
        text = _PLACEHOLDER.sub(r"\1", chunk) if is_spelled else chunk
        for char, escape in escapes.items():
            text = text.replace(char, escape)
        if expansion:
            expansion.add(len(text), sign)
        kept.append(text)
    return "".join(kept)


def read_styled_json(text: str) -> tuple[object, str] | None:
    """Return the JSON value of `text` and the code of its style, or None if no style writes the same bytes.

    That is so for duplicate names, NaN, unusual blanks, and documents that are nested too deep.
    """
    # A string that looks like a placeholder would be written as a number.
    if "\\u0000" in text and _PLACEHOLDER.search(text):
        return None
    try:
        value = _DECODER.decode(text)
        return next(((value, style) for style in find_styles(text) if write_styled_json(value, style) == text), None)
    except (ValueError, RecursionError):
        return None


def _with_placeholders(value: Any) -> object:
    """Return `value` with a placeholder for each SpelledFloat."""
    if type(value) is SpelledFloat:
        return f"\0{value.spelling}\0"
    return map_members(value, _with_placeholders, _MAY_HOLD_SPELLED)


def _may_hold_spelled(value: Any) -> bool:
    """Return whether `marshal` refuses a value, as it does any subclass of float; a walk takes ten times as long."""
    try:
        return not marshal.dumps(value)
    except ValueError:
        return True


def find_styles(text: str) -> tuple[str, ...]:
    """Return the codes of the styles that `text` may have, by its first line break or its first separator."""
    suffix = "" if text.isascii() else "u"
    codes: tuple[str, ...] = ("", "0") if '": ' in text else ("0", "")
    if text[1:2] == "\n":
        indented = text[2:40]
        codes = ("t" if indented[:1] == "\t" else str(len(indented) - len(indented.lstrip(" "))),)
    letters = _ESCAPES if "\\/" in text or "\\u" in text else ("",)
    return tuple(style for letter in letters for code in codes if (style := code + letter + suffix) in STYLES)
