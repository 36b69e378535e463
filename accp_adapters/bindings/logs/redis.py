"""Logs in Redis Streams, for several machines; no Redis modules are needed.

A log is a hash (lease, last number, snapshot) and a stream whose ids are the numbers: `XADD <number>-0`. Each method is
one script, which Redis runs as a whole, and time is the server's. A text counts when the server has it, not when a
replica has it or a disk: **a failover to a replica can lose texts that were acknowledged**, and so can a restart of a
server that does not write each command to its disk (`appendfsync always`). Sessions then go on from an earlier state.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any, Final
from urllib.parse import quote

from accp_adapters.extras import needs

with needs("redis"):
    import redis.asyncio

from accp_adapters.bindings.logs.frame_log import MAX_LOG_TEXTS, Fence, Fenced, LogError, check_texts
from accp_adapters.serving.off_loop import off_loop
from accp_adapters.stores.passwords import without_password
from accp_adapters.stores.redis import redis_refusals
from accp_adapters.stores.texts import pack_text, unpack_text
from accp_core.errors import ProtocolError

__all__ = ["RedisFrameLog"]

_BEGIN: Final = """
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function field(name) return tonumber(redis.call('HGET', KEYS[1], name) or 0) end
local function held() return field('token') == tonumber(ARGV[1]) and field('ends') > now end
"""
_LEASE: Final = """
if field('ends') > now then return {} end
local token = redis.call('HINCRBY', KEYS[1], 'token', 1)
redis.call('HSET', KEYS[1], 'ends', now + ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
redis.call('PEXPIRE', KEYS[2], ARGV[2])
return {token, field('last')}
"""
_RENEW: Final = """
if not held() then return -1 end
redis.call('HSET', KEYS[1], 'ends', now + ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
redis.call('PEXPIRE', KEYS[2], ARGV[3])
return 1
"""
_RELEASE: Final = """
if held() then redis.call('HSET', KEYS[1], 'ends', 0) end
return 1
"""
_APPEND: Final = """
local token, number = tonumber(ARGV[1]), tonumber(ARGV[2])
if token > 0 and not held() then return -1 end
if token == 0 and field('ends') > now or field('last') ~= number - 1 then return 0 end
if number - field('number') > tonumber(ARGV[5]) then return -2 end
redis.call('XADD', KEYS[2], ARGV[2] .. '-0', 't', ARGV[3])
redis.call('HSET', KEYS[1], 'last', number)
redis.call('PEXPIRE', KEYS[1], ARGV[4])
redis.call('PEXPIRE', KEYS[2], ARGV[4])
return 1
"""
_SAVE: Final = """
if not held() then return -1 end
redis.call('HSET', KEYS[1], 'number', ARGV[2], 'snapshot', ARGV[3])
redis.call('XTRIM', KEYS[2], 'MINID', (ARGV[2] + 1) .. '-0')
return 1
"""
_LOST, _FULL = -1, -2
_NO_TOKEN: Final = 0
_PAGE: Final = 256


class RedisFrameLog:
    """A `FrameLog` in Redis 6.2 or newer, or in Valkey; for one event loop.

    The server must not evict (`maxmemory-policy noeviction`).
    """

    def __init__(
        self,
        url: str = "redis://localhost:6379/0",
        *,
        namespace: str = "accp",
        ttl: float = 604_800.0,
        **options: Any,
    ) -> None:
        """Use the server at `url`; the first command connects to it.

        Args:
            url: As that of `RedisColdStore`.
            namespace: The beginning of the names of our keys.
            ttl: Seconds after its last use until a log is removed.
            options: For redis-py's connections, such as `socket_timeout` (default: 5 seconds).
        """
        bounded = {"socket_timeout": 5.0, "socket_connect_timeout": 5.0, **options}
        self._client: Final = redis.asyncio.Redis.from_url(url, **bounded)
        self._server: Final = without_password(url)
        self._namespace: Final = quote(namespace, safe="", errors="surrogatepass")
        self._ttl: Final = round(ttl * 1000)
        names = {"lease": _LEASE, "renew": _RENEW, "release": _RELEASE, "append": _APPEND, "save": _SAVE}
        self._scripts: Final = {name: self._client.register_script(_BEGIN + text) for name, text in names.items()}

    async def lease(self, name: str, owner: str, seconds: float) -> Fence | None:
        """Take the lease of `name`, as `FrameLog.lease`."""
        found = await self._run("lease", name, round(seconds * 1000), self._ttl)
        return Fence(name=name, owner=owner, token=int(found[0]), last=int(found[1])) if found else None

    async def renew(self, fence: Fence, seconds: float) -> None:
        """Let the lease end `seconds` from now, as `FrameLog.renew`."""
        if await self._run("renew", fence.name, fence.token, round(seconds * 1000), self._ttl) == _LOST:
            raise Fenced(fence)

    async def release(self, fence: Fence) -> None:
        """End the lease, as `FrameLog.release`."""
        await self._run("release", fence.name, fence.token)

    async def append(self, fence: Fence, number: int, text: str) -> bool:
        """Append a text, as `FrameLog.append`."""
        if (result := await self._append(fence.name, fence.token, number, text)) == _LOST:
            raise Fenced(fence)
        return bool(result)

    async def append_next(self, name: str, number: int, text: str) -> bool:
        """Append a text without a lease, as `FrameLog.append_next`."""
        return bool(await self._append(name, _NO_TOKEN, number, text))

    async def _append(self, name: str, token: int, number: int, text: str) -> Any:
        check_texts(0, text)
        result = await self._run("append", name, token, number, text, self._ttl, MAX_LOG_TEXTS)
        if result == _FULL:
            check_texts(MAX_LOG_TEXTS + 1, "")
        return result

    async def read(self, name: str, after: int) -> AsyncIterator[tuple[int, str]]:
        """Return the texts after number `after`, as `FrameLog.read`."""
        _, stream = self._keys(name)
        while True:
            with self._refusals("read"):
                entries: Any = await self._client.xrange(stream, min=f"({after}-0", count=_PAGE)
            for entry, fields in entries:
                after = int(entry.partition(b"-")[0])
                yield after, fields[b"t"].decode()
            if len(entries) < _PAGE:
                return

    async def save(self, fence: Fence, number: int, text: str) -> None:
        """Replace the snapshot, as `FrameLog.save`."""
        packed = await off_loop(len(text), pack_text, text)
        if await self._run("save", fence.name, fence.token, number, packed) == _LOST:
            raise Fenced(fence)

    async def snapshot(self, name: str) -> tuple[int, str] | None:
        """Return the snapshot, as `FrameLog.snapshot`."""
        with self._refusals("read"):
            found: Any = await self._client.hmget(self._keys(name)[0], ["number", "snapshot"])
        number, packed = found
        return None if packed is None else (int(number), await off_loop(len(packed), unpack_text, packed))

    async def delete(self, name: str) -> None:
        """Remove everything of `name`."""
        with self._refusals("delete"):
            await self._client.unlink(*self._keys(name))

    async def aclose(self) -> None:
        """Close the connections. Closing twice is allowed."""
        await self._client.aclose()

    # What the server refuses, as a replica after a failover does, is no fault of the peer whose frame waits for it.
    @contextmanager
    def _refusals(self, command: str) -> Iterator[None]:
        try:
            with redis_refusals(self._server, command):
                yield
        except ProtocolError as error:
            raise LogError(error.reason) from error

    def _keys(self, name: str) -> tuple[str, str]:
        """Return the keys of the hash and the stream, which a cluster keeps together."""
        tag = f"{self._namespace}:{{{quote(name, safe='', errors='surrogatepass')}}}"
        return f"{tag}:state", f"{tag}:log"

    async def _run(self, script: str, name: str, *arguments: Any) -> Any:
        with self._refusals(script):
            return await self._scripts[script](keys=self._keys(name), args=arguments)
