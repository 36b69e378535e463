"""Lines over a byte stream: what stdio and TCP have in common (ACP transport 0.3, sections 4.2 and 7.2)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final

import anyio
from anyio.abc import ByteStream

from accp_adapters.bindings.acp.sessions.channel import REPLACED, ChannelClosed, EndOfInput
from accp_core.acp import Binding, ByteLineReader, ErrorMessage, serialize_envelope
from accp_core.acp.document import read_object, write_object

__all__ = ["TOKEN", "LineChannel"]

TOKEN: Final = "token"
"""Our field of the first line, the message with a card: who writes it, where TLS does not say it."""
_CLOSING_SECONDS: Final = 1.0
"""For the last words and the end of a stream whose peer may be gone."""
_LINE_BYTES: Final = 64
"""About the memory of a short line."""
_BROKEN: Final = (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError)


class LineChannel:
    """One JSON object per line, over any byte stream. Empty lines keep a connection alive."""

    window: int | None = None

    def __init__(
        self,
        stream: ByteStream,
        *,
        binding: Binding,
        limit: int,
        token: str = "",
        count: Callable[[int], None] = lambda _: None,
    ) -> None:
        """Read lines of at most `limit` bytes from `stream`, and write lines to it.

        Args:
            stream: The stream, which is closed with the channel.
            binding: STDIO or TCP.
            limit: Bytes of a line.
            token: What is said with our card, the first line, for a server that asks who we are; empty: nothing.
            count: Is called with the bytes that have come and were not returned yet.
        """
        self.binding, self._count = binding, count
        self._token = token
        self._stream = stream
        self._reader = ByteLineReader(limit)
        self._lines: deque[str] = deque()

    @property
    def limit(self) -> int:
        """Bytes of a line."""
        return self._reader.limit

    @limit.setter
    def limit(self, limit: int) -> None:
        self._reader.limit = limit

    async def send(self, text: str) -> None:
        """Write a text and a line end."""
        if self._token:
            text, self._token = write_object({**read_object(text), TOKEN: self._token}), ""
        await self._write(f"{text}\n")

    async def receive(self) -> str:
        """Return the next line that is not blank."""
        while not self._lines:
            try:
                data = await self._stream.receive()
            except anyio.EndOfStream:
                raise EndOfInput("the stream has ended") from None
            except _BROKEN as error:
                raise ChannelClosed(f"the stream is closed: {type(error).__name__}") from None
            self._lines.extend(self._reader.feed(data))
            self._count(self._reader.waiting + _LINE_BYTES * len(self._lines))
        return self._lines.popleft()

    async def keep_alive(self) -> None:
        """Write an empty line, which readers skip."""
        await self._write("\n")

    async def aclose(self, code: str = "") -> None:
        """Close the stream, after a line with the error, if there is one."""
        with anyio.move_on_after(_CLOSING_SECONDS, shield=True):
            try:
                if code and code != REPLACED:
                    await self._stream.send(f"{serialize_envelope(ErrorMessage(code=code))}\n".encode())
                await self._stream.aclose()
            except _BROKEN:
                return

    async def _write(self, text: str) -> None:
        try:
            await self._stream.send(text.encode())
        except _BROKEN as error:
            raise ChannelClosed(f"the stream is closed: {type(error).__name__}") from None
