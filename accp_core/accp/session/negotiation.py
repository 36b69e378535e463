"""How two agents come to know the same schemas (ACCP section 6.4).

we                                      the peer
sync:registry{v:3|hash:a7f2c1}  ────►   the same hash: agreed; it says its own once
                                ◄────   another hash: all of its registry, once
all of both, as what it lacks   ────►   which it then has, too: agreed
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from accp_core.accp.profiles import PINNED
from accp_core.accp.schema import SchemaRegistry, read_hash
from accp_core.accp.session.events import RegistryAgreed, RegistryUpdated

__all__ = ["Negotiation"]

Happened: TypeAlias = "RegistryAgreed | RegistryUpdated"

_BASES: Final = 4
"""Registries of ours that a peer may still add to while others are on their way."""


class Negotiation:
    """What was said about registries in one session, by us and by the peer."""

    def __init__(self, registry: SchemaRegistry) -> None:
        """Begin with nothing said."""
        self._registry = registry
        self._bases = deque([registry], maxlen=_BASES)
        self._announced = ""
        self._offered = ""
        self._differed = ""
        self.heard = False
        """Whether the peer said what it knows, so that other frames may follow."""

    @property
    def registry(self) -> SchemaRegistry:
        """What we know now."""
        return self._registry

    @property
    def announced(self) -> bool:
        """Whether the peer was told what we know now."""
        return self._announced == self._registry.hash

    def change(self, registry: SchemaRegistry) -> None:
        """Go on with another registry of ours."""
        self._registry = registry
        self._bases.append(registry)

    # "At session start, agents MUST exchange registry versions"
    def announce(self) -> dict[str, Any]:
        """Return the payload that says what we know."""
        self._announced = self._registry.hash
        return self._registry.announcement()

    # "If hashes match, no further exchange is needed. On mismatch, the full registry delta is transmitted once and
    # cached."
    def receive(self, payload: Mapping[str, Any]) -> tuple[list[Happened], dict[str, Any] | None]:
        """Return what happened by the peer's `sync:registry`, and the payload to answer with, None for none.

        Raises: ProtocolError: E1004 for a payload that announces nothing, E5001 for a registry that is not the
            announced one and for schemas that conflict with ours.
        """
        announced = read_hash(payload.get("hash"))
        events: list[Happened] = []
        base = None
        if "schemas" in payload:
            peer = SchemaRegistry.from_offer(payload, self._bases)
            merged = self._registry.merged(peer, pinned=PINNED)
            if merged.hash != self._registry.hash:
                self.change(merged)
                events.append(RegistryUpdated(version=merged.version, hash=merged.hash))
            announced, base = peer.hash, peer
        self.heard = True
        if not self._registry.matches(announced):
            return events, self._differ(announced, base)
        events.append(RegistryAgreed(version=self._registry.version, hash=self._registry.hash))
        return events, None if self.announced else self.announce()

    def _differ(self, announced: str, base: SchemaRegistry | None) -> dict[str, Any] | None:
        """Return all that we know, once; a peer that had it already is told its hash, so that it says what it knows."""
        if self._offered != self._registry.hash:
            self._offered = self._announced = self._registry.hash
            return self._registry.offer(base)
        if self._differed == announced:
            return None
        self._differed = announced
        return self.announce()
