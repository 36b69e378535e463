"""Choices of a writer, told as far as they cannot be foretold: each is foretold to be the last one of its kind.

`p,l4;12.1,40.0*2` names two choices, then says: 12 choices are foretold, the next is `l4`; twice 40 are foretold and
the next is `p`. The rest is foretold.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeAlias

__all__ = ["Hearing", "Key", "Telling"]

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
