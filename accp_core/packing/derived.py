"""Addresses that contain another value of their map: `comments_url` is the value of `url` and "/comments".

Only addresses (`https://…`) are derived, and only from a whole value, which stands in its own place, so that no name,
number or date is ever cut.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Final, TypeAlias

from accp_core.packing.expansion import Expansion
from accp_core.packing.tree import Derived, EmbeddedJson, map_members

__all__ = ["HIDDEN", "pack_derived", "pays_in_its_line", "unpack_derived"]

_MIN_SAVED_CHARS: Final = 24
"""Characters of the cells that are left out; where there are fewer, a reader finds a cell faster than a rule."""
_CONTAINERS: Final = frozenset((dict, list, EmbeddedJson))
HIDDEN: Final = (
    r"\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    r"\U000e0000-\U000e007f\ud800-\udfff"
)
"""Characters that a view shows as escapes only, in a character class of a regular expression: controls, ends of lines,
marks that turn the direction of a text, zero-width ones. Not the two joiners, which Persian and emoji need."""
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


def _packed(value: object, found: dict[int, dict[str, Derived]]) -> object:
    if type(value) is EmbeddedJson:
        return EmbeddedJson(_packed(value.value, found), value.style)
    if type(value) is not dict and type(value) is not list:
        return value
    members = map_members(value, partial(_packed, found=found), _CONTAINERS)
    if type(members) is dict:
        members.update(found.get(id(value), {}))
    return members


class _Search:
    """One walk through a value; maps that a table would have as rows are looked at together."""

    def __init__(self) -> None:
        self.found: dict[int, dict[str, Derived]] = {}
        """The derived members of each map, by its `id`."""

    def find(self, values: list[object]) -> None:
        """Look at one value, or at the values of one column."""
        for value in values:
            if type(value) is EmbeddedJson:
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
                    derived = Derived("", bases[base], member[len(base) :], member)
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
        best = min(_derivations(rows, texts, bases), key=Derived.kept_chars, default=None)
        if best is None:
            return 0
        for members, text in zip(rows, texts, strict=True):
            self.found.setdefault(id(members), {})[name] = Derived(best.before, best.name, best.behind, text)
        return bases[best.name] + 1


def _columns(maps: list[_Map]) -> dict[str, list[object]]:
    """Return the values of each name, in the order in which the names come first."""
    columns: dict[str, list[object]] = {name: [] for members in maps for name in members}
    for members in maps:
        for name, member in members.items():
            columns[name].append(member)
    return columns


def _derivations(rows: list[_Map], texts: list[str], bases: Iterable[str]) -> Iterator[Derived]:
    """Yield the ways to derive the addresses, the same in all rows, that save enough."""
    chars = sum(map(len, texts))
    for base in bases:
        first = _text_of(rows[0].get(base))
        if not first or first not in texts[0]:
            continue
        known = [_text_of(members.get(base)) for members in rows]
        for derived in _places(base, first, texts[0]) if all(known) else ():
            saves = chars - derived.kept_chars() >= _MIN_SAVED_CHARS
            if saves and [f"{derived.before}{part}{derived.behind}" for part in known] == texts:
                yield derived


def pays_in_its_line(derived: Derived) -> bool:
    """Return whether an address is shorter outside a table, too: only one that begins with another address is."""
    return not derived.before and _pays(derived.text.removesuffix(derived.behind), derived.name)


def _pays(base: str, name: str) -> bool:
    """Return whether `${name}` in place of the beginning `base` of an address saves enough."""
    return len(base) - len(name) > _MIN_SAVED_CHARS // 2


def _text_of(value: object) -> str:
    """Return what stands in an address for a value; "" for one that no address contains."""
    return value if type(value) is str else str(value) if type(value) is int else ""


def _places(base: str, known: str, text: str) -> Iterator[Derived]:
    """Yield the ways to derive `text` from `known`, the value of the name `base`; the last place comes first."""
    at = text.rfind(known)
    for _ in range(_MAX_PLACES):
        if at < 0:
            return
        yield Derived(text[:at], base, text[at + len(known) :], text)
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
    if type(value) is EmbeddedJson:
        unpack_derived(value.value, expansion)
    elif type(value) is dict:
        for name, member in value.items():
            if type(member) is Derived:
                value[name] = _derive(member, value, expansion, _MAX_STEPS)
            elif type(member) in _CONTAINERS:
                unpack_derived(member, expansion)
    elif type(value) is list:
        for member in value:
            unpack_derived(member, expansion)


def _derive(derived: Derived, members: _Map, expansion: Expansion, steps: int) -> str:
    base = members.get(derived.name)
    if type(base) is Derived and steps > 1:
        base = _derive(base, members, expansion, steps - 1)
    known = _text_of(base)
    if not known:
        raise ValueError(
            f"expected a string or a whole number {derived.name!r} for ${{{derived.name}}}, found {base!r}"
        )
    expansion.add(len(derived.before) + len(known) + len(derived.behind), f"${{{derived.name}}}")
    return f"{derived.before}{known}{derived.behind}"
