"""Names for the columns of lines that name none.

A column has the name of what all its cells are: an address, a time, a path. `column_3` is the third of others.
Words in quotes are columns of their own where all rows have as many and some are paths: `"GET /cart HTTP/1.1"`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from http import HTTPMethod, HTTPStatus
from typing import Final

from accp_core.documents.inference import Section
from accp_core.documents.inference.columns import STRONG, class_of, top_class
from accp_core.documents.inference.records import SECTION
from accp_core.tables.values import Kind, is_left_out, type_column

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
_VAGUE: Final = ("", "number", "text")
"""Names that say no more than a place in the line does."""
_MIN_COLUMNS: Final = 3
"""Columns of different cells from which a row is easier to read than its line."""
_MAX_WORDS: Final = 6
_MIN_PROSE: Final = 2.5
"""Words of a cell, in the mean, from which a column is prose."""
_PARTS_OF_TIME: Final = re.compile(r"M{1,2}d?(?:T(?:y|Wy)?|y)?|d?M(?:yT?|T)|DT")
"""Columns that are parts of one time, by their classes: months and days of a week, days, times, years."""
_YEAR_OR_TIME: Final = re.compile(r"(?:19|20)\d\d|\d\d?:\d\d(?::\d\d)?")

_Cells = Sequence[str | None]


def name_columns(table: Section) -> tuple[list[str], list[_Cells], bool]:
    """Return a name for each column, the rows, and whether most names say what the cells are.

    Words between the cells make a sentence, which is better read as a line.
    """
    columns: list[_Cells] = [[row.get(name) for row in table.rows] for name in table.columns]
    if table.is_named:
        return table.columns, list(zip(*columns, strict=True)), True
    sources = list(_with_times(["" if _UNNAMED.fullmatch(name) else name for name in table.columns], columns))
    parts = [
        part
        for name, cells in sources
        for part in _parts(name, [cell[1:-1] if cell and _AROUND.fullmatch(cell) else cell for cell in cells])
        if not all(map(is_left_out, part[1]))
    ]
    named = [(name or _name_of(cells), cells) for name, cells in parts]
    varied = [name for name, cells in named if len(set(cells)) > 1]
    told = [name for name in varied if name not in _VAGUE]
    is_sentence = any(name not in ("", "time", SECTION) for name, _ in sources) or any(map(_is_prose, columns))
    is_telling = 2 * len(told) > len(varied) >= _MIN_COLUMNS and not is_sentence
    names = [name or f"column_{number}" for number, (name, _) in enumerate(named, 1)]
    return names, list(zip(*(cells for _, cells in named), strict=True)), is_telling


def _with_times(names: Sequence[str], columns: Sequence[_Cells]) -> Iterator[tuple[str, _Cells]]:
    """Yield the columns with their names; those that are parts of one time, as `Mar 5 10:11`, are one."""
    kinds = "".join(map(_time_class, columns))
    at = 0
    while at < len(names):
        found = _PARTS_OF_TIME.match(kinds, at)
        end = max(found.end(), at + 1) if found else at + 1
        joined = [" ".join(filter(None, cells)) or None for cells in zip(*columns[at:end], strict=True)]
        yield ("time", joined) if end > at + 1 else (names[at], columns[at])
        at = end


def _time_class(cells: _Cells) -> str:
    """Return the class of cells, "d" for days of a month, "y" for years, "T" for times or years."""
    there = [cell for cell in cells if cell]
    kind = top_class(there[:200]) or "?"
    if kind == "N" and all(cell.isdigit() and 0 < int(cell) < 32 for cell in there):
        return "d"
    if kind in "NT?" and there and all(map(_YEAR_OR_TIME.fullmatch, there)):
        return "T" if any(":" in cell for cell in there) else "y"
    return kind


def _parts(name: str, cells: _Cells) -> list[tuple[str, _Cells]]:
    """Return the columns that the words of cells are, where all have as many and some are paths; else the one."""
    words = [cell.split() for cell in cells if cell and not is_left_out(cell)]
    size = len(words[0]) if words else 0
    fitting = [each for each in words if len(each) == size]
    if name or not 1 < size <= _MAX_WORDS or len(fitting) < _ALIKE * len(words) or type_column(cells).is_ordered:
        return [(name, cells)]
    paths = [at for at, column in enumerate(zip(*fitting, strict=True)) if _name_of(column) in ("path", "url")]
    if not paths:
        return [(name, cells)]
    split = [cell.split() if cell else [] for cell in cells]
    rest = [[None] * paths[0] + [cell] + [None] * size for cell in cells]  # of cells with other words
    rows = [each if len(each) == size else other[:size] for each, other in zip(split, rest, strict=True)]
    return [("", column) for column in zip(*rows, strict=True)]


def _name_of(cells: _Cells) -> str:
    """Return the name of what nearly all cells are; empty: it is not known."""
    there = [cell for cell in cells if cell and not is_left_out(cell)]
    typed = type_column(there)
    if typed.kind is Kind.MOMENT:
        return "time" if any(":" in value for value in typed.values) else "date"
    if typed.kind is Kind.DURATION:
        return "duration"
    if typed.kind is Kind.NUMBER:
        return "status" if set(typed.values) <= set(HTTPStatus) else "percent" if typed.unit == "%" else "number"
    if _share(class_of(cell) == "I" for cell in there):
        return "address"
    named = next((name for name, kind in _KINDS if _share(kind.fullmatch(cell) is not None for cell in there)), "")
    return named or "text" * (2 * sum(" " in cell for cell in there) > len(there))


def _share(found: Iterable[bool]) -> bool:
    told = list(found)
    return bool(told) and sum(told) >= _ALIKE * len(told)


def _is_prose(cells: _Cells) -> bool:
    """Return whether cells have several words each that stand in no quotes and are no time."""
    texts = [cell for cell in cells if cell]
    words = (len(text.split()) for text in texts if class_of(text) not in STRONG and not _AROUND.fullmatch(text))
    return sum(words) > _MIN_PROSE * len(texts)
