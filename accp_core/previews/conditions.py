"""The rows of a table that a request asks for: those that meet all its conditions, and their first ones in an order.

status=late, total>200, courier is empty: 16 rows, all shown; greatest total: 2246.03
status=late, total>9000: 0 rows; nearest: 85 rows without total>9000

What is said of rows is counted over all of them. Where words may mean several columns, each reading is a line, and so
is each condition beside an "or".
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice, product, takewhile
from typing import Any, Final, TypeAlias

from accp_core.previews.request import COMMON, NO_DATE, Asked, Request, find_words, words_of_name
from accp_core.tables import Table
from accp_core.tables.values import Kind, TypedColumn, convert, is_left_out, type_column
from accp_core.view.notation import INLINE, quote, write_name

__all__ = ["NamedRows", "find_named_rows"]

_MAX_COLUMNS: Final = 64
"""Columns that are looked at."""
_MAX_VALUES: Final = 64
"""Different values of a column that are compared with the words of the request."""
_MAX_VALUE_CHARS: Final = 40
_MAX_TEXT: Final = 4_000
"""Characters of a cell in which words are looked for."""
_MIN_WORD: Final = 3
"""Letters of a word that is looked for in texts, and digits of a number that names a row in any column."""
_MAX_FORMS: Final = 4
"""Forms of a word, such as its plural, that are looked for."""
_MAX_SHARE: Final = 0.5
"""The share of the texts that have a word up to which the word says something."""
_PRECISION: Final = 6
"""Digits behind the point of a bound in another unit."""
_STATUS: Final = 3
"""Digits of the numbers of which 5xx means a range."""
_TIME_OF_DAY: Final = re.compile(r"\d\d:\d\d(?::\d\d)?")
_FLAGS: Final = {"true": True, "yes": True, "y": True, "false": False, "no": False, "n": False}
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


_Names: TypeAlias = frozenset[str]


@dataclass(frozen=True, slots=True)
class _Condition:
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
    table: Table, request: Request, inherited: _Names = frozenset(), *, noun: str = "row", others: _Names = frozenset()
) -> tuple[NamedRows, ...]:
    """Return the rows that a request asks for, not those of a reading that asks for none, or all.

    Conditions on different columns name the rows that meet all of them; of columns that have the same word, each is a
    reading of its own: "which are late?" may ask for the status or for the parcel.

    Args:
        table: Its rows are all of the source; what is counted and summed is exact.
        request: What is asked for.
        inherited: The columns that are those of the table's parents: they have no order among its rows.
        noun: What one row is called.
        others: The columns of the other tables of the source: what is named for one of them is said of none of these.
    """
    if not request.words or len(table.rows) < 2:
        return ()
    return tuple(_Reader(table, request, inherited, noun, others).readings()[:_MAX_LINES])


class _Reader:
    """Finds the rows of a table that a request asks for."""

    def __init__(self, table: Table, request: Request, inherited: _Names, noun: str, others: _Names) -> None:
        self._table = table
        self._request = request
        self._inherited = inherited
        self._noun = noun
        link = table.parent.column if table.parent else None
        self._names: Final = [name for name in table.columns[:_MAX_COLUMNS] if name != link]
        self._known: Final = {name.rsplit(".", 1)[-1] for name in (*self._names[1:], *others) if not _is_id(name)}
        self._typed: dict[str, TypedColumn] = {}
        self._unsaid: Final = request.said | request.excluded

    def readings(self) -> list[NamedRows]:
        """Return what meets the conditions, or is first of all; where nothing meets all of them, what meets each."""
        conditions = self.find()
        sure = [each for each in conditions if each.is_sure]
        words = frozenset[str]().union(*(each.words for each in sure))
        texts = [each for each in conditions if not each.is_sure and words.isdisjoint(each.words)]
        groups = self._alternatives(_groups(sure))
        readings = islice(product(*groups), _MAX_READINGS)
        found = [named for reading in readings for named in self._narrowed(reading, texts)]
        if not found and groups:
            found = [self._nearest([group[0] for group in groups])]
        return list({named.conditions: named for named in found}.values())

    def _alternatives(self, groups: list[list[_Condition]]) -> list[list[_Condition]]:
        """Return groups of conditions with two as one where an "or" stands between them: each is a reading.

        In "late or open orders over 9" it stands between two values of one condition. Where more stands on both sides,
        it is not known what belongs together, and no condition of the sentence is left.
        """
        for *sides, sentence in self._request.alternatives:
            few, many = sorted(([each for each in groups if _are_in(each, side)] for side in sides), key=len)
            if len(many) == 1 and few and few != many:
                groups = [*(each for each in groups if each not in (*few, *many)), [*few[0], *many[0]]]
            elif few and not (len(few) == 1 and few[0] in many):
                groups = [each for each in groups if not _are_in(each, sentence)]
        return groups

    def _narrowed(self, reading: Sequence[_Condition], texts: Sequence[_Condition]) -> Iterator[NamedRows]:
        """Yield the rows of a reading that have the words of the request in a text, then all of them."""
        whole = self._rows_of(reading) if reading else self._all_in_order()
        best = max(texts, key=lambda each: (len(each.words), -len(each.rows)), default=None)
        narrow = self._rows_of([*reading, best]) if best else None
        if narrow and not (whole and narrow.numbers == whole.numbers):
            yield narrow
        if whole:
            yield whole

    def _rows_of(self, reading: Sequence[_Condition]) -> NamedRows | None:
        """Return the rows that meet all conditions; None: no row does."""
        numbers = sorted(frozenset.intersection(*(each.rows for each in reading)))
        if not numbers:
            return None
        conditions = ", ".join(each.text for each in reading)
        return self._named(numbers, f"{conditions}: {len(numbers):,} {self._noun}{'s'[: len(numbers) > 1]}", reading)

    def _nearest(self, reading: Sequence[_Condition]) -> NamedRows:
        """Return the rows that meet the most of conditions which no row meets together, by what they miss."""
        met = Counter(number for each in reading for number in each.rows)
        told = f"{', '.join(each.text for each in reading)}: 0 {self._noun}s"
        if not met:
            end = reading[0]
            first = self._first(end.column, range(len(self._table.rows)), is_greatest=end.nearest == "greatest")
            nearest = f"; nearest: {_write(self._table.rows[first[0]][end.column])}"
            return NamedRows(frozenset(), tuple(first[:_RANKED]), frozenset((end.column,)), told, nearest, is_sure=True)
        missed: defaultdict[str, list[int]] = defaultdict(list)
        numbers = frozenset(number for number in met if met[number] == max(met.values()))
        for number in sorted(numbers):
            missed[", ".join(each.text for each in reading if number not in each.rows)].append(number)
        # What is met by a few rows says the most: a request for one row by its name is also about its status.
        ranked = sorted(missed.items(), key=lambda each: len(each[1]))
        parts = [f"{len(own):,} {self._noun}{'s'[: len(own) > 1]} without {texts}" for texts, own in ranked]
        columns = frozenset(each.column for each in reading)
        told += f"; nearest: {', '.join(parts)}"
        return NamedRows(numbers, tuple(ranked[0][1][:_RANKED]), columns, told, "", is_sure=True)

    def _all_in_order(self) -> NamedRows | None:
        """Return the rows where the request asks for an order only; None: for none."""
        return named if (named := self._named(range(len(self._table.rows)), "", ())).first else None

    def _named(self, numbers: Sequence[int], conditions: str, reading: Sequence[_Condition]) -> NamedRows:
        used = frozenset[str]().union(*(each.words for each in reading))
        orders = list(self._orders(numbers, used))
        known = frozenset(column for column, _, _ in orders)
        fits = (self.fit(column, order.near - used) for column in known for order in self._request.orders)
        return NamedRows(
            numbers=frozenset(numbers) if conditions else frozenset(),
            first=tuple(dict.fromkeys(number for _, _, first in orders for number in first)),
            columns=known.union(each.column for each in reading),
            conditions=conditions,
            order="".join(f"; {text}" for text in dict.fromkeys(text for _, text, _ in orders)),
            is_sure=all(each.is_sure for each in reading) if reading else any(fits),
        )

    def _orders(self, numbers: Sequence[int], used: frozenset[str]) -> Iterator[tuple[str, str, list[int]]]:
        """Yield the columns whose order the request asks for, with its first values in words and its first rows."""
        columns = [name for name in self.ordered() if name not in self._inherited]
        for order in self._request.orders[:_MAX_ORDERS]:
            is_timed = order.kind in ("latest", "earliest")
            end = "least" if order.kind in ("least", "earliest") else "greatest"
            kinds = [name for name in columns if self.is_moment(name) is is_timed]
            named = self.fitting(columns, order.near - used)
            for column in ([name for name in named if name in kinds] or kinds or named)[:_MAX_ORDERS]:
                first = self._first(column, numbers, is_greatest=end == "greatest")
                counts = Counter(_write(self._table.rows[number][column]) for number in first)
                if first and (named or counts.most_common()[0][1] <= _RANKED):
                    values = ", ".join(f"{value}{f' ({count})' * (count > 1)}" for value, count in counts.items())
                    yield column, f"{end} {write_name(column)}: {values}", first[:_MAX_TIED]

    def _first(self, column: str, numbers: Sequence[int], *, is_greatest: bool) -> list[int]:
        """Return the rows with the first values of a column; none where all have one value."""
        ranks = self.typed(column).values
        known = [number for number in numbers if ranks[number] is not None]
        values = sorted({ranks[number] for number in known}, reverse=is_greatest)[:_RANKED]
        first = [number for value in values for number in known if ranks[number] == value]
        return first if len(values) > 1 else []

    def find(self) -> list[_Condition]:
        """Return the conditions of the request that some rows meet and others do not, and bounds that none meets."""
        return [each for each in self._read() if each.nearest or 0 < len(each.rows) < len(self._table.rows)]

    def typed(self, column: str) -> TypedColumn:
        """Return the cells of a column as what they are."""
        if column not in self._typed:
            self._typed[column] = type_column([row.get(column) for row in self._table.rows], self._table)
        return self._typed[column]

    def is_moment(self, column: str) -> bool:
        """Return whether a column holds moments."""
        return self.typed(column).kind is Kind.MOMENT

    def ordered(self) -> list[str]:
        """Return the columns of unlike numbers or moments, without ids."""
        typed = ((name, self.typed(name)) for name in self._names if not _is_id(name))
        return [name for name, own in typed if own.is_ordered and len(set(own.values) - {None}) > 1]

    def fitting(self, columns: Sequence[str], *nears: frozenset[str]) -> list[str]:
        """Return those of some columns that the first words name which name any, else those that the request names."""
        beside = ([name for name in columns if self.fit(name, near) > 1] for near in nears)
        return next(filter(None, beside), [name for name in columns if self.fit(name, frozenset())])

    def fit(self, column: str, near: frozenset[str]) -> int:
        """Return how well a column fits some words of the request; the name of its parent's table says nothing."""
        return self._request.fits(column.rsplit(".", 1)[-1] if column in self._inherited else column, near)

    def _read(self) -> Iterator[_Condition]:
        for column in self._names:
            found = [*self._values(column), *self._flag(column), *self._absence(column), *self._numbers(column)]
            yield from found or (() if self.typed(column).is_ordered else self._texts(column))
        for asked in self._request.asked:
            read = self._moment if asked.moment else self._bound
            # No cell is at two times: "in March and April" has two readings.
            times = () if asked.sign or not asked.moment else (re.sub(r"\d", "0", asked.moment),)
            for column in self._bounded(asked):
                yield from read(column, asked, frozenset((asked.mark, *times)))

    def _bounded(self, asked: Asked) -> list[str]:
        """Return the columns that a number or a moment belongs to: those whose names or units stand beside it.

        Where nothing beside it is the name of any column, also of another table, it may belong to each.
        """
        ordered = [name for name in self.ordered() if self.is_moment(name) is bool(asked.moment)]
        own_units = ((name, self.typed(name).unit.casefold()) for name in ordered if asked.unit)
        units = {name: {unit, *words_of_name(name), "%" * ("%" in name)} - {""} for name, unit in own_units}
        same = {unit for own in units.values() for unit in own if convert(asked.number, asked.unit, unit) is not None}
        measured = [name for name, own in units.items() if own & {*same, asked.unit}]
        unlike = {name for name, own in units.items() if _is_unit(asked.unit) and any(map(_is_unit, own))}
        ordered = [name for name in ordered if name in measured or name not in unlike]
        is_named = any(self._request.fits(name, asked.near | asked.before) > 1 for name in self._known)
        others = [] if is_named and not asked.moment else [name for name in ordered if name not in self._inherited]
        return self.fitting(ordered, asked.near, asked.before) or measured or others

    def _rows(self, column: str, meets: Callable[[Any], bool]) -> frozenset[int]:
        return frozenset(number for number, row in enumerate(self._table.rows) if meets(row.get(column)))

    def _holding(self, column: str, values: Sequence[str]) -> frozenset[int]:
        return self._rows(column, lambda cell: not set(_texts(cell)).isdisjoint(values))

    def _values(self, column: str) -> Iterator[_Condition]:
        """Yield the texts of a column that the request names, one that it denies, or codes such as SO-35."""
        cells = dict.fromkeys(value for cell in self._table.cells(column) for value in _texts(cell))
        if all(_flag_of(value) is not None for value in cells):
            return
        if any(asked.moment for asked in self._request.asked) and self.is_moment(column):
            return
        is_few, telling = len(cells) <= _MAX_VALUES, self._request.words - self._request.said
        named = [value for value in cells if (self._is_named(value) if is_few else value.casefold() in telling)]
        words = frozenset(word for value in named for word in self._words_of(value))
        # A short number is in the names of other columns, too: "user 7 in level 7".
        words = frozenset(word for word in words if not word.isdigit() or len(word) >= _MIN_WORD) or words
        affirmed = [value for value in named if not self._request.denies(value)]
        # In "not Ann, Bo or Cy" the negation may end at the comma: the preview shows both readings.
        for sign, values in (("=", affirmed), ("≠", named if len(affirmed) < len(named) else ())):
            if values:
                holders = self._holding(column, values)
                met = holders if sign == "=" else frozenset(range(len(self._table.rows))) - holders
                text = f"{write_name(column)}{sign}{'|'.join(map(_write, values))}"
                yield _Condition(column, text, met, words, is_sure=not words <= self._request.kinds)

    def _is_named(self, value: str) -> bool:
        """Return whether the request has the words of a value as one run, and not only as what it counts."""
        if len(value) > _MAX_VALUE_CHARS or is_left_out(value) or not self._request.has_all(value):
            return False
        words = set(self._words_of(value))
        return not any(words <= {asked.unit, f"{asked.number}"} for asked in self._request.asked)

    def _words_of(self, value: str) -> Iterator[str]:
        """Yield the words of the request that a value is named by."""
        for word in (*find_words(value), "".join(words_of_name(value))):
            match, parts = self._request.match, [] if word.isdigit() else words_of_name(word)
            found = [match(word.casefold())] if match(word.casefold()) else [match(p) or p * p.isdigit() for p in parts]
            yield from filter(None, found)

    def _flag(self, column: str) -> Iterator[_Condition]:
        """Yield a flag whose name ends with a word of the request."""
        last = words_of_name(column)[-1:]
        kinds = {_flag_of(cell) for cell in self._table.cells(column)} if self._request.names("".join(last)) else set()
        if kinds == {True, False}:
            said = self._request.affirms(last[0])
            for wanted in (True, False) if said is None else (said,):
                told = next(cell for cell in self._table.cells(column) if _flag_of(cell) is wanted)
                text = f"{write_name(column)}={told if type(told) is str else str(told).lower()}"
                rows = frozenset(n for n, row in enumerate(self._table.rows) if _flag_of(row.get(column)) is wanted)
                yield _Condition(column, text, rows, frozenset((column,)))

    def _absence(self, column: str) -> Iterator[_Condition]:
        """Yield that nothing is in a column which the request asks to be without; where some cells say "no", those."""
        flags = {_flag_of(cell): cell for cell in self._table.cells(column)}
        if self._request.denies(column) and (words := self._request.names(column)) and flags.keys() != {True, False}:
            told = "" if self._request.denies(column, is_absent=True) else flags.get(False, "")
            rows = self._rows(column, (lambda cell: _flag_of(cell) is False) if told else is_left_out)
            yield _Condition(column, f"{write_name(column)}{f'={told}' if told else ' is empty'}", rows, words)

    def _numbers(self, column: str) -> Iterator[_Condition]:
        """Yield the numbers that the request names beside the column, or where they count nothing else."""
        numbers = {cell for cell in self._table.cells(column) if type(cell) is int}
        names = {self._request.match(word) or word for word in self._request.names(column)}
        bare = (asked for asked in self._request.asked if not (asked.sign or asked.moment) and asked.number in numbers)
        told = [(f"{asked.number}", {*asked.before, asked.unit}, asked.unit in {*COMMON, ""}) for asked in bare]
        told = [each for each in told if "to" not in each[1]]
        named = [text for text, near, is_alone in told if names & near or (is_alone and len(text) >= _MIN_WORD)]
        if named:
            is_denied = all(map(self._request.denies, named))
            rows = self._rows(column, lambda cell: type(cell) is int and (str(cell) in named) is not is_denied)
            text = f"{write_name(column)}{'≠' if is_denied else '='}{'|'.join(named)}"
            yield _Condition(column, text, rows, frozenset(named).union(*(names & near for _, near, _ in told)))

    def _texts(self, column: str) -> Iterator[_Condition]:
        """Yield the texts that have the most words of the request together."""
        holders: defaultdict[str, set[int]] = defaultdict(set)
        forms: defaultdict[str, set[str]] = defaultdict(set)
        cells = (row.get(column) for row in self._table.rows)
        texts = [cell[:_MAX_TEXT] if type(cell) is str else "" for cell in cells]
        for number, text in enumerate(texts):
            for asked, form in self._request.words_in(text):
                is_known = form in forms[asked] or len(forms[asked]) < _MAX_FORMS
                if is_known and len(asked) >= _MIN_WORD and asked not in self._unsaid:
                    forms[asked].add(form)
                    holders[asked].add(number)
        telling = {word: frozenset(held) for word, held in holders.items() if len(held) <= _MAX_SHARE * len(texts)}
        if telling:
            words, rows = _most_together(telling)
            told = " and ".join("|".join(f'"{form}"' for form in sorted(forms[word])) for word in words)
            yield _Condition(column, f"{write_name(column)} has {told}", rows, frozenset(words), is_sure=False)

    def _bound(self, column: str, asked: Asked, words: frozenset[str]) -> Iterator[_Condition]:
        """Yield a comparison of the numbers of a column."""
        values = self.typed(column).values
        limit = self._limit(asked, column) if asked.sign else None
        limits = [(asked.sign, limit)] if limit is not None else []
        if asked.unit == "xx" and all(len(f"{value}") == _STATUS for value in values if value is not None):
            limits = [("≥", asked.number * 100), ("<", asked.number * 100 + 100)]
        if limits:
            rows = frozenset.intersection(*(_meeting(values, sign, float(end)) for sign, end in limits))
            text = ", ".join(f"{write_name(column)}{sign}{end.normalize():f}" for sign, end in limits)
            nearest = "" if rows else "greatest" if asked.sign in (">", "≥") else "least"
            yield _Condition(column, text, rows, words, nearest=nearest)

    def _limit(self, asked: Asked, column: str) -> Decimal | None:
        """Return a bound in the unit of a column, which its name may say; None: they cannot be compared."""
        typed = self.typed(column)
        known = [value for value in typed.values if value is not None]
        units = (typed.unit.casefold(), *words_of_name(column), "") if asked.unit else ()
        exact = next((each for unit in units if (each := convert(asked.number, asked.unit, unit)) is not None), None)
        limit = asked.number if exact is None else round(exact, _PRECISION)
        is_named = bool(self.fitting([column], asked.near, asked.before))
        is_plain = is_named and (exact is not None or not units or convert(limit, asked.unit, asked.unit) is None)
        return limit if is_plain or min(known) <= limit <= max(known) else None

    def _moment(self, column: str, asked: Asked, words: frozenset[str]) -> Iterator[_Condition]:
        """Yield a comparison of the moments of a column, or of their times of day, with a moment or a part of one."""
        typed = self.typed(column)
        keys, form, name = typed.values, asked.moment, write_name(column)
        if form.startswith(NO_DATE):
            cells = [row.get(column) for row in self._table.rows]
            keys = [_time_of_day(key, cell, typed) for key, cell in zip(keys, cells, strict=True)]
            form, name = form.removeprefix(NO_DATE), f"time of {name}"
        elif any(key and key[2] == ":" for key in keys):
            return
        limit = _filled(form, [key for key in keys if key])
        if asked.sign and "?" not in limit:
            rows = _meeting(keys, asked.sign, limit)
            yield _Condition(column, f"{name}{asked.sign}{limit}", rows, words)
        elif not asked.sign:
            pattern = re.compile(limit.replace("?", "."))
            rows = frozenset(number for number, key in enumerate(keys) if key and pattern.match(key))
            yield _Condition(column, f"{name} in {limit}{' UTC' * typed.is_scaled}", rows, words)


