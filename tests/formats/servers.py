"""The frame logs that servers keep, as files: what is in Redis, and what is in NATS."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Final

import nats
import redis
from nats.js import JetStreamContext
from nats.js.errors import NotFoundError

from accp_adapters.bindings.hosts import HostLimits, Request, SessionHost
from accp_adapters.bindings.logs.nats import NatsFrameLog
from accp_adapters.bindings.logs.redis import RedisFrameLog
from tests.adapters.bindings.hosts.agents import ANN, CODEC, Client

__all__ = ["check_nats_frames", "check_redis_frames", "converse", "write_nats_frames", "write_redis_frames"]

NAMESPACE: Final = "formats"


async def converse(log: Any, known: int) -> None:
    """Ask three times; or go on with a log of so many answers: a repeated frame has its answer, a new one, too."""
    handled: list[str] = []

    async def handle(request: Request) -> dict[str, Any]:
        handled.append(str(request.idempotency_key))
        return {"n": request.message.payload["n"]}

    client, limits = Client(), HostLimits(snapshot_every=2)
    async with SessionHost(handle, codec=CODEC, log=log, limits=limits, clock=lambda: 1_000) as host:
        for number in range(3 if not known else 4):
            frame = client.ask("add", n=number)
            (answer,) = client.messages(await host.frames(ANN, frame))
            assert answer.payload["n"] == number
    await log.aclose()
    assert len(handled) == (3 if not known else 1)


def write_redis_frames(path: Path, url: str) -> None:
    """Write the hash and the stream of a session."""
    asyncio.run(converse(RedisFrameLog(url, namespace=NAMESPACE), 0))
    with redis.Redis.from_url(url) as client:
        found = {}
        for name in client.scan_iter(f"{NAMESPACE}:*"):
            entries: Any = client.hgetall(name) if client.type(name) == b"hash" else client.xrange(name)
            found[name.decode()] = as_text(entries)
            client.unlink(name)
    path.write_text(json.dumps(found, indent=1), encoding="utf-8")


def check_redis_frames(path: Path, url: str) -> None:
    """Put them into a server, and go on with the session."""
    with redis.Redis.from_url(url) as client:
        for name, entries in json.loads(path.read_text(encoding="utf-8")).items():
            if isinstance(entries, dict):
                client.hset(name, mapping=as_bytes(entries))
            for number, fields in entries if isinstance(entries, list) else ():
                client.xadd(name, as_bytes(fields), id=base64.b64decode(number))
        asyncio.run(converse(RedisFrameLog(url, namespace=NAMESPACE), 3))
        client.unlink(*client.scan_iter(f"{NAMESPACE}:*"))


def as_text(value: Any) -> Any:
    """Return what Redis gives, its values as base64."""
    if isinstance(value, dict):
        return {name.decode(): as_text(each) for name, each in value.items()}
    return base64.b64encode(value).decode() if isinstance(value, bytes) else [as_text(each) for each in value]


def as_bytes(fields: dict[str, str]) -> dict[str, bytes]:
    """Return the fields of a hash or an entry of a stream."""
    return {name: base64.b64decode(value) for name, value in fields.items()}


@asynccontextmanager
async def jetstream(url: str) -> AsyncIterator[JetStreamContext]:
    """Yield a server, from which stream and bucket are removed at the end."""
    client = await nats.connect(url)
    try:
        yield client.jetstream()
        await client.jetstream().delete_key_value(NAMESPACE)
        await client.jetstream().delete_stream(NAMESPACE)
    finally:
        await client.close()


def write_nats_frames(path: Path, url: str) -> None:
    """Write the messages of the stream and the entries of the bucket."""
    asyncio.run(_write_nats(path, url))


async def _write_nats(path: Path, url: str) -> None:
    await converse(NatsFrameLog(url, namespace=NAMESPACE), 0)
    async with jetstream(url) as server:
        state, bucket = (await server.stream_info(NAMESPACE)).state, await server.key_value(NAMESPACE)
        messages = []
        for number in range(state.first_seq, state.last_seq + 1):
            with suppress(NotFoundError):  # another session's, or one before the snapshot
                messages.append(await server.get_msg(NAMESPACE, number))
        found = {
            "stream": [[each.seq, each.subject, each.headers, each.data.decode()] for each in messages],
            "bucket": {key: as_text((await bucket.get(key)).value) for key in await bucket.keys()},
        }
    path.write_text(json.dumps(found, indent=1), encoding="utf-8")


def check_nats_frames(path: Path, url: str) -> None:
    """Put them into a server, with the numbers that they had, and go on with the session."""
    asyncio.run(_check_nats(path, url))


async def _check_nats(path: Path, url: str) -> None:
    stored, log = json.loads(path.read_text(encoding="utf-8")), NatsFrameLog(url, namespace=NAMESPACE)
    async with jetstream(url) as server:
        assert await log.snapshot("no session") is None  # creates stream and bucket
        bucket = await server.key_value(NAMESPACE)
        for key, value in as_bytes(stored["bucket"]).items():
            await bucket.put(key, value)
        for number, subject, headers, data in stored["stream"]:
            while (done := await server.publish(subject, data.encode(), headers=plain(headers))).seq < number:
                await server.delete_msg(NAMESPACE, done.seq)
        await converse(log, 3)


def plain(headers: dict[str, str]) -> dict[str, str]:
    """Return the headers that a reader looks at; the others were for the server."""
    return {name: value for name, value in headers.items() if not name.startswith("Nats-")}
