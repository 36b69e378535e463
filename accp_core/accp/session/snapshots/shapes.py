"""Shapes: how a value of a session is written as JSON, and how it is read back, strictly.

One shape is both directions, so that they cannot differ. A value that does not fit is refused with its place, such as
`outbox.sent[3]`. Nothing is read as something else: a boolean is no number, and no member may be missing or unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from enum import StrEnum
from typing import Any, Final

from accp_core.accp.codec import Codec
from accp_core.accp.session.events import SessionOptions
from accp_core.bounded import BoundedDict

__all__ = [
    "COUNT", "FLAG", "INTEGER", "Fault", "FieldShape", "Reading", "array", "attributes", "choice", "expect", "made",
    "optional", "record", "row", "table", "variant",
]  # fmt: skip

_MAX_SHOWN: Final = 40


class Fault(ValueError):
    """A value does not fit; the reader of the value around it adds the place."""

    def __init__(self, reason: str, place: str = "") -> None:
        super().__init__(f"{reason}, at {place.removeprefix('.') or 'the top'}")
        self.reason = reason
        self.place = place

    def within(self, step: str) -> Fault:
        """Return the fault as seen from the container, in which the value stands at `step`."""
        return Fault(self.reason, step + self.place)


@dataclass(frozen=True, slots=True)
class Reading:
    """What a value needs to be read besides its data."""

    codec: Codec
    options: SessionOptions


@dataclass(frozen=True, slots=True)
class FieldShape:
    """How a value is written and read."""

    write: Callable[[Any], Any]
    """Returns the JSON value."""
    read: Callable[[Any, Any, Reading], Any]
    """Returns the value, from its JSON, from the value of the fresh session in this place, and from what is known.

    Raises `Fault`, or any other ValueError, where the data does not fit.
    """


def expect(fits: bool, expected: str, found: object) -> None:
    """Refuse data that does not fit."""
    if not fits:
        text = repr(found)
        raise Fault(f"expected {expected}, found {text if len(text) <= _MAX_SHOWN else text[:_MAX_SHOWN] + '…'}")


def _same(value: Any) -> Any:
    return value


def _read_integer(data: Any, _old: Any, _reading: Reading) -> int:
    expect(type(data) is int, "a whole number", data)
    return int(data)


def _read_count(data: Any, _old: Any, _reading: Reading) -> int:
    expect(type(data) is int and data >= 0, "a whole number from 0", data)
    return int(data)


def _read_flag(data: Any, _old: Any, _reading: Reading) -> bool:
    expect(isinstance(data, bool), "true or false", data)
    return bool(data)


INTEGER: Final = FieldShape(_same, _read_integer)
COUNT: Final = FieldShape(_same, _read_count)
"""A whole number from 0."""
FLAG: Final = FieldShape(_same, _read_flag)


def optional(shape: FieldShape) -> FieldShape:
    """Return the shape of a value that may be None."""
    return FieldShape(
        lambda value: None if value is None else shape.write(value),
        lambda data, old, reading: None if data is None else shape.read(data, old, reading),
    )


def choice(kind: type[StrEnum]) -> FieldShape:
    """Return the shape of the members of an enumeration."""

    def read(data: Any, _old: Any, _reading: Reading) -> StrEnum:
        expect(data in list(kind), f"one of {', '.join(kind)}", data)
        return kind(data)

    return FieldShape(str, read)


def _read_step(shape: FieldShape, data: Any, old: Any, reading: Reading, step: str) -> Any:
    """Read a part of a container; what is wrong with it gets its place."""
    try:
        return shape.read(data, old, reading)
    except Fault as fault:
        raise fault.within(step) from None
    except ValueError as error:
        raise Fault(str(error), step) from None


def array(item: FieldShape, make: Callable[[list[Any]], Any] = list) -> FieldShape:
    """Return the shape of a sequence; `make` returns it from the list of its items."""

    def read(data: Any, _old: Any, reading: Reading) -> Any:
        expect(isinstance(data, list), "an array", data)
        return make([_read_step(item, each, None, reading, f"[{place}]") for place, each in enumerate(data)])

    return FieldShape(lambda value: [item.write(each) for each in value], read)


def row(*cells: FieldShape) -> FieldShape:
    """Return the shape of a tuple, which has one shape for each of its places."""

    def write(value: Any) -> list[Any]:
        return [cell.write(each) for cell, each in zip(cells, value, strict=True)]

    def read(data: Any, _old: Any, reading: Reading) -> tuple[Any, ...]:
        expect(isinstance(data, list) and len(data) == len(cells), f"an array of {len(cells)}", data)
        pairs = zip(cells, data, strict=True)
        return tuple(_read_step(cell, each, None, reading, f"[{place}]") for place, (cell, each) in enumerate(pairs))

    return FieldShape(write, read)


def table(key: FieldShape, value: FieldShape) -> FieldShape:
    """Return the shape of a dictionary; one with a limit, as in the fresh session, may not be over it."""
    rows = array(row(key, value))

    def read(data: Any, old: Any, reading: Reading) -> dict[Any, Any]:
        pairs = rows.read(data, None, reading)
        found = dict(pairs)
        expect(len(found) == len(pairs), "each key once", len(pairs))
        if not isinstance(old, BoundedDict):
            return found
        expect(len(found) <= old.limit, f"at most {old.limit} entries", len(found))
        kept = BoundedDict[Any, Any](old.limit)
        kept.update(found)
        return kept

    return FieldShape(lambda value: rows.write(value.items()), read)


def members(data: Any, required: frozenset[str], known: frozenset[str]) -> dict[str, Any]:
    """Return the members of an object, which must have the required ones and no unknown one."""
    expect(isinstance(data, dict), "an object", data)
    if missing := required - data.keys():
        raise Fault(f"expected the member {min(missing)!r}, found none")
    if unknown := data.keys() - known:
        raise Fault(f"expected no other member, found {min(unknown)[:_MAX_SHOWN]!r}")
    return dict(data)


def record(kind: type, **shapes: FieldShape) -> FieldShape:
    """Return the shape of a dataclass; fields that have their default are left out."""
    defaults = {}
    for field in fields(kind):
        factory = field.default_factory
        defaults[field.name] = field.default if factory is MISSING else factory()
    known = frozenset(shapes)
    required = frozenset(name for name in known if defaults[name] is MISSING)

    def write(value: Any) -> dict[str, Any]:
        values = ((name, getattr(value, name)) for name in shapes)
        return {name: shapes[name].write(each) for name, each in values if each != defaults[name]}

    def read(data: Any, _old: Any, reading: Reading) -> Any:
        found = members(data, required, known).items()
        return kind(**{name: _read_step(shapes[name], each, None, reading, f".{name}") for name, each in found})

    return FieldShape(write, read)


def attributes(check: Callable[[Any], None] | None = None, **shapes: FieldShape) -> FieldShape:
    """Return the shape of an object that is filled where it stands.

    Args:
        check: Called with the object that was filled: computes what follows from its attributes, and raises ValueError
            where they contradict each other.
        shapes: The shape of each attribute; a `_` before its name is not written.
    """
    names = {name.removeprefix("_"): name for name in shapes}
    known = frozenset(names)

    def write(value: Any) -> dict[str, Any]:
        return {name: shapes[attribute].write(getattr(value, attribute)) for name, attribute in names.items()}

    def read(data: Any, old: Any, reading: Reading) -> Any:
        for name, each in members(data, known, known).items():
            attribute = names[name]
            value = _read_step(shapes[attribute], each, getattr(old, attribute), reading, f".{name}")
            if value is not getattr(old, attribute):
                setattr(old, attribute, value)
        if check is not None:
            check(old)
        return old

    return FieldShape(write, read)


def made(make: Callable[[Reading], Any], shape: FieldShape) -> FieldShape:
    """Return the shape of an object that a fresh session does not have: `make` returns it, to be filled."""
    return FieldShape(shape.write, lambda data, _old, reading: shape.read(data, make(reading), reading))


def variant(kinds: Mapping[str, tuple[type, FieldShape]]) -> FieldShape:
    """Return the shape of a value of one of several types, each of which has a name."""
    names = {kind: (name, shape) for name, (kind, shape) in kinds.items()}

    def write(value: Any) -> list[Any]:
        name, shape = names[type(value)]
        return [name, shape.write(value)]

    def read(data: Any, _old: Any, reading: Reading) -> Any:
        expect(isinstance(data, list) and len(data) == 2 and data[0] in list(kinds), "a name and a value", data)
        return _read_step(kinds[data[0]][1], data[1], None, reading, "[1]")

    return FieldShape(write, read)
