"""Columns that repeat something in every row: strings that begin and end alike, and the cells of another column."""

from __future__ import annotations

from typing import Final

from accp_core.packing.tree import KEY, Affixed, Column, SameColumn

__all__ = ["pack_affixes", "pack_keys", "pack_same_columns", "unpack_affixes"]

_MIN_SAVED_CHARS: Final = 24
"""Characters of the cells that are left out; where there are fewer, a reader finds a cell faster than a rule."""
_MIN_ROWS: Final = 3
"""Rows from which strings that begin alike are no accident."""


def pack_affixes(values: list[object]) -> Affixed | None:
    """Return strings without what all of them begin and end with; None if that saves hardly anything.

    What is left out never ends within a word or a number.
    """
    texts = [value for value in values if type(value) is str]
    if len(texts) < len(values) or len(texts) < _MIN_ROWS:
        return None
    low, high = min(texts), max(texts)
    before = low[: _common(low, high)]
    while before and before[-1].isalnum():
        before = before[:-1]
    ends = [text[: len(before) - 1 : -1] if before else text[::-1] for text in texts]
    low, high = min(ends), max(ends)
    behind = low[: _common(low, high)]
    while behind and behind[-1].isalnum():
        behind = behind[:-1]
    saved = (len(before) + len(behind)) * (len(texts) - 1)
    if saved < _MIN_SAVED_CHARS or "*" in before + behind:
        return None
    return Affixed(before, behind[::-1], [text[len(before) : len(text) - len(behind)] for text in texts])


def _common(one: str, other: str) -> int:
    """Return how many characters two texts have in common at their start."""
    at = 0
    while at < min(len(one), len(other)) and one[at] == other[at]:
        at += 1
    return at


def unpack_affixes(column: Affixed) -> list[object]:
    """Return the strings that the column was packed from."""
    return [f"{column.before}{value}{column.behind}" for value in column.values]


def pack_same_columns(columns: dict[str, Column]) -> None:
    """Replace each column of values that are the same as those of one before it in every row."""
    known: list[tuple[str, list[object]]] = []
    for name, column in columns.items():
        if type(column) is not list or not _is_simple(column):
            continue
        same = next((other for other, values in known if values == column), None)
        if same is not None:
            columns[name] = SameColumn(same)
        elif name != KEY:
            known.append((name, column))


def pack_keys(columns: dict[str, Column], keys: list[str]) -> None:
    """Replace each column of values that are the keys of the rows."""
    for name, column in columns.items():
        is_key = type(column) is list and _is_simple(column) and column == keys
        if is_key or (type(column) is SameColumn and columns[column.name] == SameColumn(KEY)):
            columns[name] = SameColumn(KEY)


def _is_simple(values: list[object]) -> bool:
    """Return whether values are strings, which are equal only if they are the same, and long enough."""
    kinds = set(map(type, values))
    return kinds == {str} and sum(map(len, values)) >= _MIN_SAVED_CHARS  # type: ignore[arg-type]  # all are strings
