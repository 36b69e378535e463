"""What a preview shows of rows that it does not hold: counts of values, the greatest of a column, single rows."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from accp_core.view import read
from integrations.agent_tasks.scripted.prompt import Rows, Seen, selected

__all__ = ["count_of", "count_where", "greatest_where", "row_of_maximum", "row_with", "rows_where", "sum_where"]

_NAMED: Final = re.compile(
    r"^(?P<conditions>\w+=[^:\n]*): (?P<count>[\d,]+) rows?(?P<all>, all shown)?(?P<facts>;.*)?$", re.M
)
"""The line of a preview about the rows that the request names: `status=late: 55 rows; items: 1 to 11, sum 293`."""
_NUMBERS: Final = r"; {}: (?:[\d.-]+ to )?(?P<greatest>[\d.-]+)(?:, sum (?P<sum>[\d.-]+))?(?:;|$)"


def count_of(column: str, value: str) -> Seen:
    """Return what finds the count of a value in the facts of a preview: `status: sent (124), late (94)`."""
    pattern = re.compile(
        rf"(?:^|; )(?:[^;\n]*: )?{re.escape(column)}: (?:[^;\n]*, )?{re.escape(value)} \((\d+)\)", re.M
    )

    def seen(preview: str) -> Rows | None:
        found = pattern.search(preview)
        return [(int(found[1]),)] if found else None

    return seen


def row_of_maximum(column: str, cell: str) -> Seen:
    """Return what finds `cell` of the row with the greatest `column`, if facts and rows of a preview show both."""
    pattern = re.compile(rf"(?:^|; )(?:[^;\n]*: )?{re.escape(column)}: [\d.,-]+ to ([\d.]+)", re.M)

    def seen(preview: str) -> Rows | None:
        greatest = pattern.search(preview)
        if greatest is None:
            return None
        found = [row for row in _rows(preview) if str(row.get(column)) == greatest[1].rstrip(".")]
        return [(found[0][cell],)] if found and cell in found[0] else None

    return seen


def row_with(column: str, value: str, *cells: str) -> Seen:
    """Return what finds `cells` of the row whose `column` is `value` among the rows of a preview."""

    def seen(preview: str) -> Rows | None:
        found = [row for row in _rows(preview) if row.get(column) == value]
        return [tuple(found[0].get(cell) for cell in cells)] if found else None

    return seen


def rows_where(sql: str, **conditions: Any) -> Seen:
    """Return what answers a SELECT from the rows that a preview shows, if it shows all that fulfil some conditions."""

    def seen(preview: str) -> Rows | None:
        for line, named in _named(preview):
            rows = [row for row in _rows(preview) if named.items() <= row.items()]
            if line["all"] and named.items() <= conditions.items() and len(rows) == int(line["count"].replace(",", "")):
                return selected(rows, sql)
        return None

    return seen


def count_where(**conditions: Any) -> Seen:
    """Return what finds how many rows fulfil the conditions."""

    def seen(preview: str) -> Rows | None:
        return next(
            ([(int(line["count"].replace(",", "")),)] for line, named in _named(preview) if named == conditions), None
        )

    return seen


def sum_where(column: str, **conditions: Any) -> Seen:
    """Return what finds the sum of a column of the rows that fulfil the conditions."""

    def seen(preview: str) -> Rows | None:
        for line, named in _named(preview):
            found = re.search(_NUMBERS.format(column), line["facts"] or "")
            if named == conditions and found:
                return [(int(found["sum"] or found["greatest"]),)]
        return None

    return seen


def greatest_where(column: str, cell: str, **conditions: Any) -> Seen:
    """Return what finds `cell` of the row with the greatest `column` of those that fulfil the conditions."""

    def seen(preview: str) -> Rows | None:
        for line, named in _named(preview):
            found = re.search(_NUMBERS.format(column), line["facts"] or "")
            rows = [row for row in _rows(preview) if named.items() <= row.items()]
            best = [row for row in rows if found and str(row.get(column)) == found["greatest"]]
            if named == conditions and best:
                return [(best[0][cell],)]
        return None

    return seen


def _named(preview: str) -> list[tuple[re.Match[str], Mapping[str, str]]]:
    """Return the lines of a preview about named rows, each with its conditions."""
    lines = list(_NAMED.finditer(preview))
    return [(line, dict(pair.split("=", 1) for pair in line["conditions"].split(", "))) for line in lines]


def _rows(preview: str) -> list[dict[str, Any]]:
    """Return the rows of the first table of a preview."""
    lines = preview.splitlines()
    starts = [number for number, line in enumerate(lines) if line.startswith("[") and number]
    for start in starts:
        try:
            value = read("\n".join(lines[start:]))
        except ValueError:
            continue
        return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []
    return []
