"""Records: lines whose words are of the same kinds, and blocks of lines that begin alike.

The varying parts of like lines are columns, pairs such as `name{key="value"} 1` among them; a block is a row of the
pairs in it, with the tables in it as child tables.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from accp_core.documents.inference.columns import (
    MAX_COLUMNS,
    RULE,
    SAMPLE,
    STRONG,
    Cells,
    Reading,
    class_of,
    column_bits,
    is_head,
    names_of,
    top_class,
)

__all__ = [
    "ANCHORED",
    "BLOCKS",
    "PAIRS",
    "SETTINGS",
    "TEMPLATE",
    "fill_blocks",
    "key_value",
    "read_anchored",
    "read_blocks",
    "read_settings",
    "read_template",
    "segments_of",
    "tokens_of",
]


TEMPLATE: Final = "lines that begin alike"
PAIRS: Final = "pairs of keys and values"
ANCHORED: Final = "words that all lines have"
BLOCKS: Final = "blocks of keys and values"
SETTINGS: Final = "keys and values"
_TOKEN: Final = re.compile(
    r'\d{1,2}:\d\d(?::\d\d)? [AaPp][Mm]\b|"(?:[^"\\]|\\.)*"|\[[^\]\s][^\]]{0,999}\]'
    r'|[\w.@/-]+=(?:"(?:[^"\\]|\\.)*"|[^\s,;]*)|\S+'
)
PAIR: Final = re.compile(
    r'(?<![\w.@/-])([A-Za-z_@][\w.@/-]*+)=("(?:[^"\\]|\\.)*"|\'[^\']*\'|\{[^}]{0,199}\}|[^\s,;"\'}]*)[,;]?'
)
_TIME: Final = re.compile(r"M{1,2}d?(?:T(?:y|Wy)?|y)?|d?M(?:yT?|T)|DT")
"""Columns that are parts of one time, by their classes: months and days of a week, days, times, years."""
_YEAR_OR_TIME: Final = re.compile(r"(?:19|20)\d\d|\d\d?:\d\d(?::\d\d)?")
_MAX_DEPTH: Final = 24
"""Words of a line that are looked at."""
_ALIKE: Final = 0.85
_MARKS: Final = "[]:,=()"
_LABEL: Final = re.compile(r"[A-Za-z]\w*:?|[^\w\s()\[\]]{1,3}")


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
    return Reading(TEMPLATE, first, kept[-1] + 1, names, rows, kept, bits, is_headed=False)


def read_anchored(lines: Sequence[str], start: int, end: int) -> Reading | None:
    """Return the reading of lines that have the same words in the same order, at different places.

    What stands between two of these words is a cell: `MD5 (a.txt) = 9e10`, `/dev/sda on / type ext4 (rw)`.
    """
    at = [number for number in range(start, end) if lines[number].strip() and not lines[number].startswith("#")]
    if len(at) < 3 or not (anchors := _anchors([tokens_of(lines[number]) for number in at[:SAMPLE]])):
        return None
    # Words in columns, and lines that begin with a time or a number, are read by their places.
    is_placed = all("  " in lines[number].strip() for number in at[:SAMPLE])
    if is_placed or top_class(tokens_of(lines[number])[0] for number in at[:SAMPLE]) in STRONG:
        return None
    cut = {number: cells for number in at if (cells := _cut_at(tokens_of(lines[number]), anchors)) is not None}
    odd = len(at) - len(cut)
    if odd > 0.05 * len(at) or not cut:
        return None
    columns = list(zip(*cut.values(), strict=True))
    labels = ["", *(anchor.strip(_MARKS) for anchor in anchors)]
    named = [(label, column) for label, column in zip(labels, columns, strict=True) if any(column)]
    split = [(label, part) for label, column in named for part in _parted(column)]
    rows: list[Cells] = [list(cells) for cells in zip(*(part for _, part in split), strict=True)]
    kinds = [top_class(part[:SAMPLE]) for _, part in split]
    if sum(kind in STRONG for kind in kinds) + len(anchors) < 2:
        return None
    bits = 2.0 * len(anchors) * (len(rows) - 1) - 4.0 * odd - 6 + sum(column_bits(part) for _, part in split)
    names = names_of([label if label.isalpha() else "" for label, _ in split], len(split))
    return Reading(ANCHORED, at[0], at[-1] + 1, names, rows, list(cut), bits, is_headed=False)


def _anchors(lines: Sequence[Sequence[str]]) -> list[str]:
    """Return the words that nearly all lines have once, in the order in which nearly all have them."""
    once = Counter(word for words in lines for word, count in Counter(words[:_MAX_DEPTH]).items() if count == 1)
    is_label = [
        once[word] >= 0.95 * len(lines) and _LABEL.fullmatch(word) is not None and class_of(word) not in STRONG
        for word in lines[0]
    ]
    # Of words in succession the first one is a label, and the others are values that are the same in all lines.
    labels = [n for n, each in enumerate(is_label) if each and not (n and is_label[n - 1])]
    if labels and all(words[-1] == lines[0][labels[-1]] for words in lines):
        labels.pop()
    return [lines[0][number] for number in labels]


def _cut_at(words: Sequence[str], anchors: Sequence[str]) -> list[str | None] | None:
    """Return what stands before, between and behind some words; None: they do not stand in this order."""
    cells: list[str | None] = []
    at = 0
    for anchor in anchors:
        try:
            found = words.index(anchor, at)
        except ValueError:
            return None
        cells.append(" ".join(words[at:found]) or None)
        at = found + 1
    return [*cells, " ".join(words[at:]) or None]


def _parted(column: Sequence[str | None]) -> list[list[str | None]]:
    """Return the words of cells as columns where all have as many."""
    parts = [cell.split() if cell else [] for cell in column]
    size = len(parts[0])
    if not 1 < size <= 3 or any(len(each) != size for each in parts):
        return [list(column)]
    return [list(each) for each in zip(*parts, strict=True)]


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
    return Reading(PAIRS, kept[0], kept[-1] + 1, list(keys), rows, list(kept), bits)


# Records of several lines that begin alike, with keys and values: settings in sections, mails, commits, calendars.

_KEY: Final = re.compile(
    r"(?P<indent>[ \t]*)(?:[-*•] )?(?P<key>\"?[A-Za-z_(/][\w .()/#&'+@*-]{0,48}?\"?)"
    r"(?:[ .]*\. ?:|\s*:(?=\s|$)|\s+=(?=\s|$)|=(?!=)|\s*\t\s*|\s+\|\s|(?P<gap> {2,}(?=\S)))\s*(?P<value>.*)"
)
_UPPER: Final = re.compile(r"(?P<indent>)(?P<key>[A-Z][A-Z-]+)(?:(?:;[^:]*)?:|\+)(?P<gap>)(?P<value>.*)")
_SEGMENT: Final = re.compile(
    r"([A-Za-z_][A-Za-z_-]*(?: [A-Za-z_][A-Za-z_-]*){0,2}?)(?:[:=] ?| (?=[^A-Za-z ]|\S*\d))(.+)|([A-Za-z_]+) (\S+)"
)
_TIGHT: Final = re.compile(r"\w+=\S*|[\w.]+ = ?")
_WORD: Final = re.compile(r"[A-Za-z_]\w*")
_MAX_TRIED: Final = 60
"""Records from which the bits of a way to part them are estimated."""
_MAX_NESTED: Final = 8
_MAX_TEXT: Final = 0.6
"""The share of the lines of records that may have no key."""

_Record = dict[str, list[str]]


@lru_cache(maxsize=20_000)
def key_value(line: str) -> tuple[int, str, str] | None:
    """Return the indentation, the key and the value of a line; None: it has none."""
    found = _KEY.fullmatch(line) or _UPPER.fullmatch(line)
    if found is None or len(found["key"].split()) > 6 or (found["gap"] and "  " in found["value"].strip()):
        return None
    value = found["value"].strip().rstrip(",").strip('"')
    return len(found["indent"].expandtabs()), found["key"].strip(' "'), value


@lru_cache(maxsize=20_000)
def _shape(line: str) -> str:
    """Return what lines that begin records have in common: their first word, without digits."""
    word = line.split(None, 1)[0] if line.strip() else ""
    found = key_value(line)
    if found and found[1].isupper():
        return f"{found[1]}:{found[2][:20] if found[1] == 'BEGIN' else ''}"
    if word and not word[0].isalnum():
        return word[0] + ("" if word[0] in "[#*" else re.sub(r"\w+", "a", word[1:]))
    return "k:" + found[1] if found else re.sub(r"\d+", "9", re.sub(r"\W.*", "", word))


def read_blocks(lines: Sequence[str], start: int, end: int) -> Reading | None:
    """Return the best reading of lines as records: apart by blank lines, indentation, or like lines."""
    there = [number for number in range(start, end) if lines[number].strip()]
    best: Reading | None = None
    tried = set()
    for starts in _partitions(lines, there) if len(there) >= 4 else ():
        if len(starts) < 2 or 2 * len(starts) > len(there) or tuple(starts[:40]) in tried:
            continue
        tried.add(tuple(starts[:40]))
        part = starts[:_MAX_TRIED]
        found = fill_blocks(lines, part, starts[_MAX_TRIED] if len(starts) > _MAX_TRIED else end)
        if found is not None:
            found.bits *= (len(there) - bisect_left(there, starts[0])) / len(there) * len(starts) / len(part)
            found.lines, found.end = starts, end
            best = found if best is None or found.bits > best.bits else best
    return best


def _partitions(lines: Sequence[str], there: Sequence[int]) -> Iterator[list[int]]:
    """Yield the numbers of the lines with which records may begin."""
    depths = [len(lines[number]) - len(lines[number].lstrip()) for number in there]
    least = min(depths)
    flush = [number for number, depth in zip(there, depths, strict=True) if depth == least]
    level = set(flush)
    after = [number for number in there if number == there[0] or not lines[number - 1].strip()]
    yield after
    yield [number for number in after if number in level]
    if 1 < len(flush) < 0.75 * len(there):
        yield flush
    counts = Counter(_shape(lines[number]) for number in flush)
    repeated = [shape for shape in dict.fromkeys(_shape(lines[number]) for number in flush[:200]) if counts[shape] > 1]
    most = [shape for shape, count in counts.most_common(2) if count > 1]
    for shape in dict.fromkeys([*repeated[:2], *most]):
        yield [number for number in flush if _shape(lines[number]) == shape]


def fill_blocks(
    lines: Sequence[str], starts: Sequence[int], end: int, skip: frozenset[int] = frozenset()
) -> Reading | None:
    """Return the reading of the records that begin with some lines, without the lines to `skip`."""
    firsts = Counter((key_value(lines[number]) or (0, ""))[1] for number in starts)
    is_named = firsts.most_common(1)[0][1] < 0.5 * len(starts) or "" in firsts
    stops = [*starts[1:], end]
    records = [
        _record(lines, start, stop, is_named=is_named, skip=skip) for start, stop in zip(starts, stops, strict=True)
    ]
    heads = Counter("k:" if is_named and key_value(lines[number]) else _shape(lines[number]) for number in starts)
    ((head, same),) = heads.most_common(1)
    _split_heads(records)
    size, keys = len(records), Counter(key for record in records for key in record)
    own = {key for key in keys if key not in ("text", "value") and not key.startswith("head")}
    core = {key for key in own if keys[key] >= max(2, 0.6 * size)}
    lines_of_text = sum(len(record.get("text", ())) for record in records)
    least = 0.3 if lines_of_text > size else 0.02
    shared = {key for key in own if keys[key] >= max(2, least * size)} - core
    is_headed = same >= 0.8 * size and bool(core) and head not in "-*"
    if (not core and not is_headed) or len(keys) > 5 * MAX_COLUMNS:
        return None
    if size > 4:
        _fold(records, own - core - shared)
        keys = Counter(key for record in records for key in record)
    rows: list[Cells] = [["\n".join(record[key]) if key in record else None for key in keys] for record in records]
    bits = 3.0 * sum(keys[key] - 1 for key in core) + 1.5 * sum(keys[key] - 1 for key in shared)
    bits += 2.0 * is_headed * (same - 1) - 3.0 * (size - same) - 8
    bits -= 4.0 * sum(core.isdisjoint(record) for record in records) if core else 0
    bits -= 0.7 * sum(len(record[key]) - 1 for record in records for key in core | shared if key in record)
    bits -= 0.3 * sum(len(record.get("text", ())) for record in records) + 1.5 * sum(n == 1 for n in keys.values())
    bits += 0.5 * sum(column_bits([row[number] for row in rows]) for number, key in enumerate(keys) if key in core)
    texts = sum(len(record.get("text", ())) for record in records)
    if (
        len(keys) > MAX_COLUMNS
        or len(keys) < 2
        or texts > _MAX_TEXT * sum(len(part) for each in records for part in each.values())
    ):
        return None
    return Reading(BLOCKS, starts[0], end, list(keys), rows, list(starts), bits, is_headed=True)


def _fold(records: Sequence[_Record], rare: set[str]) -> None:
    """Make keys that hardly any record has a part of its text."""
    for record in records:
        for key in rare.intersection(record):
            record.setdefault("text", []).extend(f"{key}: {value}" for value in record.pop(key))


def _record(lines: Sequence[str], start: int, end: int, *, is_named: bool, skip: frozenset[int]) -> _Record:
    """Return the keys and values of a block; those that are nested have the keys above them in front."""
    record: _Record = {}
    stack: list[tuple[int, str]] = []
    for number in range(start, end):
        line = lines[number]
        if number in skip or not line.strip() or RULE.fullmatch(line):
            continue
        depth = len(line) - len(line.lstrip())
        stack = [above for above in stack if above[0] < depth]
        found = key_value(line)
        if number == start and (found is None or is_named):
            record["head"] = [line.strip() if found is None else found[1]]
            for name, value in (segments_of(found[2]) or {"value": found[2]}).items() if found else ():
                record.setdefault(name, []).append(value)
        elif several := segments_of(line):
            first = next(iter(several))
            for key, value in several.items():
                record.setdefault(key if key == first or key not in record else f"{first}.{key}", []).append(value)
        elif found is not None:
            _, key, value = found
            name = f"{stack[-1][1]}.{key}" if stack and stack[-1][1] not in record else key
            if value or number == start:
                record.setdefault(name, []).append(value)
            if len(stack) < _MAX_NESTED:
                stack.append((depth, name))
        else:
            is_value = stack and (stack[-1][1] not in record or lines[number - 1].strip())
            record.setdefault(stack[-1][1] if is_value else "text", []).append(line.strip())
    return record


def _split_heads(records: Sequence[_Record]) -> None:
    """Split the lines that begin records into columns where they have equally many words."""
    heads = [tokens_of(record["head"][0]) for record in records if "head" in record]
    size = len(heads[0]) if heads else 0
    if not 1 < size <= 12 or sum(len(head) == size for head in heads) < 0.9 * len(heads):
        return
    words = [next(iter(column)) if len(column) == 1 else None for column in map(set, zip(*heads, strict=False))]
    for record in records:
        if "head" in record:
            _split_head(record, words if len(records) > 1 else [None] * len(words))


def _split_head(record: _Record, words: Sequence[str | None]) -> None:
    cells = tokens_of(record.pop("head")[0])
    label = ""
    for number, cell in enumerate(cells[: len(words)]):
        word = words[number]
        if word:
            label = word.strip("[]:,=()")
            continue
        name = label or ("head" if number == 0 else f"head{number}")
        record[name if name not in record else f"head{number}"] = [cell.strip('[]:,{}()"')]
        label = ""
    if len(cells) > len(words):
        record["head"] = [" ".join(cells)]


@lru_cache(maxsize=20_000)
def segments_of(line: str) -> dict[str, str] | None:
    """Return the keys and values of a line that has several: `RX packets 5  bytes 3`, `inet 10.0.0.1 netmask 0xff`."""
    line = line.strip()
    parts = re.split(r"\s{2,}|, ", line) if "  " in line or ", " in line else []
    pairs: dict[str, str] = {}
    for part in parts:
        if not (found := _SEGMENT.fullmatch(part)):
            return _word_pairs(line)
        pairs.setdefault(found[1] or found[3], found[2] or found[4])
    return pairs if len(pairs) > 1 else _word_pairs(line)


def _word_pairs(line: str) -> dict[str, str] | None:
    """Return the pairs of a line of words and values in turn."""
    words = line.split()
    if not 2 <= len(words) <= 24:
        return None
    pairs: dict[str, str] = {}
    at = left = 0
    while at < len(words):
        found = PAIR.fullmatch(words[at])
        if found and found[2]:
            pairs[found[1]] = found[2]
        elif at + 1 < len(words) and _WORD.fullmatch(words[at]) and class_of(words[at + 1]) in "DTINHP":
            pairs.setdefault(words[at], words[at + 1])
            at += 1
        else:
            left += 1
        at += 1
    return pairs if pairs and left <= 1 and 2 * len(pairs) + left >= 0.7 * len(words) else None


def read_settings(lines: Sequence[str], start: int, end: int) -> Reading | None:
    """Return the reading of lines that each have a key of their own, tight as `A=1` or with all values in one place."""
    there = [number for number in range(start, end) if lines[number].strip() and not lines[number].startswith("#")]
    found = {
        number: pair for number in there if (pair := key_value(lines[number])) and (pair[2] or "=" in lines[number])
    }
    keys = [pair[1] for pair in found.values()]
    if len(found) < max(3, 0.9 * len(there)) or len(set(keys)) < len(keys):
        return None
    first = lines[there[0]]
    if is_head(first) and first.isupper() and ":" not in first:
        return None
    places = Counter(len(lines[number].rstrip()) - len(pair[2]) for number, pair in found.items())
    is_placed = places.most_common(1)[0][1] >= 0.9 * len(found) and len(set(map(len, keys))) > 1
    is_tight = sum(_TIGHT.match(lines[number]) is not None for number in found) >= 0.9 * len(found)
    if not is_placed and not is_tight:
        return None
    rows: list[Cells] = [[key, value or None] for _, key, value in found.values()]
    bits = 4.0 * len(rows) + 0.5 * column_bits([row[1] for row in rows]) - 3.0 * (len(there) - len(found)) - 6
    bits -= 3.0 * sum(pair[2].endswith((".", ",", ";")) and " " in pair[2] for pair in found.values())
    return Reading(SETTINGS, there[0], there[-1] + 1, ["key", "value"], rows, list(found), bits, is_headed=False)
