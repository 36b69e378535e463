"""Numbers that follow from what was shown: counts, sums, differences, shares, rounded values."""

from __future__ import annotations

import functools
import itertools
import operator
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Final

from accp_core.receipts.claims import ClaimKind, StatedValue, claims_in
from accp_core.receipts.indexed import IndexedTable
from accp_core.receipts.shown import ShownTexts
from accp_core.receipts.spelling import decimal_of, numbers_in, plain
from accp_core.receipts.values import has_words

__all__ = ["derive"]

_MAX_OPERANDS: Final = 24
_MAX_CONDITIONS: Final = 24
_MAX_NAMED: Final = 4
"""Rows of a value that names them, such as an id; a value of more rows names a kind."""
_MAX_BOUNDS: Final = 4
_SIGNS: Final[Mapping[str, Callable[[Decimal, Decimal], bool]]] = {"<": operator.lt, ">": operator.gt}
_WORD: Final = re.compile(r"[^\W_]{3,}")
_STEM: Final = 4
"""Characters that two forms of a word have in common."""


def derive(claim: StatedValue, context: str, shown: ShownTexts) -> str:
    """Return how the number of `claim` follows from what was shown; "" where it does not.

    Only what `context`, the sentence of the claim and the request, names is tried: with all values nearly every short
    number would follow from something.
    """
    number = decimal_of(claim.text)
    if (whole := shown.rounds_to(number, claim.unit)) is not None:
        return f"{whole} rounded"
    words = {word[:_STEM] for word in _WORD.findall(context.casefold())}
    found = [(table, _conditions(table, plain(context), words)) for table in shown.tables]
    said = [decimal_of(each.text) for each in claims_in(context) if each.kind is ClaimKind.NUMBER and shown.holds(each)]
    for operands in (said, *_named_cells(found).values()):
        if how := _from_operands(number, claim.unit, operands[:_MAX_OPERANDS]):
            return how
    return next(filter(None, (_from_table(number, table, conditions) for table, conditions in found)), "")


def _named_cells(found: Iterable[tuple[IndexedTable, Mapping[int, str]]]) -> dict[str, list[Decimal]]:
    """Return by column the numbers in the few rows that have a value which the context names."""
    cells: defaultdict[str, list[Decimal]] = defaultdict(list)
    for table, conditions in found:
        named = functools.reduce(operator.or_, (rows for rows in conditions if rows.bit_count() <= _MAX_NAMED), 0)
        for column, numbers in table.numbers.items():
            cells[column] += (number for at, number in numbers.items() if named >> at & 1)
    return cells


def _from_operands(number: Decimal, unit: str, operands: Sequence[Decimal]) -> str:
    if len(operands) > 1 and sum(operands) == number:
        return f"sum of {len(operands)} values"
    for one, other in itertools.permutations(operands, 2):
        if one + other == number:
            return f"{one} + {other}"
        if one - other == number:
            return f"{one} - {other}"
        if unit == "%" and other and round(100 * one / other, -int(number.as_tuple().exponent)) == number:
            return f"{one} / {other}"
    return ""


def _from_table(number: Decimal, table: IndexedTable, conditions: Mapping[int, str]) -> str:
    every = {table.rows: "", **conditions}
    for (one, first), (other, second) in itertools.combinations_with_replacement(every.items(), 2):
        if (one & other).bit_count() == number:
            return f"count of {table.name} {' and '.join(filter(None, dict.fromkeys((first, second))))}".rstrip()
    for (column, numbers), (rows, where) in itertools.product(table.numbers.items(), every.items()):
        if sum(each for at, each in numbers.items() if rows >> at & 1) == number:
            return f"sum of {column} {where}".rstrip()
    return ""


def _conditions(table: IndexedTable, context: str, words: set[str]) -> dict[int, str]:
    """Return the rows that meet each condition on a table that the context names, with its name."""
    found: dict[int, str] = {}
    bounds = list(dict.fromkeys(numbers_in(context)))[:_MAX_BOUNDS]
    for column, values in table.values.items():
        for value, rows in values.items():
            if len(value) > 1 and value in context and has_words(context, value):
                found[rows] = f"where {column}={value}"
        for bound, (sign, is_met) in itertools.product(bounds, _SIGNS.items()):
            rows = sum(1 << at for at, each in table.numbers.get(column, {}).items() if is_met(each, bound))
            found[rows] = f"where {column}{sign}{bound}"
        if any(word[:_STEM] in words for word in _WORD.findall(column.casefold())):
            found[empty := values.get("", 0)] = f"without {column}"
            found[table.rows & ~empty] = f"with {column}"
    return dict(itertools.islice(((rows, name) for rows, name in found.items() if rows), _MAX_CONDITIONS))
