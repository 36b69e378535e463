"""Lines whose first words are of the same kinds: logs, listings; and lines with pairs: `name{key="value"} 1`."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from accp_core.documents.inference.cells import (
    MAX_COLUMNS,
    SAMPLE,
    STRONG,
    Cells,
    Reading,
    class_of,
    column_bits,
    names_of,
    top_class,
)

__all__ = ["read_template", "tokens_of"]

_HOW: Final = "lines that begin alike"
_TOKEN: Final = re.compile(
    r'\d{1,2}:\d\d(?::\d\d)? [AaPp][Mm]\b|"(?:[^"\\]|\\.)*"|\[[^\]\s][^\]]*\]'
    r'|[\w.@/-]+=(?:"(?:[^"\\]|\\.)*"|[^\s,;]*)|\S+'
)
PAIR: Final = re.compile(r'([A-Za-z_@][\w.@/-]*)=("(?:[^"\\]|\\.)*"|\'[^\']*\'|\{[^}]*\}|[^\s,;"\'}]*)[,;]?')
_TIME: Final = re.compile(r"M{1,2}d?(?:T(?:y|Wy)?|y)?|d?M(?:yT?|T)|DT")
"""Columns that are parts of one time, by their classes: months and days of a week, days, times, years."""
_YEAR_OR_TIME: Final = re.compile(r"(?:19|20)\d\d|\d\d?:\d\d(?::\d\d)?")
_MAX_DEPTH: Final = 24
"""Words of a line that are looked at."""
_ALIKE: Final = 0.85
_MARKS: Final = "[]:,=()"


@lru_cache(maxsize=20_000)
def tokens_of(line: str) -> tuple[str, ...]:
    """Return the words of a line; what stands in quotes or brackets is one."""
    return tuple(_TOKEN.findall(line))


def read_template(lines: Sequence[str], start: int, end: int) -> Reading | None:
    """Return the reading of lines that begin alike."""
    at = [number for number in range(start, end) if lines[number].strip() and not lines[number].startswith(("#", "//"))]
    if len(at) < 3:
        return None
    paired = sum(PAIR.search(lines[number]) is not None for number in at[:SAMPLE])
    if paired >= 0.8 * min(len(at), SAMPLE):
        return _read_pairs(lines, at)
    kinds, is_grid = _kinds([tokens_of(lines[number]) for number in at])
    strong = [place for place, kind in enumerate(kinds) if kind in STRONG]
    if not strong or (strong[0] > 0 and len(strong) < 2) or (lines[at[0]].lstrip()[0] in "-*•+" and len(strong) < 3):
        return None
    kept = [number for number in at if _is_alike(tokens_of(lines[number]), kinds, strong)]
    headings, unsaid = _headings(lines, sorted(set(at).difference(kept)))
    if len(kept) < max(3, 0.3 * len(at)) or unsaid > 0.4 * len(at):
        return None
    return _as_rows(lines, kept, len(kinds), headings, unsaid, is_grid=is_grid)


def _kinds(tokens: Sequence[Sequence[str]]) -> tuple[list[str], bool]:
    """Return the classes of the words with which nearly all lines begin, and whether they are all of their words."""
    ((begin, _),) = Counter(class_of(words[0]) for words in tokens).most_common(1)
    sample = [words for words in tokens if begin not in STRONG or class_of(words[0]) == begin][:SAMPLE]
    sizes = Counter(map(len, sample))
    ((size, same),) = sizes.most_common(1)
    kinds: list[str] = []
    for place in range(min(_MAX_DEPTH, max(sizes))):
        column = [class_of(words[place]) for words in sample if place < len(words)]
        if len(column) < _ALIKE * len(sample):
            break
        something = Counter(kind for kind in column if kind != "Z")
        top, count = something.most_common(1)[0] if something else ("Z", len(column))
        if (
            top in "TN"
            and place
            and kinds[-1] in "MN"
            and something["T"]
            and something["T"] + something["N"] >= 0.9 * len(column)
        ):
            top, count = "T", len(column)
        kinds.append(top if count >= _ALIKE * (len(column) - column.count("Z")) else "?")
    if same >= 0.95 * len(sample):
        return kinds[:size], True
    while kinds and kinds[-1] in "?WXKSZ":
        kinds.pop()
    return kinds, False


def _is_alike(words: Sequence[str], kinds: Sequence[str], strong: Sequence[int]) -> bool:
    if len(words) < len(kinds):
        return False
    found = [(kinds[place], class_of(words[place])) for place in strong]
    return sum(kind in (want, "Z") or want + kind == "TN" for want, kind in found) >= 0.75 * len(strong)


def _headings(lines: Sequence[str], odd: Sequence[int]) -> tuple[list[int], int]:
    """Return the headings among lines that do not begin like the others, and how many lines are neither."""
    groups: defaultdict[str, list[int]] = defaultdict(list)
    for number in odd:
        line = lines[number].rstrip()
        groups[":" if line.endswith(":") else re.sub(r"\d+", "9", line.split(None, 1)[0])].append(number)
    told = {
        sign: group
        for sign, group in groups.items()
        if len(group) > 1 and (len(group) > 0.15 * len(odd) or sign == ":")
    }
    unsaid = len(odd) - sum(map(len, told.values()))
    heads = told.get(":") or max(told.values(), key=lambda group: len({lines[number] for number in group}), default=[])
    return heads if len({lines[number] for number in heads}) > 1 else [], unsaid


def _as_rows(
    lines: Sequence[str], kept: list[int], depth: int, headings: list[int], unsaid: int, *, is_grid: bool
) -> Reading:
    rows: list[Cells] = []
    for number in kept:
        spans = [found.span() for found in _TOKEN.finditer(lines[number])][:depth]
        words: Cells = [lines[number][start:end] for start, end in spans]
        rows.append([*words, *([] if is_grid else [lines[number][spans[-1][1] :].strip() or None])])
    names = [f"c{number}" for number in range(depth)] + ["text"] * (not is_grid)
    bits = sum(column_bits([row[number] for row in rows]) for number in range(len(names)))
    bits += 1.0 * len(rows) * is_grid - 4.0 * unsaid - 6
    names, rows = join_times(names, rows)
    first = kept[0]
    if headings:
        before = [bisect_left(headings, number) for number in kept]
        rows = [
            [*row, lines[headings[place - 1]].strip(" :") if place else None]
            for row, place in zip(rows, before, strict=True)
        ]
        names, first = [*names, "section"], min(first, headings[0])
    return Reading(_HOW, first, kept[-1] + 1, names, rows, kept, bits, is_headed=False)


def _time_class(cells: Sequence[str | None]) -> str:
    """Return the class of cells, "d" for days of a month, "y" for years, "T" for times or years."""
    there = [cell for cell in cells if cell]
    kind = top_class(there) or "?"
    if kind == "N" and all(cell.isdigit() and 0 < int(cell) < 32 for cell in there):
        return "d"
    if kind in "NT?" and there and all(map(_YEAR_OR_TIME.fullmatch, there)):
        return "T" if any(":" in cell for cell in there) else "y"
    return kind


def join_times(names: Sequence[str], rows: Sequence[Cells]) -> tuple[list[str], list[Cells]]:
    """Join columns that are parts of one time, as `Mar 5 10:11`; name one by the word that all lines have before it."""
    kinds = "".join(_time_class([row[number] for row in rows[:SAMPLE]]) for number in range(len(names)))
    spans: list[tuple[int, int]] = []
    at = 0
    while at < len(names):
        found = _TIME.match(kinds, at)
        end = found.end() if found and found.end() - at > 1 else at + 1
        spans.append((at, end))
        at = end
    named = []
    for number, (start, end) in enumerate(spans):
        before = {row[start - 1] for row in rows} if number and start - spans[number - 1][0] == 1 else set()
        word = next(iter(before)) if len(before) == 1 and len(rows) > 2 else None
        kind = top_class(row[start] for row in rows[:SAMPLE])
        is_label = word is not None and word.strip(_MARKS).isalpha() and kind in STRONG
        named.append("time" if end - start > 1 else word.strip(_MARKS) if is_label and word else names[start])
    joined: list[Cells] = [[" ".join(filter(None, row[start:end])) or None for start, end in spans] for row in rows]
    return names_of(named, len(named)), joined


def _read_pairs(lines: Sequence[str], at: Sequence[int]) -> Reading | None:
    """Return the reading of lines with pairs, which may have words beside them."""
    records: list[dict[str, str]] = []
    kept, pairs = [], 0
    for number in at:
        line = lines[number]
        if found := PAIR.findall(line):
            rest = re.sub(r"[\s{}]+", " ", PAIR.sub(" ", line)).strip()
            words = {f"c{place}": word.rstrip(":") for place, word in enumerate(rest.split(" ", 3)) if word}
            records.append(words | {key: value.strip("\"'") for key, value in found})
            kept.append(number)
            pairs += len(found)
        elif kept and line.split()[-1][:1].isdigit() and len(line.split()) == 2:
            records.append({f"c{place}": word for place, word in enumerate(line.split())})
            kept.append(number)
    keys = Counter(key for record in records for key in record)
    is_few = pairs < 1.5 * len(records) and max(keys.values(), default=0) < 0.9 * len(records)
    if len(records) < 2 or len(keys) > MAX_COLUMNS or is_few:
        return None
    rows: list[Cells] = [[record.get(key) for key in keys] for record in records]
    bits = 2.0 * sum(count - 1 for count in keys.values()) - 2.0 * sum(count == 1 for count in keys.values())
    bits += sum(column_bits([row[number] for row in rows]) for number in range(len(keys)))
    bits -= 4.0 * (len(at) - len(kept)) + 6
    return Reading("pairs of keys and values", kept[0], kept[-1] + 1, list(keys), rows, list(kept), bits)
