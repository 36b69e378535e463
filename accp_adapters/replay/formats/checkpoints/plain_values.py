"""The values of LangGraph's serializer as plain data: an object is the fields that it was written with, never built.

`JsonPlusSerializer` writes msgpack with extension types that name a module, a class and its arguments, which its own
reader imports and calls. Here such an object is its keyword arguments, and only where it is a message of LangChain.
Source: `langgraph.checkpoint.serde.jsonplus` (the table of its extension types).
"""

from __future__ import annotations

import json
from typing import Any, Final

from accp_adapters.replay.formats.conversation import written

__all__ = ["Opaque", "read_value"]

_WITH_FIELDS: Final = (2, 4, 5)
"""Extension types whose third item is a mapping of fields: keyword arguments, Pydantic 1, Pydantic 2."""
_SNAPSHOT: Final = 7
"""The extension type of a channel's whole value, which holds nothing but it."""
_MESSAGES: Final = "langchain_core.messages"


class Opaque(dict[str, Any]):
    """An object of a class that is no message; it is kept by its name only."""


def read_value(kind: str, content: bytes) -> object:
    """Return the value that a saver stored.

    Args:
        kind: How it is written: "msgpack", "json", or "null" and "empty" for nothing.
        content: The bytes.

    Raises:
        ValueError: the bytes are not of that kind, or reading it would run code ("pickle").
        ImportError: msgpack needs `ormsgpack`, which comes with LangGraph.
    """
    if kind in ("null", "empty"):
        return None
    try:
        if kind == "json":
            value: object = json.loads(content)
            return value
        if kind == "msgpack":
            return _unpack(content)
    except RecursionError as error:
        raise ValueError("expected a checkpoint, found one that is nested too deeply") from error
    raise ValueError(f"expected a checkpoint in msgpack or JSON, found {kind!r}, which is not read: it may run code")


def _unpack(content: bytes) -> object:
    import ormsgpack

    try:
        value: object = ormsgpack.unpackb(content, ext_hook=_extension, option=ormsgpack.OPT_NON_STR_KEYS)
    except ormsgpack.MsgpackDecodeError as error:
        raise ValueError(f"expected msgpack: {error}") from error
    return value


def _extension(code: int, content: bytes) -> object:
    inner = _unpack(content)
    if code == _SNAPSHOT:
        return inner
    match inner:
        case [str(module), str(name), {**fields}, *_] if code in _WITH_FIELDS and module.startswith(_MESSAGES):
            return {"type": name.removesuffix("Message").lower()} | fields
        case [str(module), str(name), *_]:
            return Opaque(object=f"{module}.{name}"[:200])
    return Opaque(object=written(code))
