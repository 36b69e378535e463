"""A later version of a view whose rows have keys, such as a table that is polled, as the rows that changed.

    [as above: the last "[26] id …" without 1014, but for these by id:]
    [25] id customer, status total
    1007 Customer 7, paid 127.0

It is the text above that has the last line with this beginning, as it stood after what changed in it since then. A row
stands in place of the one with its key. A row with a new key comes behind the row before it here, or first. The rows of
another table than the first stand below its header. Lines outside of tables have their first words as keys.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Final, TypeAlias

from accp_core.markers import MarkerStart

__all__ = [
    "MAX_COMPARED",
    "MAX_VERSIONS",
    "Changes",
    "Pair",
    "Version",
    "changes_between",
    "fenced",
    "rising",
    "units_of",
]

MAX_VERSIONS: Final = 16
"""Texts that a later one is compared with: the last ones."""
MAX_COMPARED: Final = 200_000
"""Characters of a text that is compared."""
_FENCE: Final = '"""'
"""What a row of a view ends with whose last cell is a text of several lines, and the line that ends that text."""
_MAX_KEYS: Final = 6
"""Columns, the first ones, of which one may be the key."""
_MIN_SHARE: Final = 0.5
"""The share of a text, in characters, that a later version has in common with it, and it with the later one."""
_DIGITS: Final = str.maketrans("", "", "0123456789")
_HEADER: Final = re.compile(r"(.*?)(?:\[([0-9]{1,9})\] |\{([0-9]{1,9})\} (?=key: ))(.+)")
_CONSTANT: Final = re.compile(r"\([^()]*\)")
_CELL: Final = r'(?>"(?:[^"\\]|\\.)*"|'
"""A cell in quotes, or else what follows."""
_WORD: Final = re.compile(r"\s*([^\s,;|]*)")
_MARKER: Final = re.compile(
    rf'{re.escape(MarkerStart.REPEAT)}the last "(.*)…"(?: without (.*?))?(?:,? but for these)?(?: by (.*?))?:?\]'
)

Pair: TypeAlias = tuple[int, int]
_Key: TypeAlias = tuple[str, str | None, int]
"""The table, the key in it (None: its header), and which of the lines with both it is."""


@dataclass(frozen=True)
class Version:
    """A text that the reader has."""

    units: Sequence[str]
    """Its rows and lines."""
    name: str = ""
    """The reference that names it in a prompt."""
    spans: tuple[range, ...] = ()
    """The numbers of the lines in which it was read, and of those of its changes since."""
    spent: int = 0
    """The characters of the changes since it was read as a whole."""

    @cached_property
    def known(self) -> Counter[str]:
        """How often it has each row or line; in a source, whatever the numbers in it are: those of counters rise."""
        return Counter(unit.translate(_DIGITS) if self.name else unit for unit in self.units)

    @cached_property
    def chars(self) -> int:
        """The characters of its rows and lines."""
        return sum(map(len, self.units))

    def is_later(self, earlier: Version) -> bool:
        """Return whether half of this text is in `earlier`, and half of that in this one."""
        same = _chars_of(self.known & earlier.known)
        return all(same >= _MIN_SHARE * _chars_of(each.known) for each in (self, earlier))


def _chars_of(counted: Counter[str]) -> int:
    return sum(len(unit) * count for unit, count in counted.items())


@dataclass(frozen=True, slots=True)
class Changes:
    """What changed in a text that the reader has."""

    quote: str
    """The beginning of a line of that text."""
    key: str
    """The column whose cells tell the rows apart."""
    gone: tuple[str, ...] = ()
    """The keys of rows that are no longer there."""
    units: tuple[str, ...] = ()
    """The rows and lines that are new or changed, in order."""

    def write(self) -> str:
        """Return the changes as a reader is shown them."""
        without = f" without {', '.join(self.gone)}" * bool(self.gone)
        but = f"{',' * bool(without)} but for these" * bool(self.units)
        by = f" by {self.key}{':' * bool(self.units)}" if without or but else ""
        return "\n".join([f'{MarkerStart.REPEAT}the last "{self.quote}…"{without}{but}{by}]', *self.units])

    @classmethod
    def read(cls, text: str) -> Changes | None:
        """Return the changes that `write` wrote, None for another text."""
        first, *units = units_of(text)
        found = _MARKER.fullmatch(first)
        if not found:
            return None
        return cls(found[1], found[3] or "", tuple(found[2].split(", ")) if found[2] else (), tuple(units))

    def apply(self, earlier: Sequence[str]) -> list[str] | None:
        """Return the later version of a text, both as `units_of`; None: a key of what is gone names no single row."""
        lines = dict(_keyed(earlier, self.key))
        named = defaultdict(list)
        for key in lines:
            named[key[1]].append(key)
        if any(len(named[each]) != 1 for each in self.gone) or len({*self.gone}) < len(self.gone):
            return None
        for each in self.gone:
            del lines[named[each][0]]
        behind: dict[_Key | None, list[str]] = defaultdict(list)
        place: _Key | None = None
        for key, unit in _keyed(self.units, self.key, known=lines, table=_first_table(earlier)):
            if key in lines:
                place, lines[key] = key, unit
            else:
                behind[place].append(unit)
        return [*behind[None], *(each for key, unit in lines.items() for each in (unit, *behind.get(key, ())))]


