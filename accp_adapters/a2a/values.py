"""The values of A2A data parts (google.protobuf.Value) as JSON values, and back, exactly.

A `Value` keeps every number as a double. A whole number is read as an int: 4326, not 4326.0, is what the agent wrote,
what a model reads best and what a frame spells shortest; written back it is the same double.
"""

from __future__ import annotations

import math
from itertools import chain
from typing import Any, Final

from google.protobuf.json_format import Error, MessageToDict, ParseDict
from google.protobuf.message import Message
from google.protobuf.struct_pb2 import Struct, Value

from accp_core.accp import ErrorCode
from accp_core.errors import EncodeError
from accp_core.strict_json import compact_json

__all__ = ["MAX_VALUE_DEPTH", "count_values", "protojson", "protojson_text", "read_struct", "read_value", "write_value"]

MAX_VALUE_DEPTH: Final = 64
"""Levels of arrays and maps; protobuf itself reads no more than a hundred levels of messages."""
_MAX_EXACT_INT: Final = 2**53
"""Every smaller whole number has a double of its own."""


def read_value(value: Value, depth: int = 0) -> Any:
    """Return `value` as a JSON value, maps with sorted keys, because protobuf keeps no order.

    Raises:
        EncodeError: E1004, it is not set, is NaN or infinite, or nests deeper than MAX_DEPTH.
    """
    kind = value.WhichOneof("kind")
    if kind == "number_value":
        return _read_number(value.number_value)
    if kind == "null_value":
        return None
    if kind == "struct_value":
        return read_struct(value.struct_value, depth)
    if kind == "list_value":
        _check_depth(depth)
        return [read_value(item, depth + 1) for item in value.list_value.values]
    if kind is None:
        raise EncodeError("expected a value, found a data part in which none is set", code=ErrorCode.INVALID_TYPE)
    return getattr(value, kind)


def read_struct(struct: Struct, depth: int = 0) -> dict[str, Any]:
    """Return `struct` as a JSON object with sorted keys.

    Raises:
        EncodeError: As `read_value`.
    """
    _check_depth(depth)
    return {key: read_value(struct.fields[key], depth + 1) for key in sorted(struct.fields)}


def count_values(value: Any, most: int) -> int:
    """Return how many values a JSON value holds, on all levels; beyond `most`, it is not counted further."""
    count, level = 0, [value]
    while level and count <= most:
        inner = (part.values() if isinstance(part, dict) else part for part in level if isinstance(part, dict | list))
        level = list(chain.from_iterable(inner))
        count += len(level)
    return count


def write_value(value: Any) -> Value:
    """Return a JSON value as the data of a part.

    Raises:
        EncodeError: E1004, it holds something that is not JSON, or a number that no double is.
    """
    try:
        return ParseDict(value, Value())
    except (Error, OverflowError) as error:
        reason = f"expected a JSON value whose numbers are doubles: {error!s:.200}"
        raise EncodeError(reason, code=ErrorCode.INVALID_TYPE) from None


def protojson(message: Message) -> dict[str, Any]:
    """Return the ProtoJSON of any A2A object.

    Raises:
        EncodeError: E1004, it holds something that is not JSON, such as NaN.
    """
    try:
        data: dict[str, Any] = MessageToDict(message)
    except Error as error:
        raise EncodeError(f"expected an object that JSON can hold: {error}", code=ErrorCode.INVALID_TYPE) from error
    return data


def protojson_text(message: Message, *, sort_keys: bool = False) -> str:
    """Return the ProtoJSON of any A2A object as compact text, as the SDK's routes send it.

    Args:
        message: The object.
        sort_keys: Order the members by name: protobuf orders the entries of a map differently in each process.

    Raises:
        EncodeError: As `protojson`.
    """
    return compact_json(protojson(message), sort_keys=sort_keys)


def _check_depth(depth: int) -> None:
    if depth >= MAX_VALUE_DEPTH:
        raise EncodeError(f"expected at most {MAX_VALUE_DEPTH} levels, found more", code=ErrorCode.INVALID_TYPE)


def _read_number(number: float) -> int | float:
    if not math.isfinite(number):
        raise EncodeError(f"expected a finite number, found {number!r}", code=ErrorCode.INVALID_TYPE)
    # As an int, -0.0 would lose its sign.
    if number.is_integer() and abs(number) < _MAX_EXACT_INT and (number or math.copysign(1, number) > 0):
        return int(number)
    return number
