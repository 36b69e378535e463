"""Columns by constant delimiters or by alignment, and the bits that say how far a reading is to be believed.

A reading of lines as rows is believed by its bits: how improbable it is that lines that are no table agree so well.
"""

from __future__ import annotations

import csv
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise, takewhile
from typing import Final

from accp_core.documents.grids.cells import MAX_COLUMNS, SAMPLE, STRONG, class_of, distinct_names, is_number, is_row

__all__ = [
    "RULE", "Reading", "bits_of", "column_bits", "is_head", "names_columns", "read_aligned", "read_marked",
    "sums_in", "top_class",
]  # fmt: skip

RULE: Final = re.compile(r"[\s|+:=_~*─-]*[-=_─~]{2,}[\s|+:=_~*─-]*")
"""A line of dashes below a header or between rows."""
_BITS: Final = dict(zip("DTINHMPKWXS", (6.0, 5.0, 6.0, 3.0, 4.0, 5.0, 3.0, 1.0, 0.5, 0.2, 0.0), strict=True))
"""Bits of a date, time, address, number, hex or mode, month or day, path, pair, word, sign, text."""
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
    """Distinct names; `c0`, `c1` … are names of columns that the text does not name."""
    rows: list[Cells]
    lines: list[int]
    """The number of the (first) line of each row."""
    bits: float
    is_headed: bool = True
    """Whether the text names the columns."""
    is_of_blocks: bool = False
    """Whether its rows are blocks of lines, all of which it takes."""
    unread: Sequence[int] = ()
    """The numbers of lines in blocks that are a row of no table, though they stand under the header of one."""


def _most(cells: Iterable[str | None]) -> tuple[str, int, int]:
    """Return the class that most cells have, how many have it, and how many are something."""
    classes = Counter(class_of(cell) for cell in cells if cell)
    classes.pop("Z", 0)
    return (*classes.most_common(1)[0], classes.total()) if classes else ("", 0, 0)


