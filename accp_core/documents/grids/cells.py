"""The cells of a grid of text: the types of its columns, their names, and the spelling of each value.

A column has a type where every cell agrees: numbers as JSON writes them, or booleans of one spelling. In doubt its
cells are text, so `007` and `1,234` stay what they are. An empty cell is null.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby, islice, zip_longest
from typing import Any, Final, TypeAlias

from accp_core.packing.number import read_float, read_int

__all__ = [
    "LOOKED_AT", "Rows", "distinct_names", "grid_of", "has_numbers", "is_number", "read_counts", "rows_of", "spell",
    "spelled_header", "write_counts", "write_header",
]  # fmt: skip

Rows: TypeAlias = list[dict[str, Any]]
"""The value of a grid: a map for each row; one that ends early has fewer members."""

_TRUTHS: Final = (("false", "true"), ("False", "True"), ("FALSE", "TRUE"))
"""How a boolean may be spelled."""
LOOKED_AT: Final = 500
"""Rows that show what the cells are."""
_MAX_COUNTS: Final = 10_000
"""Columns of a layout; so few digits could ask for more memory than there is."""
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,30})(\.[0-9]{1,40})?([eE][+-][0-9]{1,3})?")


def is_number(cell: str) -> bool:
    """Return whether a cell is a number as JSON writes it; an exponent has its sign, which a hash has not."""
    return _NUMBER.fullmatch(cell) is not None


def has_numbers(rows: list[list[str]]) -> bool:
    """Return whether a column has nothing but numbers."""
    columns = zip(*rows[:LOOKED_AT], strict=False)
    return any(any(column) and all(is_number(cell) for cell in column if cell) for column in columns)


def rows_of(names: Sequence[str], rows: Sequence[Sequence[str | None]], null: str = "") -> Rows:
    """Return a map for each row with the cells of each column in its type.

    Args:
        names: The distinct names of the columns, as many as the longest row has cells.
        rows: The texts of the cells.
        null: The text of a cell that is null.
    """
    columns = [_typed(column, null) for column in zip_longest(*rows)]
    whole = [dict(zip(names, cells, strict=True)) for cells in zip(*columns, strict=True)]
    if set(map(len, rows)) == {len(names)}:
        return whole
    return [dict(islice(cells.items(), len(row))) for row, cells in zip(rows, whole, strict=True)]


def _typed(cells: Sequence[str | None], null: str) -> list[Any]:
    """Return the cells of one column as values; None in `cells` is a cell that its row does not have."""
    distinct = {cell for cell in set(cells) if cell is not None and cell != null}
    values = _numbers(distinct) or _truths(distinct) or {cell: cell for cell in distinct}
    return list(map(values.get, cells))


def _numbers(cells: set[str]) -> dict[str | None, Any] | None:
    numbers: dict[str | None, Any] = {}
    for cell in cells:
        found = _NUMBER.fullmatch(cell)
        if found is None:
            return None
        try:
            numbers[cell] = read_float(cell) if found[1] or found[2] else read_int(cell)
        except ValueError:  # beyond all floats
            return None
    return numbers


def _truths(cells: set[str]) -> dict[str | None, Any] | None:
    for words in _TRUTHS:
        if cells and cells.issubset(words):
            return {words[0]: False, words[1]: True}
    return None


def spell(value: object, null: str = "", truths: int = 0) -> str:
    """Return the text of a cell, the inverse of `rows_of`.

    Args:
        value: The value of the cell.
        null: The text of null.
        truths: The number of the spelling of booleans, from 0 on.

    Raises:
        ValueError: it is no cell.
    """
    if type(value) is str:
        return value
    if value is None:
        return null
    if type(value) is bool:
        return _TRUTHS[truths % len(_TRUTHS)][value]
    if isinstance(value, (int, float)):
        return repr(value)
    raise ValueError(f"expected a text, a number, a boolean or null in a cell, found {type(value).__name__!r}")


def distinct_names(header: Sequence[str], size: int) -> list[str]:
    """Return the names of `size` columns: those of the header, `name_2` for one that is there again, `c3` for none."""
    names: list[str] = []
    taken, again = set(header), dict.fromkeys(header, 2)
    used: set[str] = set()
    for number in range(size):
        written = header[number] if number < len(header) else ""
        name = written or f"c{number}"
        while name in used or (name != written and name in taken):
            base = written or f"c{number}"
            name = f"{base}_{again.setdefault(base, 2)}"
            again[base] += 1
        used.add(name)
        names.append(name)
    return names


def grid_of(value: object) -> tuple[list[str], Rows]:
    """Return the names of the columns and the rows of a value that is a grid; ValueError: it is none."""
    if type(value) is not list or not value or not all(type(row) is dict for row in value):
        raise ValueError("expected an array of maps for a grid")
    names: list[str] = []
    for row in value:
        names = list(row) if len(row) > len(names) else names
    if any(list(row) != names[: len(row)] for row in value):
        raise ValueError("expected the same names in the same order in each row of a grid")
    return names, value


def spelled_header(header: Sequence[str], names: Sequence[str]) -> str:
    """Return what `write_header` needs to write `header` from the names of the columns: "5.2,7." for two of them.

    The sixth is written as the third is, and the eighth is empty.
    """
    first = {written: number for number, written in reversed(list(enumerate(header))) if written == names[number]}
    return ",".join(
        f"{number}.{first.get(written, '')}" for number, written in enumerate(header) if written != names[number]
    )


def write_header(names: Sequence[str], spelled: str) -> list[str]:
    """Return the header as it was written.

    Raises:
        ValueError: `spelled` does not fit the names.
    """
    header = list(names)
    for word in filter(None, spelled.split(",")):
        number, _, source = word.partition(".")
        try:
            header[int(number)] = names[int(source)] if source else ""
        except IndexError as error:
            raise ValueError(f"expected the number of a column, found {word!r}") from error
    return header


def write_counts(counts: Iterable[int]) -> str:
    """Return numbers as a layout has them: "12,8*3" for 12, 8, 8, 8."""
    groups = ((count, len(list(group))) for count, group in groupby(counts))
    return ",".join(f"{count}*{times}" if times > 1 else f"{count}" for count, times in groups)


def read_counts(text: str) -> list[int]:
    """Return the numbers that `write_counts` wrote; ValueError: it did not."""
    counts: list[int] = []
    for word in filter(None, text.split(",")):
        count, _, times = word.partition("*")
        number = int(times or 1)
        if len(counts) + number > _MAX_COUNTS or number < 0 or int(count) < 0:
            raise ValueError(f"expected at most {_MAX_COUNTS} widths of columns, found {word!r}")
        counts += [int(count)] * number
    return counts
