"""Tables in any text, by a few rules and by no list of formats.

A reading explains a run of lines as rows, and has a score in bits: how improbable it is that lines that are no table
agree so well (`columns`). Readings compete for the lines; those chosen must explain most of the text.

    delimited   lines with equally many marks (tab | ; :), rules and titles between them
    aligned     columns that blanks keep apart, under the words of a header
    template    lines whose first words are of the same kinds, and lines of pairs
    blocks      records of `key: value` lines that begin alike
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain, pairwise
from typing import Any, Final

from accp_core.documents.grids.cells import STRONG, text_width
from accp_core.documents.inference.columns import RULE, Reading, is_head, read_aligned, read_marked, sums_in, top_class
from accp_core.documents.inference.records import SECTION, fill_blocks, read_blocks, read_template

__all__ = ["Inference", "Section", "heading_above", "infer_tables", "join_sections"]

_MIN_BITS: Final = 18.0
_MIN_ROW_BITS: Final = 2.5
"""What a reading must have in all, and for each row."""
_MIN_SHARE: Final = 0.6
"""The share of the lines that the readings of a text explain at least."""
_MAX_CODE: Final = 0.3
"""The share of the lines of a reading that may look like code."""
_TRIED: Final = 16
"""Lines on which a header is tried before all are read below it."""
_USUAL: Final = 10
"""Words of a header that are tried at the cost of their lines."""
_MAX_CHARS: Final = 4_000_000
_MAX_LINE: Final = 10_000
"""Characters of a line that may be a row or a header."""
_SAMPLED: Final = 1_500
"""Lines of a text from which on samples say whether it is read."""
_SAMPLES: Final = 5
_MIN_SAMPLES: Final = 2
"""Samples, and those of them that rules must explain."""
_CODE: Final = re.compile(
    r"\s*(?:(?:def|class|import|from|return|if|elif|else|for|while|try|with|raise|static|void|public|function|var|let"
    r"|const|#include|assert|print)\b|self\.|@\w+|[)\]}]|[\w.]+ [-+*/|&]= .|[\w.]+\()"
)
_CODE_ENDS: Final = ("{", "}", ";", ",", "(", "[", "\\")
_WIDE: Final = "\ufdd0"
"""Stands for the second place of a sign that takes two."""
_COLOURS: Final = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07|\r(?=\n|\Z)")


@dataclass(frozen=True, slots=True)
class Section:
    """A table in a text, or one of its parts."""

    heading: str
    """The line above it that says what it is; empty: there is none, or a column has those of its sections."""
    rows: list[dict[str, Any]]
    """The cells by column; None: a row has none there."""
    is_named: bool = True
    """Whether the text names all columns; else its lines are read as text, too."""
    how: str = ""
    """How it was read, such as "columns by alignment"; empty: the text has a grammar."""

    @property
    def columns(self) -> list[str]:
        """The names of its columns, of which a row may have fewer."""
        return list(dict.fromkeys(chain.from_iterable(self.rows)))


@dataclass(frozen=True, slots=True)
class Inference:
    """What rules found in a text."""

    tables: tuple[Section, ...] = ()
    """Its tables in their order."""
    outside: tuple[int, ...] = ()
    """The numbers from 1 of its lines that are in no row and no header: titles, sums, the feet of pages."""


def infer_tables(text: str) -> Inference:
    """Return the tables of a text; none where they would explain too few of its lines."""
    if "\n" not in text or len(text) > _MAX_CHARS:
        return Inference()
    source = _COLOURS.sub("", text).replace("\x0c", " ").split("\n")
    lines = [line if len(line) <= _MAX_LINE else "" for line in source]
    told = [found for each in _samples(lines) if (found := _explained(each))] if len(lines) > _SAMPLED else []
    if len(lines) > _SAMPLED and len(told) < _MIN_SAMPLES:
        return Inference()
    hows = {reading.how for readings in told for reading in readings}
    # Programs measure columns in characters, or in places of a screen.
    wide = [line if line.isascii() else "".join(map(_widened, line)) for line in lines]
    readings = [_explained(each, hows) for each in (lines, wide)[: 1 + (wide != lines)]]
    found = max(readings, key=lambda each: sum(one.bits for one in each))
    covered = _covered(lines, found)
    rest = tuple(number + 1 for number, line in enumerate(source) if line.strip() and number not in covered)
    return Inference(tuple(join_sections(_sections(lines, found))), rest) if found else Inference()


def _widened(sign: str) -> str:
    return sign + _WIDE * (text_width(sign) - 1)


def _samples(lines: Sequence[str]) -> Iterator[Sequence[str]]:
    size = _SAMPLED // _SAMPLES // 2
    step = (len(lines) - size) // (_SAMPLES - 1)
    return (lines[start : start + size] for start in range(0, len(lines) - size + 1, step))


def _explained(lines: Sequence[str], rules: Collection[str] = ()) -> list[Reading]:
    """Return the readings that have most bits together, none where they explain too few of the lines.

    Args:
        lines: The lines.
        rules: How samples of them were read, so that no other reading is tried; empty: all are.
    """
    chosen = [_without_total(each) for each in _read(lines, rules)]
    return chosen if len(_covered(lines, chosen)) >= _MIN_SHARE * sum(1 for line in lines if line.strip()) else []


def _without_total(reading: Reading) -> Reading:
    """Return a reading without rows that sum others up."""
    sums = set[int]() if reading.is_of_blocks else sums_in(reading.rows)
    kept = [number for number in range(len(reading.rows)) if number not in sums]
    return replace(reading, rows=[reading.rows[at] for at in kept], lines=[reading.lines[at] for at in kept])


def _covered(lines: Sequence[str], readings: Iterable[Reading]) -> set[int]:
    """Return the numbers of the lines that rows, headers and rules take."""
    covered: set[int] = set()
    for each in readings:
        first, head = each.end if each.is_of_blocks else each.lines[0], lines[each.start].strip()
        covered.update(each.lines)
        for number in range(each.start, min(each.end + 1, len(lines))):
            line = lines[number].strip()
            is_told = (each.is_headed or each.is_of_blocks) and (number < first or line == head)
            if line and (is_told or RULE.fullmatch(line)):
                covered.add(number)
        covered.difference_update(each.unread)
    return covered


def _sections(lines: Sequence[str], readings: Sequence[Reading]) -> Iterator[Section]:
    end, blocks = 0, list[int]()
    for each in readings:
        within = blocks[bisect_left(blocks, each.start) - 1] if each.start < end else None
        heading = heading_above(lines, each.start, end) if within is None else lines[within].strip()
        cells = ([cell and cell.replace(_WIDE, "") for cell in row] for row in each.rows)
        rows = [dict(zip([name.replace(_WIDE, "") for name in each.columns], row, strict=True)) for row in cells]
        yield Section(heading, rows, each.is_headed and "text" not in each.columns, each.how)
        end, blocks = max(end, each.end), each.lines if each.is_of_blocks else blocks


def heading_above(lines: Sequence[str], start: int, end: int) -> str:
    """Return the first line of the paragraph right above a table, behind the line `end`; empty: there is none."""
    at = start - 1
    while at >= max(end, start - 3) and not lines[at].strip():
        at -= 1
    while at > max(end, start - 3) and lines[at - 1].strip() and not _is_like(lines[at - 1], lines[start]):
        at -= 1
    heading = lines[at].strip() if at >= end else ""
    return heading if len(heading) < 200 and not RULE.fullmatch(heading) else ""


def _is_like(line: str, row: str) -> bool:
    return any(0 < line.count(mark) == row.count(mark) for mark in "\t;|")


def join_sections(tables: Iterable[Section]) -> list[Section]:
    """Return tables, those that are the pages or sections of one as one, with their headings as a column.

    They are so if they have the same columns. Of two, one below the other, that have headings and names it is enough
    that they share the first column and another one.
    """
    groups: dict[tuple[object, ...], list[Section]] = {}
    last: list[Section] = []
    for table in tables:
        names = table.columns
        before = last[-1].columns if last and last[-1].heading and last[-1].is_named else []
        is_alike = bool(table.heading) and table.is_named and before[:1] == names[:1] and len({*before} & {*names}) > 1
        # Columns without names are the same where their rows begin alike.
        begin = STRONG & {top_class(row[names[0]] for row in table.rows)} if names and not table.is_named else ""
        last = last if is_alike else groups.setdefault((table.how, begin, *names), [])
        last.append(table)
    return [_joined(group) for group in groups.values()]


def _joined(group: Sequence[Section]) -> Section:
    if len({table.heading for table in group}) == 1 or not any(table.heading for table in group[1:]):
        return replace(group[0], rows=[row for table in group for row in table.rows])
    rows = [row | {SECTION: table.heading or None} for table in group for row in table.rows]
    return replace(group[0], heading="", rows=rows)


# Readings, and which of them take which lines.


def _may(rules: Collection[str], *names: str) -> bool:
    """Return whether lines may be read in a way whose name begins so."""
    return not rules or any(rule.startswith(names) for rule in rules)


def _read(source: Sequence[str], rules: Collection[str]) -> list[Reading]:
    lines = [line.expandtabs(8) if "\t" in line else line for line in source]
    paragraphs = _paragraphs(lines)
    if not paragraphs:
        return []
    first, last = paragraphs[0][0], paragraphs[-1][1]
    found: list[Reading | None] = list(read_marked(source)) if _may(rules, "columns between") else []
    is_whole = len(paragraphs) > 1 and _may(rules, "lines", "pairs", "words")
    whole = read_template(lines, first, last) if is_whole else None
    found.append(whole)
    least = _MIN_SHARE * sum(end - start for start, end in paragraphs)
    if not rules or whole is None or len(whole.lines) <= least:
        for start, end in paragraphs:
            found += _of_paragraph(lines, start, end, rules)
    codes = [0, *accumulate(line.endswith(_CODE_ENDS) or _CODE.match(line) is not None for line in lines)]
    flat = [each for each in found if each is not None and _is_enough(each) and not _is_of_code(each, codes)]
    outer = read_blocks(lines, first, last) if _may(rules, "blocks") else None
    if outer is None or _is_of_code(outer, codes):
        return _choose(flat)
    chosen = _choose([*flat, outer] if _is_enough(outer) else flat)
    return max(chosen, _with_inner(lines, outer, _choose(flat)), key=lambda each: sum(one.bits for one in each))


def _with_inner(lines: Sequence[str], outer: Reading, flat: Sequence[Reading]) -> list[Reading]:
    """Return a reading as blocks of keys and values, and tables within most of its blocks."""
    inner = [each for each in flat if 0 < bisect_left(outer.lines, each.start) == bisect_left(outer.lines, each.end)]
    owned = {(bisect_left(outer.lines, each.start), tuple(each.columns)) for each in inner}
    owners = Counter(columns for _, columns in owned)
    inner = [each for each in inner if owners[tuple(each.columns)] >= len(outer.lines) * (0.5 if each.is_headed else 1)]
    bare, heads, starts = list(lines), {tuple(lines[each.start].split()) for each in inner}, set(outer.lines)
    for each in inner:
        bare[each.start : each.end] = [""] * (each.end - each.start)
    unread: list[int] = []
    for number, (above, line) in enumerate(pairwise(bare), 1):
        if line.strip() and number not in starts and (tuple(above.split()) in heads or number - 1 in unread[-1:]):
            unread.append(number)
    found = fill_blocks(bare, outer.lines, outer.end) if inner else outer
    if found is None or not _is_enough(found):
        return []
    return [replace(found, unread=unread), *inner]


def _paragraphs(lines: Sequence[str]) -> list[tuple[int, int]]:
    blank = [True, *(not line.strip() for line in lines), True]
    edges = [number for number, (before, after) in enumerate(pairwise(blank)) if before != after]
    return list(zip(edges[::2], edges[1::2], strict=True))


def _of_paragraph(lines: Sequence[str], start: int, end: int, rules: Collection[str]) -> Iterator[Reading | None]:
    at, left = start, 2 * _SAMPLED + end - start if _may(rules, "columns by") else 0
    while at < end - 1 and left > 0:
        # A header is tried on a few lines first, so that a long paragraph is not read once for each of its lines.
        found = read_aligned(lines, at, min(end, at + _TRIED))
        left -= is_head(lines[at]) * _TRIED * (1 + len(lines[at].split()) // _USUAL)
        if found is not None and at + _TRIED < end and found.bits >= _MIN_ROW_BITS * len(found.rows):
            left -= end - at
            found = read_aligned(lines, at, end)
        if found is not None and _is_enough(found):
            yield found
            left += 2 * (found.end - at)
            at = found.end
        else:
            at += 1
    if end - start >= 3 and _may(rules, "lines", "pairs", "words"):
        firsts = range(start, max(start + 1, min(start + 3, end - 2)))
        tried = (read_template(lines, first, min(first + _TRIED, end)) for first in firsts)
        begins = (first for first, found in zip(firsts, tried, strict=True) if found and found.start == first)
        yield read_template(lines, next(begins, start), end)


def _is_of_code(reading: Reading, codes: Sequence[int]) -> bool:
    return codes[reading.end] - codes[reading.start] > _MAX_CODE * (reading.end - reading.start)


def _is_enough(reading: Reading) -> bool:
    return len(reading.columns) > 1 and reading.bits >= max(_MIN_BITS, _MIN_ROW_BITS * len(reading.rows))


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
