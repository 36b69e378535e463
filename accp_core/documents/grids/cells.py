"""The cells of a grid of text: the types of its columns, their names, and the spelling of each value.

A column has a type where every cell agrees: numbers as JSON writes them, or booleans of one spelling. In doubt its
cells are text, so `007` and `1,234` stay what they are. An empty cell is null.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby, islice, zip_longest
from typing import Any, Final, TypeAlias

from accp_core.packing.expansion import Expansion
from accp_core.packing.values import read_float, read_int

__all__ = [
    "INDENT",
    "LOOKED_AT",
    "Cells",
    "LineForm",
    "Lines",
    "Rows",
    "Spell",
    "cell_form",
    "distinct_names",
    "grid_of",
    "has_numbers",
    "is_number",
    "read_counts",
    "rows_of",
    "spell",
    "spelled_header",
    "write_counts",
    "write_header",
]


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


# What all grids of text share: the end and the indentation of their lines, a header, the spelling of booleans.

_LINE_ENDS: Final = {"n": "\n", "r": "\r\n"}
"""The ends of lines by their letters in a layout."""
_INDENTS: Final = {"s": " ", "t": "\t", "q": ">"}
"""The signs in front of lines by their letters in a layout."""
INDENT: Final = "[ \\t>]{0,40}+"
"""The pattern of what may precede each line of a table with rules: it stands in a list or a quotation."""
_INDENT: Final = re.compile(f"{INDENT}(?=[|+┌╭┏╔╒])")
_LAYOUT: Final = re.compile(r"([nr])([stq]{0,40})\.")
_HEADER: Final = re.compile(r"([012])([0-9]{1,5});([0-9.,]*+);")

Spell: TypeAlias = Callable[..., str]
"""`spell` with the spelling of booleans."""


class Lines:
    """The lines of a text without their ends, and without the indentation of a table in a list or a quotation."""

    def __init__(self, raw: Sequence[str], at: int = 0) -> None:
        """Take lines, which may end with carriage returns; the one at `at` has the indentation."""
        self.raw = raw
        found = _INDENT.match(raw[at])
        self.indent = found[0] if found else ""

    def __getitem__(self, at: int) -> str:
        """Return a line; "" behind the last one, and for one of another indentation."""
        if at >= len(self.raw) or not self.raw[at].startswith(self.indent):
            return ""
        return self.raw[at][len(self.indent) :].removesuffix("\r")


def _no_layouts(text: str, value: object) -> Iterable[str]:
    return ()


def _refuse(value: object, how: str) -> Iterable[str]:
    raise ValueError(f"expected a form that has views, found the layout {how!r}")


@dataclass(eq=False, slots=True)
class LineForm:
    """A form of a grid, made of functions of a module; without layouts it has no views."""

    CODE: str
    start: str
    """The pattern of how a grid begins, as far as it tells at a glance that none does."""
    read_lines: Callable[[Lines, int], tuple[Rows, int] | None]
    """Returns a map for each row of the grid that begins with a line, and the number of the line behind it; or None."""
    layouts: Callable[[str, Any], Iterable[str]] = _no_layouts
    """Yields the layouts that the text of a value may have."""
    lines: Callable[[object, str], Iterable[str]] = _refuse
    """Yields the lines of a value in a layout; ValueError: they do not fit."""
    IS_SEVERAL: bool = False

    def describe(self, text: str, value: object) -> str | None:
        """Return line end, indentation and the first layout in which the value is the text; None: there is none."""
        raw = text.split("\n", 1)
        letters = {sign: letter for letter, sign in _INDENTS.items()}
        start = "nr"[raw[0].endswith("\r")] + "".join(letters[sign] for sign in Lines(raw).indent)
        for layout in self.layouts(text, value):
            if _is_written(self._parts(value, how := f"{start}.{layout}"), text):
                return how
        return None

    def write(self, value: object, how: str, expansion: Expansion) -> str:
        """Return the lines of a value; each is counted before it is kept."""
        kept: list[str] = []
        for part in self._parts(value, how):
            expansion.add(len(part), "this part")
            kept.append(part)
        return "".join(kept)

    def _parts(self, value: object, how: str) -> Iterator[str]:
        found = _LAYOUT.match(how)
        if found is None:
            raise ValueError(f"expected the ends of lines, found {how!r}")
        before = indent = "".join(_INDENTS[letter] for letter in found[2])
        for line in self.lines(value, how[found.end() :]):
            yield before + line
            before = _LINE_ENDS[found[1]] + indent


def _is_written(parts: Iterable[str], text: str) -> bool:
    """Return whether `parts` are `text`; it stops at the first difference, and where a part cannot be written."""
    at = 0
    try:
        for part in parts:
            if not text.startswith(part, at):
                return False
            at += len(part)
    except ValueError:
        return False
    return at == len(text)


@dataclass(frozen=True, slots=True)
class Cells:
    """The texts of the cells of a grid."""

    header: list[str]
    """The names of the columns; empty: there is no header."""
    rows: list[list[str]]
    end: int
    """The number of the line behind it."""
    layouts: Callable[[], Iterable[str]]
    """Yields the layouts that its text may have, apart from those of the header and of booleans."""
    null: str = ""
    """The text of a cell that is null."""


def cell_form(
    code: str,
    start: str,
    parse: Callable[[Lines, int], Cells | None],
    write: Callable[[list[str], Rows, str, Spell], Iterable[str]],
) -> LineForm:
    """Return the form of rows of cells below a header.

    Args:
        code: Its letter.
        start: See `LineForm`.
        parse: Returns the cells of the grid that begins with a line; None: none does.
        write: Yields the lines of a header and of rows in a layout; ValueError: they do not fit.
    """

    def read_lines(lines: Lines, at: int) -> tuple[Rows, int] | None:
        cells = parse(lines, at)
        if cells is None:
            return None
        return rows_of(distinct_names(cells.header, max(map(len, cells.rows))), cells.rows, cells.null), cells.end

    def layouts(text: str, value: object) -> Iterator[str]:
        cells = parse(Lines(text.split("\n")), 0)
        assert cells is not None  # it was read
        names, _ = grid_of(value)
        if len(cells.header) > len(names):  # no row has a cell of the last columns, whose names are in no value
            return iter(())
        header = f"{len(cells.header)};{spelled_header(cells.header, names)}"
        return (f"{truths}{header};{layout}" for layout in cells.layouts() for truths in range(3))

    def lines(value: object, how: str) -> Iterator[str]:
        found = _HEADER.match(how)
        if found is None:
            raise ValueError(f"expected the layout of a header, found {how!r}")
        names, rows = grid_of(value)
        header = write_header(names[: int(found[2])], found[3])
        yield from write(header, rows, how[found.end() :], partial(spell, truths=int(found[1])))

    return LineForm(code, start, read_lines, layouts, lines)
