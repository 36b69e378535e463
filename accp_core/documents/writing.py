"""How a text writes a value, in whatever form: what differs from what can be foretold of its writer.

A form goes through its value and asks a pen for each token: a text in one of some spellings, behind a gap of blanks
with perhaps a sign in it (`, `, ` | `). Both are choices. One pen finds them in the source; the other one hears what
was found and writes the source again. A choice is foretold to be the last one of its exact kind, or else of its rough
kind. So a style that a writer keeps to takes a few characters, however long the text, and each deviation a few more.

    s1;2.0,1.0        the symbol 0 is one space; it is told after 2 choices that were foretold, and 1 choice later
    n1l+2s            a gap: a line feed, then spaces up to 2 columns behind the base that the form names
    r-1s              a gap: spaces up to where the token ends 1 column before the base
    s1xs1             a gap: one space, the sign, one space

Symbols stand before the choices that use them; `3.1*40` is the same 40 times.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Final, NamedTuple, TypeAlias

from accp_core.packing.expansion import Expansion

__all__ = [
    "Base", "Brackets", "Kind", "Pen", "Spell", "Spelling", "Walk", "as_is", "find_brackets", "find_writing",
    "write_again", "write_brackets",
]  # fmt: skip

_MIN_CHARS: Final = 200
_MAX_SHARE: Final = 1 / 8
"""What takes more characters, and a larger share of the text, is too long: the text stays."""
_LETTERS: Final = {" ": "s", "\t": "t", "\n": "n", "\r": "r", "\ufeff": "b"}
_BLANKS: Final = {letter: blank for blank, letter in _LETTERS.items()}
_BLANK: Final = f"[{''.join(_LETTERS)}]*+"
_RUN: Final = re.compile(r"(.)\1*", re.DOTALL)
_CODED: Final = re.compile(r"([stnrb])([0-9]{1,3})")
_SYMBOL: Final = re.compile(
    rf"((?:{_CODED.pattern})*+)(?:x((?:{_CODED.pattern})*+))?(?:([lr])([+-][0-9]{{1,6}})([st]))?"
)
_EVENT: Final = re.compile(r"([0-9]{1,12})\.([0-9]{1,6})(?:\*([0-9]{1,12}))?")
_GOES_ON: Final = re.compile(r" *[\w\"'~]")
"""What stands behind no empty token that is alone."""

Kind: TypeAlias = tuple[Hashable, ...]
"""What a choice is foretold by: all of it, or its last member where that is new."""
Base: TypeAlias = tuple[int, int]
"""The columns at which a token is expected to begin and to end; the end is 0 where only indentations count from it."""


class Spelling(NamedTuple):
    """How a token may be written."""

    write: Callable[[str], str | None]
    """Returns the token in one of the forms, None where it has none such."""
    forms: Sequence[str] = ("",)
    """The codes of the forms, the first one is the default; one alone is no choice."""
    kind: Kind = ()
    is_alone: bool = False
    """Whether no other token stands behind it in its line but for a sign, so that an empty one can be told."""


class Pen(ABC):
    """What a walk through a value writes with."""

    def __init__(self, measure: Callable[[str], int]) -> None:
        """Begin a text whose columns `measure` counts."""
        self.measure = measure
        self.column = 0
        """The columns of the line so far."""
        self.start = 0
        """The column at which the last token began."""
        self.indent = 0
        """The blanks before the text of the line."""
        self.gap = ""
        """The symbol of the last gap."""
        self._last: dict[Hashable, str] = {}
        """The last choice of each kind."""

    @abstractmethod
    def token(self, spelling: Spelling, gap: Kind, *, sign: str = "", base: Base = (0, 0), default: str = "") -> str:
        """Write a gap and a token, and return the form of the token.

        Args:
            spelling: The token.
            gap: The kind of the gap.
            sign: What stands in the gap beside blanks.
            base: Where the token is expected.
            default: The symbol of the first gap of its kind.
        """

    def foretold(self, kind: Kind, default: str) -> str:
        """Return the choice that is expected."""
        last = self._last.get(kind)
        return self._last.get(kind[-1], default) if last is None else last

    def keep(self, kind: Kind, choice: str) -> None:
        """Expect a choice again."""
        self._last[kind] = self._last[kind[-1]] = choice

    def move(self, text: str) -> None:
        """Go behind a text."""
        line = text.rfind("\n") if text else -1
        if line < 0:
            self.column += self.measure(text)
        else:
            self.column = self.measure(text[line + 1 :])
            self.indent = len(text) - line - 1 - len(text[line + 1 :].lstrip(" \t"))


Walk: TypeAlias = Callable[[Pen], None]
"""Goes through a value from its beginning to its end."""


def as_is(text: str) -> Spelling:
    """Return the spelling of a token that is always written in the same way."""
    return Spelling(lambda _: text)


Spell: TypeAlias = Callable[[object, Kind], Spelling]
"""Returns how a scalar, a key or an opening bracket may be written at a place: its depth, its place in the array or map
around it, and the key of that."""

_BRACKETS: Final[dict[type, str]] = {dict: "{", list: "["}
_CLOSING: Final = {"{": "}", "[": "]", "(": ")"}
_KEY: Final = "key"
_START: Final[Kind] = (0, "", "")
_MAX_PLACE: Final = 1_000
"""Members of an array whose kinds are told apart."""


@dataclass(frozen=True, slots=True)
class Brackets:
    """Writes values whose arrays and maps stand in brackets."""

    pen: Pen
    spell: Spell
    by_column: bool = False
    """Whether the indentation of members counts from the column of their bracket, not from its line."""

    def write(self, value: object, gap: Kind, sign: str = "", base: Base = (0, 0), where: Kind = _START) -> str:
        """Write a value, and return the symbol of the gap before it.

        Args:
            value: The value.
            gap: The kind of the gap before it.
            sign: The sign in this gap.
            base: From where the indentation of its first line counts.
            where: See `Spell`.
        """
        spelling = self.spell(value, where)
        form = self.pen.token(spelling, gap, sign=sign, base=base)
        own = self.pen.gap
        if isinstance(value, (dict, list)):
            self.write_members(value, _CLOSING[spelling.write(form) or ""], where)
        return own

    def write_members(self, value: dict[str, object] | list[object], close: str, where: Kind = _START) -> None:
        """Write what stands behind an opening bracket, up to the closing one."""
        depth, place, _ = where
        bracket, begins, sign = _BRACKETS[type(value)], "", ""
        base = (self.pen.start if self.by_column else self.pen.indent, 0)
        around = place if isinstance(place, str) else ""
        for at, member in value.items() if isinstance(value, dict) else enumerate(value):
            child = _BRACKETS.get(type(member), "")
            gap: Kind = (depth, bracket, child, ("after", begins)) if sign else (depth, f"first{bracket}{child}")
            inner: Kind = (depth + 1, min(at, _MAX_PLACE) if isinstance(at, int) else at, around)  # type: ignore[operator]
            if isinstance(value, dict):
                self.pen.token(self.spell(at, (_KEY,)), gap, sign=sign, base=base)
                own = self.pen.gap
                self.write(member, (child, "colon"), ":", base, inner)
            else:
                own = self.write(member, gap, sign, base, inner)
            begins, sign = begins if sign else own, ","
        gap = (depth, bracket, ("end", begins)) if sign else (f"empty{bracket}",)
        self.pen.token(as_is(f",{close}" if close == ")" and len(value) == 1 else close), gap, base=base)


_BY_COLUMN: Final = "^"


def find_brackets(text: str, spell: Spell, values: Sequence[object]) -> str | None:
    """Return what `write_brackets` needs to write a text, one value after the other; None: it is written otherwise."""
    for sign in ("", _BY_COLUMN):
        told = find_writing(text, partial(_write_values, spell=spell, values=values, by_column=bool(sign)))
        if told is not None:
            return f"{sign}{told}"
    return None


def write_brackets(told: str, spell: Spell, values: Sequence[object], expansion: Expansion) -> str:
    """Return the text in which values were written; see `write_again`."""
    walk = partial(_write_values, spell=spell, values=values, by_column=told.startswith(_BY_COLUMN))
    return write_again(walk, told.removeprefix(_BY_COLUMN), expansion)


def _write_values(pen: Pen, spell: Spell, values: Sequence[object], *, by_column: bool) -> None:
    for number, value in enumerate(values):
        Brackets(pen, spell, by_column).write(value, ("documents" if number else "start",))


class _Differs(ValueError):
    """The source does not write the value so."""


@dataclass(frozen=True, slots=True)
class _Gap:
    """A gap as it is told: what stands before the sign and behind it, then blanks up to a place."""

    before: str
    after: str
    side: str = ""
    """Whether the place is that where the token begins (l) or ends (r); "" where nothing follows `after`."""
    delta: int = 0
    blank: str = " "

    def write(self, sign: str, column: int, base: Base, size: int) -> str:
        written = f"{self.before}{sign}{self.after}"
        if not self.side:
            return written
        line = written.rfind("\n")
        column = column + len(written) if line < 0 else len(written) - line - 1
        place = base[0] if self.side == "l" else base[1] - size
        return written + self.blank * (place + self.delta - column)

    def __str__(self) -> str:
        place = f"{self.side}{self.delta:+}{_LETTERS[self.blank]}" if self.side else ""
        return f"{_coded(self.before)}{'x' * bool(self.before)}{_coded(self.after)}{place}"


def _coded(blanks: str) -> str:
    return "".join(f"{_LETTERS[run[1]]}{len(run[0])}" for run in _RUN.finditer(blanks))


@lru_cache(1024)
def _gap_of(symbol: str) -> _Gap:
    found = _SYMBOL.fullmatch(symbol)
    if found is None:
        raise ValueError(f"expected a gap of a layout, found {symbol!r}")
    first, second, side, delta, blank = found.group(1, 4, 7, 8, 9)
    first, second = (
        "".join(_BLANKS[letter] * int(count) for letter, count in _CODED.findall(part or ""))
        for part in (first, second)
    )
    is_split = "x" in symbol
    place = (side, int(delta), _BLANKS[blank]) if side else ()
    return _Gap(first if is_split else "", second if is_split else first, *place)


@lru_cache(64)
def _gap_pattern(sign: str) -> re.Pattern[str]:
    blank = _BLANK.replace(sign, "") if sign else _BLANK
    return re.compile(f"({blank}){re.escape(sign)}({blank})" if sign else f"()({blank})")


class _Finder(Pen):
    """Finds the choices in a source."""

    def __init__(self, source: str, measure: Callable[[str], int]) -> None:
        super().__init__(measure)
        self.source = source
        self.at = 0
        self._ids: dict[str, int] = {}
        self._events: list[list[int]] = []
        """How many were foretold, then the number of the symbol that was not, and how often both come in succession."""
        self._run = 0

    def to_text(self) -> str:
        """Return what was not foretold."""
        events = (f"{run}.{number}" if times == 1 else f"{run}.{number}*{times}" for run, number, times in self._events)
        return f"{','.join(self._ids)};{','.join(events)}" if self._events else ""

    def token(self, spelling: Spelling, gap: Kind, *, sign: str = "", base: Base = (0, 0), default: str = "") -> str:
        forms, kind = spelling.forms, spelling.kind
        form = usual = self.foretold(kind, forms[0]) if len(forms) > 1 else forms[0]
        symbol = foretold = self.foretold(gap, default)
        text, blank = spelling.write(form), sign
        if text is not None and symbol:
            blank = _gap_of(symbol).write(sign, self.column, base, self.measure(text))
        if text is None or not self._is_next(blank, text, spelling):
            form, text, symbol, blank = self._search(spelling, sign, base)
        self._tell(gap, symbol, is_foretold=symbol == foretold)
        if len(forms) > 1:
            self._tell(kind, form, is_foretold=form == usual)
        self.at += len(blank) + len(text)
        self.gap = symbol
        self.move(blank)
        self.start = self.column
        self.move(text)
        return form

    def _is_next(self, blank: str, text: str, spelling: Spelling) -> bool:
        if not self.source.startswith(blank + text, self.at):
            return False
        return bool(text) or not spelling.is_alone or not _GOES_ON.match(self.source, self.at + len(blank))

    def _search(self, spelling: Spelling, sign: str, base: Base) -> tuple[str, str, str, str]:
        """Return the form, the text, the gap and its blanks that come next."""
        found = _gap_pattern(sign).match(self.source, self.at)
        if found is None:
            raise _Differs
        before, after = found.groups()
        in_line = after[: len(after) - len(after.lstrip(" \t"))]
        for form in spelling.forms:
            text = spelling.write(form)
            for behind in dict.fromkeys((after, in_line, "")) if text is not None else ():
                blank = f"{before}{sign}{behind}"
                if text is not None and self._is_next(blank, text, spelling):
                    return form, text, str(self._gap(before, sign, behind, base, text)), blank
        raise _Differs

    def _gap(self, before: str, sign: str, after: str, base: Base, text: str) -> _Gap:
        """Return what a gap is told as: by a place where the token is near it."""
        head, line, indent = after.rpartition("\n")
        if line:
            is_even = len(set(indent)) < 2 and indent[:1] in ("", " ", "\t")
            place = ("l", len(indent) - base[0], indent[:1] or " ") if is_even else ()
            return _Gap(before, head + line if is_even else after, *place)
        start = self.column + len(before + sign + after)
        left, right = start - base[0], start + self.measure(text) - base[1]
        if base[1] and not after.strip(" "):
            if text[:1].isdigit() and abs(right) < 2:
                return _Gap(before, "", "r", right)
            if abs(left) < 2 or abs(right) < 2:
                return _Gap(before, "", "l", left) if abs(left) < 2 else _Gap(before, "", "r", right)
        return _Gap(before, after)

    def _tell(self, kind: Kind, choice: str, *, is_foretold: bool) -> None:
        self.keep(kind, choice)
        if is_foretold:
            self._run += 1
            return
        event = [self._run, self._ids.setdefault(choice, len(self._ids)), 1]
        if self._events and self._events[-1][:2] == event[:2]:
            self._events[-1][2] += 1
        else:
            self._events.append(event)
        self._run = 0


class _Writer(Pen):
    """Writes the choices that were found."""

    def __init__(self, told: str, measure: Callable[[str], int], expansion: Expansion) -> None:
        super().__init__(measure)
        self.expansion = expansion
        self.parts: list[str] = []
        named, _, events = told.partition(";")
        self._events = _events(events, named.split(",")) if told else iter(())
        self._left, self._symbol = next(self._events, _NO_EVENT)

    def end(self) -> str:
        """Return the text; ValueError: more choices were told than there are."""
        if self._left >= 0:
            raise ValueError("expected a layout of as many tokens as the value has")
        return "".join(self.parts)

    def put(self, text: str) -> None:
        self.expansion.add(len(text), "this part")
        self.parts.append(text)
        self.move(text)

    def token(self, spelling: Spelling, gap: Kind, *, sign: str = "", base: Base = (0, 0), default: str = "") -> str:
        symbol = self._next(gap, default)
        forms = spelling.forms
        form = self._next(spelling.kind, forms[0]) if len(forms) > 1 else forms[0]
        text = spelling.write(form)
        if text is None:
            raise ValueError(f"expected one of the forms {list(forms)!r} of a token, found {form!r}")
        self.put(_gap_of(symbol).write(sign, self.column, base, self.measure(text)))
        self.gap, self.start = symbol, self.column
        self.put(text)
        return form

    def _next(self, kind: Kind, default: str) -> str:
        if self._left:
            choice = self.foretold(kind, default)
            self._left -= 1
        else:
            choice = self._symbol
            self._left, self._symbol = next(self._events, _NO_EVENT)
        self.keep(kind, choice)
        return choice


_NO_EVENT: Final = (-1, "")


def _events(text: str, symbols: Sequence[str]) -> Iterator[tuple[int, str]]:
    for event in text.split(","):
        found = _EVENT.fullmatch(event)
        if found is None or int(found[2]) >= len(symbols):
            raise ValueError(f"expected what a layout tells of a choice, found {event!r}")
        for _ in range(int(found[3] or 1)):
            yield int(found[1]), symbols[int(found[2])]


def find_writing(source: str, walk: Walk, *, measure: Callable[[str], int] = len) -> str | None:
    """Return what `write_again` needs to write `source`; None where it is written in another way, or it is too long.

    Args:
        source: The text.
        walk: Goes through its value.
        measure: Returns the columns that a text takes.
    """
    finder = _Finder(source, measure)
    try:
        walk(finder)
    except (ValueError, RecursionError):
        return None
    told = finder.to_text()
    is_short = len(told) <= max(_MIN_CHARS, len(source) * _MAX_SHARE)
    return told if finder.at == len(source) and is_short else None


def write_again(walk: Walk, told: str, expansion: Expansion, *, measure: Callable[[str], int] = len) -> str:
    """Return the text in which a value was written; its characters are counted.

    Raises:
        ValueError: what was told does not fit the value; ExpansionError: the text is longer than allowed.
    """
    writer = _Writer(told, measure, expansion)
    walk(writer)
    return writer.end()
