"""A later version of a text (a file, a page, a poll) as what changed in it.

    [preview: $cold.618033988749; as $cold.314159265358 but for:]
    -52: return total
    +52: return total + tax
    -90 to 97: 8 lines

A line with "-" is one of the earlier version, one with "+" one of the later, each with its number in its version.
Where that is longer than a preview, the preview says how many lines changed:

    [preview: 900 lines $cold.618033988749; 212 changed since $cold.314159265358]
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, Final

from accp_core.compression import Compressed, count_once
from accp_core.markers import MarkerStart, escape_markers
from accp_core.ports import TokenCounter
from accp_core.projection.changes import MAX_COMPARED, MAX_VERSIONS, Pair, Version, rising
from accp_core.references import short_reference
from accp_core.strict_json import compact_json, read_json
from accp_core.view.notation import visible

__all__ = ["Differences", "changed_lines"]

_MAX_REMOVED: Final = 3
"""Lines in a row that are shown where they are gone; of more their numbers are."""
_MAX_SHOWN: Final = 16
"""Characters of a difference for each token of the preview whose place it takes."""
_NUMBERED: Final = re.compile(r" *([0-9]{1,9})[\t→].*")
"""A line with its number before it, as tools print a file."""
_CUT: Final = re.compile(r'source (?:was )?(cut off|says ".*")')
"""How the first line of a preview says that a tool cut the source."""
_LINE_BYTES: Final = 100
"""Memory of a line beside its text."""


class Differences:
    """What one reader was shown of texts, so that a later version of one is shown as what changed in it."""

    def __init__(self, counter: TokenCounter) -> None:
        """Begin with nothing shown; `counter` counts the tokens of the model."""
        self._counter: Final = counter
        self._sources: Final[deque[Version]] = deque(maxlen=MAX_VERSIONS)
        """The texts behind previews."""

    @property
    def size(self) -> int:
        """The bytes of memory that the texts take, about."""
        return sum(version.chars + _LINE_BYTES * len(version.units) for version in self._sources)

    def shorten_preview(self, text: str, preview: Compressed) -> Compressed:
        """Return a preview of `text` as what changed since an earlier version, where that has no more tokens."""
        if preview.stored is None or len(text) > MAX_COMPARED:
            return preview
        later = _version_of(short_reference(preview.stored.key), text)
        earlier = next(filter(later.is_later, reversed(self._sources)), None)
        self._sources.append(later)
        if earlier is None or earlier.name == later.name:
            return preview
        cut = _CUT.search(preview.text.partition(later.name)[0])
        changed = visible(escape_markers("\n".join(changed_lines(earlier.units, later.units))))
        head = f"{MarkerStart.PREVIEW}: {f'source {cut[1]} ' if cut else ''}{later.name}"
        shown = f"{head}; as {earlier.name} but for:]\n{changed}"
        is_long = len(shown) > _MAX_SHOWN * preview.tokens_after
        if is_long or (after := count_once(self._counter)(shown)) > preview.tokens_after:
            return self._with_count(preview, changed.count("\n+") + changed.startswith("+"), earlier.name)
        return replace(preview, text=shown, tokens_after=after)

    def _with_count(self, preview: Compressed, count: int, earlier: str) -> Compressed:
        """Return a preview that says how many lines changed since `earlier`, where it stays smaller than the text."""
        first, feed, rest = preview.text.partition("\n")
        shown = f"{first.removesuffix(']')}; {count:,} changed since {earlier}]{feed}{rest}"
        after = self._counter(shown)
        return preview if after >= preview.tokens_before else replace(preview, text=shown, tokens_after=after)


def _version_of(name: str, text: str) -> Version:
    """Return a text by its lines, JSON by its rows and its other members."""
    try:
        value = read_json(text)
        return Version(list(_members("", value)), name)
    except (ValueError, RecursionError):
        return Version(_without_numbers(text.split("\n")), name)


def _members(name: str, value: Any) -> Iterator[str]:
    """Yield the rows of arrays and the other members of maps, each behind the names of the maps that hold it."""
    if isinstance(value, dict) and any(isinstance(member, (dict, list)) for member in value.values()):
        for key, member in value.items():
            yield from _members(f"{name}.{key}".removeprefix("."), member)
    else:
        yield from (f"{name} {compact_json(row)}".strip() for row in (value if isinstance(value, list) else [value]))


def _without_numbers(lines: Sequence[str]) -> Sequence[str]:
    """Return lines without the numbers before them, as tools print a file, where each that is not empty has one."""
    found = [_NUMBERED.fullmatch(line) for line in lines if line]
    numbers = [int(line[1]) for line in found if line]
    is_numbered = len(numbers) == len(found) and all(later == earlier + 1 for earlier, later in pairwise(numbers))
    return [line and line.lstrip(" 0123456789")[1:] for line in lines] if is_numbered else lines


def changed_lines(earlier: Sequence[str], later: Sequence[str]) -> list[str]:
    """Return the lines that two versions do not have in common, in order, each with its number from 1 on."""
    changed: list[str] = []
    same = [(-1, -1), *_same_lines(earlier, later), (len(earlier), len(later))]
    for (old, new), (old_end, new_end) in pairwise(same):
        gone = range(old + 1, old_end)
        if len(gone) > _MAX_REMOVED:
            changed.append(f"-{gone[0] + 1} to {gone[-1] + 1}: {len(gone):,} lines")
        else:
            changed += (f"-{number + 1}: {earlier[number]}" for number in gone)
        changed += (f"+{number + 1}: {later[number]}" for number in range(new + 1, new_end))
    return changed


def _same_lines(earlier: Sequence[str], later: Sequence[str]) -> Iterator[Pair]:
    """Yield the numbers of the lines that two versions have in common, in order; it takes n log n steps.

    As a patience diff finds them: lines that each has once, in the same order, and the equal lines beside those.
    """
    counts, others = Counter(earlier), Counter(later)
    places = {line: number for number, line in enumerate(earlier) if counts[line] == 1}
    once = [(places[line], number) for number, line in enumerate(later) if line in places and others[line] == 1]
    ends = (len(earlier), len(later))
    for start, end in pairwise([(-1, -1), *rising(once), ends]):
        behind = list(_equal_run(earlier, later, start, end, 1))
        yield from behind
        yield from reversed(list(_equal_run(earlier, later, end, behind[-1] if behind else start, -1)))
        if end != ends:
            yield end


def _equal_run(earlier: Sequence[str], later: Sequence[str], start: Pair, end: Pair, step: int) -> Iterator[Pair]:
    """Yield the equal lines next to `start`, as far as they go before `end`."""
    old, new = start[0] + step, start[1] + step
    while (old - end[0]) * step < 0 and (new - end[1]) * step < 0 and earlier[old] == later[new]:
        yield old, new
        old, new = old + step, new + step
