"""The rows of a table that a request asks for: those that meet all its conditions, and their first ones in an order.

status=late, total>200, courier is empty: 16 rows, all shown; greatest total: 2246.03
status=late, total>9000: 0 rows; nearest: 85 rows without total>9000

What is said of rows is counted over all of them. Where words may mean several columns, each reading is a line.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice, product
from typing import Any, Final

from accp_core.previews.request import COMMON, Bound, DatePart, Order, Request, find_words, words_of_name
from accp_core.tables import Table
from accp_core.tables.values import Kind, TypedColumn, convert, is_left_out, type_column
from accp_core.view.notation import INLINE, quote, write_name

__all__ = ["Condition", "Conditions", "NamedRows", "find_named_rows", "is_id", "write_value"]


_MAX_COLUMNS: Final = 64
"""Columns that are looked at."""
_MAX_VALUES: Final = 64
"""Different values of a column that are compared with the words of the request."""
_MAX_VALUE_CHARS: Final = 40
_MAX_FEW: Final = 16
"""Different values of a column of which one word may name one."""
_MAX_TEXT: Final = 4_000
"""Characters of a cell in which words are looked for."""
_MIN_WORD: Final = 3
"""Letters of a word that is looked for in texts."""
_CODE: Final = re.compile(r"\b(?=[a-z]*\d)(?=\d*[a-z])[a-z0-9]{12,}\b")
"""A hash or another code, which has no words."""
_MAX_NAME: Final = 4
"""Words of a value that is a name."""
_MAX_SHARE: Final = 0.5
"""The share of the texts that have a word up to which the word says something."""
_LAST_NUMBER: Final = re.compile(r"\D0*([1-9]\d*)$")
_MIN_DIGITS: Final = 3
"""Digits of a number that names a row, whatever its column is called."""
_TIME_OF_DAY: Final = re.compile(r"\d\d:\d\d(?::\d\d)?")
_SIGNS: Final = frozenset(":|")
"""Signs that end a value in a line about rows, besides those of a list."""
_IN_WORDS: Final = {
    ">": ("over", "after"), "≥": ("at least", "from"), "<": ("under", "before"), "≤": ("at most", "until"),
    "=": ("", "at"),
}  # fmt: skip
"""The signs in words for numbers and for times."""
_FLAGS: Final = {"true": True, "yes": True, "y": True, "false": False, "no": False, "n": False}
_MIN_FEW: Final = 3
_FEW: Final = 0.05
"""The share of the rows up to which a word that they have is rare."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on one column."""

    column: str
    text: str
    """It, as a preview says it: "status=late"."""
    rows: frozenset[int]
    """The numbers of the rows that meet it."""
    words: frozenset[str]
    """The words of the request that it is read from; conditions with a word in common are different readings."""
    is_sure: bool = True
    """Whether it is meant, not only words that texts have, too."""
    nearest: str = ""
    """The end of the order that is nearest to it, "greatest" or "least", where no row meets it."""


