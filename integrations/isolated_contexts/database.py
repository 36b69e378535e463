"""The checkpointer and store of a run: a PostgreSQL server started from the system's binaries, or SQLite files."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.store.postgres import PostgresStore
from langgraph.store.sqlite import SqliteStore

__all__ = ["Database", "NoServer", "open_postgres", "open_sqlite"]

_START_SECONDS = 120.0
"""How long the server may take to start."""


class NoServer(Exception):
    """PostgreSQL cannot be started on this machine; the message says why."""


@dataclass(frozen=True)
class Database:
    """A checkpointer and a store, ready for use."""

    name: str
    saver: Any
    store: Any


@contextmanager
def open_sqlite(folder: Path) -> Iterator[Database]:
    """Yield a database in two files of `folder`."""
    with ExitStack() as stack:
        saver = stack.enter_context(SqliteSaver.from_conn_string(str(folder / "checkpoints.sqlite")))
        store = stack.enter_context(SqliteStore.from_conn_string(str(folder / "store.sqlite")))
        saver.setup()
        store.setup()
        yield Database("SQLite", saver, store)


@contextmanager
def open_postgres() -> Iterator[Database]:
    """Yield a database on a private PostgreSQL server, which listens on a socket in its own folder until the end.

    Raises:
        NoServer: the server's binaries are missing, or it does not start.
    """
    with _server() as address, ExitStack() as stack:
        saver = stack.enter_context(PostgresSaver.from_conn_string(address))
        store = stack.enter_context(PostgresStore.from_conn_string(address))
        saver.setup()
        store.setup()
        yield Database("PostgreSQL", saver, store)


@contextmanager
def _server() -> Iterator[str]:
    initdb, postgres = _binary("initdb"), _binary("postgres")
    folder = Path(tempfile.mkdtemp(prefix="isolated-contexts-"))
    # PostgreSQL refuses to run as root.
    user = None if os.geteuid() else next((name for name in ("postgres", "nobody") if _exists(name)), None)
    if user:
        shutil.chown(folder, user)
    data = str(folder / "data")
    running: subprocess.Popen[bytes] | None = None
    try:
        create = [initdb, "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]
        made = subprocess.run(create, user=user, cwd=folder, capture_output=True, text=True)
        if made.returncode:
            raise NoServer(made.stderr.strip())
        command = [postgres, "-D", data, "--listen_addresses=", f"--unix_socket_directories={folder}"]
        with (folder / "log").open("wb") as log:
            running = subprocess.Popen(command, user=user, cwd=folder, stdout=log, stderr=log, start_new_session=True)
        address = f"postgresql://postgres@/postgres?host={folder}"
        _wait_for(address, running, folder / "log")
        yield address
    finally:
        if running:
            running.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                running.wait(10)
            running.kill()
            running.wait()
        shutil.rmtree(folder, ignore_errors=True)


def _wait_for(address: str, running: subprocess.Popen[bytes], log: Path) -> None:
    """Return when the server accepts connections; it says nothing itself, so that this tries again and again."""
    deadline = time.monotonic() + _START_SECONDS
    while True:
        try:
            psycopg.connect(address).close()
        except psycopg.OperationalError:
            if running.poll() is not None or time.monotonic() > deadline:
                raise NoServer(log.read_text(encoding="utf-8", errors="replace").strip()[-500:]) from None
            time.sleep(0.05)
        else:
            return


def _exists(user: str) -> bool:
    return any(entry.pw_name == user for entry in pwd.getpwall())


def _binary(name: str) -> str:
    """Return the path of a server binary, which distributions do not put on the PATH."""
    folders = [*Path("/usr/lib/postgresql").glob("*/bin"), *Path("/usr").glob("pgsql-*/bin")]
    for folder in [None, *sorted(folders, reverse=True)]:
        if path := shutil.which(name, path=folder and str(folder)):
            return path
    raise NoServer(f"expected {name} on this machine, found none; install the package postgresql")