def changes_between(earlier: Sequence[str], later: Sequence[str], quote: str) -> Changes | None:
    """Return the fewest changes from which `Changes.apply` makes `later`; None: no column tells the rows apart.

    Args:
        earlier: A text that the reader has, as `units_of`.
        later: The text that it has become.
        quote: What names the earlier text.
    """
    names = [name for name, _ in _cells_of(_first_table(later))[:_MAX_KEYS]]
    found = [each for name in names if (each := _changes_by(name, earlier, later, quote))]
    return min(found, key=lambda each: sum(map(len, (*each.gone, *each.units))), default=None)


def _changes_by(name: str, earlier: Sequence[str], later: Sequence[str], quote: str) -> Changes | None:
    old, new = dict(_keyed(earlier, name)), dict(_keyed(later, name))
    keys, headers = list(new), {key[0]: unit for key, unit in new.items() if key[1] is None}
    places = {key: number for number, key in enumerate(old)}
    kept = {keys[number] for _, number in rising([(places[key], at) for at, key in enumerate(keys) if key in old])}
    # A row that moved is one that is gone and one that is new.
    gone = [key for key in old if key not in kept]
    changed = [number for number, (key, unit) in enumerate(new.items()) if key not in kept or old[key] != unit]
    if any((key[0], key[1], 2) in table for key in (*gone, *(keys[at] for at in changed)) for table in (old, new)):
        return None
    shown: list[str] = []
    table, last = _first_table(earlier), -1
    for at in changed:
        label, cell, _ = keys[at]
        if label and cell is not None and label != table:
            shown.append(headers[label])
        if keys[at] not in kept and at and last != at - 1 and (not shown or shown[-1] != later[at - 1]):
            shown.append(later[at - 1])
        shown.append(later[at])
        table, last = label or table, at
    made = Changes.read(Changes(quote, name, tuple(key[1] or "" for key in gone), tuple(shown)).write())
    return made if made and made.apply(earlier) == [*later] else None


def units_of(text: str) -> list[str]:
    """Return the lines of a text; a row of a view whose last cell is a text of several lines is one."""
    lines = text.split("\n")
    starts = (number for number, inside in enumerate(fenced(lines)[:-1]) if not inside or not number)
    places = [*starts, len(lines)]
    return ["\n".join(lines[start:end]) for start, end in pairwise(places)]


def fenced(lines: Sequence[str]) -> list[bool]:
    """Return for each line of a view, and for its end, whether it stands inside a text of several lines."""
    inside = [False]
    for line in lines:
        inside.append(line != _FENCE if inside[-1] else line.endswith(_FENCE))
    return inside


def _keyed(
    units: Sequence[str], name: str, *, known: Container[_Key] | None = None, table: str = ""
) -> Iterator[tuple[_Key, str]]:
    """Yield each unit with its key, the cell in the column `name` or in the first one.

    Args:
        units: Those of a text, or those that changed.
        name: The column.
        known: Where they are those that changed, the keys of the text: a line outside of tables has one of these.
        table: The table whose rows come first.
    """
    rows, seen = 0, Counter[tuple[str, str | None]]()
    for unit in units:
        word = _first(_WORD, unit)
        header = None if rows > 0 else _HEADER.match(unit)
        is_row = rows > 0 if known is None else bool(table) and ("", word, 1) not in known
        place: tuple[str, str | None] = ("", word)
        if header:
            table = _table_of(header)
            rows, place = int(header[2] or header[3]) if known is None else 0, (table, None)
        elif is_row:
            rows, place = rows - 1, (table, _first(_cell_in(table, name), unit))
        seen[place] += 1
        yield (*place, seen[place]), unit


def _first(pattern: re.Pattern[str], unit: str) -> str:
    found = pattern.match(unit)
    return found[1] if found else ""


def _first_table(units: Sequence[str]) -> str:
    """Return the first table of a text, "" where it has none."""
    return next((_table_of(header) for header in map(_HEADER.match, units) if header), "")


def _table_of(header: re.Match[str]) -> str:
    """Return what tells a table from others: its header without the number of its rows."""
    return f"{header[1]}\n{header[4]}"


def _cells_of(table: str) -> list[tuple[str, str]]:
    """Return the name of each cell of a row and the sign behind it, as far as there are no cells in brackets."""
    words = _CONSTANT.sub(" ", table.partition("\n")[2]).split()
    return [(word.split("{")[-1].rstrip(",:}"), "," if word.rstrip("}").endswith(",") else " ") for word in words]


@lru_cache(maxsize=64)
def _cell_in(table: str, name: str) -> re.Pattern[str]:
    """Return the pattern of the cell in the column `name`, or the first one, of a row."""
    cells = _cells_of(table)
    at = next((number for number, cell in enumerate(cells) if cell[0] == name), 0)
    pattern = "".join(f"{_CELL}[^{sign}]*){sign} ?" for _, sign in cells[:at])
    # The last cell may have blanks in it.
    sign = cells[at][1] if at < len(cells) - 1 else ""
    return re.compile(rf"{pattern}({_CELL}[^{sign}\n]*))")


def rising(pairs: Sequence[Pair]) -> list[Pair]:
    """Return the most of `pairs`, whose second numbers rise, whose first numbers rise, too."""
    ends: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for number, (old, _) in enumerate(pairs):
        at = bisect_left(ends, old)
        before.append(last[at - 1] if at else -1)
        ends[at : at + 1], last[at : at + 1] = [old], [number]
    found: list[Pair] = []
    number = last[-1] if last else -1
    while number >= 0:
        found.append(pairs[number])
        number = before[number]
    return found[::-1]
