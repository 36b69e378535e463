"""Sessions by compare-and-set, in every store."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from accp_adapters.stores import RedisColdStore, SessionStore, SqliteColdStore


@pytest.fixture(params=["memory", "file", "redis"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SessionStore]:
    if request.param == "redis":
        opened = RedisColdStore(str(request.getfixturevalue("redis_url")), namespace=secrets.token_hex(4))
    else:
        opened = SqliteColdStore(":memory:" if request.param == "memory" else tmp_path / "store.sqlite")
    yield opened
    opened.close()


def test_a_version_follows_the_one_before_and_no_other(store: SessionStore) -> None:
    assert store.load_session("s") is None
    assert not store.save_session("s", 2, "late")
    assert store.save_session("s", 1, "one")
    assert not store.save_session("s", 1, "another one")
    assert store.save_session("s", 2, "zwei \ud800" * 1_000)
    assert store.load_session("s") == (2, "zwei \ud800" * 1_000)
    assert not store.save_session("s", 4, "four")
    assert store.load_session("t") is None


def test_of_many_that_save_one_version_one_saves_it(store: SessionStore) -> None:
    with ThreadPoolExecutor(8) as pool:
        saved = list(pool.map(lambda number: store.save_session("s", 1, f"{number}"), range(8)))
    assert sum(saved) == 1
    assert store.load_session("s") == (1, f"{saved.index(True)}")


def test_a_session_is_deleted_unless_somebody_has_gone_on_with_it(store: SessionStore) -> None:
    for version in (1, 2):
        store.save_session("s", version, "data")
    store.put("s", "cold.1", "text")
    store.delete_session("s", 1)
    assert (store.load_session("s"), store.get("s", "cold.1")) == ((2, "data"), "text")
    store.delete_session("s", 2)
    assert store.load_session("s") is store.get("s", "cold.1") is None
    assert store.save_session("s", 1, "anew")


def test_texts_and_sessions_of_one_name_are_two_things(store: SessionStore) -> None:
    store.put("s", "cold.1", "text")
    store.save_session("s", 1, "data")
    assert store.purge("s") == 1
    assert store.load_session("s") == (1, "data")


def test_old_sessions_are_removed_when_new_ones_come(tmp_path: Path) -> None:
    store = SqliteColdStore(tmp_path / "store.sqlite", session_ttl=-1.0)
    for number in range(3):
        store.save_session(f"s{number}", 1, "data")
        store.put(f"s{number}", "cold.1", "text")
    assert [store.get(f"s{number}", "cold.1") for number in range(3)] == [None, None, "text"]
    assert [store.load_session(f"s{number}") for number in range(3)] == [None, None, (1, "data")]
    store.close()
