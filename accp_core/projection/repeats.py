"""Lines that the reader has read before, replaced by where they stand: `[as above: 14 lines from "…"]`.

A reference is read as it is written: the nearest line above that begins so, and the lines below that one. It names
only what stands there in full, never another reference.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from accp_core.error_codes import ErrorCode
from accp_core.errors import DecodeError
from accp_core.ports import TokenCounter

__all__ = ["Repeats", "Shortened"]

# Characters of a line that a reference quotes: as few as name the place, no fewer than tell the reader anything.
_QUOTES: Final = (16, 32, 64)
_LEAST_GAIN: Final = 12
"""Tokens that a reference must save: one that saves less is not worth the reader's looking up."""
_REFERENCE: Final = re.compile(r'\[as above: ([0-9]{1,9}) lines? from "(.*)…"\]')


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortened:
    """A text with references in it."""

    text: str
    """What the reader gets."""
    references: tuple[int, ...]
    """Which of its lines are references, from 0; a line that only looks like one is not among them."""


class Repeats:
    """What one reader has read, line by line, so that the next text need not say it again."""

    def __init__(self) -> None:
        self._lines: list[str | None] = []
        """The lines in order; None ends a text and stands for a reference: nothing reaches across."""
        self._nearest: dict[str, int] = {}
        """The last line that begins with each quote."""

    def add(self, text: str, references: Sequence[int] = ()) -> None:
        """Note that the reader has read `text`, of which the lines `references` are references."""
        apart = frozenset(references)
        for number, line in enumerate(text.split("\n")):
            self._add_line(None if number in apart else line)
        self._add_line(None)

    def shorten(self, text: str, *, counter: TokenCounter) -> Shortened:
        """Return `text` with what the reader has read replaced by references, where that saves tokens.

        Nothing is noted: `add` the text that the reader gets. The same texts in the same order give the same result.
        """
        lines = text.split("\n")
        out: list[str] = []
        references: list[int] = []
        at = 0
        while at < len(lines):
            reference, length = self._reference(lines, at, counter)
            if reference:
                references.append(len(out))
            out.append(reference or lines[at])
            at += length
        short = "\n".join(out)
        if not references or counter(short) >= counter(text):
            return Shortened(text=text, references=())
        return Shortened(text=short, references=tuple(references))

    def restore(self, short: Shortened) -> str:
        """Return the text that `shorten` was given, after the same texts were added.

        Raises:
            DecodeError: E1001, a reference names nothing that was read.
        """
        lines = short.text.split("\n")
        apart = frozenset(short.references)
        return "\n".join(self._resolve(line) if number in apart else line for number, line in enumerate(lines))

    def _add_line(self, line: str | None) -> None:
        for quote in _quotes(line or ""):
            self._nearest[quote] = len(self._lines)
        self._lines.append(line)

    def _reference(self, lines: Sequence[str], at: int, counter: TokenCounter) -> tuple[str, int]:
        """Return the reference to the longest run from line `at` on and its length; empty and 1 where none pays."""
        found = ((self._run(lines, at, self._nearest.get(quote)), quote) for quote in _quotes(lines[at]))
        length, quote = max(found, key=lambda run: run[0], default=(0, ""))
        if length:
            reference = f'[as above: {length} {"line" if length == 1 else "lines"} from "{quote}…"]'
            if counter("\n".join(lines[at : at + length])) - counter(reference) >= _LEAST_GAIN:
                return reference, length
        return "", 1

    def _run(self, lines: Sequence[str], at: int, place: int | None) -> int:
        """Return how many lines from `at` on are those from `place` on."""
        length = 0
        if place is not None:
            while at + length < len(lines) and self._lines[place + length] == lines[at + length]:
                length += 1
        return length

    def _resolve(self, reference: str) -> str:
        match = _REFERENCE.fullmatch(reference)
        place = self._nearest.get(match[2]) if match else None
        run = self._lines[place : place + int(match[1])] if match and place is not None else []
        if not match or len(run) < int(match[1]) or None in run:
            raise DecodeError(
                f"expected a reference to lines that were read, got {reference!r}",
                code=ErrorCode.PARSE_ERROR,
                text=reference,
                position=0,
            )
        return "\n".join(line for line in run if line is not None)


def _quotes(line: str) -> list[str]:
    """Return the beginnings by which a line can be named, the shortest first; none for a short line."""
    start = line.lstrip()
    return [start[:length] for length in _QUOTES if len(start) >= length]
