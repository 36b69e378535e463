"""What the cells of a column have in common, in a few words, and which rows differ from the others in it.

total: 15.2 to 2246.03
share: 3.7 % to 99.4 %, n/a (8)
status: pending (61), shipped (25), paid (20), late (1)
name: 110 values, as ord_001
note: texts of 12 to 480 characters, absent (40)
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from accp_core.documents.json_styles import write_styled_json
from accp_core.previews.marks import Marks
from accp_core.tables import Table
from accp_core.tables.values import is_left_out, type_column
from accp_core.view.notation import INLINE, quote

__all__ = ["ColumnFacts", "facts_of"]

_MAX_VALUE_CHARS: Final = 40
"""Characters of a value that is quoted in the facts of its column."""
_LONG_TEXT: Final = 100
"""Mean number of characters from which the texts of a column are described by their length."""
_MAX_KINDS: Final = 12
"""Different values of a column that are always counted; of more rows a tenth."""
_MAX_NUMBERS: Final = 6
"""Different numbers that are counted instead of given as a range."""
_MAX_ALL: Final = 40
"""Different values up to which all are listed where there is room."""
_LISTED: Final = 2
"""Values that are listed where there is less, the most frequent and the rarest ones; of very many twice as many."""
_RARE_SHARE: Final = 0.05
_MAX_RARE_ROWS: Final = 5

_Cells = Sequence[tuple[int, Any]]
"""The number of each row, and its cell."""


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """What a preview says of a column, or of those of its cells that are of one kind."""

    brief: str
    """The facts in few words."""
    full: str
    """With all values that there are."""
    rows: Mapping[int, float] = field(default_factory=dict)
    """The rows that differ in this column, and how much."""
    is_counted: bool = False
    """Whether it has few values, which the facts count."""

    @property
    def is_constant(self) -> bool:
        """Whether all cells are alike."""
        return self.full.startswith(("= ", "null (")) and " or " not in self.full


def facts_of(table: Table, column: str, marks: Marks) -> ColumnFacts:
    """Return the facts of a column of `table`."""
    kinds: defaultdict[str, list[tuple[int, Any]]] = defaultdict(list)
    for number, row in enumerate(table.rows):
        if column in row:
            kinds[_KINDS.get(type(row[column]), "number")].append((number, row[column]))
    absent = len(table.rows) - sum(map(len, kinds.values()))
    parts = [_facts(kind, own, marks, table, is_one=len(kinds) == 1 and not absent) for kind, own in kinds.items()]
    rows = {number: sum(part.rows.get(number, 0.0) for part in parts) for part in parts for number in part.rows}
    behind = f", absent ({absent:,})" if absent else ""
    texts = zip(*((part.brief, part.full) for part in parts), strict=True)
    brief, full = (" or ".join(each) + behind for each in texts)
    return ColumnFacts(brief, full, rows, any(part.is_counted for part in parts))


_KINDS: Final = {str: "text", bool: "flag", type(None): "null", list: "arrays", dict: "maps"}


def _facts(kind: str, cells: _Cells, marks: Marks, table: Table, *, is_one: bool) -> ColumnFacts:
    values = [value for _, value in cells]
    if kind == "null":
        return _same(f"null ({len(values):,})")
    if kind in ("arrays", "maps"):
        return _same(f"{kind} of {_range(values)}{'' if is_one else f' ({len(values):,})'}")
    counts = Counter(values)
    if kind == "text":
        return _texts(counts, cells, values, marks, table)
    is_few = kind == "flag" or (len(counts) <= _MAX_NUMBERS and 2 * len(counts) <= len(cells))
    return _counted(counts, cells, marks) if is_few else _ends(cells, repr)


def _same(text: str) -> ColumnFacts:
    return ColumnFacts(text, text)


def _texts(counts: Counter[str], cells: _Cells, values: Sequence[str], marks: Marks, table: Table) -> ColumnFacts:
    is_few = len(counts) <= max(min(_MAX_KINDS, len(cells) // 2), len(cells) // 10, 1)
    if is_few and max(map(len, counts)) <= _LONG_TEXT:
        return _counted(counts, cells, marks)
    if sum(map(len, values)) > _LONG_TEXT * len(cells):
        return _same(f"texts of {_range(values)} characters")
    typed = type_column(values, table)
    if not typed.is_ordered:
        return _same(f"{len(counts):,} values, as {_value(values[0], marks)}")
    spelled = dict(zip(typed.values, values, strict=True))
    known = [(number, key) for (number, _), key in zip(cells, typed.values, strict=True) if key is not None]
    nothing = Counter(value for value in values if is_left_out(value))
    told = "".join(f", {_value(value, marks)} ({count:,})" for value, count in nothing.items())
    return _ends(known, lambda key: _value(spelled[key], marks), told)


def _ends(cells: _Cells, write: Callable[[Any], str], behind: str = "") -> ColumnFacts:
    """Return the range of numbers or moments, and the rows at its ends."""
    ends = [end(cells, key=lambda cell: cell[1]) for end in (min, max)]
    text = f"{write(ends[0][1])} to {write(ends[1][1])}{behind}"
    return ColumnFacts(text, text, {number: 1.0 for number, _ in ends})


def _range(values: Sequence[Any]) -> str:
    """Return the smallest and the largest length of some values."""
    shortest, longest = min(map(len, values)), max(map(len, values))
    return f"{shortest:,} to {longest:,}" if shortest < longest else f"{longest:,}"


def _counted(counts: Counter[Any], cells: _Cells, marks: Marks) -> ColumnFacts:
    """Return how often values occur, and the rows of the rarest ones."""
    ranked = [(_value(value, marks), count) for value, count in counts.most_common()]
    if len(ranked) == 1:
        return _same(f"= {ranked[0][0]}")
    left = {value: _MAX_RARE_ROWS for value, count in counts.items() if count <= max(1.0, _RARE_SHARE * len(cells))}
    rows: dict[int, float] = {}
    for number, value in cells:
        if left.get(value, 0) > 0:
            left[value] -= 1
            rows[number] = 1.0 / counts[value] ** 0.5
    full = _words(ranked) if len(ranked) <= _MAX_ALL else _list(ranked, 2 * _LISTED)
    return ColumnFacts(_list(ranked, _LISTED), full, rows, is_counted=True)


def _words(ranked: Sequence[tuple[str, int]]) -> str:
    return ", ".join(f"{value} ({count:,})" for value, count in ranked)


def _list(ranked: Sequence[tuple[str, int]], listed: int) -> str:
    """Return so many of the most frequent and of the rarest values."""
    others = len(ranked) - 2 * listed
    if others <= 1:
        return _words(ranked)
    return f"{_words(ranked[:listed])}, {others:,} others, rarest {_words(ranked[: -listed - 1 : -1])}"


def _value(value: object, marks: Marks) -> str:
    """Return a value as the facts quote it, cut to a few characters."""
    if type(value) is not str:
        return write_styled_json(value, "0u")
    text = marks.size_blobs(value)
    short = text[:_MAX_VALUE_CHARS]
    written = short if INLINE.allows(short) else quote(short)
    return written if short == text else written + marks.gap(f"{len(text) - len(short):,} characters")
