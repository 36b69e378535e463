"""How two agents agree on their schemas (ACCP section 6.4).

we                                             the peer
sync:registry{v:3|hash:a7f2c1}         ────►   the same hash: agreed; it announces its own hash once
                                       ◄────   another hash: its whole registry, once
both registries merged, as a delta     ────►   which it merges as well: agreed
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from accp_core.accp.profiles import PINNED
from accp_core.accp.schema import SchemaRegistry, read_hash
from accp_core.accp.session.events import RegistryAgreed, RegistryUpdated

__all__ = ["MAX_BASES", "Negotiation"]

RegistryEvent: TypeAlias = "RegistryAgreed | RegistryUpdated"

MAX_BASES: Final = 4
"""Our last registries, to any of which a delta of the peer may refer."""


class Negotiation:
    """The negotiation of one session: which registries were announced and sent by both sides."""

    def __init__(self, registry: SchemaRegistry) -> None:
        """Start with our registry; nothing was announced yet."""
        self._registry = registry
        self._bases = deque([registry], maxlen=MAX_BASES)
        # Hashes: of what we announced last, sent in full last, and of the peer's that we answered by our own hash.
        self._announced = ""
        self._offered = ""
        self._differed = ""
        self.is_peer_known = False
        """Whether the peer announced its registry, so that other frames may follow."""

    @property
    def registry(self) -> SchemaRegistry:
        """Our current registry."""
        return self._registry

    @property
    def announced(self) -> bool:
        """Whether our current registry was announced to the peer."""
        return self._announced == self._registry.hash

    def change(self, registry: SchemaRegistry) -> None:
        """Replace our registry."""
        self._registry = registry
        self._bases.append(registry)

    # "At session start, agents MUST exchange registry versions"
    def announce(self) -> dict[str, Any]:
        """Return the payload that announces our registry."""
        self._announced = self._registry.hash
        return self._registry.announcement()

    # "If hashes match, no further exchange is needed. On mismatch, the full registry delta is transmitted once and
    # cached."
    def receive(self, payload: Mapping[str, Any]) -> tuple[list[RegistryEvent], dict[str, Any] | None]:
        """Return the events of the peer's `sync:registry` payload, and the payload of our answer, None for no answer.

        Raises:
            ProtocolError: E1004, the payload announces no registry; E5001, its registry is not the announced one, or
                its schemas conflict with ours.
        """
        announced = read_hash(payload.get("hash"))
        events: list[RegistryEvent] = []
        base = None
        if "schemas" in payload:
            peer = SchemaRegistry.from_offer(payload, self._bases)
            merged = self._registry.merged(peer, pinned=PINNED)
            if merged.hash != self._registry.hash:
                self.change(merged)
                events.append(RegistryUpdated(version=merged.version, hash=merged.hash))
            announced, base = peer.hash, peer
        self.is_peer_known = True
        if not self._registry.matches(announced):
            return events, self._differ(announced, base)
        events.append(RegistryAgreed(version=self._registry.version, hash=self._registry.hash))
        return events, None if self.announced else self.announce()

    def _differ(self, announced: str, base: SchemaRegistry | None) -> dict[str, Any] | None:
        """Return our whole registry, once; after that our hash, so that the peer sends its registry; then nothing."""
        if self._offered != self._registry.hash:
            self._offered = self._announced = self._registry.hash
            return self._registry.offer(base)
        if self._differed == announced:
            return None
        self._differed = announced
        return self.announce()
