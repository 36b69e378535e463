"""SQLite files are read without a file coming to be beside them, and a lock is forgotten when it has ended."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from accp_adapters.inspector.live import open_source
from accp_adapters.inspector.live.sources.sqlite_log import read_only
from accp_adapters.inspector.live.watched import Watched
from accp_adapters.replay import Findings, UnreadableRun, read_runs
from accp_adapters.replay.formats.checkpoints.unchanged import open_unchanged
from tests.limits import PATIENCE


@pytest.fixture
def database(tmp_path: Path, checkpoints: Path) -> Path:
    """Return a database in WAL mode that nobody has open, alone in a folder."""
    path = tmp_path / "threads.sqlite"
    shutil.copyfile(checkpoints, path)
    with closing(sqlite3.connect(path)) as writer:
        assert writer.execute("PRAGMA journal_mode = WAL").fetchone() == ("wal",)
    return path


@pytest.fixture
def writer(database: Path) -> Iterator[sqlite3.Connection]:
    """Yield a writer whose last row is in its log only."""
    with closing(sqlite3.connect(database, isolation_level=None)) as found:
        found.execute("PRAGMA wal_autocheckpoint = 0")
        found.execute(
            "INSERT INTO checkpoints SELECT 'new', checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, "
            "checkpoint, metadata FROM checkpoints LIMIT 1"
        )
        yield found


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_database_in_wal_mode_leaves_no_file_beside_it(database: Path) -> None:
    before = files(database.parent)
    assert open_source(str(database)).read().threads
    assert list(read_runs(str(database), findings=Findings()))
    link = database.with_name("link.sqlite")
    link.symlink_to(database)
    assert open_source(str(link)).read().threads
    link.unlink()
    assert files(database.parent) == before


def test_an_empty_log_that_nobody_has_open_is_left_alone(database: Path) -> None:
    database.with_name("threads.sqlite-wal").touch()
    before = files(database.parent)
    assert list(read_runs(str(database), findings=Findings()))
    assert files(database.parent) == before


def test_what_a_writer_has_in_its_log_is_read(database: Path, writer: sqlite3.Connection) -> None:
    names = set(files(database.parent))
    assert "new" in {thread.name for thread in open_source(str(database)).read().threads}
    assert set(files(database.parent)) == names
    writer.execute("DELETE FROM checkpoints WHERE thread_id = 'new'")
    assert "new" not in {thread.name for thread in open_source(str(database)).read().threads}


def test_a_log_that_its_writer_left_is_read_from_a_copy(
    database: Path, writer: sqlite3.Connection, tmp_path_factory: pytest.TempPathFactory
) -> None:
    left = tmp_path_factory.mktemp("left") / database.name
    for suffix in ("", "-wal"):
        shutil.copyfile(f"{database}{suffix}", f"{left}{suffix}")
    before = files(left.parent)
    assert "new" in {thread.name for thread in open_source(str(left)).read().threads}
    assert files(left.parent) == before


def test_a_file_that_was_written_to_meanwhile_is_not_believed(database: Path) -> None:
    with (
        pytest.raises(sqlite3.OperationalError, match="written to while it was read"),
        open_unchanged(str(database)),
        closing(sqlite3.connect(database)) as other,
        other,
    ):
        other.execute("CREATE TABLE another (number)")


def test_nothing_can_be_written(database: Path) -> None:
    with pytest.raises(UnreadableRun, match="readonly"), read_only(str(database)) as found:
        found.execute("DELETE FROM checkpoints")


async def test_a_lock_is_forgotten_when_it_has_ended(tmp_path: Path, checkpoints: Path) -> None:
    """A look that fails soon is repeated soon, and one that succeeds clears what the last one said."""
    path = tmp_path / "threads.sqlite"
    shutil.copyfile(checkpoints, path)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("PRAGMA journal_mode = DELETE")
        watched = Watched(open_source(str(path)))
        other.execute("BEGIN EXCLUSIVE")
        await watched.look()
        assert (watched.problem, watched.version) == ("expected checkpoints of LangGraph: database is locked", 1)
        other.execute("ROLLBACK")
    async with asyncio.timeout(PATIENCE):
        while watched.problem:
            await asyncio.sleep(0.05)
            await watched.look()
    assert (watched.version, bool(watched.observed.threads)) == (2, True)
