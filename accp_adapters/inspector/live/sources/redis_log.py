"""The frame logs of session hosts in Redis (`RedisFrameLog`), read with commands that change nothing."""

from __future__ import annotations

from itertools import islice
from typing import Any, Final
from urllib.parse import unquote

import redis

from accp_adapters.inspector.live.sources.sessions import MAX_FRAMES, LoggedSessions
from accp_adapters.inspector.live.sources.steps import record_of_step
from accp_adapters.inspector.live.threads import MAX_THREADS, Observed
from accp_adapters.stores.passwords import without_password
from accp_adapters.stores.redis import redis_refusals

__all__ = ["RedisLog"]

_BEGIN: Final = "accp:{"
_END: Final = "}:state"
_PAGE: Final = 500
_SECONDS: Final = 5.0


class RedisLog:
    """All logs of one server, of the namespace "accp"."""

    def __init__(self, url: str) -> None:
        """Follow the logs of the server at `url`, which a command connects to."""
        self.name = without_password(url)
        self._client: Final = redis.Redis.from_url(url, socket_timeout=_SECONDS, socket_connect_timeout=_SECONDS)
        self._last: Final[dict[str, int]] = {}
        self._sessions: Final = LoggedSessions()

    def read(self) -> Observed:
        """Return the sessions that are there now.

        Raises:
            ProtocolError: E3001, the server cannot be reached; E5001, it refuses us.
        """
        with redis_refusals(self.name, "read"):
            found: Any = self._client.scan_iter(match=f"{_BEGIN}*{_END}", count=_PAGE, _type="HASH")
            for key in sorted(islice(found, MAX_THREADS)):
                self._follow(key.decode("utf-8", "replace"))
        return self._sessions.observed()

    def _follow(self, key: str) -> None:
        """Add the new steps of one log."""
        name = unquote(key[len(_BEGIN) : -len(_END)])
        fields: Any = self._client.hmget(key, ["last", "number"])
        end, snapshot = (int(value or 0) for value in fields)
        begin = self._last.get(name, 0)
        if end <= begin:
            return
        if snapshot > begin:
            self._sessions.tell(name, f"a snapshot stands for the first {snapshot:,} steps")
        self._last[name] = end
        self._take(name, f"{key.removesuffix('state')}log", max(begin, end - MAX_FRAMES), end)

    def _take(self, name: str, stream: str, begin: int, end: int) -> None:
        while True:
            entries: Any = self._client.xrange(stream, min=f"({begin}-0", max=f"{end}-0", count=_PAGE)
            for number, fields in entries:
                begin = int(number.partition(b"-")[0])
                self._sessions.add(record_of_step(fields.get(b"t", b"").decode("utf-8", "replace")), name)
            if len(entries) < _PAGE:
                return
