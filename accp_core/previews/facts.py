"""What the cells of a column have in common, in a few words, and which rows differ from the others in it.

total: 15.2 to 2246.03
status: pending (61), shipped (25), paid (20), late (1)
msg: GET /items/# took # (590), 4 others, rarest timeout after # (1)      `#` stands for a word with a digit
note: texts of 12 to 480 characters, absent (40)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from accp_core.documents.json_styles import write_styled_json
from accp_core.previews.marks import Marks
from accp_core.previews.request import has_error, shape_of
from accp_core.tables import Table
from accp_core.tables.values import type_column
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
_RARE_SHARE: Final = 0.05
_MAX_RARE_ROWS: Final = 5
_LISTED: Final = (1, 2, 4)
"""Values that the facts list on each side, the most frequent and the rarest ones, by detail."""

_SAMPLE: Final = 64
"""Numbers of which more than a few are different in a column that is given as a range."""


@dataclass(frozen=True, slots=True)
class _Cells:
    """Cells of one kind in a column."""

    numbers: Sequence[int]
    """The numbers of their rows."""
    values: Sequence[Any]
    """Their values."""

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        return zip(self.numbers, self.values, strict=True)

    def __len__(self) -> int:
        return len(self.values)


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


def facts_of(table: Table, column: str, marks: Marks) -> ColumnFacts:
    """Return the facts of a column of `table`."""
    cells = _cells_of(table, column)
    by_kind = _by_kind(cells)
    parts = [_DESCRIBE[kind](group, marks) for kind, group in by_kind.items()]
    rows: dict[int, float] = {}
    for worths in (_minority(by_kind), *(part.rows for part in parts)):
        for number, worth in worths.items():
            rows[number] = rows.get(number, 0.0) + worth
    absent = len(table.rows) - len(cells)
    if len(by_kind) > 1 or absent:
        parts = [_with_count(kind, by_kind[kind], part) for kind, part in zip(by_kind, parts, strict=True)]
    texts = [_in_words(parts, detail, absent) for detail in range(len(_LISTED))]
    return ColumnFacts(column, tuple(texts), rows, any(part.is_counted for part in parts))


def _with_count(kind: str, cells: _Cells, facts: _Facts) -> _Facts:
    """Return the facts of arrays or maps with their number, which no count of values tells."""
    if kind not in ("list", "map"):
        return facts
    return _Facts([f"{text} ({len(cells):,})" for text in facts.texts], facts.rows)


def _cells_of(table: Table, column: str) -> _Cells:
    values = list(table.cells(column))
    if len(values) == len(table.rows):
        return _Cells(range(len(values)), values)
    return _Cells([number for number, row in enumerate(table.rows) if column in row], values)


def _by_kind(cells: _Cells) -> dict[str, _Cells]:
    """Return the cells by the name of their kind, in the order in which the kinds occur."""
    kinds = list(dict.fromkeys(_KINDS.get(each, "number") for each in dict.fromkeys(map(type, cells.values))))
    if len(kinds) == 1:
        return {kinds[0]: cells}
    groups: dict[str, tuple[list[int], list[Any]]] = {kind: ([], []) for kind in kinds}
    for number, value in cells:
        numbers, values = groups[_KINDS.get(type(value), "number")]
        numbers.append(number)
        values.append(value)
    return {kind: _Cells(*group) for kind, group in groups.items()}


def _in_words(parts: Sequence[_Facts], detail: int, absent: int) -> str:
    text = " or ".join(part.texts[min(detail, len(part.texts) - 1)] for part in parts)
    return f"{text}, absent ({absent:,})" if absent else text


@dataclass(frozen=True, slots=True)
class _Facts:
    texts: Sequence[str]
    rows: Mapping[int, float]
    is_counted: bool = False


_KINDS: Final = {str: "text", bool: "flag", type(None): "null", list: "list", dict: "map"}


def _numbers(cells: _Cells, marks: Marks) -> _Facts:
    if len(set(cells.values[:_SAMPLE])) <= _MAX_NUMBERS:
        counts = Counter(cells.values)
        if len(counts) <= _MAX_NUMBERS and 2 * len(counts) <= len(cells):
            return _counted(counts, cells, marks)
    lowest, highest = min(cells.values), max(cells.values)
    ends = (cells.numbers[cells.values.index(end)] for end in (lowest, highest))
    return _Facts([f"{lowest!r} to {highest!r}"], dict.fromkeys(ends, 1.0))


def _texts(cells: _Cells, marks: Marks) -> _Facts:
    counts = Counter(cells.values)
    if _few(counts, cells) and max(map(len, counts)) <= _LONG_TEXT:
        return _counted(counts, cells, marks)
    if sum(map(len, cells.values)) > _LONG_TEXT * len(cells):
        return _Facts([f"texts of {_range(cells)} characters"], _rows_with_errors(cells))
    shape = {value: shape_of(value) for value in counts}
    shaped = _Cells(cells.numbers, list(map(shape.__getitem__, cells.values)))
    shapes = Counter(shaped.values)
    if len(shapes) == 1:
        return _Facts([" to ".join(_value(each, marks) for each in _ends(list(counts)))], {})
    if _few(shapes, cells):
        return _counted(shapes, shaped, marks)
    first = _value(cells.values[0], marks)
    return _Facts([f"{len(counts):,} values, as {first}"], _rows_with_errors(cells))


def _ends(texts: Sequence[str]) -> tuple[str, str]:
    """Return the least and the greatest of some texts: as numbers or times, where all are."""
    typed = type_column(texts)
    ranked = [(value, text) for value, text in zip(typed.values, texts, strict=True) if value is not None]
    return (min(ranked)[1], max(ranked)[1]) if typed.is_ordered else (min(texts), max(texts))


def _range(cells: _Cells) -> str:
    """Return the smallest and the largest length of the values."""
    shortest, longest = min(map(len, cells.values)), max(map(len, cells.values))
    return f"{shortest:,} to {longest:,}" if shortest < longest else f"{longest:,}"


def _few(counts: Counter[Any], cells: _Cells) -> bool:
    return len(counts) <= max(min(_MAX_KINDS, len(cells) // 2), len(cells) // 10, 1)


def _counted(counts: Counter[Any], cells: _Cells, marks: Marks) -> _Facts:
    """Return how often the most frequent and the rarest values occur, and the rows of the rarest ones."""
    ranked = sorted(counts.items(), key=lambda item: -item[1])
    if len(ranked) == 1:
        return _Facts([f"= {_value(ranked[0][0], marks)}"], {})
    rare = {value: count for value, count in ranked if count <= max(1.0, _RARE_SHARE * len(cells))}
    return _Facts([_list(ranked, listed, marks) for listed in _LISTED], dict(_rare_rows(rare, cells)), is_counted=True)


def _list(ranked: Sequence[tuple[Any, int]], listed: int, marks: Marks) -> str:
    def words(items: Iterable[tuple[Any, int]]) -> str:
        return ", ".join(f"{_value(value, marks)} ({count:,})" for value, count in items)

    if len(ranked) <= 2 * listed + 1:
        return words(ranked)
    if ranked[0][1] < 2 * ranked[-1][1]:
        return f"{words(ranked[:listed])}, {len(ranked) - listed:,} others alike"
    others = len(ranked) - 2 * listed
    return f"{words(ranked[:listed])}, {others:,} others, rarest {words(reversed(ranked[-listed:]))}"


def _rare_rows(rare: Mapping[Any, int], cells: _Cells) -> Iterator[tuple[int, float]]:
    left = dict.fromkeys(rare, _MAX_RARE_ROWS)
    for number, value in cells:
        if left.get(value, 0) > 0:
            left[value] -= 1
            worth = 3.0 if type(value) is str and has_error(value) else 1.0
            yield number, worth / rare[value] ** 0.5


def _rows_with_errors(cells: _Cells) -> dict[int, float]:
    found = [number for number, value in cells if has_error(value[:2_000])]
    return dict.fromkeys(found[:_MAX_RARE_ROWS], 2.0) if len(found) * 5 <= len(cells) else {}


def _flags(cells: _Cells, marks: Marks) -> _Facts:
    return _counted(Counter(cells.values), cells, marks)


def _nulls(cells: _Cells, _marks: Marks) -> _Facts:
    return _Facts([f"null ({len(cells):,})"], {})


def _sized(word: str) -> Callable[[_Cells, Marks], _Facts]:
    def describe(cells: _Cells, _marks: Marks) -> _Facts:
        return _Facts([f"{word} of {_range(cells)}"], {})

    return describe


_DESCRIBE: Final[Mapping[str, Callable[[_Cells, Marks], _Facts]]] = {
    "number": _numbers,
    "text": _texts,
    "flag": _flags,
    "null": _nulls,
    "list": _sized("arrays"),
    "map": _sized("maps"),
}


def _minority(by_kind: Mapping[str, _Cells]) -> dict[int, float]:
    """Return the rows whose cell has a type that is rare in its column."""
    total = sum(map(len, by_kind.values()))
    rare = [group for group in by_kind.values() if len(group) <= max(1.0, _RARE_SHARE * total)]
    return {number: 1.0 for group in rare for number in group.numbers[:_MAX_RARE_ROWS]}


def _value(value: object, marks: Marks) -> str:
    """Return a value as the facts quote it, cut to a few characters."""
    if type(value) is not str:
        return write_styled_json(value, "0u")
    text = marks.size_blobs(value)
    short = text if len(text) <= _MAX_VALUE_CHARS else text[:_MAX_VALUE_CHARS]
    written = short if INLINE.allows(short) else quote(short)
    return written if short == text else written + marks.gap(f"{len(text) - len(short):,} characters")
