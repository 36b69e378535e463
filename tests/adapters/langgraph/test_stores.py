"""The cold tier over LangGraph stores."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from langgraph.store.sqlite import SqliteStore

from accp_adapters.langgraph import Policy, StoreColdStore
from accp_adapters.langgraph.references import stores
from accp_adapters.langgraph.references.retention import STORED_KEY, stored_index, stored_keys
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


@pytest.mark.parametrize("text", ["", "rows", "ünï\0\x1b", "half of a pair: \ud800"])
async def test_a_text_comes_back_as_it_was(base: BaseStore, text: str) -> None:
    store = StoreColdStore(base)
    store.put("s", "cold.1", text)
    await store.aput("s", "cold.2", text)
    assert store.get("s", "cold.2") == await store.aget("s", "cold.1") == text
    assert store.get("s", "cold.3") is None


@pytest.mark.parametrize("session", ["user@example.com", "a.b", "a%2Eb", "", "%", "ünï\0", "50%_", "x" * 300])
def test_any_thread_id_is_a_session_of_its_own(base: BaseStore, session: str) -> None:
    store = StoreColdStore(base)
    store.put(session, "cold.1", "mine")
    store.put("another", "cold.1", "theirs")
    assert store.get(session, "cold.1") == "mine"
    assert store.purge(session) == 1
    assert store.get("another", "cold.1") == "theirs"


def test_purge_forgets_every_page_of_one_session_and_none_of_a_longer_name(base: BaseStore) -> None:
    store = StoreColdStore(base)
    for number in range(150):
        store.put("1", f"cold.{number}", "text")
        store.put("10", f"cold.{number}", "text")
    assert store.purge("1") == 150
    assert store.purge("1") == 0
    assert store.purge("10") == 150


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
        await store.aput("s", "cold.1", "rows") if asynchronous else store.put("s", "cold.1", "rows")


def test_a_store_that_gives_back_something_else_is_found_out(base: BaseStore) -> None:
    class Garbling(StoreColdStore):
        def get(self, session_id: str, key: str) -> str | None:
            return "other rows"

    with pytest.raises(ProtocolError, match=r"^E2001: .*, found another text"):
        Garbling(base).put("s", "cold.1", "rows")


def test_time_to_live_needs_a_store_that_forgets(base: BaseStore) -> None:
    if base.supports_ttl:
        store = StoreColdStore(base, ttl=5)
        store.put("s", "cold.1", "rows")
        assert store.get("s", "cold.1") == "rows"
    else:
        with pytest.raises(ValueError, match=r"expected ttl None for a InMemoryStore.* found 5"):
            StoreColdStore(base, ttl=5)


def test_the_store_given_comes_before_the_graphs_own(base: BaseStore) -> None:
    own = SqliteColdStore()
    assert stores.choose(Policy(), own, base) is own
    assert stores.choose(Policy(), None, None) is None
    for session, chosen in (("s", stores.choose(Policy(), None, base)), ("t", stores.choose(Policy(), base, None))):
        assert chosen
        stores.put(chosen, session, [ITEM])
    assert base.list_namespaces() == [("accp", "s"), ("accp", "t")]


@pytest.mark.parametrize("kind", ["cold", "base"])
async def test_both_kinds_of_store_are_reached_without_blocking(kind: str) -> None:
    given: Any = SqliteColdStore() if kind == "cold" else InMemoryStore()
    store = stores.choose(Policy(), given, None)
    assert store
    await stores.aput(store, "s", [ITEM])
    assert await stores.aget(store, "s", "cold.1") == "rows"
    assert await stores.aget(store, "s", "cold.2") is None


@pytest.mark.parametrize("index", [None, [], {"m": None, "n": [1], "o": "cold.1"}])
def test_an_index_of_another_shape_is_none(index: Any) -> None:
    assert stored_index({STORED_KEY: index}) == {}
    assert stored_keys({STORED_KEY: index, "messages": []}) == frozenset()
