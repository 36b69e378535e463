"""Sub-trees and long strings that occur several times are written once: `&1 …` first, `*1` in every later place.

Two values are the same only if their types and the order of their keys are: 1 is neither 1.0 nor true.
`pack_repeated_values` and `unpack_repeated_values` are inverse.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from itertools import chain
from typing import Final, TypeAlias

from accp_core.packing.expansion import DEFAULT_EXPANSION, Expansion, size_of
from accp_core.packing.tree import NODES, Derived, EmbeddedJson, RepeatedValue, Repetition, copy_of, map_members

__all__ = [
    "MIN_LIST_CHARS", "MIN_MAP_CHARS", "MIN_STRING_CHARS", "SavesTokens",
    "pack_repeated_values", "unpack_repeated_values",
]  # fmt: skip

MIN_STRING_CHARS: Final = 12
"""Characters of a string; to look up a shorter one costs the reader more than to read it again."""
MIN_LIST_CHARS: Final = 40
"""Characters of the values in an array, with what separates them; a smaller one is written in every place."""
MIN_MAP_CHARS: Final = 60
"""The same of a map or an embedded document, without its keys.

A table has the keys once, and a marker would take the map out of the columns of its table.
"""

_REPEATABLE: Final = frozenset((str, dict, list, EmbeddedJson))

_PLAIN: Final = frozenset((str, int, type(None)))
"""Types of the values that identify themselves."""
_LITERALS: Final[dict[object, Hashable]] = {value: (bool, repr(value)) for value in (False, True)}
_OTHER_CHARS: Final = 4
"""Characters of a number or a literal and what separates it, on the average."""

SavesTokens: TypeAlias = Callable[[str, int], bool]
"""Returns whether a string that occurs that many times is to be written once."""


class _DerivedText(str):
    """The text of a Derived: equal to the same text elsewhere, but no string that is written once."""

    __slots__ = ()


class _Node:
    """An array, a map or an embedded document; all that are equal have the same node."""

    __slots__ = ("chars", "children", "kind", "names")

    def __init__(self, kind: type, names: tuple[str, ...], children: tuple[Hashable, ...]) -> None:
        self.kind = kind
        self.names = names
        self.children = children
        self.chars = -1
        """Characters of the values, with what separates them; -1 before they are counted."""

    def is_large(self) -> bool:
        """Return whether a marker saves several tokens."""
        return _chars(self) >= (MIN_LIST_CHARS if self.kind is list else MIN_MAP_CHARS)


def _chars(child: Hashable) -> int:
    if type(child) is not _Node:
        return len(child) + 1 if type(child) is str else _OTHER_CHARS
    if child.chars < 0:
        child.chars = sum(map(_chars, child.children))
    return child.chars


def pack_repeated_values(value: object, saves_tokens: SavesTokens, *, max_uses: int | None = None) -> object:
    """Return `value` with its repetitions replaced; `value` itself if there are none.

    Args:
        value: A tree of JSON values and EmbeddedJson.
        saves_tokens: Decides which repeated strings are replaced.
        max_uses: Places of one repeated value, after which it is written again under another number; None: any number.
    """
    graph = _Graph()
    graph.add(value)
    repeated = graph.repeated_values(saves_tokens)
    if not repeated:
        return value
    return _Packing(repeated, graph.with_ancestors(repeated), graph.nodes, max_uses).pack(value)


class _Graph:
    """A tree in which equal sub-trees are one node."""

    def __init__(self) -> None:
        self.distinct: dict[Hashable, _Node] = {}
        self.nodes: dict[int, _Node] = {}
        self.repeated: set[_Node] = set()

    def add(self, value: object) -> Hashable:
        """Return what identifies `value`: the node of a container, or a scalar with its type."""
        kind = type(value)
        names: tuple[str, ...] = ()
        children: tuple[Hashable, ...]
        if kind is dict:
            names, children = tuple(value), tuple(value.values())  # type: ignore[arg-type, attr-defined]  # a dict
        elif kind is list:
            children = tuple(value)  # type: ignore[arg-type]  # a list
        elif type(value) is EmbeddedJson:
            names, children = (value.style,), (value.value,)
        else:
            return _DerivedText(value.text) if type(value) is Derived else _identity(value)
        if not _PLAIN.issuperset(map(type, children)):
            # Numbers and literals are identified as `_identity` does, without a call for each.
            children = tuple(
                [
                    member
                    if (inner := type(member)) in _PLAIN
                    else (float, member)
                    if inner is float and member != 0
                    else _LITERALS[member]
                    if inner is bool
                    else self.add(member)
                    for member in children
                ]
            )
        key = (kind, names, children)
        node = self.distinct.get(key)
        if node is None:
            node = self.distinct[key] = _Node(kind, names, children)
        else:
            self.repeated.add(node)
        self.nodes[id(value)] = node
        return node

    def repeated_values(self, saves_tokens: SavesTokens) -> set[Hashable]:
        """Return the strings and nodes that are to be written once.

        The members of equal containers count once, because a repeated container does not repeat them.
        """
        children = list(chain.from_iterable(node.children for node in self.distinct.values()))
        strings = Counter([child for child in children if type(child) is str and len(child) >= MIN_STRING_CHARS])
        repeated: set[Hashable] = {text for text, uses in strings.items() if uses > 1 and saves_tokens(text, uses)}
        large = {node for node in self.repeated if node.is_large()}
        if large:
            trees = Counter([child for child in children if child in large])
            repeated.update(node for node, uses in trees.items() if uses > 1)
        return repeated

    def with_ancestors(self, values: set[Hashable]) -> set[Hashable]:
        """Return `values` and the nodes that contain any of them."""
        found = set(values)
        # Inner nodes come before outer ones.
        for node in self.distinct.values():
            if not found.isdisjoint(node.children):
                found.add(node)
        return found


def _identity(value: object) -> Hashable:
    """Return a scalar with its type, which tells 1, 1.0 and true apart."""
    # `repr` shows the sign of zero and the spelling of a number.
    return (float, value) if type(value) is float and value else (type(value), repr(value))


class _Packing:
    """One walk in reading order, which numbers the repeated values as they come."""

    def __init__(
        self, repeated: set[Hashable], changed: set[Hashable], nodes: dict[int, _Node], max_uses: int | None
    ) -> None:
        self.repeated = repeated
        self.changed = changed
        """Repeated values and the nodes that contain any; all others stay as they are."""
        self.nodes = nodes
        self.max_uses = max_uses
        self.count = 0
        """How many repeated values were numbered."""
        self.numbers: dict[Hashable, int] = {}
        self.uses: Counter[int] = Counter()

    def pack(self, value: object) -> object:
        """Return a string or a container with RepeatedValue and Repetition in it."""
        if type(value) is str:
            return self._numbered(value, value) if value in self.repeated else value
        node = self.nodes[id(value)]
        if node not in self.changed:
            return value
        return self._numbered(node, value) if node in self.repeated else self._members(value)

    def _numbered(self, identity: Hashable, value: object) -> object:
        number = self.numbers.get(identity)
        if number is not None and (self.max_uses is None or self.uses[number] < self.max_uses):
            self.uses[number] += 1
            return Repetition(number)
        self.count += 1
        number = self.numbers[identity] = self.count
        return RepeatedValue(number, value if type(value) is str else self._members(value))

    def _members(self, value: object) -> object:
        if type(value) is dict or type(value) is list:
            return map_members(value, self.pack, _REPEATABLE)
        assert type(value) is EmbeddedJson
        return EmbeddedJson(self.pack(value.value), value.style)


def unpack_repeated_values(value: object, expansion: Expansion | None = None) -> object:
    """Return `value` with a copy of the repeated value in place of each Repetition, which may come first.

    Args:
        value: A tree that was read.
        expansion: What the copies may add; None: the default size. A few repetitions of repetitions could ask for more
            memory than there is.

    Raises:
        ExpansionError: the copies would add more than `expansion` has left.
        ValueError: a Repetition has no RepeatedValue, a RepeatedValue contains itself or has the number of another.
    """
    marked = _Marked()
    if not marked.find(value):
        return value
    _Measuring(marked, expansion or Expansion(DEFAULT_EXPANSION.size)).count(value)
    return _Unpacking(marked).unpack(value)


class _Marked:
    """Where the repetitions of a tree are."""

    def __init__(self) -> None:
        self.values: dict[int, RepeatedValue] = {}
        """Each RepeatedValue, by its number."""
        self.containers: set[int] = set()
        """The `id` of each container with a RepeatedValue or a Repetition in it; all others stay as they are."""

    def find(self, value: object) -> bool:
        """Return whether there is any in `value`."""
        if type(value) is Repetition:
            return True
        if type(value) is RepeatedValue:
            if self.values.setdefault(value.number, value) is not value:
                raise ValueError(f"expected &{value.number} once, found it again")
            self.find(value.value)
            return True
        if type(value) is EmbeddedJson:
            found = self.find(value.value)
        else:
            members = value.values() if type(value) is dict else value if type(value) is list else ()
            # Each is looked at, also behind one that was found.
            found = sum(self.find(member) for member in members if type(member) in NODES) > 0
        if found:
            self.containers.add(id(value))
        return found


class _Measuring:
    """One walk, which counts what the repetitions add before any of them is copied."""

    def __init__(self, marked: _Marked, expansion: Expansion) -> None:
        self.values = marked.values
        self.containers = marked.containers
        self.expansion = expansion
        self.added: dict[int, int] = {}
        """What the repetitions in each repeated value add to it."""
        self.sizes: dict[int, int] = {}
        self.started: set[int] = set()

    def count(self, value: object) -> int:
        """Count the repetitions in `value`; return what they add."""
        if type(value) is Repetition:
            size = self._size(value.number)
            self.expansion.add(size, f"*{value.number}")
            return size
        if type(value) is RepeatedValue:
            return self._count_once(value.number)
        if id(value) not in self.containers:
            return 0
        if type(value) is EmbeddedJson:
            return self.count(value.value)
        members = value.values() if type(value) is dict else value if type(value) is list else ()
        return sum(self.count(member) for member in members if type(member) in NODES)

    def _count_once(self, number: int) -> int:
        if number not in self.added:
            if number in self.started:
                raise ValueError(f"expected *{number} outside the value &{number}, found it inside")
            self.started.add(number)
            self.added[number] = self.count(self.values[number].value)
        return self.added[number]

    def _size(self, number: int) -> int:
        if number not in self.sizes:
            if number not in self.values:
                raise ValueError(f"expected a value &{number} for *{number}, found none")
            self.sizes[number] = size_of(self.values[number].value) + self._count_once(number)
        return self.sizes[number]


class _Unpacking:
    """One walk; a RepeatedValue is unpacked when it or a Repetition of it comes first."""

    def __init__(self, marked: _Marked) -> None:
        self.values = marked.values
        self.containers = marked.containers
        self.unpacked: dict[int, object] = {}

    def unpack(self, value: object) -> object:
        """Return `value` without RepeatedValue and Repetition."""
        if type(value) is Repetition:
            return copy_of(self._unpack_once(value.number))
        if type(value) is RepeatedValue:
            return self._unpack_once(value.number)
        if id(value) not in self.containers:
            return value
        if type(value) is EmbeddedJson:
            return EmbeddedJson(self.unpack(value.value), value.style)
        assert type(value) is dict or type(value) is list
        return map_members(value, self.unpack, NODES)

    def _unpack_once(self, number: int) -> object:
        if number not in self.unpacked:
            self.unpacked[number] = self.unpack(self.values[number].value)
        return self.unpacked[number]