class Conditions:
    """Finds what a request says of one table."""

    def __init__(self, table: Table, request: Request, inherited: frozenset[str] = frozenset()) -> None:
        """Take the columns of `table` that may be meant: not the key of its parent; some are `inherited` from it."""
        self.inherited: Final = inherited
        self.table = table
        self.request = request
        link = table.parent.column if table.parent else None
        self.columns: Final = [name for name in table.columns[:_MAX_COLUMNS] if name != link]
        self._orders: dict[str, TypedColumn | None] = {}
        self._saying = COMMON | request.said

    def find(self) -> list[Condition]:
        """Return the conditions of the request that some rows meet and others do not, and bounds that none meets."""
        return [each for each in self._read() if each.nearest or 0 < len(each.rows) < len(self.table.rows)]

    def order(self, column: str) -> TypedColumn | None:
        """Return the cells of a column whose order counts: numbers or times; None: it has none, or all are alike."""
        if column not in self._orders:
            typed = type_column([row.get(column) for row in self.table.rows])
            is_ordered = typed.is_ordered and len({value for value in typed.values if value is not None}) > 1
            self._orders[column] = typed if is_ordered else None
        return self._orders[column]

    def ordered(self) -> list[str]:
        """Return the columns that have an order, without ids."""
        return [name for name in self.columns if not is_id(name) and self.order(name)]

    def fitting(self, columns: Sequence[str], *nears: frozenset[str]) -> list[str]:
        """Return those of some columns that the first words name which name any, else those that the request names."""
        beside = ([name for name in columns if self.fit(name, near) > 1] for near in nears)
        return next(filter(None, beside), [name for name in columns if self.fit(name, frozenset())])

    def fit(self, column: str, near: frozenset[str]) -> int:
        """Return how well a column fits some words of the request; the name of its parent's table says nothing."""
        return self.request.fits(column.rsplit(".", 1)[-1] if column in self.inherited else column, near)

    def _read(self) -> Iterator[Condition]:
        for column in self.columns:
            found = [*self._values(column), *self._flag(column), *self._absence(column), *self._code(column)]
            yield from found or self._texts(column)
        for number, bound in enumerate(self.request.bounds):
            yield from self._bound(bound, f"{number}")
        for number, date in enumerate(self.request.dates):
            yield from self._date(date, f"date {number}")

    def _rows(self, column: str, meets: Callable[[Any], bool]) -> frozenset[int]:
        return frozenset(number for number, row in enumerate(self.table.rows) if meets(row.get(column)))

    def _values(self, column: str) -> Iterator[Condition]:
        cells = dict.fromkeys(value for cell in self.table.cells(column) for value in _texts(cell))
        if not cells or all(_flag_of(value) is not None for value in cells):
            return
        if self.request.dates and (order := self.order(column)) and (order.kind is Kind.MOMENT):
            return
        if len(cells) > _MAX_VALUES:
            named = [value for value in cells if value.casefold() in self.request.words and not value.isalpha()]
        else:
            named = [value for value in cells if self._is_named(value)]
        if not named and len(cells) == len(self.table.rows):
            named = [value for value in cells if self._ends_with_number(value)]
        if not named:
            return
        wanted = frozenset(named)
        is_denied = len(named) == 1 and self.request.denies(named[0])
        words = frozenset(word for value in named for word in self._asked(value))
        text = f"{write_name(column)}{'≠' if is_denied else '='}{'|'.join(map(write_value, named))}"
        rows = self._rows(column, lambda cell: wanted.isdisjoint(_texts(cell)) is is_denied)
        yield Condition(column, text, rows, words, is_sure=not words <= self.request.kinds)

    def _is_named(self, value: str) -> bool:
        if len(value) > _MAX_VALUE_CHARS or is_left_out(value):
            return False
        asked = set(self._asked(value))
        counted = self.request.units.union(bound.text for bound in self.request.bounds)
        return value not in counted and not (asked and asked <= counted) and self.request.has_all(value)

    def _asked(self, value: str) -> Iterator[str]:
        """Yield the words of the request that a value is named by."""
        for word in map(str.casefold, find_words(value)):
            asked = self.request.match(word)
            yield from [asked] if asked else filter(None, map(self.request.match, words_of_name(word)))

    def _ends_with_number(self, value: str) -> bool:
        """Return whether a code such as INV-2026-00138 ends with a number of the request: "invoice 138"."""
        digits = _LAST_NUMBER.search(value) if len(value) <= _MAX_VALUE_CHARS else None
        return digits is not None and len(digits[1]) >= _MIN_DIGITS and digits[1] in self.request.numbers

    def _flag(self, column: str) -> Iterator[Condition]:
        wanted = self.request.affirms(column)
        kinds = {_flag_of(cell) for cell in self.table.cells(column)} if wanted is not None else set()
        if kinds == {True, False}:
            told = next(cell for cell in self.table.cells(column) if _flag_of(cell) is wanted)
            text = f"{write_name(column)}={told if type(told) is str else str(told).lower()}"
            yield Condition(
                column, text, self._rows(column, lambda cell: _flag_of(cell) is wanted), frozenset((column,))
            )

    def _absence(self, column: str) -> Iterator[Condition]:
        if words := self.request.lacks(column):
            rows = self._rows(column, is_left_out)
            cells = [self.table.rows[number].get(column) for number in rows]
            told = cells[0] if cells and cells.count(cells[0]) == len(cells) else None
            text = f"={write_value(told)}" if type(told) is str and told.strip("-") else " is empty"
            yield Condition(column, f"{write_name(column)}{text}", rows, words)

    def _code(self, column: str) -> Iterator[Condition]:
        """Yield the numbers that the request names."""
        numbers = list(dict.fromkeys(cell for cell in self.table.cells(column) if type(cell) is int))
        named = [number for number in numbers if self._is_meant(column, number)]
        text = "|".join(map(str, named))
        if named:
            wanted = frozenset(named)
            rows = self._rows(column, lambda cell: type(cell) is int and cell in wanted)
            yield Condition(column, f"{write_name(column)}={text}", rows, frozenset(map(str, named)))

    def _is_meant(self, column: str, number: int) -> bool:
        """Return whether the request names a number of a column: beside its name, or where it counts nothing else."""
        if (said := self.request.numbers.get(str(number))) is None:
            return False
        before, behind = said
        names = {self.request.match(word) for word in self.request.names(column)}
        if not names.isdisjoint({*before, behind}):
            return True
        return len(str(number)) >= _MIN_DIGITS and (behind in COMMON or not behind)

    def _texts(self, column: str) -> Iterator[Condition]:
        """Yield the texts that have the most words of the request together."""
        holders: defaultdict[str, set[int]] = defaultdict(set)
        cells = (row.get(column) for row in self.table.rows)
        texts = [_CODE.sub(" ", cell[:_MAX_TEXT]) if type(cell) is str else "" for cell in cells]
        for number, text in enumerate(texts):
            for word in dict.fromkeys(words_of_name(text)) if text else ():
                if (asked := self.request.match(word)) and self._is_told(asked):
                    holders[asked].add(number)
        most = _MAX_SHARE * len(texts)
        telling = {word: held for word, held in holders.items() if len(held) <= most}
        if not telling:
            return
        words, rows = most_together(telling)
        told = " and ".join(f'"{word}"' for word in words)
        yield Condition(column, f"{write_name(column)} has {told}", rows, frozenset(words), is_sure=False)

    def _is_told(self, word: str) -> bool:
        """Return whether a word of the request may say what a text is about."""
        return len(word) >= _MIN_WORD and word not in self._saying

    def _bound(self, bound: Bound, word: str) -> Iterator[Condition]:
        columns = self.ordered()
        named = self.fitting(columns, bound.near, bound.before)
        for column in named or [name for name in columns if name not in self.inherited]:
            order = self.order(column)
            assert order is not None
            cells = [row.get(column) for row in self.table.rows]
            keys, limit = _limit(bound, order, column, cells, is_named=bool(named))
            if limit is None:
                continue
            rows = frozenset(n for n, key in enumerate(keys) if key is not None and _meets(key, bound.sign, limit))
            name = f"time of {write_name(column)}" if bound.clock else write_name(column)
            shown = limit if type(limit) is str else f"{limit.normalize():f}"
            nearest = "" if rows or bound.clock else "greatest" if bound.sign in ">≥" else "least"
            text = _compared(name, bound.sign, shown, order)
            yield Condition(column, text, rows, frozenset((word,)), nearest=nearest)

    def _date(self, date: DatePart, word: str) -> Iterator[Condition]:
        for column in self.ordered():
            order = self.order(column)
            if (
                order is None
                or order.kind is not Kind.MOMENT
                or not (known := [key for key in order.values if key and key[2] != ":"])
            ):
                continue
            prefix = date.prefix(known)
            if date.sign and prefix:
                rows = frozenset(n for n, key in enumerate(order.values) if key and _meets(key, date.sign, prefix))
                text = _compared(write_name(column), date.sign, prefix, order)
            else:
                rows = frozenset(n for n, key in enumerate(order.values) if key and date.has(key))
                text = f"{write_name(column)} in {prefix or date.text}"
            if not date.sign or prefix:
                yield Condition(column, text, rows, frozenset((word,)))


