"""Records of several lines that begin alike, with keys and values: settings in sections, mails, commits, calendars."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from accp_core.documents.inference.cells import MAX_COLUMNS, RULE, Cells, Reading, class_of, column_bits
from accp_core.documents.inference.template import PAIR, tokens_of

__all__ = ["fill_blocks", "key_value", "read_blocks", "read_settings", "segments_of"]

_HOW: Final = "blocks of keys and values"
_KEY: Final = re.compile(
    r"(?P<indent>[ \t]*)(?:[-*•] )?(?P<key>\"?[A-Za-z_(/][\w .()/#&'+@*-]{0,48}?\"?)"
    r"(?:[ .]*\. ?:|\s*:(?=\s|$)|\s+=(?=\s|$)|=(?!=)|\s*\t\s*|\s+\|\s|(?P<gap> {2,}(?=\S)))\s*(?P<value>.*)"
)
_UPPER: Final = re.compile(r"(?P<indent>)(?P<key>[A-Z][A-Z-]+)(?:(?:;[^:]*)?:|\+)(?P<gap>)(?P<value>.*)")
_SEGMENT: Final = re.compile(
    r"([A-Za-z_][A-Za-z_-]*(?: [A-Za-z_][A-Za-z_-]*){0,2}?)(?:[:=] ?| (?=[^A-Za-z ]|\S*\d))(.+)|([A-Za-z_]+) (\S+)"
)
_TIGHT: Final = re.compile(r"\w+=\S*")
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
    flush = [number for number, depth in zip(there, depths, strict=True) if depth == min(depths)]
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
    return Reading(_HOW, starts[0], end, list(keys), rows, list(starts), bits, is_headed=True)


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
    places = Counter(len(lines[number].rstrip()) - len(pair[2]) for number, pair in found.items())
    is_placed = places.most_common(1)[0][1] >= 0.9 * len(found) and len(set(map(len, keys))) > 1
    is_tight = sum(_TIGHT.match(lines[number]) is not None for number in found) >= 0.9 * len(found)
    if not is_placed and not is_tight:
        return None
    rows: list[Cells] = [[key, value or None] for _, key, value in found.values()]
    bits = 4.0 * len(rows) + 0.5 * column_bits([row[1] for row in rows]) - 3.0 * (len(there) - len(found)) - 6
    bits -= 3.0 * sum(pair[2].endswith((".", ",", ";")) and " " in pair[2] for pair in found.values())
    return Reading(
        "keys and values", there[0], there[-1] + 1, ["key", "value"], rows, list(found), bits, is_headed=False
    )
