"""A form: values as programs print them beside JSON: `repr` and `pprint` of Python, JavaScript, JSON with a fault.

    [(1, 'AC/DC', Decimal('9.90'), datetime.date(2026, 2, 22)), (2, 'Accept', None, None)]
    [{"id": 1, "tag": nan, }, // thirty      {id: 1, at: ISODate("2026-02-22")}      [Order(id=1, name='x'), …]

A comma before a bracket, a quote without a backslash and an unknown escape are read as they are meant. The repr of an
object with names is a map, a tuple or a set an array, an enum its value, a call of one argument that argument, a date
or a time a text of ISO 8601; a word that is no value of JSON is text. Tuples of one length, such as the rows of a
database, are maps with the keys `c0`, `c1`, and so on.

Lists, tuples and maps of strings, words, numbers, dates and UUIDs have a layout: `r` where the text is such rows, `^`
where members are indented below the column of their bracket, then what `writing` tells. Comments, calls and faults have
tables and no view. A long text in the repr of an object, such as `text='[{\\n…'`, is a value of its own with a view.
"""

from __future__ import annotations

import ast
import datetime
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from json.encoder import encode_basestring
from typing import Any, Final

from accp_core.documents.grids.cells import is_number, read_number
from accp_core.documents.omissions import tell_cut
from accp_core.documents.writing import Kind, Spelling, as_is, find_brackets, write_brackets
from accp_core.packing.expansion import Expansion
from accp_core.strict_json import is_utf8

__all__ = ["CODE", "IS_SEVERAL", "describe", "look_at", "read", "recognise", "texts_of_repr", "write"]

CODE: Final = "p"
IS_SEVERAL: Final = False

_MAX_DEPTH: Final = 60
"""Levels of arrays, maps and calls."""
_BLANK: Final = re.compile(r"(?:\s++|//[^\n]*+|\#[^\n]*+|/\*(?:[^*]|\*(?!/))*+\*/)*+")
_BEHIND: Final = r"(?=\s*+(?:[,:\])}>]|//|/\*|[A-Za-z_]\w*+=|\Z|\n\s*+[\[{(A-Z]))"
"""What may stand behind the quote that ends a string; a quote before anything else is a part of it."""
_STRING: Final = re.compile(
    rf"""[bruf]?(?:"(?P<double>(?:[^"\\\n]|\\[^\n]|"(?!{_BEHIND}|\s*+["']))*+)"|'(?P<single>(?:[^'\\\n]|\\[^\n]|'(?!{_BEHIND}|\s*+["']))*+)')""",
    re.DOTALL,
)
_NAME: Final = re.compile(r"(?:new\s++)?([A-Za-z_$][\w$.]*+)")
_KEYWORD: Final = re.compile(r"([A-Za-z_$][\w$]*+)=(?!=)\s*+")
_WORD: Final = re.compile(r"[^\s,:\[\]{}()<>\"'=;]++")
_ENUM: Final = re.compile(r"<[A-Za-z_][\w.]*+: ")
_OBJECT: Final = re.compile(r"<[A-Za-z_][^<>\n]{0,200}>")
_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)
_ESCAPED: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "/": "/", "\\": "\\", '"': '"', "'": "'"}
_WORDS: Final[dict[str, bool | None]] = {
    "true": True, "True": True, "false": False, "False": False, "null": None, "None": None, "undefined": None,
}  # fmt: skip
_START: Final = re.compile(r"[\[{(]|[A-Za-z_][\w.]*+[(=]")
_ENDS: Final = re.compile(r"(?:[\]})'\"]|[\])] \w++=\w++)\Z")
"""The end of the repr of an object."""
_ROWS: Final = "r"


def recognise(text: str) -> bool:
    """Return whether `text` begins like an array, a map, a text in quotes or the repr of an object."""
    return text[:1] in "[{'\"" or (_START.match(text) is not None and _ENDS.search(text[-40:]) is not None)


