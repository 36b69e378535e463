"""The records of a text as the rows of a table: commits, mails, entries of a log, or lines.

    commit 73bc210b         a record begins with a block of `Name: value` lines, and with the line above it: columns for
    Author: Ann <ann@…>     the names, for `Name: value` lines in the text of several records, and `text`
    Feb 17 04:37:07 app …   or with a time or a level: the columns `time` or `level`, and `text`; lines that begin with
    [ERROR] …               neither belong to the record above them
    2831 ./a/b.csv          else each line is a record: `text`

Numbers with a unit or a name that several records have are columns, too: `2 files changed`, `(2874 kB)`, `limit=20`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any, Final

from accp_core.documents.grids.cells import rows_of
from accp_core.previews.conditions import NamedRows, find_named_rows
from accp_core.previews.request import Request, words_of_name
from accp_core.tables import FIRST_LINE, TEXT_RECORDS, Table
from accp_core.tables.values import TIME_TEXT

__all__ = ["RequestedRecords", "find_requested_records", "table_of_records"]

_MAX_CHARS: Final = 400_000
"""Characters of a text whose records are read."""
_MIN_LINES: Final = 20
_MAX_LINES: Final = 10_000
_MIN_RECORDS: Final = 3
_MIN_SHARE: Final = 0.6
"""The share of the lines of a log that begin an entry at least."""
_FIELD: Final = re.compile(r"([A-Za-z][\w-]{0,30}):[ \t]+(\S.*)|([a-z]+) ([0-9a-f]{7,40})\b.*")
_NAMED: Final = re.compile(r"\s*([A-Z][a-z]+(?:-[a-z]+)*)(?::[ \t]+| (?=#))(\S.*)")
_LEVEL: Final = re.compile(
    r"\W{0,2}\b(trace|debug|info|notice|warn(?:ing)?|err(?:or)?|fatal|crit(?:ical)?|alert|emerg|severe)\b\W{0,2}",
    re.IGNORECASE,
)
_LETTERED: Final = re.compile(r"([IWEF])(\d{4} \d\d:\d\d:\d\d(?:\.\d+)?)\b")
"""The level of an entry by its letter, with its day and time."""
_COLOURS: Final = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_PRIORITY: Final = re.compile(r"<\d{1,3}>(?:1 )?")
_LEVEL_WITHIN: Final = 40
"""Characters after the time of an entry in which its level stands."""
_MEASURE: Final = re.compile(
    r"(?<![\w.:/-])(\d[\d,]*(?:\.\d+)?)(?!e[-+]?\d)\s?([A-Za-z]{1,12})\b"
    r"|\b([a-z_]{2,20})(?:: ?\w+)? ?= ?(\d+(?:\.\d+)?)\b"
)
_MIN_MEASURED: Final = 5
"""Records that have a number of one kind from which it is a column."""
_UNIT: Final = 2
"""Letters of a unit at most: the s of ms is no plural."""
_MAX_MEASURES: Final = 8
_MAX_FIELDS: Final = 16
TIME_START: Final = re.compile(rf"\W{{0,2}}({TIME_TEXT})(?!\w)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Records:
    """The records of a text."""

    table: Table
    """A row for each of them."""
    lines: Sequence[tuple[int, int]]
    """The numbers of its first line, from 0, and of the line after it."""
    noun: str
    """What one is called: "line" or "record"."""
    heads: frozenset[str] = frozenset()
    """The fields at the beginning of a record that say which one it is: not those that all have alike, and no ids."""


def read_records(text: str) -> Records | None:
    """Return the records of a text; None: it is too short or too long."""
    if len(text) > _MAX_CHARS or not _MIN_LINES <= text.count("\n") + 1 <= _MAX_LINES:
        return None
    lines = _COLOURS.sub("", text).split("\n") if "\x1b[" in text else text.split("\n")
    headed = _headed(lines)
    starts = headed or _entries(lines) or [n for n, line in enumerate(lines) if line.strip()]
    spans = [(start, end) for start, end in pairwise([*starts, len(lines)])]
    rows = [_row(lines[start:end]) for start, end in spans]
    _add_measures(rows)
    names = Counter(name for row in rows for name in row)
    kept = [name for name, count in names.items() if count >= _MIN_RECORDS][:_MAX_FIELDS]
    table = Table(name=TEXT_RECORDS, path=(), columns=tuple(kept), rows=rows)
    fields = kept[: kept.index("text")] if headed and "text" in kept else []
    heads = (name for name in fields if len(set(table.cells(name))) > 1 and not name.lower().endswith("id"))
    return Records(
        table, spans, "line" if all(end - start == 1 for start, end in spans) else "record", frozenset(heads)
    )


def table_of_records(text: str) -> Table | None:
    """Return the table `records` that a query of a text reads: `n`, the number of the first line, and the columns.

    None: it has no records, or they are its lines and have nothing but their text.
    """
    found = read_records(text)
    if found is None or (found.table.columns == ("text",) and not any("\n" in row["text"] for row in found.table.rows)):
        return None
    # Names that differ in case alone are one name in a query: the first of them is kept.
    first = {name.casefold(): name for name in reversed(found.table.columns)}
    names = [name for name in found.table.columns if name.casefold() != "n" and first[name.casefold()] == name]
    cells: list[list[Any]] = [[row.get(name) for name in names] for row in found.table.rows]
    rows = [
        {"n": start + FIRST_LINE} | {name: cell for name, cell in row.items() if cell is not None}
        for row, (start, _) in zip(rows_of(names, cells), found.lines, strict=True)
    ]
    return Table(name=TEXT_RECORDS, path=(), columns=("n", *names), rows=rows)


def _headed(lines: Sequence[str]) -> list[int]:
    """Return where records begin whose first lines are fields; the first field of all of them is the same."""
    groups: list[tuple[int, str]] = []
    before = ""
    for number, line in enumerate(lines):
        if (
            (found := _FIELD.fullmatch(line))
            and not _FIELD.fullmatch(before)
            and _FIELD.fullmatch(_at(lines, number + 1))
        ):
            groups.append((number, found[1] or found[3]))
        before = line
    names = Counter(name for _, name in groups)
    name, count = max(names.items(), key=lambda item: item[1], default=("", 0))
    return [number for number, own in groups if own == name] if count >= _MIN_RECORDS else []


def _entries(lines: Sequence[str]) -> list[int]:
    starts = [number for number, line in enumerate(lines) if _time(line)[0] or _LEVEL.match(line)]
    filled = sum(1 for line in lines if line.strip())
    return starts if len(starts) > _MIN_SHARE * filled else []


def _at(lines: Sequence[str], number: int) -> str:
    return lines[number] if number < len(lines) else ""


def field_of(line: str) -> str:
    """Return the name of the field that a line is; empty: it is none."""
    found = _FIELD.fullmatch(line)
    return (found[1] or found[3]) if found else ""


def is_quoted(line: str) -> bool:
    """Return whether a line of a record quotes another one."""
    return line.startswith(">")


def _row(lines: Sequence[str]) -> dict[str, Any]:
    row: dict[str, Any] = {}
    body = 0
    for line in lines:
        found = _FIELD.fullmatch(line)
        if not found:
            break
        row.setdefault(found[1] or found[3], found[2] or found[4])
        body += 1
    text = [line for line in lines[body:] if not is_quoted(line)]
    time, end = _time(lines[0])
    if time:
        row["time"] = time
    if lettered := _LETTERED.match(lines[0]):
        row["level"] = lettered[1]
    elif level := _LEVEL.search(lines[0], end, end + _LEVEL_WITHIN):
        row["level"] = level[1]
    if body:
        row |= {found[1]: found[2] for line in text if (found := _NAMED.fullmatch(line)) and found[1] not in row}
    return row | {"text": "\n".join(text).strip("\n")}


def _time(line: str) -> tuple[str, int]:
    """Return the time with which a line begins, behind the priority of syslog, and where it ends; else ""."""
    if lettered := _LETTERED.match(line):
        return lettered[2], lettered.end()
    before = _PRIORITY.match(line)
    found = TIME_START.match(line, before.end() if before else 0)
    return (found[1], found.end()) if found else ("", 0)


def _add_measures(rows: Sequence[dict[str, Any]]) -> None:
    """Add the numbers of the texts as columns that several rows have, and none twice: which one would it be?"""
    found = [list(_measures(row["text"])) for row in rows]
    twice = {name for measures in found for name, count in Counter(n for n, _ in measures).items() if count > 1}
    uses = Counter(name for measures in found for name, _ in measures if name not in twice)
    kept = [name for name, count in uses.most_common(_MAX_MEASURES) if count >= _MIN_MEASURED]
    for row, measures in zip(rows, found, strict=True):
        row |= {name: number for name, number in measures if name in kept and name not in row}


def _measures(text: str) -> Iterator[tuple[str, str]]:
    for found in _MEASURE.finditer(text):
        name = (found[2] or found[3]).lower()
        yield name.removesuffix("s") if len(name) > _UNIT else name, found[1] or found[4]


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
            if not named.is_sure and not named.first and len(named.numbers) == 1:
                continue  # one place that has some of the words is no answer
            are_shown = all(shows(*span) for number in named.numbers for span in self.spans[number])
            line = named.describe(are_shown=are_shown)
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
