"""What a preview shows of rows that it does not hold: counts of values, the greatest of a column, single rows."""

from __future__ import annotations

import re
from typing import Any

from accp_adapters.evaluation.tasks.scripted.prompt import Rows, Seen
from accp_core.view import read

__all__ = ["count_of", "row_of_maximum", "row_with"]


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
