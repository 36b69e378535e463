"""The client's side of the shim: declares the extension, gives plain results back, or views for a model."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, Final, Literal, TypeAlias

from accp_adapters.mcp.frames import is_framed, restore_frame
from accp_adapters.mcp.negotiation import Declared, declare, discard_announcement, settings_in
from accp_adapters.mcp.protocol import Json
from accp_core.accp import BUILT_IN, SchemaRegistry

__all__ = ["Decoder", "Shown"]

Shown: TypeAlias = Literal["plain", "frame", "view"]
"""What the client sees of a result: exactly what the server said; frames as they come; texts for a model."""

_LOG: Final = logging.getLogger(__name__)


class Decoder:
    """The client's side of one connection; any server will do, also one that knows nothing of frames."""

    def __init__(self, *, view: Shown = "plain", registry: SchemaRegistry = BUILT_IN) -> None:
        """Show results as `view` says."""
        self.view: Final = view
        self.registry = registry
        self._declared: Final = Declared(columns=True, registry=registry.hash)

    def c2s(self, message: Json) -> Json:
        """Return a client's message with the extension declared, where the message has a place for it."""
        return self._guarded(self._heard, message)

    def s2c(self, message: Json) -> Json:
        """Return a server's message as the client is to see it."""
        return self._guarded(self._said, message)

    def _guarded(self, work: Callable[[Json], Json], message: Any) -> Any:
        if not isinstance(message, dict):
            return message
        try:
            return work(message)
        except Exception:
            _LOG.debug("a message passes as it came", exc_info=True)
            return message

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