def _filled(form: str, keys: Sequence[str]) -> str:
    """Return a moment up to the last part that is said; those before it are what all keys have alike, else `?`."""
    same = "".join(parts[0] for parts in takewhile(lambda parts: len(set(parts)) == 1, zip(*keys, strict=False)))
    return "".join(own if own != "?" else same[at : at + 1] or "?" for at, own in enumerate(form.rstrip("-?")))


def _time_of_day(key: str | None, cell: Any, typed: TypedColumn) -> str | None:
    """Return the time of day that a cell says; a moment in UTC has another one."""
    if typed.is_scaled:
        return found[0] if (found := _TIME_OF_DAY.search(str(cell))) else None
    return key and (key if key[2] == ":" else key.partition("T")[2] or None)


def _meeting(keys: Sequence[Any], sign: str, limit: Any) -> frozenset[int]:
    """Return the numbers of the keys that a comparison finds, as a query does: of numbers as floats."""
    meets = {">": "__gt__", "≥": "__ge__", "<": "__lt__", "≤": "__le__"}[sign]
    known = ((number, key) for number, key in enumerate(keys) if key is not None)
    cut = len(limit) if type(limit) is str else 0
    return frozenset(number for number, key in known if getattr(key[:cut] if cut else float(key), meets)(limit))


