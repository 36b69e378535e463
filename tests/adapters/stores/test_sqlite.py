"""The embedded cold store."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
import tracemalloc
from contextlib import closing
from pathlib import Path

import pytest

from accp_adapters.stores import SqliteColdStore, embedded_store
from accp_adapters.stores.texts import MAX_PACKED
from accp_core.errors import ProtocolError


def test_putting_a_text_again_repairs_a_damaged_row(tmp_path: Path) -> None:
    for damage in (b"", b"\x00", b"x\x9c"):
        with closing(SqliteColdStore(tmp_path / "cold.sqlite")) as store:
            store.put("s", "cold.1", "text")
            store._execute("UPDATE cold SET text = ?", damage)
            store.put("s", "cold.1", "text")
            assert store.get("s", "cold.1") == "text"


def test_a_file_is_for_its_owner_only_and_outlives_the_store(tmp_path: Path) -> None:
    path = tmp_path / "cold.sqlite"
    first = SqliteColdStore(path)
    first.put("s", "cold.1", "text")
    modes = {stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()}
    second = SqliteColdStore(str(path))
    assert second.get("s", "cold.1") == "text"
    assert modes == {0o600}
    first.close()
    second.close()


FORKED = """
import os, sys
from accp_adapters.stores import SqliteColdStore

store = SqliteColdStore(sys.argv[1])
store.put("s", "parent", "before")
children = []
for number in range(6):
    child = os.fork()
    if not child:
        for turn in range(20):
            store.put("s", f"{number}.{turn}", "text" * 500)
        sys.exit(0 if store.get("s", "parent") == "before" else 1)
    children.append(child)
store.put("s", "meanwhile", "text")
print([os.waitpid(child, 0)[1] for child in children], store.purge("s"))
"""


def test_workers_that_are_forked_share_a_file(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-c", FORKED, str(tmp_path / "cold.sqlite")], capture_output=True, text=True, check=False
    )
    assert (run.stdout.strip(), run.stderr) == (f"{[0] * 6} {1 + 6 * 20 + 1}", "")


def test_looking_into_a_file_does_not_change_it(tmp_path: Path) -> None:
    path = tmp_path / "cold.sqlite"
    SqliteColdStore(path).close()
    os.utime(path, (1, 1))
    store = SqliteColdStore(path)
    assert store.get("s", "k") is None
    store.close()
    assert path.stat().st_mtime == 1


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("these are notes, " * 100, encoding="utf-8")
    with pytest.raises(sqlite3.DatabaseError, match="not a database"):
        SqliteColdStore(path)


def test_closing_twice_is_allowed_and_a_closed_store_refuses() -> None:
    store = SqliteColdStore()
    store.close()
    store.close()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        store.get("s", "cold.1")


def test_a_process_has_one_embedded_store() -> None:
    assert embedded_store() is embedded_store()


@pytest.mark.parametrize("value", ["words", 5, bytes(MAX_PACKED)], ids=["words", "5", "too many bytes"])
def test_a_row_that_holds_something_else_than_bytes_is_refused(tmp_path: Path, value: object) -> None:
    store = SqliteColdStore(tmp_path / "cold.sqlite")
    store.put("s", "cold.1", "rows")
    with sqlite3.connect(tmp_path / "cold.sqlite") as other:
        other.execute("UPDATE cold SET text = ?", (value,))
    other.close()
    tracemalloc.start()
    with pytest.raises(ProtocolError, match="expected a stored text, found other") as refusal:
        store.get("s", "cold.1")
    assert (refusal.value.code, tracemalloc.get_traced_memory()[1] < 1_000_000) == ("E2001", True)
    tracemalloc.stop()
    store.close()
