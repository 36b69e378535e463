"""What every proxy does with the bytes of a message: pass them to the shim, and forward them unless it changed them.

What cannot be rewritten passes unchanged: a line that is not a JSON object, a batch, a document that Python cannot
write again with the same meaning (a name twice in an object, a number that no float holds exactly), and a message at
which the shim fails.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeAlias

from accp_adapters.mcp.shim.encoder import Encoder
from accp_core.strict_json import compact_json, exact_float, strict_decoder

__all__ = [
    "MAX_MESSAGE_BYTES",
    "JsonRpcMessage",
    "Relay",
    "RelayedMessage",
    "Shim",
    "encoder_relay",
    "read_lines",
    "read_message",
    "write_message",
]

MAX_MESSAGE_BYTES: Final = 64 * 1024 * 1024
"""Bytes of a line, an event or a body that is passed to the shim; a longer one passes unchanged."""

_LOG: Final = logging.getLogger(__name__)

JsonRpcMessage: TypeAlias = dict[str, Any]
"""A decoded JSON-RPC message."""


class Shim(Protocol):
    """An `Encoder` or `Decoder` of one session; it returns the same object for a message that stays the same."""

    def from_client(self, message: JsonRpcMessage) -> JsonRpcMessage:
        """Return a client's message as the server gets it."""
        ...

    def from_server(self, message: JsonRpcMessage) -> JsonRpcMessage:
        """Return a server's message as the client gets it."""
        ...


_read_exact: Final = strict_decoder(read_float=exact_float)


def read_message(data: bytes) -> JsonRpcMessage | None:
    """Return the message in `data`; None if there is none that can be written again with the same meaning."""
    try:
        message = _read_exact(data.decode())
    except (ValueError, ArithmeticError, RecursionError):
        return None
    return message if isinstance(message, dict) else None


def write_message(message: JsonRpcMessage) -> bytes:
    """Return `message` as one line of compact JSON in UTF-8; a lone surrogate is escaped.

    Raises:
        EncodeError: E1004, it is not JSON.
    """
    return compact_json(message).encode()


@dataclass(frozen=True, slots=True)
class RelayedMessage:
    """A message from the client on its way."""

    data: bytes
    """The bytes to send; without the end of the line, unless they are the client's own bytes."""
    is_answer: bool
    """Whether they are the response to the client's request, which the server is not sent."""


class Relay:
    """One shim between a client and a server, on bytes; both directions may be used from different threads."""

    def __init__(
        self,
        shim: Shim,
        answer_own: Callable[[JsonRpcMessage], JsonRpcMessage | None] = lambda _: None,
        exchange: Callable[[], Relay] | None = None,
    ) -> None:
        """Pass every message to `shim`.

        Args:
            shim: Rewrites messages.
            answer_own: Returns the response to a request that the server is not sent, None for any other message.
            exchange: Returns a relay for another HTTP exchange of the same caller; None: exchanges share nothing.
        """
        self._shim = shim
        self._answer_own = answer_own
        self.exchange: Final = exchange
        self._lock = threading.Lock()

    def from_client(self, data: bytes) -> RelayedMessage:
        """Return what is sent for the client's message `data`, and in which direction."""
        message = read_message(data)
        if message is None:
            return RelayedMessage(data, is_answer=False)
        answer = self._written(self._answer_own, message)
        if answer is not None:
            return RelayedMessage(answer, is_answer=True)
        return RelayedMessage(self._written(self._shim.from_client, message) or data, is_answer=False)

    def from_server(self, data: bytes) -> bytes:
        """Return what the client is sent for the server's message `data`."""
        message = read_message(data)
        return data if message is None else self._written(self._shim.from_server, message) or data

    def _written(
        self, rewrite: Callable[[JsonRpcMessage], JsonRpcMessage | None], message: JsonRpcMessage
    ) -> bytes | None:
        """Return the bytes of `rewrite(message)`; None if that is the same message, or nothing, or fails."""
        try:
            with self._lock:
                written = rewrite(message)
            return None if written is None or written is message else write_message(written)
        except Exception as error:  # any failure: the message must arrive
            _LOG.warning("the shim failed, a message passes unchanged: %r", error)
            return None


def encoder_relay(encoder: Encoder) -> Relay:
    """Return a relay around `encoder`."""
    return Relay(encoder, encoder.answer_own, lambda: encoder_relay(encoder.exchange()))


def read_lines(read: Callable[[], bytes], limit: int = MAX_MESSAGE_BYTES) -> Iterator[tuple[bytes, bool]]:
    """Yield the lines of a byte stream with their ends (the last one may have none), and whether each is complete.

    Args:
        read: Returns the next bytes; no bytes at the end of the stream.
        limit: Bytes of a line; a longer one is yielded in pieces as they arrive, none of them complete.
    """
    rest = bytearray()
    is_long = False
    while chunk := read():
        *lines, tail = chunk.split(b"\n")
        for line in lines:
            rest += line + b"\n"
            yield bytes(rest), not is_long and len(rest) <= limit
            rest.clear()
            is_long = False
        rest += tail
        if len(rest) > limit:
            yield bytes(rest), False
            rest.clear()
            is_long = True
    if rest:
        yield bytes(rest), not is_long
