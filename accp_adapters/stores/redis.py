"""The cold tier that several machines share: a plain Redis, no modules needed (ACCP section 5.1, tier 3)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, Final
from urllib.parse import quote, urlsplit

import redis

from accp_adapters.stores.texts import TEXT_ENCODING, pack_text, unpack_text
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError

__all__ = ["RedisColdStore"]

# In the order in which they are tried: redis-py derives the first from the second.
_CODES: Final = (
    (redis.AuthenticationError, ErrorCode.POLICY_DENIED),
    ((redis.ConnectionError, redis.TimeoutError), ErrorCode.TIMEOUT),
    (redis.RedisError, ErrorCode.INTERNAL_ERROR),
)


class RedisColdStore:
    """A `ColdStore` in Redis that processes and threads may share; texts are kept compressed (zlib).

    A session is one hash, `accp:<session>`, of its keys and texts: purging it is one command, which no put can
    slip through, and it expires as a whole. The server must keep what it is given: `maxmemory-policy noeviction`,
    and persistence where references must outlive a restart of Redis. An asynchronous graph reaches the store in a
    thread, so that one store serves any event loop.
    """

    def __init__(
        self,
        url: str = "redis://localhost:6379/0",
        *,
        namespace: str = "accp",
        ttl: float | None = None,
        **options: Any,
    ) -> None:
        """Keep texts in the server at `url`; nothing is sent before the first text is.

        Args:
            url: `redis://`, `rediss://` (TLS) or `unix://`, with user, password, database and whatever else
                redis-py reads there, such as `?ssl_ca_certs=/etc/ca.pem`.
            namespace: What the names of our hashes begin with.
            ttl: Minutes after a session's last put until all of it is forgotten. None: never, which time
                travel needs.
            options: For redis-py's connections, such as `socket_timeout` (5 seconds unless said) or `ssl_ca_certs`.

        Raises:
            ValueError: redis-py knows no such scheme, or `ttl` is not above 0.
        """
        if ttl is not None and not ttl > 0:
            raise ValueError(f"expected ttl above 0 or None, found {ttl!r}")
        bounded = {"socket_timeout": 5.0, "socket_connect_timeout": 5.0, **options}
        self._client: Final = redis.Redis.from_url(url, **bounded)
        self._server: Final = _without_password(url)
        self._namespace: Final = quote(namespace, safe="", errors="surrogatepass")
        self._ttl: Final = None if ttl is None else timedelta(minutes=ttl)

    def put(self, session_id: str, key: str, text: str) -> None:
        """Keep `text` under `key` for `session_id`; putting the same key again changes nothing.

        Raises:
            ProtocolError: E3001, the server does not answer; E5001, it does not let us in; E9999, it refuses.
        """
        name = self._name(session_id)
        with self._refusals("put"), self._client.pipeline() as commands:
            commands.hsetnx(name, _field(key), pack_text(text))
            if self._ttl is not None:
                commands.pexpire(name, self._ttl)
            commands.execute()

    def get(self, session_id: str, key: str) -> str | None:
        """Return the text kept under `key` for `session_id`, or None when there is none.

        Raises:
            ProtocolError: as `put`; E2001, what stands there is not a text of ours.
        """
        with self._refusals("get"):
            packed: Any = self._client.hget(self._name(session_id), _field(key))
        return None if packed is None else unpack_text(packed)

    def purge(self, session_id: str) -> int:
        """Forget everything of `session_id`; return how many texts went.

        Raises:
            ProtocolError: as `put`.
        """
        name = self._name(session_id)
        with self._refusals("purge"), self._client.pipeline() as commands:
            commands.hlen(name)
            commands.unlink(name)
            count, _ = commands.execute()
        return int(count)

    def close(self) -> None:
        """Close the connections. Closing twice is allowed."""
        self._client.close()

    def _name(self, session_id: str) -> bytes:
        return f"{self._namespace}:{session_id}".encode(*TEXT_ENCODING)

    @contextmanager
    def _refusals(self, what: str) -> Iterator[None]:
        try:
            yield
        except redis.RedisError as problem:
            code = next(code for kinds, code in _CODES if isinstance(problem, kinds))
            raise ProtocolError(f"expected {self._server!r} to {what}, found: {problem}", code=code) from problem


def _field(key: str) -> bytes:
    return key.encode(*TEXT_ENCODING)


def _without_password(url: str) -> str:
    """Return `url` as far as a log may show it."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
