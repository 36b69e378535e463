"""The vectors as test parameters, and the tagged JSON of a vector as Python values."""

import json
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from accp_core import Envelope, Frame, Ref
from accp_core.accp import REMOVED, Intent, LiteralKey
from accp_core.accp.frame import Message

ROOT = Path(__file__).parent.parent / "vectors"
LITERAL = "$literal:"


def files(family: str) -> list[Path]:
    """Return the vector files of one document family."""
    return sorted((ROOT / family).glob("*.json"))


def load(family: str, kind: str) -> list[Any]:
    """Return every vector of one kind as a parameter, named after its file and itself."""
    return [
        pytest.param(vector, id=f"{path.stem}: {vector['name']}")
        for path in files(family)
        for vector in json.loads(path.read_text(encoding="utf-8")).get(kind, [])
    ]


def build_value(source: Any, decimal_type: type = float) -> Any:
    """Return the value that tagged JSON means."""
    match source:
        case {"$ref": key}:
            return Ref(key)
        case {"$decimal": text}:
            return decimal_type(text)
        case {"$integer": text}:
            return int(text)
        case {"$removed": True}:
            return REMOVED
        case dict():
            return {key: build_value(member, decimal_type) for key, member in source.items()}
        case list():
            return [build_value(item, decimal_type) for item in source]
    return source


def build_frame(source: Mapping[str, Any], decimal_type: type = float) -> Frame:
    """Return the frame that a vector describes."""
    params = source["params"].items()
    return Frame(
        sender=source["sender"],
        intent=Intent(source["intent"]),
        operation=source["operation"],
        params={build_key(key): build_value(value, decimal_type) for key, value in params},
        envelope=Envelope(**source.get("envelope", {})),
    )


def build_key(key: str) -> str:
    """Return the key that stands for itself where the vector says so."""
    return LiteralKey(key.removeprefix(LITERAL)) if key.startswith(LITERAL) else key


def exact(value: Any) -> Any:
    """Return what compares equal only for equal values of equal types; 1 is not 1.0, and -0.0 is not 0.0."""
    match value:
        case Frame():
            names = ("sender", "intent", "operation", "params", "envelope")
            return [exact(getattr(value, name)) for name in names]
        case dict():
            return {(type(key), str.__str__(key)): exact(member) for key, member in value.items()}
        case list():
            return [exact(item) for item in value]
        case Decimal():
            return Decimal, value, value.is_signed()
    return type(value), repr(value)


def build_message(source: Mapping[str, Any], decimal_type: type = float) -> Message:
    """Return the message that a vector describes."""
    return Message(
        sender=source["sender"],
        intent=Intent(source["intent"]),
        operation=source["operation"],
        payload=build_value(source["payload"], decimal_type),
        schema=source.get("schema"),
        defaulted=frozenset(source.get("defaulted", ())),
        envelope=Envelope(**source.get("envelope", {})),
    )