def _compared(name: str, sign: str, limit: str, order: TypedColumn) -> str:
    """Return a comparison: with a sign of plain numbers and dates, else in words."""
    if not order.unit and not order.is_scaled and sign != "=" and "T" not in limit:
        return f"{name}{sign}{limit}"
    return f"{name} {_IN_WORDS[sign][order.kind is Kind.MOMENT]} {limit.replace('T', ' ')}"


def most_together(holders: dict[str, set[int]]) -> tuple[tuple[str, ...], frozenset[int]]:
    """Return the words that the most of `holders` have together, of equal ones those that fewest have, and who has."""
    words_of: defaultdict[int, list[str]] = defaultdict(list)
    for word in sorted(holders):
        for number in holders[word]:
            words_of[number].append(word)
    best = max(
        sorted(set(map(tuple, words_of.values()))),
        key=lambda words: (len(words), -len(set.intersection(*(holders[word] for word in words)))),
    )
    return best, frozenset(set.intersection(*(holders[word] for word in best)))


def _limit(
    bound: Bound, order: TypedColumn, column: str, cells: Sequence[Any], *, is_named: bool
) -> tuple[Sequence[Any], Any]:
    """Return the keys of a column and the bound as they are written; None: they cannot be compared."""
    keys: Sequence[Any] = order.values
    if order.kind is Kind.MOMENT:
        # A moment that was converted to UTC has another time of day than its cell.
        clocks = [
            _written_time(cell) if order.is_scaled else key and _time_of_day(key)
            for key, cell in zip(keys, cells, strict=True)
        ]
        return clocks, bound.clock if bound.clock and any(clocks) else None
    if bound.clock or bound.sign == "=":
        return keys, None
    known = [key for key in keys if key is not None]
    unit = order.unit or next((word for word in reversed(words_of_name(column)) if len(word) > 1), "")
    exact = convert(bound.values[-1], bound.unit, unit) if bound.values and bound.unit else None
    limits = bound.values if exact is None else (exact,)
    within = next((limit for limit in limits if min(known) <= limit <= max(known)), None)
    is_plain = is_named and (exact is not None or not bound.unit)
    return keys, limits[-1] if within is None and is_plain and limits else within


