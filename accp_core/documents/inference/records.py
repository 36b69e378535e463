"""Records: lines whose words are of the same kinds, and blocks of lines that begin alike.

The varying parts of like lines are columns, pairs such as `name{key="value"} 1` among them; a block is a row of the
pairs in it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice, pairwise, takewhile
from typing import Final

from accp_core.documents.grids.cells import MAX_COLUMNS, SAMPLE, STRONG, class_of, distinct_names
from accp_core.documents.inference.columns import RULE, Cells, Reading, bits_of, column_bits, names_columns, top_class

__all__ = ["SECTION", "fill_blocks", "read_blocks", "read_template"]

TEMPLATE: Final = "lines that begin alike"
PAIRS: Final = "pairs of keys and values"
ANCHORED: Final = "words that all lines have"
BLOCKS: Final = "blocks of keys and values"
SECTION: Final = "section"
"""The column of the headings of tables."""
_TOKEN: Final = re.compile(
    r'\d{1,2}:\d\d(?::\d\d)? [AaPp][Mm]\b|"(?:[^"\\]|\\.)*"|\[[^\]\s][^\]]{0,999}\]'
    r'|[\w.@/-]+=(?:"(?:[^"\\]|\\.)*"|[^\s,;]*)|\S+'
)
_PAIR: Final = re.compile(
    r'(?<![\w.@/?&%-])([A-Za-z_@][\w.@/-]*+)=("(?:[^"\\]|\\.)*"|\'[^\']*\'|\{[^}]{0,199}\}|[^\s,;"\'}]*)[,;]?'
)
_LIST: Final = re.compile(r"\(\S*\)")
"""A list such as `(rw,size=4k)`, in which a pair is none of its line."""
_MAX_DEPTH: Final = 24
"""Words of a line that are looked at."""
_ALIKE: Final = 0.85
MARKS: Final = '[]{}:,=()"'
"""Signs around the words of a line."""
_LABEL: Final = re.compile(r"\(?[A-Za-z]\w*:?|[^\w\s()\[\]]{1,6}")
_MAX_PARTS: Final = 4
_MIN_TIMED: Final = 0.2
"""The share of the lines of a log that begin with a time at least."""
_BULLETS: Final = "-*•+"
"""Signs with which the lines of a list begin, which are sentences."""


def read_template(lines: Sequence[str], start: int, end: int) -> Reading | None:
    """Return the reading of lines that begin alike."""
    at = [number for number in range(start, end) if lines[number].strip() and not lines[number].startswith(("#", "//"))]
    if len(at) < 3:
        return None
    paired = sum(_PAIR.search(_LIST.sub("", lines[number])) is not None for number in at[:SAMPLE])
    if paired >= 0.8 * min(len(at), SAMPLE):
        return _read_pairs(lines, at)
    of_lines = {number: _TOKEN.findall(lines[number]) for number in at}
    timed = [number for number in at if _begins_with_time(lines[number], of_lines[number])]
    is_log = 2 < len(timed) < len(at) and len(timed) >= _MIN_TIMED * len(at)
    at = timed if is_log else at
    stops = dict(pairwise([*at, end])) if is_log else {number: number + 1 for number in at}
    tokens = [of_lines[number] for number in at]
    kinds, is_grid = _kinds(tokens)
    is_grid &= not is_log
    strong = [place for place, kind in enumerate(kinds) if kind in STRONG]
    if not strong or (strong[0] > 0 and len(strong) < 2) or (tokens[0][0][0] in _BULLETS and len(strong) < 3):
        return _read_anchored(tokens, at)
    kept = [number for number in at if _is_alike(of_lines[number], kinds, strong)]
    odd = len(at) - len(kept)
    if len(kept) < 3 or odd > 0.4 * len(at):
        return _read_anchored(tokens, at)
    rows, unread = list[Cells](), set(range(kept[0], stops[kept[-1]]))
    for number in kept:
        *_, last = islice(_TOKEN.finditer(lines[number]), len(kinds))
        below = list(takewhile(_goes_on, lines[number + 1 : stops[number]]))
        text = "\n".join([lines[number][last.end() :].strip(), *below]).rstrip()
        rows.append([*of_lines[number][: len(kinds)], *([] if is_grid else [text or None])])
        unread.difference_update(range(number, number + 1 + len(below)))
    names = [f"c{place}" for place in range(len(kinds))] + ["text"] * (not is_grid)
    above = lines[kept[0] - 1].split() if kept[0] else []
    is_named = len(above) == len(names) == len(set(above)) and names_columns(above, rows)
    bits = bits_of(rows) + 1.0 * len(rows) * is_grid - 4.0 * odd - 6
    end, columns = stops[kept[-1]], above if is_named else names
    return Reading(TEMPLATE, kept[0] - is_named, end, columns, rows, kept, bits, is_named, is_log, sorted(unread))


def _begins_with_time(line: str, words: Sequence[str]) -> bool:
    kinds = list(map(class_of, words[:4]))
    return not line[0].isspace() and kinds[0] in "DMT" and ("T" in kinds or ":" in words[0])


def _goes_on(line: str) -> bool:
    """Return whether a line below an entry of a log may belong to it: it begins with no number, and is no title."""
    words = line.split()
    is_title = len(words) > 2 and words[0] == words[-1] and not words[0].isalnum()
    return bool(words) and class_of(words[0]) not in "DTN" and not is_title


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
        if place and kinds[-1] in "MN" and something["T"] and something["T"] + something["N"] >= 0.9 * len(column):
            top, count = "T", len(column)  # a time, or the year of another moment
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
    return sum(kind in (want, "Z") or want + kind in ("TN", "HN") for want, kind in found) >= 0.75 * len(strong)


def _read_anchored(tokens: Sequence[Sequence[str]], at: Sequence[int]) -> Reading | None:
    """Return the reading of lines that have the same words in the same order, at different places.

    What stands between two of these words is a cell: `MD5 (a.txt) = 9e10`, `/dev/sda on / type ext4 (rw)`.
    """
    anchors = _anchors(tokens[:SAMPLE]) if tokens[0][0][0] not in _BULLETS else []
    names, cut = _cut_alike(tokens, anchors) if anchors else ([], {})
    if sum(name.isalpha() for name in names) == 1:
        names = distinct_names([], len(names))  # the word may be a value that all lines have
    rows, odd = list(cut.values()), len(at) - len(cut)
    strong = sum(top_class(column) in STRONG for column in zip(*rows[:SAMPLE], strict=True))
    if odd > 0.05 * len(at) or strong + len(anchors) < 2:
        return None
    bits = 2.0 * len(anchors) * (len(rows) - 1) - 4.0 * odd - 6 + bits_of(rows)
    return Reading(ANCHORED, at[0], at[-1] + 1, names, rows, [at[number] for number in cut], bits, is_headed=False)


def _anchors(lines: Sequence[Sequence[str]]) -> list[str]:
    """Return the words that nearly all lines have once, in the order in which nearly all have them."""
    once = Counter(word for words in lines for word, count in Counter(words[:_MAX_DEPTH]).items() if count == 1)
    is_label = [
        once[word] >= 0.95 * len(lines) and _LABEL.fullmatch(word) is not None and class_of(word) not in STRONG
        for word in lines[0]
    ]
    # Of words in succession the first one is a label, and the others are values that are the same in all lines. Signs
    # in front of a line are no label.
    begin = not lines[0][0].isalnum()
    labels = [n for n, each in enumerate(is_label) if each and not (n > begin and is_label[n - 1])]
    if labels and all(words[-1] == lines[0][labels[-1]] for words in lines):
        labels.pop()
    return [lines[0][number] for number in labels]


def _cut_alike(lines: Sequence[Sequence[str]], anchors: Sequence[str]) -> tuple[list[str], dict[int, Cells]]:
    """Return names for what stands between the anchors of lines, and the cells of those lines that have all anchors."""
    cut = {number: cells for number, words in enumerate(lines) if (cells := _cut_at(words, anchors)) is not None}
    labels = ["", *(anchor.strip(MARKS) for anchor in anchors)]
    parts = [
        (label if label.isalpha() and not number else "", part)
        for label, column in zip(labels, zip(*cut.values(), strict=True), strict=False)
        if any(column)
        for number, part in enumerate(_parted(column))
    ]
    rows = zip(*(part for _, part in parts), strict=True)
    return distinct_names([name for name, _ in parts], len(parts)), dict(zip(cut, map(list, rows), strict=False))


def _cut_at(words: Sequence[str], anchors: Sequence[str]) -> Cells | None:
    """Return what stands before, between and behind some words; None: they do not stand in this order."""
    cells: Cells = []
    at = 0
    for anchor in anchors:
        if anchor not in words[at:]:
            return None
        found = words.index(anchor, at)
        cells.append(" ".join(words[at:found]) or None)
        at = found + 1
    return [*cells, " ".join(words[at:]) or None]


def _parted(column: Sequence[str | None]) -> list[Sequence[str | None]]:
    """Return the words of cells as columns where all have as many."""
    parts = [cell.split() if cell else [] for cell in column]
    if not 1 < len(parts[0]) <= _MAX_PARTS or len(set(map(len, parts))) > 1:
        return [column]
    return list(zip(*parts, strict=True))


def _read_pairs(lines: Sequence[str], at: Sequence[int]) -> Reading | None:
    """Return the reading of lines with pairs, which may have words beside them."""
    records: dict[int, dict[str, str]] = {}
    pairs = 0
    for number in at:
        found = _PAIR.findall(lines[number])
        rest = re.sub(r"[\s{}]+", " ", _PAIR.sub(" ", lines[number])).strip().split(" ", 3)
        if found or (records and len(rest) == 2 and rest[-1][:1].isdigit()):
            words = {f"c{place}": word.rstrip(":") for place, word in enumerate(rest) if word}
            names = distinct_names([key for key, _ in found], len(found))
            records[number] = words | dict(zip(names, (value.strip("\"'") for _, value in found), strict=True))
            pairs += len(found)
    keys = Counter(key for record in records.values() for key in record)
    is_few = pairs < 1.5 * len(records) and max(keys.values(), default=0) < 0.9 * len(records)
    if len(records) < 2 or len(keys) > MAX_COLUMNS or is_few:
        return None
    rows: list[Cells] = [[record.get(key) for key in keys] for record in records.values()]
    bits = 2.0 * sum(count - 1 for count in keys.values()) - 2.0 * sum(count == 1 for count in keys.values())
    bits += bits_of(rows) - 4.0 * (len(at) - len(records)) - 6
    kept = list(records)
    return Reading(PAIRS, kept[0], kept[-1] + 1, list(keys), rows, kept, bits)


# Records of several lines that begin alike, with keys and values: settings in sections, mails, commits, calendars.

_KEY: Final = re.compile(
    r"(?P<indent>[ \t]*)(?:[-*•] )?(?P<key>\"?[A-Za-z_(/][\w .()/#&'+@*-]{0,48}?\"?)"
    r"(?:[ .]*\. ?:|\s*:(?=\s|$)|\s+=(?=\s|$)|=(?!=)|\s*\t\s*|\s+\|(?=\s|$)|(?P<gap> {2,}(?=\S)))\s*(?P<value>.*)"
)
_UPPER: Final = re.compile(r"(?P<indent>)(?P<key>[A-Z][A-Z-]+)(?:(?:;[^:]*)?:|\+)(?P<gap>)(?P<value>.*)")
_SEGMENT: Final = re.compile(
    r"([A-Za-z_][A-Za-z_-]*(?: [A-Za-z_][A-Za-z_-]*){0,2}?)(?:([:=]) ?(?![:=])| (?=[^A-Za-z ]|\S*\d|\w+$))(.+)"
)
_APART: Final = re.compile(r"(\s{2,}|, | \| )")
_MAX_TRIED: Final = 60
"""Records from which the bits of a way to part them are estimated."""
_MAX_NESTED: Final = 8
_MAX_TEXT: Final = 0.6
"""The share of the lines of records that may have no key."""

_Record = dict[str, list[str]]


@lru_cache(maxsize=20_000)
def _key_value(line: str) -> tuple[int, str, str] | None:
    """Return the indentation, the key and the value of a line; None: it has none."""
    found = _KEY.fullmatch(line) or _UPPER.fullmatch(line)
    if found is None or len(found["key"].split()) > 6 or (found["gap"] and "  " in found["value"].strip()):
        return None
    value = found["value"].strip().rstrip(",").strip('"')
    return len(found["indent"].expandtabs()), found["key"].strip(' "'), value


def _shape(line: str) -> str:
    """Return what lines that begin records have in common: their first word, without digits."""
    word = line.split(None, 1)[0] if line.strip() else ""
    found = _key_value(line)
    if word and not word[0].isalnum():
        return "[" if word[0] == "[" else re.sub(r"\w+", "a", word)
    if found is None:
        return re.sub(r"\d+", "9", re.sub(r"\W.*", "", word))
    return f"k:{found[1]}:{found[2] if found[2].isalpha() and found[2].isupper() else ''}"


def read_blocks(lines: Sequence[str], start: int, end: int) -> Reading | None:
    """Return the best reading of lines as records: apart by blank lines, indentation, or like lines."""
    there = [number for number in range(start, end) if lines[number].strip()]
    best: Reading | None = None
    shapes = {number: _shape(lines[number]) for number in there}
    for starts in map(list, dict.fromkeys(map(tuple, _partitions(lines, there, shapes) if len(there) >= 4 else ()))):
        # If each record has a line like the first one, the first record begins there, and these starts are too late.
        is_late = there[:1] < starts[:1] and [*shapes.values()].count(shapes[there[0]]) >= len(starts)
        if len(starts) < 2 or 2 * len(starts) > len(there) or is_late:
            continue
        part = starts[:_MAX_TRIED]
        found = fill_blocks(lines, part, starts[_MAX_TRIED] if len(starts) > _MAX_TRIED else end)
        if found is not None:
            found.bits *= (len(there) - bisect_left(there, starts[0])) / len(there) * len(starts) / len(part)
            found.lines, found.end = starts, found.end if part == starts else end
            best = found if best is None or found.bits > best.bits else best
    # All records are read in the way that is best for the first ones.
    return best if best is None or len(best.rows) == len(best.lines) else fill_blocks(lines, best.lines, end)


def _partitions(lines: Sequence[str], there: Sequence[int], shapes: Mapping[int, str]) -> Iterator[list[int]]:
    """Yield the numbers of the lines with which records may begin."""
    depths = [len(lines[number]) - len(lines[number].lstrip()) for number in there]
    least = min(depths)
    flush = [number for number, depth in zip(there, depths, strict=True) if depth == least]
    level = set(flush)
    yield [number for number in there if number in level and (number == there[0] or not lines[number - 1].strip())]
    if 1 < len(flush) < 0.75 * len(there):
        yield flush
    if (first := shapes[there[0]]).startswith("k:"):
        yield [number for number in there if shapes[number] == first]
    counts = Counter(map(shapes.__getitem__, flush))
    repeated = [shape for shape, count in counts.items() if count > 1]
    for shape in dict.fromkeys([*repeated[:2], *sorted(repeated, key=counts.__getitem__)[-2:]]):
        yield [number for number in flush if shapes[number] == shape]


def fill_blocks(lines: Sequence[str], starts: Sequence[int], end: int) -> Reading | None:
    """Return the reading of the records that begin with some lines."""
    firsts = Counter((_key_value(lines[number]) or (0, ""))[1] for number in starts)
    is_named = max((count for key, count in firsts.items() if key), default=0) <= 0.5 * len(starts)
    stops = [*starts[1:], end]
    records = [_record(lines, start, stop, is_named=is_named) for start, stop in zip(starts, stops, strict=True)]
    if len(records) > 1 and not any("text" in record for record in records[:-1]):
        end = _end_of_last(lines, starts[-1], end, set().union(*records[:-1]), is_named=is_named)
        records[-1] = _record(lines, starts[-1], end, is_named=is_named)
    heads = Counter("k:" if is_named and _key_value(lines[number]) else _shape(lines[number]) for number in starts)
    ((head, same),) = heads.most_common(1)
    _split_heads(records)
    size, keys = len(records), Counter(key for record in records for key in record)
    own = {key for key in keys if key not in ("text", "value") and not key.startswith("head")}
    core = {key for key in own if keys[key] >= max(2, 0.6 * size)}
    texts = sum(len(record.get("text", ())) for record in records)
    shared = {key for key in own if keys[key] >= max(2, (0.3 if texts > size else 0.02) * size)} - core
    is_headed = same >= 0.8 * size and bool(core) and head not in "-*"
    if size > 4:  # keys that hardly any record has are a part of its text
        for record in records:
            for key in [key for key in record if key in own - core - shared]:
                record.setdefault("text", []).extend(f"{key}: {value}" for value in record.pop(key))
        keys = Counter(key for record in records for key in record)
    texts = sum(len(record.get("text", ())) for record in records)
    parts = sum(len(part) for each in records for part in each.values())
    has_others = (same < size or (not is_named and "" in firsts)) and core and any(map(core.isdisjoint, records))
    if not (core or is_headed) or has_others or not 2 <= len(keys) <= MAX_COLUMNS or texts > _MAX_TEXT * parts:
        return None
    rows: list[Cells] = [["\n".join(record[key]) if key in record else None for key in keys] for record in records]
    bits = 3.0 * sum(keys[key] - 1 for key in core) + 1.5 * sum(keys[key] - 1 for key in shared)
    bits += 2.0 * is_headed * (same - 1) - 3.0 * (size - same) - 8
    bits -= 4.0 * sum(core.isdisjoint(record) for record in records) if core else 0
    bits -= 0.7 * sum(len(record[key]) - 1 for record in records for key in core | shared if key in record)
    bits -= 0.3 * texts + 1.5 * sum(count == 1 for count in keys.values())
    bits += 0.5 * sum(column_bits([row[number] for row in rows]) for number, key in enumerate(keys) if key in core)
    return Reading(BLOCKS, starts[0], end, list(keys), rows, list(starts), bits, is_of_blocks=True)


def _end_of_last(lines: Sequence[str], start: int, end: int, keys: Collection[str], *, is_named: bool) -> int:
    """Return the number of the line behind the last record, below which there may be words of the whole text."""
    for number in range(start + 1, min(end, start + SAMPLE)):
        if lines[number].strip() and _record(lines, start, number + 1, is_named=is_named).keys() - keys:
            return end if lines[number - 1].strip() and _key_value(lines[number]) else number
    return end


def _record(lines: Sequence[str], start: int, end: int, *, is_named: bool) -> _Record:
    """Return the keys and values of a block; those that are nested have the keys above them in front."""
    record: _Record = {}
    stack: list[tuple[int, str, int]] = []
    paired: set[str] = set()
    above = ""
    for number in range(start, end):
        line = lines[number]
        if not line.strip() or RULE.fullmatch(line):
            above = ""
            continue
        depth = len(line) - len(line.lstrip())
        found = _key_value(line)
        # Keys that end in the same column are aligned to the right: none of them is nested in another.
        place = depth + len(found[1]) if found else 0
        stack = [each for each in stack if each[0] < depth and each[2] != place]
        if number == start and (found is None or is_named):
            record["head"] = [line.strip() if found is None else found[1]]
            for name, value in (_segments_of(found[2]) or {"value": found[2]}).items() if found else ():
                record.setdefault(name, []).append(value)
        elif not (is_more := above and lines[number - 1].endswith(",")) and (several := _segments_of(line)):
            first, above = next(iter(several)), ""
            paired.update(several)
            for key, value in several.items():
                record.setdefault(key if key == first or key not in record else f"{first}.{key}", []).append(value)
        elif found is not None and not is_more:
            _, key, value = found
            name = f"{stack[-1][1]}.{key}" if stack and stack[-1][1] not in record else f"{key}{'_2' * (key in paired)}"
            if value or number == start:
                record.setdefault(name, []).append(value)
            if len(stack) < _MAX_NESTED:
                stack.append((depth, name, place))
            above = stack[-1][1]
        else:
            is_value = stack and (stack[-1][1] not in record or stack[-1][1] == above)
            above = stack[-1][1] if is_value else "text"
            record.setdefault(above, []).append(line.strip())
    return record


def _split_heads(records: Sequence[_Record]) -> None:
    """Split the lines that begin records into columns at the words that all have, or where all have as many words."""
    headed = [record for record in records if "head" in record]
    heads = [_TOKEN.findall(record["head"][0]) for record in headed]
    names, cut = _cut_alike(heads, _anchors(heads) if len(heads) > 1 else [])
    if len(cut) < 0.9 * len(heads):
        return
    columns = zip(names, zip(*cut.values(), strict=True), strict=False)
    varied = [(name, cells) for name, cells in columns if len(cut) == 1 or len(set(cells)) > 1]
    for place, number in enumerate(cut):
        record = headed[number]
        del record["head"]
        split = {
            f"head{at or ''}" if name[1:].isdigit() or name in record else name: [cells[place].strip(MARKS)]
            for at, (name, cells) in enumerate(varied)
            if cells[place]
        }
        rest = dict(record)
        record.clear()
        record.update(split | rest)


@lru_cache(maxsize=20_000)
def _segments_of(line: str) -> dict[str, str] | None:
    """Return the keys and values of a line that has several, all joined in one way: `RX packets 5  bytes 3`."""
    first, *others = _APART.split(line.strip())
    parts, head = [first], _SEGMENT.fullmatch(first)
    for apart, part in zip(others[::2], others[1::2], strict=True):
        if head and head[2] == ":" and ((each := _SEGMENT.fullmatch(part)) is None or each[2] != ":"):
            parts[-1] += apart + part  # the rest of a value
        else:
            parts.append(part)
    found = [_SEGMENT.fullmatch(part) for part in parts]
    if len(found) < 2 or None in found or len({each and each[2] for each in found}) > 1:
        return None
    names = distinct_names([each[1] for each in found if each], len(found))
    return dict(zip(names, (each[3] for each in found if each), strict=True))
