"""What a stored text holds, within the work of one answer; of a text that is too long for that, only its lines.

Work is counted, so that every process comes to the same answer. A clock ends only what takes far longer than it counts.
"""

from __future__ import annotations

import re
import time
from bisect import bisect_right
from itertools import accumulate
from typing import Final

from accp_adapters.fetching.request import too_much
from accp_core.bounded import WATCH
from accp_core.documents import looks_cut
from accp_core.errors import ProtocolError
from accp_core.tables import OpenedText, open_text

__all__ = ["LongText", "TextLines", "WorkBudget", "open_bounded", "too_long", "work_of"]

_WATCHED: Final = 10_000
"""Steps between two looks whether somebody still waits for the answer."""
_MAX_SECONDS: Final = 5.0
"""Processor time of all steps: most take less than a tenth of a microsecond, a comparison of long cells far more."""
_STEP_CHARS: Final = 20
"""Characters that take as long as one instruction of SQLite's machine."""
MAX_CHARS: Final = 4_000_000
"""Characters of a text whose values and tables are read; a longer one has lines and words."""
_LINE_CHARS: Final = 40
_CELL_CHARS: Final = 10
"""Characters that take as long to read as a line, and as what stands between two separators."""
_SEPARATOR: Final = re.compile(r"[,;|\t]|(?<=\S) {2}")
_PIECE: Final = 4_096
"""Characters between two places whose line is remembered."""


class WorkBudget:
    """The steps of work that are left for one answer; a step is about an instruction of SQLite's machine."""

    def __init__(self, steps: float, reason: str) -> None:
        """Begin.

        Args:
            steps: The steps.
            reason: What was expected, for the refusal.
        """
        self.left = steps
        self._watched = steps
        self._end: Final = time.thread_time() + _MAX_SECONDS
        self._reason: Final = reason

    def use(self, steps: int) -> bool:
        """Count steps; return whether there were too many. What `WATCH` raises passes on, at each further call, too."""
        self.left -= steps
        if self.left < self._watched:
            WATCH.get()()
            self._watched = self.left - _WATCHED
            if time.thread_time() > self._end:
                self.left = -1
        return self.left < 0

    def spend(self, steps: int) -> None:
        """Count steps.

        Raises:
            ProtocolError: E2003, there were too many.
        """
        if self.use(steps):
            raise too_much(self._reason)

    def look_at(self, chars: int) -> None:
        """Count characters, or comparisons of one; E2003: there were too many."""
        self.spend(chars // _STEP_CHARS)


def work_of(text: str) -> int:
    """Return how long a text takes to be read as tables, in characters; a line without any takes little."""
    lines = text.count("\n") - text.count("\n\n")
    return len(text) + _LINE_CHARS * lines + _CELL_CHARS * sum(1 for _ in _SEPARATOR.finditer(text))


def too_long(text: str) -> ProtocolError:
    """Return the refusal of a query of the values or tables of a text that is too long for them (E2003)."""
    reason = (
        f"expected a text of at most {MAX_CHARS:,} characters for a query, where a line counts as {_LINE_CHARS} more"
    )
    found = f"and a separator as {_CELL_CHARS}, found {work_of(text):,}; use words, lines 41-97, or offset and limit"
    return too_much(f"{reason} {found}")


class LongText(OpenedText):
    """A text that is too long to be opened: it has lines and words only."""


def open_bounded(text: str) -> OpenedText:
    """Return the value in a text; a text that is too long is only lines."""
    is_long = len(text) > MAX_CHARS or work_of(text) > MAX_CHARS
    return LongText(value=text, prose=text, is_cut=looks_cut(text)) if is_long else open_text(text)


class TextLines:
    """The lines of a text with their ends, looked for where they are asked for: all at once take many times its memory.

    The numbers of a few places are remembered.
    """

    def __init__(self, text: str) -> None:
        """Count the lines of a text."""
        self._text: Final = text
        pieces = (text.count("\n", at, at + _PIECE) for at in range(0, len(text), _PIECE))
        self._before: Final = list(accumulate(pieces, initial=0))

    def __len__(self) -> int:
        """Return how many there are; a line feed at the end begins no further one."""
        return self._before[-1] + (self._text[-1:] not in ("", "\n"))

    def between(self, first: int, behind: int) -> list[str]:
        """Return the lines from one place, counted from 0, to another."""
        piece = bisect_right(self._before, first - 1) - 1 if first else 0
        start, lines = piece * _PIECE, []
        for number in range(self._before[piece], min(behind, len(self))):
            end = self._text.find("\n", start) + 1 or len(self._text)
            if number >= first:
                lines.append(self._text[start:end])
            start = end
        return lines
