"""The cold tier over LangGraph stores."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from langgraph.store.sqlite import SqliteStore

from accp_adapters.langgraph import StoreColdStore, stores
from accp_adapters.langgraph.grants import STORED_KEY, stored_index, stored_keys
from accp_adapters.stores import SqliteColdStore
from accp_core.errors import ProtocolError
from accp_core.references import StoredText

ITEM = StoredText(key="cold.1", text="rows")


@pytest.fixture(params=["memory", "sqlite"])
def base(request: pytest.FixtureRequest) -> Iterator[BaseStore]:
    if request.param == "memory":
        yield InMemoryStore()
        return
    with SqliteStore.from_conn_string(":memory:") as store:
        store.setup()
        yield store


def test_texts_stand_under_the_namespace_and_are_not_indexed(base: BaseStore) -> None:
    StoreColdStore(base, namespace="team.a").put("t.1", "cold.1", "rows")
    assert base.list_namespaces() == [("team%2Ea", "t%2E1")]


class Forgetful(InMemoryStore):
    """Puts, and finds nothing: LangGraph's RedisStore does that with Redis Stack 7.4."""

    def _apply_put_ops(self, put_ops: Any) -> None:
        pass


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_a_store_that_forgets_is_found_out_before_anyone_cites_it(asynchronous: bool) -> None:
    store = StoreColdStore(Forgetful())
    with pytest.raises(ProtocolError, match=r"^E2001: expected Forgetful to give back '\$cold.1' .*, found nothing"):
        await stores.in_thread(store.put, "s", "cold.1", "rows") if asynchronous else store.put("s", "cold.1", "rows")


class AsyncOnly(InMemoryStore):
    """A store without synchronous methods."""

    def batch(self, ops: Any) -> list[Any]:
        raise NotImplementedError

    async def abatch(self, ops: Any) -> list[Any]:
        return InMemoryStore.batch(self, ops)


async def test_a_store_that_is_asynchronous_only_serves_asynchronous_runs() -> None:
    store = StoreColdStore(AsyncOnly())
    await stores.in_thread(store.put, "s", "cold.1", "rows")
    assert await stores.in_thread(store.get, "s", "cold.1") == "rows"
    assert await stores.in_thread(store.purge, "s") == 1
    with pytest.raises(NotImplementedError):
        await asyncio.to_thread(store.get, "s", "cold.1")


def test_the_store_given_comes_before_the_graphs_own(base: BaseStore) -> None:
    own = SqliteColdStore()
    assert stores.choose(own, base) is own
    assert stores.choose(None, None) is None
    for session, chosen in (("s", stores.choose(None, base)), ("t", stores.choose(base, None))):
        assert chosen
        stores.put(chosen, session, [ITEM])
    assert base.list_namespaces() == [("accp", "s"), ("accp", "t")]


@pytest.mark.parametrize("index", [None, [], {"m": None, "n": [1], "o": "cold.1"}])
def test_an_index_of_another_shape_is_none(index: Any) -> None:
    assert stored_index({STORED_KEY: index}) == {}
    assert stored_keys({STORED_KEY: index, "messages": []}) == frozenset()
