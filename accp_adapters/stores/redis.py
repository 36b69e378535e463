"""Stored texts in Redis, for several machines; no Redis modules are needed (ACCP section 5.1, tier 3)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from itertools import islice
from typing import Any, Final
from urllib.parse import quote

from accp_adapters.extras import needs

with needs("redis"):
    import redis

from accp_adapters.stores.texts import MAX_FOUND, MAX_PACKED, decode_name, encode_name, pack_text, unpack_text
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError

__all__ = ["RedisColdStore", "redis_refusals", "without_password"]

_PLAIN: Final = re.compile(r"([a-z][a-z0-9+.-]*://)(?:[^/?#@\s]*@)?([^@?#\s,]*)(?:\?[^@#]*)?", re.IGNORECASE)
"""An address in which user and password end where they seem to; any other may hold them anywhere."""

# In this order: redis-py derives the first error from the second.
_CODES: Final = (
    (redis.AuthenticationError, ErrorCode.POLICY_DENIED),
    ((redis.ConnectionError, redis.TimeoutError), ErrorCode.TIMEOUT),
    (redis.RedisError, ErrorCode.INTERNAL_ERROR),
)
# Redis runs a script as one operation, which is what compare-and-set needs.
_SAVE: Final = """
if tonumber(redis.call('HGET', KEYS[1], 'version') or 0) ~= ARGV[1] - 1 then return 0 end
redis.call('HSET', KEYS[1], 'version', ARGV[1], 'data', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
redis.call('PEXPIRE', KEYS[2], ARGV[3])
return 1
"""
_DELETE: Final = """
if redis.call('HGET', KEYS[1], 'version') == ARGV[1] then return redis.call('DEL', KEYS[1], KEYS[2]) end
return 0
"""


class RedisColdStore:
    """A `ColdStore` and a `SessionStore` in Redis for any number of threads and processes; texts are compressed (zlib).

    A session is one hash, `accp:<session>`, of keys and texts, so that one command deletes it and it expires as a
    whole. The server must not evict (`maxmemory-policy noeviction`), and must persist where references are to survive
    its restart. An asynchronous graph calls the store in a thread, so that one store serves every event loop.
    """

    def __init__(
        self,
        url: str = "redis://localhost:6379/0",
        *,
        namespace: str = "accp",
        ttl: float | None = None,
        session_ttl: float = 604_800.0,
        **options: Any,
    ) -> None:
        """Use the server at `url`; the first command connects to it.

        Args:
            url: `redis://`, `rediss://` (TLS) or `unix://`, with user, password, database and the other options that
                redis-py reads there, such as `?ssl_ca_certs=/etc/ca.pem`.
            namespace: The beginning of the names of our hashes.
            ttl: Minutes from the last `put` of a session until it is deleted; None: never, which time travel needs.
            session_ttl: Seconds after its last step until a session and its texts are deleted.
            options: For redis-py's connections, such as `socket_timeout` (default: 5 seconds) or `ssl_ca_certs`.

        Raises:
            ValueError: redis-py does not know the scheme, or `ttl` is not above 0.
        """
        if ttl is not None and not ttl > 0:
            raise ValueError(f"expected ttl above 0 or None, found {ttl!r}")
        bounded = {"socket_timeout": 5.0, "socket_connect_timeout": 5.0, **options}
        self._client: Final = redis.Redis.from_url(url, **bounded)
        self._server: Final = without_password(url)
        self._namespace: Final = quote(namespace, safe="", errors="surrogatepass")
        self._ttl: Final = None if ttl is None else timedelta(minutes=ttl)
        self._session_ttl: Final = round(session_ttl * 1000)
        self._save: Final = self._client.register_script(_SAVE)
        self._delete: Final = self._client.register_script(_DELETE)

    def put(self, session_id: str, key: str, text: str) -> None:
        """Store `text` under `key` of `session_id`; the same key again changes nothing.

        Raises:
            ProtocolError: E3001, the server does not answer; E5001, it refuses our credentials; E9999, it refuses the
                command; E2003, the text is longer than 64 MiB.
        """
        name = self._hash_name(session_id)
        with redis_refusals(self._server, "put"), self._client.pipeline() as commands:
            commands.hsetnx(name, encode_name(key), pack_text(text))
            if self._ttl is not None:
                commands.pexpire(name, self._ttl)
            commands.execute()

    def get(self, session_id: str, key: str) -> str | None:
        """Return the text under `key` of `session_id`, None where there is none.

        Raises:
            ProtocolError: as `put`; E2001, the bytes there are not a stored text.
        """
        with redis_refusals(self._server, "get"):
            name = self._hash_name(session_id), encode_name(key)
            packed: Any = self._client.hget(*name) if self._client.hstrlen(*name) < MAX_PACKED else b""
        return None if packed is None else unpack_text(packed)

    def find(self, session_id: str, beginning: str) -> list[str]:
        """Return the keys of `session_id` that begin so, at most 1,000.

        Raises:
            ProtocolError: as `put`.
        """
        with redis_refusals(self._server, "find"):
            keys: Any = self._client.hkeys(self._hash_name(session_id))
        found = (key for key in keys if key.startswith(encode_name(beginning)))
        return [decode_name(key) for key in islice(found, MAX_FOUND)]

    def delete(self, session_id: str, key: str) -> None:
        """Delete the text under `key` of `session_id`, where there is one.

        Raises:
            ProtocolError: as `put`.
        """
        with redis_refusals(self._server, "delete"):
            self._client.hdel(self._hash_name(session_id), encode_name(key))

    def purge(self, session_id: str) -> int:
        """Delete all texts of `session_id`; return their number.

        Raises:
            ProtocolError: as `put`.
        """
        name = self._hash_name(session_id)
        with redis_refusals(self._server, "purge"), self._client.pipeline() as commands:
            commands.hlen(name)
            commands.unlink(name)
            count, _ = commands.execute()
        return int(count)

    def load_session(self, name: str) -> tuple[int, str] | None:
        """Return version and data of a session, as `SessionStore.load_session`.

        Raises:
            ProtocolError: as `put`.
        """
        with redis_refusals(self._server, "load"):
            # Version and data are read at once, since another worker may save a session meanwhile.
            is_packed = self._client.hstrlen(self._session_name(name), "data") < MAX_PACKED
            found: Any = self._client.hmget(self._session_name(name), ["version", "data"] if is_packed else ["version"])
        version, *packed = found
        return None if version is None else (int(version), unpack_text(*(packed or [b""])))

    def save_session(self, name: str, version: int, data: str) -> bool:
        """Replace version `version` - 1 of a session, as `SessionStore.save_session`.

        Raises:
            ProtocolError: as `put`.
        """
        with redis_refusals(self._server, "save"):
            saved = self._save(keys=self._keys(name), args=[version, pack_text(data), self._session_ttl])
        return bool(saved)

    def delete_session(self, name: str, version: int) -> None:
        """Delete a session, as `SessionStore.delete_session`.

        Raises:
            ProtocolError: as `put`.
        """
        with redis_refusals(self._server, "delete"):
            self._delete(keys=self._keys(name), args=[version])

    def close(self) -> None:
        """Close the connections. Closing twice is allowed."""
        self._client.close()

    def _session_name(self, name: str) -> bytes:
        return encode_name(f"{self._namespace}-session:{name}")

    def _keys(self, name: str) -> list[bytes]:
        return [self._session_name(name), self._hash_name(name)]

    def _hash_name(self, session_id: str) -> bytes:
        return encode_name(f"{self._namespace}:{session_id}")


@contextmanager
def redis_refusals(server: str, command: str) -> Iterator[None]:
    """Raise what redis-py raises as `ProtocolError`.

    Raises:
        ProtocolError: E3001, the server does not answer; E5001, it refuses our credentials; E9999, it refuses the
            command.
    """
    try:
        yield
    except redis.RedisError as error:
        code = next(code for kinds, code in _CODES if isinstance(error, kinds))
        raise ProtocolError(f"expected {server!r} to {command}, found: {error}", code=code) from error


def without_password(url: str) -> str:
    """Return `url` without user, password and options, so that a log may show it.

    Of an address in which the password may stand anywhere, such as one with a slash in it, only the scheme is shown.
    """
    if found := _PLAIN.fullmatch(url):
        return found[1] + found[2]
    return f"{url.partition('://')[0] if '://' in url else ''}://…"
