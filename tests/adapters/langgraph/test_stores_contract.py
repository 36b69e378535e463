"""One contract for every cold tier, on real servers, reached synchronously and asynchronously."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore
from langgraph.store.postgres import AsyncPostgresStore, PostgresStore
from langgraph.store.sqlite import AsyncSqliteStore, SqliteStore

from accp_adapters.langgraph import AccpMiddleware, StoreColdStore, stores
from accp_adapters.stores import RedisColdStore, SqliteColdStore
from accp_core.ports import ColdStore
from accp_core.references import StoredText, key_of, short_key
from tests.adapters.langgraph.jobs import LOOK_UP, ROWS, agent, fetch_last, results, thread

T = TypeVar("T")
TEXTS = {
    "empty": "",
    "rows": "id name\n1 Åsa",
    "control": "".join(map(chr, range(32))) + "\x7f\x85\u2028",
    "NUL": "a\0b\\u0000c\\\\u0000",
    "a lone surrogate": "half of a pair: \ud83d, and the other: \udc4d",
    "beyond the first plane": "👍🏽 𐀀",
    "JSON": '{"text": "\\"quoted\\"", "n": 1e400}',
    "SQL and patterns": "'; DROP TABLE store; -- %s {} * ? _ %",
    "megabytes": "the same row, Ünïcödé 漢字\0\n" * 100_000,
}
SESSIONS = {
    "email": "user@example.com",
    "dots": "a.b",
    "an escaped dot": "a%2Eb",
    "only a dot": ".",
    "empty": "",
    "percent": "%",
    "wildcards": "50%_*?",
    "case": "User@Example.com",
    "unicode and NUL": "ünï\0 漢字 \ud83d",
    "a path": "../a/b:c\\d",
    "long": "x" * 3_000,
    "long unicode": "漢" * 900,
    "a prefix": "user@example.co",
    "stop word": "the",
    "dashes": str(uuid.UUID(int=7)),
}


@dataclass(frozen=True)
class Tier:
    """A cold store, reached in one of two ways."""

    store: ColdStore
    asynchronous: bool

    async def put(self, session_id: str, key: str, text: str) -> None:
        await self._call(stores.put, self.store, session_id, [StoredText(key=key, text=text)])

    async def get(self, session_id: str, key: str) -> str | None:
        return await self._call(self.store.get, session_id, key)

    async def delete(self, session_id: str, key: str) -> None:
        await self._call(self.store.delete, session_id, key)

    async def find(self, session_id: str, beginning: str) -> list[str]:
        return await self._call(self.store.find, session_id, beginning)

    async def purge(self, session_id: str) -> int:
        return await self._call(self.store.purge, session_id)

    async def _call(self, work: Callable[..., T], *arguments: Any) -> T:
        return await stores.in_thread(work, *arguments) if self.asynchronous else work(*arguments)


Open = Callable[[pytest.FixtureRequest, AsyncExitStack, str], Awaitable[ColdStore]]


async def sqlite_in_memory(request: pytest.FixtureRequest, stack: AsyncExitStack, namespace: str) -> ColdStore:
    store = SqliteColdStore()
    stack.callback(store.close)
    return store


async def sqlite_file(request: pytest.FixtureRequest, stack: AsyncExitStack, namespace: str) -> ColdStore:
    path: Path = request.getfixturevalue("tmp_path")
    store = SqliteColdStore(path / "cold.sqlite")
    stack.callback(store.close)
    return store


async def plain_redis(request: pytest.FixtureRequest, stack: AsyncExitStack, namespace: str) -> ColdStore:
    store = RedisColdStore(request.getfixturevalue("redis_url"), namespace=namespace)
    stack.callback(store.close)
    return store


async def in_memory_store(request: pytest.FixtureRequest, stack: AsyncExitStack, namespace: str) -> ColdStore:
    return StoreColdStore(InMemoryStore(), namespace=namespace)


async def sqlite_store(request: pytest.FixtureRequest, stack: AsyncExitStack, namespace: str) -> ColdStore:
    path: Path = request.getfixturevalue("tmp_path")
    store = stack.enter_context(SqliteStore.from_conn_string(str(path / "store.sqlite")))
    store.setup()
    return StoreColdStore(store, namespace=namespace)


async def async_sqlite_store(request: pytest.FixtureRequest, stack: AsyncExitStack, namespace: str) -> ColdStore:
    path: Path = request.getfixturevalue("tmp_path")
    store = await stack.enter_async_context(AsyncSqliteStore.from_conn_string(str(path / "store.sqlite")))
    await store.setup()
    return StoreColdStore(store, namespace=namespace)


def postgres_store(**options: Any) -> Open:
    async def open_store(request: pytest.FixtureRequest, stack: AsyncExitStack, namespace: str) -> ColdStore:
        url = request.getfixturevalue("postgres_url")
        store = stack.enter_context(PostgresStore.from_conn_string(url, **options))
        store.setup()
        return StoreColdStore(store, namespace=namespace)

    return open_store


async def async_postgres_store(request: pytest.FixtureRequest, stack: AsyncExitStack, namespace: str) -> ColdStore:
    url = request.getfixturevalue("postgres_url")
    store = await stack.enter_async_context(AsyncPostgresStore.from_conn_string(url))
    await store.setup()
    return StoreColdStore(store, namespace=namespace)


async def redis_store(request: pytest.FixtureRequest, stack: AsyncExitStack, namespace: str) -> ColdStore:
    module = pytest.importorskip("langgraph.store.redis", reason="pip install langgraph-checkpoint-redis")
    store = stack.enter_context(module.RedisStore.from_conn_string(request.getfixturevalue("search_redis_url")))
    store.setup()
    store.put(("a", "b"), "key", {"text": "rows"})
    if store.get(("a", "b"), "key") is None:
        pytest.skip("LangGraph's RedisStore does not find what it put with this server's search module")
    return StoreColdStore(store, namespace=namespace)


BOTH: dict[str, Open] = {
    "SqliteColdStore in memory": sqlite_in_memory,
    "SqliteColdStore in a file": sqlite_file,
    "RedisColdStore": plain_redis,
    "InMemoryStore": in_memory_store,
    "SqliteStore": sqlite_store,
    "PostgresStore": postgres_store(),
    "PostgresStore, pool": postgres_store(pool_config={"min_size": 1, "max_size": 3}),
    "RedisStore": redis_store,
}
ONLY_ASYNCHRONOUS: dict[str, Open] = {
    "AsyncSqliteStore": async_sqlite_store,
    "AsyncPostgresStore": async_postgres_store,
}
# Asynchronously a store is reached in a thread: those that have both ways need not show it each.
WAYS = [
    *(pytest.param((way, False), id=f"{name}, sync") for name, way in BOTH.items()),
    pytest.param((sqlite_file, True), id="SqliteColdStore in a file, async"),
    *(pytest.param((way, True), id=f"{name}, async") for name, way in ONLY_ASYNCHRONOUS.items()),
]


@pytest.fixture(params=WAYS)
async def tier(request: pytest.FixtureRequest) -> AsyncIterator[Tier]:
    way, asynchronous = request.param
    async with AsyncExitStack() as stack:
        # A namespace of its own: the servers are those of all tests.
        yield Tier(await way(request, stack, f"test.{uuid.uuid4().hex}"), asynchronous)


async def test_a_text_comes_back_as_it_was(tier: Tier) -> None:
    for name, text in TEXTS.items():
        await tier.put("s", f"cold.{name}", text)
    assert {name: await tier.get("s", f"cold.{name}") for name in TEXTS} == TEXTS


async def test_any_thread_id_is_a_session_of_its_own(tier: Tier) -> None:
    for name, session in SESSIONS.items():
        await tier.put(session, "cold.1", name)
    assert {name: await tier.get(session, "cold.1") for name, session in SESSIONS.items()} == {n: n for n in SESSIONS}
    for name, session in SESSIONS.items():
        assert (name, await tier.purge(session)) == (name, 1)
        assert await tier.get(session, "cold.1") is None


async def test_what_nobody_put_is_none_and_purging_it_counts_nothing(tier: Tier) -> None:
    await tier.put("s", "cold.1", "rows")
    assert await tier.get("s", "cold.2") is None
    assert await tier.get("t", "cold.1") is None
    assert await tier.purge("t") == 0


async def test_putting_a_key_again_changes_nothing(tier: Tier) -> None:
    for _ in range(3):
        await tier.put("s", "cold.1", "rows")
    assert await tier.get("s", "cold.1") == "rows"
    assert await tier.purge("s") == 1


async def test_a_deleted_text_is_gone_and_the_others_stay(tier: Tier) -> None:
    for key in ("cold.1", "cold.2"):
        await tier.put("s", key, key)
    for _ in range(2):
        await tier.delete("s", "cold.1")
    assert [await tier.get("s", key) for key in ("cold.1", "cold.2")] == [None, "cold.2"]


async def test_whole_keys_are_found_by_what_a_model_reads_of_them(tier: Tier) -> None:
    key, forged, other = key_of("rows"), f"{key_of('rows')[:17]}{'0' * 17}", key_of("other")
    for each in (key, forged, other):
        await tier.put("s", each, each)
    await tier.put("t", key, key)
    assert sorted(await tier.find("s", short_key(key))) == [forged, key]
    assert await tier.find("s", short_key(other)) == [other]
    assert await tier.find("t", short_key(key)) == [key]
    assert await tier.find("t", short_key(other)) == await tier.find("u", short_key(key)) == []


async def test_purge_forgets_every_page_of_one_session_and_none_of_a_longer_name(tier: Tier) -> None:
    for number in range(45):
        await tier.put("1", f"cold.{number}", "text")
        await tier.put("10", f"cold.1{number}", "text")
    assert await tier.purge("1") == 45
    assert await tier.purge("1") == 0
    assert await tier.get("10", "cold.144") == "text"
    assert await tier.purge("10") == 45


async def test_many_may_put_and_get_at_once(tier: Tier) -> None:
    async def work(number: int) -> str | None:
        await tier.put("s", f"cold.{number % 5}", f"text {number % 5}")
        return await tier.get("s", f"cold.{number % 5}")

    assert await asyncio.gather(*map(work, range(40))) == [f"text {number % 5}" for number in range(40)]
    assert await tier.purge("s") == 5


async def test_a_graph_keeps_there_what_it_cites_and_opens_it(tier: Tier) -> None:
    middleware = AccpMiddleware(store=tier.store)
    graph, _ = agent([LOOK_UP, fetch_last, "done"], middleware=middleware, checkpointer=InMemorySaver())
    config, asked = thread("user@example.com"), {"messages": "go"}
    state = await graph.ainvoke(asked, config) if tier.asynchronous else graph.invoke(asked, config)
    whole, fetched = results(state)
    assert ROWS[0]["email"] in fetched.text
    held = (await graph.aget_state(config)).values
    assert await tier.get(held["accp_session"], key_of(whole.text)) == whole.text
    assert await tier.purge(held["accp_session"]) == 1
