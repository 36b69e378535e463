"""The rows of a table that a request asks for: those that meet all its conditions, and their first ones in an order.

status=late, total>200, courier is empty: 16 rows, all shown; greatest total: 2246.03; items: 1 to 11, sum 93

What is said of rows is counted over all of them. Where words may mean several columns, each reading is a line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal, Inexact
from itertools import islice, product
from typing import Any, Final

from accp_core.previews.asked.conditions import Condition, Conditions, is_id, write_value
from accp_core.previews.asked.request import Order, Request
from accp_core.tables import Table
from accp_core.tables.values import Kind
from accp_core.view.notation import write_name

__all__ = ["NamedRows", "find_named_rows"]

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
_MAX_WANTED: Final = 60
"""Rows that a request asks for up to which all of them are wanted."""
_MAX_BEHIND: Final = 20
"""The same where an order says which come first."""
_EXACT: Final = Context(prec=60, traps=[Inexact])


@dataclass(frozen=True, slots=True)
class NamedRows:
    """The rows that one reading of a request asks for."""

    numbers: frozenset[int]
    """The numbers of the rows; none where the request has only an order."""
    first: tuple[int, ...]
    """The first rows in the order that the request asks for."""
    columns: frozenset[str]
    """The columns of the conditions and of the order."""
    conditions: str
    """What they have in common: "status=late, warehouse=south: 16 rows"; empty: nothing."""
    order: str
    """The first values of the order: "; greatest total: 2246.03"; empty: none is asked for."""
    ranges: str
    """The ranges and sums of their numbers."""
    is_sure: bool
    """Whether the request names its columns or their values, not only words that texts have, too."""

    def describe(self, *, are_shown: bool, with_ranges: bool = True) -> str:
        """Return the line that a preview has of them."""
        told = f"{self.conditions}{', all shown' * (are_shown and bool(self.conditions))}{self.order}"
        return f"{told}{self.ranges * with_ranges}".removeprefix("; ")

    @property
    def wanted(self) -> Sequence[int]:
        """The rows that answer: the first ones of an order, and all where they are not many."""
        most = _MAX_BEHIND if self.first else _MAX_WANTED
        return tuple(dict.fromkeys((*self.first, *(sorted(self.numbers) if len(self.numbers) <= most else ()))))


def find_named_rows(
    table: Table, request: Request, inherited: frozenset[str] = frozenset(), *, noun: str = "row"
) -> tuple[NamedRows, ...]:
    """Return the rows that a request asks for, not those of a reading that asks for none, or all.

    Conditions on different columns name the rows that meet all of them; of columns that have the same word, each is a
    reading of its own: "which are late?" may ask for the status or for the parcel.

    Args:
        table: Its rows are all of the source; what is counted and summed is exact.
        request: What is asked for.
        inherited: The columns that are those of the table's parents: alone they name no rows of it.
        noun: What one row is called.
    """
    if not request.words or len(table.rows) < 2:
        return ()
    reader = _Reader(table, request, inherited, noun)
    return tuple(islice((each for each in reader.readings() if not each.columns <= inherited), _MAX_LINES))


def _groups(conditions: Sequence[Condition]) -> list[list[Condition]]:
    """Return the conditions, those together that have a word in common, or one in common with a third."""
    groups: list[tuple[list[Condition], frozenset[str]]] = []
    for condition in conditions:
        joined = [group for group in groups if not condition.words.isdisjoint(group[1])]
        groups = [group for group in groups if condition.words.isdisjoint(group[1])]
        members = [*(each for group in joined for each in group[0]), condition]
        groups.append((members, condition.words.union(*(group[1] for group in joined))))
    return [members for members, _ in groups]


class _Reader:
    """Finds the rows that a request asks for."""

    def __init__(self, table: Table, request: Request, inherited: frozenset[str], noun: str) -> None:
        self._table = table
        self._request = request
        self._inherited = inherited
        self._noun = noun
        self._columns = Conditions(table, request, inherited)

    def readings(self) -> list[NamedRows]:
        """Return what meets the conditions, or is first of all; where nothing meets all of them, what meets each."""
        conditions = self._columns.find()
        sure = [each for each in conditions if each.is_sure]
        words = frozenset[str]().union(*(each.words for each in sure))
        texts = [each for each in conditions if not each.is_sure and words.isdisjoint(each.words)]
        found: list[NamedRows] = []
        for reading in islice(product(*_groups(sure)), _MAX_READINGS):
            found += self._narrowed(reading, texts)
        if not found and len(conditions) > 1:
            found = [named for each in conditions[:_MAX_READINGS] if (named := self._rows_of([each]))]
        return list({named.conditions: named for named in found}.values())

    def _narrowed(self, reading: Sequence[Condition], texts: Sequence[Condition]) -> Iterator[NamedRows]:
        """Yield the rows of a reading, and those of them that have the words of the request in a text.

        The narrower reading comes first where its words tell more than others, and where there is no other.
        """
        whole = self._rows_of(reading) if reading else self.all_in_order()
        best = max(texts, key=lambda each: (len(each.words), -len(each.rows)), default=None)
        narrow = self._rows_of([*reading, best]) if best else None
        if narrow and whole and narrow.numbers == whole.numbers:
            narrow = None
        found = (narrow, whole) if best and self._columns.tells(best) else (whole, narrow)
        yield from filter(None, found)

    def _rows_of(self, reading: Sequence[Condition]) -> NamedRows | None:
        """Return the rows that meet all conditions; None: no row does."""
        numbers = sorted(frozenset.intersection(*(each.rows for each in reading)))
        if not numbers:
            return None
        conditions = ", ".join(each.text for each in reading)
        return self._named(numbers, f"{conditions}: {len(numbers):,} {self._noun}{'s'[: len(numbers) > 1]}", reading)

    def all_in_order(self) -> NamedRows | None:
        """Return the rows where the request asks for an order only; None: for none."""
        return named if (named := self._named(range(len(self._table.rows)), "", ())).first else None

    def _named(self, numbers: Sequence[int], conditions: str, reading: Sequence[Condition]) -> NamedRows:
        used = frozenset[str]().union(*(each.words for each in reading))
        orders = list(self._orders(numbers, used))
        known = frozenset(column for column, _, _ in orders)
        cells = list(_numbers(self._table, numbers)) if conditions and len(numbers) > 1 else []
        fits = (self._columns.fit(column, order.near - used) for column in known for order in self._request.orders)
        return NamedRows(
            numbers=frozenset(numbers) if conditions else frozenset(),
            first=tuple(dict.fromkeys(number for _, _, first in orders for number in first)),
            columns=known.union(each.column for each in reading),
            conditions=conditions,
            order="".join(f"; {text}" for _, text, _ in orders),
            ranges="".join(f"; {write_name(column)}: {_range(own)}" for column, own in cells if column not in known),
            is_sure=all(each.is_sure for each in reading) if reading else any(fits),
        )

    def _orders(self, numbers: Sequence[int], used: frozenset[str]) -> Iterator[tuple[str, str, list[int]]]:
        """Yield the columns whose order the request asks for, with its first values in words and its first rows."""
        told: set[tuple[str, str]] = set()
        for order in self._request.orders[:_MAX_ORDERS]:
            columns = [name for name in self._columns.ordered() if name not in self._inherited]
            kinds = [name for name in columns if self._may_order(name, order)]
            named = self._columns.fitting(columns, order.near - used)
            for column in ([name for name in named if name in kinds] or kinds or named)[:_MAX_ORDERS]:
                for word in self._ends(column, order):
                    if (column, word) in told:
                        continue
                    told.add((column, word))
                    if first := self._first(column, numbers, is_greatest=word == "greatest"):
                        counts = Counter(_text(self._table.rows[number][column]) for number in first)
                        values = ", ".join(f"{value}{f' ({count})' * (count > 1)}" for value, count in counts.items())
                        yield column, f"{word} {write_name(column)}: {values}", first[:_MAX_TIED]

    def _first(self, column: str, numbers: Sequence[int], *, is_greatest: bool) -> list[int]:
        """Return the rows with the first values of a column; none where all have one value."""
        order = self._columns.order(column)
        ranks: Sequence[Any] = order.values if order else ()
        known = [number for number in numbers if ranks[number] is not None]
        values = sorted({ranks[number] for number in known}, reverse=is_greatest)[:_RANKED]
        first = [number for value in values for number in known if ranks[number] == value]
        return first if len(values) > 1 else []

    def _may_order(self, column: str, order: Order) -> bool:
        """Return whether a column has what a superlative is about: a time, a number or either."""
        known = self._columns.order(column)
        is_time = known is not None and known.kind is Kind.MOMENT
        return order.kind in ("longest", "best") or is_time is (order.kind in ("latest", "earliest"))

    def _ends(self, column: str, order: Order) -> Sequence[str]:
        """Return whether the greatest or the least come first; what is there the longest has the earliest time."""
        known = self._columns.order(column)
        is_time = known is not None and known.kind is Kind.MOMENT
        if order.kind == "best":
            return "least", "greatest"
        is_least = order.kind in ("least", "earliest") or (order.kind == "longest" and is_time)
        return ("least",) if is_least else ("greatest",)


def _numbers(table: Table, numbers: Sequence[int]) -> Iterator[tuple[str, Sequence[Any]]]:
    """Yield the first columns that hold nothing but different numbers in these rows, and their cells."""
    left = _MAX_NUMBERS
    for column in table.columns:
        cells = [table.rows[number].get(column) for number in numbers]
        is_number = (
            not is_id(column) and column != table.columns[0] and all(type(cell) in (int, float) for cell in cells)
        )
        if left and is_number:
            left -= 1
            yield column, cells


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


def _text(cell: Any) -> str:
    return write_value(cell) if type(cell) is str and not cell.isdigit() else str(cell)
