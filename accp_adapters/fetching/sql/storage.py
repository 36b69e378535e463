"""How the cells of a column are kept in SQLite so that they compare as numbers and come back as the source has them.

integers of 64 bits, booleans     INTEGER; 1 and 0 come back as true and false
other numbers                     REAL; a number that SQLite would write in another way (12.50, 7) comes back by a
                                  table of spellings
texts                             TEXT
all else                          TEXT: integers beyond 64 bits, columns of numbers and texts
arrays and maps                   their JSON in a column of texts
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any, Final

from accp_core.documents.json_styles import write_styled_json
from accp_core.packing.number import spelling_decoder
from accp_core.strict_json import escape_halves

__all__ = ["NO_CELL", "StoredColumn", "is_numeral", "store_column"]

NO_CELL: Final = ...
"""A cell that a row does not have."""
_MIN_INTEGER: Final = -(2**63)
_MAX_INTEGER: Final = 2**63 - 1
_MAX_EXACT: Final = 2**53
"""Integers up to this one are the same as REAL."""
_NUMERAL: Final = re.compile(r"\s*-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?\s*")
_KINDS: Final = {
    type(NO_CELL): "absent", type(None): "null", bool: "boolean", str: "text", list: "arrays", dict: "objects",
}  # fmt: skip
# SQLite reads over it at the end of a number; it keeps the number 5 apart from the text "5" in one column.
_MARK: Final = "\v"

_read_json: Final = spelling_decoder()


@dataclass(slots=True)
class StoredColumn:
    """A column of a table: its type in SQLite, and how to bring its cells back."""

    type: str = "TEXT"
    """INTEGER, REAL or TEXT."""
    is_boolean: bool = False
    """Whether all cells are true, false or null."""
    spellings: MutableMapping[Any, Any] = field(default_factory=dict)
    """The value of the source for each stored value that differs from it."""
    holds_json: bool = False
    """Whether texts that begin like JSON are arrays and maps, but for those in `spellings`."""
    kinds: Mapping[str, int] = field(default_factory=dict)
    """How many cells are `null`, `absent`, `arrays`, `objects`, `text`, `number` and `boolean`."""
    numbers: int = 0
    """How many cells are numbers, or texts that spell one."""

    @property
    def is_number(self) -> bool:
        """Whether SQLite has its cells as numbers."""
        return self.type != "TEXT"

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
    """Return how the column is kept, and its cells as they are stored; null and ABSENT are both None."""
    values = list(cells)
    kinds = Counter(_KINDS.get(type(value), "number") for value in values)
    if kinds["absent"]:
        values = [None if value is NO_CELL else value for value in values]
    column, stored = _store(values)
    column.kinds = kinds
    column.numbers = kinds["number"] + sum(type(value) is str and is_numeral(value) for value in values)
    return column, stored


def _store(values: list[Any]) -> tuple[StoredColumn, list[Any]]:
    kinds = set(map(type, values)) - {type(None)}
    if kinds == {bool}:
        return StoredColumn(type="INTEGER", is_boolean=True), values
    if kinds and all(issubclass(kind, (int, float)) and kind is not bool for kind in kinds):
        return _store_integers(values) or _store_reals(values) or _store_mixed(values)
    return _store_texts(values) if kinds <= {str, list, dict} else _store_mixed(values)


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
    column = StoredColumn(holds_json=any(type(value) in (list, dict) for value in values))
    texts = {value for value in values if type(value) is str}
    return column, [_as_text(value, column, texts) for value in values]


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


def is_numeral(text: str) -> bool:
    """Return whether `text` spells a number as JSON does: 9.50 and -1e3, but not 01234, .5 or N/A."""
    return _NUMERAL.fullmatch(text) is not None
