"""How the cells of a column are kept in SQLite so that they compare as numbers and come back as the source has them.

integers of 64 bits, booleans     INTEGER; 1 and 0 come back as true and false
other numbers                     REAL; a number that SQLite would write in another way (12.50, 7) comes back by a
                                  table of spellings
texts                             TEXT
all else                          TEXT in the collation NUMBER, which compares texts that are numbers as numbers:
                                  integers beyond 64 bits, columns of numbers and texts, texts that are all numbers
arrays and maps                   their JSON in a column of texts
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, MutableMapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final

from accp_core.packing.embedded_json import write_styled_json
from accp_core.packing.number import spelling_decoder
from accp_core.strict_json import escape_halves

__all__ = ["NUMBER", "StoredColumn", "compare_as_numbers", "number_of", "store_column"]

NUMBER: Final = "accp_number"
"""The name of the collation."""

_MIN_INTEGER: Final = -(2**63)
_MAX_INTEGER: Final = 2**63 - 1
_MAX_EXACT: Final = 2**53
"""Integers up to this one are the same as REAL."""
_NUMERAL: Final = re.compile(r"\s*-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?\s*")
_INTEGER: Final = re.compile(r"-[1-9][0-9]*|0|[1-9][0-9]*")
_MAX_FLOAT_CHARS: Final = 16
# SQLite reads over it at the end of a number; it keeps the number 5 apart from the text "5" in one column.
_MARK: Final = "\v"

_read_json: Final = spelling_decoder()


@dataclass(slots=True)
class StoredColumn:
    """A column of a table: its type in SQLite, and how to bring its cells back."""

    type: str = "TEXT"
    """INTEGER, REAL or TEXT."""
    collation: str = ""
    """NUMBER, or none."""
    is_boolean: bool = False
    """Whether all cells are true, false or null."""
    spellings: MutableMapping[Any, Any] = field(default_factory=dict)
    """The value of the source for each stored value that differs from it."""
    has_spellings: bool = False
    """Whether equal numbers in a column of the collation NUMBER may be different texts: 9.5 and 9.50."""
    holds_json: bool = False
    """Whether texts that begin like JSON are arrays and maps, but for those in `spellings`."""

    def restore(self, stored: Any) -> Any:
        """Return the source's value for a value that was stored."""
        if self.spellings and type(stored) is not int and stored in self.spellings:
            return self.spellings[stored]
        if self.is_boolean and stored in (0, 1):
            return bool(stored)
        if self.holds_json and isinstance(stored, str) and stored[:1] in ("[", "{"):
            return _read_json(stored)
        return stored


def store_column(cells: Iterable[Any]) -> tuple[StoredColumn, list[Any]]:
    """Return how the column is kept, and its cells as they are stored; null and absent are both None."""
    values = list(cells)
    kinds = set(map(type, values)) - {type(None)}
    if kinds == {bool}:
        return StoredColumn(type="INTEGER", is_boolean=True), values
    if kinds and all(issubclass(kind, (int, float)) and kind is not bool for kind in kinds):
        return _store_integers(values) or _store_reals(values) or _store_mixed(values)
    if kinds <= {str, list, dict} and not _are_numerals(values):
        return _store_texts(values)
    return _store_mixed(values)


def _are_numerals(values: list[Any]) -> bool:
    texts = [value for value in values if type(value) is str and value]
    return bool(texts) and all(map(_NUMERAL.fullmatch, texts))


def _store_integers(values: list[Any]) -> tuple[StoredColumn, list[Any]] | None:
    if all(value is None or (type(value) is int and _MIN_INTEGER <= value <= _MAX_INTEGER) for value in values):
        return StoredColumn(type="INTEGER"), values
    return None


def _store_reals(values: list[Any]) -> tuple[StoredColumn, list[Any]] | None:
    column = StoredColumn(type="REAL")
    written: dict[float, str] = {}
    for value in filter(lambda value: value is not None, values):
        if type(value) is int and abs(value) > _MAX_EXACT:
            return None
        number = float(value)
        if written.setdefault(number, repr(value)) != repr(value):
            return None
        # SQLite has one zero.
        if repr(number) != repr(value) or repr(number) == "-0.0":
            column.spellings[number] = value
    return column, [None if value is None else float(value) for value in values]


def _store_texts(values: list[Any]) -> tuple[StoredColumn, list[Any]]:
    column = StoredColumn(holds_json=any(type(value) in (list, dict) for value in values))
    return column, [_as_text(value, column) for value in values]


def _store_mixed(values: list[Any]) -> tuple[StoredColumn, list[Any]]:
    column = StoredColumn(collation=NUMBER, holds_json=any(type(value) in (list, dict) for value in values))
    texts = {value for value in values if type(value) is str}
    stored = [_as_text(value, column, texts) for value in values]
    column.has_spellings = any(map(_is_spelling, filter(None, stored)))
    return column, stored


def _is_spelling(text: str) -> bool:
    """Return whether `text` is a number that may be another text: not an integer in its digits alone."""
    return not text.isdigit() and _NUMERAL.fullmatch(text) is not None and _INTEGER.fullmatch(text) is None


def _as_text(value: Any, column: StoredColumn, texts: Iterable[str] = ()) -> str | None:
    if value is None:
        return None
    if type(value) in (list, dict):
        return escape_halves(write_styled_json(value, "0u"))
    if type(value) is str:
        stored = escape_halves(value)
        if stored is not value or (column.holds_json and value[:1] in ("[", "{")):
            column.spellings[stored] = value
        return stored
    text = {True: "true", False: "false"}[value] if type(value) is bool else repr(value)
    while text in texts:
        text += _MARK
    column.spellings[text] = value
    return text


def number_of(text: str) -> int | float | None:
    """Return the number that SQLite has for a numeral; None where it has none with all digits, or `text` is none."""
    numeral = text.strip()
    if _NUMERAL.fullmatch(text) is None:
        return None
    if numeral.lstrip("-").isdigit():
        return number if _MIN_INTEGER <= (number := int(numeral)) <= _MAX_INTEGER else None
    return float(numeral) if len(numeral) <= _MAX_FLOAT_CHARS else None


def compare_as_numbers(one: str, other: str) -> int:
    """Return whether `one` comes before (-1), with (0) or behind (1) `other`; the collation NUMBER."""
    first, second = _sort_key(one), _sort_key(other)
    return (first > second) - (first < second)


@functools.lru_cache(maxsize=65_536)
def _sort_key(text: str) -> tuple[int, Any]:
    """Return what `text` is sorted by: numbers first, by their value, then texts."""
    if _NUMERAL.fullmatch(text) is None:
        return 1, text
    number = text.strip()
    if number.lstrip("-").isdigit():
        return 0, Decimal(number)
    return 0, float(number) if len(number) <= _MAX_FLOAT_CHARS else Decimal(number)
