"""A process that encodes and decodes very long objects for this one; each thread that asks has its own.

A job and an answer are each a line of JSON and the bytes of a protobuf message. The process imports from where this one
does, but not from the working directory, and runs nothing else: `anyio.to_process` and `multiprocessing` would run the
main program of their user again, whose script may do its work twice.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any, Final

from a2a import types

import accp_adapters
from accp_adapters.a2a.wire.events import AnyEvent, decode, encode
from accp_adapters.a2a.wire.parts import ChunkStart
from accp_core.errors import ProtocolError

__all__ = ["Job", "NoProcess", "run", "serve"]

_PROGRAM: Final = """
import json, sys
sys.path[:] = json.loads(sys.stdin.buffer.readline())
from accp_adapters.a2a.wire.child_process import serve
serve()
"""
MAX_SECONDS: Final = 120.0
"""A process that takes longer for a job is killed."""
MAX_IDLE: Final = 60.0
"""Seconds without a job after which a process ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What is to be done with an object."""

    decode: bool = False
    start: Sequence[int] = ()
    """As `ChunkStart`; also a list, as JSON has it."""
    never_larger: bool = True
    views: bool = True

    def do(self, event: AnyEvent) -> AnyEvent:
        """Return the object encoded or decoded, or itself where it stays as it is."""
        if self.decode:
            return decode(event, ChunkStart(*self.start))
        return encode(event, ChunkStart(*self.start), never_larger=self.never_larger, views=self.views)


class NoProcess(Exception):
    """No process can do this: the caller does it itself."""


class _Own(threading.local):
    process: subprocess.Popen[bytes] | None = None


_OWN: Final = _Own()
_RUNNING: Final[set[subprocess.Popen[bytes]]] = set()


def run(job: Job, event: AnyEvent) -> AnyEvent:
    """Return what the process of this thread makes of an object; wait for it.

    Raises:
        NoProcess: None can be started here, or it ended before it answered, twice.
        ProtocolError: As `encode` and `decode`.
    """
    # A process may end between two jobs, after a time without one: the second is new.
    for _ in range(2):
        process = _OWN.process = _OWN.process if _OWN.process in _RUNNING else _start()
        try:
            answer, data = _ask(process, {"kind": type(event).__name__, **asdict(job)}, event.SerializeToString())
        except (OSError, EOFError, ValueError, KeyError):
            _end(process)
            continue
        if "code" in answer:
            raise ProtocolError(answer["reason"], code=answer["code"])
        if not answer["is_changed"]:
            return event
        made = type(event)()
        made.MergeFromString(data)
        return made
    raise NoProcess


def _ask(process: subprocess.Popen[bytes], job: Mapping[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
    """Return the answer of a process, which is killed where it takes too long: a waiting thread delays our own end."""
    assert process.stdin is not None and process.stdout is not None
    limit = threading.Timer(MAX_SECONDS, process.kill)
    limit.daemon = True
    limit.start()
    try:
        _write(process.stdin, job, data)
        return _read(process.stdout)
    finally:
        limit.cancel()


def _start() -> subprocess.Popen[bytes]:
    """Start a process where `sys.executable` is Python; in another program, such as a bundle, it would be this one."""
    name = Path(sys.executable or "").name.lower()
    if not name.startswith(("python", "pypy")) or getattr(sys, "frozen", False):
        raise NoProcess
    try:
        process = subprocess.Popen(
            [sys.executable, "-I", "-c", _PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
    except OSError:
        raise NoProcess from None
    _RUNNING.add(process)
    path = [*filter(os.path.isabs, sys.path), str(Path(accp_adapters.__file__).parents[1])]
    assert process.stdin is not None
    process.stdin.write(json.dumps(path).encode() + b"\n")
    return process


def _end(process: subprocess.Popen[bytes]) -> None:
    _RUNNING.discard(process)
    process.kill()
    process.communicate()


@atexit.register
def _end_all() -> None:
    for process in [*_RUNNING]:
        _end(process)


if hasattr(os, "register_at_fork"):
    # The processes belong to the parent, which still uses them.
    os.register_at_fork(after_in_child=_RUNNING.clear)


def serve() -> None:
    """Answer one job after the other until the input ends, or there is none for a time."""
    # Ctrl-C reaches all processes of a terminal; this one ends when the one that started it does.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # What a library prints must not come between the answers.
    answers, sys.stdout = sys.stdout.buffer, sys.stderr
    while True:
        idle = threading.Timer(MAX_IDLE, os._exit, [0])
        idle.start()
        try:
            job, data = _read(sys.stdin.buffer)
        except EOFError:
            os._exit(0)
        idle.cancel()
        _write(answers, *_answer(job, data))


def _answer(job: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
    event = getattr(types, job.pop("kind"))()
    event.MergeFromString(data)
    try:
        made = Job(**job).do(event)
    except ProtocolError as error:
        return {"reason": error.reason, "code": error.code}, b""
    return {"is_changed": made is not event}, b"" if made is event else made.SerializeToString()


def _write(stream: IO[bytes], header: Mapping[str, Any], data: bytes) -> None:
    stream.write(json.dumps({**header, "size": len(data)}).encode() + b"\n")
    stream.write(data)
    stream.flush()


def _read(stream: IO[bytes]) -> tuple[dict[str, Any], bytes]:
    """Return a job or an answer.

    Raises:
        EOFError: The stream ends before it or in the middle of it.
    """
    line = stream.readline()
    if not line.endswith(b"\n"):
        raise EOFError
    header = json.loads(line)
    size = header.pop("size")
    data = stream.read(size)
    if len(data) < size:
        raise EOFError
    return header, data
