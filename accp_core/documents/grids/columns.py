"""A form: columns under the words of a header, as kubectl, docker, ps and df print them.

    NAME     READY   STATUS         Package    Version
    web-1    1/1     Running        ---------- -------
    web-2    0/1     Error          requests   2.32.3

A column is where the header has a word and every line has a blank before it, or where a rule of dashes says so. A cell
that is longer than its column moves what follows it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from accp_core.documents.grids.cells import Cells, Lines, Rows, Spell, cell_form, has_numbers, read_counts, write_counts

__all__ = ["COLUMNS"]

_MAX_HEADER: Final = 2_000
_MIN_COLUMNS: Final = 3
_FOOTER: Final = 2
"""Lines at the end of a paragraph that may say how many rows there are."""
_NAME: Final = r"[A-Z%#][A-Z0-9%#_()/.:+-]*+(?<![.:])"
# Words in capitals, several of them apart by more than a blank; df has others.
_HEADER: Final = re.compile(rf" *{_NAME}(?: +{_NAME})*+ *|Filesystem +.*Mounted on")
_WORDS: Final = re.compile(r" *(?:[A-Za-z_%#][^\s=,;]*+(?<![.,:;!?]) *)++")
"""A header that is not all in capitals; there must be a column of numbers below it."""
_APART: Final = re.compile(r"\S {2,}\S")
_GAPS: Final = re.compile(" {2,}")
_RULE: Final = re.compile(r" *-{2,}(?: +-+)+ *")
_WORD: Final = re.compile(r"\S+")
_HOW: Final = re.compile(r"([nt])([123]);([0-9,*]++);([lr]++);([0-9,*]*+)")
_BLANK: Final = frozenset(("", " "))


def _is_header(header: str, rule: str) -> bool:
    if len(header) > _MAX_HEADER:
        return False
    if rule[:2] in ("--", " -"):
        return _RULE.fullmatch(rule) is not None
    return _APART.search(header) is not None and (_HEADER.fullmatch(header) or _WORDS.fullmatch(header)) is not None


@dataclass(frozen=True, slots=True)
class _Columns:
    """The cells of a grid and the layout of its text."""

    header: list[str]
    rows: list[list[str]]
    spans: list[tuple[int, int]]
    """Where the word of each column, or its part of the rule, begins and ends."""
    sides: str
    """Whether the cells of a column begin where its word does (l), or end there (r)."""
    is_ruled: bool = False
    gaps: str = "1"
    """The least blanks between two cells that a text may have."""

    def layouts(self) -> Iterator[str]:
        """Yield where each column begins or ends, whether lines end with blanks, and the dashes of the rule."""
        spans = list(zip(self.spans, self.sides, strict=True))
        places = write_counts(start if side == "l" else end for (start, end), side in spans)
        dashes = write_counts(end - start for start, end in self.spans) if self.is_ruled else ""
        return (f"{trail}{gap};{places};{self.sides};{dashes}" for trail in "nt" for gap in self.gaps)


def _parse(lines: Lines, at: int) -> Cells | None:
    if not _is_header(lines[at], lines[at + 1]):
        return None
    header, rule = lines[at], lines[at + 1]
    is_ruled = _RULE.fullmatch(rule) is not None
    body: list[str] = []
    start = end = at + 1 + is_ruled
    while (line := lines[end]) and not line.isspace():
        if body and _begins_next(header, body[0], line, lines[end + 1]):
            while len(body) > 1 and not _APART.search(body[-1].strip()) and _APART.search(body[0].strip()):
                body.pop()  # the heading of the next grid
            break
        body.append(line)
        end += 1
    words = [word.span() for word in _WORD.finditer(rule if is_ruled else header)]
    if not is_ruled and body and header[0] == " " and body[0][0] != " ":
        words = [(0, 0), *words]
    for size in range(len(body), max(len(body) - _FOOTER, 1) - 1, -1):
        found = _columns(header, body[:size], words, is_ruled=is_ruled) or _overflowing(header, body[:size], words)
        if found is not None and (is_ruled or _HEADER.fullmatch(header) or has_numbers(found.rows)):
            return Cells(found.header, found.rows, start + size, found.layouts)
    return None


def _begins_next(header: str, first: str, line: str, below: str) -> bool:
    """Return whether a line below the row `first` names the columns of another grid."""
    if not below.strip() or not _is_header(line, below):
        return False
    if _RULE.fullmatch(below) or line == header:
        return True
    are_names = not _HEADER.fullmatch(first) and all(map(_HEADER.fullmatch, (header, line)))
    return are_names or (_count_numbers(line) == 0 and min(map(_count_numbers, (first, below))) > 1)


def _count_numbers(line: str) -> int:
    return sum(word.lstrip("-+$€£(")[:1].isdigit() for word in line.split())


def _overflowing(header: str, body: list[str], words: list[tuple[int, int]]) -> _Columns | None:
    """Return the columns of lines of which less than half have a cell that is longer than its column."""
    is_long = [any(line[start - 1 : start] not in _BLANK for start, _ in words[1:]) for line in body]
    regular = [line for line, each in zip(body, is_long, strict=True) if not each]
    is_few = len(body) / 2 < len(regular) < len(body)
    if not is_few or (found := _columns(header, regular, words, is_ruled=False)) is None:
        return None
    left, rows = iter(found.rows), []
    for line, each in zip(body, is_long, strict=True):
        apart = [cells for cells in (_GAPS.split(line.strip()), line.split()) if len(cells) == len(found.header)]
        if each and not apart:
            return None
        rows.append(apart[0] if each else next(left))
    return replace(found, rows=rows, gaps="123")


def _columns(header: str, body: list[str], words: list[tuple[int, int]], *, is_ruled: bool) -> _Columns | None:
    cuts, spans = [0], words[:1]
    for start, end in words[1:]:
        cut = _blank_between(spans[-1][1], start, [header, *body])
        is_one_name = not is_ruled and start == spans[-1][1] + 1 and not any(line[start:end].strip() for line in body)
        if cut is not None and not is_one_name:
            cuts.append(cut)
            spans.append((start, end))
        elif is_ruled or start > spans[-1][1] + 1:
            return None
        else:
            spans[-1] = spans[-1][0], end
    parts = [[line[start:end] for line in (header, *body)] for start, end in pairwise([*cuts, None])]
    sides = "".join(
        _side(column, start - cut, end - cut) for column, cut, (start, end) in zip(parts, cuts, spans, strict=True)
    )
    if len(sides) < len(spans) or len(spans) < (2 if is_ruled else _MIN_COLUMNS):
        return None
    cells = zip(*([part.strip(" ") for part in column] for column in parts), strict=True)
    top, *rows = map(list, cells)
    return _Columns(top, rows, spans, sides, is_ruled)


def _blank_between(start: int, end: int, lines: list[str]) -> int | None:
    """Return the last place between two words that is blank in all lines."""
    return next(
        (at for at in range(end - 1, start - 1, -1) if all(line[at : at + 1] in _BLANK for line in lines)), None
    )


def _side(column: list[str], start: int, end: int) -> str:
    """Return whether all cells begin at `start` (l) or end at `end` (r); "" where neither is so."""
    there = [part for part in column if part and not part.isspace()]
    if all(len(part) - len(part.lstrip(" ")) == start for part in there):
        return "l"
    return "r" if all(len(part.rstrip(" ")) == end for part in there) else ""


def _lines(header: list[str], rows: Rows, how: str, spell: Spell) -> Iterator[str]:
    found = _HOW.fullmatch(how)
    if found is None:
        raise ValueError(f"expected where columns stand, found {how!r}")
    trail, gap, places, sides, dashes = found.groups()
    ends, rule = read_counts(places), read_counts(dashes)
    if len(ends) != len(sides) or max(ends) > _MAX_HEADER or len(rule) not in (0, len(ends)):
        raise ValueError(f"expected a place for each column, found {how!r}")
    size = max(ends) if trail == "t" else 0
    ruled = [["-" * width for width in rule]] * bool(rule)
    for cells in (header, *ruled, *([spell(cell) for cell in row.values()] for row in rows)):
        yield _placed(cells, ends, sides, int(gap)).ljust(size)


def _placed(cells: Sequence[str], ends: Sequence[int], sides: str, gap: int) -> str:
    line, moved = "", 0
    for cell, at, side in zip(cells, ends, sides, strict=True):
        if cell:
            start = moved + (at if side == "l" else at - len(cell))
            over = max(len(line) + gap * bool(line) - start, 0)
            moved += over
            line += " " * (start + over - len(line)) + cell
    return line


# Words apart, or a line above a rule.
_START: Final = r" *+\S[^\n]*?  ++\S|[^\n]++\n *--"
COLUMNS: Final = cell_form("w", _START, _parse, _lines)
