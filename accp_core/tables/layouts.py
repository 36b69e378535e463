"""Tables that JSON does not write as arrays of maps, made such arrays by their shape, whatever their keys are.

    names here, rows there   names (texts, or maps with a text that differs in each) beside rows of as many cells, or
                             beside as many arrays of one length, wherever both are in the value; where maps have the
                             cells in arrays, names beside these maps, or under the same keys
    a row of names           an array of arrays whose first one has the names of the others
    wrapped cells            {"v": 1}, {"S": "x"}, {"f": […]}: maps of one member around cells or rows
    pairs                    [{"name": "a", "value": 1}, …] in a row: the map {"a": 1}
    cubes                    cells whose places, or keys such as "0:2", count the members of dimensions (JSON-stat 2.0,
                             SDMX-JSON 2.0)
    columns of maps          {"region": {"0": "North", …}, …}: maps of the same keys, which are numbers or dates
    columns in rows          [{"x": […], "y": […], "name": "a"}, …]: the cells of one row at each place of x and y

An array shows what it is by its first members; so a value without such tables costs a glance.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from math import prod
from operator import ge
from typing import Any, Final, TypeAlias

from accp_core.tables.table import columns_side_by_side

__all__ = ["NUMBERED", "arrange"]

_MAX_DEPTH: Final = 12
_GLANCE: Final = 20
"""Members of an array that are looked at."""
_MAX_KEYS: Final = 1_000
"""Members of a map all of which are looked at; of more, which are alike, as many as of an array."""
_MAX_PARTS: Final = 4
"""Members of an array of unlike parts, such as a map with totals and an array of rows."""
_MAX_NAMES: Final = 12
"""Arrays of names, the nearest ones, that are tried for rows."""
_NAMING: Final = re.compile(r"(?i:name|field|id|key|label|title|text)$")
_VALUING: Final = re.compile(r"(?i:.*value|val|v)$")
_WRAPPER: Final = re.compile(r"(?:[vfsn]|[A-Z]{1,4}|.*[vV]alue|.*[tT]ext|val)$")
"""What a map around one cell calls it: a letter, its type, or a value."""
NUMBERED: Final = re.compile(r"\d[\d:./T Z+-]*$")
"""A number or a moment, which is a key and no name."""
_INDEXES: Final = re.compile(r"\d{1,9}(?::\d{1,9})*$")
"""The places of a cell in its dimensions."""

_Path: TypeAlias = "tuple[str | int, ...]"
_Named: TypeAlias = "tuple[_Path, Sequence[str]]"
_Found: TypeAlias = "tuple[list[dict[str, Any]], list[_Path]]"
_Axes: TypeAlias = dict[str, list[Any]]


def arrange(value: Any, sources: dict[int, Any]) -> Any:
    """Return a value whose tables are arrays of maps; the value itself where it has no other tables.

    Args:
        value: A JSON value.
        sources: Is given, by their identity, the maps that were made anew, each with the map that it was.
    """
    axes = list(_axes_in(value, "", 0))
    value = _with_cubes(value, "", axes) if axes else value
    unwrapped = _unwrap(value, 0, sources)
    named = _name_rows(unwrapped, sources)
    if named is unwrapped is not value:
        # Cells in lists are unwrapped for rows that get names; elsewhere a map of one member is a map.
        named = _name_rows(_unwrap(value, 0, sources, in_rows=False), sources)
    return _turn(named, 0)


def _changed(value: Any, depth: int, change: Any) -> Any:
    """Return a value with its members changed, the same object where none is."""
    if depth > _MAX_DEPTH or _is_cell(value):
        return value
    made = {key: change(member, depth + 1) for key, member in _inner(value)}
    if all(value[key] is member for key, member in made.items()):
        return value
    members = value.items() if type(value) is dict else enumerate(value)
    made |= {key: change(member, depth + 1) for key, member in members if key not in made}
    return {key: made[key] for key in value} if type(value) is dict else [made[at] for at in range(len(value))]


def _is_cell(value: Any) -> bool:
    return type(value) is not dict and type(value) is not list


def _inner(value: Any) -> list[tuple[Any, Any]]:
    """Return maps and arrays in a value with their keys or places: those of a map, of very many the first ones."""
    members = value.items() if type(value) is dict else enumerate(value)
    most = _GLANCE if type(value) is list or len(value) > _MAX_KEYS else None
    return [each for each in islice(members, most) if type(each[1]) is dict or type(each[1]) is list]


def _axes_in(value: Any, key: str, depth: int) -> Iterator[tuple[str, _Axes]]:
    """Yield the dimensions of cubes in a value, which have the codes of their members, each with the key of its cells.

    They are an array of maps with `values`, or the map `dimension` with an array of its keys as `id` beside it.
    """
    if _is_cell(value) or depth > _MAX_DEPTH:
        return
    names, dimensions = (value.get("id"), value.get("dimension")) if type(value) is dict else (None, None)
    if type(names) is list and type(dimensions) is dict and set(map(str, names)) <= dimensions.keys():
        yield "value", {name: _categories(dimensions[name]) for name in names}
    elif type(value) is list and all(key and type(m) is dict and {"id", "values"} <= m.keys() for m in value or [0]):
        parts = ((str(m["id"]), m["values"] if type(m["values"]) is list else []) for m in value)
        yield key, {name: [m.get("id", m.get("value")) for m in part if type(m) is dict] for name, part in parts}
    else:
        for name, member in _inner(value if type(value) is dict else value[:_MAX_PARTS]):
            yield from _axes_in(member, name if type(value) is dict else key, depth + 1)


def _categories(dimension: Any) -> list[Any]:
    """Return the codes of the categories of a dimension in their order (JSON-stat 2.0, `category`)."""
    category = dimension.get("category") if type(dimension) is dict else None
    index = category.get("index") or category.get("label") if type(category) is dict else None
    return sorted(index, key=lambda code: str(index[code]).zfill(9)) if type(index) is dict else list(index or ())


def _with_cubes(value: Any, key: str, axes: list[tuple[str, _Axes]]) -> Any:
    """Return a value with the cells of cubes as rows that have the code of a member for each dimension."""
    if _is_cell(value):
        return value
    for name, each in axes:
        fits = key.startswith(name) if type(value) is dict else key == name
        if fits and (rows := _rows_of_cube(value, each)) is not None:
            return [cell for row in rows for cell in _cells_of(row, axes)]
    if type(value) is list:
        return [_with_cubes(member, key, axes) for member in value]
    return {name: _with_cubes(member, name, axes) for name, member in value.items()}


def _cells_of(row: dict[str, Any], axes: list[tuple[str, _Axes]]) -> list[dict[str, Any]]:
    """Return the cells in a row that is a series, or the row."""
    whole = _with_cubes(row, "", axes)
    inner = next((key for key, cells in row.items() if type(cells) is dict and type(whole[key]) is list), None)
    return [whole] if inner is None else [whole | cell for cell in whole.pop(inner)]


def _rows_of_cube(value: Any, axes: _Axes) -> list[dict[str, Any]] | None:
    """Return the rows of cells by their places, which count along all dimensions as one, or along each of them."""
    sizes = list(map(len, axes.values()))
    cells = value if type(value) is dict else {str(number): cell for number, cell in enumerate(value)}
    if not cells or (cells is not value and len(cells) != prod(sizes)) or not all(map(_INDEXES.match, cells)):
        return None
    rows = []
    for key, cell in cells.items():
        places = list(map(int, key.split(":")))
        if len(places) == 1 < len(sizes):
            places = [places[0] // (prod(sizes[at + 1 :]) or 1) % (size or 1) for at, size in enumerate(sizes)]
        if len(places) != len(sizes) or any(map(ge, places, sizes)):
            return None
        row = {name: members[place] for (name, members), place in zip(axes.items(), places, strict=True)}
        head = {"value": cell[0], "attributes": cell[1:]} if type(cell) is list and cell else {"value": cell}
        rows.append(row | (cell if type(cell) is dict else head))
    return rows


def _only(value: Any) -> Any:
    """Return the only member of a map, none where its key says null; the value itself where it is no such map."""
    if type(value) is not dict or len(value) != 1:
        return value
    ((key, member),) = value.items()
    return None if member is True and "null" in key.lower() else member


def _unwrap(value: Any, depth: int, sources: dict[int, Any], *, in_rows: bool = True) -> Any:
    """Return a value without maps of one member around cells, `in_rows` around rows too, and with pairs as maps."""
    built = _unwrapped(value, depth, partial(_unwrap, sources=sources, in_rows=in_rows), in_rows=in_rows)
    if type(built) is dict and built is not value:
        sources[id(built)] = (built, value)
    return built


def _unwrapped(value: Any, depth: int, inner_unwrap: Any, *, in_rows: bool) -> Any:
    if type(value) is dict and len(value) > 1:
        keys = [next(iter(m)) if type(m) is dict and len(m) == 1 else "" for m in value.values()]
        if all(map(_WRAPPER.match, keys)) and any(_is_cell(_only(m)) for m in value.values()):
            return {key: inner_unwrap(_only(member), depth + 1) for key, member in value.items()}
    if type(value) is list and value:
        if depth and (pairs := _pairs(value)) is not None:
            return pairs
        wrapped = {next(iter(m)) if type(m) is dict and len(m) == 1 else "" for m in value[:_GLANCE]}
        if in_rows and "" not in wrapped and len(value) > 1:
            inner = [_only(member) for member in value]
            named = all(map(_WRAPPER.match, wrapped))
            are_rows = len(wrapped) == 1 and _are_rows(inner, is_named=named)
            if are_rows or (depth > 1 and named and all(map(_is_cell, inner))):
                return [inner_unwrap(member, depth + 1) for member in inner]
    return _changed(value, depth, inner_unwrap)


def _are_rows(members: list[Any], *, is_named: bool) -> bool:
    """Return whether arrays are rows of cells: of one length, and the wrapping map or those of the cells say so."""
    if not all(type(member) is list for member in members) or len(set(map(len, members))) > 1 or not members[0]:
        return False
    cells = [cell for member in members[:_GLANCE] for cell in member]
    return is_named or all(type(cell) is dict and len(cell) <= 1 for cell in cells)


def _pairs(value: list[Any]) -> dict[str, Any] | None:
    """Return a map for an array of maps of a name and a value; None: it is none."""
    first = list(value[0]) if type(value[0]) is dict and len(value[0]) == 2 else []
    if not first or not (_NAMING.search(first[0]) and _VALUING.match(first[1])):
        return None
    if not all(type(m) is dict and list(m) == first and type(m[first[0]]) is str for m in value):
        return None
    pairs = {member[first[0]]: member[first[1]] for member in value}
    return pairs if len(pairs) == len(value) else None


def _names_in(value: list[Any]) -> Sequence[str]:
    """Return the distinct names that an array has: its texts, or a tuple of those of its maps; none: it has none."""
    if not value or all(type(member) is str and member for member in value):
        return value if len(set(value)) == len(value) else []
    if not all(type(member) is dict for member in value) or len(value) > 2_000:
        return []
    for key in sorted(filter(_NAMING.search, value[0]), key=lambda key: "name" not in key.lower()):
        names = [member.get(key) for member in value]
        if all(type(name) is str for name in names) and len(set(names)) == len(names):
            return tuple(names)
    return []


def _is_rows(value: list[Any]) -> bool:
    if not value or not all(type(row) is list for row in value[:_GLANCE]) or not all(map(_is_cell, value[0])):
        return False
    return bool(value[0]) and all(type(row) is list and 0 < len(row) <= len(value[0]) for row in value)


def _keys_of_cells(value: list[Any]) -> list[str]:
    """Return the keys under which maps that hold no other cells have arrays of as many cells."""
    first = value[0] if value and type(value[0]) is dict and not any(map(_is_cell, value[0].values())) else {}
    sizes = {key: len(cells) for key, cells in first.items() if type(cells) is list and cells}
    return [key for key, size in sizes.items() if all(_is_row_of(member, key, size) for member in value)]


def _is_row_of(member: Any, key: str, size: int) -> bool:
    cells = member.get(key) if type(member) is dict else None
    return type(cells) is list and len(cells) == size and all(_is_cell(_only(cell)) for cell in cells)


def _find(value: Any, path: _Path, names: list[_Named], rows: list[tuple[_Path, list[Any]]]) -> None:
    if _is_cell(value) or len(path) > _MAX_DEPTH:
        return
    if type(value) is list:
        if _is_rows(value):
            rows.append((path, value))
            return
        if value and (found := _names_in(value)):
            names.append((path, found))
        if _keys_of_cells(value):
            rows.append((path, value))
    for key, member in _inner(value):
        _find(member, (*path, key), names, rows)


def _name_rows(value: Any, sources: dict[int, Any]) -> Any:
    """Give rows the nearest names of their number."""
    names: list[_Named] = []
    rows: list[tuple[_Path, list[Any]]] = []
    _find(value, (), names, rows)
    named: dict[int, list[dict[str, Any]]] = {}
    used: set[_Path] = set()
    for path, part in rows:
        naming = _with_names if type(part[0]) is list else _with_named_cells
        if (found := naming(path, part, names)) is not None:
            named[id(part)], paths = found
            used.update(paths)
        elif type(part[0]) is list and (headed := _head_row(part)) is not None:
            named[id(part)] = headed
    return _build(value, (), named, used, sources) if named else value


def _with_names(path: _Path, part: list[list[Any]], names: Sequence[_Named]) -> _Found | None:
    near = sorted(
        (each for each in names if not _are_in_unlike_rows(each[0], path)),
        key=lambda each: (-_shared(each[0], path), len(each[0]) - _shared(each[0], path)),
    )[:_MAX_NAMES]
    width, height = len(part[0]), len(part)
    if any(len(row) < width for row in part):
        return None
    for size, rows in ((width, part), (height, list(zip(*part, strict=True)))):
        for where, columns in near:
            is_near = width + height > 2 or where[:-1] == path[:-1]
            if is_near and len(columns) == size == len(set(columns)):
                return [dict(zip(columns, row, strict=True)) for row in rows], [where]
    return None


def _with_named_cells(path: _Path, part: list[dict[str, Any]], names: Sequence[_Named]) -> _Found | None:
    """Name the cells that maps hold in arrays by one array beside the maps, or by one for each of their keys."""
    keys = [key for key in _keys_of_cells(part) if any(_only(cell) is not None for each in part for cell in each[key])]
    beside = [each for each in names if path and each[0][: len(path)] != path and each[0][:-1] == path[:-1]]
    # Texts beside one map may be anything.
    near = [each for each in beside if len(part) > 1 or type(each[1]) is tuple]
    near += [each for each in names if each[0] and each[0][-1] in keys and int not in map(type, each[0])]
    sizes = [len(part[0][key]) for key in keys]
    used = [each for each in near if len(each[1]) == sum(sizes) and each[0][-1] not in keys][:1]
    for key, size in zip(keys, sizes if not used else (), strict=False):
        fitting = [each for each in near if each not in used and len(each[1]) == size]
        used += sorted(fitting, key=lambda each: each[0][-1] != key)[:1]
    columns = [name for _, each in used for name in each]
    if not columns or len(columns) != sum(sizes) or len(set(columns)) < sum(sizes):
        return None
    rows = (zip(columns, (_only(cell) for key in keys for cell in each[key]), strict=True) for each in part)
    maps = ({key: member for key, member in each.items() if type(member) is dict} for each in part)
    return [dict(row) | rest for row, rest in zip(rows, maps, strict=True)], [where for where, _ in used]


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
    elif _is_cell(value) or len(path) > _MAX_DEPTH:
        return value
    elif type(value) is dict:
        # Names that are no more than texts are in the rows now.
        kept = ((key, m) for key, m in value.items() if (*path, key) not in used or type(m[0]) is not str)
        built = {key: _build(member, (*path, key), named, used, sources) for key, member in kept}
    else:
        return [_build(member, (*path, number), named, used, sources) for number, member in enumerate(value)]
    # It is kept, so that no other map gets its identity.
    sources[id(built)] = (built, sources.get(id(value), (value, value))[1])
    return built


def _turn(value: Any, depth: int) -> Any:
    """Return columns of maps, and columns side by side in rows, as rows."""
    if type(value) is dict and len(value) > 1 and all(type(member) is dict and member for member in value.values()):
        keys = next(iter(value.values()))
        is_numbered = all(map(NUMBERED.match, keys)) and not any(map(NUMBERED.match, value))
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
