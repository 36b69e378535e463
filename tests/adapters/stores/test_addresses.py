"""Stores by their address; a message never repeats one, which may hold a password."""

from __future__ import annotations

from pathlib import Path

import pytest

from accp_adapters.stores import SqliteColdStore, open_store


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
