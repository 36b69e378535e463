"""A table of a stored value: its rows and names, arrays that have rows as they stand, and the table of the lines."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice, pairwise
from typing import Any, Final, TypeAlias

from accp_core.documents.grids.cells import writes_commas
from accp_core.strict_json import is_json

__all__ = [
    "FIELDS", "FIRST_LINE", "LINES", "MAX_CHARS", "MAX_COLUMNS", "TEXT_RECORDS", "Cell", "DistinctNames",
    "LineNumbers", "ParentLink", "Row", "Table", "columns_side_by_side", "count_lines", "has_other_numbers",
    "is_matrix", "is_openable", "lines_of", "table_of_lines", "work_of",
]  # fmt: skip

MAX_COLUMNS: Final = 2_000
"""Columns of a table that can be queried; a table of more is described, but not built."""

LINES: Final = "lines"
"""The name of the table of the lines of a text; an array of that name in the text is `lines_2`."""

FIELDS: Final = "fields"
"""The name of the table of the words of lines that begin alike and name no columns."""

TEXT_RECORDS: Final = "records"
"""The name of the table of the records of a text that has no other table but its lines."""

_NAME: Final = re.compile(r"(?i:(?:^|[._])(?:name|title|key|number|code|sku))$")
_MAX_NAMING: Final = 2
"""Columns that name a row for the rows of its child tables."""

Cell: TypeAlias = Any
"""A scalar of JSON, or an array or map that has no columns of its own."""
Row: TypeAlias = Mapping[str, Cell]
"""The cells of a row by column; a cell that the source does not have is absent, which is not null."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParentLink:
    """How the rows of a child table are joined to those of its parent."""

    table: str
    """The name of the parent table."""
    key: str
    """The column of the parent that identifies its rows: one of the source, or `_row`."""
    column: str
    """The column of the child that holds that key, the first one."""


@dataclass(frozen=True, kw_only=True)
class Table:
    """Rows of one shape; names of tables and columns are distinct without regard to case, too."""

    name: str
    """The name in a query, such as "data.items"."""
    path: tuple[str, ...]
    """The keys that lead to it from the root, those of its parents' rows among them."""
    columns: tuple[str, ...]
    """The names of the columns in order; they hold no control characters and no double quote."""
    rows: Sequence[Row]
    """Its rows in the order of the source."""
    parent: ParentLink | None = None
    """How to join it to the table whose rows hold it; None: no row holds it."""

    repeated: frozenset[str] = frozenset()
    """The columns with maps and arrays in cells whose content has columns or tables of its own, too."""

    @property
    def holds_lines(self) -> bool:
        """Whether its rows are the lines of a text, not those of an array of that name."""
        return self.name == LINES and not self.path

    def own_cells(self, row: Row) -> dict[str, Cell]:
        """Return the cells of a row without maps and arrays whose content stands in other columns or tables, too."""
        if not self.repeated:
            return dict(row)
        return {name: cell for name, cell in row.items() if name not in self.repeated or type(cell) not in (dict, list)}

    @cached_property
    def has_commas(self) -> bool:
        """Whether numbers of a column have a comma before their fraction."""
        return any(writes_commas(self.cells(name)) for name in self.columns)

    @property
    def own_columns(self) -> tuple[str, ...]:
        """The columns without those that hold nothing but such maps and arrays, where a row has anything."""
        held = {name for name in self.repeated if any(type(cell) not in (dict, list) for cell in self.cells(name))}
        return tuple(name for name in self.columns if name in held or name not in self.repeated)

    def naming(self, key: str) -> tuple[str, ...]:
        """Return the columns that say which row one is, beside the column `key`: its name, its number."""
        names = (name for name in self.columns if name != key and _NAME.search(name))
        return tuple(sorted(names, key=lambda name: name.count("."))[:_MAX_NAMING])

    def cells(self, column: str) -> Iterator[Cell]:
        """Yield the cells of a column from the first row to the last, without those that are absent."""
        return (row[column] for row in self.rows if column in row)


# Distinct names for tables and columns.

_UNSAFE: Final = re.compile(r'[\x00-\x1f\x7f"\ud800-\udfff]+')
_MAX_CHARS: Final = 200


class DistinctNames:
    """Gives names that differ even without regard to case, because SQL has none."""

    def __init__(self, source: Iterable[str] = ()) -> None:
        """Keep the names of `source` for those who have them there; nobody gets one that several have: `a_1`, `a_2`."""
        self._kept = Counter(name.casefold() for name in source)
        self._taken: set[str] = set()
        self._next: dict[str, int] = {}

    def claim(self, wanted: str, *, is_invented: bool = False) -> str:
        """Return `wanted`, with `_2`, `_3` … behind it where the name is taken.

        Control characters and double quotes, which no quoted name of SQL may hold as they are, become `_`. A name that
        is changed, or `is_invented` because the source has none, gives way to one that stands so in the source.
        """
        name = base = _UNSAFE.sub("_", wanted)[:_MAX_CHARS] or "_"
        is_shared = self._kept[wanted.casefold()] > 1
        is_changed = is_invented or is_shared or base != wanted
        number = self._next.get(base.casefold(), 2 - is_shared)
        while name.casefold() in self._taken or (name.casefold() in self._kept and (is_changed or name != wanted)):
            name = f"{base}_{number}"
            number += 1
        self._next[base.casefold()] = number
        self._taken.add(name.casefold())
        return name


# Rows that JSON writes as arrays side by side, and arrays that are rows of cells.

_MIN_CELLS: Final = 4
"""Cells of each array that stands beside others: two lists of three things may have one length by chance."""
_CONTAINERS: Final = frozenset((dict, list))


