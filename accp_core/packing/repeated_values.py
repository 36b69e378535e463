"""Sub-trees and long strings that occur several times are written once: `&1 …` first, `*1` in every later place.

Two values are the same only if their types and the order of their keys are: 1 is neither 1.0 nor true.
`pack_repeated_values` and `unpack_repeated_values` are inverse.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from functools import partial
from typing import Final, TypeAlias

from accp_core.packing.tree import EmbeddedJson, RepeatedValue, Repetition, map_members

__all__ = [
    "MIN_STRING_CHARS", "MIN_TREE_CHARS", "SavesTokens", "copy_shared_containers", "pack_repeated_values",
    "unpack_repeated_values",
]  # fmt: skip

MIN_STRING_CHARS: Final = 12
"""Characters of a string; to look up a shorter one costs the reader more than to read it again."""
MIN_TREE_CHARS: Final = 40
"""Characters of the strings and keys in a sub-tree, plus two for each of them."""

_REPEATABLE: Final = frozenset((str, dict, list, EmbeddedJson))
_NODES: Final = frozenset((dict, list, EmbeddedJson, RepeatedValue, Repetition))

SavesTokens: TypeAlias = Callable[[str, int], bool]
"""Returns whether a string that occurs that many times is to be written once."""


class _Node:
    """An array, a map or an embedded document; all that are equal have the same node."""

    __slots__ = ("children", "names")

    def __init__(self, names: tuple[str, ...], children: tuple[Hashable, ...]) -> None:
        self.names = names
        self.children = children

    def size(self) -> int:
        """Return the approximate number of characters of the sub-tree."""
        return sum(len(name) + 2 for name in self.names) + sum(map(_size, self.children))


def _size(child: Hashable) -> int:
    return child.size() if type(child) is _Node else len(child) + 2 if type(child) is str else 2


def pack_repeated_values(value: object, saves_tokens: SavesTokens) -> object:
    """Return `value` with its repetitions replaced; `value` itself if there are none.

    Args:
        value: A tree of JSON values and EmbeddedJson.
        saves_tokens: Decides which repeated strings are replaced.
    """
    graph = _Graph()
    graph.add(value)
    repeated = graph.repeated_values(saves_tokens)
    if not repeated:
        return value
    return _Packing(repeated, graph.with_ancestors(repeated), graph.nodes).pack(value)


class _Graph:
    """A tree in which equal sub-trees are one node."""

    def __init__(self) -> None:
        self.distinct: dict[Hashable, _Node] = {}
        self.nodes: dict[int, _Node] = {}
        self.repeated: set[_Node] = set()

    def add(self, value: object) -> Hashable:
        """Return what identifies `value`: the node of a container, or a scalar with its type."""
        names: tuple[str, ...] = ()
        members: Iterable[object]
        if type(value) is dict:
            names, members = tuple(value), value.values()
        elif type(value) is list:
            members = value
        elif type(value) is EmbeddedJson:
            names, members = (value.style,), (value.value,)
        else:
            # The type tells 1, 1.0 and true apart; `repr` shows the sign of zero and the spelling of a number.
            return (float, value) if type(value) is float and value else (type(value), repr(value))
        children = tuple(
            [
                member if type(member) is str or type(member) is int or member is None else self.add(member)
                for member in members
            ]
        )
        return self._node(value, names, children)

    def _node(self, value: object, names: tuple[str, ...], children: tuple[Hashable, ...]) -> _Node:
        key = (type(value), names, children)
        node = self.distinct.get(key)
        if node is None:
            node = self.distinct[key] = _Node(names, children)
        else:
            self.repeated.add(node)
        self.nodes[id(value)] = node
        return node

    def repeated_values(self, saves_tokens: SavesTokens) -> set[Hashable]:
        """Return the strings and nodes that are to be written once."""
        # The members of equal containers count once, because a repeated container does not repeat them.
        children = [child for node in self.distinct.values() for child in node.children]
        strings = [child for child in children if type(child) is str and len(child) >= MIN_STRING_CHARS]
        repeated: set[Hashable] = set()
        if len(set(strings)) < len(strings):
            repeated.update(text for text, uses in Counter(strings).items() if uses > 1 and saves_tokens(text, uses))
        large = {node for node in self.repeated if node.size() >= MIN_TREE_CHARS}
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


class _Packing:
    """One walk in reading order, which numbers the repeated values as they come."""

    def __init__(self, repeated: set[Hashable], changed: set[Hashable], nodes: dict[int, _Node]) -> None:
        self.repeated = repeated
        self.changed = changed
        """Repeated values and the nodes that contain any; all others stay as they are."""
        self.nodes = nodes
        self.numbers: dict[Hashable, int] = {}

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
        if number is not None:
            return Repetition(number)
        number = self.numbers[identity] = len(self.numbers) + 1
        return RepeatedValue(number, value if type(value) is str else self._members(value))

    def _members(self, value: object) -> object:
        if type(value) is dict or type(value) is list:
            return map_members(value, self.pack, _REPEATABLE)
        assert type(value) is EmbeddedJson
        return EmbeddedJson(self.pack(value.value), value.style)


def copy_shared_containers(value: object, *, limit: int = 5_000_000) -> object:
    """Return `value` with a copy of each container that is in several places, such as the constant of a column.

    Otherwise a change in one place would appear in another.

    Args:
        value: A tree that was read.
        limit: Members of all copies. Constants within constants could ask for more memory than there is.

    Raises:
        ValueError: the copies have more members than `limit`.
    """
    return _Copying(limit).copy(value, again=False)


class _Copying:
    """One walk through a tree, which remembers the containers that it has seen."""

    def __init__(self, limit: int) -> None:
        self.left = limit
        self.seen: set[int] = set()

    def copy(self, value: object, *, again: bool) -> object:
        """Return a copy of `value`; `again`: it is inside a container that was seen before."""
        if type(value) is RepeatedValue:
            return RepeatedValue(value.number, self.copy(value.value, again=again))
        if type(value) is EmbeddedJson:
            return EmbeddedJson(self.copy(value.value, again=again), value.style)
        if type(value) is not dict and type(value) is not list:
            return value
        again = again or id(value) in self.seen
        self.seen.add(id(value))
        self.left -= again * (1 + len(value))
        if self.left < 0:
            raise ValueError("expected fewer copies, found constants within constants that ask for too much memory")
        return map_members(value, partial(self.copy, again=again), _NODES)


def unpack_repeated_values(value: object, *, limit: int = 5_000_000) -> object:
    """Return `value` with a copy of the repeated value in place of each Repetition, which may come first.

    Args:
        value: A tree that was read.
        limit: Arrays, maps and scalars of all copies. A few repetitions of repetitions could ask for more memory than
            there is.

    Raises:
        ValueError: a Repetition has no RepeatedValue, a RepeatedValue contains itself or has the number of another, or
            the copies pass `limit`.
    """
    return _Unpacking(value, limit).unpack(value)


class _Unpacking:
    """One walk in reading order; the RepeatedValue of a Repetition that comes first is searched in the whole tree."""

    def __init__(self, tree: object, limit: int) -> None:
        self.tree = tree
        self.left = limit
        self.values: dict[int, RepeatedValue] = {}
        self.unpacked: dict[int, object] = {}
        self.started: set[int] = set()

    def unpack(self, value: object) -> object:
        """Return `value` without RepeatedValue and Repetition."""
        if type(value) is dict or type(value) is list:
            return map_members(value, self.unpack, _NODES)
        if type(value) is Repetition:
            return self._copy(self._value_of(value.number))
        if type(value) is RepeatedValue:
            return self._unpack_once(value)
        if type(value) is EmbeddedJson:
            return EmbeddedJson(self.unpack(value.value), value.style)
        return value

    def _unpack_once(self, repeated: RepeatedValue) -> object:
        number = repeated.number
        if self.values.setdefault(number, repeated) is not repeated:
            raise ValueError(f"expected &{number} once, found it again")
        if number not in self.unpacked:
            if number in self.started:
                raise ValueError(f"expected *{number} outside the value &{number}, found it inside")
            self.started.add(number)
            self.unpacked[number] = self.unpack(repeated.value)
        return self.unpacked[number]

    def _value_of(self, number: int) -> object:
        if number not in self.unpacked:
            if number not in self.values:
                self._collect(self.tree)
            if number not in self.values:
                raise ValueError(f"expected a value &{number} for *{number}, found none")
            return self._unpack_once(self.values[number])
        return self.unpacked[number]

    def _collect(self, value: object) -> None:
        if type(value) is RepeatedValue:
            self.values.setdefault(value.number, value)
        if type(value) is RepeatedValue or type(value) is EmbeddedJson:
            self._collect(value.value)
        for member in value.values() if type(value) is dict else value if type(value) is list else ():
            if type(member) in _NODES:
                self._collect(member)

    def _copy(self, value: object) -> object:
        # Without a copy, a change in one place would appear in another.
        self.left -= 1
        if self.left < 0:
            raise ValueError("expected fewer copies, found repetitions of repetitions that ask for too much memory")
        if type(value) is dict:
            return {name: self._copy(member) for name, member in value.items()}
        if type(value) is list:
            return [self._copy(member) for member in value]
        if type(value) is EmbeddedJson:
            return EmbeddedJson(self._copy(value.value), value.style)
        return value
