"""What all grids of text share: the end and the indentation of their lines, a header, the spelling of booleans.

A form reads the rows that begin with a line, names the layouts that its text may have, and writes the lines of a value
in one of them. The first layout that writes the same text is the layout of the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeAlias

from accp_core.documents.grids.cells import Rows, distinct_names, grid_of, rows_of, spell, spelled_header, write_header
from accp_core.packing.expansion import Expansion

__all__ = ["INDENT", "Cells", "LineForm", "Lines", "Spell", "cell_form"]

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
