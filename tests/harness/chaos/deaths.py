"""Deaths at the accesses of every store."""

import json
import subprocess
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from threading import Lock, Thread
from typing import Any, Final

from langgraph.store.postgres import PostgresStore

__all__ = ["STORES", "Worker", "deaths", "prepare", "worker"]

ROOT: Final = Path(__file__).parents[3]
STORES: Final = {
    "texts in SQLite": ("texts", "sqlite"),
    "texts in Redis": ("texts", "redis"),
    "texts in PostgreSQL": ("texts", "postgres"),
    "answers in SQLite": ("answers", "sqlite"),
    "answers in Redis": ("answers", "redis"),
}
"""What is stored where: the kind of a job, and the server that it needs."""
_SESSIONS: Final = count(1)


class Worker:
    """The process from which workers are forked, for as many jobs at once as threads ask."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        """Speak with a process that was started."""
        self._process = process
        self._waiting: dict[str, Future[dict[str, Any]]] = {}
        self._writing = Lock()
        self._listener = Thread(target=self._listen, daemon=True)
        self._listener.start()

    def do(self, job: dict[str, Any]) -> dict[str, Any]:
        """Let a worker die, and another one go on; return what came of it."""
        assert self._process.stdin
        answer = self._waiting[job["session"]] = Future()
        with self._writing:
            self._process.stdin.write(json.dumps(job) + "\n")
            self._process.stdin.flush()
        return answer.result()

    def close(self) -> None:
        """Ask for nothing more."""
        assert self._process.stdin
        self._process.stdin.close()
        self._listener.join()

    def _listen(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            found = json.loads(line)
            self._waiting.pop(found.pop("session")).set_result(found)
        for answer in self._waiting.values():
            answer.set_exception(EOFError("expected an answer, found the end of the process"))


@contextmanager
def worker() -> Iterator[Worker]:
    """Yield a process from which workers are forked; it ends with the block."""
    command = [sys.executable, "-m", "tests.harness.chaos.killed"]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        opened = Worker(process)
        try:
            yield opened
        finally:
            opened.close()


def prepare(address: str) -> str:
    """Return an address whose tables are there: two processes at once cannot make LangGraph's."""
    if address.startswith("postgresql"):
        with PostgresStore.from_conn_string(address) as store:
            store.setup()
    return address


def deaths(worker: Worker, kind: str, address: str, places: Iterable[int]) -> Iterator[dict[str, Any]]:
    """Yield what came of a death at each of `places`, each in a session of its own, up to one that is not reached."""
    for place in places:
        job = {"kind": kind, "address": address, "session": f"s{next(_SESSIONS)}", "at": place}
        found = worker.do(job)
        if not found["died"]:
            return
        yield found
