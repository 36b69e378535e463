"""Texts that are numbers compare, sort and add as numbers: the functions and collations for that.

Numbers are compared digit by digit, so that no two of them are equal because a float cannot tell them apart.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

from accp_adapters.fetching.sql.functions import QueryConnection, guard
from accp_adapters.fetching.sql.storage import is_numeral
from accp_core.strict_json import strict_decoder

__all__ = ["ASCENDING", "DESCENDING", "NUMBER_FUNCTIONS", "add_number_functions", "compare_ascending"]

ASCENDING: Final = "accp_ascending"
"""The collation that sorts numbers by their value, then other texts."""
DESCENDING: Final = "accp_descending"
"""The collation that sorts, read backwards, numbers by their value, then other texts."""
_COMPARISON: Final = 10
"""Steps of a comparison in a sort."""
_MAX_REMEMBERED: Final = 40
"""Characters of a text whose number is remembered beyond its query."""
_MIN_INTEGER: Final = -(2**63)
_MAX_INTEGER: Final = 2**63 - 1
_BEGINS_NUMBER: Final = re.compile(r"\s*[-+]?\.?[0-9]")

_read_json: Final = strict_decoder(read_float=Decimal)


def add_number_functions(connection: QueryConnection) -> None:
    """Add the functions and collations that the resolver writes into queries."""
    for name, (arguments, function) in _FUNCTIONS.items():
        connection.create_function(name, arguments, guard(connection, function, takes_null=True), deterministic=True)
    connection.create_collation(ASCENDING, _counted(connection, compare_ascending))
    connection.create_collation(DESCENDING, _counted(connection, _compare_descending))


def _counted(connection: QueryConnection, compare: Callable[[str, str], int]) -> Callable[[str, str], int]:
    """Return a collation that ends a sort soon once the budget is used up; the next step of the query is refused."""
    use = connection.budget.use

    def counted(one: str, other: str) -> int:
        return 0 if use(_COMPARISON) else compare(one, other)

    return counted


def _digits_of(text: str) -> Decimal | None:
    return _read_digits(text) if len(text) > _MAX_REMEMBERED else _remembered_digits(text)


def _read_digits(text: str) -> Decimal | None:
    return Decimal(text.strip()) if is_numeral(text) else None


_remembered_digits = functools.lru_cache(maxsize=65_536)(_read_digits)


def _decimal_of(value: Any) -> Decimal | None:
    """Return the exact number that a value is or spells; None: it is none."""
    if type(value) is str:
        return _digits_of(value)
    number = Decimal(repr(value)) if isinstance(value, int | float) else None
    return number if number is not None and number.is_finite() else None


def _number(value: Any) -> int | float | None:
    """Return the number that a value is or spells as SQLite has it."""
    if type(value) is not str:
        return value if isinstance(value, int | float) else None
    number = _digits_of(value)
    if number is None:
        return None
    if value.strip().lstrip("-").isdigit() and _MIN_INTEGER <= number <= _MAX_INTEGER:
        return int(number)
    return float(number)


def _numeral(value: Any) -> Any:
    return None if _decimal_of(value) is None else value


def _either(value: Any) -> Any:
    number = _number(value)
    return value if number is None else number


def _castable(value: Any) -> Any:
    return None if type(value) is str and _BEGINS_NUMBER.match(value) is None else value


def _scalar(value: Any) -> Any:
    return None if type(value) is str and value[:1] in ("[", "{") else value


def _order(one: Any, other: Any) -> int | None:
    """Return whether `one` is less (-1), equal (0) or more (1); None: a number and a text have no order."""
    first, second = _decimal_of(one), _decimal_of(other)
    if first is not None and second is not None:
        return (first > second) - (first < second)
    if first is None and second is None and type(one) is str and type(other) is str:
        return (one > other) - (one < other)
    return None


def _between(value: Any, low: Any, high: Any) -> bool | None:
    """Return what `low <= value AND value <= high` is in SQL."""
    least, most = _order(low, value), _order(value, high)
    is_least, is_most = (None if each is None else each <= 0 for each in (least, most))
    if is_least is False or is_most is False:
        return False
    return None if is_least is None or is_most is None else True


def _equals(one: Any, other: Any) -> bool | None:
    """Return whether two values are equal: two texts by their spelling, a number and a text by their value."""
    if one is None or other is None:
        return None
    if type(one) is type(other) is str:
        return one == other
    number = _decimal_of(one)
    return number is not None and number == _decimal_of(other)


@functools.lru_cache(maxsize=64)
def _members(listed: str) -> tuple[frozenset[str], frozenset[Decimal], frozenset[Decimal]]:
    members = _read_json(listed)
    texts = frozenset(each for each in members if type(each) is str)
    numbers = frozenset(Decimal(each) for each in members if type(each) is not str)
    return texts, numbers, numbers | frozenset(filter(None, map(_digits_of, texts)))


def _among(value: Any, listed: str) -> bool | None:
    """Return whether a value is in a JSON array of numbers and texts."""
    if value is None:
        return None
    texts, numbers, spelled = _members(listed)
    if type(value) is str:
        return value in texts or _digits_of(value) in numbers
    return _decimal_of(value) in spelled


_FUNCTIONS: Final[dict[str, tuple[int, Any]]] = {
    "accp_number": (1, _number),
    "accp_numeral": (1, _numeral),
    "accp_either": (1, _either),
    "accp_castable": (1, _castable),
    "accp_scalar": (1, _scalar),
    "accp_order": (2, _order),
    "accp_between": (3, _between),
    "accp_equals": (2, _equals),
    "accp_among": (2, _among),
}
NUMBER_FUNCTIONS: Final = frozenset(_FUNCTIONS)
"""Our own functions, which a query does not call itself."""


def compare_ascending(one: str, other: str) -> int:
    """Return whether `one` comes before (-1), with (0) or behind (1) `other`; numbers come before other texts."""
    first, second = _digits_of(one), _digits_of(other)
    if first is not None and second is not None:
        return (first > second) - (first < second)
    if first is None and second is None:
        return (one > other) - (one < other)
    return -1 if second is None else 1


def _compare_descending(one: str, other: str) -> int:
    is_number = (_digits_of(one) is not None, _digits_of(other) is not None)
    compared = compare_ascending(one, other)
    return compared if is_number[0] == is_number[1] else -compared
