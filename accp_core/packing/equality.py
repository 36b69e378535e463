"""Equality of JSON values in type and order of keys, too: `1`, `1.0` and `true` are three values."""

from __future__ import annotations

from accp_core.packing.tree import ABSENT, EmbeddedJson, RepeatedValue, Repetition

__all__ = ["common_value", "is_same_json"]


def common_value(values: list[object]) -> object:
    """Return the value that all of `values` (at least one) have in common, or ABSENT if they differ."""
    first = values[0]
    if type(first) is RepeatedValue or first is ABSENT or first != values[-1]:
        return ABSENT
    if type(first) is str or type(first) is int:
        return first if values.count(first) == len(values) and set(map(type, values)) == {type(first)} else ABSENT
    return first if all(is_same_json(value, first) for value in values) else ABSENT


def is_same_json(one: object, other: object) -> bool:
    """Return whether two values have the same JSON text; `1`, `1.0` and `true` differ, and so do `0.0` and `-0.0`."""
    if type(one) is not type(other):
        return False
    if type(one) is dict and type(other) is dict:
        return list(one) == list(other) and all(map(is_same_json, one.values(), other.values()))
    if type(one) is list and type(other) is list:
        return len(one) == len(other) and all(map(is_same_json, one, other))
    if type(one) is EmbeddedJson and type(other) is EmbeddedJson:
        return one.style == other.style and is_same_json(one.value, other.value)
    if type(one) is Repetition and type(other) is Repetition:
        return one.number == other.number
    return one == other and (not isinstance(one, float) or repr(one) == repr(other))
