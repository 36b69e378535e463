"""Columns that blanks keep apart: under the words of a header, or without one."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from accp_core.documents.inference.cells import (
    RULE,
    SAMPLE,
    STRONG,
    Cells,
    Reading,
    class_of,
    column_bits,
    header_rows,
    names_of,
    top_class,
)

__all__ = ["is_head", "read_aligned", "read_unheaded"]

_HOW: Final = "columns by alignment"
_WORD: Final = re.compile(r"\S+")
_DASHES: Final = re.compile(r"[-=─~]+")
_HEAD: Final = re.compile(
    r"[A-Za-z%#][^\s=;{}<>\"'`]*(?<![,!?;])|[#%]|\d+[A-Za-z%][\w%/-]*|[-|/+*.:]{1,5}|[(<\[][A-Za-z][\w %/.-]*[)>\]]"
    r"|\||#?\d{1,3}"
)
_APART: Final = re.compile(r"\s{2,}|\t")
_MAX_HEADER: Final = 2_000
_MAX_WORDS: Final = 80
_FREE: Final = 0.06
"""The share of the lines that may have a sign where two columns meet."""

_Spans = list[tuple[int, int]]
"""Where the words of a header begin and end."""


def is_head(line: str) -> bool:
    """Return whether a line may name columns."""
    words = line.split()
    if not 2 <= len(words) <= _MAX_WORDS or len(line) > _MAX_HEADER or line.rstrip()[-1] in ".:,;{(":
        return False
    if any(word[-1] in ",;!?" or (word[-1] == "." and len(word) > 5) for word in words):
        return False
    named = sum(_HEAD.fullmatch(word) is not None and not word.isdigit() for word in words)
    return named >= 0.85 * len(words) and any(word[0].isalpha() for word in words)


def read_aligned(lines: Sequence[str], top: int, end: int, again: frozenset[str]) -> Reading | None:
    """Return the reading of the lines under a header, up to `end`; a line that stands `again` in the text is one."""
    head = lines[top]
    if top + 1 >= end or not is_head(head) or " | " in head:
        return None
    words, is_ruled = _words(head, lines[top + 1])
    body, odd = _body(lines, top + 1 + is_ruled, end, words, head)
    is_again = head in again
    if len(body) < (1 if is_ruled or is_again or len(words) > 3 else 2):
        return None
    texts = [lines[number] for number in body]
    sample = texts[:SAMPLE]
    shift = len(head) - len(head.lstrip())
    if shift >= 3 and not is_ruled and sum(bool(text[: shift - 1].strip()) for text in sample) > 0.5 * len(sample):
        words = [(0, 0), *words]
    bounds, spans, clean = _bounds(head, sample, words, is_ruled=is_ruled)
    if len(spans) < 2:
        return None
    rows = [_cut(text, bounds) for text in texts]
    names = [head[start:stop].strip() for start, stop in spans[:-1]] + [head[spans[-1][0] :].strip()]
    fit = sum(_fits(words, text) for text in sample) / len(sample)
    bits = _bits(head, names, rows, fit, clean, odd, is_ruled=is_ruled, is_again=is_again)
    if bits is None:
        return None
    return Reading(_HOW, top, body[-1] + 1, names_of(names, len(spans)), rows, body, bits)


def _words(head: str, rule: str) -> tuple[_Spans, bool]:
    """Return where the words of a header stand, by the rule below it where there is one."""
    is_ruled = RULE.fullmatch(rule) is not None and "|" not in rule
    marks = [found.span() for found in _DASHES.finditer(rule)] if is_ruled else []
    return marks if len(marks) > 1 else [found.span() for found in _WORD.finditer(head)], is_ruled


def _bits(
    head: str,
    names: Sequence[str],
    rows: Sequence[Cells],
    fit: float,
    clean: int,
    odd: int,
    *,
    is_ruled: bool,
    is_again: bool,
) -> float | None:
    """Return the bits of rows under a header; None: nothing shows that it is one."""
    columns = [[row[number] for row in rows] for number in range(len(names))]
    strong = sum(
        top_class(column[:SAMPLE]) in STRONG and class_of(name) not in STRONG
        for name, column in zip(names, columns, strict=True)
    )
    caps = head.upper() == head and any(map(str.isalpha, head))
    apart = "  " in head.strip()
    if not (strong or is_ruled or is_again or (apart and (caps or len(rows) > 2))):
        return None
    size = len(rows)
    bits = sum(map(column_bits, columns)) + size * min(clean, 6) * (fit - 0.4) - 4.0 * odd
    bits += 3.0 * strong + 12.0 * is_ruled + 10.0 * (caps and len(names) > 2) + 5.0 * apart
    bits += is_again * (20.0 + 3.0 * size) - (0 if strong or is_ruled or is_again or caps or apart else 2.0 * size + 10)
    bits -= 15.0 * sum(name in column[:SAMPLE] for name, column in zip(names, columns, strict=True))
    return bits - 8.0 * (fit < 0.6) - 1.0 * size * (len(names) == 2 and not is_ruled)


def _fits(words: Sequence[tuple[int, int]], line: str) -> float:
    """Return which share of the words of a header has a cell of `line` under its begin or end, or nothing there."""
    found = [word.span() for word in _WORD.finditer(line)]
    starts, ends = {start for start, _ in found}, {end for _, end in found}
    hits = sum(start in starts or end in ends or not line[max(start - 1, 0) : end + 1].strip() for start, end in words)
    return hits / len(words)


def _body(lines: Sequence[str], at: int, end: int, words: _Spans, head: str) -> tuple[list[int], int]:
    """Return the lines under a header that fit it, and how many between them do not."""
    body: list[int] = []
    odd = waiting = 0
    for number in range(at, end):
        line = lines[number]
        if not line.strip():
            break
        if line.strip() == head.strip() or RULE.fullmatch(line):
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
        if not is_ruled and sum(len(text.split()) == len(words) for text in sample) >= 0.8 * len(sample):
            return [0, *(start - 1 for start, _ in words[1:])], list(words), 0
        fitting = list(sample)
    longest = max(map(len, fitting))
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
        is_one = is_narrow and not is_ruled and sum(bool(text[start - 1 : end].strip()) for text in fitting) <= most
        if (is_free and not (is_one and best >= start - 1)) or not is_narrow or start >= longest + 40:
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
    apart: list[str] = _APART.split(text.strip())
    words = text.split()
    for parts in (apart, words):
        if len(parts) == width:
            return list(parts)
    if len(words) > width and len(apart) < width:
        return [*words[: width - 1], " ".join(words[width - 1 :])]
    cells: list[list[str]] = [[] for _ in range(width)]
    for found in _WORD.finditer(text):
        middle = (found.start() + min(found.end(), found.start() + 12)) // 2
        cells[max(bisect_left(bounds, middle + 1) - 1, 0)].append(found[0])
    return [" ".join(cell) or None for cell in cells]


def read_unheaded(lines: Sequence[str], start: int, end: int) -> Reading | None:
    """Return the reading of lines whose words stand apart in the same places."""
    at = [number for number in range(start, end) if lines[number].strip() and not lines[number].startswith("#")]
    if len(at) < 4:
        return None
    bounds = _gaps([lines[number] for number in at[:SAMPLE]], 1 if len(at) >= 12 else 2)
    if not 3 <= len(bounds) <= 60:
        return None
    cut = [(_cut(lines[number], bounds), number) for number in at]
    kept = [(row, number) for row, number in cut if sum(map(bool, row)) > max(1, len(bounds) // 4)]
    if len(kept) < 4 or len(at) - len(kept) > 2:
        return None
    rows, at_rows = [row for row, _ in kept], [number for _, number in kept]
    top = int(is_head(lines[at_rows[0]]) and header_rows(rows) == 1)
    names, rows = names_of(rows[0] if top else [], len(bounds)), rows[top:]
    bits = sum(column_bits([row[number] for row in rows]) for number in range(len(bounds)))
    bits += 0.3 * len(rows) * min(len(bounds) - 1, 5) - 4.0 * (len(at) - len(kept)) - 10
    return Reading(_HOW, at_rows[0], at_rows[-1] + 1, names, rows, at_rows[top:], bits, bool(top))


def _gaps(sample: Iterable[str], wide: int) -> list[int]:
    """Return where columns begin: behind places that are blank in nearly all lines."""
    texts = [text[:500] for text in sample]
    filled = Counter(place for text in texts for place, sign in enumerate(text) if sign != " ")
    reach = sorted(map(len, texts))[len(texts) // 2]
    bounds, at = [0], 0
    while at < reach:
        stop = at
        while stop < reach and filled[stop] <= 0.03 * len(texts):
            stop += 1
        if at < stop < reach and at and stop - at >= wide:
            bounds.append(stop - 1)
        at = max(stop, at + 1)
    return bounds
