"""Tables in any text, by a few rules and by no list of formats.

A reading explains a run of lines as rows, and has a score in bits: how improbable it is that lines that are no table
agree so well (`cells`). Readings compete for the lines; those chosen must explain most of the text.

    delimited   lines with equally many marks (tab | ; , :), rules and titles between them
    aligned     columns that blanks keep apart, under the words of a header or without one
    template    lines whose first words are of the same kinds, and lines of pairs
    blocks      records of `key: value` lines that begin alike, with the tables within them
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, groupby, takewhile
from typing import Final

from accp_core.documents.grids.cells import Rows
from accp_core.documents.inference.columns import (
    ALIGNED,
    DELIMITED,
    RULE,
    Cells,
    Reading,
    is_head,
    read_aligned,
    read_delimited,
    read_unheaded,
    sums_up,
)
from accp_core.documents.inference.records import (
    ANCHORED,
    BLOCKS,
    PAIRS,
    SETTINGS,
    TEMPLATE,
    fill_blocks,
    key_value,
    read_anchored,
    read_blocks,
    read_settings,
    read_template,
    segments_of,
)

__all__ = ["Inference", "InferredTable", "heading_above", "infer_tables", "join_sections"]

_ALL_RULES: Final = frozenset({ALIGNED, ANCHORED, BLOCKS, PAIRS, SETTINGS, TEMPLATE, *DELIMITED.values()})
_MIN_BITS: Final = 18.0
_MIN_ROW_BITS: Final = 2.5
"""What a reading must have in all, and for each row."""
_MIN_SHARE: Final = 0.6
"""The share of the lines that the readings of a text explain at least."""
_MAX_CODE: Final = 0.3
"""The share of the lines of a reading that may look like code."""
_TRIED: Final = 16
"""Lines on which a header is tried before all are read below it."""
_SECTION: Final = "section"
"""The column of headings."""
_MAX_CHARS: Final = 4_000_000
_MAX_LINE: Final = 10_000
"""Characters of a line that may be a row or a header."""
_SAMPLED: Final = 1_500
"""Lines of a text from which on samples say whether it is read, and by which rules."""
_SAMPLES: Final = 5
_MIN_SAMPLES: Final = 2
"""Samples, and those of them that rules must explain."""
_CODE: Final = re.compile(
    r"\s*(?:(?:def|class|import|from|return|if|elif|else|for|while|try|with|raise|static|void|public|function|var|let"
    r"|const|#include|assert|print)\b|self\.|@\w+|[)\]}]|[\w.]+ [-+*/|&]= .|[\w.]+\()"
)
_CODE_ENDS: Final = ("{", "}", ";", ",", "(", "[", "\\")
_COLOURS: Final = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07|\r(?=\n|\Z)")
_BOX: Final = (
    {ord(sign): "|" for sign in "│┃║┆┇"}
    | {ord(sign): "-" for sign in "─━═"}
    | {code: "+" for code in range(0x250C, 0x2580) if chr(code) not in "│┃║┆┇─━═"}
)


@dataclass(frozen=True, slots=True)
class InferredTable:
    """A table that rules found in the lines of a text."""

    how: str
    """How it was read, such as "columns by alignment"."""
    columns: tuple[str, ...]
    """The distinct names of its columns."""
    rows: tuple[Cells, ...]
    """The texts of the cells; None: the row has none there."""
    lines: tuple[int, ...]
    """The number of the first line of each row, from 1."""
    heading: str
    """The line above it that says what it is; empty: there is none, or a column has those of its sections."""
    is_named: bool
    """Whether the text names all columns; else its lines are read as text, too."""


@dataclass(frozen=True, slots=True)
class Inference:
    """What rules found in a text."""

    tables: tuple[InferredTable, ...] = ()
    """Its tables in their order."""
    outside: tuple[int, ...] = ()
    """The numbers from 1 of its lines that are in no row and no header: titles, sums, the feet of pages."""

    @property
    def how(self) -> str:
        """How the tables were read: "columns by alignment"."""
        return ", ".join(dict.fromkeys(table.how for table in self.tables))


def infer_tables(text: str) -> Inference:
    """Return the tables of a text; none where they would explain too few of its lines."""
    if "\n" not in text or len(text) > _MAX_CHARS:
        return Inference()
    source = _lines_of(text)
    lines = [line if len(line) <= _MAX_LINE else "" for line in source]
    rules = _ALL_RULES
    if len(lines) > _SAMPLED:
        tried = [_explained(part) for part in _samples(lines)]
        rules = frozenset(each.how for found in tried for each in found)
        if sum(map(bool, tried)) < _MIN_SAMPLES:
            return Inference()
    found = _explained(lines, rules)
    if not found:
        return Inference()
    covered = _covered(lines, found)
    rest = tuple(number + 1 for number, line in enumerate(source) if line.strip() and number not in covered)
    tables = (
        InferredTable(
            each.how,
            tuple(each.columns),
            tuple(each.rows),
            tuple(number + 1 for number in each.lines),
            heading,
            is_named=each.is_headed and "text" not in each.columns,
        )
        for each, heading in _merge(lines, found)
    )
    return Inference(tuple(tables), rest)


def _samples(lines: Sequence[str]) -> Iterator[Sequence[str]]:
    size = _SAMPLED // _SAMPLES // 2
    for number in range(_SAMPLES):
        start = (len(lines) - size) * number // (_SAMPLES - 1)
        yield lines[start : start + size]


def _lines_of(text: str) -> list[str]:
    """Return the lines of a text without colours, boxes as rules and bars."""
    if "\x1b" in text or "\r" in text:
        text = _COLOURS.sub("", text)
    lines = text.replace("\x0c", " ").split("\n")
    if any(sign in text for sign in "│┃║"):
        lines = [line.translate(_BOX) for line in lines]
    return lines


def _explained(lines: Sequence[str], rules: frozenset[str] = _ALL_RULES) -> list[Reading]:
    """Return the readings that have most bits together, none where they explain too few of the lines."""
    chosen = [_without_total(each) for each in _read(lines, rules)]
    covered = _covered(lines, chosen)
    filled = sum(1 for line in lines if line.strip())
    return chosen if len(covered) >= _MIN_SHARE * filled and chosen else []


def _without_total(reading: Reading) -> Reading:
    """Return a reading without a last row that sums the others up."""
    if reading.how.startswith("blocks") or not sums_up(reading.rows):
        return reading
    return replace(reading, rows=reading.rows[:-1], lines=reading.lines[:-1])


def _covered(lines: Sequence[str], readings: Iterable[Reading]) -> set[int]:
    """Return the numbers of the lines that rows, headers and rules take."""
    covered: set[int] = set()
    for each in readings:
        if each.how.startswith("blocks"):
            covered.update(number for number in range(each.start, each.end) if lines[number].strip())
            continue
        covered.update(each.lines)
        first = each.lines[0]
        if each.is_headed:
            covered.update(number for number in range(each.start, first) if lines[number].strip())
            head = lines[each.start].strip()
            covered.update(n for n in range(first, each.end) if lines[n].strip() == head)
        covered.update(n for n in range(each.start, min(each.end + 1, len(lines))) if RULE.fullmatch(lines[n]))
    return covered


def _read(source: Sequence[str], rules: frozenset[str]) -> list[Reading]:
    lines = [line.expandtabs(8) if "\t" in line else line for line in source]
    paragraphs = list(_paragraphs(lines))
    if not paragraphs:
        return []
    first, last = paragraphs[0][0], paragraphs[-1][1]
    found: list[Reading | None] = list(read_delimited(source, rules))
    again = _headers_again(lines) if ALIGNED in rules else {}
    for start, end in paragraphs:
        found += _of_paragraph(lines, start, end, again, rules)
    outer: list[Reading | None] = []
    if BLOCKS in rules:
        outer = [read_blocks(lines, first, last)]
        outer += [
            read_blocks(lines, start, end)
            for start, end in paragraphs
            if len(paragraphs) > 1 and _has_keys(lines[start : min(start + 24, end)])
        ]
    if len(paragraphs) > 1:
        found += _of_lines(lines, first, last, rules)
    codes = [0, *accumulate(map(_is_code, lines))]
    flat = [each for each in found if each is not None and _is_enough(each) and not _is_of_code(each, codes)]
    blocks = [each for each in outer if each is not None and not _is_of_code(each, codes)]
    wrapped = {id(full): (full, inner) for each in blocks for full, inner in _with_inner(lines, each, flat)}
    chosen = _choose([each for each in (*flat, *(full for full, _ in wrapped.values())) if _is_enough(each)])
    return [part for each in chosen for part in (each, *wrapped.get(id(each), (each, []))[1])]


def _paragraphs(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    at = 0
    for is_blank, group in groupby(lines, key=lambda line: not line.strip()):
        size = sum(1 for _ in group)
        if not is_blank:
            yield at, at + size
        at += size


def _headers_again(lines: Sequence[str]) -> dict[str, list[str]]:
    """Return the headers that stand several times in a text, each with lines from under all of them."""
    places: dict[str, list[int]] = {}
    for number, line in enumerate(lines):
        if "  " in line.strip():
            places.setdefault(line, []).append(number)
    return {
        line: [
            row
            for at in numbers[:_TRIED]
            for row in takewhile(lambda row: row.strip(), lines[at + 1 : at + 1 + _TRIED])
        ]
        for line, numbers in places.items()
        if len(numbers) > 1
        and is_head(line)
        and line[:1] not in "-*#"
        and not ((":" in line or "=" in line) and key_value(line))
        and not _is_code(line)
    }


def _of_lines(lines: Sequence[str], start: int, end: int, rules: frozenset[str]) -> Iterator[Reading | None]:
    if not rules.isdisjoint((TEMPLATE, PAIRS)):
        yield read_template(lines, start, end)
    if ANCHORED in rules:
        yield read_anchored(lines, start, end)
    if SETTINGS in rules:
        yield read_settings(lines, start, end)


def _has_keys(lines: Sequence[str]) -> bool:
    return len(lines) > 7 and sum(key_value(line) is not None for line in lines) > 5


def _of_paragraph(
    lines: Sequence[str], start: int, end: int, again: Mapping[str, Sequence[str]], rules: frozenset[str]
) -> Iterator[Reading | None]:
    at, left = start, 4 * _SAMPLED + end - start
    while ALIGNED in rules and at < end - 1 and left > 0:
        # A header is tried on a few lines first, so that a long paragraph is not read once for each of its lines.
        found = read_aligned(lines, at, min(end, at + _TRIED), again)
        left -= _TRIED * is_head(lines[at])
        if found is not None and at + _TRIED < end:
            left -= end - at
            found = read_aligned(lines, at, end, again)
        if found is not None and _is_enough(found):
            yield found
            left += 2 * (found.end - at)
            at = found.end
        else:
            at += 1
    if end - start >= 3:
        yield from _of_lines(lines, start, end, rules)
        tried = (read_template(lines, first, end) for first in range(start + 1, min(start + 3, end - 2)))
        yield next((found for found in tried if found is not None and _is_enough(found)), None)
        if ALIGNED in rules:
            yield read_unheaded(lines, start, end)


def _is_code(line: str) -> bool:
    return line.endswith(_CODE_ENDS) or _CODE.match(line) is not None


def _is_of_code(reading: Reading, codes: Sequence[int]) -> bool:
    return codes[reading.end] - codes[reading.start] > _MAX_CODE * (reading.end - reading.start)


def _is_enough(reading: Reading) -> bool:
    return len(reading.columns) > 1 and reading.bits >= max(_MIN_BITS, _MIN_ROW_BITS * len(reading.rows))


def _with_inner(
    lines: Sequence[str], outer: Reading, flat: Sequence[Reading]
) -> Iterator[tuple[Reading, list[Reading]]]:
    """Yield a reading as blocks with the tables within its records, which count for it."""
    starts = outer.lines
    fields = {name.rpartition(".")[2] for name in outer.columns}
    stops = [*starts[1:], outer.end]
    within = []
    for each in flat:
        place = bisect_right(starts, each.start) - 1
        if place >= 0 and each.start > starts[place] and each.end <= stops[place]:
            part = each.lines[:50]
            taken = sum(
                any(key in fields for key in (segments_of(lines[n]) or [(key_value(lines[n]) or (0, ""))[1]]))
                for n in part
            )
            if taken <= 0.2 * len(part):
                within.append(each)
    inner = _choose(within)
    skip = frozenset(number for each in inner for number in range(each.start, each.end))
    full = fill_blocks(lines, starts, outer.end, skip)
    if full is not None:
        full.bits = min(full.bits, outer.bits) + 0.9 * sum(each.bits for each in inner)
        yield full, [_of_record(each, full, starts) for each in inner]


def _of_record(inner: Reading, full: Reading, starts: Sequence[int]) -> Reading:
    """Return a table within a record with a column that says of which one."""
    row = full.rows[bisect_right(starts, inner.start) - 1]
    label = next((cell for cell in row if cell), None)
    return replace(inner, columns=[*inner.columns, "of"], rows=[[*cells, label] for cells in inner.rows])


def _choose(readings: Iterable[Reading]) -> list[Reading]:
    """Return the readings that share no line and have most bits together."""
    ordered = sorted(readings, key=lambda each: each.end)
    ends = [each.end for each in ordered]
    total, takes = [0.0], []
    for number, each in enumerate(ordered):
        before = bisect_left(ends, each.start + 1, 0, number)
        bits = total[before] + each.bits
        takes.append(before if bits > total[number] else -1)
        total.append(max(bits, total[number]))
    chosen, at = [], len(ordered)
    while at:
        before = takes[at - 1]
        if before >= 0:
            chosen.append(ordered[at - 1])
        at = before if before >= 0 else at - 1
    return chosen[::-1]


def _merge(lines: Sequence[str], readings: Sequence[Reading]) -> list[tuple[Reading, str]]:
    """Join tables of the same columns: the pages of one, or sections, whose headings become a column."""
    groups: dict[tuple[object, ...], list[tuple[Reading, str]]] = {}
    end = 0
    for each in readings:
        key = (each.how, *each.columns) if each.is_headed else (each.how, len(each.columns))
        groups.setdefault(key, []).append((each, heading_above(lines, each.start, end)))
        end = each.end
    return [_joined(group) for group in groups.values()]


def heading_above(lines: Sequence[str], start: int, end: int) -> str:
    """Return the first line of the paragraph right above a table, behind the line `end`; empty: there is none."""
    at = start - 1
    while at >= max(end, start - 3) and not lines[at].strip():
        at -= 1
    while at > max(end, start - 3) and lines[at - 1].strip():
        at -= 1
    heading = lines[at].strip() if at >= end else ""
    return heading if len(heading) < 200 and not RULE.fullmatch(heading) else ""


def _joined(group: Sequence[tuple[Reading, str]]) -> tuple[Reading, str]:
    first, above = group[0]
    if len(group) == 1:
        return first, above
    is_named = len({heading for _, heading in group}) > 1
    columns = [*first.columns, _SECTION] if is_named else first.columns
    rows = [[*row, heading or None] if is_named else row for each, heading in group for row in each.rows]
    lines = [number for each, _ in group for number in each.lines]
    return replace(first, columns=columns, rows=rows, lines=lines), "" if is_named else above


def join_sections(tables: Iterable[tuple[str, Rows]]) -> list[Rows]:
    """Return tables, those that are the sections of one as one table with their headings as a column.

    Tables one below the other are so if they have the same columns, or if both have headings and share the first column
    and another one.
    """
    groups: list[list[tuple[str, Rows]]] = []
    for heading, rows in tables:
        above, last = groups[-1][-1] if groups else ("", [])
        before, names = _names_in(last), _names_in(rows)
        is_alike = bool(heading and above) and before[:1] == names[:1] and len({*before} & {*names}) > 1
        if groups and (before == names or is_alike):
            groups[-1].append((heading, rows))
        else:
            groups.append([(heading, rows)])
    return [_with_sections(group) for group in groups]


def _names_in(rows: Rows) -> list[str]:
    """Return the names of the columns of a grid, of which a row may have fewer."""
    return max(map(list, rows), key=len, default=[])


def _with_sections(group: Sequence[tuple[str, Rows]]) -> Rows:
    if len({heading for heading, _ in group}) == 1:
        return [row for _, rows in group for row in rows]
    return [row | {_SECTION: heading or None} for heading, rows in group for row in rows]
