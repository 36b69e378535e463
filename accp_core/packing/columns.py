"""Maps of similar shape as a table: keys once, values by column, nested maps and lists of maps as nested tables.

`pack_table` and `unpack_table` are inverse, and so are `pack_column` and `unpack_column`. An absent key is not the same
as null. The order of keys is kept, so maps whose keys come in contradictory orders are not packed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping
from functools import partial
from heapq import heappop, heappush
from itertools import chain, groupby, islice, pairwise
from typing import Final, TypeAlias

from accp_core.packing import tree
from accp_core.packing.expansion import Expansion
from accp_core.packing.values import common_value

__all__ = [
    "HIDDEN", "cell_count", "last_column_with_cells", "pack_column", "pack_derived", "pack_keyed_rows", "pack_list",
    "pack_table", "pays_in_its_line", "unpack_column", "unpack_derived", "unpack_table",
]  # fmt: skip


_STRUCTURED: Final = frozenset((dict, list, tree.RepeatedValue, tree.Repetition))
_MAPS: Final = frozenset((dict, tree.Repetition))
_LISTS: Final = frozenset((list, tree.Repetition))
_SHORT: Final = 20
"""Characters of a constant that is short enough to be repeated in each row."""
_MAX_FILL: Final = 0.2
"""Share of the rows that have a key, up to which the key is written in them: `key=` takes more tokens than
three absent cells."""
_MIN_SAVED_CHARS: Final = 24
"""Characters of cells that are left out; where there are fewer, a reader finds a cell faster than a rule."""
_MAX_GAP: Final = 3
"""Absent cells next to each other; where a row would have more, their keys are written in the rows that have them."""
_KEY_COST: Final = 3
"""Tokens of a key with what separates it from its value and the next key, approximately."""
_OTHER_TYPES: Final = frozenset((tree.Repetition, tree.Placeholder, type(None)))
"""Types that a column of maps or lists may have besides."""


def pack_list(items: list[object]) -> tree.Table | tree.PooledLists | None:
    """Return the members of an array as a table or as pooled lists, or None if they do not fit either."""
    if len(items) < 2 or type(items[0]) not in _STRUCTURED:
        return None
    kinds = _kinds(items)
    if dict in kinds and kinds <= _MAPS:
        table = pack_table(items)
        # In a row of one cell nobody could tell a repeated row from a repeated cell.
        return None if table and table.slots is not None and cell_count(table) == 1 else table
    if list in kinds and kinds <= _LISTS:
        return _pack_lists(items)
    return None


def _kinds(values: list[object]) -> set[type]:
    """Return the types of values, of a RepeatedValue that of its content."""
    kinds = set(map(type, values))
    return {type(tree.content_of(value)) for value in values} if tree.RepeatedValue in kinds else kinds


def pack_table(items: list[object]) -> tree.Table | None:
    """Return `items` as a table of the maps among them; None if there are fewer than two or they differ too much.

    A column that few rows have, or that is absent next to many others, is Sparse.
    """
    if len(items) < 2:
        return None
    slots, maps = _slots(items)
    if len(maps) < 2:
        return None
    shapes = dict.fromkeys(map(tuple, maps))
    if len(shapes) == 1:
        names = next(iter(shapes))
        sparse: set[str] = set()
        cells = list(map(list, zip(*[members.values() for members in maps], strict=True)))
    else:
        uses = Counter(chain.from_iterable(maps))
        sparse = {name for name, count in uses.items() if count <= _MAX_FILL * len(maps)}
        present = sum(uses.values())
        # With more dense columns than this there are more absent cells than present ones.
        if len(uses) - len(sparse) > 2 * present // len(maps):
            return None
        names, in_order = maps_in_order(maps)
        sparse |= _names_in_gaps(shapes, names, sparse)
        if _names_in_gaps(shapes, names, sparse):
            sparse = {name for name, count in uses.items() if count < len(maps)}
        if not all(in_order) or not _is_dense(uses, sparse, len(maps)):
            return None
        cells = _cells_of(maps, names)
    columns: dict[str, tree.Column] = {
        name: tree.Sparse(written_out(column)) if name in sparse else pack_column(column)
        for name, column in zip(names, cells, strict=True)
    }
    if not _shows_each_row(columns, len(maps)):
        name = _column_to_show(columns)
        columns[name] = _pack_values(written_out([members[name] for members in maps]))
    table = tree.Table(columns, slots, len(maps))
    return None if sparse and _may_look_like_other_items(table) else table


def _names_in_gaps(shapes: Iterable[tuple[str, ...]], names: Iterable[str], sparse: Container[str]) -> set[str]:
    """Return the keys of the cells that would be absent in a row next to more of them than a reader counts."""
    dense = [name for name in names if name not in sparse]
    found: set[str] = set()
    for shape in map(frozenset, shapes):
        for is_there, group in groupby(dense, shape.__contains__):
            gap = list(group)
            if not is_there and len(gap) > _MAX_GAP:
                found.update(gap)
    return found


def _may_look_like_other_items(table: tree.Table) -> bool:
    """Return whether a row may be one cell only, `{}` or `*1`, as empty maps and repeated rows are written."""
    columns = [
        column
        for column in table.columns.values()
        if not isinstance(column, tree.Constant | tree.KeyColumn | tree.Sparse)
    ]
    if len(columns) != 1:
        return False
    column = columns[0]
    if type(column) is tree.Table and column.slots is None:
        return _may_look_like_other_items(column)
    values: Iterable[object] = column if isinstance(column, list) else column.slots or ()
    return any(type(value) is tree.Repetition or value == {} for value in values)


def _cells_of(maps: list[dict[str, object]], names: tuple[str, ...]) -> list[list[object]]:
    """Return the values of each key in each map; ABSENT where a map lacks the key."""
    # By map, because the keys of all maps together may be many more than those of each.
    columns: dict[str, list[object]] = {name: [tree.ABSENT] * len(maps) for name in names}
    for row, members in enumerate(maps):
        for name, member in members.items():
            columns[name][row] = member
    return list(columns.values())


def pack_keyed_rows(members: dict[str, object]) -> tree.Table | None:
    """Return the values of a map of maps as a table, or None if they do not make one; each row has its key, too."""
    table = pack_list(list(members.values()))
    if type(table) is not tree.Table:
        return None
    # Columns whose values are the keys of the rows are left out where these are long enough.
    keys = list(members) if sum(map(len, members)) >= _MIN_SAVED_CHARS else None
    columns = {name: tree.KeyColumn() if column == keys else column for name, column in table.columns.items()}
    return tree.Table(columns, table.slots, table.rows) if _shows_each_row(columns, table.rows) else table


def _shows_each_row(columns: dict[str, tree.Column], rows: int) -> bool:
    """Return whether each row has a cell that is not absent.

    Otherwise a reader could take a row that holds the constants only for a row that is absent.
    """
    absent: Iterable[int] = range(rows)
    for column in columns.values():
        if isinstance(column, tree.Constant | tree.KeyColumn):
            continue
        slots = (
            column if isinstance(column, list) else column.values if isinstance(column, tree.Sparse) else column.slots
        )
        if slots is None or not (absent := [row for row in absent if slots[row] is tree.ABSENT]):
            return True
    return False


def _column_to_show(columns: dict[str, tree.Column]) -> str:
    """Return the name of the constant whose cells take the least room."""
    constants = {name: column.value for name, column in columns.items() if type(column) is tree.Constant}
    return min(constants, key=lambda name: (type(constants[name]) in _STRUCTURED, len(str(constants[name])) > _SHORT))


def pack_column(values: list[object]) -> tree.Column:
    """Return the values of one key, one per row, in the shortest form that fits them all."""
    kinds = set(map(type, values))
    if len(kinds) == 1 and common_value(values) is not tree.ABSENT:
        return tree.Constant(values[0])
    if tree.Derived in kinds:
        values = written_out(values)
    return tree.Constant(values[0]) if _is_repeated_in_each_row(values) else _pack_values(values)


def written_out(values: list[object]) -> list[object]:
    """Return values with the text of each Derived, because only a column has room for the rule."""
    return [value.text if type(value) is tree.Derived else value for value in values]


def _is_repeated_in_each_row(values: list[object]) -> bool:
    """Return whether the first value is a RepeatedValue, and all others are its Repetition."""
    first = values[0]
    return type(first) is tree.RepeatedValue and all(
        type(value) is tree.Repetition and value.number == first.number for value in values[1:]
    )


def _pack_values(values: list[object]) -> tree.Column:
    kinds = set(map(type, values))
    if kinds.isdisjoint((dict, list, tree.RepeatedValue)):
        return values
    kinds = _kinds(values) - _OTHER_TYPES
    if kinds == {dict}:
        return _pack_maps(values) or values
    if kinds == {list}:
        return _pack_lists(values) or values
    return values


def _pack_maps(values: list[object]) -> tree.Table | None:
    """Return maps within rows as a table; None if they do not make one.

    It is in brackets where it is Sparse, because the row may have such a key, too, or begins or ends with an absent
    cell, which would stand next to those of the row.
    """
    table = pack_table(values)
    if table is None or table.slots is not None:
        return table
    columns = [column for column in table.columns.values() if type(column) is not tree.Constant]
    ends = (column if type(column) is list else getattr(column, "slots", None) for column in (columns[0], columns[-1]))
    if tree.Sparse in set(map(type, columns)) or any(tree.ABSENT in cells for cells in ends if cells):
        table.slots = [tree.NEXT_ROW] * table.rows
    return table


def _pack_lists(values: list[object]) -> tree.PooledLists | None:
    pool = [member for value in map(tree.content_of, values) if type(value) is list for member in value]
    members = pack_list(pool)
    if members is None:
        return None
    return tree.PooledLists(
        [
            tree.with_content(value, len(items)) if type(items := tree.content_of(value)) is list else value
            for value in values
        ],
        members,
    )


def _slots(items: list[object]) -> tuple[list[object] | None, list[dict[str, object]]]:
    """Return the slots of a table, and the maps that are its rows."""
    if set(map(type, items)) == {dict} and all(items):
        return None, items  # type: ignore[return-value]  # all are maps
    maps = [content for item in items if type(content := tree.content_of(item)) is dict and content]
    # A map without keys is written out, because its row would show nothing but absent cells.
    is_row = [type(content := tree.content_of(item)) is dict and bool(content) for item in items]
    slots = [tree.with_content(item, tree.NEXT_ROW) if row else item for item, row in zip(items, is_row, strict=True)]
    return slots, maps


def maps_in_order(maps: list[dict[str, object]]) -> tuple[tuple[str, ...], list[bool]]:
    """Return all keys in one order, and whether each map follows it.

    Of the keys that may come next, the one that was seen first does; where the maps contradict each other, too.
    """
    shapes = dict.fromkeys(map(tuple, maps), True)
    names = _merge_names(shapes)
    rank = {name: place for place, name in enumerate(names)}
    for shape in shapes:
        places = [rank[name] for name in shape]
        shapes[shape] = places == sorted(places)
    return names, [shapes[tuple(members)] for members in maps]


def _merge_names(shapes: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    rank: dict[str, int] = {}
    after: dict[str, set[str]] = {}
    for shape in shapes:
        for name in shape:
            rank.setdefault(name, len(rank))
        for name, following in pairwise(shape):
            after.setdefault(name, set()).add(following)
    before = Counter(name for following in after.values() for name in following)
    ready = [place for name, place in rank.items() if not before[name]]
    names = list(rank)
    merged: dict[str, None] = {}
    for first in names:
        if not ready and first not in merged:
            # The keys that are left contradict each other.
            ready.append(rank[first])
        while ready:
            name = names[heappop(ready)]
            merged[name] = None
            for following in after.get(name, ()):
                before[following] -= 1
                if not before[following] and following not in merged:
                    heappush(ready, rank[following])
    return tuple(merged)


def _is_dense(uses: Counter[str], sparse: set[str], rows: int) -> bool:
    """Return whether the keys in the header and in rows and the absent cells cost less than a map for each row."""
    present = sum(uses.values())
    in_rows = sum(uses[name] for name in sparse)
    absent = (len(uses) - len(sparse)) * rows - (present - in_rows)
    table = (_KEY_COST + 1) * len(uses) + _KEY_COST * in_rows + absent
    return absent <= present - in_rows and table < _KEY_COST * present + 2 * rows


def cell_count(table: tree.Table) -> int:
    """Return the number of cells in a row of the table."""
    return sum(
        cell_count(column)
        if type(column) is tree.Table and column.slots is None
        else type(column) is not tree.Constant and type(column) is not tree.KeyColumn
        for column in table.columns.values()
    )


def last_column_with_cells(table: tree.Table) -> str:
    """Return the key of the last column that has a cell in each row."""
    return [name for name, column in table.columns.items() if not isinstance(column, tree.Constant | tree.KeyColumn)][
        -1
    ]


def unpack_table(table: tree.Table) -> list[object]:
    """Return the items that the table was packed from."""
    columns: dict[str, list[object]] = {}
    for name, column in table.columns.items():
        columns[name] = column if type(column) is list else unpack_column(column, table.rows)
    names = tuple(columns)
    cells = zip(*columns.values(), strict=True)
    if any(tree.ABSENT in column for column in columns.values()):
        rows = [{name: cell for name, cell in zip(names, row, strict=True) if cell is not tree.ABSENT} for row in cells]
    else:
        rows = [dict(zip(names, row, strict=True)) for row in cells]
    return list(rows if table.slots is None else _fill(table.slots, iter(rows)))


def unpack_column(column: tree.Column, rows: int) -> list[object]:
    """Return the values of one key in each of `rows` rows."""
    if type(column) is tree.Constant:
        return _repeat(column.value, rows)
    if type(column) is tree.Sparse:
        return column.values
    if type(column) is tree.Table:
        return unpack_table(column)
    if type(column) is tree.PooledLists:
        return _unpack_lists(column)
    assert type(column) is list
    return column


def _repeat(value: object, rows: int) -> list[object]:
    """Return the value of a constant for each row, a copy in each."""
    if type(value) is tree.RepeatedValue:
        return [value, *[tree.Repetition(value.number)] * (rows - 1)]
    return [tree.copy_of(value) for _ in range(rows)] if type(value) in tree.NODES else [value] * rows


def _unpack_lists(lists: tree.PooledLists) -> list[object]:
    members = iter(unpack_column(lists.members, 0))
    return [
        tree.with_content(slot, list(islice(members, length))) if type(length := tree.content_of(slot)) is int else slot
        for slot in lists.slots
    ]


def _fill(slots: list[object], rows: Iterator[dict[str, object]]) -> Iterator[object]:
    for slot in slots:
        yield tree.with_content(slot, next(rows)) if tree.content_of(slot) is tree.NEXT_ROW else slot


# Addresses that contain another value of their map: `comments_url` is the value of `url` and "/comments".

_MIN_DERIVED_CHARS: Final = 24
"""Characters of the cells that are left out; where there are fewer, a reader finds a cell faster than a rule."""
_CONTAINERS: Final = frozenset((dict, list, tree.EmbeddedJson))
HIDDEN: Final = (
    r"\x00-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    r"\u2800\u3164\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff\ud800-\udfff"
)
"""Characters that a view shows as escapes only, in a character class of a regular expression: controls, ends of lines,
and what shows nothing (Unicode's Default_Ignorable_Code_Point, and the blank of Braille). Not the joiners and the
variation selectors, which Persian and emoji need."""
# A class of ASCII characters alone is three times as fast as the one that follows it.
_ADDRESS: Final = re.compile(r"""[A-Za-z][A-Za-z0-9+.-]*+://(?=.)[!#%-'+-~]*+[^\s"$()*""" + HIDDEN + "]*+")
_NAME: Final = re.compile(rf'[^\s"{{}}()$*{HIDDEN}]+')
_MAX_STEPS: Final = 2
"""Values that a reader looks up for one address, one after the other."""
_MAX_BASES: Final = 40
"""Values before an address that are tried."""
_MAX_PLACES: Final = 4
"""Places of a value in an address that are tried."""

_Map: TypeAlias = dict[str, object]


def pack_derived(value: object) -> object:
    """Return `value` with `Derived` in place of each address that contains another value of its map."""
    search = _Search()
    search.find([value])
    return _packed(value, search.found) if search.found else value


def _packed(value: object, found: dict[int, dict[str, tree.Derived]]) -> object:
    if type(value) is tree.EmbeddedJson:
        return tree.EmbeddedJson(_packed(value.value, found), value.style)
    if type(value) is not dict and type(value) is not list:
        return value
    members = tree.map_members(value, partial(_packed, found=found), _CONTAINERS)
    if type(members) is dict:
        members.update(found.get(id(value), {}))
    return members


class _Search:
    """One walk through a value; maps that a table would have as rows are looked at together."""

    def __init__(self) -> None:
        self.found: dict[int, dict[str, tree.Derived]] = {}
        """The derived members of each map, by its `id`."""

    def find(self, values: list[object]) -> None:
        """Look at one value, or at the values of one column."""
        for value in values:
            if type(value) is tree.EmbeddedJson:
                self.find([value.value])
        pool = [member for value in values if type(value) is list for member in value if type(member) in _CONTAINERS]
        if pool:
            self.find(pool)
        maps = [value for value in values if type(value) is dict]
        if len(maps) == 1:
            self._find_in_map(maps[0])
        elif maps:
            self._find_in_rows(maps)

    def _find_in_map(self, members: _Map) -> None:
        """Derive an address from the longest one before it with which it begins."""
        if set(map(type, members.values())) == {dict}:
            # The values of a map of maps are rows.
            self.find(list(members.values()))
            return
        # Each address to the name of the first member that is it.
        bases: dict[str, str] = {}
        texts: tuple[str, ...] = ()
        for name, member in members.items():
            if type(member) in _CONTAINERS:
                self.find([member])
            elif type(member) is str and "://" in member and _ADDRESS.fullmatch(member):
                # Most addresses begin with none; to try all at once saves a call for each.
                known = [base for base in bases if member.startswith(base)] if member.startswith(texts) else None
                base = max(known, key=len) if known else ""
                if _pays(base, bases.get(base, "")):
                    derived = tree.Derived("", bases[base], member[len(base) :], member)
                    self.found.setdefault(id(members), {})[name] = derived
                elif len(bases) < _MAX_BASES and _NAME.fullmatch(name):
                    bases.setdefault(member, name)
                    texts = tuple(bases)

    def _find_in_rows(self, maps: list[_Map]) -> None:
        """Derive the addresses of a column from another column, by one rule for all rows."""
        addresses: list[str] = []
        bases: dict[str, int] = {}
        for name, values in _columns(maps).items():
            kinds = set(map(type, values))
            if not _CONTAINERS.isdisjoint(kinds):
                self.find([value for value in values if type(value) in _CONTAINERS])
            elif str in kinds and any(type(value) is str and "://" in value for value in values):
                addresses.append(name)
            elif len(bases) < _MAX_BASES and _NAME.fullmatch(name):
                # In a header, the name of a column is found before and behind the rule.
                bases[name] = 0
        for name in addresses:
            steps = self._find_in_column(maps, name, bases)
            if steps < _MAX_STEPS and _NAME.fullmatch(name):
                bases[name] = steps

    def _find_in_column(self, maps: list[_Map], name: str, bases: Mapping[str, int]) -> int:
        """Derive the addresses of that name; return the steps to their values.

        Args:
            maps: The maps, some of which may lack the name.
            name: A name.
            bases: The names of values that an address may contain, and the steps to these.
        """
        rows = [members for members in maps if type(members.get(name)) is str]
        texts = [str(members[name]) for members in rows]
        # A column in which all rows have the same address has no cells anyway.
        if not all(map(_ADDRESS.fullmatch, texts)) or len(set(texts)) == 1:
            return 0
        best = min(_derivations(rows, texts, bases), key=tree.Derived.kept_chars, default=None)
        if best is None:
            return 0
        for members, text in zip(rows, texts, strict=True):
            self.found.setdefault(id(members), {})[name] = tree.Derived(best.before, best.name, best.behind, text)
        return bases[best.name] + 1


def _columns(maps: list[_Map]) -> dict[str, list[object]]:
    """Return the values of each name, in the order in which the names come first."""
    columns: dict[str, list[object]] = {name: [] for members in maps for name in members}
    for members in maps:
        for name, member in members.items():
            columns[name].append(member)
    return columns


def _derivations(rows: list[_Map], texts: list[str], bases: Iterable[str]) -> Iterator[tree.Derived]:
    """Yield the ways to derive the addresses, the same in all rows, that save enough."""
    chars = sum(map(len, texts))
    for base in bases:
        first = _text_of(rows[0].get(base))
        if not first or first not in texts[0]:
            continue
        known = [_text_of(members.get(base)) for members in rows]
        for derived in _places(base, first, texts[0]) if all(known) else ():
            saves = chars - derived.kept_chars() >= _MIN_DERIVED_CHARS
            if saves and [f"{derived.before}{part}{derived.behind}" for part in known] == texts:
                yield derived


def pays_in_its_line(derived: tree.Derived) -> bool:
    """Return whether an address is shorter outside a table, too: only one that begins with another address is."""
    return not derived.before and _pays(derived.text.removesuffix(derived.behind), derived.name)


def _pays(base: str, name: str) -> bool:
    """Return whether `${name}` in place of the beginning `base` of an address saves enough."""
    return len(base) - len(name) > _MIN_DERIVED_CHARS // 2


def _text_of(value: object) -> str:
    """Return what stands in an address for a value; "" for one that no address contains."""
    return value if type(value) is str else str(value) if type(value) is int else ""


def _places(base: str, known: str, text: str) -> Iterator[tree.Derived]:
    """Yield the ways to derive `text` from `known`, the value of the name `base`; the last place comes first."""
    at = text.rfind(known)
    for _ in range(_MAX_PLACES):
        if at < 0:
            return
        yield tree.Derived(text[:at], base, text[at + len(known) :], text)
        at = text.rfind(known, 0, at + len(known) - 1)


def unpack_derived(value: object, expansion: Expansion) -> None:
    """Put its text in place of each `Derived` in the maps of a tree.

    Args:
        value: A tree that nothing else refers to.
        expansion: What the texts may add.

    Raises:
        ExpansionError: the texts would add more than `expansion` has left.
        ValueError: what an address contains is no string or whole number in the same map, or takes too many steps.
    """
    if type(value) is tree.EmbeddedJson:
        unpack_derived(value.value, expansion)
    elif type(value) is dict:
        for name, member in value.items():
            if type(member) is tree.Derived:
                value[name] = _derive(member, value, expansion, _MAX_STEPS)
            elif type(member) in _CONTAINERS:
                unpack_derived(member, expansion)
    elif type(value) is list:
        for member in value:
            unpack_derived(member, expansion)


def _derive(derived: tree.Derived, members: _Map, expansion: Expansion, steps: int) -> str:
    base = members.get(derived.name)
    if type(base) is tree.Derived and steps > 1:
        base = _derive(base, members, expansion, steps - 1)
    known = _text_of(base)
    if not known:
        raise ValueError(
            f"expected a string or a whole number {derived.name!r} for ${{{derived.name}}}, found {base!r}"
        )
    expansion.add(len(derived.before) + len(known) + len(derived.behind), f"${{{derived.name}}}")
    return f"{derived.before}{known}{derived.behind}"
