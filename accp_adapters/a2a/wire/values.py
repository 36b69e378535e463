"""Between the values of an A2A data part (google.protobuf.Value) and JSON values, exactly.

A `Value` keeps every number as a double. A whole one is given out as an int: 4326, not 4326.0, is what the agent
that filled the part wrote, what a model reads best and what a frame spells shortest; put back it is the same double.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, Final

from google.protobuf.json_format import Error, MessageToDict
from google.protobuf.message import Message
from google.protobuf.struct_pb2 import NULL_VALUE, ListValue, Struct, Value

from accp_core.accp import ErrorCode
from accp_core.errors import EncodeError

__all__ = ["MAX_DEPTH", "compact_json", "read_struct", "read_value", "to_json", "write_struct", "write_value"]

MAX_DEPTH: Final = 64
"""Arrays and maps within each other; protobuf itself reads no more than a hundred messages within each other."""
_LARGEST: Final = 2**53
"""Up to here every whole number has a double of its own."""


def read_value(value: Value, depth: int = 0) -> Any:
    """Return the JSON value that `value` is, maps with sorted keys, for protobuf keeps no order.

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
    """Return the JSON object that `struct` is.

    Raises:
        EncodeError: as `read_value`.
    """
    _check_depth(depth)
    return {key: read_value(struct.fields[key], depth + 1) for key in sorted(struct.fields)}


def write_value(value: Any) -> Value:
    """Return the data of a part that is this JSON value.

    Raises:
        EncodeError: E1004, it holds what JSON does not, or a number that no double is.
    """
    if value is None:
        return Value(null_value=NULL_VALUE)
    if isinstance(value, bool):
        return Value(bool_value=value)
    if isinstance(value, (int, float)):
        return Value(number_value=_write_number(value))
    if isinstance(value, str):
        return Value(string_value=value)
    if isinstance(value, Mapping):
        return Value(struct_value=write_struct(value))
    if isinstance(value, (list, tuple)):
        return Value(list_value=ListValue(values=map(write_value, value)))
    raise EncodeError(f"expected a JSON value, found {value!r}", code=ErrorCode.INVALID_TYPE)


def write_struct(value: Mapping[str, Any]) -> Struct:
    """Return the struct that is this JSON object.

    Raises:
        EncodeError: as `write_value`.
    """
    return Struct(fields={key: write_value(member) for key, member in value.items()})


def to_json(message: Message) -> dict[str, Any]:
    """Return the ProtoJSON of any A2A object.

    Raises:
        EncodeError: E1004, it holds what JSON has not, such as NaN.
    """
    try:
        data: dict[str, Any] = MessageToDict(message)
    except Error as error:
        raise EncodeError(f"expected an object that JSON can say: {error}", code=ErrorCode.INVALID_TYPE) from error
    return data


def compact_json(message: Message) -> str:
    """Return the JSON of any A2A object as the SDK's routes write it.

    Raises:
        EncodeError: as `to_json`.
    """
    return json.dumps(to_json(message), ensure_ascii=False, separators=(",", ":"))


def _check_depth(depth: int) -> None:
    if depth >= MAX_DEPTH:
        raise EncodeError(f"expected at most {MAX_DEPTH} levels, found more", code=ErrorCode.INVALID_TYPE)


def _read_number(number: float) -> int | float:
    if not math.isfinite(number):
        raise EncodeError(f"expected a finite number, found {number!r}", code=ErrorCode.INVALID_TYPE)
    # The sign of -0.0 would be lost.
    if number.is_integer() and abs(number) < _LARGEST and (number or math.copysign(1, number) > 0):
        return int(number)
    return number


def _write_number(number: int | float) -> float:
    try:
        return float(number)
    except OverflowError:
        raise EncodeError(
            f"expected a number that a double holds, found {number!r}", code=ErrorCode.INVALID_TYPE
        ) from None
