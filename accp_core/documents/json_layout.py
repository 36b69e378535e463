"""How JSON was laid out: the blanks between its tokens and the escapes in its strings, whatever program wrote it.

A layout is what differs from compact JSON in raw Unicode, told as far as it cannot be foretold. The blank of a gap is
foretold from the last one in a gap like it: after a comma, at that depth, in an array that began in the same way. So a
style that a program keeps to takes a few characters, however long the document, and a line that a person broke takes
two or three more.

    s1;2.0,1.0        blanks: the symbol 0 is one space; it is told after 2 gaps that were foretold, and 1 gap later
    n1+2s             a line feed, and two spaces more than the line, or with `^` the column, of the open bracket
    =1;0.0            quotes: the first string that spells a number (1e400, NaN) has none, nor have those like it
    !2f;u;0.0         escapes: `/`, hexadecimal 2f; in the form `u`, of the first one on

Symbols stand before the gaps that use them; `3.1*40` is the same 40 times.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from json.decoder import scanstring  # type: ignore[attr-defined]  # the stubs miss it
from json.encoder import encode_basestring
from typing import Final, TypeAlias

from accp_core.documents.json_styles import write_styled_json
from accp_core.packing.expansion import Expansion
from accp_core.strict_json import has_surrogate_pair

__all__ = [
    "Hearing",
    "Key",
    "Telling",
    "describe_blanks",
    "describe_escapes",
    "describe_json",
    "hear_bare",
    "hear_escapes",
    "is_short",
    "tell_bare",
    "write_blanks",
    "write_json",
]


# Choices of a writer, told as far as they cannot be foretold: each is foretold to be the last one of its kind.

_EVENT: Final = re.compile(r"([0-9]{1,12})\.([0-9]{1,6})(?:\*([0-9]{1,12}))?")

Key: TypeAlias = tuple[object, ...] | int
"""A kind of choice, or its number. A choice is of an exact kind and of a rough one, which counts where that is new."""


class Telling:
    """Foretells what comes next of each kind and notes what was not foretold."""

    def __init__(self) -> None:
        self._last: dict[Key, object] = {}
        self._ids: dict[object, int] = {}
        self._events: list[list[int]] = []
        """How many were foretold, then the number of the symbol that was not, and how often both come in succession."""
        self._run = 0

    def foretold(self, exact: Key, rough: Key, default: object) -> object:
        """Return the choice that is foretold."""
        last = self._last.get(exact)
        return self._last.get(rough, default) if last is None else last

    def tell(self, exact: Key, rough: Key, symbol: object, *, is_foretold: bool) -> None:
        """Note a choice."""
        self._last[exact] = self._last[rough] = symbol
        if is_foretold:
            self._run += 1
            return
        event = [self._run, self._ids.setdefault(symbol, len(self._ids)), 1]
        if self._events and self._events[-1][:2] == event[:2]:
            self._events[-1][2] += 1
        else:
            self._events.append(event)
        self._run = 0

    def to_text(self, symbol_text: Callable[[object], str] = str) -> str:
        """Return what was told."""
        events = (f"{run}.{number}" if times == 1 else f"{run}.{number}*{times}" for run, number, times in self._events)
        return f"{','.join(map(symbol_text, self._ids))};{','.join(events)}" if self._events else ""


class Hearing:
    """Foretells in the same way, but for what was noted."""

    def __init__(self, text: str, read_symbol: Callable[[str], object]) -> None:
        """Read what was told; ValueError: it is malformed."""
        named, _, events = text.partition(";")
        symbols = list(map(read_symbol, named.split(","))) if text else []
        self._last: dict[Key, object] = {}
        self._events = _events(events, symbols) if text else iter(())
        self._left, self._symbol = next(self._events, _NO_EVENT)

    def next(self, exact: Key, rough: Key, default: object) -> object:
        """Return the next choice, which is of these kinds."""
        if self._left:
            last = self._last.get(exact)
            symbol = self._last.get(rough, default) if last is None else last
            self._left -= 1
        else:
            symbol = self._symbol
            self._left, self._symbol = next(self._events, _NO_EVENT)
        self._last[exact] = self._last[rough] = symbol
        return symbol

    def end(self) -> None:
        """Refuse what was told of more choices than there are."""
        if self._left >= 0:
            raise ValueError("expected a layout of as many tokens as the value has")


_NO_EVENT: Final[tuple[int, object]] = (-1, None)


def _events(text: str, symbols: Sequence[object]) -> Iterator[tuple[int, object]]:
    for event in text.split(","):
        found = _EVENT.fullmatch(event)
        if found is None or int(found[2]) >= len(symbols):
            raise ValueError(f"expected what a layout tells of a choice, found {event!r}")
        for _ in range(int(found[3] or 1)):
            yield int(found[1]), symbols[int(found[2])]


# How the strings of JSON were written: their escapes, and those without quotes, which spell a number.

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


_MIN_CHARS: Final = 120
_MAX_SHARE: Final = 1 / 8
"""A layout of more characters, and of a larger share of the text, is none: the text stays."""

_STRING: Final = r'"(?:[^"\\]|\\.)*+"'
_TOKEN: Final = re.compile(rf'([ \t\r\n\ufeff]*+)([\[\]{{}},:]|{_STRING}|[^\s"\[\]{{}},:]++)', re.DOTALL)
_OPEN: Final = frozenset("[{(")
_CLOSE: Final = frozenset(("]", "}", ")", ",)"))
_SIGNS: Final = frozenset((*_OPEN, *_CLOSE, ",", ":"))
_LETTERS: Final = {" ": "s", "\t": "t", "\n": "n", "\r": "r", "\ufeff": "b"}
_BLANKS: Final = {letter: blank for blank, letter in _LETTERS.items()}
_RUN: Final = re.compile(r"(.)\1*", re.DOTALL)
_SYMBOL: Final = re.compile(r"((?:[stnrb][0-9]{1,6})*+)(?:([+-][0-9]{1,6})([st]))?")
_CODED: Final = re.compile(r"([stnrb])([0-9]{1,6})")

_Choose: TypeAlias = "Callable[[Key, Key, int], tuple[_Symbol, str]]"


@dataclass(frozen=True, slots=True)
class _Symbol:
    """A blank as it is told: `before`, then spaces or tabs up to a place that depends on the open bracket."""

    before: str
    delta: int | None = None
    """How many more characters than the bracket's line or column has; None: nothing follows `before`."""
    sign: str = " "

    def blank(self, base: int, expansion: Expansion | None = None) -> str:
        """Return the blank in a container whose place is `base`."""
        size = 0 if self.delta is None else max(base + self.delta, 0)
        if expansion is not None:
            expansion.add(len(self.before) + size, "this part")
        return self.before + self.sign * size if size else self.before

    def __str__(self) -> str:
        coded = "".join(f"{_LETTERS[run[1]]}{len(run[0])}" for run in _RUN.finditer(self.before))
        return coded if self.delta is None else f"{coded}{self.delta:+}{_LETTERS[self.sign]}"

    @classmethod
    def of_text(cls, text: str) -> _Symbol:
        found = _SYMBOL.fullmatch(text)
        if found is None:
            raise ValueError(f"expected a blank of a layout, found {text!r}")
        before = "".join(_BLANKS[letter] * int(count) for letter, count in _CODED.findall(found[1]))
        return cls(before, int(found[2]), _BLANKS[found[3]]) if found[2] else cls(before)

    @classmethod
    def of_blank(cls, blank: str, base: int) -> _Symbol:
        before, line_feed, indent = blank.rpartition("\n")
        sign = indent[:1] or " "
        if not line_feed or indent.strip(sign):
            return cls(blank)
        return cls(before + line_feed, len(indent) - base, sign)


