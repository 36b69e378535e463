"""Real servers for tests: PostgreSQL and Redis in a temporary folder, gone when the tests end, however they end.

Each is a context manager that yields the address. Where the binary is missing it raises `Missing`, and the fixtures
in `tests/conftest.py` skip. A guard process holds the server: it stops it when the tests' end of a pipe closes, so
that even a killed test run leaves nothing behind.
"""

import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg
import redis

from tests.limits import wait_until

__all__ = ["Missing", "free_port", "postgres", "redis_server", "redis_with_search"]

_GUARD = """
import select, shutil, signal, subprocess, sys
folder, user, *command = sys.argv[1:]
with open(folder + "/log", "wb") as log:
    server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, user=user or None, cwd=folder)
    while server.poll() is None:
        if select.select([sys.stdin], [], [], 0.5)[0]:
            break
    else:
        sys.exit("the server ended by itself")
    server.send_signal(signal.SIGINT)
    try:
        server.wait(60)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()
shutil.rmtree(folder, ignore_errors=True)
"""


class Missing(Exception):
    """A server cannot be had on this machine; the message says what to install."""


def free_port() -> int:
    """Return a port of the loopback interface that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def postgres() -> Iterator[str]:
    """Yield the address of a new PostgreSQL server that listens on a Unix socket in its own folder only.

    Raises:
        Missing: there are no server binaries.
    """
    initdb, server = (_postgres_binary(name) for name in ("initdb", "postgres"))
    folder, user = _unprivileged()
    data = folder / "data"
    create = [initdb, "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]
    made = subprocess.run(list(map(str, create)), user=user or None, cwd=folder, capture_output=True, text=True)
    if made.returncode:
        shutil.rmtree(folder)
        raise Missing(f"initdb fails here: {made.stderr.strip()}")
    options = {"listen_addresses": "", "unix_socket_directories": folder, "fsync": "off", "max_connections": 200}
    command = [server, "-D", data, *(f"--{name}={value}" for name, value in options.items())]
    address = f"postgresql://postgres@/postgres?host={folder}"
    with _running(folder, user, command, lambda: psycopg.connect(address).close()):
        yield address


@contextmanager
def redis_server(*options: object, binary: str = "redis-server", tls: tuple[Path, Path] | None = None) -> Iterator[str]:
    """Yield the address of a new Redis server on a free port of the loopback interface, which keeps nothing on disk.

    Args:
        options: More of its command line, such as "--loadmodule", path.
        binary: Its name on the PATH, or its path.
        tls: The files of a key and of its certificate: the server then speaks nothing but TLS.

    Raises:
        Missing: there is no such binary.
    """
    server = shutil.which(binary)
    if server is None:
        raise Missing(f"no {binary} here: apt-get install redis-server")
    folder = Path(tempfile.mkdtemp(prefix="accp-"))
    port = free_port()
    ports: list[object] = ["--port", port]
    if tls:
        key, certificate = tls
        ports = ["--port", 0, "--tls-port", port, "--tls-key-file", key, "--tls-cert-file", certificate]
        ports += ["--tls-auth-clients", "no", "--tls-ca-cert-file", certificate]
    command = [server, "--bind", "127.0.0.1", *ports, "--save", "", "--dir", folder, *options]
    with _running(folder, "", command, lambda: socket.create_connection(("127.0.0.1", port), 5).close()):
        yield f"redis{'s' if tls else ''}://127.0.0.1:{port}/0"


@contextmanager
def redis_with_search() -> Iterator[str]:
    """Yield the address of a new Redis server with the search module: Redis 8 has it, Redis Stack brings it.

    Raises:
        Missing: none of the Redis servers here has it.
    """
    for binary in ("redis-stack-server", "/opt/redis-stack/bin/redis-stack-server", "redis-server"):
        if shutil.which(binary) is None:
            continue
        with redis_server(binary=binary) as address, redis.Redis.from_url(address) as client:
            if "search" in str(client.module_list()):
                yield address
                return
    raise Missing("no Redis with search here: install redis 8 or redis-stack-server")


def _unprivileged() -> tuple[Path, str]:
    """Return a new folder and who owns it: PostgreSQL refuses to run as root. An empty name is oneself."""
    folder = Path(tempfile.mkdtemp(prefix="accp-"))
    if os.geteuid():
        return folder, ""
    names = {user.pw_name for user in pwd.getpwall()}
    user = "postgres" if "postgres" in names else "nobody"
    shutil.chown(folder, user)
    return folder, user


def _postgres_binary(name: str) -> str:
    """Return the path of a PostgreSQL binary: distributions keep the server's off the PATH."""
    places = [*Path("/usr/lib/postgresql").glob("*/bin"), *Path("/usr").glob("pgsql-*/bin")]
    newest = sorted(places, key=lambda place: str(place).rjust(80))
    for place in [None, *reversed(newest)]:
        if found := shutil.which(name, path=place and str(place)):
            return found
    raise Missing(f"no {name} here: apt-get install postgresql")


@contextmanager
def _running(folder: Path, user: str, command: Sequence[object], knock: Callable[[], object]) -> Iterator[None]:
    words = [sys.executable, "-c", _GUARD, str(folder), user, *map(str, command)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True) as guard:
        try:
            _wait(folder, guard, knock)
            yield
        finally:
            assert guard.stdin
            guard.stdin.close()
            guard.wait()
            shutil.rmtree(folder, ignore_errors=True)


def _wait(folder: Path, guard: subprocess.Popen[bytes], knock: Callable[[], object]) -> None:
    """Return when `knock` gets an answer; whoever starts a server can only ask again.

    Raises:
        Missing: the server ended by itself; the message ends with its log.
    """

    def answers() -> bool:
        with suppress(psycopg.OperationalError, OSError):
            knock()
            return True
        return False

    wait_until(lambda: answers() or guard.poll() is not None)
    if guard.poll() is not None:
        log = folder / "log"
        raise Missing(f"the server does not start: {log.read_text() if log.exists() else ''}")
