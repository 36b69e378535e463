"""Fields equal to a known default are left out: the schema's default, or the value that all rows share."""

from __future__ import annotations

from collections.abc import Mapping

from accp_core.packing.tree import ABSENT, Alias, Anchor, Opened

__all__ = ["common_value", "pack_defaults", "same", "unpack_defaults"]


def pack_defaults(fields: Mapping[str, object], defaults: Mapping[str, object]) -> dict[str, object]:
    """Return `fields` without those that equal their default in value, type and order of keys."""
    return {name: value for name, value in fields.items() if name not in defaults or not same(value, defaults[name])}


def unpack_defaults(fields: Mapping[str, object], defaults: Mapping[str, object]) -> dict[str, object]:
    """Return `fields` with each default that is missing, those at the end, in the order of `defaults`."""
    return {**fields, **{name: value for name, value in defaults.items() if name not in fields}}


def common_value(values: list[object]) -> object:
    """Return the value that all of `values` (not empty) are, ABSENT where they differ."""
    first = values[0]
    if type(first) is Anchor or first is ABSENT or first != values[-1]:
        return ABSENT
    if type(first) is str or type(first) is int:
        return first if values.count(first) == len(values) and set(map(type, values)) == {type(first)} else ABSENT
    return first if all(same(value, first) for value in values) else ABSENT


def same(one: object, other: object) -> bool:
    """Tell whether two values are the same JSON text: `1`, `1.0` and `true` differ, so do `0.0` and `-0.0`."""
    if type(one) is not type(other):
        return False
    if type(one) is dict and type(other) is dict:
        return list(one) == list(other) and all(map(same, one.values(), other.values()))
    if type(one) is list and type(other) is list:
        return len(one) == len(other) and all(map(same, one, other))
    if type(one) is Opened and type(other) is Opened:
        return one.style == other.style and same(one.value, other.value)
    if type(one) is Alias and type(other) is Alias:
        return one.number == other.number
    return one == other and (not isinstance(one, float) or repr(one) == repr(other))
