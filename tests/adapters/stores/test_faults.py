"""A store whose disk is full, that may only be read, that is down or slow (docs/langgraph.md)."""

from __future__ import annotations

import resource
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event

import pytest
import redis
from langgraph.store.postgres import PostgresStore
from psycopg import Connection
from psycopg.errors import ReadOnlySqlTransaction

from accp_adapters.langgraph.stores import StoreColdStore
from accp_adapters.stores import RedisColdStore, SqliteColdStore
from accp_core.errors import ProtocolError
from tests import servers
from tests.limits import LONG, PATIENCE

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


def test_a_store_that_may_only_be_read_gives_what_it_has(tmp_path: Path) -> None:
    store = SqliteColdStore(tmp_path / "cold.sqlite")
    store.put("s", "cold.1", "before")
    store._connection.execute("PRAGMA query_only=1")
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        store.put("s", "cold.2", "text")
    assert store.get("s", "cold.1") == "before"
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


def test_a_server_that_was_down_is_reached_again(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    port = servers.free_port()
    monkeypatch.setattr(servers, "free_port", lambda: port)
    store = RedisColdStore(f"redis://127.0.0.1:{port}/0")
    with servers.redis_server():
        store.put("s", "cold.1", "text")
    for _ in range(60 if LONG else 2):
        with pytest.raises(ProtocolError, match=r"E3001: expected 'redis://.*' to put"):
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
