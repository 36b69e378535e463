"""A store whose disk is full, that may only be read, that is down or slow (docs/langgraph.md)."""

from __future__ import annotations

import os
import resource
import secrets
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event
from urllib.parse import urlsplit

import pytest
import redis
from langgraph.store.postgres import PostgresStore
from psycopg import Connection
from psycopg.errors import ReadOnlySqlTransaction

from accp_adapters.bindings.logs import Fenced, FrameLog
from accp_adapters.bindings.logs.nats import NatsFrameLog
from accp_adapters.bindings.logs.redis import RedisFrameLog
from accp_adapters.bindings.logs.sqlite import SqliteFrameLog
from accp_adapters.langgraph.references.stores import StoreColdStore
from accp_adapters.stores import RedisColdStore, SqliteColdStore
from accp_core.errors import ProtocolError
from tests import servers
from tests.limits import LONG, PATIENCE, wait_until

MEGABYTE = secrets.token_hex(500_000)


@contextmanager
def full_disk(path: Path) -> Iterator[None]:
    """Let no file of this process grow beyond the size of `path`, as on a disk that is full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 4096, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_on_a_full_disk_a_text_is_refused_and_those_before_it_stay(tmp_path: Path) -> None:
    store = SqliteColdStore(tmp_path / "cold.sqlite")
    store.put("s", "cold.1", "before")
    with full_disk(tmp_path / "cold.sqlite"):
        with pytest.raises(sqlite3.OperationalError, match="disk"):
            store.put("s", "cold.2", MEGABYTE)
        assert store.get("s", "cold.1") == "before"
        assert store.get("s", "cold.2") is None
    store.put("s", "cold.2", MEGABYTE)
    assert store.get("s", "cold.2") == MEGABYTE
    store.close()


async def test_on_a_full_disk_a_frame_is_refused_and_the_log_goes_on_when_there_is_room(tmp_path: Path) -> None:
    log = SqliteFrameLog(tmp_path / "frames.sqlite")
    fence = await log.lease("s", "ann", 1e6)
    assert fence
    assert await log.append(fence, 1, "before")
    with full_disk(tmp_path / "frames.sqlite"):
        for _ in range(2):
            with pytest.raises(ProtocolError, match=r"E3001: .*disk"):
                await log.append(fence, 2, MEGABYTE)
    assert await log.append(fence, 2, MEGABYTE)
    assert [number async for number, _ in log.read("s", 0)] == [1, 2]
    await log.aclose()


def test_a_store_that_may_only_be_read_gives_what_it_has(tmp_path: Path) -> None:
    store = SqliteColdStore(tmp_path / "cold.sqlite")
    store.put("s", "cold.1", "before")
    store._connection.execute("PRAGMA query_only=1")
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        store.put("s", "cold.2", "text")
    assert store.get("s", "cold.1") == "before"
    store.close()


def test_a_server_that_was_down_is_reached_again(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    port = servers.free_port()
    monkeypatch.setattr(servers, "free_port", lambda: port)
    store = RedisColdStore(f"redis://127.0.0.1:{port}/0")
    for _ in range(2):
        with servers.redis_server():
            store.put("s", "cold.1", "text")
            assert store.get("s", "cold.1") == "text"
        with pytest.raises(ProtocolError, match=r"E3001: expected 'redis://.*' to put"):
            store.put("s", "cold.1", "text")
    store.close()


def test_a_server_that_is_too_slow_is_given_up(redis_url: str) -> None:
    store = RedisColdStore(redis_url, socket_timeout=0.1)
    with redis.Redis.from_url(redis_url, socket_timeout=PATIENCE) as client:
        client.execute_command("CLIENT PAUSE 1000 ALL")
        with pytest.raises(ProtocolError, match=r"E3001: .*[Tt]ime"):
            store.get("s", "cold.1")
        client.ping()  # answered when the pause is over
    store.close()
    store = RedisColdStore(redis_url)
    store.put("slow", "cold.1", "text")
    assert store.purge("slow") == 1
    store.close()


def test_a_server_may_be_down_for_a_minute(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    port = servers.free_port()
    monkeypatch.setattr(servers, "free_port", lambda: port)
    store = RedisColdStore(f"redis://127.0.0.1:{port}/0")
    with servers.redis_server():
        store.put("s", "cold.1", "text")
    for _ in range(60 if LONG else 2):
        with pytest.raises(ProtocolError, match="E3001"):
            store.put("s", "cold.1", "text")
        Event().wait(1 if LONG else 0.1)
    with servers.redis_server():
        store.put("s", "cold.1", "text")
        assert store.get("s", "cold.1") == "text"
    store.close()


@contextmanager
def copying(address: str) -> Iterator[None]:
    """Let a Redis server be the copy of one that is away: it gives what it has and takes nothing."""
    with redis.Redis.from_url(address, socket_timeout=PATIENCE) as client:
        client.execute_command("REPLICAOF 127.0.0.1 1")
        try:
            yield
        finally:
            client.execute_command("REPLICAOF NO ONE")


def test_a_redis_server_that_may_only_be_read_gives_what_it_has(redis_url: str) -> None:
    store = RedisColdStore(redis_url)
    store.put("read", "cold.1", "before")
    with copying(redis_url):
        with pytest.raises(ProtocolError, match=r"E9999: .*read only"):
            store.put("read", "cold.2", "text")
        assert store.get("read", "cold.1") == "before"
    assert store.purge("read") == 1
    store.close()


def test_a_postgresql_server_that_may_only_be_read_keeps_what_it_has(postgres_url: str) -> None:
    with PostgresStore.from_conn_string(postgres_url) as base:
        base.setup()
        assert isinstance(base.conn, Connection)
        store = StoreColdStore(base)
        store.put("read", "cold.1", "before")
        base.conn.execute("SET default_transaction_read_only = on")
        with pytest.raises(ReadOnlySqlTransaction):
            store.put("read", "cold.2", "text")
        with pytest.raises(ReadOnlySqlTransaction):  # LangGraph's store notes when a text was read last
            store.get("read", "cold.1")
        base.conn.execute("SET default_transaction_read_only = off")
        assert store.get("read", "cold.1") == "before"
        assert store.get("read", "cold.2") is None


async def test_a_frame_log_in_a_file_that_may_only_be_read_gives_what_it_has(tmp_path: Path) -> None:
    log = SqliteFrameLog(tmp_path / "frames.sqlite")
    fence = await log.lease("s", "ann", 1e6)
    assert fence
    assert await log.append(fence, 1, "before")
    assert log._connection
    log._connection.execute("PRAGMA query_only=1")
    with pytest.raises(ProtocolError, match=r"E3001: .*readonly"):
        await log.append(fence, 2, "text")
    assert [text async for _, text in log.read("s", 0)] == ["before"]
    log._connection.execute("PRAGMA query_only=0")
    assert await log.append(fence, 2, "text")
    await log.aclose()


async def test_a_frame_log_in_redis_that_may_only_be_read_gives_what_it_has(redis_url: str) -> None:
    log = RedisFrameLog(redis_url)
    fence = await log.lease("s/read", "ann", PATIENCE)
    assert fence
    assert await log.append(fence, 1, "before")
    with copying(redis_url):
        with pytest.raises(ProtocolError, match=r"E3001: .*read only"):
            await log.append(fence, 2, "text")
        assert [text async for _, text in log.read("s/read", 0)] == ["before"]
    assert await log.append(fence, 2, "text")
    await log.delete("s/read")
    await log.aclose()


def threads_of(process: int) -> list[Path]:
    return list(Path(f"/proc/{process}/task").glob("*/status"))


@contextmanager
def stopped(address: str) -> Iterator[None]:
    """Stop the server at an address, as a machine that hangs: it answers nothing, and loses nothing."""
    port = str(urlsplit(address).port).encode()
    commands = {path.parent.name: path.read_bytes().split(b"\0") for path in Path("/proc").glob("[0-9]*/cmdline")}
    servers = [int(name) for name, words in commands.items() if b"-server" in words[0] and port in b" ".join(words)]
    assert len(servers) == 1
    os.kill(servers[0], signal.SIGSTOP)
    try:
        wait_until(lambda: all(b"State:\tT" in status.read_bytes() for status in threads_of(servers[0])))
        yield
    finally:
        os.kill(servers[0], signal.SIGCONT)


async def test_redis_frames_are_refused_while_it_hangs_and_the_log_goes_on_with_what_it_has(redis_url: str) -> None:
    log, hasty = RedisFrameLog(redis_url), RedisFrameLog(redis_url, socket_timeout=0.2)
    await check_log_that_hangs(redis_url, log, hasty)
    await hasty.aclose()


@pytest.mark.slow
async def test_nats_frames_are_refused_while_it_hangs_and_the_log_goes_on_with_what_it_has(nats_url: str) -> None:
    log = NatsFrameLog(nats_url)
    await check_log_that_hangs(nats_url, log, log)


async def check_log_that_hangs(address: str, log: RedisFrameLog | NatsFrameLog, hasty: FrameLog) -> None:
    fence = await log.lease("s/hangs", "ann", PATIENCE)
    assert fence
    assert await log.append(fence, 1, "before")
    with stopped(address), pytest.raises(ProtocolError, match="E3001"):
        await hasty.append(fence, 2, "perhaps")
    with suppress(Fenced):  # it was taken when the server went on
        await log.append(fence, 2, "perhaps")
    assert [text async for _, text in log.read("s/hangs", 0)] == ["before", "perhaps"]
    await log.delete("s/hangs")
    await log.aclose()
