"""Which source an address means."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from accp_adapters.inspector.live.sources.checkpoints import observe_checkpoints
from accp_adapters.inspector.live.sources.frame_file import FrameFile, is_frame_line
from accp_adapters.inspector.live.sources.recorded_runs import observe_runs
from accp_adapters.inspector.live.sources.source import RereadSource, Source, file_state
from accp_adapters.inspector.live.sources.sqlite_log import LOCK_SECONDS, SqliteLog, tables_of
from accp_adapters.replay import UnreadableRun, find_files
from accp_adapters.replay.formats.checkpoints.postgres_url import (
    is_postgres,
    postgres_state,
    read_postgres,
    without_options,
)
from accp_adapters.replay.formats.checkpoints.sqlite_file import read_sqlite
from accp_adapters.replay.formats.checkpoints.threads import SQLITE
from accp_adapters.replay.formats.documents import Limits

__all__ = ["open_source"]

_REDIS: Final = ("redis://", "rediss://", "unix://")
_NATS: Final = ("nats://", "tls://")
_SQLITE: Final = "sqlite:"
_BEGINNING: Final = 1 << 20
"""Bytes of a file by which its kind is found."""


def open_source(address: str, run_format: str | None = None) -> Source:
    """Return the source at an address; it is read when the inspector asks.

    Args:
        address: A file (checkpoints or a frame log in SQLite, frames, recorded runs), a folder or pattern of recorded
            runs, the URL of a PostgreSQL database of checkpoints, of Redis or of NATS with frame logs.
        run_format: How recorded runs are written; None: found by their content.

    Raises:
        UnreadableRun: it is none of these.
        OSError: a file cannot be read.
        ImportError: an extra is missing.
    """
    if is_postgres(address):
        return RereadSource(
            without_options(address),
            lambda: observe_checkpoints(without_options(address), lambda: read_postgres(address, Limits().record)),
            lambda: postgres_state(address),
        )
    if address.startswith(_REDIS):
        from accp_adapters.inspector.live.sources.redis_log import RedisLog  # noqa: PLC0415  optional: the extra `redis`

        return RedisLog(address)
    if address.startswith(_NATS):
        from accp_adapters.inspector.live.sources.nats_log import NatsLog  # noqa: PLC0415  optional: the extra `nats`

        return NatsLog(address)
    path = address.removeprefix(_SQLITE)
    if run_format is None and Path(path).is_file():
        return _file(path)
    return _runs(path, run_format)


def _file(path: str) -> Source:
    with Path(path).open("rb") as stream:
        beginning = stream.read(_BEGINNING)
    if beginning.startswith(SQLITE):
        return _database(path)
    first = next(filter(str.strip, beginning.decode("utf-8", "replace").split("\n")), "")
    # An empty file is a log that is not yet written to.
    return FrameFile(path) if not first or is_frame_line(first) else _runs(path, None)


def _database(path: str) -> Source:
    tables = tables_of(path)
    if {"logs", "texts"} <= tables:
        return SqliteLog(path)
    if "checkpoints" in tables:
        limit = Limits().record
        return RereadSource(
            path,
            lambda: observe_checkpoints(path, lambda: read_sqlite(path, limit, patience=LOCK_SECONDS)),
            lambda: file_state(path),
        )
    reason = "expected the tables of LangGraph's SqliteSaver or of a frame log"
    raise UnreadableRun(f"{reason}, found {', '.join(sorted(tables))[:100] or 'none'}", path=path)


def _runs(path: str, run_format: str | None) -> Source:
    return RereadSource(path, lambda: observe_runs(path, run_format), lambda: file_state(*find_files(path)))
