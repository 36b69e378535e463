"""Tables that JSON does not write as arrays of maps, made such arrays by their shape, whatever their keys are.

    names here, rows there   names (texts, or maps with a text that differs in each) beside rows of as many cells, or
                             beside as many arrays of one length, wherever both are in the value
    a row of names           an array of arrays whose first one has the names of the others
    wrapped cells            {"v": 1}, {"S": "x"}, {"f": […]}: maps of one member around cells or rows
    pairs                    [{"name": "a", "value": 1}, …] in a row: the map {"a": 1}
    columns of maps          {"region": {"0": "North", …}, …}: maps of the same keys, which are numbers or dates
    columns in rows          [{"x": […], "y": […], "name": "a"}, …]: the cells of one row at each place of x and y

An array shows what it is by its first members; so a value without such tables costs a glance.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Final, TypeAlias

from accp_core.tables.table import columns_side_by_side

__all__ = ["arrange"]

_MAX_DEPTH: Final = 12
_GLANCE: Final = 20
"""Members of an array that are looked at."""
_MAX_PARTS: Final = 4
"""Members of an array of unlike parts, such as a map with totals and an array of rows."""
_MAX_NAMES: Final = 12
"""Arrays of names, the nearest ones, that are tried for rows."""
_NAMING: Final = re.compile(r"(?i:name|field|id|key|label|title|text)$")
_VALUING: Final = re.compile(r"(?i:.*value|val|v)$")
_WRAPPER: Final = re.compile(r"(?:[vfsn]|[A-Z]{1,4}|.*[vV]alue|.*[tT]ext|val)$")
"""What a map around one cell calls it: a letter, its type, or a value."""
_NUMBERED: Final = re.compile(r"\d[\d:./T Z+-]*$")
"""A number or a moment, which is a key and no name."""
_CONTAINERS: Final = (dict, list)

_Path: TypeAlias = "tuple[str | int, ...]"
_Named: TypeAlias = "tuple[_Path, list[str]]"


def arrange(value: Any, sources: dict[int, Any]) -> Any:
    """Return a value whose tables are arrays of maps; the value itself where it has no other tables.

    Args:
        value: A JSON value.
        sources: Is given, by their identity, the maps that were made anew, each with the map that it was.
    """
    unwrapped = _unwrap(value, 0)
    named = _name_rows(unwrapped, sources)
    # Cells in lists are unwrapped for rows that get names; elsewhere a map of one member is a map.
    return _turn(named if named is not unwrapped else _name_rows(_unwrap(value, 0, in_rows=False), sources), 0)


def _changed(value: Any, depth: int, change: Any) -> Any:
    """Return a value with its members changed, the same object where none is."""
    if depth > _MAX_DEPTH or not isinstance(value, _CONTAINERS):
        return value
    if isinstance(value, dict):
        members = {key: change(member, depth + 1) for key, member in value.items()}
        return value if all(members[key] is member for key, member in value.items()) else members
    if all(change(member, depth + 1) is member for member in value[:_GLANCE]):
        return value
    return [change(member, depth + 1) for member in value]


def _is_cell(value: Any) -> bool:
    return not isinstance(value, _CONTAINERS)


def _only(value: Any) -> Any:
    """Return the only member of a map; the value itself where it is no such map."""
    return next(iter(value.values())) if type(value) is dict and len(value) == 1 else value


def _unwrap(value: Any, depth: int, *, in_rows: bool = True) -> Any:
    """Return a value without maps of one member around cells, `in_rows` around rows too, and with pairs as maps."""
    inner_unwrap = partial(_unwrap, in_rows=in_rows)
    if type(value) is dict and len(value) > 1:
        keys = [next(iter(m)) if type(m) is dict and len(m) == 1 else "" for m in value.values()]
        if all(map(_WRAPPER.match, keys)) and any(_is_cell(_only(m)) for m in value.values()):
            return {key: inner_unwrap(_only(member), depth + 1) for key, member in value.items()}
    if type(value) is list and value:
        if depth and (pairs := _pairs(value)) is not None:
            return pairs
        wrapped = {next(iter(m)) if type(m) is dict and len(m) == 1 else "" for m in value[:_GLANCE]}
        if in_rows and len(wrapped) == 1 and "" not in wrapped and len(value) > 1:
            inner = [_only(member) for member in value]
            named = _WRAPPER.match(wrapped.pop())
            if _are_rows(inner, is_named=bool(named)) or (depth > 1 and named and all(map(_is_cell, inner))):
                return [inner_unwrap(member, depth + 1) for member in inner]
        if in_rows and depth and (joined := _joined_rows(value)) is not None:
            return joined
    return _changed(value, depth, inner_unwrap)


def _are_rows(members: list[Any], *, is_named: bool) -> bool:
    """Return whether arrays are rows of cells: of one length, and the wrapping map or those of the cells say so."""
    if not all(type(member) is list for member in members) or len(set(map(len, members))) > 1 or not members[0]:
        return False
    cells = [cell for member in members[:_GLANCE] for cell in member]
    return is_named or all(type(cell) is dict and len(cell) <= 1 for cell in cells)


def _joined_rows(value: list[Any]) -> list[list[Any]] | None:
    """Return one row for each map of several arrays of wrapped cells, such as dimensions and metrics.

    Where all arrays but those of one key hold nothing, their cells need no wrapping.
    """
    keys = list(value[0]) if type(value[0]) is dict else []
    if len(keys) < 2 or not all(
        type(m) is dict and list(m) == keys and all(type(c) is list for c in m.values()) for m in value
    ):
        return None
    told = [key for key in keys if any(cell is not None for member in value for cell in member[key])]
    rows = [[_only(cell) for key in told for cell in member[key]] for member in value]
    is_wrapped = len(told) == 1 or all(type(cell) is dict for m in value[:_GLANCE] for key in told for cell in m[key])
    return (
        rows if is_wrapped and len(set(map(len, rows))) == 1 and all(_is_cell(c) for row in rows for c in row) else None
    )


def _pairs(value: list[Any]) -> dict[str, Any] | None:
    """Return a map for an array of maps of a name and a value; None: it is none."""
    first = list(value[0]) if type(value[0]) is dict and len(value[0]) == 2 else []
    if not first or not (_NAMING.search(first[0]) and _VALUING.match(first[1])):
        return None
    if not all(type(m) is dict and list(m) == first and type(m[first[0]]) is str for m in value):
        return None
    pairs = {member[first[0]]: member[first[1]] for member in value}
    return pairs if len(pairs) == len(value) else None


def _names_in(value: list[Any]) -> list[str]:
    """Return the distinct names that an array has: its texts, or those of its maps; none where it has none."""
    if all(type(member) is str and member for member in value):
        return value if len(set(value)) == len(value) else []
    if not all(type(member) is dict for member in value) or len(value) > 2_000:
        return []
    for key in sorted(filter(_NAMING.search, value[0]), key=lambda key: "name" not in key.lower()):
        names = [member.get(key) for member in value]
        if all(type(name) is str for name in names) and len(set(names)) == len(names):
            return names
    return []


def _is_rows(value: list[Any]) -> bool:
    if not value or not all(type(row) is list for row in value[:_GLANCE]) or not all(map(_is_cell, value[0])):
        return False
    return bool(value[0]) and all(type(row) is list and 0 < len(row) <= len(value[0]) for row in value)


def _find(value: Any, path: _Path, names: list[_Named], rows: list[tuple[_Path, list[list[Any]]]]) -> None:
    if _is_cell(value) or len(path) > _MAX_DEPTH:
        return
    if type(value) is list:
        if _is_rows(value):
            rows.append((path, value))
            return
        if value and (found := _names_in(value)):
            names.append((path, found))
    members: Iterator[tuple[str | int, Any]] = (
        iter(value.items()) if type(value) is dict else enumerate(value[:_GLANCE])
    )
    for key, member in members:
        _find(member, (*path, key), names, rows)


def _name_rows(value: Any, sources: dict[int, Any]) -> Any:
    """Give rows the nearest names of their number."""
    names: list[_Named] = []
    rows: list[tuple[_Path, list[list[Any]]]] = []
    _find(value, (), names, rows)
    named: dict[int, list[dict[str, Any]]] = {}
    used: set[_Path] = set()
    for path, part in rows:
        if (found := _with_names(path, part, names)) is not None:
            named[id(part)], paths = found
            used.update(paths)
        elif (headed := _head_row(part)) is not None:
            named[id(part)] = headed
    return _build(value, (), named, used, sources) if named else value


def _with_names(
    path: _Path, part: list[list[Any]], names: Sequence[_Named]
) -> tuple[list[dict[str, Any]], list[_Path]] | None:
    near = sorted(
        (each for each in names if not _are_in_unlike_rows(each[0], path)),
        key=lambda each: (-_shared(each[0], path), len(each[0]) - _shared(each[0], path)),
    )[:_MAX_NAMES]
    beside = [[one, two] for one in near for two in near if one[0] < two[0] and one[0][:-1] == two[0][:-1]]
    width, height = len(part[0]), len(part)
    if any(len(row) < width for row in part):
        return None
    for size, rows in ((width, part), (height, list(zip(*part, strict=True)))):
        for group in [*([each] for each in near), *beside]:
            columns = [name for _, each in group for name in each]
            is_near = width + height > 2 or group[0][0][:-1] == path[:-1]
            if is_near and len(columns) == size == len(set(columns)):
                return [dict(zip(columns, row, strict=True)) for row in rows], [where for where, _ in group]
    return None


def _shared(one: _Path, other: _Path) -> int:
    """Return how many keys two paths have in common at their beginning."""
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _are_in_unlike_rows(one: _Path, other: _Path) -> bool:
    """Return whether two paths lead into different members of an array, which do not name each other's cells."""
    at = _shared(one, other)
    return min(len(one), len(other)) > at + 1 and type(one[at]) is int


