"""Processes that encode and decode large objects, so that this one, and its event loop, has nothing to do meanwhile.

In a thread of this process, two things stop the event loop for tens of milliseconds: a call of C (JSON of 3 MB is
written in 40 ms), and the garbage collector, which looks at all objects of the program when the thread makes many.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import accp_adapters
from accp_adapters.a2a.wire.pieces import Piece
from accp_adapters.a2a.wire.worker_process import READY, read_pieces, write_pieces

__all__ = ["NoWorker", "ask"]

_PROGRAM: Final = """
import json, sys
sys.path[:] = json.loads(sys.stdin.buffer.readline())
from accp_adapters.a2a.wire.worker_process import main
main()
"""
"""Runs the same package as this process, wherever this process found it, and nothing of the working directory."""
MAX_SECONDS: Final = 120.0
"""A process that takes longer to start or for a job is killed."""
MAX_FAILED_STARTS: Final = 2
"""After so many processes that could not be started, none is tried any more."""


class NoWorker(Exception):
    """There is no process to do this: the caller does it itself."""


class _Own(threading.local):
    """The process of each thread that asks."""

    process: subprocess.Popen[bytes] | None = None


_OWN: Final = _Own()
_RUNNING: Final[set[subprocess.Popen[bytes]]] = set()
_failed_starts = 0


def ask(header: Mapping[str, Any], pieces: Sequence[Piece]) -> tuple[dict[str, Any], Sequence[Piece]]:
    """Return the answer of this thread's process to a job; wait for it.

    Raises:
        NoWorker: no process can be started here, or it ended before it answered, twice.
    """
    # A process may end between two jobs, after a minute without one: the second is new.
    for _ in range(2):
        process = _OWN.process if _OWN.process in _RUNNING else _start()
        _OWN.process = process
        answer = _exchange(process, header, pieces)
        if answer is not None:
            return answer
        _end(process)
    raise NoWorker


def _exchange(
    process: subprocess.Popen[bytes], header: Mapping[str, Any], pieces: Sequence[Piece]
) -> tuple[dict[str, Any], Sequence[Piece]] | None:
    """Return the answer of a process; None: it ended before."""
    assert process.stdin is not None and process.stdout is not None
    try:
        with _time_limit(process):
            write_pieces(process.stdin, header, pieces)
            return read_pieces(process.stdout)
    except OSError:
        return None


@contextmanager
def _time_limit(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Kill a process that does not answer in time: a thread that waits for it would keep this program from ending."""
    limit = threading.Timer(MAX_SECONDS, process.kill)
    limit.daemon = True
    limit.start()
    try:
        yield
    finally:
        limit.cancel()


def _start() -> subprocess.Popen[bytes]:
    global _failed_starts
    if _failed_starts >= MAX_FAILED_STARTS or not _is_interpreter(sys.executable):
        raise NoWorker
    try:
        process = subprocess.Popen(
            [sys.executable, "-I", "-c", _PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
    except OSError:
        _failed_starts += 1
        raise NoWorker from None
    _RUNNING.add(process)
    if _is_ready(process):
        _failed_starts = 0
        return process
    _failed_starts += 1
    _end(process)
    raise NoWorker


def _is_interpreter(executable: str | None) -> bool:
    """Return whether a program is Python; inside another program, such as a bundle, it would be this one again."""
    name = Path(executable or "").name.lower()
    # `select` on pipes, which the process uses, is a thing of POSIX.
    return os.name == "posix" and name.startswith(("python", "pypy")) and not getattr(sys, "frozen", False)


def _is_ready(process: subprocess.Popen[bytes]) -> bool:
    assert process.stdin is not None and process.stdout is not None
    try:
        with _time_limit(process):
            process.stdin.write(json.dumps(_import_path()).encode() + b"\n")
            process.stdin.flush()
            return process.stdout.readline() == READY
    except OSError:
        return False


def _import_path() -> list[str]:
    """Return where the process imports from: as this one does, but not from the working directory, and this package."""
    return [*filter(os.path.isabs, sys.path), str(Path(accp_adapters.__file__).parents[1])]


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process and wait for its end."""
    _RUNNING.discard(process)
    process.kill()
    process.communicate()


@atexit.register
def _end_all() -> None:
    for process in [*_RUNNING]:
        _end(process)


if hasattr(os, "register_at_fork"):
    # The processes are those of the parent, who goes on to use them.
    os.register_at_fork(after_in_child=_RUNNING.clear)