def is_matrix(value: list[Any]) -> bool:
    """Return whether `value` is several arrays of one length, of several scalars each."""
    if len(value) < 2 or set(map(type, value)) != {list} or len(value[0]) < 2 or len(set(map(len, value))) > 1:
        return False
    return _CONTAINERS.isdisjoint(map(type, chain.from_iterable(value)))


def columns_side_by_side(value: dict[str, Any]) -> list[dict[str, Any]] | None:
    """Return the rows of a map whose arrays, of which there are several, have the cells of one row at each place."""
    columns = {name: member for name, member in value.items() if type(member) is list}
    lengths = set(map(len, columns.values()))
    if len(columns) < 2 or len(lengths) > 1:
        return None
    size = lengths.pop()
    if size < _MIN_CELLS - any(map(_is_axis, columns.values())):
        return None
    if not _CONTAINERS.isdisjoint(map(type, chain.from_iterable(columns.values()))):
        return None
    return [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]


def _is_axis(cells: list[Any]) -> bool:
    """Return whether cells are times or numbers that all rise, or all fall."""
    is_sorted = set(map(type, cells)) in ({int}, {str}) and len({one < two for one, two in pairwise(cells)}) == 1
    return is_sorted and len(set(cells)) == len(cells) and all(str(cell)[:1].isdigit() for cell in cells)


# The lines of a text and their numbers: those of `grep -n`, `wc -l` and editors.

FIRST_LINE: Final = 1
"""The number of the first line of a text."""

_NUMBERED: Final = re.compile(r"[ \t]*([0-9]{1,9})(?![0-9.,/])")
_LOOKED_AT: Final = 8_000
"""Characters at the beginning of a text that show whether it numbers its lines."""
_MIN_NUMBERED: Final = 3
"""Lines with consecutive numbers that show it."""


def count_lines(text: str) -> int:
    """Return how many lines `text` has; a line feed at its end begins no further one."""
    return text.count("\n") + (text[-1:] not in ("", "\n"))


def lines_of(text: str) -> list[str]:
    """Return the lines of `text` with their line feeds."""
    *lines, last = text.split("\n")
    return [f"{line}\n" for line in lines] + [last] * bool(last)


class _LineRows(Sequence[Row]):
    """Rows of lines, made when they are asked for: there may be millions."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines

    def __len__(self) -> int:
        return len(self._lines)

    def __getitem__(self, number: Any) -> Any:
        if isinstance(number, slice):
            return [self[at] for at in range(len(self))[number]]
        return {"n": range(len(self))[number] + FIRST_LINE, "text": self._lines[number].removesuffix("\r")}


def table_of_lines(text: str) -> Table:
    """Return the table `lines(n, text)`: the number of each line, and the line without its end."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return Table(name=LINES, path=(), columns=("n", "text"), rows=_LineRows(lines))


class LineNumbers:
    """Finds the number of a line from its position."""

    def __init__(self, text: str) -> None:
        """Begin at the first line of `text`."""
        self._text = text
        self._position = 0
        self._number = FIRST_LINE

    def number_at(self, start: int) -> int:
        """Return the number of the line that holds `start`; fastest where `start` is asked for in order."""
        if start < self._position:
            self._position, self._number = 0, FIRST_LINE
        self._number += self._text.count("\n", self._position, start)
        self._position = start
        return self._number


# How long a text takes to be read as tables.

MAX_CHARS: Final = 4_000_000
"""Characters of a text whose values and tables a query reads; a longer one has lines and words."""
_LINE_CHARS: Final = 80
_TAG_CHARS: Final = 30
_CELL_CHARS: Final = 10
"""Characters that take as long to read as a line, as a tag of markup, and as a number or a cell."""
_SEPARATOR: Final = re.compile(r"[,;|\t]|(?<=\S) {2}")
_NUMBER: Final = re.compile(r"[0-9]+")
_TYPED: Final = re.compile(r"""[\[{,:\s]"[^"\\0-9]{0,48}[0-9]""")  # a text that may be a number or a time


def is_openable(text: str) -> bool:
    """Return whether a query may read the values and tables of a text."""
    return work_of(text) <= MAX_CHARS


def work_of(text: str) -> int:
    """Return how long a text takes to be read as tables, in characters; where no grammar does it, each line counts."""
    if len(text) > MAX_CHARS:
        return len(text)
    if is_json(text):
        return len(text) + _CELL_CHARS * (text.count(",") + 3 * text.count("{") + 2 * _count(_TYPED, text))
    tags = text.count("<") if text[:_LOOKED_AT].lstrip().startswith("<") else 0
    cells = _CELL_CHARS // 2 * (_count(_SEPARATOR, text) + 2 * _count(_NUMBER, text))
    return len(text) + _LINE_CHARS * (text.count("\n") - text.count("\n\n")) + cells + _TAG_CHARS * tags


def _count(pattern: re.Pattern[str], text: str) -> int:
    return sum(1 for _ in islice(pattern.finditer(text), MAX_CHARS))


def has_other_numbers(text: str) -> bool:
    """Return whether the lines of `text` begin with numbers of their own, which are not those that they have here.

    Such a text is a part of a file, as tools show it; two numberings beside each other would be taken for one.
    """
    run, before = 0, None
    for number, line in enumerate(text[:_LOOKED_AT].split("\n"), FIRST_LINE):
        own = int(found[1]) if (found := _NUMBERED.match(line)) else None
        run = run + 1 if own is not None and before is not None and own == before + 1 else 1
        if run >= _MIN_NUMBERED and own != number:
            return True
        before = own
    return False
