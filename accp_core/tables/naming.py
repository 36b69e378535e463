"""Names for the columns of lines that name none.

A line of as many words above the rows names them. Else a column has the name of what all its cells are: an address, a
time, a path. `column_3` is the third of others.
Words in quotes are columns of their own where all rows have as many and some are paths: `"GET /cart HTTP/1.1"`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from http import HTTPMethod, HTTPStatus
from typing import Final

from accp_core.documents.inference import InferredTable
from accp_core.documents.inference.columns import STRONG, Cells, class_of
from accp_core.documents.inference.records import join_times
from accp_core.tables.values import Kind, is_left_out, type_column

__all__ = ["NamedTable", "name_columns"]

_UNNAMED: Final = re.compile(r"(?:c|head)\d*")
_ALIKE: Final = 0.95
"""The share of the cells of a column that are what its name says."""
_KINDS: Final = (
    ("url", re.compile(r"[a-z][a-z\d+.-]*://\S+")),
    ("email", re.compile(r"[^\s@<>]+@[^\s@<>]+\.\w+")),
    ("path", re.compile(r"(?:~|\.{0,2})/\S*|[A-Z]:\\\S*")),
    ("mode", re.compile(r"[a-z-](?:[-r][-w][-xsStT]){3}[.+@]?")),
    ("method", re.compile("|".join(HTTPMethod))),
    ("hash", re.compile(r"(?=[a-f]*\d)(?=\d*[a-f])[\da-f]{7,64}")),
)
"""The names of what cells are that are no numbers, moments or addresses."""
_AROUND: Final = re.compile(r'"[^"]*"|\[[^\[\]]*\]')
_NO_LABELS: Final = ("", "time", "section")
"""Names of columns that no word beside their cells gave; such a word makes the line a sentence."""
_VAGUE: Final = ("", "number", "text")
"""Names that say no more than a place in the line does."""
_MARKS: Final = "[]:,=()"
_MIN_COLUMNS: Final = 3
"""Columns of different cells from which a row is easier to read than its line."""
_MAX_WORDS: Final = 6
_MIN_PROSE: Final = 2.5
"""Words of a cell, in the mean, from which a column is prose."""


@dataclass(frozen=True, slots=True)
class NamedTable:
    """A table all of whose columns have a name."""

    columns: list[str]
    rows: list[Cells]
    is_telling: bool
    """Whether most names say what the cells are. Words between the cells make a sentence, better read as a line."""


def name_columns(table: InferredTable, lines: Sequence[str]) -> NamedTable:
    """Return a table of a text with the given lines, with a name for each of its columns."""
    columns = list(zip(*table.rows, strict=True))
    above = lines[table.lines[0] - 2].split() if table.lines[0] > 1 else []
    if table.is_named or _are_names(above, table.columns, columns):
        names = list(table.columns) if table.is_named else above
        return NamedTable(names, list(table.rows), is_telling=True)
    sources = list(_unlabelled(table))
    parts = [
        part
        for name, cells in sources
        for part in _parts(name, list(map(_bare, cells)))
        if not all(map(is_left_out, part[1]))
    ]
    named = [(name or _name_of(cells), cells) for name, cells in parts]
    varied = [name for name, cells in named if len(set(cells)) > 1]
    told = [name for name in varied if name not in _VAGUE]
    is_sentence = any(name not in _NO_LABELS for name, _ in sources) or any(map(_is_prose, columns))
    is_telling = 2 * len(told) > len(varied) >= _MIN_COLUMNS and not is_sentence
    rows = [list(row) for row in zip(*(cells for _, cells in named), strict=True)]
    names = [name or f"column_{number}" for number, (name, _) in enumerate(named, 1)]
    return NamedTable(names, rows, is_telling=is_telling)


def _unlabelled(table: InferredTable) -> Iterator[tuple[str, Sequence[str | None]]]:
    """Yield the columns with the parts of one time joined, and no name for one that the text itself does not name."""
    joined, rows = join_times(table.columns, table.rows)
    before: Sequence[str | None] = ()
    for name, cells in zip(joined, zip(*rows, strict=True), strict=True):
        is_label = len(set(before)) == 1 and (before[0] or "").strip(_MARKS) == name
        yield "" if is_label or _UNNAMED.fullmatch(name) else name, cells
        before = cells


def _are_names(words: Sequence[str], names: Sequence[str], columns: Sequence[Sequence[str | None]]) -> bool:
    """Return whether the words above the rows name their columns, most of which have numbers, times, addresses."""
    if len(words) != len(names) or len(set(words)) < len(words) or any(class_of(word) in STRONG for word in words):
        return False
    return all(word not in cells for word, cells in zip(words, columns, strict=True))


def _bare(cell: str | None) -> str | None:
    """Return a cell without the quotes or brackets around it."""
    return cell[1:-1] if cell and _AROUND.fullmatch(cell) else cell


def _parts(name: str, cells: list[str | None]) -> list[tuple[str, list[str | None]]]:
    """Return the columns that the words of cells are, where all have as many and some are paths; else the one."""
    words = [cell.split() for cell in cells if cell and not is_left_out(cell)]
    size = len(words[0]) if words else 0
    fitting = [each for each in words if len(each) == size]
    if name or not 1 < size <= _MAX_WORDS or len(fitting) < _ALIKE * len(words) or type_column(cells).is_ordered:
        return [(name, cells)]
    paths = [at for at, column in enumerate(zip(*fitting, strict=True)) if _name_of(list(column)) in ("path", "url")]
    if not paths:
        return [(name, cells)]
    split = [
        [None] * size
        if cell is None
        else parts
        if len(parts := cell.split()) == size
        else [cell if at == paths[0] else None for at in range(size)]
        for cell in cells
    ]
    return [("", list(column)) for column in zip(*split, strict=True)]


def _name_of(cells: Sequence[str | None]) -> str:
    """Return the name of what nearly all cells are; empty: it is not known."""
    there = [cell for cell in cells if cell and not is_left_out(cell)]
    typed = type_column(there)
    if typed.kind is Kind.MOMENT:
        return "time" if any(":" in value for value in typed.values) else "date"
    if typed.kind is Kind.DURATION:
        return "duration"
    if typed.kind is Kind.NUMBER:
        statuses = set(HTTPStatus)
        return "status" if set(typed.values) <= statuses else "percent" if typed.unit == "%" else "number"
    if _share(class_of(cell) == "I" for cell in there):
        return "address"
    named = next((name for name, kind in _KINDS if _share(kind.fullmatch(cell) is not None for cell in there)), "")
    return named or "text" * (2 * sum(" " in cell for cell in there) > len(there))


def _share(found: Iterator[bool]) -> bool:
    told = list(found)
    return bool(told) and sum(told) >= _ALIKE * len(told)


def _is_prose(cells: Sequence[str | None]) -> bool:
    """Return whether cells have several words each that stand in no quotes and are no time."""
    texts = [cell for cell in cells if cell]
    words = (len(text.split()) for text in texts if class_of(text) not in STRONG and not _AROUND.fullmatch(text))
    return sum(words) > _MIN_PROSE * len(texts)
