"""A text of which a tool left out the middle: what is behind the omission is read as the other end of a value.

What is open before the omission is opened again behind it, so that the rest can be read: `[` before the last rows of an
array, the header before the last rows of a grid. So both ends are rows of one table.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import chain, islice
from typing import Final, TypeAlias

from accp_core.documents import json_document, python_literal
from accp_core.documents.cut.cut_json import OpenContainer, end_of_json, open_containers
from accp_core.documents.cut.cut_python import open_python
from accp_core.documents.cut.omissions import Omission, find_dots, find_omissions
from accp_core.documents.document import Form, Literal, Value
from accp_core.documents.grids import GRIDS
from accp_core.documents.grids.frame import Lines

__all__ = ["read_both_ends"]

_Values: TypeAlias = "list[Value | Literal]"

_MAX_OMISSIONS: Final = 4
"""Marks in a text that are tried."""
_MAX_REST: Final = 300
"""Characters between the last value before an omission and the mark."""
_MAX_HEADER: Final = 4
"""Lines of a grid before its first row."""
_MAX_ITEMS: Final = 100
"""Items behind an omission that are tried as the first whole one."""
_MAX_READS: Final = 8
"""How many times the characters behind an omission are read."""
_OPENING: Final = {"[", "{", "("}
_ITEM: Final = re.compile(r"(?:\A|,)(?=\s*+([^\s,]))")
_LINE_END: Final = re.compile(r"[ \t\r]*(?:\n|\Z)")


def read_both_ends(source: str, values: _Values, read: Callable[[str], _Values]) -> _Values:
    """Return the values of a text; those around an omission as two ends of one, where they are.

    Args:
        source: The text.
        values: Its values as they were read without regard to omissions.
        read: Reads the values of a text in the same way.
    """
    for omission in islice(_omissions(source, values), _MAX_OMISSIONS):
        found = _around(source, omission, read)
        if found:
            return [*found, *(value for value in values if value.start >= found[-1].end)]
    return values


def _around(source: str, omission: Omission, read: Callable[[str], _Values]) -> _Values:
    """Return the values before an omission and the other end of the last one behind it; none where there is none."""
    before = read(source[: omission.start])
    head = before[-1] if before else None
    if isinstance(head, Value) and head.form in (json_document, python_literal):
        is_cut_here = head.is_cut and omission.start - head.end <= _MAX_REST
        tail = _other_end(source, head, omission) if is_cut_here else None
    else:
        start, end = _whole_lines(source, omission)
        before = read(source[:start])
        head = before[-1] if before else None
        is_grid = isinstance(head, Value) and head.form in GRIDS and not source[head.end : start].strip()
        tail = _grid_end(source, head, end) if is_grid else None  # type: ignore[arg-type]  # is_grid says what it is
    return [*before, tail] if tail else []


def _omissions(source: str, values: _Values) -> Iterator[Omission]:
    """Yield the omissions in a text that its values do not say themselves."""
    dots = (find_dots(source, value.end, value.end + _MAX_REST) for value in values if value.is_cut)
    for omission in chain(find_omissions(source), chain.from_iterable(dots)):
        if not any(_says(value, omission) for value in values):
            yield omission


def _says(value: Value | Literal, omission: Omission) -> bool:
    is_inside = value.start < omission.start and omission.end < value.end
    return is_inside and (isinstance(value, Literal) or not (value.is_cut or value.form in GRIDS))


def _other_end(source: str, head: Value, omission: Omission) -> Value | None:
    """Return the end of the JSON document, or Python literal, that an omission cut off."""
    is_json = head.form is json_document
    cut = end_of_json(source[: omission.start], head.start)[0] if is_json else omission.start
    containers, _ = (open_containers if is_json else open_python)(source, head.start, cut)
    arrays, end_of = list(_open_arrays(source, containers)), end_of_json if is_json else python_literal.end_of
    tail = source[omission.end :]
    left = _MAX_READS * len(tail)
    for item in islice(_ITEM.finditer(tail), _MAX_ITEMS):
        for opening, sign in arrays:
            if left < 0 or (item[1] != sign and {item[1], sign} & _OPENING):
                continue
            text = opening + tail[item.end() :]
            end, is_whole = end_of(text, 0)
            left -= end
            if is_whole and _LINE_END.match(text, end):
                found = _value(head.form, omission.end + item.end(), text[:end], len(opening))
                if found is not None:
                    return found
    return None


def _open_arrays(source: str, containers: list[OpenContainer]) -> Iterator[tuple[str, str]]:
    """Yield what opens each array that is open again, the inner ones first, and how the first item in it begins."""
    for level in range(len(containers), 0, -1):
        array = containers[level - 1]
        if array.bracket == "[":
            outer = (each.bracket + (f"{each.name}:" if each.name else "") for each in containers[:level])
            yield "".join(outer), source[array.start + 1 :].lstrip()[:1]


def _value(form: Form, start: int, written: str, opened: int) -> Value | None:
    try:
        value = (json_document if form is json_document else python_literal).read(written)
    except ValueError:
        return None
    return Value(start, start + len(written) - opened, value, form, written, opened=opened)


def _whole_lines(source: str, omission: Omission) -> tuple[int, int]:
    """Return the end of the last whole line before an omission, and the start of the first one behind it."""
    start = len(source[: omission.start].rstrip())
    behind = source[omission.end :]
    end = len(source) - len(behind.lstrip("\r\n"))
    if not omission.of_lines:
        start = max(source.rfind("\n", 0, start), 0)
        end = (source.find("\n", end) + 1) or len(source)
    return start, end


def _grid_end(source: str, head: Value, start: int) -> Value | None:
    """Return the rows that continue a grid, under the lines that are its header."""
    form = next(form for form in GRIDS if form is head.form)
    header, lines = head.written.split("\n", _MAX_HEADER), source[start:].split("\n")
    names = list(_first_row(head))
    for size in range(min(_MAX_HEADER, len(header))):
        opening = header[:size]
        found = form.read_lines(Lines([*opening, *lines]), 0)
        if found is not None and list(found[0][0]) == names and found[1] > size:
            written = "\n".join([*opening, *lines][: found[1]]).removesuffix("\r")
            opened = sum(map(len, opening)) + size
            return Value(start, start + len(written) - opened, found[0], form, written, opened=opened)
    return None


def _first_row(grid: Value) -> dict[str, object]:
    assert type(grid.value) is list
    return grid.value[0]  # type: ignore[no-any-return]  # a grid is an array of maps
