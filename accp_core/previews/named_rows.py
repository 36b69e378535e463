"""The rows of a table whose values a request names, such as "which late orders has the warehouse south?".

status=late, warehouse=south: 16 rows, all shown; items: 1 to 11, sum 93; total: 80.5 to 2246.03, sum 9817.53
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal, Inexact
from itertools import islice, product
from typing import Any, Final

from accp_core.previews.column_facts import ColumnFacts
from accp_core.previews.words import find_words
from accp_core.tables import Table
from accp_core.view.notation import INLINE, quote, write_name

__all__ = ["NamedRows", "find_named_rows"]

_MAX_VALUES: Final = 64
"""Different values of a column that are compared with the words of the request."""
_MAX_VALUE_CHARS: Final = 40
_MAX_LINES: Final = 4
"""Readings of a request whose words stand in several columns that are described."""
_MAX_READINGS: Final = 8
"""Readings that are looked at."""
_MAX_NUMBERS: Final = 6
"""Columns of numbers that are described."""
_SIGNS: Final = frozenset(":|")
"""Signs that end a value in the line, besides those of a list."""
_EXACT: Final = Context(prec=60, traps=[Inexact])


@dataclass(frozen=True, slots=True)
class NamedRows:
    """The rows whose cells are what a request names, of each column that it names one of."""

    numbers: frozenset[int]
    """The numbers of the rows."""
    ends: frozenset[int]
    """Of these, the rows with the least and the greatest number of a column."""
    conditions: str
    """What they have in common: "status=late, warehouse=south: 16 rows"."""
    facts: str
    """The range and the sum of their numbers."""

    def describe(self, *, are_shown: bool) -> str:
        """Return the line that a preview has of them."""
        return f"{self.conditions}{', all shown' * are_shown}{self.facts}"


def find_named_rows(table: Table, facts: Sequence[ColumnFacts], requested: frozenset[str]) -> tuple[NamedRows, ...]:
    """Return the rows that a request names, not those of a reading that names none, or all.

    Different words in different columns name the rows that have all of them; of columns that have the same word, each
    is a reading of its own: "which are late?" may ask for the status or for the parcel.

    Args:
        table: Its rows are all of the source; what is counted and summed is exact.
        facts: The facts of its columns; only columns with few values are looked at.
        requested: The words of the request without regard to case.
    """
    counted = [column.name for column in facts if column.is_counted] if requested else []
    wanted = {column: values for column in counted if (values := _named_values(table, column, requested))}
    readings = product(*_groups({column: frozenset(_words(values)) for column, values in wanted.items()}))
    found = (_named_rows(table, {column: wanted[column] for column in reading}) for reading in readings if reading)
    return tuple(islice(filter(None, islice(found, _MAX_READINGS)), _MAX_LINES))


def _words(values: Sequence[str]) -> Iterator[str]:
    return (word for value in values for word in find_words(value.casefold()))


def _groups(words: Mapping[str, frozenset[str]]) -> list[list[str]]:
    """Return the columns, those together that have a word in common, or one in common with a third."""
    groups: list[tuple[list[str], frozenset[str]]] = []
    for column, own in words.items():
        joined = [group for group in groups if not own.isdisjoint(group[1])]
        groups = [group for group in groups if own.isdisjoint(group[1])]
        columns = [*(each for group in joined for each in group[0]), column]
        groups.append((columns, own.union(*(group[1] for group in joined))))
    return [columns for columns, _ in groups]


def _named_rows(table: Table, wanted: Mapping[str, Sequence[str]]) -> NamedRows | None:
    rows = {number: row for number, row in enumerate(table.rows) if _fits(row, wanted)}
    if not 0 < len(rows) < len(table.rows):
        return None
    numbers = list(_numbers(table, rows))
    conditions = ", ".join(f"{write_name(column)}={'|'.join(map(_value, values))}" for column, values in wanted.items())
    return NamedRows(
        numbers=frozenset(rows),
        ends=frozenset(end for _, cells in numbers for end in _ends(cells)),
        conditions=f"{conditions}: {len(rows):,} row{'s'[: len(rows) > 1]}",
        facts="".join(f"; {write_name(column)}: {_range(list(cells.values()))}" for column, cells in numbers),
    )


def _named_values(table: Table, column: str, requested: frozenset[str]) -> list[str]:
    values = list(dict.fromkeys(cell for cell in table.cells(column) if type(cell) is str))
    return [value for value in values if _is_named(value, requested)] if len(values) <= _MAX_VALUES else []


def _is_named(value: str, requested: frozenset[str]) -> bool:
    words = find_words(value.casefold()) if len(value) <= _MAX_VALUE_CHARS else []
    return bool(words) and requested.issuperset(words)


def _fits(row: Mapping[str, Any], wanted: Mapping[str, Sequence[str]]) -> bool:
    return all(row.get(column) in values for column, values in wanted.items())


def _numbers(table: Table, rows: Mapping[int, Mapping[str, Any]]) -> Iterator[tuple[str, dict[int, Any]]]:
    """Yield the first columns that hold nothing but numbers in these rows, and their cells by row."""
    left = _MAX_NUMBERS
    for column in table.columns:
        cells = {number: row.get(column) for number, row in rows.items()}
        if left and not column.casefold().endswith("id") and all(type(cell) in (int, float) for cell in cells.values()):
            left -= 1
            yield column, cells


def _ends(cells: Mapping[int, Any]) -> tuple[int, int]:
    return min(cells, key=cells.__getitem__), max(cells, key=cells.__getitem__)


def _range(cells: Sequence[Any]) -> str:
    lowest, highest = min(cells), max(cells)
    if len(cells) == 1:
        return repr(lowest)
    return f"{lowest!r} to {highest!r}{_sum(cells)}"


def _sum(cells: Sequence[Any]) -> str:
    """Return the sum of numbers as they are written; nothing where it has too many digits."""
    total = Decimal(0)
    try:
        for cell in cells:
            total = _EXACT.add(total, Decimal(repr(cell)))
    except Inexact:
        return ""
    return f", sum {_EXACT.normalize(total):f}"


def _value(value: str) -> str:
    return value if INLINE.allows(value) and _SIGNS.isdisjoint(value) else quote(value)
