"""A SQLite file of LangGraph's `SqliteSaver`: the last checkpoint of each thread, read without writing a byte.

Source: `langgraph.checkpoint.sqlite` (the table `checkpoints`).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any, Final

from accp_adapters.replay.errors import UnreadableRun
from accp_adapters.replay.formats.checkpoints.plain_values import read_value
from accp_adapters.replay.formats.checkpoints.threads import StoredCheckpoint
from accp_adapters.replay.formats.checkpoints.unchanged import open_unchanged

__all__ = ["read_sqlite"]

_LAST: Final = """
    SELECT thread_id, checkpoint_ns, type, checkpoint, length(checkpoint) FROM checkpoints AS one
    WHERE checkpoint_id = (
        SELECT max(checkpoint_id) FROM checkpoints AS other
        WHERE other.thread_id = one.thread_id AND other.checkpoint_ns = one.checkpoint_ns)
    AND length(checkpoint) <= ?
    ORDER BY thread_id, checkpoint_ns
"""


def read_sqlite(path: str, limit: int, *, patience: float = 5.0) -> Iterator[StoredCheckpoint]:
    """Yield the last checkpoint of each thread and namespace.

    Args:
        path: The file.
        limit: Bytes that one checkpoint may take.
        patience: Seconds to wait for a writer that has locked the file.

    Raises:
        UnreadableRun: the file holds no checkpoints, a larger one, or one that is not read.
    """
    try:
        with open_unchanged(path, patience=patience) as database:
            _check(database, path, limit)
            for thread, namespace, kind, content, _ in database.execute(_LAST, (limit,)):
                values, written = _values(kind, content)
                yield StoredCheckpoint(thread=thread, namespace=namespace, values=values, written=written)
    except (sqlite3.Error, ValueError) as error:
        if isinstance(error, UnreadableRun):
            raise
        raise UnreadableRun(f"expected checkpoints of LangGraph: {error}", path=path) from error


def _check(database: sqlite3.Connection, path: str, limit: int) -> None:
    # A view or a virtual table of this name could compute for ever.
    kinds = database.execute("SELECT type, sql FROM sqlite_master WHERE name = 'checkpoints'").fetchall()
    if [kind for kind, sql in kinds if kind == "table" and "VIRTUAL" not in sql.upper()] != ["table"]:
        raise UnreadableRun("expected the table 'checkpoints' of LangGraph's SqliteSaver, found none", path=path)
    (largest,) = database.execute("SELECT max(length(checkpoint)) FROM checkpoints").fetchone()
    if largest is not None and largest > limit:
        raise UnreadableRun(f"expected checkpoints of at most {limit:,} bytes, found one of {largest:,}", path=path)


def _values(kind: str, content: bytes) -> tuple[dict[str, Any], str]:
    """Return the channels of a checkpoint, and when it was written."""
    value = read_value(kind, content)
    values = value.get("channel_values") if isinstance(value, dict) else None
    if isinstance(value, dict) and isinstance(values, dict):
        return values, str(value.get("ts") or "")
    raise ValueError("found one without 'channel_values'")
