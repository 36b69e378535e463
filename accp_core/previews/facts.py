"""What the cells of a column have in common, in a few words, and which rows differ from the others in it.

total: 15.2 to 2246.03
share: 3.7 % to 99.4 %, n/a (8)
status: pending (61), shipped (25), paid (20), late (1)
name: 110 values, as ord_001
note: texts of 12 to 480 characters, absent (40)
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from accp_core.documents.json_styles import write_styled_json
from accp_core.previews.marks import Marks
from accp_core.tables import Table
from accp_core.tables.values import is_left_out, type_column
from accp_core.view.notation import INLINE, quote

__all__ = ["DETAILS", "ColumnFacts", "facts_of"]

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
_RARE_SHARE: Final = 0.05
_MAX_RARE_ROWS: Final = 5
_LISTED: Final = (1, 2, 4, _MAX_ALL)
"""Values that the facts list on each side, the most frequent and the rarest ones, by detail."""
DETAILS: Final = len(_LISTED)

_Cells = Sequence[tuple[int, Any]]
"""The number of each row, and its cell."""


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """What a preview says of a column."""

    name: str
    texts: tuple[str, ...]
    """The facts in words, from few to many details."""
    rows: Mapping[int, float]
    """The rows that differ in this column, and how much."""
    is_counted: bool
    """Whether it has few values, which the facts count."""

    def text(self, detail: int) -> str:
        """Return the facts with so much detail, from 0 on, or with all that there is."""
        return self.texts[min(detail, len(self.texts) - 1)]


@dataclass(frozen=True, slots=True)
class _Facts:
    """What is said of the cells of one kind."""

    texts: Sequence[str]
    rows: Mapping[int, float]
    is_counted: bool = False


def facts_of(table: Table, column: str, marks: Marks) -> ColumnFacts:
    """Return the facts of a column of `table`."""
    cells = [(number, row[column]) for number, row in enumerate(table.rows) if column in row]
    kinds: defaultdict[str, list[tuple[int, Any]]] = defaultdict(list)
    for cell in cells:
        kinds[_KINDS.get(type(cell[1]), "number")].append(cell)
    absent = len(table.rows) - len(cells)
    parts = [_facts(kind, own, marks, is_one=len(kinds) == 1 and not absent) for kind, own in kinds.items()]
    rows: defaultdict[int, float] = defaultdict(float)
    for number, worth in (pair for part in parts for pair in part.rows.items()):
        rows[number] += worth
    details = range(max((len(part.texts) for part in parts), default=1))
    texts = (" or ".join(part.texts[min(detail, len(part.texts) - 1)] for part in parts) for detail in details)
    behind = f", absent ({absent:,})" if absent else ""
    return ColumnFacts(column, tuple(f"{text}{behind}" for text in texts), rows, any(part.is_counted for part in parts))


_KINDS: Final = {str: "text", bool: "flag", type(None): "null", list: "arrays", dict: "maps"}


def _facts(kind: str, cells: _Cells, marks: Marks, *, is_one: bool) -> _Facts:
    values = [value for _, value in cells]
    if kind == "null":
        return _Facts([f"null ({len(values):,})"], {})
    if kind in ("arrays", "maps"):
        return _Facts([f"{kind} of {_range(values)}{'' if is_one else f' ({len(values):,})'}"], {})
    counts = Counter(values)
    if kind == "number":
        is_few = len(counts) <= _MAX_NUMBERS and 2 * len(counts) <= len(cells)
        return _counted(counts, cells, marks) if is_few else _ends(cells, values, repr)
    return _counted(counts, cells, marks) if kind == "flag" else _texts(counts, cells, values, marks)


def _texts(counts: Counter[str], cells: _Cells, values: Sequence[str], marks: Marks) -> _Facts:
    if _is_few(counts, cells) and max(map(len, counts)) <= _LONG_TEXT:
        return _counted(counts, cells, marks)
    if sum(map(len, values)) > _LONG_TEXT * len(cells):
        return _Facts([f"texts of {_range(values)} characters"], {})
    typed = type_column(values)
    if typed.is_ordered:
        spelled = dict(zip(typed.values, values, strict=True))
        known = [(number, key) for (number, _), key in zip(cells, typed.values, strict=True) if key is not None]
        found = _ends(known, [key for _, key in known], lambda key: _value(spelled[key], marks))
        nothing = Counter(value for value in values if is_left_out(value))
        told = "".join(f", {_value(value, marks)} ({count:,})" for value, count in nothing.items())
        return _Facts([f"{found.texts[0]}{told}"], found.rows)
    return _Facts([f"{len(counts):,} values, as {_value(values[0], marks)}"], {})


def _ends(cells: _Cells, values: Sequence[Any], write: Any) -> _Facts:
    """Return the range of numbers or moments, and the rows at its ends."""
    lowest, highest = min(values), max(values)
    rows = [cells[values.index(end)][0] for end in (lowest, highest)]
    return _Facts([f"{write(lowest)} to {write(highest)}"], dict.fromkeys(rows, 1.0))


def _range(values: Sequence[Any]) -> str:
    """Return the smallest and the largest length of some values."""
    shortest, longest = min(map(len, values)), max(map(len, values))
    return f"{shortest:,} to {longest:,}" if shortest < longest else f"{longest:,}"


def _is_few(counts: Counter[Any], cells: _Cells) -> bool:
    return len(counts) <= max(min(_MAX_KINDS, len(cells) // 2), len(cells) // 10, 1)


def _counted(counts: Counter[Any], cells: _Cells, marks: Marks) -> _Facts:
    """Return how often values occur, and the rows of the rarest ones."""
    ranked = counts.most_common()
    if len(ranked) == 1:
        return _Facts([f"= {_value(ranked[0][0], marks)}"], {})
    rare = {value: count for value, count in ranked if count <= max(1.0, _RARE_SHARE * len(cells))}
    texts = list(dict.fromkeys(_list(ranked, listed, marks) for listed in _LISTED))
    return _Facts(texts, dict(_rare_rows(rare, cells)), is_counted=True)


def _list(ranked: Sequence[tuple[Any, int]], listed: int, marks: Marks) -> str:
    def words(items: Iterable[tuple[Any, int]]) -> str:
        return ", ".join(f"{_value(value, marks)} ({count:,})" for value, count in items)

    if len(ranked) <= (listed if listed == _MAX_ALL else 2 * listed + 1):
        return words(ranked)
    listed = min(listed, _LISTED[-2])
    if ranked[0][1] < 2 * ranked[-1][1]:
        return f"{words(ranked[:listed])}, {len(ranked) - listed:,} others alike"
    others = len(ranked) - 2 * listed
    return f"{words(ranked[:listed])}, {others:,} others, rarest {words(reversed(ranked[-listed:]))}"


def _rare_rows(rare: Mapping[Any, int], cells: _Cells) -> Iterator[tuple[int, float]]:
    left = dict.fromkeys(rare, _MAX_RARE_ROWS)
    for number, value in cells:
        if left.get(value, 0) > 0:
            left[value] -= 1
            yield number, 1.0 / rare[value] ** 0.5


def _value(value: object, marks: Marks) -> str:
    """Return a value as the facts quote it, cut to a few characters."""
    if type(value) is not str:
        return write_styled_json(value, "0u")
    text = marks.size_blobs(value)
    short = text if len(text) <= _MAX_VALUE_CHARS else text[:_MAX_VALUE_CHARS]
    written = short if INLINE.allows(short) else quote(short)
    return written if short == text else written + marks.gap(f"{len(text) - len(short):,} characters")
