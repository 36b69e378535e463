"""The records of a text that a request asks for: how many they are, and which of its lines are worth the most."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from accp_core.previews.asked.named_rows import NamedRows, find_named_rows
from accp_core.previews.asked.request import Request, words_of_name
from accp_core.previews.records import Records, field_of, is_quoted, read_records

__all__ = ["RequestedRecords", "find_requested_records"]

_FIRST: Final = 100.0
"""What a line is worth that comes before all others."""
_MAX_UNSURE: Final = 24
"""Records with words of the request up to which they come before all others."""
_RANK: Final = 0.1
"""By how much a record that comes later is worth less."""
_REST: Final = 0.5
"""What the other lines of a record are worth beside those that were asked for."""
_FAILED: Final = re.compile(
    r"\b(?:FAIL(?:ED|URE)?|ERROR|FATAL|CRITICAL|Traceback|panic)\b|\w(?:Error|Exception)\b|\b(?:error|fatal):|\[error\]"
)
"""A line that tells of a failure; a count of failures that are none does not."""
_MAX_FAILED: Final = 0.2
_BELOW: Final = 6
_FAILURE: Final = 60.0
"""What the line of a failure and those below it are worth."""
_QUOTED: Final = -20.0
"""What a line is worth that a mail quotes from another one."""


@dataclass(frozen=True, slots=True)
class RequestedRecords:
    """What is said of the records that a request asks for."""

    named: Sequence[NamedRows]
    """The readings of the request."""
    spans: Sequence[Sequence[tuple[int, int]]]
    """The lines of each record that show it: where they begin and end in the text."""
    worths: Sequence[tuple[int, int, float]]
    """What lines are worth for the request: where they begin and end, and how much."""

    def describe(self, shows: Callable[[int, int], bool], room: float) -> str:
        """Return what a preview says of them in `room`, whose text shows what `shows` says."""
        text = ""
        for named in self.named:
            are_shown = all(shows(*span) for number in named.numbers for span in self.spans[number])
            line = named.describe(are_shown=are_shown, with_ranges=False)
            text += f"{'; ' if text else ''}{line}" if len(text) + len(line) <= room else ""
        return text


def find_requested_records(text: str, request: Request) -> RequestedRecords | None:
    """Return what a request asks of the records of a text; None: it has none."""
    records = read_records(text)
    if records is None:
        return None
    named = find_named_rows(records.table, request, noun=records.noun)
    lines = text.split("\n")
    starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
    ranks: dict[int, int] = {}
    telling = (each for each in named if each.is_sure or len(each.numbers) <= _MAX_UNSURE)
    for number in (number for each in telling for number in each.wanted):
        ranks.setdefault(number, len(ranks))
    spans = [list(_telling(lines, records, number, request, named)) for number in range(len(records.lines))]
    worths: dict[int, float] = {
        n: _QUOTED for n, line in enumerate(lines) if records.noun != "line" and is_quoted(line)
    }
    worths |= dict.fromkeys(_failure(lines, records), _FAILURE)
    for number, rank in ranks.items():
        first = _FIRST - rank * _RANK
        worths |= {n: first * _REST for n in range(*records.lines[number]) if n not in worths}
        worths |= dict.fromkeys(spans[number], first)
    return RequestedRecords(
        named,
        [[(starts[n], starts[n + 1]) for n in own] for own in spans],
        [(starts[n], starts[n + 1], worths[n]) for n in sorted(worths)],
    )


def _failure(lines: Sequence[str], records: Records) -> Iterator[int]:
    """Yield the line of a log that tells of the first failure, those below it, and the last one that tells of one."""
    is_log = records.noun == "line" or not {"time", "level"}.isdisjoint(records.table.columns)
    failed = [n for n, line in enumerate(lines) if _FAILED.search(line)] if is_log else []
    if failed and len(failed) <= _MAX_FAILED * len(lines):
        yield from range(failed[0], min(failed[0] + _BELOW, len(lines)))
        yield failed[-1]


def _telling(
    lines: Sequence[str], records: Records, number: int, request: Request, named: Sequence[NamedRows]
) -> Iterator[int]:
    """Yield the lines of a record that show it: its heads, the first one of its text, and those with what is asked."""
    start, end = records.lines[number]
    row = records.table.rows[number]
    columns = frozenset[str]().union(*(each.columns for each in named))
    asked = {str(row[name]) for name in columns if name in row and name != "text"}
    filled = [n for n in range(start, end) if lines[n].strip() and not is_quoted(lines[n])]
    body = next((n for n in range(start, end) if not lines[n].strip()), start)
    heads = {n for n in filled if field_of(lines[n]) in records.heads} | {
        start,
        next((n for n in filled if n > body), start),
    }
    for n in filled:
        has_word = "text" in columns and any(map(request.has, words_of_name(lines[n])))
        if n in heads or has_word or any(part in lines[n] for part in asked):
            yield n