_NONE: Final = _Symbol("")


@dataclass(slots=True)
class _Container:
    """An array or a map that is open."""

    bracket: str
    base: int
    """The characters before the line's text, or before the bracket, from which indentations are counted."""
    begins: _Symbol = _NONE
    """The blank before its first member."""


def _gaps(
    tokens: Sequence[str], choose: Callable[[Key, Key, int], tuple[_Symbol, str]], *, by_column: bool
) -> list[str]:
    """Return the blanks before the tokens of compact JSON documents.

    Args:
        tokens: The tokens.
        choose: Returns the blank of a gap, told its exact kind, its rough kind and the place of the open bracket.
        by_column: Whether indentations are counted from the column of a bracket, not from its line.
    """
    open_ones = [_Container("", 0)]
    blanks: list[str] = []
    before = kind_before = ""
    indent = column = 0
    numbers: dict[Key, int] = {}
    known: dict[tuple[str, _Symbol, int], dict[tuple[str, str], tuple[int, int]]] = {}
    kinds = known.setdefault(("", _NONE, 1), {})
    for token in tokens:
        inner = open_ones[-1]
        kind = token if token in _SIGNS else ""
        found = kinds.get((kind_before, kind))
        if found is None:
            # A number is quicker to look up than what it stands for.
            exact, rough = _kind_of_gap(before, token, inner, len(open_ones))
            found = numbers.setdefault(exact, len(numbers)), numbers.setdefault(rough, len(numbers))
            kinds[kind_before, kind] = found
        symbol, blank = choose(*found, inner.base)
        blanks.append(blank)
        if before in _OPEN:
            inner.begins = symbol
            kinds = known.setdefault((inner.bracket, symbol, len(open_ones)), {})
        if "\n" in blank:
            indent = column = len(blank) - blank.rfind("\n") - 1
        else:
            column += len(blank)
        if token in _OPEN:
            open_ones.append(_Container(token, column if by_column else indent))
            kinds = known.setdefault((token, _NONE, len(open_ones)), {})
        elif token in _CLOSE:
            open_ones.pop()
            inner = open_ones[-1]
            kinds = known.setdefault((inner.bracket, inner.begins, len(open_ones)), {})
        column += len(token)
        before, kind_before = token, kind or "0"
    return blanks


