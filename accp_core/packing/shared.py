"""A repeated sub-tree or long string stands once and is referred to: `&1 …` first, `*1` afterwards.

Two values are the same here only if they are so in type and order of keys: 1 is not 1.0, nor is it true.
`pack_shared` and `unpack_shared` are inverse.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from typing import Final, TypeAlias

from accp_core.packing.tree import Alias, Anchor, Opened

__all__ = ["SHORTEST_STRING", "SHORTEST_TREE", "Worth", "most_copies", "pack_shared", "unpack_shared"]

SHORTEST_STRING: Final = 12
"""Characters; shorter strings are not worth a reference and its look-up by the reader."""
SHORTEST_TREE: Final = 40
"""Characters of the strings and keys in a sub-tree, two more for each."""

_SHAREABLE: Final = frozenset((str, dict, list, Opened))
_NODES: Final = frozenset((dict, list, Opened, Anchor, Alias))

Worth: TypeAlias = Callable[[str, int], bool]


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


def pack_shared(value: object, worth: Worth) -> object:
    """Return `value` with its repetitions replaced, or `value` itself where there are none.

    `worth(text, uses)` says whether a string that stands `uses` times is to be shared.
    """
    graph = _Graph()
    graph.scan(value)
    shared = graph.shared(worth)
    return _Replacement(shared, graph.nodes).of(value) if shared else value


class _Graph:
    """The tree with equal sub-trees folded together, and how often each is referred to."""

    def __init__(self) -> None:
        self.distinct: dict[Hashable, _Node] = {}
        self.nodes: dict[int, _Node] = {}

    def scan(self, value: object) -> Hashable:
        """Return what identifies `value`: a node for a container, else the scalar, told apart by its type."""
        if type(value) is dict:
            return self._node(value, tuple(value), value.values())
        if type(value) is list:
            return self._node(value, (), value)
        if type(value) is Opened:
            return self._node(value, (value.style,), (value.value,))
        return type(value), repr(value)

    def _node(self, value: object, names: tuple[str, ...], members: Iterable[object]) -> _Node:
        children = tuple(
            [
                member if type(member) is str or type(member) is int or member is None else self.scan(member)
                for member in members
            ]
        )
        key = (type(value), names, children)
        node = self.distinct.get(key)
        if node is None:
            node = self.distinct[key] = _Node(names, children)
        self.nodes[id(value)] = node
        return node

    def shared(self, worth: Worth) -> set[Hashable]:
        """Return the strings and nodes that are to stand once."""
        # Members of equal containers count once: where the container is an alias, they do not stand again.
        children = [child for node in self.distinct.values() for child in node.children]
        strings = Counter([child for child in children if type(child) is str and len(child) >= SHORTEST_STRING])
        trees = Counter([child for child in children if type(child) is _Node])
        shared: set[Hashable] = {text for text, uses in strings.items() if uses > 1 and worth(text, uses)}
        shared.update(node for node, uses in trees.items() if uses > 1 and node.size() >= SHORTEST_TREE)
        return shared


class _Replacement:
    """One walk in reading order, which numbers what is shared as it comes."""

    def __init__(self, shared: set[Hashable], nodes: dict[int, _Node]) -> None:
        self.shared = shared
        self.nodes = nodes
        self.numbers: dict[Hashable, int] = {}

    def of(self, value: object) -> object:
        """Return `value`, a string or a container, with anchors and aliases."""
        if type(value) is str:
            return self._refer(value, value) if value in self.shared else value
        node = self.nodes[id(value)]
        return self._refer(node, value) if node in self.shared else self._members(value)

    def _refer(self, identity: Hashable, value: object) -> object:
        number = self.numbers.get(identity)
        if number is not None:
            return Alias(number)
        number = self.numbers[identity] = len(self.numbers) + 1
        return Anchor(number, value if type(value) is str else self._members(value))

    def _members(self, value: object) -> object:
        if type(value) is dict:
            return {name: self.of(member) if type(member) in _SHAREABLE else member for name, member in value.items()}
        if type(value) is list:
            return [self.of(member) if type(member) in _SHAREABLE else member for member in value]
        assert type(value) is Opened
        return Opened(self.of(value.value), value.style)


def most_copies(length: int) -> int:
    """Return how many values the references in a text of `length` characters may stand for."""
    return max(250_000, 500 * length)


def unpack_shared(value: object, *, limit: int = 5_000_000) -> object:
    """Return `value` with a copy of what each reference stands for, wherever its anchor is.

    `limit` bounds the arrays, maps and scalars that copying makes: a few references to references can ask for
    more than any memory holds. A text's is `most_copies`.

    Raises:
        ValueError: an alias has no anchor, an anchor has two, stands in itself, or the copies pass `limit`.
    """
    return _Resolution(value, limit).of(value)


class _Resolution:
    """One walk in reading order; an anchor behind one of its aliases is looked up in all of the tree."""

    def __init__(self, tree: object, limit: int) -> None:
        self.tree = tree
        self.left = limit
        self.anchors: dict[int, Anchor] = {}
        self.resolved: dict[int, object] = {}
        self.open: set[int] = set()

    def of(self, value: object) -> object:
        """Return `value` with plain values in the place of anchors and aliases."""
        if type(value) is dict:
            return {name: self.of(member) if type(member) in _NODES else member for name, member in value.items()}
        if type(value) is list:
            return [self.of(member) if type(member) in _NODES else member for member in value]
        if type(value) is Alias:
            return self._copied(self._found(value.number))
        if type(value) is Anchor:
            return self._anchored(value)
        if type(value) is Opened:
            return Opened(self.of(value.value), value.style)
        return value

    def _anchored(self, anchor: Anchor) -> object:
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
        if type(value) is Anchor:
            self.anchors.setdefault(value.number, value)
        inner = value.value if type(value) is Anchor or type(value) is Opened else value
        for member in inner.values() if type(inner) is dict else inner if type(inner) is list else ():
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
        if type(value) is Opened:
            return Opened(self._copied(value.value), value.style)
        return value