def read(text: str) -> Any:
    """Return the value of all of `text`, of objects one below the other their array; ValueError: it is none."""
    if text[0] in "'\"":
        return _read_text(text)
    starts, values, at = set(), [], 0
    while at < len(text):
        starts.add(_START.match(text, at))
        value, end = look_at(text, at)
        if value is None:
            raise ValueError(f"expected a value with members, found {text[at : at + 9]!r}")
        values.append(value)
        at = _BLANK.match(text, end).end()  # type: ignore[union-attr]  # it matches no blank, too
        if at < len(text) and ("\n" not in text[end:at] or text[0] in "[{("):
            raise ValueError(f"expected the end of the value at {end}, found {text[end : end + 9]!r}")
    if len(values) > 1 and len({start and start[0] for start in starts}) == 1:
        return values
    if len(values) > 1 or (text[0] not in "[{(" and not any(type(item) in (list, dict) for item in values[0].values())):
        raise ValueError("expected several objects of one kind, or one that holds others")
    return values[0]


def look_at(text: str, start: int) -> tuple[Any, int]:
    """Return the array or map at a position, None where there is none, and up to where the text was looked at."""
    reader = _Reader(text, start)
    try:
        value = reader.pairs() if _KEYWORD.match(text, start) else reader.value()
    except (ValueError, RecursionError):
        return None, reader.at
    is_object = isinstance(value, dict) or (isinstance(value, list) and text[start] in "[{(")
    if not (is_object and value and reader.is_sure):
        return None, reader.at
    are_rows = text.startswith("[(", start) and all(type(row) is list and row for row in value)
    if are_rows and len(set(map(len, value))) == 1:
        value = [{f"c{number}": cell for number, cell in enumerate(row)} for row in value]
    written = text[start : reader.at]
    # What can be written again was read as it is meant.
    return None if tell_cut(written) and describe(written, value) is None else value, reader.at


def describe(text: str, value: object) -> str | None:
    """Return the layout (see above); None where there are comments, calls or faults."""
    rows = _ROWS * (text.startswith("[(") and type(value) is list and type(value[0]) is dict)
    plain = _without_names(value) if rows else value
    if not rows and repr(plain) == text:
        return ""
    told = find_brackets(text, _spell, [plain])
    return None if told is None else rows + told


def write(value: object, how: str, expansion: Expansion) -> str:
    """Return the text in a layout."""
    if not how:
        written = repr(value)
        expansion.add(len(written), "this part")
        return written
    plain = _without_names(value) if how.startswith(_ROWS) else value
    return write_brackets(how.removeprefix(_ROWS), _spell, [plain], expansion)


def _without_names(value: object) -> object:
    if type(value) is not list or not all(type(row) is dict for row in value):
        raise ValueError("expected an array of maps for tuples")
    return [list(row.values()) for row in value]


_TEXT_FORMS: Final = ("", "q", "b", "D", "U", "d", "t")
"""A string as `repr` writes it, in double quotes, without quotes; a Decimal, a UUID, a date, a time."""
_CALLS: Final = {"b": "{}", "D": "Decimal('{}')", "U": "UUID('{}')"}
_ATOM: Final = re.compile(r"[\w$.+-]{1,200}")
_PYTHON_WORDS: Final[dict[str, Spelling]] = {
    repr(value): Spelling({"": repr(value), "j": word}.get, ("", "j"), ("word",))
    for word, value in (("true", True), ("false", False), ("null", None))
}


def _spell(value: object, where: Kind) -> Spelling:
    if type(value) is str:
        return Spelling(partial(_write_text, value), _TEXT_FORMS, (*where, "text"))
    if type(value) is dict:
        return as_is("{")
    if type(value) is list:
        return Spelling({"": "[", "T": "("}.get, ("", "T"), (*where, "list"))
    written = repr(value)
    if written in _PYTHON_WORDS:
        return _PYTHON_WORDS[written]
    return Spelling({"": written, "D": f"Decimal('{written}')"}.get, ("", "D"), (*where, "number"))


