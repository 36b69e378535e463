"""The records of a text as the rows of a table: commits, mails, entries of a log, or lines.

    commit 73bc210b         a record begins with a block of `Name: value` lines, and with the line above it: columns for
    Author: Ann <ann@…>     the names, for `Name: value` lines in the text of several records, and `text`
    Feb 17 04:37:07 app …   or with a time: the columns `time` and `text`; lines that begin with none belong to the
                            record above them
    2831 ./a/b.csv          else each line is a record: `text`

Numbers with a unit or a name that several records have are columns, too: `2 files changed`, `(2874 kB)`, `limit=20`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, pairwise, takewhile
from typing import Any, Final

from accp_core.documents.grids.cells import rows_of
from accp_core.previews.conditions import NamedRows, find_named_rows
from accp_core.previews.request import Request
from accp_core.tables import FIRST_LINE, TEXT_RECORDS, OpenedText, Table
from accp_core.tables.values import TIME_TEXT

__all__ = ["RequestedRecords", "find_requested_records", "table_of_records", "tables_of_text"]

_MAX_CHARS: Final = 400_000
"""Characters of a text whose records are read."""
_MIN_LINES: Final = 20
_MAX_LINES: Final = 10_000
_MIN_RECORDS: Final = 3
_MIN_SHARE: Final = 0.2
"""The share of the lines of a log that begin an entry at least."""
_TIME: Final = re.compile(rf"\W{{0,2}}({TIME_TEXT})(?!\w)", re.IGNORECASE)
_FIELD: Final = re.compile(r"([A-Za-z][\w-]{0,30})(?::[ \t]+|(?<=[a-z]) (?=[0-9a-f]{7,40}\b))(\S.*)")
"""A name and its value: `Author: Ann`, `commit 73bc210b`."""
_NAMED: Final = re.compile(r"\s*([A-Z][a-z]+(?:-[a-z]+)*)(?::[ \t]+| (?=#))(\S.*)")
"""The same in the text of a record: `Reviewed-by: Dan`, `Closes #12`."""
_QUOTE: Final = ">"
"""What a line begins with that a mail quotes from another one."""
_COLOURS: Final = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_MEASURE: Final = re.compile(
    r"(?<![\w.:/-])(\d[\d,]*(?:\.\d+)?)(?!e[-+]?\d)\s?([A-Za-z]{1,12})\b(?!-)"
    r"|\b([a-z_]{2,20})(?:: ?\w+)? ?= ?(\d+(?:\.\d+)?)\b"
)
_UNIT: Final = 2
"""Letters of a unit at most: the s of ms is no plural."""
_MIN_MEASURED: Final = 5
"""Records that have a number of one kind from which it is a column."""
_MAX_MEASURES: Final = 8
_MAX_FIELDS: Final = 16


@dataclass(frozen=True, slots=True)
class Records:
    """The records of a text."""

    table: Table
    """A row for each of them."""
    lines: Sequence[tuple[int, int]]
    """The numbers of its first line, from 0, and of the line after it."""

    @property
    def noun(self) -> str:
        """What one is called."""
        return "line" if all(end - start == 1 for start, end in self.lines) else "record"


def read_records(text: str) -> Records | None:
    """Return the records of a text; None: it is too short or too long."""
    if len(text) > _MAX_CHARS or not _MIN_LINES <= text.count("\n") + 1 <= _MAX_LINES:
        return None
    lines = _COLOURS.sub("", text).split("\n")
    starts = _headed(lines) or _entries(lines) or [n for n, line in enumerate(lines) if line.strip()]
    spans = list(pairwise([*starts, len(lines)]))
    rows = [_row(lines[start:end]) for start, end in spans]
    _add_measures(rows)
    names = Counter(name for row in rows for name in row)
    kept = [name for name, count in names.items() if count >= _MIN_RECORDS][:_MAX_FIELDS]
    return Records(Table(name=TEXT_RECORDS, path=(), columns=tuple(kept), rows=rows), spans)


def tables_of_text(text: str, opened: OpenedText, records: Records | None = None) -> list[Table]:
    """Return the tables that a query of a text reads beside its lines: `records`, if it has any, and `fields`."""
    table, beside = table_of_records(records or read_records(text)), opened.tables_beside()
    # Lines without a time are no records where rules have told their words apart.
    is_told = table and (not beside or "time" in table.columns or len(table.rows) < text.count("\n"))
    told = [table] if table and is_told else []
    return [*told, *(each for each in beside if not any(set(each.columns) <= {*own.columns} for own in told))]


def table_of_records(found: Records | None) -> Table | None:
    """Return the table `records`: `n`, the number of the first line, and the columns.

    None: a text has no records, or they are its lines and have nothing but their text.
    """
    if found is None or (found.table.columns == ("text",) and not any("\n" in row["text"] for row in found.table.rows)):
        return None
    # Names that differ in case alone are one name in a query: the first of them is kept.
    first = {name.casefold(): name for name in reversed(found.table.columns) if name.casefold() != "n"}
    names = [name for name in found.table.columns if name in first.values()]
    typed = rows_of(names, [[row.get(name) for name in names] for row in found.table.rows])
    rows = [
        {"n": start + FIRST_LINE} | {name: cell for name, cell in row.items() if cell is not None}
        for row, (start, _) in zip(typed, found.lines, strict=True)
    ]
    return Table(name=TEXT_RECORDS, path=(), columns=("n", *names), rows=rows)


def _lines_of_fields(text: str, opened: OpenedText) -> Records | None:
    """Return the lines of a text as the rows of a table that a query reads them as; None: they are not its rows."""
    outside = {number for first, last in opened.outside for number in range(first, last + 1)}
    lines = [n for n, line in enumerate(text.split("\n")) if line.strip() and n + FIRST_LINE not in outside]
    found = [table for table in opened.tables_beside() if len(table.rows) == len(lines)]
    return Records(found[0], [(n, n + 1) for n in lines]) if found else None


def _headed(lines: Sequence[str]) -> list[int]:
    """Return where records begin whose first lines are fields; the first field of all of them is the same."""
    fields = [_FIELD.fullmatch(line) for line in (*lines, "")]
    firsts = [
        (number, found[1])
        for number, found in enumerate(fields[:-1])
        if found and fields[number + 1] and not (number and fields[number - 1])
    ]
    name, count = max(Counter(name for _, name in firsts).items(), key=lambda item: item[1], default=("", 0))
    return [number for number, own in firsts if own == name] if count >= _MIN_RECORDS else []


def _entries(lines: Sequence[str]) -> list[int]:
    """Return where the entries of a log begin: with a time."""
    starts = [number for number, line in enumerate(lines) if _TIME.match(line)]
    return starts if len(starts) > _MIN_SHARE * sum(1 for line in lines if line.strip()) else []


def _row(lines: Sequence[str]) -> dict[str, Any]:
    fields = list(takewhile(bool, map(_FIELD.fullmatch, lines)))
    row: dict[str, Any] = {found[1]: found[2] for found in fields if found}
    text = [line for line in lines[len(fields) :] if not line.startswith(_QUOTE)]
    if time := _TIME.match(lines[0]):
        row["time"] = time[1]
    if fields:
        row |= {found[1]: found[2] for line in text if (found := _NAMED.fullmatch(line)) and found[1] not in row}
    return row | {"text": "\n".join(text).strip("\n")}


def _add_measures(rows: Sequence[dict[str, Any]]) -> None:
    """Add the numbers of the texts as columns that several rows have, and none twice: which one would it be?

    A longer word behind a number names it only where it has a plural: `order 88001 dispatched in 53 ms` is 53 ms.
    """
    spelled = [list(_measures(row["text"])) for row in rows]
    plural = {name for name, number in chain(*spelled) if name.endswith("s") and number != "1"}
    names = {
        name: name.rstrip("=") if len(name) <= _UNIT or name.endswith("=") else name.removesuffix("s")
        for name, _ in chain(*spelled)
        if len(name) <= _UNIT or name.endswith("=") or not plural.isdisjoint((name, f"{name}s"))
    }
    found = [[(names[name], number) for name, number in measures if name in names] for measures in spelled]
    twice = {name for measures in found for name, count in Counter(n for n, _ in measures).items() if count > 1}
    uses = Counter(name for measures in found for name, _ in measures if name not in twice)
    kept = [name for name, count in uses.most_common(_MAX_MEASURES) if count >= _MIN_MEASURED]
    for row, measures in zip(rows, found, strict=True):
        row |= {name: number for name, number in measures if name in kept and name not in row}


def _measures(text: str) -> Iterator[tuple[str, str]]:
    """Yield the words behind the numbers of a text, or those before an equals sign, as `limit=`, with the numbers."""
    for found in _MEASURE.finditer(text):
        yield (found[2] or f"{found[3]}=").lower(), found[1] or found[4]


_FIRST: Final = 100.0
"""What a line is worth that comes before all others."""
_MAX_UNSURE: Final = 24
"""Records with words of the request up to which they come before all others."""
_RANK: Final = 0.1
"""By how much a record that comes later is worth less."""
_QUOTED: Final = -20.0
"""What a line is worth that a mail quotes from another one."""


@dataclass(frozen=True, slots=True)
class RequestedRecords:
    """What is said of the records that a request asks for."""

    named: Sequence[NamedRows]
    """The readings of the request."""
    spans: Sequence[tuple[int, int]]
    """Where each record begins and ends in the text."""
    worths: Sequence[tuple[int, int, float]]
    """What lines are worth for the request: where they begin and end, and how much."""
    tables: Sequence[Table] = ()
    """The tables that a query of the text reads."""

    def describe(self, shows: Callable[[int, int], bool], room: float) -> str:
        """Return what a preview says of them in `room`, whose text shows what `shows` says."""
        text = ""
        for named in self.named:
            if not named.is_sure and not named.first and len(named.numbers) == 1:
                continue  # one place that has some of the words is no answer
            are_shown = all(shows(*self.spans[number]) for number in named.numbers)
            line = named.describe(are_shown=are_shown)
            text += f"{'; ' if text else ''}{line}" if len(text) + len(line) <= room else ""
        return text


def find_requested_records(text: str, request: Request, opened: OpenedText | None = None) -> RequestedRecords | None:
    """Return what a request asks of the records of a text, whose lines may be rows; None: it has none."""
    records = read_records(text)
    if records is None:
        return None
    tables = tables_of_text(text, opened, records) if opened else []
    if opened and records.table.columns == ("text",):
        records = _lines_of_fields(text, opened) or records
    named = find_named_rows(records.table, request, noun=(noun := records.noun))
    lines = text.split("\n")
    starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
    telling = (each for each in named if each.is_sure or len(each.numbers) <= _MAX_UNSURE)
    ranked = dict.fromkeys(number for each in telling for number in each.wanted)
    worths = {n: _FIRST - rank * _RANK for rank, number in enumerate(ranked) for n in range(*records.lines[number])}
    worths |= {n: _QUOTED for n, line in enumerate(lines) if line.startswith(_QUOTE) and noun != "line"}
    return RequestedRecords(
        named,
        [(starts[start], starts[end]) for start, end in records.lines],
        [(starts[n], starts[n + 1], worths[n]) for n in sorted(worths)],
        tables,
    )
