"""What a small model is asked to copy: cells of lists of objects, as sentences that end with the cell."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from accp_adapters.evaluation.reading.documents import Document
from accp_adapters.evaluation.reading.tables import Table, find_tables

__all__ = ["Lookup", "lookups_of", "shortened"]

_MAX_ANSWER: Final = 30
"""Characters of a text that is looked up."""


@dataclass(frozen=True, slots=True)
class Lookup:
    """One cell."""

    words: str
    """A sentence that lacks the cell: "The city of the id A17 is"."""
    answer: str
    """The cell as every form writes it."""


def lookups_of(document: Document, *, seed: int = 0) -> list[Lookup]:
    """Return the look-ups of the longest list of a document, in an order of the seed; none where it has no list."""
    tables = find_tables(document.value)
    if not tables:
        return []
    found = list(_lookups(max(tables, key=lambda table: len(table.rows))))
    random.Random(f"{seed} {document.name}").shuffle(found)
    return found


def _lookups(table: Table) -> Iterator[Lookup]:
    for row in table.rows:
        for column in table.columns:
            cell = row.get(column)
            if column != table.key and _is_asked(cell):
                yield Lookup(f"The {column} of the {table.key} {row[table.key or '']} is", str(cell))


def _is_asked(cell: object) -> bool:
    return type(cell) in (int, float) or (type(cell) is str and len(cell) <= _MAX_ANSWER)


def shortened(document: Document, fits: Callable[[str], bool]) -> Document | None:
    """Return a document with fewer entries of its longest lists, whose JSON fits; None where that is not enough."""
    value = document.value
    while not fits((short := Document.of(document.name, document.kind, value)).source):
        longest = max(map(len, _lists(value)), default=0)
        if longest <= 1:
            return None
        value = _cut(value, longest - max(longest // 4, 1))
    return short


def _lists(value: Any) -> Iterator[list[Any]]:
    if isinstance(value, list):
        yield value
    for member in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _lists(member)


def _cut(value: Any, most: int) -> Any:
    if isinstance(value, dict):
        return {name: _cut(member, most) for name, member in value.items()}
    return [_cut(member, most) for member in value[:most]] if isinstance(value, list) else value