def _write_text(text: str, form: str) -> str | None:
    if not form:
        return repr(text)
    if form == "q":
        return encode_basestring(text)
    if form in _CALLS:
        return _CALLS[form].format(text) if _ATOM.fullmatch(text) else None
    try:
        return repr((datetime.date if form == "d" else datetime.datetime).fromisoformat(text))
    except ValueError:
        return None


class _Reader:
    """One walk through a value."""

    def __init__(self, text: str, at: int) -> None:
        self.text = text
        self.at = at
        self.depth = 0
        self.is_sure = False
        """Whether there was a quoted text or a member with a name: words in brackets are prose."""

    def value(self) -> Any:
        """Return the value at the position and pass it."""
        sign = self.text[self.at : self.at + 1]
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise ValueError(f"expected at most {_MAX_DEPTH} levels")
        if sign == "[":
            value: Any = self._array("]")
        elif sign == "(":
            items = self._array(")")
            is_tuple = len(items) != 1 or self.text[: self.at - 1].rstrip()[-1:] == ","
            self.is_sure |= is_tuple and {type(item) for item in items} <= {int, float}
            value = items if is_tuple else items[0]
        elif sign == "{":
            value = self._map()
        elif sign == "<":
            value = self._object()
        elif found := _STRING.match(self.text, self.at):
            self.at, self.is_sure = found.end(), True
            value = _unescaped(found["double"] if found["double"] is not None else found["single"])
        elif sign in ("'", '"'):
            self.at = self.text.find("\n", self.at) + 1 or len(self.text)
            raise ValueError(f"expected the end of a text before {self.at}")
        else:
            value = self._word()
        self.depth -= 1
        return value

    def pairs(self) -> dict[str, Any]:
        """Return the map of `id=1 name='x'`, as objects print themselves."""
        members: dict[str, Any] = {}
        while self._adds_named(members) and self.text.startswith(" ", self.at):
            self.at += 1
        return members

    def _adds_named(self, members: dict[str, Any]) -> bool:
        """Add the value that is next to a map if it has a name, as in `id=1`; return whether it has."""
        if found := _KEYWORD.match(self.text, self.at):
            self.at, self.is_sure = found.end(), True
            _add(members, found[1], self.value())
        return found is not None

    def skip(self) -> None:
        """Pass blanks and comments."""
        self.at = _BLANK.match(self.text, self.at).end()  # type: ignore[union-attr]  # it matches no blank, too

    def _sign(self, signs: str) -> str:
        """Pass one of `signs`, which must be next but for blanks."""
        self.skip()
        sign = self.text[self.at : self.at + 1]
        if not sign or sign not in signs:
            raise ValueError(f"expected one of {signs!r} at {self.at}, found {self.text[self.at : self.at + 9]!r}")
        self.at += 1
        return sign

    def _has(self, sign: str) -> bool:
        """Pass a sign if it is next but for blanks."""
        self.skip()
        is_next = self.text.startswith(sign, self.at)
        self.at += is_next
        return is_next

    def _each_up_to(self, close: str) -> Iterator[None]:
        """Stop before each member of what the bracket at the position begins, and pass the bracket at its end."""
        self.at += 1
        while not self._has(close):
            yield
            if self._sign(f",{close}") == close:
                break

    def _array(self, close: str) -> list[Any]:
        return [self.value() for _ in self._each_up_to(close)]

    def _map(self) -> dict[str, Any] | list[Any]:
        """Return a map, or the array of a set."""
        members: dict[str, Any] = {}
        items: list[Any] = []
        for _ in self._each_up_to("}"):
            key = self.value()
            if self._has(":"):
                self.is_sure = True
                self.skip()
                _add(members, key if type(key) is str else str(key), self.value())
            else:
                items.append(key)
        if members and items:
            raise ValueError("expected a value for each name")
        return items or members

    def _object(self) -> Any:
        """Return the value of an enum, `<State.PAID: 'paid'>`, or the text of another object."""
        if found := _ENUM.match(self.text, self.at):
            self.at = found.end()
            value = self.value()
            self._sign(">")
            return value
        return self._matched(_OBJECT)

    def _word(self) -> Any:
        found = _NAME.match(self.text, self.at)
        if found and self.text[found.end() : found.end() + 1] == "(":
            self.at = found.end()
            return self._call(found[1], found.start())
        word = self._matched(_WORD)
        if word in _WORDS:
            return _WORDS[word]
        return read_number(word) if is_number(word) else word

    def _matched(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self.text, self.at)
        if found is None:
            raise ValueError(f"expected a value at {self.at}, found {self.text[self.at : self.at + 9]!r}")
        self.at = found.end()
        return found[0]

    def _call(self, name: str, start: int) -> Any:
        """Return what a call makes: a map of its names, or its only argument, or a date."""
        members: dict[str, Any] = {}
        items = [self.value() for _ in self._each_up_to(")") if not self._adds_named(members)]
        if len(items) > 2 and "date" in name and all(type(item) is int for item in items):
            return datetime.datetime(*items).isoformat() if len(items) > 3 else datetime.date(*items).isoformat()
        if len(items) == 1 and not members:
            return read_number(items[0]) if type(items[0]) is str and is_number(items[0]) else items[0]
        if not members:
            return self.text[start : self.at]
        return {f"c{number}": item for number, item in enumerate(items)} | members


