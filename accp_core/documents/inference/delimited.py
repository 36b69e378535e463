"""Lines that have a mark equally often, whatever stands above, below and between them."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from accp_core.documents.inference.cells import (
    MAX_COLUMNS,
    RULE,
    SAMPLE,
    Cells,
    Reading,
    column_bits,
    header_rows,
    names_of,
)

__all__ = ["read_delimited"]

_MARKS: Final = {"\t": 1.2, "|": 1.2, ";": 0.9, ",": 0.7, ":": 0.5}
"""The marks, with the bits of one that all lines have as often."""
_QUOTED: Final = re.compile(r'"(?:[^"]|"")*"')
_OPEN: Final = re.compile(r'(?:^|[,;\t])\s?"(?:[^"]|"")*$')
_MAX_LINE: Final = 65_536
_MAX_CELL_LINES: Final = 30
_MAX_ODD: Final = 4
"""Lines of other counts that end a run."""

_Line = tuple[int, int, str]
"""The numbers of the first line and of the one behind, and the text; a quoted cell may have several lines."""


def read_delimited(lines: Sequence[str]) -> Iterator[Reading]:
    """Yield the readings of runs of lines that have a mark equally often."""
    for mark in _MARKS:
        if sum(mark in line for line in lines) < 2:
            continue
        rows = list(_logical(lines, mark))
        counts = [_count(line, mark) for _, _, line in rows]
        tally = Counter(count for count in counts if 0 < count < MAX_COLUMNS)
        for count, seen in sorted(tally.items(), key=lambda each: -each[1] * min(each[0], 8))[:3]:
            if seen >= 2 and (count >= 2 or mark not in ",:"):
                for run in _runs(rows, counts, mark, count):
                    if (found := _reading(rows, counts, run, mark, count)) is not None:
                        yield found


def _logical(lines: Sequence[str], mark: str) -> Iterator[_Line]:
    at = 0
    while at < len(lines):
        end, line = at + 1, lines[at]
        if mark in ",;\t" and '"' in line and line.count('"') % 2 and _OPEN.search(line):
            while end < min(at + _MAX_CELL_LINES, len(lines)) and line.count('"') % 2:
                line += "\n" + lines[end]
                end += 1
            if line.count('"') % 2:
                end, line = at + 1, lines[at]
        yield at, end, line
        at = end


def _count(line: str, mark: str) -> int:
    if len(line) > _MAX_LINE or (mark == "|" and RULE.fullmatch(line)):
        return 0
    return (_QUOTED.sub("", line) if '"' in line and mark != "|" else line).count(mark)


def _is_beside(line: str, mark: str) -> bool:
    """Return whether a line between rows is none: blank, a rule, a comment."""
    return not line.strip() or (mark == "|" and RULE.fullmatch(line) is not None) or line.startswith("#")


def _runs(rows: Sequence[_Line], counts: Sequence[int], mark: str, count: int) -> Iterator[list[int]]:
    run: list[int] = []
    odd = 0
    for number, (_, _, line) in enumerate(rows):
        if counts[number] == count:
            run.append(number)
            odd = 0
        elif not _is_beside(line, mark):
            odd += 1 + (counts[number] == 0)
            if odd > _MAX_ODD and run:
                yield run
                run = []
    if run:
        yield run


def _split(line: str, mark: str) -> list[str]:
    if mark == "|":
        line = line.strip()
        line = line[1:-1] if line.startswith("|") and line.endswith("|") and len(line) > 1 else line
        return [cell.strip() for cell in line.replace("\\|", "\x00").split("|")]
    if '"' in line:
        try:
            return [cell.strip() for cell in next(csv.reader([line], delimiter=mark, skipinitialspace=True), [])]
        except csv.Error:
            pass
    return [cell.strip() for cell in line.split(mark)]


def _reading(rows: Sequence[_Line], counts: Sequence[int], run: list[int], mark: str, count: int) -> Reading | None:
    cells, at, odd = _cells(rows, counts, run, mark, count)
    width = max(map(len, cells))
    if len(cells) < 2 or width < 2 or _is_code(cells, [rows[number][2] for number in at], mark):
        return None
    is_ruled = mark == "|" and at[0] + 1 < len(rows) and bool(RULE.fullmatch(rows[at[0] + 1][2]))
    top = 1 if is_ruled else header_rows(cells)
    header = [" ".join(filter(None, column)) for column in zip(*cells[:top], strict=False)]
    body = [(row, number) for row, number in zip(cells[top:], at[top:], strict=True) if not top or row != cells[0]]
    if not body:
        return None
    found: list[Cells] = [[*row, *[None] * (width - len(row))] for row, _ in body]
    structure = _MARKS[mark] * min(count, 6) * len(found)
    bits = structure + (30.0 + 4.0 * len(found)) * is_ruled - 4.0 * odd
    bits += sum(column_bits([row[number] for row in found]) for number in range(width))
    bits -= 3.0 * sum(len(cell.split()) > 12 for row in found[:SAMPLE] for cell in row if cell)
    spaced = sum(rows[number][2].count(mark + " ") > count / 2 for number in at) if mark in ",;:" else 0
    bits -= (structure + 2 * len(found)) * spaced / len(at) + 2.0 * len(found) * (mark in ",;" and not top)
    bits -= 10.0 * (mark == ":" and len(found) < 3)
    start, end = rows[at[0]][0], rows[at[-1]][1]
    how = f"columns between {'tabs' if mark == chr(9) else mark}"
    return Reading(
        how, start, end, names_of(header, width), found, [rows[number][0] for _, number in body], bits, bool(top)
    )


def _cells(
    rows: Sequence[_Line], counts: Sequence[int], run: list[int], mark: str, count: int
) -> tuple[list[list[str]], list[int], int]:
    """Return the cells of the lines of a run, their numbers, and how many lines between them are odd."""
    cells: list[list[str]] = []
    at: list[int] = []
    odd = 0
    for number in range(run[0], run[-1] + 1):
        line, is_short = rows[number][2], 0 < counts[number] < count and mark in "\t;|"
        if counts[number] == count or (is_short and count - counts[number] <= max(2, count // 3)):
            cells.append(_split(line, mark))
            at.append(number)
            odd += counts[number] != count
        elif line.strip() and not RULE.fullmatch(line):
            odd += 1
    typical = sorted(sum(map(bool, row)) for row in cells)[len(cells) // 2]
    while typical > 1 and len(cells) > 2 and sum(map(bool, cells[0])) <= max(1, len(cells[0]) // 8):
        del cells[0], at[0]
    while typical > 1 and len(cells) > 2 and sum(map(bool, cells[-1])) <= 1 < sum(map(bool, cells[-2])):
        del cells[-1], at[-1]
    return cells, at, odd


def _is_code(cells: Sequence[Sequence[str]], lines: Sequence[str], mark: str) -> bool:
    """Return whether rows are those of a literal, of calls, of addresses, or `words: text`."""
    firsts = [row[0] for row in cells]
    if mark == ",":
        ends = sum(line.rstrip().endswith((",", "],", ");")) for line in lines)
        return 2 * max(ends, sum(first[:1] in "[({" and first != "" for first in firsts)) > len(lines)
    if mark == ":":
        addresses = 4 * sum(cell[:2] == "//" for row in cells for cell in row)
        return addresses > len(cells) or 5 * sum(" " in first for first in firsts) > len(cells)
    return False