def column_bits(cells: Sequence[str | None]) -> float:
    """Return how improbable it is that cells of no column are so much alike."""
    there = [cell for cell in cells[:SAMPLE] if cell]
    top, count, size = _most(there)
    if len(there) < 2 or not size:
        return 0.0
    bits = count * _BITS[top] - 2.0 * (size - count) if count >= _ALIKE * size else 0.0
    values = len(set(there))
    if top in "WXKS" and len(there) >= 4 and values <= max(2, len(there) // 3) and max(map(len, there)) < 40:
        bits = max(bits, 1.5 * (len(there) - values))
    return bits * len(cells) / min(len(cells), SAMPLE)


def bits_of(rows: Iterable[Sequence[str | None]]) -> float:
    """Return the bits of all columns of some rows."""
    return sum(map(column_bits, zip(*rows, strict=True)))


def top_class(cells: Iterable[str | None]) -> str:
    """Return the class of at least four of five cells that are something, else ""."""
    top, count, size = _most(cells)
    return top if count >= _ALIKE * size else ""


def names_columns(names: Sequence[str | None], body: Sequence[Sequence[str | None]]) -> bool:
    """Return whether a row names the columns of those below: it has no numbers, times or addresses where they have."""
    contrast = plain = 0
    if is_row(names, body):
        return False
    for name, column in zip(names, zip(*body[:SAMPLE], strict=False), strict=False):
        top = top_class(column)
        if top not in STRONG:
            plain += bool(name and name not in column and _NAME.fullmatch(name))
        elif name and class_of(name) in (top, "N"):
            return False
        else:
            contrast += bool(name)
    width = len(names)
    return (contrast > 0 and contrast + plain >= 0.6 * width) or (plain == width == len(set(names)) and len(body) > 1)


def sums_in(rows: Sequence[Sequence[str | None]]) -> set[int]:
    """Return the places of sums: the last row, and all short ones if each adds up those since the one before."""
    labels = [(row[0] or "").endswith(":") for row in rows]
    filled = [sum(map(bool, row)) for row in rows]
    usual = sorted(filled)[len(filled) // 2] if filled else 0
    short = [number for number, count in enumerate(filled) if 3 * count <= 2 * usual]
    found = {len(rows) - 1} if _sums_up(rows, is_short=len(rows) - 1 in short) else set()
    parts = sorted({-1, *short} - found)
    added = [_added(rows[before + 1 : at], rows[at]) for before, at in pairwise(parts)]
    is_exact = all(digits and not odd for digits, odd in added) and sum(digits for digits, _ in added) > 4
    # "Average:" in front of the last rows says what they are.
    named = {*range(len(rows) - len([*takewhile(bool, reversed(labels))]), len(rows))}
    found |= named if sum(labels) == len(named) < len(rows) else set()
    return found.union(parts[1:]) if is_exact else found


def _sums_up(rows: Sequence[Sequence[str | None]], *, is_short: bool) -> bool:
    """Return whether the last row is a sum: it adds up the others or is mostly empty, and no other has its words."""
    *above, end = rows or [()]
    last = [cell and (cell.strip("*") or cell) for cell in end]
    there = [(number, cell) for number, cell in enumerate(last) if cell]
    words = [(number, cell) for number, cell in there if class_of(cell) not in STRONG]
    is_new = not any(number < len(row) and row[number] == cell for row in above for number, cell in words)
    may_be = len(above) > 2 and is_new and 0 < len(words) < len(there)
    return may_be and (is_short or (added := _added(above, last))[0] > (8 if added[1] else 2))


def _added(rows: Sequence[Sequence[str | None]], sums: Sequence[str | None]) -> tuple[int, int]:
    """Return how many digits of a row are in sums of the numbers above them, and how many numbers are no such sums."""
    digits = odd = 0
    for cell, column in zip(sums, zip(*rows, strict=False), strict=False):
        if cell and class_of(cell) in STRONG:
            written = [(each or "0").replace(",", "") for each in (cell, *column)]
            total, *numbers = [Decimal(each) if is_number(each) else Decimal("NaN") for each in written]
            is_sum = sum(numbers) == total
            digits += len(total.as_tuple().digits) * (is_sum and total != 0)
            odd += not is_sum
    return digits, odd


# Lines that have a mark equally often, whatever stands above, below and between them.

_OUTER: Final = re.compile(r"\|.*\|")
_MARKS: Final = {"\t": 1.2, "|": 1.2, ";": 0.9, ":": 0.5}
"""The delimiters, and the bits of one that each line has as often. Commas are none: prose and code have them."""
_QUOTED: Final = re.compile(r'"(?:[^"]|"")*"')
_MAX_ODD: Final = 4
"""Lines of other counts that end a run."""


def read_marked(lines: Sequence[str]) -> Iterator[Reading | None]:
    """Yield the readings of runs of lines that have a mark equally often."""
    for mark in _MARKS:
        if sum(mark in line for line in lines) < 2:
            continue
        counts = [_count(line, mark) for line in lines]
        tally = Counter(count for count in counts if 0 < count < MAX_COLUMNS)
        for count, seen in sorted(tally.items(), key=lambda each: -each[1] * min(each[0], 8))[:3]:
            if seen >= 2 and (count >= 2 or mark != ":"):
                for run, odd in _runs(lines, counts, mark, count):
                    yield _reading(lines, run, odd, mark, count)


def _count(line: str, mark: str) -> int:
    if mark == "|" and RULE.fullmatch(line):
        return 0
    return (_QUOTED.sub("", line) if '"' in line and mark != "|" else line).count(mark)


def _runs(lines: Sequence[str], counts: Sequence[int], mark: str, count: int) -> Iterator[tuple[list[int], int]]:
    """Yield the numbers of lines with a mark so often, or a little less often, and how many beside them are odd."""
    run: list[int] = []
    odd = since = 0
    for number, line in enumerate(lines):
        lacks = count - counts[number]
        if not lacks or (mark in "\t;|" and 0 < lacks < count and lacks <= max(2, count // 3) and run):
            run.append(number)
            odd, since = odd + since + bool(lacks), 0
        elif line.strip() and not (mark == "|" and RULE.fullmatch(line)) and not line.startswith("#"):
            since += 1
            if since > _MAX_ODD and run:
                yield run, odd
                run, odd, since = [], 0, 0
    if run:
        yield run, odd


def _split(line: str, mark: str, *, is_outer: bool) -> list[str]:
    if mark == "|":
        line = line.strip()
        line = line[1:-1] if is_outer and _OUTER.fullmatch(line) else line
    elif '"' in line:
        return [cell.strip() for cell in next(csv.reader([line.replace("\r", " ")], delimiter=mark))]
    return [cell.strip() for cell in line.split(mark)]


def _reading(lines: Sequence[str], at: list[int], odd: int, mark: str, count: int) -> Reading | None:
    # Where few lines begin and end with a mark, these have empty cells there.
    is_outer = 2 * sum(_OUTER.fullmatch(lines[number].strip()) is not None for number in at) > len(at)
    cells = [_split(lines[number], mark, is_outer=is_outer) for number in at]
    for end in (0, -1):  # a title above, and what stands below, has one cell at most
        while len(cells) > 2 and sum(map(bool, cells[end])) <= 1 < sum(map(bool, cells[end or 1])):
            del cells[end], at[end]
    width = max(map(len, cells))
    addresses = 4 * sum(cell[:2] == "//" for row in cells for cell in row)
    is_prose = mark == ":" and max(addresses, 5 * sum(" " in row[0] for row in cells)) > len(cells)
    if len(cells) < 2 or width < 2 or is_prose:
        return None
    is_ruled = mark == "|" and at[0] + 1 < len(lines) and bool(RULE.fullmatch(lines[at[0] + 1]))
    top = is_ruled or names_columns(cells[0], cells[1:])
    body = [(row, number) for row, number in zip(cells, at, strict=True) if not top or row != cells[0]]
    found: list[Cells] = [[*row, *[None] * (width - len(row))] for row, _ in body]
    if not body or not (top or any(top_class(column) in STRONG for column in zip(*found, strict=True))):
        return None
    structure = _MARKS[mark] * min(count, 6) * len(found)
    bits = structure + (30.0 + 4.0 * len(found)) * is_ruled - 4.0 * odd + bits_of(found)
    spaced = sum(lines[number].count(mark + " ") > count / 2 for number in at) if mark in ";:" else 0
    bits -= (structure + 2 * len(found)) * spaced / len(at) + 2.0 * len(found) * (mark == ";" and not top)
    names = distinct_names([name.strip('"*:') for name in cells[0]] if top else [], width)
    how = f"columns between {'tabs' if mark == chr(9) else mark}"
    return Reading(how, at[0], at[-1] + 1, names, found, [number for _, number in body], bits, top)


# Columns that blanks keep apart, under the words of a header.

ALIGNED: Final = "columns by alignment"
_WORD: Final = re.compile(r"\d\d?:\d\d(?::\d\d)? [AP]M\b|\S+(?: / \S+)*")
_DASHES: Final = re.compile(r"[-=─~]+")
_HEAD: Final = re.compile(
    r"[A-Za-z%#](?:[^\s=:;{}<>\"'`]|:(?!\d))*(?<![,!?;])|[#%]|\d+[A-Za-z%][\w%/-]*|[-|/+*.]{1,5}"
    r"|[(<\[][A-Za-z][\w %/.-]*[)>\]]|\||#?\d{1,3}"
)
_PARTS: Final = re.compile(r"\S+(?: \S+)*")
"""What two blanks keep apart."""
_MAX_HEADER: Final = 2_000
_MAX_WORDS: Final = 80
_FIT: Final = 0.8
"""The share of the words of a header that have a cell below them."""
_FREE: Final = 0.06
"""The share of the lines that may have a sign where two columns meet."""

_Spans = list[tuple[int, int]]
"""Where the words of a header begin and end."""


def is_head(line: str) -> bool:
    """Return whether a line may name columns."""
    words = _titles(line)
    if not 2 <= len(words) <= _MAX_WORDS or len(line) > _MAX_HEADER or line.rstrip()[-1] in ".:,;{(":
        return False
    if any(word[-1] in ",;!?" or (word[-1] == "." and len(word) > 5) for word in words):
        return False
    named = sum(_HEAD.fullmatch(word) is not None and not word.isdigit() for word in words)
    return named == len(words) and any(word[0].isalpha() for word in words)


def _titles(line: str) -> list[str]:
    """Return the words of a header, without the time in front that stands for the times of its rows."""
    words = _WORD.findall(line)
    return words[bool(words) and class_of(words[0]) == "T" :]


def read_aligned(lines: Sequence[str], top: int, end: int) -> Reading | None:
    """Return the reading of the lines under a header, up to `end`."""
    head = lines[top]
    if top + 1 >= end or not is_head(head) or " | " in head:
        return None
    words, is_ruled = _words(head, lines[top + 1])
    begins = (line[: words[0][0]] for line in lines[top + 1 : end])
    if head[0] == " " and not is_ruled and any(begin[:1].strip() and " " in begin for begin in begins):
        words = [(0, 0), *words]  # a column without a name
    body, odd = _body(lines, top + 1 + is_ruled, end, words, head, is_ruled=is_ruled)
    if len(body) < (1 if is_ruled or len(words) > 3 else 2):
        return None
    texts = [lines[number] for number in body]
    sample = texts[:SAMPLE]
    bounds, spans, clean = _bounds(head, sample, words, is_ruled=is_ruled)
    if len(spans) < 2:
        return None
    rows = [_cut(text, bounds) for text in texts]
    names = [head[start:stop].strip() for start, stop in [*spans[:-1], (spans[-1][0], None)]]
    fit = sum(_fits(words, text) for text in sample) / len(sample)
    if fit < _FIT and all(len(text.split()) == len(words) for text in texts):
        # Cells longer than their columns shift those behind them.
        rows, names, spans = [list(text.split()) for text in texts], [head[start:stop] for start, stop in words], words
    if is_row(names, rows):
        return None
    names = ["time" if class_of(name) == "T" else name for name in names]
    is_again = "  " in head.strip() and ":" not in head and lines.count(head) > 1
    bits = _bits(head, names, rows, fit, is_proven=is_ruled or is_again)
    if bits is None:
        return None
    bits += len(rows) * min(clean, 6) * (fit - 0.4) - 4.0 * odd + 12.0 * is_ruled + 30.0 * is_again
    return Reading(ALIGNED, top, body[-1] + 1, distinct_names(names, len(spans)), rows, body, bits)


def _words(head: str, rule: str) -> tuple[_Spans, bool]:
    """Return where the words of a header stand, by the rule below it where there is one."""
    is_ruled = RULE.fullmatch(rule) is not None and "|" not in rule
    marks = [found.span() for found in _DASHES.finditer(rule)] if is_ruled else []
    return marks if len(marks) > 1 else [found.span() for found in _WORD.finditer(head)], is_ruled


def _bits(head: str, names: Sequence[str], rows: Sequence[Cells], fit: float, *, is_proven: bool) -> float | None:
    """Return the bits of rows under a header, which is proven by a rule or stands again; None: nothing shows it."""
    columns = list(zip(*rows, strict=True))
    strong = sum(
        top_class(column[:SAMPLE]) in STRONG and class_of(name) not in STRONG
        for name, column in zip(names, columns, strict=True)
    )
    caps = head.upper() == head and any(map(str.isalpha, head))
    apart = "  " in head.strip()
    if not (strong or is_proven or (apart and (caps or len(rows) > 2))):
        return None
    bits = sum(map(column_bits, columns)) + 3.0 * strong + 10.0 * caps + 5.0 * apart - 8.0 * (fit < 0.6)
    return bits - 15.0 * sum(name in column[:SAMPLE] for name, column in zip(names, columns, strict=True))


def _fits(words: Sequence[tuple[int, int]], line: str) -> float:
    """Return which share of the words of a header has a cell of `line` under its begin or end, or nothing there."""
    found = [word.span() for word in _WORD.finditer(line)]
    starts, ends = {start for start, _ in found}, {end for _, end in found}
    hits = sum(start in starts or end in ends or not line[max(start - 1, 0) : end + 1].strip() for start, end in words)
    return hits / len(words)


def _body(
    lines: Sequence[str], at: int, end: int, words: _Spans, head: str, *, is_ruled: bool
) -> tuple[list[int], int]:
    """Return the lines under a header that fit it, and how many between them do not."""
    body: list[int] = []
    odd = waiting = 0
    for number in range(at, end):
        line = lines[number]
        if not line.strip():
            break
        if body and is_ruled and (RULE.fullmatch(line) or not line.startswith(head[: words[0][0]])):
            break
        if _titles(line) == _titles(head) or RULE.fullmatch(line):
            continue
        size = len(line.split())
        is_row = _fits(words, line) >= 0.5 or size == len(words) or (size > len(words) and _fits(words[:3], line) > 0.6)
        if is_row and body and is_head(line) and _is_new_head(lines, number, end, body[0]):
            while len(body) > 1 and not _strong(lines[body[-1]]):
                body.pop()
            break
        if is_row:
            body.append(number)
            odd, waiting = odd + waiting, 0
        else:
            waiting += 1
            if waiting > 2 or is_head(line) or not body:
                break
    return body, odd


def _strong(line: str) -> int:
    return sum(class_of(word) in STRONG for word in line.split())


def _is_new_head(lines: Sequence[str], at: int, end: int, first: int) -> bool:
    """Return whether a line is a header rather than a row: the lines around it have numbers where it has none."""
    return at + 1 < end and not _strong(lines[at]) and min(_strong(lines[at + 1]), _strong(lines[first])) >= 2


def _bounds(head: str, sample: Sequence[str], words: _Spans, *, is_ruled: bool) -> tuple[list[int], _Spans, int]:
    """Return where columns begin, the words of each as one span, and how many bounds are blank in nearly all lines."""
    fitting = [text for text in sample if _fits(words, text) > 0.99]
    if 4 * len(fitting) < len(sample):
        fitting = list(sample)
    filled = Counter(place for text in fitting for place, sign in enumerate(text) if sign != " ")
    most = _FREE * len(fitting)
    bounds, spans, clean = [0], [words[0]], 0
    for start, end in words[1:]:
        before, stop = spans[-1][1], start
        inner = range(stop - 1, before - 1, -1)
        outer = [] if is_ruled else [*range(before - 1, max(spans[-1][0] + 1, bounds[-1]), -1), *range(stop, end - 1)]
        best = min([*inner, *outer], key=lambda place: filled[place], default=stop - 1)
        is_free = filled[best] <= most
        is_narrow = stop == before + 1
        both = [text for text in sample if text[start - 1 : start] == " " and text[start:end].strip()]
        is_one = is_narrow and not is_ruled and not any(text[bounds[-1] : start].strip() for text in both)
        if (is_free and not (is_one and best >= start - 1)) or not is_narrow:
            bounds.append(best if is_free else stop - 1)
            spans.append((start, end))
            clean += is_free
        else:
            spans[-1] = (spans[-1][0], end)
    return bounds, spans, clean


def _cut(text: str, bounds: Sequence[int]) -> Cells:
    """Return the cells of a line: at the bounds where it is blank there, else by its words."""
    width = len(bounds)
    if all(text[at : at + 1] in ("", " ") or text[at - 1 : at] == " " for at in bounds[1:]):
        return [text[start:end].strip() or None for start, end in zip(bounds, [*bounds[1:], None], strict=True)]
    apart = list(_PARTS.finditer(text))
    ends = [*bounds[1:], len(text)]
    if len(apart) == width and all(part.start() < end for part, end in zip(apart, ends, strict=True)):
        return [part[0] for part in apart]
    if len(text.split()) == width:
        return list(text.split())
    cells: list[list[str]] = [[] for _ in range(width)]
    for found in _WORD.finditer(text):
        middle = (found.start() + min(found.end(), found.start() + 12)) // 2
        cells[max(bisect_left(bounds, middle + 1) - 1, 0)].append(found[0])
    return [" ".join(cell) or None for cell in cells]