def _add(members: dict[str, Any], name: str, value: Any) -> None:
    if name in members:
        raise ValueError(f"expected each name once, found {name!r} again")
    members[name] = value


def _unescaped(written: str) -> str:
    if "\\" not in written:
        return written
    text = _ESCAPE.sub(_character, written)
    return text.encode("utf-16", "surrogatepass").decode("utf-16") if "\\u" in written else text


def _character(escape: re.Match[str]) -> str:
    code = escape[1] or escape[2] or escape[3]
    return chr(int(code, 16)) if code else _ESCAPED.get(escape[4], escape[0])


# A text in quotes.

_MIN_CHARS: Final = 16
"""Characters of such a text; a shorter one saves nothing."""
# What `repr` writes; Python prints a warning when it reads escapes that `repr` does not write.
_REPR_ESCAPE: Final = r"\\(?:[\\'nrt]|x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})"
_SINGLE: Final = rf"'(?:[^'\\\n]|{_REPR_ESCAPE})*+"
_DOUBLE: Final = rf'"(?:[^"\\\n]|{_REPR_ESCAPE})*+'
_TEXT: Final = re.compile(rf"{_SINGLE}'|{_DOUBLE}\"")
# The `repr` of an object, or of a list of them: `meta=None content=[TextContent(type='text', text='…')]`.
_REPR: Final = re.compile(r"\[?[A-Za-z_][A-Za-z0-9_.]*[=(<]")
# A text that was cut off, perhaps within an escape, ends the source.
_IN_REPR: Final = re.compile(rf"(?<==)(?:{_TEXT.pattern}|(?P<open>{_SINGLE}|{_DOUBLE})(?:\\[xuU]?[0-9a-f]*)?\Z)")


def texts_of_repr(source: str, start: int, end: int) -> Iterator[tuple[int, str, str, str]]:
    """Yield each text in the repr of an object whose escapes stand for line breaks, quotes or a document.

    Of each: its position, its characters, these closed by a quote where it was cut off, and the text.
    """
    if _REPR.match(source, start) is None or source.find("\n", start, end) >= 0:
        return
    for found in _IN_REPR.finditer(source, start, end):
        written = found["open"] or found[0]
        closed = written + written[0] * bool(found["open"])
        with suppress(ValueError):
            yield found.start(), written, closed, _read_text(closed)


def _read_text(written: str) -> str:
    """Return the text in quotes; ValueError: `repr` does not write it so, or it is too short to be worth it."""
    is_worth = len(written) >= _MIN_CHARS and ("\\" in written or written[1] in "[{")
    if not is_worth or _TEXT.fullmatch(written) is None:
        raise ValueError("expected a text in quotes, as repr writes it")
    text = str(ast.literal_eval(written))
    if written not in (_write_text(text, ""), _write_text(text, "q")) or not is_utf8(text):
        raise ValueError("expected a text that can be written again")
    return text
