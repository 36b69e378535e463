"""Repeat markers: lines that the reader has read already, replaced by their place.

    [as above: 14 lines from "Martial …"]              from the only line above that begins so
    [as above: 14 lines from the last "Martial …"]     several lines above begin so: from the last of them

Above is everything that was sent before the marker, lines of the same text included. Whitespace at the beginning of a
line does not matter to a reader who looks for it. A marker stands for whole lines of a text or whole rows of a view. It
never names lines that are replaced by a marker themselves, so a reader looks once. Nor does it stand for a gap of a
preview (`[…lines 5-9]`): equal gaps of two texts may hide other lines.

A later version of a text whose rows have keys is shown as its changes (`projection.changes`), and again as a whole as
soon as the changes since that would be as long.
"""

from __future__ import annotations

import re
import sys
from collections import deque
from dataclasses import dataclass
from typing import Final

from accp_core.error_codes import ErrorCode
from accp_core.errors import DecodeError
from accp_core.markers import MarkerStart
from accp_core.ports import TokenCounter
from accp_core.projection.changes import (
    MAX_COMPARED,
    MAX_VERSIONS,
    Changes,
    Version,
    changes_between,
    fenced,
    units_of,
)  # fmt: skip
from accp_core.projection.records import Unit

__all__ = ["Repeats", "Shortened"]