def _time_of_day(key: str) -> str | None:
    return key if key[2] == ":" else key.partition("T")[2] or None


def _written_time(cell: Any) -> str | None:
    found = _TIME_OF_DAY.search(cell) if type(cell) is str else None
    return found[0] if found else None


def _meets(key: Any, sign: str, limit: Any) -> bool:
    key = key[: len(limit)] if type(key) is str else key
    # As a query compares them: as floats, of which 0.3 is one and the decimal 0.3 is not.
    limit = float(limit) if isinstance(limit, Decimal) else limit
    return bool({">": key > limit, "≥": key >= limit, "<": key < limit, "≤": key <= limit, "=": key == limit}[sign])


def is_id(column: str) -> bool:
    """Return whether a column numbers rows, by its name."""
    return column.casefold().endswith("id") or column == "_row"


def _flag_of(cell: Any) -> bool | None:
    if type(cell) is bool:
        return cell
    return _FLAGS.get(cell.strip().casefold()) if type(cell) is str else None


def _texts(cell: Any) -> Sequence[str]:
    """Return the texts that a cell is or, as an array, has."""
    if type(cell) is list:
        return [member for member in cell if type(member) is str]
    return (cell,) if type(cell) is str else ()


def write_value(value: str) -> str:
    """Return a text as a line about rows has it."""
    return value if INLINE.allows(value) and _SIGNS.isdisjoint(value) else quote(value)


# The rows of a table that a request asks for: those that meet all its conditions, and their first ones in an order.

