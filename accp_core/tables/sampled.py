"""The tables of a JSON text of megabytes, made of a sample: some members of its largest array or map.

Each member is read and dropped, so that the sample bounds the memory; the value of a whole text takes up to 26 times
its size. The sample has the first and the last members, some from everywhere, and those that hold given places.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from json.scanner import make_scanner
from typing import Any, Final

from accp_core.tables.build import tables_of
from accp_core.tables.source import read_document, read_lines, unwrap
from accp_core.tables.table import Table

__all__ = ["MAX_WHOLE", "SampledTables", "sample_tables"]

MAX_WHOLE: Final = 2_000_000
"""Characters of a text that is read whole."""
_SAMPLE: Final = 500_000
"""Characters of the members in the sample at most, and of what may stand behind the array or map."""
_HEADS: Final = (65_536, 1_048_576)
"""Characters at the beginning that show which array or map is the largest; more where the first do not."""
_FIRST: Final = 200
_LAST: Final = 20
"""Members at the beginning and at the end that are in the sample."""
_MIN_KEPT: Final = 8

_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\Z)|[\[\]{}]', re.DOTALL)
_WRAPPED: Final = re.compile(
    r'\s*+(?:(?:(?:\{\s*+"content"\s*+:\s*+)?\[\s*+)?\{\s*+"type"\s*+:\s*+"text"\s*+,\s*+"text"\s*+:\s*+)?"'
)
_SPACE: Final = re.compile(r"[ \t\r\n]*")
_COLON: Final = re.compile(r"[ \t\r\n]*:[ \t\r\n]*")
_COMMA: Final = re.compile(r"[ \t\r\n]*,[ \t\r\n]*")
_LINE_END: Final = re.compile(r"[ \t]*(?:\r?\n[ \t\r\n]*|\Z)")
_OTHER_ENDS: Final = re.compile("[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_CLOSE: Final = {"[": "]", "{": "}"}
_scan: Final[Callable[[str, int], tuple[Any, int]]] = make_scanner(json.JSONDecoder())  # type: ignore[arg-type]

_Span = tuple[int, int]
FindPlaces = Callable[[str], Iterable[int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledTables:
    """The tables of a text of which most rows were left out."""

    tables: tuple[Table, ...]
    """Those of the sample; columns of row numbers, which differ from those of the whole text, are left out."""
    totals: Mapping[str, int | None]
    """The names of the tables whose rows are a sample, with all their rows in the text; None: they were not counted."""


def sample_tables(text: str, find_places: FindPlaces) -> SampledTables | None:
    """Return the tables of a sample of a long text: of JSON, of lines of JSON, or of JSON in a string or an MCP answer.

    Args:
        text: The text, of more than MAX_WHOLE characters.
        find_places: Returns positions in a text; the members that hold them are in the sample.

    Returns:
        None where the text is no JSON, or has no large array or map of many members, so that it is to be read whole.
    """
    try:
        wrapped = _WRAPPED.match(text)
        if wrapped and len(text) - _scan(text, wrapped.end() - 1)[1] <= _SAMPLE:
            inner = unwrap(read_document(text))
            is_long = isinstance(inner, str) and len(inner) > MAX_WHOLE
            return sample_tables(inner, find_places) if is_long else None
        return _of_lines(text, find_places) or _of_value(text, find_places)
    except (ValueError, IndexError, RecursionError):
        return None


def _of_lines(text: str, find_places: FindPlaces) -> SampledTables | None:
    """Return the tables of lines of JSON; None: the first value is not followed by a line."""
    start = _SPACE.match(text).end()  # type: ignore[union-attr]  # it matches no space, too
    first = text[start : text.find("\n", start, start + _HEADS[0]) + 1]
    if first[:1] not in _CLOSE or not _is_value(first) or _OTHER_ENDS.search(text):
        return None
    members = _Members(text, start, _LINE_END)
    kept = _choose(members, find_places(text))
    if members.position < len(text) or members.count < _MIN_KEPT:
        return None
    lines = "\n".join(text[start:end] for start, end in kept)
    return _tables(read_lines(lines), (), members.count, len(kept))


def _is_value(line: str) -> bool:
    try:
        return _scan(line, 0)[1] <= len(line.rstrip())
    except (ValueError, StopIteration):
        return False


def _of_value(text: str, find_places: FindPlaces) -> SampledTables | None:
    """Return the tables of one JSON document; None: no array or map outside rows takes most of it."""
    for head in _HEADS:
        *above, container = _open_at(text, head)
        if any(each.bracket == "[" for each in above):
            return None
        members = _Members(text, container.start + 1, _COMMA, is_map=container.bracket == "{")
        kept = _choose(members, find_places(text))
        end = members.position
        if text[end] != _CLOSE[container.bracket]:
            return None
        if 2 * end > len(text) and len(text) - end <= _SAMPLE and len(kept) >= _MIN_KEPT:
            sample = ",".join(text[start:stop] for start, stop in kept)
            value = read_document(f"{text[: container.start + 1]}{sample}{text[end:]}")
            path = tuple(read_document(each.key) for each in above)
            return _tables(value, path, members.count, len(kept))
    return None


@dataclass(slots=True)
class _Open:
    """An array or a map that is open at some place of a text."""

    bracket: str
    start: int
    key: str = ""
    """The last string in it as it is written, which is the key of an open member."""


def _open_at(text: str, head: int) -> list[_Open]:
    """Return the arrays and maps that begin in the first half of a beginning of `text` and are open at its end.

    IndexError: none is.
    """
    opened: list[_Open] = []
    for token in _TOKEN.finditer(text, 0, head):
        mark = token[0]
        if mark in _CLOSE:
            opened.append(_Open(mark, token.start()))
        elif mark in "]}":
            opened.pop()
        else:
            opened[-1].key = mark
    found = [each for each in opened if 2 * each.start < head]
    return found if found else [opened[0]]


class _Members:
    """The places of the members of an array, of a map or of lines, found one after the other; none is kept."""

    def __init__(self, text: str, start: int, between: re.Pattern[str], *, is_map: bool = False) -> None:
        self._text = text
        self._between = between
        self._is_map = is_map
        self.position = _end(_SPACE, text, start)
        """Where the next member begins; in the end: the first character behind the members."""
        self.count = 0

    def __iter__(self) -> Iterator[_Span]:
        """Yield the first and the last position of each member; ValueError: one is no JSON."""
        text, scan, between, at = self._text, _scan, self._between, self.position
        is_array = not self._is_map
        while at < len(text) and text[at] not in "]}":
            start = at
            try:
                if not is_array:
                    at = _end(_COLON, text, scan(text, at)[1])
                at = scan(text, at)[1]
            except StopIteration:
                raise ValueError(f"expected a JSON value at {at}, found {text[at : at + 9]!r}") from None
            self.count += 1
            yield start, at
            after = between.match(text, at)
            if after is None:
                at = _end(_SPACE, text, at)
                break
            at = after.end()
        self.position = at


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    """Return where a match of `pattern` at a position ends; ValueError: there is none."""
    found = pattern.match(text, at)
    if found is None:
        raise ValueError(f"expected {pattern.pattern!r} at {at}, found {text[at : at + 9]!r}")
    return found.end()


def _choose(members: _Members, places: Iterable[int]) -> list[_Span]:
    """Return the members that are in the sample, in order."""
    share = _SAMPLE / 4 / len(members._text)
    kept: list[_Span] = []
    last: deque[_Span] = deque(maxlen=_LAST)
    ahead = iter(sorted(places))
    place = next(ahead, -1)
    left, next_at = _SAMPLE, 0.0
    for number, span in enumerate(members):
        start, end = span
        while 0 <= place < start:
            place = next(ahead, -1)
        is_named = start <= place < end
        if (number < _FIRST or start >= next_at or is_named) and end - start <= left:
            kept.append(span)
            left -= end - start
            next_at = next_at if is_named else end + (end - start) / share
        else:
            last.append(span)
    return sorted((*kept, *(span for span in last if span[1] - span[0] <= _SAMPLE // _LAST)))


def _tables(value: Any, path: tuple[str, ...], total: int, kept: int) -> SampledTables | None:
    """Return the tables of a sample; None: its members are not the rows of one table."""
    tables = tables_of(value)
    main = [table for table in tables if table.path == path and table.parent is None]
    if len(main) != 1 or len(main[0].rows) < kept:
        return None
    names: dict[str, int | None] = {main[0].name: total if len(main[0].rows) == kept else None}
    for table in tables:
        if table.parent and table.parent.table in names:
            names[table.name] = None
    return SampledTables(tables=tuple(_without_numbers(table, names) for table in tables), totals=names)


def _without_numbers(table: Table, sampled: Mapping[str, int | None]) -> Table:
    """Return a table without the columns that number the rows of a sampled table: the whole text numbers others."""
    if table.name not in sampled:
        return table
    numbered = {"_row"} & set(table.columns)
    if table.parent and table.parent.key == "_row":
        numbered.add(table.parent.column)
        table = replace(table, parent=None)
    return replace(table, columns=tuple(name for name in table.columns if name not in numbered))
