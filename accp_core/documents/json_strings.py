"""How the strings of JSON were written: their escapes, and those without quotes, which spell a number."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from json.decoder import scanstring  # type: ignore[attr-defined]  # the stubs miss it
from json.encoder import encode_basestring
from typing import Final

from accp_core.documents.foretelling import Hearing, Telling
from accp_core.packing.expansion import Expansion

__all__ = ["describe_escapes", "hear_bare", "hear_escapes", "tell_bare"]

_SPELLS_NUMBER: Final = re.compile(r'"(?:NaN|-?Infinity|-?[0-9]++(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?)"')


def _escape(char: str, form: str) -> str:
    """Return a character of a string in a form: `c` as in compact JSON, `u` or `U` hexadecimal, or `/` behind `\\`."""
    if form == "c":
        return encode_basestring(char)[1:-1]
    if form == "/":
        return f"\\{char}"
    digits = "{:04x}" if form == "u" else "{:04X}"
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{digits.format(int.from_bytes(units[at : at + 2]))}" for at in range(0, len(units), 2))


_PLANE_0: Final = "\uffff"
_BEYOND: Final = "\U0010ffff"
_RANGES: Final = {_PLANE_0: "\x80-\uffff", _BEYOND: "\U00010000-\U0010ffff"}


def _class_of(char: str) -> str:
    """Return what stands for a character among those with other escapes: itself, or all that are not ASCII alike."""
    if char < "\x80" or char in "\u2028\u2029":
        return char
    return _PLANE_0 if char < "\U00010000" else _BEYOND


_IN_SOURCE: Final = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.")
_FORMS: Final = ("c", "u", "U", "/")


def _read_escape(item: str) -> str:
    """Return the character that an escape, or a character itself, stands for."""
    return str(scanstring(f'"{item}"', 1)[0]) if item[0] == "\\" else item


def _items_of(classes: str) -> re.Pattern[str]:
    """Return the pattern of an escape of compact JSON, or of a raw character of some classes."""
    raw = "".join(_RANGES.get(each) or re.escape(each) for each in classes if each not in '"\\')
    return re.compile(r"\\u[0-9a-f]{4}|\\." + (f"|[{raw}]" if raw else ""))


def _tell_escapes(sources: Sequence[str], compact: Sequence[str]) -> str:
    """Return which escapes the strings have that compact JSON has not; ValueError: they differ in other ways."""
    found = dict.fromkeys(escape for text in sources if "\\" in text for escape in _IN_SOURCE.findall(text))
    read = ((escape, _read_escape(escape)) for escape in found)
    classes = "".join(dict.fromkeys(_class_of(char) for escape, char in read if escape != _escape(char, "c")))
    items, telling = _items_of(classes), Telling()
    for source, text in zip(sources, compact, strict=True):
        at = last = 0
        for item in items.finditer(text):
            start = at + item.start() - last
            char = _read_escape(item[0])
            key = (_class_of(char),)
            foretold = str(telling.foretold(key, key, "c"))
            form = _form_at(source, start, char, foretold)
            telling.tell(key, key, form, is_foretold=form == foretold)
            _expect_same(source[at:start], text[last : item.start()])
            at, last = start + len(_escape(char, form)), item.end()
        _expect_same(source[at:], text[last:])
    return f"{','.join(f'{ord(each):x}' for each in classes)};{telling.to_text(str)}"


def _form_at(source: str, start: int, char: str, foretold: str) -> str:
    for form in (foretold, *_FORMS):
        if source.startswith(_escape(char, form), start):
            return form
    raise ValueError("expected the same characters")


def _expect_same(source: str, text: str) -> None:
    if source != text:
        raise ValueError("expected the same characters")


def tell_bare(tokens: Sequence[str], compact: list[str]) -> str:
    """Return which strings of compact JSON stand without quotes, and write them in it so."""
    telling = Telling()
    for at, (token, text) in enumerate(zip(tokens, compact, strict=False)):
        if _SPELLS_NUMBER.fullmatch(text):
            bare = "1" if token == text[1:-1] else "0"
            telling.tell((text,), (text,), bare, is_foretold=telling.foretold((text,), (text,), "0") == bare)
            compact[at] = token if bare == "1" else text
    return telling.to_text()


def hear_bare(told: str, compact: Sequence[str]) -> list[str]:
    """Return the tokens of compact JSON without the quotes that `tell_bare` told of.

    Raises:
        ValueError: what was told does not fit the tokens.
    """
    hearing = Hearing(told, _is_bare)
    tokens = [
        text[1:-1] if _SPELLS_NUMBER.fullmatch(text) and hearing.next((text,), (text,), False) else text
        for text in compact
    ]
    hearing.end()
    return tokens


def _is_bare(text: str) -> bool:
    if text not in ("0", "1"):
        raise ValueError(f"expected whether a string has no quotes, found {text!r}")
    return text == "1"


def hear_escapes(told: str, compact: Sequence[str], expansion: Expansion) -> Iterator[str]:
    """Yield strings of compact JSON with the escapes that were told, whose characters are counted.

    Raises:
        ValueError: what was told does not fit the strings; ExpansionError: they are longer than allowed.
    """
    named, _, events = told.partition(";")
    classes = "".join(chr(int(each, 16)) for each in named.split(",") if each)
    items, hearing = _items_of(classes), Hearing(events, _form_of)

    def escape(item: re.Match[str]) -> str:
        char = _read_escape(item[0])
        key = (_class_of(char),)
        written = _escape(char, str(hearing.next(key, key, "c")))
        expansion.add(len(written) - len(item[0]), "this part")
        return written

    for text in compact:
        yield items.sub(escape, text)
    hearing.end()


def _form_of(text: str) -> str:
    if text not in _FORMS:
        raise ValueError(f"expected the form of an escape, found {text!r}")
    return text


def describe_escapes(tokens: Sequence[str], compact: Sequence[str]) -> str:
    """Return which escapes the strings among tokens have that compact JSON has not.

    Raises:
        ValueError: they differ in other ways.
    """
    strings = [(token, text) for token, text in zip(tokens, compact, strict=True) if token != text or token[0] == '"']
    return _tell_escapes([token for token, _ in strings], [text for _, text in strings])
