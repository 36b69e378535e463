"""What every proxy does with the bytes of a message: ask the shim, and forward what came unless the shim changed it.

Fail open: a line that is no JSON object, a batch, a document that Python cannot write again with the same meaning
(a repeated name, a number that no float holds) and a message that the shim stumbles over pass as they came.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, Protocol, TypeAlias

from accp_adapters.mcp.shim.encoder import Encoder

__all__ = ["LIMIT", "Message", "Passage", "Relay", "Shim", "encoding", "read_lines", "read_message", "write_message"]

LIMIT: Final = 64 * 1024 * 1024
"""The longest line, event or body, in bytes, that a shim is shown; a longer one passes as it came."""

_log = logging.getLogger(__name__)

Message: TypeAlias = dict[str, Any]
"""A JSON-RPC message as `json` reads it."""


class Shim(Protocol):
    """One session's `Encoder` or `Decoder`: who returns the same object has left the message as it is."""

    def c2s(self, message: Message) -> Message:
        """Return what the server is sent in place of `message` from the client."""
        ...

    def s2c(self, message: Message) -> Message:
        """Return what the client is sent in place of `message` from the server."""
        ...


def _refuse(constant: str) -> object:
    raise ValueError(f"expected a JSON number, got {constant!r}")


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("expected each name once in an object")
    return members


def _exact(digits: str) -> float:
    number = float(digits)
    if repr(number) != digits and Decimal(repr(number)) != Decimal(digits):
        raise ValueError(f"expected a number that a float can hold, got {digits!r}")
    return number


_decode: Final[Callable[[str], Any]] = json.JSONDecoder(
    object_pairs_hook=_unique, parse_float=_exact, parse_constant=_refuse
).decode


def read_message(data: bytes) -> Message | None:
    """Return the message that `data` is, None where it is none that can be written again with the same meaning."""
    try:
        message = _decode(data.decode())
    except (ValueError, ArithmeticError, RecursionError):
        return None
    return message if isinstance(message, dict) else None


def write_message(message: Message) -> bytes:
    """Return `message` as compact JSON in UTF-8, in one line; a lone surrogate is escaped."""
    try:
        return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        return json.dumps(message, separators=(",", ":")).encode()


@dataclass(frozen=True, slots=True)
class Passage:
    """Where a message from the client goes."""

    data: bytes
    """The bytes to send, without a line end if they are not the bytes that came."""
    answered: bool
    """They are the answer and go back to the client; the server is not asked."""


class Relay:
    """One shim between a client and a server, on bytes; both directions may be used from different threads."""

    def __init__(
        self,
        shim: Shim,
        own: Callable[[Message], Message | None] = lambda _: None,
        exchange: Callable[[], Relay] | None = None,
    ) -> None:
        """Let `shim` see each message.

        `own` returns the answer to a request that the server is not to see, `exchange` a relay for another exchange
        of the same caller; none: such a relay knows nothing of this one.
        """
        self._shim = shim
        self._own = own
        self.exchange: Final = exchange
        self._lock = threading.Lock()

    def from_client(self, data: bytes) -> Passage:
        """Return where the message `data` goes, and in which bytes."""
        message = read_message(data)
        if message is None:
            return Passage(data, answered=False)
        answer = self._ask(self._own, message)
        if answer is not None:
            return Passage(write_message(answer), answered=True)
        return Passage(self._changed(self._shim.c2s, message) or data, answered=False)

    def from_server(self, data: bytes) -> bytes:
        """Return what the client is sent for the message `data`."""
        message = read_message(data)
        return data if message is None else self._changed(self._shim.s2c, message) or data

    def _changed(self, turn: Callable[[Message], Message], message: Message) -> bytes | None:
        result = self._ask(turn, message)
        return None if result is None or result is message else write_message(result)

    def _ask(self, turn: Callable[[Message], Message | None], message: Message) -> Message | None:
        try:
            with self._lock:
                return turn(message)
        except Exception as error:  # whatever it is, the message must arrive
            _log.warning("a message passes as it came, the shim failed: %r", error)
            return None


def encoding(encoder: Encoder) -> Relay:
    """Return a relay with `encoder` in it."""
    return Relay(encoder, encoder.own, lambda: encoding(encoder.exchange()))


def read_lines(read: Callable[[], bytes], limit: int = LIMIT) -> Iterator[tuple[bytes, bool]]:
    """Yield the lines of a byte stream with their ends, the last one perhaps without, and whether each is whole.

    Args:
        read: returns the next bytes, none at the end.
        limit: the bytes of the longest line that is put together; a longer one comes in pieces, as it arrives.
    """
    rest = bytearray()
    long = False
    while chunk := read():
        *lines, tail = chunk.split(b"\n")
        for line in lines:
            rest += line + b"\n"
            yield bytes(rest), not long and len(rest) <= limit
            rest.clear()
            long = False
        rest += tail
        if len(rest) > limit:
            yield bytes(rest), False
            rest.clear()
            long = True
    if rest:
        yield bytes(rest), not long
