"""One JSON-RPC message on its way from a client to a server or back.

Whoever passes a message on holds a `Message`, so that its bytes are parsed at most once, when somebody looks at it, and
written at most once, when somebody has changed it. A message that nobody changes leaves as the bytes that came.
"""

from __future__ import annotations

import logging
from typing import Any, Final

from accp_adapters.mcp.shim.protocol import JsonObject
from accp_adapters.serving.off_loop import VERY_LONG, off_loop, size_of
from accp_core.strict_json import compact_json, exact_float, read_json, strict_decoder

__all__ = ["Message", "error_message", "read_message", "write_message"]

_LOG: Final = logging.getLogger(__name__)
_INTERNAL_ERROR: Final = -32603
_UNREAD: Final[Any] = object()

_read_exact: Final = strict_decoder(read_float=exact_float)


def read_message(data: bytes) -> JsonObject | None:
    """Return the message in `data`; None if there is none that can be written again with the same meaning."""
    try:
        message = _read_exact(data.decode())
    except (ValueError, ArithmeticError, RecursionError):
        return None
    return message if isinstance(message, dict) else None


def write_message(message: JsonObject) -> bytes:
    """Return `message` as one line of compact JSON in UTF-8; a lone surrogate is escaped.

    Raises:
        EncodeError: E1004, it is not JSON.
    """
    return compact_json(message).encode()


class Message:
    """The bytes of a message, what they say, or both."""

    __slots__ = ("_data", "_received", "_value")

    def __init__(self, data: bytes) -> None:
        """Hold a message that was received as `data`, which may be no JSON at all."""
        self._data: bytes | None = data
        self._value: JsonObject | None = _UNREAD
        self._received: Message | None = None

    @classmethod
    def of(cls, value: JsonObject) -> Message:
        """Return the message that says `value`."""
        message = cls(b"")
        message._data, message._value = None, value
        return message

    @property
    def value(self) -> JsonObject | None:
        """The decoded message; None if there is none that can be written again with the same meaning."""
        if self._value is _UNREAD:
            self._value = read_message(self._data or b"")
        return self._value

    @property
    def members(self) -> JsonObject:
        """The members of `value`; none where there is no such message."""
        return self.value or {}

    @property
    def meaning(self) -> JsonObject | None:
        """The message as any reader understands it: a number with more digits than a float holds is the nearest float.

        None: it is no JSON object.
        """
        if self.value is not None:
            return self.value
        try:
            nearest = read_json((self._data or b"").decode())
        except (ValueError, RecursionError):
            return None
        return nearest if isinstance(nearest, dict) else None

    @property
    def data(self) -> bytes:
        """The bytes to send: those that were received, or the changed message in one line."""
        if self._data is None:
            self._data = self._written()
            self._received = None
        return self._data

    @property
    def line(self) -> bytes:
        """The bytes in one line, without its end: strings hold no raw line end, and those between values may go."""
        return self.data.strip().replace(b"\r", b" ").replace(b"\n", b" ")

    def changed(self, value: JsonObject) -> Message:
        """Return the message that says `value`; this very one where that is what it says."""
        if value is self._value:
            return self
        message = Message.of(value)
        message._received = self
        return message

    @property
    def size(self) -> int:
        """The bytes to read, or about as many to write, of a very long message fewer."""
        return len(self._data) if self._data is not None else size_of(self._value, VERY_LONG)

    async def read(self) -> Message:
        """Return this message after it is parsed, beside the event loop where it is long."""
        if self._value is _UNREAD:
            await off_loop(self.size, getattr, self, "value")
        return self

    def _written(self) -> bytes:
        try:
            return write_message(self._value or {})
        except Exception as error:
            if self._received is None:
                raise
            # The text of the error may quote the message, which must not be logged.
            _LOG.warning("a changed message cannot be written, it passes unchanged: %s", type(error).__name__)
            return self._received.data


def error_message(reason: str, request: Message | None = None, *, code: int = _INTERNAL_ERROR) -> Message:
    """Return a JSON-RPC error that answers `request`."""
    request_id = None if request is None else request.members.get("id")
    return Message.of({"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": reason}})
