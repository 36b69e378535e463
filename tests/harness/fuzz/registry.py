"""Any JSON is a registry that survives its own offers and deltas under the hash that it announced, or is refused."""

import json
from typing import Any

from accp_core.accp.profiles import BUILT_IN, PINNED
from accp_core.accp.schema import SchemaRegistry
from accp_core.errors import ProtocolError

__all__ = ["check"]


def check(data: bytes) -> None:
    """Hold one input to the invariant."""
    try:
        value = json.loads(data.decode("utf-8", "surrogateescape"))
    except (ValueError, RecursionError):
        return
    check_offer(value)
    try:
        registry = SchemaRegistry.from_json(value)
    except ProtocolError as refusal:
        assert refusal.code in {"E1004", "E5001"}, refusal
        return
    check_registry(registry)


def check_offer(value: Any) -> None:
    """Hold an offer to it: what is accepted is what was announced, and no built-in schema has changed."""
    try:
        registry = SchemaRegistry.from_offer(value, (BUILT_IN,)) if isinstance(value, dict) else BUILT_IN
        merged = BUILT_IN.merged(registry, pinned=PINNED)
    except ProtocolError as refusal:
        assert refusal.code in {"E1004", "E5001"}, refusal
        return
    assert registry is BUILT_IN or registry.matches(str(value["hash"]))
    assert all(merged.get(code) == BUILT_IN.get(code) for code in PINNED)


def check_registry(registry: SchemaRegistry) -> None:
    """Hold a registry to it."""
    again = SchemaRegistry.from_json(json.loads(registry.canonical_json), version=registry.version)
    assert (again.hash, again.canonical_json) == (registry.hash, registry.canonical_json)
    assert SchemaRegistry.from_offer(registry.offer()).hash == registry.hash
    try:
        merged = BUILT_IN.merged(registry)
    except ProtocolError as refusal:
        assert refusal.code == "E5001", refusal
        return
    told = SchemaRegistry.from_offer(merged.offer(BUILT_IN), (BUILT_IN,))
    assert (told.hash, told.version) == (merged.hash, merged.version)
