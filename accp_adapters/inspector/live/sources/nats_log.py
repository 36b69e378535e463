"""The frame logs of session hosts in NATS JetStream (`NatsFrameLog`), read message by message."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Final

import nats
import nats.errors
from nats.js import JetStreamContext
from nats.js.errors import NotFoundError

from accp_adapters.bindings.hosts.agreement import AGREEMENT
from accp_adapters.bindings.logs.nats import log_token
from accp_adapters.inspector.live.sources.sessions import MAX_FRAMES, LoggedSessions
from accp_adapters.inspector.live.sources.steps import record_of_step
from accp_adapters.inspector.live.threads import Observed
from accp_adapters.stores.passwords import without_password
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError

__all__ = ["NatsLog"]

_STREAM: Final = "accp"
_SUBJECTS: Final = "accp.log.*"
_AGREEMENT: Final = f"accp.log.{log_token(AGREEMENT)}"
_SECONDS: Final = 5
_MAX_SECONDS: Final = 30
"""Seconds that one look may take; the next one reads the rest."""
_DIGITS: Final = 12


class NatsLog:
    """All logs of one stream, "accp"; a subject names its session by a hash only, and so do we."""

    def __init__(self, url: str) -> None:
        """Follow the logs of the server at `url`, which each look connects to."""
        self.name = without_password(url)
        self._url: Final = url.split(",")
        self._last = 0
        self._sessions: Final = LoggedSessions()

    def read(self) -> Observed:
        """Return the sessions that are there now; for a thread without an event loop.

        Raises:
            ProtocolError: E3001, the server cannot be reached.
        """
        try:
            asyncio.run(asyncio.wait_for(self._look(), _MAX_SECONDS))
        except (nats.errors.Error, OSError, TimeoutError) as error:
            reason = f"expected NATS at {self.name} to read, found: {error!r:.200}"
            raise ProtocolError(reason, code=ErrorCode.TIMEOUT) from error
        return self._sessions.observed()

    async def _look(self) -> None:
        """Add the new steps."""
        client = await nats.connect(
            self._url, connect_timeout=_SECONDS, allow_reconnect=False, max_reconnect_attempts=1, error_cb=_quiet
        )
        try:
            await self._follow(client.jetstream(timeout=_SECONDS))
        finally:
            await client.close()

    async def _follow(self, js: JetStreamContext) -> None:
        # Without a stream, or a later message, there is nothing to add.
        with suppress(NotFoundError):
            end = (await js.stream_info(_STREAM)).state.last_seq
            self._last = max(self._last, end - MAX_FRAMES)
            while self._last < end:
                message = await js.get_msg(_STREAM, self._last + 1, _SUBJECTS, next=True)
                self._last = message.seq or end
                # An empty message only shuts out another writer.
                if message.data and message.subject != _AGREEMENT:
                    name = (message.subject or "").rpartition(".")[2][:_DIGITS]
                    self._sessions.add(record_of_step(message.data.decode("utf-8", "replace")), f"log {name}")


async def _quiet(error: Exception) -> None:
    """Leave the error to the call that failed."""
