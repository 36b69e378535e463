"""A PostgreSQL database of LangGraph's `PostgresSaver`: the last checkpoint of each thread, in a read-only transaction.

Source: `langgraph.checkpoint.postgres.base` (the tables `checkpoints` and `checkpoint_blobs`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final
from urllib.parse import urlsplit

from accp_adapters.replay.errors import UnreadableRun
from accp_adapters.replay.formats.checkpoints.plain_values import read_value
from accp_adapters.replay.formats.checkpoints.threads import StoredCheckpoint

__all__ = ["connected", "is_postgres", "postgres_state", "read_postgres", "without_options"]

_LAST: Final = """
    SELECT DISTINCT ON (thread_id, checkpoint_ns) thread_id, checkpoint_ns, checkpoint
    FROM checkpoints ORDER BY thread_id, checkpoint_ns, checkpoint_id DESC
"""
_STATE: Final = "SELECT count(*), max(checkpoint_id) FROM checkpoints"
# Plain values are in the checkpoint, all others in the other table.
_BLOBS: Final = """
    SELECT channel, type, blob FROM checkpoint_blobs
    JOIN jsonb_each_text(%s) AS version ON channel = version.key AND checkpoint_blobs.version = version.value
    WHERE thread_id = %s AND checkpoint_ns = %s AND octet_length(blob) <= %s
"""


def is_postgres(path: str) -> bool:
    """Return whether a path is the URL of a PostgreSQL database."""
    return path.startswith(("postgres://", "postgresql://"))


def read_postgres(address: str, limit: int) -> Iterator[StoredCheckpoint]:
    """Yield the last checkpoint of each thread and namespace.

    Args:
        address: The URL of the database, without a password: that is read from the environment (`PGPASSWORD`) or the
            password file, because other users of the machine see the arguments of a command.
        limit: Bytes that one value may take; larger ones are left out.

    Raises:
        UnreadableRun: the URL has a password, the database cannot be reached, or it holds no checkpoints.
        ImportError: psycopg is not installed.
    """
    from psycopg.types.json import Jsonb

    with connected(address) as connection:
        for thread, namespace, checkpoint in connection.execute(_LAST).fetchall():
            values = dict(checkpoint.get("channel_values") or {})
            versions = Jsonb(checkpoint.get("channel_versions") or {})
            blobs = connection.execute(_BLOBS, (versions, thread, namespace, limit)).fetchall()
            values |= {channel: read_value(kind, bytes(blob)) for channel, kind, blob in blobs}
            written = str(checkpoint.get("ts") or "")
            yield StoredCheckpoint(thread=thread, namespace=namespace, values=values, written=written)


def postgres_state(address: str) -> tuple[int, str]:
    """Return what tells whether checkpoints were added or removed: their number, and the id of the last one.

    Raises:
        UnreadableRun, ImportError: as `read_postgres`.
    """
    with connected(address) as connection:
        count, last = connection.execute(_STATE).fetchone() or (0, None)
    return count, str(last or "")


def without_options(address: str) -> str:
    """Return the URL of a database without user, password and options."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.hostname or ''}{parts.path}"


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """Connect to a database, read-only; what goes wrong is an UnreadableRun."""
    parts, shown = urlsplit(address), without_options(address)
    if parts.password or "password=" in parts.query:
        raise UnreadableRun("expected the password in PGPASSWORD or ~/.pgpass, found one in the URL", path=shown)
    import psycopg

    try:
        with psycopg.connect(address, options="-c default_transaction_read_only=on") as connection:
            yield connection
    except (psycopg.Error, ValueError) as error:
        if isinstance(error, UnreadableRun):
            raise
        raise UnreadableRun(f"expected checkpoints of LangGraph: {error}", path=shown) from error