def _head_row(rows: list[list[Any]]) -> list[dict[str, Any]] | None:
    """Return the rows under a first row of names; a row may lack its last cells."""
    head = rows[0]
    if len(rows) < 3 or len(head) < 2 or len(set(map(str, head))) < len(head):
        return None
    if not all(type(name) is str and name and not name[0].isdigit() for name in head):
        return None
    if any(name == cell for row in rows[1:200] for name, cell in zip(head, row, strict=False)):
        return None
    return [dict(zip(head, row, strict=False)) for row in rows[1:]]


def _build(
    value: Any, path: _Path, named: dict[int, list[dict[str, Any]]], used: set[_Path], sources: dict[int, Any]
) -> Any:
    if id(value) in named:
        built: Any = named[id(value)]
        sources[id(built)] = (built, value)
        return built
    if _is_cell(value) or len(path) > _MAX_DEPTH:
        return value
    if type(value) is dict:
        kept = ((key, member) for key, member in value.items() if (*path, key) not in used or not _is_told(member))
        built = {key: _build(member, (*path, key), named, used, sources) for key, member in kept}
        # It is kept, so that no other map gets its identity.
        sources[id(built)] = (built, value)
        return built
    return [_build(member, (*path, number), named, used, sources) for number, member in enumerate(value)]


