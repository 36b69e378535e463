"""The values of frames and messages as JSON, with their exact types (ACCP sections 3.1 and 5.1).

JSON lacks some of them. They are objects with one member, whose name begins with `$`:

    {"$ref": "warm.ckpt_1"}    a reference
    {"$removed": true}         a key that a delta removes
    {"$decimal": "142.50"}     a Decimal
    {"$text": "eda0bd"}        the UTF-8 of a text that JSON would change, with halves of surrogate pairs
    {"$map": [["$k", 1]]}      a map with a key that looks like one of these, or that JSON would change
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from accp_core.accp.frame import REMOVED, Envelope, Intent, Message, Ref, Value
from accp_core.accp.session.snapshots.shapes import (
    COUNT,
    FieldShape,
    Reading,
    array,
    choice,
    expect,
    optional,
    record,
    row,
    table,
)
from accp_core.accp.state.context_state import ColdKey
from accp_core.references import StoredText
from accp_core.strict_json import has_surrogate_pair

__all__ = ["COLD_KEY", "MESSAGE", "PAYLOAD", "REF", "STORED_TEXT", "TEXT", "VALUE"]


def _write_text(text: str) -> Any:
    plain = str.__str__(text)
    return {"$text": plain.encode("utf-8", "surrogatepass").hex()} if has_surrogate_pair(plain) else plain


def _read_text(data: Any, _old: Any, _reading: Reading) -> str:
    if isinstance(data, str):
        return data
    expect(isinstance(data, dict) and list(data) == ["$text"] and isinstance(data["$text"], str), "a text", data)
    try:
        return bytes.fromhex(data["$text"]).decode("utf-8", "surrogatepass")
    except ValueError:
        raise ValueError(f"expected the hexadecimal digits of a text, found {data['$text'][:40]!r}") from None


TEXT: Final = FieldShape(_write_text, _read_text)


def _write_value(value: Value) -> Any:
    if isinstance(value, str):
        return _write_text(value)
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, Mapping):
        return _write_map(value)
    if isinstance(value, list | tuple):
        return [_write_value(item) for item in value]
    if isinstance(value, Ref):
        return {"$ref": value.key}
    return {"$decimal": str(value)} if isinstance(value, Decimal) else {"$removed": True}


def _write_map(value: Mapping[str, Value]) -> dict[str, Any]:
    if any(key.startswith("$") or has_surrogate_pair(key) for key in value):
        return {"$map": [[_write_text(key), _write_value(member)] for key, member in value.items()]}
    return {str.__str__(key): _write_value(member) for key, member in value.items()}


def _read_value(data: Any, old: Any, reading: Reading) -> Value:
    if isinstance(data, list):
        return [_read_value(item, old, reading) for item in data]
    if not isinstance(data, dict):
        return data  # type: ignore[no-any-return]  # the JSON reader has checked it
    name = next(iter(data), "")
    if not name.startswith("$"):
        return {key: _read_value(member, old, reading) for key, member in data.items()}
    expect(len(data) == 1 and name in _TAGS, f"one of {', '.join(_TAGS)} alone", name)
    return _TAGS[name](data[name], old, reading)


def _read_decimal(data: Any, _old: Any, _reading: Reading) -> Decimal:
    expect(isinstance(data, str), "the digits of a decimal", data)
    try:
        return Decimal(data)
    except InvalidOperation:
        raise ValueError(f"expected the digits of a decimal, found {data[:40]!r}") from None


def _read_removed(data: Any, _old: Any, _reading: Reading) -> Value:
    expect(data is True, "true", data)
    return REMOVED


def _read_ref(data: Any, _old: Any, _reading: Reading) -> Ref:
    expect(isinstance(data, str), "the key of a reference", data)
    return Ref(data)


VALUE: Final = FieldShape(_write_value, _read_value)
_MAP: Final = table(TEXT, VALUE)
_TAGS: Final[Mapping[str, Callable[[Any, Any, Reading], Value]]] = {
    "$ref": _read_ref,
    "$decimal": _read_decimal,
    "$removed": _read_removed,
    "$text": lambda data, old, reading: _read_text({"$text": data}, old, reading),
    "$map": _MAP.read,
}


def _read_payload(data: Any, old: Any, reading: Reading) -> Value:
    payload = _read_value(data, old, reading)
    expect(isinstance(payload, dict), "a map", data)
    return payload


PAYLOAD: Final = FieldShape(_write_value, _read_payload)
REF: Final = FieldShape(lambda ref: ref.key, _read_ref)
COLD_KEY: Final = FieldShape(
    lambda key: [_write_text(key.session_id), _write_text(key.key)],
    lambda data, old, reading: ColdKey(*row(TEXT, TEXT).read(data, old, reading)),
)
STORED_TEXT: Final = record(StoredText, key=TEXT, text=TEXT, expires_at=optional(COUNT))
ENVELOPE: Final = record(
    Envelope,
    msg_id=optional(TEXT),
    sequence=optional(COUNT),
    timestamp=optional(COUNT),
    correlation_id=optional(TEXT),
    causation_id=optional(TEXT),
    session_id=optional(TEXT),
    ttl=optional(COUNT),
    extra=table(TEXT, TEXT),
)
MESSAGE: Final = record(
    Message,
    sender=TEXT,
    intent=choice(Intent),
    operation=TEXT,
    payload=PAYLOAD,
    schema=optional(TEXT),
    defaulted=array(TEXT, frozenset),
    envelope=ENVELOPE,
)