def _kind_of_gap(before: str, token: str, inner: _Container, depth: int) -> tuple[Key, Key]:
    kind = token if token in _OPEN else ""
    bracket, begins = inner.bracket, inner.begins
    if before == ",":
        return ("after", bracket, begins, depth, kind), ("after", begins)
    if token == ":":
        return ("colon",), ("colon",)
    if before == ":":
        return ("value", kind), ("value",)
    if token == ",":
        return ("comma", bracket, begins, depth), ("comma", begins)
    if before in _OPEN and before:
        return (
            (("empty", bracket), ("empty",))
            if token in _CLOSE
            else (("first", bracket, kind, depth), ("first", bracket, kind))
        )
    if token in _CLOSE:
        return ("end", bracket, begins, depth), ("end", begins)
    return ("document", not before), ("document",)


def describe_json(text: str, values: Sequence[object]) -> str | None:
    """Return the layout of a text that is one JSON document after the other; None where it would be too long.

    Args:
        text: The text.
        values: The values of its documents, whose numbers keep their spelling.
    """
    if "\\u0000" in text:
        # A string that looks like a placeholder would be written as a number.
        return None
    try:
        documents = [write_styled_json(value, "0u") for value in values]
        if has_surrogate_pair("".join(documents)):
            # Of two halves that were written in different ways, a view makes one character.
            return None
        return "" if documents == [text] else _describe_written(text, documents)
    except (ValueError, RecursionError):
        return None