def _is_told(names: Any) -> bool:
    """Return whether an array of names says nothing but them."""
    return type(names) is list and all(type(name) is str for name in names)


def _turn(value: Any, depth: int) -> Any:
    """Return columns of maps, and columns side by side in rows, as rows."""
    if type(value) is dict and len(value) > 1 and all(type(member) is dict and member for member in value.values()):
        keys = next(iter(value.values()))
        is_numbered = all(map(_NUMBERED.match, keys)) and not any(map(_NUMBERED.match, value))
        if is_numbered and len(keys) > 1 and all(member.keys() == keys.keys() for member in value.values()):
            return [{"key": key, **{name: column[key] for name, column in value.items()}} for key in sorted(keys)]
    if type(value) is list and not depth and 1 < len(value) <= _MAX_PARTS and set(map(type, value)) == {dict, list}:
        value = {str(number): part for number, part in enumerate(value)}
    if type(value) is list and depth:
        value = _columns_in_rows(value)
    return _changed(value, depth, _turn)


def _columns_in_rows(value: list[Any]) -> list[Any]:
    """Return maps that all have the same columns side by side with the rows of these, under the first one's name."""
    if not value or not all(type(member) is dict for member in value) or not columns_side_by_side(value[0]):
        return value
    rows = [columns_side_by_side(member) or [{}] for member in value]
    keys = list(rows[0][0])
    if any(list(each[0]) != keys for each in rows):
        return value
    others = ({key: cells for key, cells in member.items() if key not in keys} for member in value)
    return [other | {keys[0]: each} for other, each in zip(others, rows, strict=True)]
