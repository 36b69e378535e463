"""Stores by their address; a message never repeats one, which may hold a password."""

from __future__ import annotations

from pathlib import Path

import pytest

from accp_adapters.stores import SqliteColdStore, open_store
from accp_adapters.stores.redis import without_password


def test_a_file_is_an_address(tmp_path: Path) -> None:
    store = open_store(f"sqlite:{tmp_path / 'cold.sqlite'}")
    assert isinstance(store, SqliteColdStore)
    store.put("s", "cold.1", "rows")
    store.close()
    assert (tmp_path / "cold.sqlite").exists()


@pytest.mark.parametrize("address", ["sqlite:", "TOPSECRET", "redis//me:TOPSECRET@host", "mysql://me:TOPSECRET@host"])
def test_an_address_of_another_kind_is_refused_without_its_words(address: str) -> None:
    with pytest.raises(ValueError, match=r"^expected sqlite:PATH or redis://HOST, found another address$"):
        open_store(address)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("redis://localhost:6379/0", "redis://localhost:6379/0"),
        ("redis://bob:s3cret@[::1]:6379/0?db=1", "redis://[::1]:6379/0"),
        ("unix://bob:s3cret@/tmp/redis.sock?db=0", "unix:///tmp/redis.sock"),
        ("redis://:s3cret/PW@localhost:6379", "redis://…"),
        ("redis://bob:s3cret?PW@localhost:1/0", "redis://…"),
        ("redis://bob:s3cret#PW@localhost:1/0", "redis://…"),
        ("postgresql://bob:s3cr et#PW@localhost:1/db", "postgresql://…"),
        ("s3cretPW", "://…"),
    ],
)
def test_no_part_of_a_password_is_shown_wherever_it_stands(url: str, shown: str) -> None:
    assert without_password(url) == shown
