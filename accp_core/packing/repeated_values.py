"""A repeated sub-tree or long string stands once and is referred to: `&1 …` first, `*1` afterwards.

Two values are the same here only if they are so in type and order of keys: 1 is not 1.0, nor is it true.
`pack_repeated_values` and `unpack_repeated_values` are inverse.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from typing import Final, TypeAlias

from accp_core.packing.tree import EmbeddedJson, RepeatedValue, Repetition

__all__ = [
    "MIN_STRING_CHARS",
    "MIN_TREE_CHARS",
    "SavesTokens",
    "copy_shared_containers",
    "pack_repeated_values",
    "unpack_repeated_values",
]

MIN_STRING_CHARS: Final = 12
"""Characters; shorter strings are not worth a reference and its look-up by the reader."""
MIN_TREE_CHARS: Final = 40
"""Characters of the strings and keys in a sub-tree, two more for each."""

_SHAREABLE: Final = frozenset((str, dict, list, EmbeddedJson))
_NODES: Final = frozenset((dict, list, EmbeddedJson, RepeatedValue, Repetition))

SavesTokens: TypeAlias = Callable[[str, int], bool]


class _Node:
    """One distinct array, map or opened document; equal ones share it."""

    __slots__ = ("children", "names")

    def __init__(self, names: tuple[str, ...], children: tuple[Hashable, ...]) -> None:
        self.names = names
        self.children = children

    def size(self) -> int:
        """Return about how many characters the sub-tree takes."""
        return sum(len(name) + 2 for name in self.names) + sum(map(_size, self.children))


def _size(child: Hashable) -> int:
    return child.size() if type(child) is _Node else len(child) + 2 if type(child) is str else 2


def pack_repeated_values(value: object, worth: SavesTokens) -> object:
    """Return `value` with its repetitions replaced, or `value` itself where there are none.

    `worth(text, uses)` says whether a string that stands `uses` times is to be shared.
    """
    graph = _Graph()
    graph.scan(value)
    shared = graph.shared(worth)
    return _Replacement(shared, graph.around(shared), graph.nodes).of(value) if shared else value


class _Graph:
    """The tree with equal sub-trees folded together, and how often each is referred to."""

    def __init__(self) -> None:
        self.distinct: dict[Hashable, _Node] = {}
        self.nodes: dict[int, _Node] = {}
        self.repeated: set[_Node] = set()

    def scan(self, value: object) -> Hashable:
        """Return what identifies `value`: a node for a container, else the scalar, told apart by its type."""
        names: tuple[str, ...] = ()
        members: Iterable[object]
        if type(value) is dict:
            names, members = tuple(value), value.values()
        elif type(value) is list:
            members = value
        elif type(value) is EmbeddedJson:
            names, members = (value.style,), (value.value,)
        else:
            # A tuple, so that 1.0 and true are not 1; zero has a sign, and a number may have a spelling.
            return (float, value) if type(value) is float and value else (type(value), repr(value))
        children = tuple(
            [
                member if type(member) is str or type(member) is int or member is None else self.scan(member)
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

    def shared(self, worth: SavesTokens) -> set[Hashable]:
        """Return the strings and nodes that are to stand once."""
        # Members of equal containers count once: where the container is an alias, they do not stand again.
        children = [child for node in self.distinct.values() for child in node.children]
        strings = [child for child in children if type(child) is str and len(child) >= MIN_STRING_CHARS]
        shared: set[Hashable] = set()
        if len(set(strings)) < len(strings):
            shared.update(text for text, uses in Counter(strings).items() if uses > 1 and worth(text, uses))
        large = {node for node in self.repeated if node.size() >= MIN_TREE_CHARS}
        if large:
            trees = Counter([child for child in children if child in large])
            shared.update(node for node, uses in trees.items() if uses > 1)
        return shared

    def around(self, shared: set[Hashable]) -> set[Hashable]:
        """Return `shared` and the nodes that hold any of it."""
        marked = set(shared)
        # Inner nodes come before the outer ones.
        for node in self.distinct.values():
            if not marked.isdisjoint(node.children):
                marked.add(node)
        return marked


class _Replacement:
    """One walk in reading order, which numbers what is shared as it comes; what holds none of it stays."""

    def __init__(self, shared: set[Hashable], marked: set[Hashable], nodes: dict[int, _Node]) -> None:
        self.shared = shared
        self.marked = marked
        self.nodes = nodes
        self.numbers: dict[Hashable, int] = {}

    def of(self, value: object) -> object:
        """Return `value`, a string or a container, with anchors and aliases."""
        if type(value) is str:
            return self._refer(value, value) if value in self.shared else value
        node = self.nodes[id(value)]
        if node not in self.marked:
            return value
        return self._refer(node, value) if node in self.shared else self._members(value)

    def _refer(self, identity: Hashable, value: object) -> object:
        number = self.numbers.get(identity)
        if number is not None:
            return Repetition(number)
        number = self.numbers[identity] = len(self.numbers) + 1
        return RepeatedValue(number, value if type(value) is str else self._members(value))

    def _members(self, value: object) -> object:
        if type(value) is dict:
            return {name: self.of(member) if type(member) in _SHAREABLE else member for name, member in value.items()}
        if type(value) is list:
            return [self.of(member) if type(member) in _SHAREABLE else member for member in value]
        assert type(value) is EmbeddedJson
        return EmbeddedJson(self.of(value.value), value.style)


def copy_shared_containers(value: object, *, limit: int = 5_000_000) -> object:
    """Return `value` with a copy of each container that stands in several places, as a constant of a table does.

    Without it a change to one place would show in another, and a short text could read as more than memory holds.

    Raises:
        ValueError: the copies hold more than `limit` members.
    """
    return _Separation(limit).of(value, again=False)


class _Separation:
    """One walk, which knows the containers that it has passed."""

    def __init__(self, limit: int) -> None:
        self.left = limit
        self.seen: set[int] = set()

    def of(self, value: object, *, again: bool) -> object:
        """Return a copy of `value`; `again`: it stands in a container that was passed before."""
        if type(value) is RepeatedValue:
            return RepeatedValue(value.number, self.of(value.value, again=again))
        if type(value) is EmbeddedJson:
            return EmbeddedJson(self.of(value.value, again=again), value.style)
        if type(value) is not dict and type(value) is not list:
            return value
        again = again or id(value) in self.seen
        self.seen.add(id(value))
        self.left -= again * (1 + len(value))
        if self.left < 0:
            raise ValueError("expected fewer copies: constants within constants ask for too much memory")
        if type(value) is dict:
            return {
                name: self.of(member, again=again) if type(member) in _NODES else member
                for name, member in value.items()
            }
        return [self.of(member, again=again) if type(member) in _NODES else member for member in value]


def unpack_repeated_values(value: object, *, limit: int = 5_000_000) -> object:
    """Return `value` with a copy of what each reference stands for, wherever its anchor is.

    `limit` bounds the arrays, maps and scalars that copying makes: a few references to references can ask for
    more than any memory holds.

    Raises:
        ValueError: an alias has no anchor, an anchor has two, stands in itself, or the copies pass `limit`.
    """
    return _Resolution(value, limit).of(value)


class _Resolution:
    """One walk in reading order; an anchor behind one of its aliases is looked up in all of the tree."""

    def __init__(self, tree: object, limit: int) -> None:
        self.tree = tree
        self.left = limit
        self.anchors: dict[int, RepeatedValue] = {}
        self.resolved: dict[int, object] = {}
        self.open: set[int] = set()

    def of(self, value: object) -> object:
        """Return `value` with plain values in the place of anchors and aliases."""
        if type(value) is dict:
            return {name: self.of(member) if type(member) in _NODES else member for name, member in value.items()}
        if type(value) is list:
            return [self.of(member) if type(member) in _NODES else member for member in value]
        if type(value) is Repetition:
            return self._copied(self._found(value.number))
        if type(value) is RepeatedValue:
            return self._anchored(value)
        if type(value) is EmbeddedJson:
            return EmbeddedJson(self.of(value.value), value.style)
        return value

    def _anchored(self, anchor: RepeatedValue) -> object:
        if self.anchors.setdefault(anchor.number, anchor) is not anchor:
            raise ValueError(f"expected one anchor &{anchor.number}, found another")
        if anchor.number not in self.resolved:
            if anchor.number in self.open:
                raise ValueError(f"expected *{anchor.number} outside of its own anchor")
            self.open.add(anchor.number)
            self.resolved[anchor.number] = self.of(anchor.value)
        return self.resolved[anchor.number]

    def _found(self, number: int) -> object:
        if number not in self.resolved:
            if number not in self.anchors:
                self._collect(self.tree)
            if number not in self.anchors:
                raise ValueError(f"expected an anchor &{number} for *{number}, found none")
            return self._anchored(self.anchors[number])
        return self.resolved[number]

    def _collect(self, value: object) -> None:
        if type(value) is RepeatedValue:
            self.anchors.setdefault(value.number, value)
        if type(value) is RepeatedValue or type(value) is EmbeddedJson:
            self._collect(value.value)
        for member in value.values() if type(value) is dict else value if type(value) is list else ():
            if type(member) in _NODES:
                self._collect(member)

    def _copied(self, value: object) -> object:
        # A copy, so that a change to one place does not show in another.
        self.left -= 1
        if self.left < 0:
            raise ValueError("expected fewer copies: references to references ask for too much memory")
        if type(value) is dict:
            return {name: self._copied(member) for name, member in value.items()}
        if type(value) is list:
            return [self._copied(member) for member in value]
        if type(value) is EmbeddedJson:
            return EmbeddedJson(self._copied(value.value), value.style)
        return value
