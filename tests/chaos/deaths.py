"""Deaths at the accesses of every store: at each of them in turn, or at some."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any, Final

__all__ = ["STORES", "Worker", "deaths"]

ROOT: Final = Path(__file__).parents[2]
STORES: Final = {
    "texts in SQLite": ("texts", "sqlite"),
    "texts in Redis": ("texts", "redis"),
    "texts in PostgreSQL": ("texts", "postgres"),
    "answers in SQLite": ("answers", "sqlite"),
    "answers in Redis": ("answers", "redis"),
    "answers in NATS": ("answers", "nats"),
}
"""What is stored where: the kind of a job, and the server that it needs."""
_SESSIONS: Final = count(1)


class Worker:
    """The process from which workers are forked."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        """Speak with a process that was started."""
        self._process = process

    def do(self, job: dict[str, Any]) -> dict[str, Any]:
        """Let a worker die, and another one go on; return what came of it."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, f"expected an answer to {job}, found the end of the process"
        return dict(json.loads(answer))


@contextmanager
def worker() -> Iterator[Worker]:
    """Yield a process from which workers are forked; it ends with the block."""
    command = [sys.executable, "-m", "tests.chaos.killed"]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield Worker(process)
        assert process.stdin
        process.stdin.close()


def deaths(worker: Worker, kind: str, address: str, places: Sequence[int] | None = None) -> Iterator[dict[str, Any]]:
    """Yield what came of a death at each of `places` (None: at every one), each in a session of its own."""
    at = iter(places) if places is not None else count(1)
    for place in at:
        job = {"kind": kind, "address": address, "session": f"s{next(_SESSIONS)}", "at": place}
        found = worker.do(job)
        if not found["died"]:
            return
        yield found
