"""Files of stores: nobody but their owner may read or change them, however they came to be."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from accp_adapters.stores import SqliteColdStore, SqliteInstructionRegistry


def open_store(path: Path) -> None:
    store = SqliteColdStore(path)
    store.put("s", "k", "text")
    store.close()


def open_registry(path: Path) -> None:
    SqliteInstructionRegistry(path).close()


OPENED = pytest.mark.parametrize("opened", [open_store, open_registry])
Opened = Callable[[Path], None]


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture(autouse=True)
def usual_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


@OPENED
def test_a_link_that_leads_to_nothing_yet_leads_to_a_private_file(tmp_path: Path, opened: Opened) -> None:
    link = tmp_path / "link.db"
    link.symlink_to(tmp_path / "real.db")
    opened(link)
    assert link.is_symlink() and mode_of(tmp_path / "real.db") == 0o600


@OPENED
@pytest.mark.parametrize("mode", [0o666, 0o620])
def test_a_file_that_others_may_write_becomes_private(tmp_path: Path, opened: Opened, mode: int) -> None:
    file = tmp_path / "store.db"
    file.touch()
    with sqlite3.connect(file) as left_open:
        left_open.execute("PRAGMA journal_mode=WAL")
        left_open.execute("CREATE TABLE t (x)")
        left_open.commit()
        files = [file, tmp_path / "store.db-wal", tmp_path / "store.db-shm"]
        for each in files:
            each.chmod(mode)
        opened(file)
        assert [mode_of(each) for each in files] == [0o600] * 3
    left_open.close()


@OPENED
def test_a_file_that_others_may_only_read_stays_as_it_is(tmp_path: Path, opened: Opened) -> None:
    file = tmp_path / "store.db"
    file.touch()
    file.chmod(0o640)
    opened(file)
    assert mode_of(file) == 0o640
