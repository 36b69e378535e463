"""The client's side of the shim: declares the extension, gives plain results back, or views for a model."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from accp_adapters.mcp.exchange import fail_open
from accp_adapters.mcp.frames import is_framed, restore_frame
from accp_adapters.mcp.negotiation import Declared, declare, discard_announcement, settings_in
from accp_adapters.mcp.protocol import Json
from accp_core.accp import BUILT_IN, SchemaRegistry

__all__ = ["Decoder", "Shown"]

Shown: TypeAlias = Literal["plain", "frame", "view"]
"""What the client sees of a result: exactly what the server said; frames as they come; texts for a model."""


class Decoder:
    """The client's side of one connection; any server will do, also one that knows nothing of frames."""

    def __init__(self, *, view: Shown = "plain", registry: SchemaRegistry = BUILT_IN) -> None:
        """Show results as `view` says."""
        self.view: Final = view
        self.registry = registry
        self._declared: Final = Declared(columns=True, registry=registry.hash)

    def c2s(self, message: Json) -> Json:
        """Return a client's message with the extension declared, where the message has a place for it."""
        return fail_open(self._heard, message)

    def s2c(self, message: Json) -> Json:
        """Return a server's message as the client is to see it."""
        return fail_open(self._said, message)

    def _heard(self, message: Json) -> Json:
        return declare(message, self._declared)

    def _said(self, message: Json) -> Json:
        result = message.get("result")
        if not isinstance(result, dict):
            return message
        if is_framed(result) and self.view != "frame":
            return {**message, "result": restore_frame(result)}
        if settings_in(result.get("capabilities")) is not None:
            kept = discard_announcement(result, self.registry.hash)
            return message if kept is result else {**message, "result": kept}
        return message
