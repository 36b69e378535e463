"""The state of a session, its transactions and the schemas that it agreed on, as data (ACCP sections 5, 6 and 10)."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from typing import Any, Final

from accp_core.accp.profiles import BUILT_IN
from accp_core.accp.schema import SchemaRegistry, read_hash
from accp_core.accp.session.parts import MAX_BASES, Negotiation
from accp_core.accp.session.snapshots.shapes import (
    COUNT,
    FLAG,
    FieldShape,
    Reading,
    array,
    attributes,
    expect,
    optional,
    record,
    row,
    table,
)
from accp_core.accp.session.snapshots.values import PAYLOAD, TEXT, VALUE
from accp_core.accp.state.context_state import ContextState, Entry, StateLimits
from accp_core.errors import ProtocolError

__all__ = ["CONTEXT", "NEGOTIATION", "TRANSACTIONS"]

_ENTRY: Final = record(Entry, value=VALUE, tokens=COUNT, text=TEXT, entity=TEXT, expires_at=optional(COUNT))
_LIMITS: Final = record(
    StateLimits,
    hot=COUNT,
    checkpoint=COUNT,
    warm_entry=COUNT,
    summary=COUNT,
    warm_entries=COUNT,
    lifetimes=COUNT,
    context_keys=COUNT,
    context_chars=COUNT,
    ref_chars=COUNT,
)
_STATE: Final = record(
    ContextState,
    session_id=TEXT,
    limits=_LIMITS,
    hot=table(TEXT, _ENTRY),
    warm=table(TEXT, _ENTRY),
    lifetimes=table(TEXT, COUNT),
    context=PAYLOAD,
    context_chars=COUNT,
    version=COUNT,
    checkpoints=COUNT,
)
CONTEXT: Final = attributes(state=_STATE, _resync=FLAG)
_PAIR: Final = row(TEXT, TEXT)
TRANSACTIONS: Final = attributes(
    _chains=table(TEXT, TEXT), _frames=table(_PAIR, FieldShape(lambda _: 0, lambda *_: None)), _terms=table(_PAIR, TEXT)
)


def _write_registry(registry: SchemaRegistry) -> Any:
    """Return the payload that sends a registry; of the one that every agent has, what announces it."""
    return VALUE.write(registry.announcement() if registry.hash == BUILT_IN.hash else registry.offer())


def _read_registry(data: Any, old: Any, reading: Reading) -> SchemaRegistry:
    payload = PAYLOAD.read(data, old, reading)
    try:
        if "schemas" in payload:
            return SchemaRegistry.from_offer(payload)
        expect(BUILT_IN.matches(read_hash(payload.get("hash"))), f"the hash {BUILT_IN.hash!r}", payload.get("hash"))
        return replace(BUILT_IN, version=payload.get("version"))
    except ProtocolError as error:
        raise ValueError(error.reason) from None


def _check_negotiation(negotiation: Negotiation) -> None:
    expect(1 <= len(negotiation._bases) <= MAX_BASES, f"1 to {MAX_BASES} registries", len(negotiation._bases))
    negotiation._registry = negotiation._bases[-1]


NEGOTIATION: Final = attributes(
    _check_negotiation,
    _bases=array(FieldShape(_write_registry, _read_registry), lambda found: deque(found, maxlen=MAX_BASES)),
    _announced=TEXT,
    _offered=TEXT,
    _differed=TEXT,
    is_peer_known=FLAG,
)
