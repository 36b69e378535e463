"""The rows of a table that a request asks for: those that meet all its conditions, and their first ones in an order.

status=late, total>200, courier is empty: 16 rows, all shown; greatest total: 2246.03; items: 1 to 11, sum 93

What is said of rows is counted over all of them. Where words may mean several columns, each reading is a line.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal, Inexact
from itertools import islice, product
from typing import Any, Final

from accp_core.previews.request import Bound, Request
from accp_core.previews.words import find_words
from accp_core.tables import Table
from accp_core.view.notation import INLINE, quote, write_name

__all__ = ["NamedRows", "find_named_rows"]

_MAX_VALUES: Final = 64
"""Different values of a column that are compared with the words of the request."""
_MAX_VALUE_CHARS: Final = 40
_MAX_COLUMNS: Final = 64
"""Columns that are looked at."""
_MAX_LINES: Final = 4
"""Readings of a request whose words stand in several columns that are described."""
_MAX_READINGS: Final = 8
"""Readings that are looked at."""
_MAX_NUMBERS: Final = 6
"""Columns of numbers that are described."""
_RANKED: Final = 3
"""Different values of an order that are shown: the second largest is asked for, too."""
_MAX_TIED: Final = 12
"""Rows of an order that are shown."""
_MAX_ORDERS: Final = 3
"""Columns whose order is shown where the request names none."""
_SIGNS: Final = frozenset(":|")
"""Signs that end a value in the line, besides those of a list."""
_EXACT: Final = Context(prec=60, traps=[Inexact])
_EMPTY: Final = frozenset(("", "-", "null", "none", "nil", "n/a"))
"""Texts that say that there is nothing, without regard to case."""
_NUMBER: Final = re.compile(r"-?\d+(?:\.\d+)?")
_TIME: Final = re.compile(
    r"\d{4}-\d\d(?:-\d\d(?:[T ](?P<time>\d\d:\d\d)[\d:.,]*(?:Z| ?[+-]\d\d:?\d\d)?)?)?|(?P<clock>\d\d:\d\d(?::\d\d)?)"
)
_DATE: Final = re.compile(r"\d{4}(?:-\d\d){0,2}")


@dataclass(frozen=True, slots=True)
class _Condition:
    column: str
    text: str
    rows: frozenset[int]
    """The numbers of the rows that meet it."""
    words: frozenset[str]
    """The words of the request that it is read from; conditions with a word in common are different readings."""


@dataclass(frozen=True, slots=True)
class NamedRows:
    """The rows that one reading of a request asks for."""

    numbers: frozenset[int]
    """The numbers of the rows; all where the request has only an order."""
    ends: frozenset[int]
    """Of these, the rows with the least and the greatest number of a column."""
    first: frozenset[int]
    """The first rows in the order that the request asks for."""
    columns: frozenset[str]
    """The columns of the conditions and of the order."""
    conditions: str
    """What they have in common: "status=late, warehouse=south: 16 rows"; empty: nothing."""
    facts: str
    """The first values of the order, the range and the sum of their numbers."""

    def describe(self, *, are_shown: bool) -> str:
        """Return the line that a preview has of them."""
        if not self.conditions:
            return self.facts.removeprefix("; ")
        return f"{self.conditions}{', all shown' * are_shown}{self.facts}"


def find_named_rows(table: Table, request: Request) -> tuple[NamedRows, ...]:
    """Return the rows that a request asks for, not those of a reading that asks for none, or all.

    Conditions on different columns name the rows that meet all of them; of columns that have the same word, each is a
    reading of its own: "which are late?" may ask for the status or for the parcel.

    Args:
        table: Its rows are all of the source; what is counted and summed is exact.
        request: What is asked for.
    """
    if not request.words or len(table.rows) < 2:
        return ()
    reader = _Reader(table, request)
    conditions = list(reader.conditions())
    readings = islice(product(*_groups(conditions)), _MAX_READINGS)
    found = list(filter(None, (reader.rows_of(reading) for reading in readings if reading)))
    if not found and len(conditions) > 1:
        found = list(filter(None, (reader.rows_of([condition]) for condition in conditions[:_MAX_READINGS])))
    return tuple(islice(found or filter(None, [reader.all_in_order()]), _MAX_LINES))


def _groups(conditions: Sequence[_Condition]) -> list[list[_Condition]]:
    """Return the conditions, those together that have a word in common, or one in common with a third."""
    groups: list[tuple[list[_Condition], frozenset[str]]] = []
    for condition in conditions:
        joined = [group for group in groups if not condition.words.isdisjoint(group[1])]
        groups = [group for group in groups if condition.words.isdisjoint(group[1])]
        members = [*(each for group in joined for each in group[0]), condition]
        groups.append((members, condition.words.union(*(group[1] for group in joined))))
    return [members for members, _ in groups]


class _Reader:
    """Finds what a request says of one table."""

    def __init__(self, table: Table, request: Request) -> None:
        self._table = table
        self._request = request
        self._columns = table.columns[:_MAX_COLUMNS]
        self._keys: dict[str, list[Any] | None] = {}

    def conditions(self) -> Iterator[_Condition]:
        """Yield the conditions of the request that some rows meet and others do not."""
        return (each for each in self._read() if 0 < len(each.rows) < len(self._table.rows))

    def _read(self) -> Iterator[_Condition]:
        for column in self._columns:
            yield from self._value(column)
            yield from self._flag(column)
            yield from self._absence(column)
        for number, bound in enumerate(self._request.bounds):
            yield from self._bound(bound, f"{number}")

    def _rows(self, column: str, meets: Callable[[Any], bool]) -> frozenset[int]:
        return frozenset(number for number, row in enumerate(self._table.rows) if meets(row.get(column)))

    def _value(self, column: str) -> Iterator[_Condition]:
        cells = dict.fromkeys(value for cell in self._table.cells(column) for value in _texts(cell))
        named = [value for value in cells if self._is_named(value)] if len(cells) <= _MAX_VALUES else []
        if named:
            text = f"{write_name(column)}={'|'.join(map(_write, named))}"
            words = frozenset(word.casefold() for value in named for word in find_words(value))
            wanted = frozenset(named)
            yield _Condition(column, text, self._rows(column, lambda cell: not wanted.isdisjoint(_texts(cell))), words)

    def _is_named(self, value: str) -> bool:
        if len(value) > _MAX_VALUE_CHARS or _is_empty(value):
            return False
        return self._request.has_all(value) and all(bound.text != value for bound in self._request.bounds)

    def _flag(self, column: str) -> Iterator[_Condition]:
        wanted = self._request.affirms(column)
        if wanted is not None and set(map(type, self._table.cells(column))) == {bool}:
            text = f"{write_name(column)}={str(wanted).lower()}"
            yield _Condition(column, text, self._rows(column, lambda cell: cell is wanted), frozenset((column,)))

    def _absence(self, column: str) -> Iterator[_Condition]:
        if words := self._request.lacks(column):
            yield _Condition(column, f"{write_name(column)} is empty", self._rows(column, _is_empty), words)

    def _bound(self, bound: Bound, word: str) -> Iterator[_Condition]:
        columns = [name for name in self._columns if self._has_order(name) and not _is_id(name)]
        for column in [name for name in columns if self._request.names(name)] or columns:
            keys, text = self._order(column), write_name(column)
            if bound.clock and self._is_time(column):
                keys, text = [key and _time_of_day(key) for key in keys], f"time of {text}"
            limit = _limit(bound, keys)
            if limit is not None:
                text += bound.sign + (limit if type(limit) is str else f"{limit:f}")
                rows = frozenset(n for n, key in enumerate(keys) if key is not None and _meets(key, bound.sign, limit))
                yield _Condition(column, text, rows, frozenset((word,)))

    def rows_of(self, reading: Sequence[_Condition]) -> NamedRows | None:
        """Return the rows that meet all conditions; None: no row does."""
        numbers = sorted(frozenset.intersection(*(each.rows for each in reading)))
        if not numbers:
            return None
        conditions = ", ".join(each.text for each in reading)
        return self._named(numbers, f"{conditions}: {len(numbers):,} row{'s'[: len(numbers) > 1]}", reading)

    def all_in_order(self) -> NamedRows | None:
        """Return the rows where the request asks for an order only; None: for none."""
        return named if (named := self._named(range(len(self._table.rows)), "", ())).first else None

    def _named(self, numbers: Sequence[int], conditions: str, reading: Sequence[_Condition]) -> NamedRows:
        orders = list(self._orders(numbers))
        cells = list(_numbers(self._table, numbers)) if conditions else []
        ranges = (f"; {write_name(column)}: {_range(list(own.values()))}" for column, own in cells)
        return NamedRows(
            numbers=frozenset(numbers) if conditions else frozenset(),
            ends=frozenset(end for _, own in cells for end in _ends(own)),
            first=frozenset(number for _, _, first in orders for number in first),
            columns=frozenset([each.column for each in reading] + [column for column, _, _ in orders]),
            conditions=conditions,
            facts="".join([f"; {text}" for _, text, _ in orders] + list(ranges)),
        )

    def _orders(self, numbers: Sequence[int]) -> Iterator[tuple[str, str, list[int]]]:
        """Yield the columns whose order the request asks for, with its first values in words and its first rows."""
        if not self._request.is_greatest and not self._request.is_least:
            return
        columns = [name for name in self._columns if self._has_order(name) and not _is_id(name)]
        named = [name for name in columns if self._request.names(name)]
        fitting = [name for name in columns if self._is_time(name) is self._request.is_timed] or columns
        for column in (named or fitting)[:_MAX_ORDERS]:
            keys = self._order(column)
            known = [number for number in numbers if keys[number] is not None]
            for word, is_wanted in (("greatest", self._request.is_greatest), ("least", self._request.is_least)):
                values = sorted({keys[number] for number in known}, reverse=word == "greatest")[:_RANKED]
                first = [number for value in values for number in known if keys[number] == value][:_MAX_TIED]
                if is_wanted and len(values) > 1:
                    counts = Counter(_text(self._table.rows[number][column]) for number in first)
                    told = ", ".join(f"{value}{f' ({count})' * (count > 1)}" for value, count in counts.items())
                    yield column, f"{word} {write_name(column)}: {told}", first

    def _has_order(self, column: str) -> bool:
        return bool(self._order(column))

    def _is_time(self, column: str) -> bool:
        return any(type(key) is str for key in self._order(column))

    def _order(self, column: str) -> list[Any]:
        """Return what the cells of a column are ordered by, None for one that is empty; empty: they have no order."""
        if column not in self._keys:
            self._keys[column] = _keys_of([row.get(column) for row in self._table.rows])
        return self._keys[column] or []


def _keys_of(cells: Sequence[Any]) -> list[Any]:
    for read in (_read_number, _read_time):
        keys: list[Any] = []
        for cell in cells:
            key = None if _is_empty(cell) else read(cell)
            if key is None and not _is_empty(cell):
                break
            keys.append(key)
        else:
            return keys if len(set(keys)) > 1 else []
    return []


def _read_number(cell: Any) -> Any:
    if type(cell) is str:
        return Decimal(cell) if _NUMBER.fullmatch(cell) else None
    return cell if isinstance(cell, (int, float)) and type(cell) is not bool else None


def _read_time(cell: Any) -> str | None:
    return cell if type(cell) is str and _TIME.fullmatch(cell) else None


def _time_of_day(key: str) -> str | None:
    found = _TIME.fullmatch(key)
    return found and (found["time"] or found["clock"])


def _limit(bound: Bound, keys: Sequence[Any]) -> Any:
    """Return the bound as the keys of a column are written; None: they cannot be compared, or all are on one side."""
    known = [key for key in keys if key is not None]
    if not known:
        return None
    limits: Sequence[Any] = bound.values
    if type(known[0]) is str:
        limits = [bound.clock or bound.text] if bound.clock or _DATE.fullmatch(bound.text) else ()
    return next((limit for limit in limits if min(known) <= limit <= max(known)), None)


def _meets(key: Any, sign: str, limit: Any) -> bool:
    key = key[: len(limit)] if type(key) is str else key
    return bool({">": key > limit, "≥": key >= limit, "<": key < limit, "≤": key <= limit}[sign])


def _is_empty(cell: Any) -> bool:
    if type(cell) is str:
        return cell.strip().casefold() in _EMPTY
    return cell is None or (isinstance(cell, (list, dict)) and not cell)


def _is_id(column: str) -> bool:
    return column.casefold().endswith("id") or column == "_row"


def _numbers(table: Table, numbers: Sequence[int]) -> Iterator[tuple[str, dict[int, Any]]]:
    """Yield the first columns that hold nothing but numbers in these rows, and their cells by row."""
    left = _MAX_NUMBERS
    for column in table.columns:
        cells = {number: table.rows[number].get(column) for number in numbers}
        if left and not _is_id(column) and all(type(cell) in (int, float) for cell in cells.values()):
            left -= 1
            yield column, cells


def _ends(cells: Mapping[int, Any]) -> tuple[int, int]:
    return min(cells, key=cells.__getitem__), max(cells, key=cells.__getitem__)


def _range(cells: Sequence[Any]) -> str:
    lowest, highest = min(cells), max(cells)
    return repr(lowest) if lowest == highest else f"{lowest!r} to {highest!r}{_sum(cells)}"


def _sum(cells: Sequence[Any]) -> str:
    """Return the sum of numbers as they are written; nothing where it has too many digits."""
    total = Decimal(0)
    try:
        for cell in cells:
            total = _EXACT.add(total, Decimal(repr(cell)))
    except Inexact:
        return ""
    return f", sum {_EXACT.normalize(total):f}"


def _texts(cell: Any) -> Sequence[str]:
    """Return the texts that a cell is or, as an array, has."""
    if type(cell) is list:
        return [member for member in cell if type(member) is str]
    return (cell,) if type(cell) is str else ()


def _text(cell: Any) -> str:
    return _write(cell) if type(cell) is str and not _NUMBER.fullmatch(cell) else str(cell)


def _write(value: str) -> str:
    return value if INLINE.allows(value) and _SIGNS.isdisjoint(value) else quote(value)
