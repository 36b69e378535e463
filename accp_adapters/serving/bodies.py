"""The body of a request: read within bounds of size, time and memory, and dropped with its client."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterator, MutableMapping
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from http import HTTPStatus
from typing import Any, Final, TypeAlias

from accp_adapters.serving.hosts import header
from accp_adapters.serving.off_loop import off_loop, one_piece_a_turn

__all__ = [
    "BodyRefused", "ByteBudget", "ByteLease", "Leases", "Memory", "Receive", "Scope", "Send", "read_body",
    "run_until_disconnect", "weight_of",
]  # fmt: skip

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
"""The three arguments of an ASGI application."""


_VALUE_BYTES, _OBJECT_BYTES = 48, 200
"""About the memory of a value of JSON in a list, and of an object with one member."""
_EXACT: Final = 16 << 20
"""The weight from which on a text is looked at more closely, which takes time."""
_PIECE: Final = 64 << 10
"""Bytes that are looked at by one call, which no other thread interrupts."""
_OTHERS: Final = bytes(set(range(256)) - set(b'"[{,'))
"""The bytes that begin neither a value nor a string."""
_FOLLOWING: Final = bytes(range(0x80, 0xC0))
"""The bytes of UTF-8 that begin no character."""
_WIDTHS: Final = ((4, bytes(range(0xF0)), (b"\\ud", b"\\uD")), (2, bytes(range(0xC4)), (b"\\u",)))
"""Bytes that each character of a text takes where one of it begins with another byte, or is escaped so."""


async def weight_of(data: bytes | bytearray, *, opens_strings: bool = False) -> int:
    """Return about how many bytes a text of JSON takes while it is read: its values take far more than its text.

    With `opens_strings` the JSON in its strings, such as that in the result of a tool, is read as well. `data` may not
    change meanwhile.
    """
    if len(data) <= _PIECE and (most := _weighed(data, opens_strings=True)) <= _EXACT:
        return most
    return await off_loop(len(data), partial(_weighed, data, opens_strings=opens_strings))


def _weighed(data: bytes | bytearray, *, opens_strings: bool) -> int:
    weight, width, characters, is_inside, is_escaped = len(data), 1, 0, False, False
    for start in range(0, len(data), _PIECE):
        piece = bytes(data[start : start + _PIECE])
        width = max(width, _width(bytes(data[max(0, start - 2) : start]) + piece))
        characters += len(piece) if piece.isascii() else len(piece.translate(None, _FOLLOWING))
        outside = piece[is_escaped:]
        if not opens_strings:
            read = outside.replace(b"\\\\", b"")
            is_escaped = read.endswith(b"\\")
            # Two marks in a row, nothing between them, leave what follows in or out of a string as it is.
            marks = read.replace(b'\\"', b"").translate(None, _OTHERS).replace(b'""', b"")
            parts = marks.split(b'"')
            outside = b"".join(parts[is_inside::2])
            is_inside ^= len(parts) % 2 == 0
        values = outside.count(b",") + outside.count(b"[")
        weight += _VALUE_BYTES * values + _OBJECT_BYTES * outside.count(b"{")
    return weight + width * characters


def _width(data: bytes) -> int:
    """Return how many bytes each character takes in memory: as many as the widest one of its text."""
    for width, narrower, escapes in _WIDTHS:
        if (not data.isascii() and data.translate(None, narrower)) or any(each in data for each in escapes):
            return width
    return 1


class BodyRefused(Exception):
    """The body of a request that is refused."""

    def __init__(self, status: HTTPStatus, reason: str) -> None:
        """Refuse with `status`, and say why."""
        super().__init__(reason)
        self.status: Final = status


class ByteBudget:
    """Bytes that all exchanges of a server share."""

    def __init__(self, limit: int, *, each: int | None = None) -> None:
        """Allow `limit` bytes at once, and `each` of them to one owner; None: as many."""
        self.left = limit
        """Bytes that are free."""
        self._each: Final = limit if each is None else each
        self._held: Final[dict[str, int]] = {}

    @contextmanager
    def lease(self, owner: str = "") -> Iterator[ByteLease]:
        """Yield the share of one exchange of `owner`, which is returned at the end of the block."""
        lease = ByteLease(self, owner)
        try:
            yield lease
        finally:
            lease.resize(0)

    def take(self, owner: str, count: int) -> bool:
        """Take `count` bytes for `owner`, give them back if negative; return False, without change, if not free."""
        held = self._held.get(owner, 0) + count
        if count > 0 and (count > self.left or held > self._each):
            return False
        self.left -= count
        self._held[owner] = held
        if not held:
            del self._held[owner]
        return True


class ByteLease:
    """The bytes that one exchange holds of a budget."""

    def __init__(self, budget: ByteBudget, owner: str) -> None:
        """Hold nothing of `budget`, in the name of `owner`."""
        self._budget, self._owner = budget, owner
        self.size = 0
        """Bytes that it counts."""

    def add(self, count: int) -> bool:
        """Hold `count` bytes more, fewer if negative; return False, and change nothing, if they are not free."""
        if not self._budget.take(self._owner, count):
            return False
        self.size += count
        return True

    def hold(self, count: int) -> None:
        """Hold `count` bytes more.

        Raises:
            BodyRefused: 503, they are not free.
        """
        if not self.add(count):
            raise BodyRefused(HTTPStatus.SERVICE_UNAVAILABLE, "expected fewer requests at once")

    def resize(self, size: int) -> bool:
        """Hold `size` bytes; return False, and change nothing, if they are not free."""
        return self.add(size - self.size)


Leases: TypeAlias = Callable[[], AbstractContextManager[ByteLease]]
"""Returns a lease of the bytes of one owner."""


class Memory:
    """The bytes of a server, of which strangers can take a quarter: the rest is kept for who is known."""

    def __init__(self, limit: int) -> None:
        """Have `limit` bytes."""
        self.known: Final = ByteBudget(limit - limit // 4, each=limit // 2)
        """For those who are known, by who they are; one of them gets half of all."""
        self.strangers: Final = ByteBudget(limit // 4, each=limit // 8)
        """For others, by their address."""
        self.request: Final = limit // 1024
        """What a request counts beside its body: small ones that take long hold connections."""


async def read_body(
    scope: Scope, receive: Receive, lease: ByteLease, *, limit: int, seconds: float | None = None
) -> bytes:
    """Return the body of a request.

    Args:
        scope: The request.
        receive: Receives the parts of its body.
        lease: Holds its bytes.
        limit: Bytes of the body.
        seconds: How long it may take.

    Raises:
        BodyRefused: 413, the body is longer; 408, it takes longer; 503, there is no memory for it now; 400, the client
            has disconnected.
    """
    length = header(scope["headers"], b"content-length")
    if length.isdecimal() and int(length[:20]) > limit:
        raise _too_long(limit)
    try:
        async with asyncio.timeout(seconds):
            return await _joined(receive, lease, limit)
    except TimeoutError:
        raise BodyRefused(HTTPStatus.REQUEST_TIMEOUT, f"expected the body within {seconds} seconds") from None


async def _joined(receive: Receive, lease: ByteLease, limit: int) -> bytes:
    body = bytearray()
    more = True
    while more:
        part = await receive()
        if part["type"] == "http.disconnect":
            raise BodyRefused(HTTPStatus.BAD_REQUEST, "expected a body, found a closed connection")
        data = part.get("body", b"")
        if len(body) + len(data) > limit:
            raise _too_long(limit)
        lease.hold(len(data))
        body += data
        more = part.get("more_body", False)
        await one_piece_a_turn(len(data))
    return bytes(body)


def _too_long(limit: int) -> BodyRefused:
    reason = f"expected a body of at most {limit} bytes, found a longer one"
    return BodyRefused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, reason)


async def run_until_disconnect(receive: Receive, exchange: Coroutine[Any, Any, None]) -> None:
    """Await `exchange`; cancel it when the client disconnects, which is how a client cancels a call."""
    serving = asyncio.ensure_future(exchange)
    watching = asyncio.ensure_future(_disconnected(receive))
    try:
        await asyncio.wait([serving, watching], return_when=asyncio.FIRST_COMPLETED)
    finally:
        watching.cancel()
        serving.cancel()
        await asyncio.wait([serving, watching])
    if not serving.cancelled():
        serving.result()


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