def _most_together(holders: dict[str, frozenset[int]]) -> tuple[tuple[str, ...], frozenset[int]]:
    """Return the words that the most of `holders` have together, of equal ones those that fewest have, and who has."""
    numbers = frozenset[int]().union(*holders.values())
    together = {tuple(word for word in sorted(holders) if number in holders[word]) for number in numbers}
    having = {words: frozenset.intersection(*(holders[word] for word in words)) for words in sorted(together)}
    best = max(having, key=lambda words: (len(words), -len(having[words])))
    return best, having[best]


def _is_unit(text: str) -> bool:
    """Return whether numbers with a unit can be compared with those of its kind only."""
    return text == "%" or convert(Decimal(1), text, text) is not None


def _is_id(column: str) -> bool:
    """Return whether a column numbers rows, by its name."""
    return column.casefold().endswith("id") or column == "_row"


def _flag_of(cell: Any) -> bool | None:
    return cell if type(cell) is bool else _FLAGS.get(cell.strip().casefold()) if type(cell) is str else None


def _texts(cell: Any) -> Sequence[str]:
    """Return the texts that a cell is or, as an array, has."""
    if type(cell) is list:
        return [member for member in cell if type(member) is str]
    return (cell,) if type(cell) is str else ()


def _write(cell: Any) -> str:
    """Return a cell as a line about rows has it: a colon or a bar would end it there."""
    if type(cell) is not str or cell.isdigit():
        return str(cell)
    return cell if INLINE.allows(cell) and ":" not in cell and "|" not in cell else quote(cell)


def _are_in(group: Sequence[_Condition], words: frozenset[str]) -> bool:
    return not all(words.isdisjoint(each.words) for each in group)


def _groups(conditions: Sequence[_Condition]) -> list[list[_Condition]]:
    """Return the conditions, those together that have a word in common, or one in common with a third."""
    groups: list[tuple[list[_Condition], frozenset[str]]] = []
    for condition in conditions:
        joined = [group for group in groups if not condition.words.isdisjoint(group[1])]
        groups = [group for group in groups if condition.words.isdisjoint(group[1])]
        members = [*(each for group in joined for each in group[0]), condition]
        groups.append((members, condition.words.union(*(group[1] for group in joined))))
    return [members for members, _ in groups]