def _describe_written(text: str, documents: Sequence[str]) -> str | None:
    """Return the layout of a text that writes documents of compact JSON; None where none writes it again."""
    found = _TOKEN.findall(text)
    tokens, compact = [token for _, token in found], _tokens_of(documents)
    blanks = describe_blanks(found, compact, len(text))
    bare = "" if tokens == compact else tell_bare(tokens, compact)
    escapes = "" if tokens == compact else describe_escapes(tokens, compact)
    if blanks is None or not is_short(bare + escapes, len(text)):
        return None
    is_same = write_blanks(compact, blanks, Expansion(len(text)), escapes) == text
    return blanks + (bare and f"={bare}") + (escapes and f"!{escapes}") if is_same else None


def _tokens_of(documents: Sequence[str]) -> list[str]:
    return [token for document in documents for _, token in _TOKEN.findall(document)]


def describe_blanks(found: Sequence[tuple[str, str]], tokens: Sequence[str], chars: int) -> str | None:
    """Return the blanks before the tokens of a text; None where it has other tokens, or they would take too long.

    Args:
        found: The blank before each token of the text, and the token; an escape may be written in another way.
        tokens: The tokens as compact text has them.
        chars: Characters of the text.
    """
    if len(found) != len(tokens) or sum(len(blank) + len(token) for blank, token in found) != chars:
        return None
    blanks = [blank for blank, _ in found]
    for sign, by_column in (("", False), ("^", True)):
        told = f"{sign}{_tell_blanks(blanks, tokens, by_column=by_column)}"
        if is_short(told, chars):
            return told
    return None


def is_short(told: str, chars: int) -> bool:
    """Return whether a layout is short enough for a text of so many characters."""
    return len(told) <= max(_MIN_CHARS, chars * _MAX_SHARE)


def _tell_blanks(blanks: Sequence[str], tokens: Sequence[str], *, by_column: bool) -> str:
    telling, left = Telling(), iter(blanks)

    def choose(exact: Key, rough: Key, base: int) -> tuple[_Symbol, str]:
        blank, foretold = next(left), telling.foretold(exact, rough, _NONE)
        assert isinstance(foretold, _Symbol)
        is_foretold = foretold.blank(base) == blank
        symbol = foretold if is_foretold else _Symbol.of_blank(blank, base)
        telling.tell(exact, rough, symbol, is_foretold=is_foretold)
        return symbol, blank

    _gaps(tokens, choose, by_column=by_column)
    return telling.to_text(str)


def write_json(values: Sequence[object], layout: str, expansion: Expansion) -> str:
    """Return JSON documents one after the other in a layout; its characters are counted before they are built.

    Raises:
        ValueError: the layout does not fit the values; ExpansionError: the text is longer than allowed.
    """
    blanks, _, escapes = layout.partition("!")
    blanks, _, bare = blanks.partition("=")
    compact = _tokens_of([write_styled_json(value, "0u") for value in values])
    return write_blanks(hear_bare(bare, compact) if bare else compact, blanks, expansion, escapes)


def write_blanks(compact: Sequence[str], layout: str, expansion: Expansion, escapes: str = "") -> str:
    """Return tokens with the blanks of a layout, and with its escapes; see `write_json`."""
    expansion.add(sum(map(len, compact)), "this part")
    hearing = Hearing(layout.removeprefix("^"), _Symbol.of_text)

    def choose(exact: Key, rough: Key, base: int) -> tuple[_Symbol, str]:
        symbol = hearing.next(exact, rough, _NONE)
        assert isinstance(symbol, _Symbol)
        return symbol, symbol.blank(base, expansion)

    before = _gaps(compact, choose, by_column=layout.startswith("^"))
    hearing.end()
    tokens = list(compact)
    if escapes:
        strings = hear_escapes(escapes, [token for token in compact if token[0] == '"'], expansion)
        tokens = [next(strings) if token[0] == '"' else token for token in compact]
        next(strings, None)
    return "".join(chain.from_iterable(zip(before, tokens, strict=True)))
