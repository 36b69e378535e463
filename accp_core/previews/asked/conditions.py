"""The conditions of a request on the rows of a table, each counted over all rows."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from http import HTTPStatus
from typing import Any, Final

from accp_core.previews.asked.request import COMMON, Bound, Request, words_of_name
from accp_core.previews.asked.times import DatePart
from accp_core.previews.words import find_words
from accp_core.tables import Table
from accp_core.tables.values import Kind, TypedColumn, convert, is_left_out, type_column
from accp_core.view.notation import INLINE, quote, write_name

__all__ = ["Condition", "Conditions", "is_id", "write_value"]

_MAX_COLUMNS: Final = 64
"""Columns that are looked at."""
_MAX_VALUES: Final = 64
"""Different values of a column that are compared with the words of the request."""
_MAX_VALUE_CHARS: Final = 40
_MAX_TEXT: Final = 4_000
"""Characters of a cell in which words are looked for."""
_MIN_WORD: Final = 4
"""Letters of a word that is looked for in texts."""
_CODE: Final = re.compile(r"\b(?=[a-z]*\d)(?=\d*[a-z])[a-z0-9]{12,}\b")
"""A hash or another code, which has no words."""
_MIN_NAME: Final = 3
"""Letters of a name."""
_MAX_NAME: Final = 4
"""Words of a value that is a name."""
_MAX_SHARE: Final = 0.5
"""The share of the texts that have a word up to which the word says something."""
_LAST_NUMBER: Final = re.compile(r"\D0*([1-9]\d*)$")
_MIN_DIGITS: Final = 3
"""Digits of a number that names a row, whatever its column is called."""
_SIGNS: Final = frozenset(":|")
"""Signs that end a value in a line about rows, besides those of a list."""
_IN_WORDS: Final = {
    ">": ("over", "after"), "≥": ("at least", "from"), "<": ("under", "before"), "≤": ("at most", "until"),
    "=": ("", "at"),
}  # fmt: skip
"""The signs in words for numbers and for times."""
_FIRST_FAILURE: Final = 400
"""The first status of HTTP that says that something did not work."""
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
        """Return the conditions of the request that some rows meet and others do not."""
        return [each for each in self._read() if 0 < len(each.rows) < len(self.table.rows)]

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

    def fitting(self, columns: Sequence[str], near: frozenset[str]) -> list[str]:
        """Return those of some columns whose names fit some words of the request best; none: no name does."""
        fits = {name: self.fit(name, near) for name in columns}
        best = max(fits.values(), default=0)
        return [name for name in columns if best and fits[name] == best]

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
            named = named or [value for value in cells if self._has_name(value)]
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
        return self.request.has_all(value) and all(bound.text != value for bound in self.request.bounds)

    def _asked(self, value: str) -> Iterator[str]:
        """Yield the words of the request that a value is named by."""
        for word in map(str.casefold, find_words(value)):
            asked = self.request.match(word)
            yield from [asked] if asked else filter(None, map(self.request.match, words_of_name(word)))

    def _ends_with_number(self, value: str) -> bool:
        """Return whether a code such as INV-2026-00138 ends with a number of the request: "invoice 138"."""
        digits = _LAST_NUMBER.search(value) if len(value) <= _MAX_VALUE_CHARS else None
        return digits is not None and len(digits[1]) >= _MIN_DIGITS and digits[1] in self.request.numbers

    def _has_name(self, value: str) -> bool:
        """Return whether a name in a value, such as that of a place, is one in the request."""
        words = find_words(value) if len(value) <= _MAX_VALUE_CHARS else []
        return len(words) <= _MAX_NAME and any(
            word[0].isupper()
            and len(word) >= _MIN_NAME
            and word.casefold() not in COMMON
            and self.request.match(word.casefold()) in self.request.capitals
            for word in words
        )

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
        """Yield the numbers that the request names, and the statuses of HTTP that it names in words: "5xx"."""
        numbers = list(dict.fromkeys(cell for cell in self.table.cells(column) if type(cell) is int))
        digits = 1 if self.request.names(column) else _MIN_DIGITS
        named = [n for n in numbers if len(str(n)) >= digits and str(n) in self.request.numbers]
        if not named and words_of_name(column)[-1:] in (["status"], ["code"]):
            named = [number for number in numbers if any(map(self.request.says, _http_words(number)))]
        text = "|".join(map(str, named))
        if named:
            wanted = frozenset(named)
            rows = self._rows(column, lambda cell: type(cell) is int and cell in wanted)
            yield Condition(column, f"{write_name(column)}={text}", rows, frozenset(map(str, named)))

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
        least = _MIN_NAME if word in self.request.capitals else _MIN_WORD
        return len(word) >= least and word not in self._saying

    def tells(self, texts: Condition) -> bool:
        """Return whether words that texts have narrow what is asked for: several, a name, a number, or a rare one."""
        words, few = texts.words, max(_MIN_FEW, _FEW * len(self.table.rows))
        is_name = any(word in self.request.capitals or not word.isalpha() for word in words)
        return is_name or len(words) > 1 or len(texts.rows) <= few

    def _bound(self, bound: Bound, word: str) -> Iterator[Condition]:
        columns = self.ordered()
        for column in self.fitting(columns, bound.near) or [name for name in columns if name not in self.inherited]:
            order = self.order(column)
            assert order is not None
            keys, limit = _limit(bound, order, column)
            if limit is None:
                continue
            rows = frozenset(n for n, key in enumerate(keys) if key is not None and _meets(key, bound.sign, limit))
            name = f"time of {write_name(column)}" if bound.clock else write_name(column)
            shown = limit if type(limit) is str else f"{limit.normalize():f}"
            yield Condition(column, _compared(name, bound.sign, shown, order), rows, frozenset((word,)))

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


def _limit(bound: Bound, order: TypedColumn, column: str) -> tuple[Sequence[Any], Any]:
    """Return the keys of a column and the bound as they are written; None: they cannot be compared."""
    keys: Sequence[Any] = order.values
    if order.kind is Kind.MOMENT:
        clocks = [_time_of_day(key) if key else None for key in keys]
        return clocks, bound.clock if bound.clock and any(clocks) else None
    if bound.clock or bound.sign == "=":
        return keys, None
    known = [key for key in keys if key is not None]
    unit = order.unit or next((word for word in reversed(words_of_name(column)) if len(word) > 1), "")
    exact = convert(bound.values[-1], bound.unit, unit) if bound.values and bound.unit else None
    limits = bound.values if exact is None else (exact,)
    return keys, next((limit for limit in limits if min(known) <= limit <= max(known)), None)


def _time_of_day(key: str) -> str | None:
    return key if key[2] == ":" else key.partition("T")[2] or None


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


def _http_words(status: int) -> Iterator[str]:
    """Yield what a status of HTTP is called, where it is one: "404", "4xx", "client error", "Not Found"."""
    if _FIRST_FAILURE <= status < _FIRST_FAILURE + 200:
        yield f"{status // 100}xx"
        yield "client error" if status < _FIRST_FAILURE + 100 else "server error"
        if status in HTTPStatus.__members__.values():
            yield HTTPStatus(status).phrase


def _texts(cell: Any) -> Sequence[str]:
    """Return the texts that a cell is or, as an array, has."""
    if type(cell) is list:
        return [member for member in cell if type(member) is str]
    return (cell,) if type(cell) is str else ()


def write_value(value: str) -> str:
    """Return a text as a line about rows has it."""
    return value if INLINE.allows(value) and _SIGNS.isdisjoint(value) else quote(value)