_MAX_LINES: Final = 4
"""Readings of a request whose words stand in several columns that are described."""
_MAX_READINGS: Final = 8
"""Readings that are looked at."""
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
    is_sure: bool
    """Whether the request names its columns or their values, not only words that texts have, too."""

    def describe(self, *, are_shown: bool) -> str:
        """Return the line that a preview has of them."""
        whole = ", all shown" * (are_shown and bool(self.numbers))
        return f"{self.conditions}{whole}{self.order}".removeprefix("; ")

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
    own = set(table.columns) - inherited - {table.parent.column if table.parent else ""}
    is_told = any(map(request.names, own))
    return tuple(islice((each for each in reader.readings() if is_told or not each.columns <= inherited), _MAX_LINES))


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
        if not found and sure:
            found = [self._nearest([group[0] for group in _groups(sure)])]
        return list({named.conditions: named for named in found}.values())

    def _narrowed(self, reading: Sequence[Condition], texts: Sequence[Condition]) -> Iterator[NamedRows]:
        """Yield the rows of a reading, and those of them that have the words of the request in a text.

        The narrower reading comes first.
        """
        whole = self._rows_of(reading) if reading else self.all_in_order()
        best = max(texts, key=lambda each: (len(each.words), -len(each.rows)), default=None)
        narrow = self._rows_of([*reading, best]) if best else None
        if narrow and whole and narrow.numbers == whole.numbers:
            narrow = None
        found = (narrow, whole)
        yield from filter(None, found)

    def _rows_of(self, reading: Sequence[Condition]) -> NamedRows | None:
        """Return the rows that meet all conditions; None: no row does."""
        numbers = sorted(frozenset.intersection(*(each.rows for each in reading)))
        if not numbers:
            return None
        conditions = ", ".join(each.text for each in reading)
        return self._named(numbers, f"{conditions}: {len(numbers):,} {self._noun}{'s'[: len(numbers) > 1]}", reading)

    def _nearest(self, reading: Sequence[Condition]) -> NamedRows:
        """Return the rows that meet the most of conditions which no row meets together, by what they miss."""
        met = Counter(number for each in reading for number in each.rows)
        most = max(met.values(), default=0)
        missed: defaultdict[str, list[int]] = defaultdict(list)
        for number in sorted(met):
            if met[number] == most:
                missed[", ".join(each.text for each in reading if number not in each.rows)].append(number)
        parts = [f"{len(own):,} without {texts}" for texts, own in missed.items()]
        told = f"{', '.join(each.text for each in reading)}: 0 {self._noun}s"
        if not parts:
            end = reading[0]
            first = self._first(end.column, range(len(self._table.rows)), is_greatest=end.nearest == "greatest")
            nearest = f"; nearest: {_text(self._table.rows[first[0]][end.column])}"
            return NamedRows(frozenset(), tuple(first[:_RANKED]), frozenset((end.column,)), told, nearest, is_sure=True)
        parts[0] = parts[0].replace(" ", f" {self._noun}{'s'[: not parts[0].startswith('1 ')]} ", 1)
        numbers = frozenset(number for own in missed.values() for number in own)
        columns = frozenset(each.column for each in reading)
        return NamedRows(numbers, (), columns, f"{told}; nearest: {', '.join(parts)}", "", is_sure=True)

    def all_in_order(self) -> NamedRows | None:
        """Return the rows where the request asks for an order only; None: for none."""
        return named if (named := self._named(range(len(self._table.rows)), "", ())).first else None

    def _named(self, numbers: Sequence[int], conditions: str, reading: Sequence[Condition]) -> NamedRows:
        used = frozenset[str]().union(*(each.words for each in reading))
        orders = list(self._orders(numbers, used))
        known = frozenset(column for column, _, _ in orders)
        fits = (self._columns.fit(column, order.near - used) for column in known for order in self._request.orders)
        return NamedRows(
            numbers=frozenset(numbers) if conditions else frozenset(),
            first=tuple(dict.fromkeys(number for _, _, first in orders for number in first)),
            columns=known.union(each.column for each in reading),
            conditions=conditions,
            order="".join(f"; {text}" for _, text, _ in orders),
            is_sure=all(each.is_sure for each in reading) if reading else any(fits),
        )

    def _orders(self, numbers: Sequence[int], used: frozenset[str]) -> Iterator[tuple[str, str, list[int]]]:
        """Yield the columns whose order the request asks for, with its first values in words and its first rows."""
        told: set[tuple[str, str]] = set()
        for order in self._request.orders[:_MAX_ORDERS]:
            columns = [name for name in self._columns.ordered() if name not in self._inherited]
            kinds = [name for name in columns if self._may_order(name, order)]
            measured = [name for name in kinds if not self._is_moment(name)]
            if order.kind == "longest" and any(self._columns.fit(name, order.near - used) > 1 for name in measured):
                kinds = measured
            named = self._columns.fitting(columns, order.near - used)
            for column in ([name for name in named if name in kinds] or kinds or named)[:_MAX_ORDERS]:
                for word in self._ends(column, order):
                    if (column, word) in told:
                        continue
                    told.add((column, word))
                    first = self._first(column, numbers, is_greatest=word == "greatest")
                    tied = sum(self._table.rows[n][column] == self._table.rows[first[0]][column] for n in first)
                    if first and (named or tied <= _RANKED):
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
        return order.kind in ("longest", "best") or self._is_moment(column) is (order.kind in ("latest", "earliest"))

    def _is_moment(self, column: str) -> bool:
        known = self._columns.order(column)
        return known is not None and known.kind is Kind.MOMENT

    def _ends(self, column: str, order: Order) -> Sequence[str]:
        """Return whether the greatest or the least come first; what is there the longest has the earliest time."""
        if order.kind == "best":
            return "least", "greatest"
        is_least = order.kind in ("least", "earliest") or (order.kind == "longest" and self._is_moment(column))
        return ("least",) if is_least else ("greatest",)


def _text(cell: Any) -> str:
    return write_value(cell) if type(cell) is str and not cell.isdigit() else str(cell)
