"""What cells are, and how many bits it says that a column has cells that are alike.

A reading of lines as rows is believed by its bits: how improbable it is that lines that are no table agree so well.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

__all__ = [
    "MAX_COLUMNS",
    "RULE",
    "SAMPLE",
    "STRONG",
    "Cells",
    "Reading",
    "class_of",
    "column_bits",
    "header_rows",
    "names_of",
    "sums_up",
    "top_class",
]

SAMPLE: Final = 200
"""Rows that show what the cells of a column are."""
MAX_COLUMNS: Final = 400
RULE: Final = re.compile(r"[\s|+:=_~*─-]*[-=_─~]{2,}[\s|+:=_~*─-]*")
"""A line of dashes below a header or between rows."""
_CLASS: Final = re.compile(
    r"(?P<D>\d{4}[-/.]\d\d[-/.]\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?: ?Z| ?[+-]\d\d:?\d\d)?)?"
    r"|\d{1,2}[./-]\d{1,2}[./-]\d{2,4}|\[?\d{1,2}[/-][A-Z][a-z]{2}[/-]\d{4}\S*|\d{8}T\d{6}Z?)"
    r"|(?P<T>[+-]?\d{1,3}:\d\d(?::\d\d)?(?:[.,]\d+)?(?: ?[AaPp][Mm])?|\d+days|\d+:\d\d\.\d\d)"
    r"|(?P<I>(?:\d{1,3}\.){3}\d{1,3}(?:[:/]\S+)?|(?:[0-9a-fA-F]{2}[:-]){5}[0-9a-fA-F]{2}"
    r"|[0-9a-f]{0,4}(?:::?[0-9a-f]{1,4}){2,7}(?:/\d+)?)"
    r"|(?P<N>[-+(]?[$€£]?\d[\d,.']*(?:[eE][+-]?\d+)?(?:\)|%|[kKMGTPmgt]i?[Bb]?|[a-zµ]{1,3}|\*)?|[+-]?(?:Inf|NaN))"  # noqa: RUF001
    r"|(?P<H>0x[0-9a-fA-F]+|(?=[a-f-]*\d)[0-9a-f]{4,}(?:-[0-9a-f]{3,})*|[a-z-]{0,10}(?:[-r][-w][-xsStT]){3}[.+@]?)"
    r"|(?P<M>(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6},?)"
    r"|(?P<P>(?:[~.]{0,2}/|[A-Z]:\\)\S*)"
    r"|(?P<Z>[-–—*.?]{0,4}|[nN]/?[aA]|[nN]one|[nN]ull|NULL|<none>|\(null\))"  # noqa: RUF001
    r"|(?P<K>[A-Za-z_][\w.-]*[=:].+)|(?P<W>[A-Za-z_][\w.-]*)|(?P<X>\S+)|(?P<S>.+)",
    re.DOTALL,
)
_BITS: Final = {
    "D": 6.0,
    "T": 5.0,
    "I": 6.0,
    "N": 3.0,
    "H": 4.0,
    "M": 5.0,
    "P": 3.0,
    "K": 1.0,
    "W": 0.5,
    "X": 0.2,
    "S": 0.0,
}
"""Bits of a date, time, address, number, hex or mode, month or day, path, pair, word, sign, text."""
STRONG: Final = frozenset("DTINHMP")
"""Classes that names of columns and words of prose hardly have."""
_LONG: Final = 200
_ALIKE: Final = 0.8
"""The share of the cells of a column that have its class."""
_NAME: Final = re.compile(r"[^\W\d][\w .#%()/&+*-]{0,60}|[%#][\w.]*|#")

Cells = list[str | None]
"""The cells of a row; None: it has none there."""


@dataclass(slots=True)
class Reading:
    """Lines read as rows."""

    how: str
    """By what: "columns between |", "columns by alignment", "lines that begin alike", "blocks of keys and values"."""
    start: int
    """The number of its first line, its header among them, from 0."""
    end: int
    """The number of the line behind its last one."""
    columns: list[str]
    rows: list[Cells]
    lines: list[int]
    """The number of the (first) line of each row."""
    bits: float
    is_headed: bool = True
    """Whether the text names the columns."""


@lru_cache(maxsize=50_000)
def class_of(cell: str) -> str:
    """Return the letter of what a cell is, "Z" for a word for nothing."""
    found = _CLASS.fullmatch(cell.strip(" \"'[]()") if len(cell) < _LONG else "a b")
    return (found.lastgroup if found else None) or "S"


def column_bits(cells: Sequence[str | None]) -> float:
    """Return how improbable it is that cells of no column are so much alike."""
    there = [cell for cell in cells[:SAMPLE] if cell]
    classes = Counter(map(class_of, there))
    size = len(there) - classes.pop("Z", 0)
    if len(there) < 2 or not classes:
        return 0.0
    top, count = classes.most_common(1)[0]
    bits = count * _BITS[top] - 2.0 * (size - count) if count >= _ALIKE * size else 0.0
    values = len(set(there))
    if top in "WXKS" and len(there) >= 4 and values <= max(2, len(there) // 3) and max(map(len, there)) < 40:
        bits = max(bits, 1.5 * (len(there) - values))
    return bits * len(cells) / min(len(cells), SAMPLE)


def top_class(cells: Iterable[str | None]) -> str:
    """Return the class of at least four of five cells that are something, else ""."""
    classes = Counter(class_of(cell) for cell in cells if cell)
    classes.pop("Z", 0)
    top, count = classes.most_common(1)[0] if classes else ("", 0)
    return top if count >= _ALIKE * classes.total() else ""


def header_rows(rows: Sequence[Sequence[str | None]]) -> int:
    """Return how many rows at the top name the columns: 0, 1 or 2."""
    return next((count for count in (1, 2) if len(rows) > count and _is_header(rows, count)), 0)


def _is_header(rows: Sequence[Sequence[str | None]], count: int) -> bool:
    body, width = rows[count : count + SAMPLE], len(rows[0])
    contrast = conflict = plain = 0
    for number, column in enumerate(zip(*body, strict=False)):
        top = top_class(column)
        names = [name for row in rows[:count] if number < len(row) and (name := row[number])]
        if top in STRONG:
            is_name = bool(names) and all(class_of(name) not in (top, "N") for name in names)
            contrast += is_name
            conflict += bool(names) and not is_name
        elif names and names[-1] not in column and _NAME.fullmatch(names[-1]):
            plain += 1
    if contrast and not conflict and (contrast > 1 or contrast + plain >= 0.6 * width):
        return True
    return count == 1 and not conflict and plain == width == len(set(rows[0])) and len(body) > 1


def names_of(header: Sequence[str | None], width: int) -> list[str]:
    """Return names for columns; those without one are `c0`, `c1`, …"""
    names = [" ".join((name or "").split()).strip('"*:') for name in header[:width]]
    names += [""] * (width - len(names))
    taken: Counter[str] = Counter()
    for number, name in enumerate(names):
        names[number] = name = name or f"c{number}"
        taken[name] += 1
        if taken[name] > 1:
            names[number] = f"{name}_{taken[name]}"
    return names


def sums_up(rows: Sequence[Sequence[str | None]]) -> bool:
    """Return whether the last row is no row but a sum: most of its cells are empty, its words stand in no other row."""
    *above, last = rows or [()]
    filled = sorted(sum(map(bool, row)) for row in above)
    there = [(number, cell) for number, cell in enumerate(last) if cell]
    if len(above) < 3 or len(there) < 2 or 3 * len(there) > 2 * filled[len(above) // 2]:
        return False
    words = [(number, cell) for number, cell in there if class_of(cell) not in STRONG]
    is_new = not any(number < len(row) and row[number] == cell for row in above for number, cell in words)
    return is_new and bool(words) and len(words) < len(there)
