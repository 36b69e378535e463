"""The order of the keys of a value, which a frame does not have: section 3.1.1 of ACCP sorts the keys of a map.

The orders travel in the result's `_meta`. A value in which the same keys have two orders cannot be restored.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from accp_core.packing.number import SpelledFloat

__all__ = ["key_orders", "with_key_orders"]


def key_orders(value: object) -> list[list[str]]:
    """Return the keys of each shape whose order differs from the order of their UTF-8 bytes.

    Raises:
        ValueError: The same keys have two orders, or a number has a spelling that a frame does not keep.
    """
    by_shape: dict[frozenset[str], list[str]] = {}
    for members in _objects(value):
        keys = list(members)
        if by_shape.setdefault(frozenset(keys), keys) != keys:
            raise ValueError(f"expected the same keys in one order, found {keys!r} in two")
    return [
        keys for keys in by_shape.values() if keys != sorted(keys, key=lambda key: key.encode("utf-8", "surrogatepass"))
    ]


def with_key_orders(value: object, orders: list[list[str]]) -> Any:
    """Return a value with the orders that `key_orders` found.

    Raises:
        TypeError: The orders are no lists of keys.
        RecursionError: The value nests too deep.
    """
    return _reorder(value, {frozenset(order): order for order in orders})


def _objects(value: object) -> Iterator[dict[str, Any]]:
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if type(part) is SpelledFloat:
            raise ValueError(f"expected a number that a float holds, found {part!r}")
        if isinstance(part, dict):
            yield part
            waiting += part.values()
        elif isinstance(part, list):
            waiting += part


def _reorder(value: object, orders: dict[frozenset[str], list[str]]) -> object:
    if isinstance(value, dict):
        names = orders.get(frozenset(value), value)
        return {name: _reorder(value[name], orders) for name in names}
    if isinstance(value, list):
        return [_reorder(member, orders) for member in value]
    return value
