"""A form: columns under the words of a header, as kubectl, docker, ps and df print them.

    NAME     READY   STATUS         Package    Version
    web-1    1/1     Running        ---------- -------
    web-2    0/1     Error          requests   2.32.3

A column is where the header has a word and every line has a blank before it, or where a rule of dashes says so.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any, Final

from accp_core.documents.grids import cells as grid
from accp_core.documents.writing import Pen, as_is

__all__ = ["COLUMNS"]

_MAX_HEADER: Final = 2_000
_MIN_COLUMNS: Final = 3
_NAME: Final = r"[A-Z%#][A-Z0-9%#_()/.:+-]*+(?<![.:])"
# Words in capitals, several of them apart by more than a blank; df has others.
_HEADER: Final = re.compile(rf" *{_NAME}(?: +{_NAME}| / {_NAME})*+ *|Filesystem +.*Mounted on")
_WORDS: Final = re.compile(r" *(?:[A-Za-z_%#][^\s=,;]*+(?<![.,:;!?]) *)++")
"""A header that is not all in capitals; there must be a column of numbers below it."""
_APART: Final = re.compile(r"\S {2,}\S")
_RULE: Final = re.compile(r" *-{2,}(?: +-+)+ *")
_WORD: Final = re.compile(r"\S+(?: / \S+)*")
_NUMBER: Final = re.compile(r"(?:^|\s)[-+$€£(]*\d")
_BLANK: Final = frozenset(("", " "))


def _is_header(header: str, rule: str) -> bool:
    if len(header) > _MAX_HEADER:
        return False
    if rule[:2] in ("--", " -"):
        return _RULE.fullmatch(rule) is not None
    return _APART.search(header) is not None and (_HEADER.fullmatch(header) or _WORDS.fullmatch(header)) is not None


def _parse(lines: grid.Lines, at: int) -> grid.Grid | None:
    if not _is_header(lines[at], lines[at + 1]):
        return None
    header, rule = lines[at], lines[at + 1]
    is_ruled = _RULE.fullmatch(rule) is not None
    body: list[str] = []
    start = end = at + 1 + is_ruled
    while (line := lines[end]) and not line.isspace() and not (body and _RULE.fullmatch(line)):
        if body and _begins_next(header, body[0], line, lines[end + 1]):
            while len(body) > 1 and not _APART.search(body[-1].strip()) and _APART.search(body[0].strip()):
                body.pop()  # the heading of the next grid
            break
        body.append(line)
        end += 1
    words = [word.span() for word in _WORD.finditer(rule if is_ruled else header)]
    if not is_ruled and body and header[0] == " " and body[0][0] != " ":
        words = [(0, 0), *words]
    for size in range(len(body), max(len(body) - 2, (len(body) + 1) // 2, 1) - 1, -1):
        # The last two lines may say how many rows there are; such a footer has a cell that is longer than its column.
        if any(all(line[at - 1 : at] in _BLANK for at, _ in words[1:]) for line in body[size:]):
            break
        names, *rows = _columns(header, body[:size], words, is_ruled=is_ruled) or [[]]
        if names and not grid.is_row(names, rows) and (is_ruled or _HEADER.fullmatch(header) or grid.has_numbers(rows)):
            how = rule.strip().replace(" ", "s") if is_ruled else ""
            return grid.cells_grid(names, rows, start + size, how)
    return None


def _begins_next(header: str, first: str, line: str, below: str) -> bool:
    """Return whether a line below the row `first` names the columns of another grid."""
    if line == header or not below.strip() or not _is_header(line, below):
        return line == header
    is_ruled = _RULE.fullmatch(below) is not None and not _NUMBER.search(line)
    return is_ruled or (_HEADER.fullmatch(line) is not None and not _HEADER.fullmatch(first))


def _columns(header: str, body: list[str], words: list[tuple[int, int]], *, is_ruled: bool) -> list[list[str]] | None:
    """Return the cells of the header and of each line; None: they are not aligned, or too few."""
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
    places = zip(parts, cuts, spans, strict=True)
    are_aligned = all(_is_aligned(column, start - cut, end - cut) for column, cut, (start, end) in places)
    if not are_aligned or len(spans) < (2 if is_ruled else _MIN_COLUMNS) or any(map(_is_two, parts)):
        return None
    return list(map(list, zip(*([part.strip(" ") for part in column] for column in parts), strict=True)))


def _is_two(column: list[str]) -> bool:
    """Return whether a column has a word for each word of its name in all cells, apart by more than a blank in one."""
    return len({len(cell.split()) for cell in column}) == 1 < len(column[0].split()) and any(map(_APART.search, column))


def _blank_between(start: int, end: int, lines: list[str]) -> int | None:
    """Return the last place between two words that is blank in all lines."""
    return next(
        (at for at in range(end - 1, start - 1, -1) if all(line[at : at + 1] in _BLANK for line in lines)), None
    )


def _is_aligned(column: list[str], start: int, end: int) -> bool:
    """Return whether all cells begin at `start`, or all end at `end`."""
    there = [part for part in column if part and not part.isspace()]
    begin_there = all(len(part) - len(part.lstrip(" ")) == start for part in there)
    return begin_there or all(len(part.rstrip(" ")) == end for part in there)


_STYLES: Final[grid.Styles] = {"": str}


def _write(pen: Pen, value: Any, how: str) -> None:
    """Write a header, the rule of dashes that `how` names, and cells at the places of their columns."""
    names, places = grid.names_of(value), []
    for number in range(len(names)):
        pen.token(grid.spell_name(names, number, _STYLES), ("head",))
        places.append((pen.start, pen.column))
    grid.end_line(pen, is_last=False, width=pen.column)
    if how:
        rule = how.replace("s", " ")
        pen.token(as_is(rule), ("rule",))
        places = [(pen.start + word.start(), pen.start + word.end()) for word in _WORD.finditer(rule)]
        grid.end_line(pen, is_last=False, width=pen.column)
    if len(places) != len(names):
        raise ValueError(f"expected a rule of {len(names)} columns, found {how!r}")
    width = places[-1][1]
    for line, row in enumerate(value, 1):
        for column, cell in enumerate(row.values()):
            if cell not in (None, ""):
                pen.token(grid.spell_cell(cell, column, _STYLES), (column, "cell"), base=places[column], default="l+0s")
        grid.end_line(pen, is_last=line == len(value), width=width)


# Words apart, or a line above a rule.
_START: Final = r" *+\S[^\n]*?  ++\S|[^\n]++\n *--"
COLUMNS: Final = grid.LineForm("w", _START, _parse, _write)
