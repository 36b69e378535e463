"""Writes YAML in a layout, and finds the layout of a text: one walk through the values for both.

What two writers do differently is a choice of a kind: how far a list in a map is indented, how a text that looks like a
number is quoted, whether a line is blank. The walk asks its pen for each choice. One pen finds it in the source, which
must go on as chosen, and tells it; the other one hears it and writes (see `foretelling`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Protocol

from accp_core.documents.json_layout import Hearing, Key, Telling
from accp_core.documents.yaml.reader import KEY, read_documents
from accp_core.documents.yaml.scalars import DEFAULTS, class_of, write_scalar
from accp_core.packing.expansion import Expansion

__all__ = ["DOCUMENT", "DOCUMENTS", "describe_documents", "write_documents"]


_MIN_CHARS: Final = 200
_MAX_SHARE: Final = 1 / 8
"""A layout of more characters, and of a larger share of the text, is none: the text stays."""
_MAX_CHOICE: Final = 1_000
"""Blanks and blank lines of one choice."""
_CRLF: Final = "!"
"""The start of the layout of a text whose lines end as in Windows."""
_LINES: Final = re.compile(r"\n*")
_BLANKS: Final = re.compile(r" *")
_NEXT_INDENT: Final = re.compile(r"[^\n]*+\n++( *+)")
_ENDS: Final = {"": "0", "\n---": "1", "\n...": "2"}
_LETTERS_OF_LINE: Final = ("p", "s", "d", "r", "a", "e", "z", "T", "U")
_LETTERS_OF_BLOCKS: Final = ("l", "f", "L", "F")
_LETTERS_OF_FOLDED: Final = ("P", "S", "D", "E", "A", "Q", "R")

_Write = Callable[[str], "str | None"]


class _Differs(ValueError):
    """The source is not written in any layout."""


class _Pen(Protocol):
    column: int

    def put(self, text: str) -> None:
        """Write a text that is no choice."""

    def count(self, kind: Key, default: int, sign: str, before: int = 0) -> int:
        """Write a sign as often as chosen, and `before` times more; return the choice."""

    def one_of(self, kind: Key, choices: dict[str, str]) -> str:
        """Return which of some texts, one of which is empty, comes next; the first is the default."""

    def scalar(self, kind: Key, default: str, write: _Write, ends: str, indents: tuple[int, int]) -> None:
        """Write a scalar in the chosen style.

        Args:
            kind: Of which kind the choice is.
            default: The style of the first one of its kind.
            write: Returns the scalar in a style, None where it has none such.
            ends: The characters one of which follows.
            indents: From which columns the indentation of its lines counts, those of blocks and others.
        """


class _Finder:
    """Finds the choices in a source."""

    def __init__(self, source: str, indent: int = 0) -> None:
        self.source = source
        self.at = 0
        self.column = 0
        self.telling = Telling()

    def _tell(self, kind: Key, default: str, choice: str) -> None:
        is_foretold = self.telling.foretold(kind, kind, default) == choice
        self.telling.tell(kind, kind, choice, is_foretold=is_foretold)

    def put(self, text: str) -> None:
        if not self.source.startswith(text, self.at):
            raise _Differs
        self._move(text)

    def _move(self, text: str) -> None:
        self.at += len(text)
        line = text.rfind("\n")
        self.column = self.column + len(text) if line < 0 else len(text) - line - 1

    def count(self, kind: Key, default: int, sign: str, before: int = 0) -> int:
        found = (_LINES if sign == "\n" else _BLANKS).match(self.source, self.at)
        chosen = (len(found[0]) if found else 0) - before
        if not 0 <= chosen <= _MAX_CHOICE:
            raise _Differs
        self._tell(kind, str(default), str(chosen))
        self._move(sign * (before + chosen))
        return chosen

    def one_of(self, kind: Key, choices: dict[str, str]) -> str:
        longest = sorted(choices, key=len, reverse=True)
        chosen = choices[next(text for text in longest if self.source.startswith(text, self.at))]
        self._tell(kind, next(iter(choices.values())), chosen)
        return chosen

    def scalar(self, kind: Key, default: str, write: _Write, ends: str, indents: tuple[int, int]) -> None:
        if self._is_next(kind, default, str(self.telling.foretold(kind, kind, default)), write, ends):
            return
        found = _NEXT_INDENT.match(self.source, self.at)
        block, folded = (max(len(found[1]) - indent, 0) if found else 0 for indent in indents)
        styles = (
            *_LETTERS_OF_LINE,
            *[f"{letter}{block}" for letter in _LETTERS_OF_BLOCKS],
            *[f"{letter}{folded}" for letter in _LETTERS_OF_FOLDED],
        )
        if not any(self._is_next(kind, default, style, write, ends) for style in styles):
            raise _Differs

    def _is_next(self, kind: Key, default: str, style: str, write: _Write, ends: str) -> bool:
        text = write(style)
        if text is None or not self.source.startswith(text, self.at):
            return False
        if self.source[self.at + len(text) : self.at + len(text) + 1] not in ends:
            return False
        self._tell(kind, default, style)
        self._move(text)
        return True


class _Writer:
    """Writes the choices that were told."""

    def __init__(self, layout: str, expansion: Expansion) -> None:
        self.parts: list[str] = []
        self.column = 0
        self.hearing = Hearing(layout, str)
        self.expansion = expansion

    def _hear(self, kind: Key, default: str) -> str:
        return str(self.hearing.next(kind, kind, default))

    def put(self, text: str) -> None:
        self.expansion.add(len(text), "this part")
        self.parts.append(text)
        line = text.rfind("\n")
        self.column = self.column + len(text) if line < 0 else len(text) - line - 1

    def count(self, kind: Key, default: int, sign: str, before: int = 0) -> int:
        chosen = self._hear(kind, str(default))
        if not chosen.isdecimal() or int(chosen) > _MAX_CHOICE:
            raise ValueError(f"expected a number of blanks, found {chosen!r}")
        self.put(sign * (before + int(chosen)))
        return int(chosen)

    def one_of(self, kind: Key, choices: dict[str, str]) -> str:
        chosen = self._hear(kind, next(iter(choices.values())))
        if chosen not in choices.values():
            raise ValueError(f"expected one of {list(choices.values())!r}, found {chosen!r}")
        return chosen

    def scalar(self, kind: Key, default: str, write: _Write, ends: str, indents: tuple[int, int]) -> None:
        style = self._hear(kind, default)
        number = style[1:]
        if number and not (number.isdecimal() and int(number) <= _MAX_CHOICE):
            raise ValueError(f"expected a style of a scalar, found {style!r}")
        text = write(style)
        if text is None:
            raise ValueError(f"expected a style of {kind!r}, found {style!r}")
        self.put(text)


class _Walk:
    """Goes through the values in the order in which they stand in the text."""

    def __init__(self, pen: _Pen) -> None:
        self.pen = pen

    def documents(self, values: list[Any]) -> None:
        pen = self.pen
        for number, value in enumerate(values):
            if not value or not isinstance(value, (dict, list)):
                raise ValueError(f"expected a map or a list with members, found {type(value).__name__!r}")
            if number:
                pen.count(("line", "end"), 0, "\n", 1)
                pen.put("---")
                pen.count(("line", "start"), 0, "\n", 1)
            elif pen.one_of(("start",), {"": "0", "---": "1"}) == "1":
                pen.put("---")
                pen.count(("line", "start"), 0, "\n", 1)
            self._members(value, 0)
        chosen = pen.one_of(("end",), _ENDS)
        pen.put(next(text for text, choice in _ENDS.items() if choice == chosen))

    def _members(self, value: dict[str, Any] | list[Any], indent: int) -> None:
        """Write the members of a block, the first of which begins in the line."""
        members = value.items() if isinstance(value, dict) else ((None, item) for item in value)
        for number, (key, member) in enumerate(members):
            if number:
                self.pen.count(("line", indent), 0, "\n", 1)
                self.pen.put(" " * indent)
            if key is not None:
                self._scalar("key", key, indent, ":")
            self._entry(member, indent, "-" if key is None else ":")

    def _entry(self, value: Any, indent: int, sign: str) -> None:
        """Write a value behind a dash or behind the colon of its key."""
        pen, is_map = self.pen, isinstance(value, dict)
        pen.put(sign)
        is_nested = bool(value) and isinstance(value, (dict, list))
        blanks = pen.count((sign, is_nested, value is None), 1 - (is_nested and sign == ":"), " ")
        bracket = "{" if is_map else "["
        styles = {"": "b", bracket: "o", f"{bracket} ": "O"}
        style = pen.one_of((sign, is_map), styles) if is_nested else ""
        if style != "b":
            self._flow(value, "value", indent, "\n", " " * (style == "O"))
        elif sign == "-":
            self._members(value, indent + 1 + blanks)
        else:
            pen.count(("line", "in", indent), 0, "\n", 1)
            self._members(value, indent + pen.count(("in", is_map), 2 * is_map, " ", indent))

    def _flow(self, value: Any, place: str, indent: int, ends: str, pad: str) -> None:
        """Write a scalar, or a collection in brackets."""
        pen = self.pen
        if not isinstance(value, (dict, list)):
            self._scalar(place, value, indent, ends)
            return
        sign, close = "[]" if isinstance(value, list) else "{}"
        pen.put(sign + pad * bool(value))
        members = value.items() if isinstance(value, dict) else ((None, item) for item in value)
        for number, (key, member) in enumerate(members):
            if number:
                pen.put(", ")
            if key is not None:
                self._scalar("flow key", key, indent, ":")
                pen.put(": ")
            self._flow(member, "flow", indent, ",]} ", pad)
        pen.put(pad * bool(value) + close)

    def _scalar(self, place: str, value: object, indent: int, ends: str) -> None:
        kind, column = class_of(value), self.pen.column

        def write(style: str) -> str | None:
            return write_scalar(value, style, indent, column)

        body = value.lstrip("\n") if isinstance(value, str) else ""
        first = indent + len(body) - len(body.lstrip(" "))
        self.pen.scalar((place, kind), DEFAULTS.get(kind, "p"), write, ends, (first, indent))


def describe_documents(text: str, values: list[Any]) -> str | None:
    """Return the layout of a text; None where it has none, or one that would be too long."""
    is_crlf = "\r" in text
    source = text.replace("\r\n", "\n") if is_crlf else text
    if is_crlf and ("\r" in source or source.replace("\n", "\r\n") != text):
        return None
    finder = _Finder(source)
    try:
        _Walk(finder).documents(values)
    except ValueError:
        return None
    layout = f"{_CRLF * is_crlf}{finder.telling.to_text()}"
    is_short = len(layout) <= max(_MIN_CHARS, len(text) * _MAX_SHARE)
    return layout if is_short and finder.at == len(source) else None


def write_documents(values: list[Any], layout: str, expansion: Expansion) -> str:
    """Return the documents in a layout; its characters are counted before they are joined.

    Raises:
        ValueError: the layout does not fit the values; ExpansionError: the text is longer than allowed.
    """
    writer = _Writer(layout.removeprefix(_CRLF), expansion)
    _Walk(writer).documents(values)
    writer.hearing.end()
    text = "".join(writer.parts)
    if not layout.startswith(_CRLF):
        return text
    expansion.add(text.count("\n"), "this part")
    return text.replace("\n", "\r\n")


# The forms of YAML (see the package's docstring).

_START: Final = re.compile(r"(?:(?:#[^\n]*+|---[ \t]*+(?:#[^\n]*+)?|[ \t]*+\r?)\n)*+(?:- +)*+([^\n]*+)")
_MARK: Final = re.compile(r"\n---[ \t]*+\r?(?:\n|#)")
_SENTENCE_WORDS: Final = 3
"""Words of a value that may be a sentence."""
_MAX_SENTENCES: Final = 7 / 8
"""Share of values that are sentences from which a text is prose; descriptions of tools have up to 0.8."""


@dataclass(eq=False, slots=True)
class _Yaml:
    CODE: str
    IS_SEVERAL: bool

    def recognise(self, text: str) -> bool:
        """Return whether `text` begins with a key or a dash, behind comments, and has as many documents as expected."""
        found = _START.match(text)
        if found is None or KEY.match(found[1].rstrip()) is None:
            return False
        return (_MARK.search(text, found.start(1)) is not None) is self.IS_SEVERAL

    def read(self, text: str) -> object:
        """Return the value, an array of those of several documents."""
        values, has_rows = read_documents(text)
        is_expected = len(values) > 1 if self.IS_SEVERAL else has_rows and len(values) == 1
        if not is_expected or not _is_data(values):
            raise ValueError("expected YAML that is data, found prose")
        return values if self.IS_SEVERAL else values[0]

    def describe(self, text: str, value: object) -> str | None:
        """Return the layout (see `writer`)."""
        return describe_documents(text, self._documents(value))

    def write(self, value: object, how: str, expansion: Expansion) -> str:
        """Return the text in a layout."""
        return write_documents(self._documents(value), how, expansion)

    def _documents(self, value: object) -> list[Any]:
        if not self.IS_SEVERAL:
            return [value]
        if type(value) is not list or len(value) < 2:
            raise ValueError(f"expected an array for several documents, found {type(value).__name__!r}")
        return value


DOCUMENT: Final = _Yaml("y", IS_SEVERAL=False)
DOCUMENTS: Final = _Yaml("Y", IS_SEVERAL=True)


def _is_data(documents: list[Any]) -> bool:
    """Return whether there are few sentences, no headings, and more than a list."""
    if len(documents) > 1 and not all(isinstance(document, dict) and len(document) > 1 for document in documents):
        return False
    if any(" " in key and member and isinstance(member, (dict, list)) for key, member in _first_members(documents)):
        return False
    left: list[Any] = [documents]
    values = sentences = 0
    while left:
        node = left.pop()
        for member in node.values() if isinstance(node, dict) else node:
            if isinstance(member, (dict, list)) and member:
                left.append(member)
            else:
                values += 1
                sentences += isinstance(member, str) and len(member.split(None, _SENTENCE_WORDS)) >= _SENTENCE_WORDS
    return sentences < values * _MAX_SENTENCES


def _first_members(documents: list[Any]) -> list[tuple[str, Any]]:
    return [pair for document in documents if isinstance(document, dict) for pair in document.items()]