_MIN_SAVING: Final = 6
"""Tokens that a marker must save, because the reader has to look up what it stands for.

Measured on six recorded corpora with 6, 8 and 12: whichever corpus is left out, 6 gives the smallest prompts for the
others, and for it; 4 saves hardly more.
"""
_QUOTE_LENGTHS: Final = (8, 16, 32, 64)
"""Characters of a line that a marker may quote, without the whitespace it begins with."""
_MARKER: Final = re.compile(r'\[as above: ([0-9]{1,9}) lines? from (?:the last )?"(.*)…"\]')
_GAP: Final = re.compile(rf"{re.escape(MarkerStart.GAP)}[^\]]")
"""What a preview leaves out; "[…]" is a usual sign in texts."""
_MIN_LINES: Final = 3
"""Lines of a text that is compared."""
_QUOTED: Final = 8
"""Lines of a text of which one may name it."""
_ENTRY_BYTES: Final = 100
"""Memory of one entry of a dictionary or a set beside its key."""
_UNIT_BYTES: Final = 60
"""Memory of a line in a version, beside its text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortened:
    """A text in which repeat markers may replace lines."""

    text: str
    """The text that the reader gets."""
    markers: frozenset[int] = frozenset()
    """The indices of the lines that are markers; a line of the source that looks like one is not among them."""


class _ReadLines:
    """Lines in the order in which they were read, found by how they begin."""

    def __init__(self, above: _ReadLines | None = None) -> None:
        """Begin below the lines of `above`, which do not change while this is used; None: with the first line."""
        self._above: Final = above
        self._start: Final[int] = len(above) if above else 0
        self._lines: Final[list[str | None]] = []
        self._last_with: Final[dict[str, int]] = {}
        """A beginning, without whitespace before it, to the index of the last line that begins so."""
        self._several: Final[set[str]] = set()
        """The beginnings that several lines have."""
        self._bytes = 0

    @property
    def size(self) -> int:
        """The bytes of memory that its own lines take with all that finds them, about."""
        return self._bytes + sys.getsizeof(self._lines)

    def __len__(self) -> int:
        """Return the number of lines, those above included."""
        return self._start + len(self._lines)

    def add(self, line: str, *, is_named: bool = True, is_text: bool = False) -> None:
        """Add the next line as the reader is shown it; one that no marker may name hides what stands above it.

        A line that is a whole text (`is_text`) takes no memory beside the text.
        """
        for beginning in _beginnings(line):
            if self.find(beginning) is not None:
                self._bytes += _ENTRY_BYTES if beginning not in self._several else 0
                self._several.add(beginning)
            if beginning not in self._last_with:
                self._bytes += sys.getsizeof(beginning) + _ENTRY_BYTES
            self._last_with[beginning] = len(self)
        self._lines.append(line if is_named else None)
        self._bytes += 0 if is_text else sys.getsizeof(line)

    def end_text(self) -> None:
        """End a text: no marker names lines of two texts."""
        self._lines.append(None)

    def line(self, index: int) -> str | None:
        """Return a line, None for one that no marker names and for those that are not read yet."""
        if index < self._start:
            return self._above.line(index) if self._above else None
        return self._lines[index - self._start] if index < len(self) else None

    def find(self, beginning: str) -> int | None:
        """Return the index of the last line that begins so, None where none does."""
        index = self._last_with.get(beginning)
        return self._above.find(beginning) if index is None and self._above else index

    def has_several(self, beginning: str) -> bool:
        """Return whether several lines begin so."""
        return beginning in self._several or (self._above is not None and self._above.has_several(beginning))


def _beginnings(line: str) -> list[str]:
    """Return the beginnings that a marker may quote of a line, without the whitespace before them."""
    start = line.lstrip()
    length = min(len(start), _QUOTE_LENGTHS[-1])
    return [start[:each] for each in _QUOTE_LENGTHS if each <= length]


class Repeats:
    """The lines that one reader has read, so that the next text need not repeat them."""

    def __init__(self) -> None:
        """Begin with nothing read."""
        self._read: Final = _ReadLines()
        self._versions: Final[deque[Version]] = deque(maxlen=MAX_VERSIONS)

    @property
    def size(self) -> int:
        """The bytes of memory that the lines take, about."""
        return self._read.size + sum(_UNIT_BYTES * len(each.units) for each in self._versions)

    def add(self, text: Shortened) -> None:
        """Add a text that the reader has read."""
        changed = self._read_changes(text)
        whole = changed[1] if changed else units_of(self._meant(text)) if text.markers else units_of(text.text)
        start, lines = len(self._read), text.text.split("\n")
        for number, line in enumerate(lines):
            self._read.add(line, is_named=number not in text.markers, is_text=len(lines) == 1)
        spans: tuple[range, ...] = (range(start, len(self._read)),)
        spent = 0
        self._read.end_text()
        if changed:
            self._versions.remove(changed[0])
            spans, spent = changed[0].spans + spans, changed[0].spent + len(text.text)
        if len(whole) >= _MIN_LINES and sum(map(len, whole)) <= MAX_COMPARED:
            self._versions.append(Version(whole, spans=spans, spent=spent))

    def hide(self, text: str) -> None:
        """Add a text that the reader has read and that no marker names, such as an argument of a call."""
        for line in text.split("\n"):
            self._read.add(line, is_named=False)

    def shorten(self, text: str, *, counter: TokenCounter, unit: Unit = "lines") -> Shortened:
        """Return the next text with markers in place of lines that were read; this does not `add` it.

        A marker stands where it saves tokens; it may name lines of the same text.
        """
        short = _Writer(text, self._read, counter, unit).write()
        earlier, changes = self._changes(text) if unit == "rows" else (None, "")
        if not short.markers and not earlier:
            return Shortened(text=text)
        whole = counter(text)
        tokens = counter(short.text) if short.markers else whole
        # Changes are easier to read than several markers, so they may take more than these by what one must save.
        limit = tokens + _MIN_SAVING if tokens < whole else whole - _MIN_SAVING
        is_one = len(short.markers) == 1 and "\n" not in short.text
        if earlier and not is_one and counter(changes) <= limit:
            is_long = earlier.spent + len(changes) > len(text)
            return Shortened(text=text) if is_long else Shortened(text=changes, markers=frozenset({0}))
        return short if tokens < whole else Shortened(text=text)

    def _changes(self, text: str) -> tuple[Version | None, str]:
        """Return the last text of which this is a later version, and what changed; (None, ""): there is none."""
        later = Version(units_of(text) if len(text) <= MAX_COMPARED else [])
        for earlier in reversed(self._versions) if len(later.units) >= _MIN_LINES else ():
            if later.is_later(earlier) and (quote := self._quote_of(earlier)):
                changes = changes_between(earlier.units, later.units, quote)
                return (earlier, changes.write()) if changes else (None, "")
        return None, ""

    def _quote_of(self, version: Version) -> str:
        """Return the shortest beginning of a line whose last place is in this version; "": there is none."""
        beginnings = (each for unit in version.units[:_QUOTED] for each in _beginnings(unit.partition("\n")[0]))
        return next((each for each in beginnings if self._version_with(each) is version), "")

    def _version_with(self, quote: str) -> Version | None:
        """Return the version in which the last line stands that begins with `quote`."""
        at = self._read.find(quote)
        found = (each for each in self._versions if at is not None and any(at in span for span in each.spans))
        return next(found, None) if at is not None and self._read.line(at) is not None else None

    def _read_changes(self, short: Shortened) -> tuple[Version, list[str]] | None:
        """Return the text whose changes these are and the rows of its later version; None: these are no changes."""
        changes = Changes.read(short.text) if 0 in short.markers else None
        earlier = self._version_with(changes.quote) if changes else None
        later = changes.apply(earlier.units) if changes and earlier else None
        return (earlier, later) if earlier and later is not None else None

    def _meant(self, short: Shortened) -> str:
        """Return the text of which some lines are markers."""
        read, lines = _ReadLines(self._read), []
        for number, line in enumerate(short.text.split("\n")):
            lines.append(_meant(line, read) if number in short.markers else line)
            read.add(line, is_named=number not in short.markers)
        return "\n".join(lines)

    def known_share(self, text: str) -> float:
        """Return the share of `text`, from 0 to 1, that is whole lines which the reader has read; cheap to find out."""
        known = sum(len(line) for line in text.split("\n") if self._is_known(line))
        return known / max(len(text), 1)

    def _is_known(self, line: str) -> bool:
        longest = _beginnings(line)[-1:]
        index = self._read.find(longest[0]) if longest else None
        return index is not None and self._read.line(index) == line

    def restore(self, short: Shortened) -> str:
        """Return the text that `shorten` was given, and add it.

        Raises:
            DecodeError: E1001, a marker names lines that were not read.
        """
        changed = self._read_changes(short)
        whole = "\n".join(changed[1]) if changed else self._meant(short)
        self.add(short)
        return whole


class _Writer:
    """Writes one text for a reader of the lines above it."""

    def __init__(self, text: str, read: _ReadLines, counter: TokenCounter, unit: Unit) -> None:
        self._lines: Final = text.split("\n")
        self._read: Final = _ReadLines(read)
        self._counter: Final = counter
        self._unit: Final = unit
        self._inside: Final = fenced(self._lines) if unit == "rows" else [False] * (len(self._lines) + 1)

    def write(self) -> Shortened:
        shown: list[str] = []
        markers: list[int] = []
        at = 0
        while at < len(self._lines):
            marker, length = self._find_marker(at)
            if marker:
                markers.append(len(shown))
            shown.append(marker or self._lines[at])
            self._read.add(shown[-1], is_named=not marker)
            at += length
        return Shortened(text="\n".join(shown), markers=frozenset(markers))

    def _find_marker(self, at: int) -> tuple[str, int]:
        """Return the marker for the longest run of read lines from line `at` on, and its length; ("", 1): none pays."""
        if self._unit == "whole" and at:
            return "", 1
        line = self._lines[at]
        blanks = line[: len(line) - len(line.lstrip())]
        runs = (
            (self._run_length(at, each), not self._read.has_several(each), -len(each), each)
            for each in _beginnings(line)
            if not each.startswith(MarkerStart.REPEAT)
        )
        length, is_sole, _, quote = max(runs, default=(0, False, 0, ""))
        if length and (self._unit != "whole" or length == len(self._lines)):
            last = "" if is_sole else "the last "
            lines = "line" if length == 1 else "lines"
            marker = f'{MarkerStart.REPEAT}{length} {lines} from {last}"{blanks}{quote}…"]'
            replaced = "\n".join(self._lines[at : at + length])
            if self._counter(replaced) - self._counter(marker) >= _MIN_SAVING:
                return marker, length
        return "", 1

    def _run_length(self, at: int, quote: str) -> int:
        """Return how many lines from `at` on equal those from the last one that begins with `quote`, in whole units."""
        start = self._read.find(quote)
        if start is None:
            return 0
        # The first line of a preview names its source, so that its gaps hide the same.
        hides_the_same = self._lines[at].startswith(MarkerStart.PREVIEW)
        inside, whole = self._inside[at], 0
        for length in range(len(self._lines) - at):
            line = self._lines[at + length]
            is_gap = not hides_the_same and _GAP.search(line)
            if self._read.line(start + length) != line or is_gap or (inside and not self._inside[at + length]):
                break
            whole = length + 1 if self._inside[at + length + 1] == inside else whole
        return whole


def _meant(line: str, read: _ReadLines) -> str:
    """Return the lines that a marker stands for."""
    marker = _MARKER.fullmatch(line)
    start = read.find(marker[2].lstrip()) if marker else None
    lines: list[str | None] = [None]
    if marker and start is not None:
        lines = [read.line(start + number) for number in range(min(int(marker[1]), len(read) - start + 1))]
    whole = [each for each in lines if each is not None]
    if len(whole) < len(lines):
        reason = f"expected a repeat marker for something that was read, found {line!r}"
        raise DecodeError(reason, code=ErrorCode.PARSE_ERROR, text=line, position=0)
    return "\n".join(whole)
