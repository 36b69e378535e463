"""A process that writes texts to a store and answers, and dies (SIGKILL) at the k-th access of the store.

`python -m tests.harness.chaos.killed` reads a job a line and forks a process for each, all at once: it has imported
everything and opened nothing. The process of a job forks a worker, which writes to a pipe what it acknowledges, before
its next access; the process reads what was acknowledged, goes on with a second worker, and prints what is missing,
dangling or answered twice.
"""

import asyncio
import gc
import json
import os
import signal
import sys
from importlib import import_module
from typing import Any, Final

from langgraph.store.postgres import PostgresStore

from accp_adapters.bindings import Request, SessionHost
from accp_adapters.langgraph import StoreColdStore
from accp_adapters.stores import open_store
from accp_core.references import find_references, key_of, reference_to
from tests.adapters.bindings.hosts.agents import ANN, CODEC, Client
from tests.doom import Doom
from tests.limits import PROGRAM_PATIENCE

TEXTS: Final = 6
"""Texts that a worker stores; each also in a document that cites it."""


def tell(acknowledged: int, what: str) -> None:
    """Acknowledge: what is in the pipe has been said, whoever dies next."""
    os.write(acknowledged, f"{what}\n".encode())


def write_texts(job: dict[str, Any], doom: Doom, acknowledged: int) -> None:
    """Store each text, then a document that cites it, and acknowledge each."""
    with opened(job["address"]) as store:
        doom.around(store, "put", "get", "delete")
        for number in range(TEXTS):
            text = f"{job['session']} {number} " + "x" * 500
            store.put(job["session"], key_of(text), text)
            document = f"see {reference_to(key_of(text))}"
            store.put(job["session"], f"cold.{number}", document)
            tell(acknowledged, f"cold.{number}")
            assert store.get(job["session"], key_of(text)) == text
        store.delete(job["session"], key_of("none"))


def check_texts(job: dict[str, Any], acknowledged: list[str]) -> list[str]:
    """Return what is wrong after the death and after the second worker."""
    wrong = []
    with opened(job["address"]) as store:
        for number in range(TEXTS):
            document = store.get(job["session"], f"cold.{number}")
            if document is None and f"cold.{number}" in acknowledged:
                wrong.append(f"lost: cold.{number}")
            for key in find_references(document or ""):
                text = store.get(job["session"], key)
                if text is None or key_of(text) != key:
                    wrong.append(f"dangling: {key}")
    return wrong


class opened:
    """The store at an address: ours, or LangGraph's in PostgreSQL."""

    def __init__(self, address: str) -> None:
        """Open it."""
        self._base: Any = None
        if address.startswith("postgresql"):
            self._base = PostgresStore.from_conn_string(address)
            self.store: Any = StoreColdStore(self._base.__enter__())
        else:
            self.store = open_store(address)

    def __enter__(self) -> Any:
        """Return the store."""
        return self.store

    def __exit__(self, *error: object) -> None:
        """Close it."""
        self._base.__exit__(None, None, None) if self._base else self.store.close()


def answer_requests(job: dict[str, Any], doom: Doom, acknowledged: int) -> None:
    """Ask a host, whose store dies, four times, and acknowledge each answer."""
    asyncio.run(_answer_requests(job, doom, acknowledged))


async def _answer_requests(job: dict[str, Any], doom: Doom, acknowledged: int) -> None:
    async def handle(request: Request) -> dict[str, Any]:
        tell(acknowledged, f"handled {request.idempotency_key}")
        return {"n": request.message.payload["n"], "worker": os.getpid()}

    store = doom.around(open_store(job["address"]), "load_session", "save_session", "put")
    async with SessionHost(handle, codec=CODEC, store=store) as host:
        client = Client(job["session"])
        for number in range(4):
            frame = client.ask("add", n=number)
            frames = await host.frames(ANN, frame)
            (answer,) = client.messages(frames)
            assert answer.payload["n"] == number
            tell(acknowledged, f"answer {number} {json.dumps(frames)}")
    store.close()


def check_answers(job: dict[str, Any], acknowledged: list[str]) -> list[str]:
    """Return what is wrong: an answer that differs from the first one, a handler that ran after its answer."""
    wrong, answers, seen = [], {}, ""
    for line in acknowledged:
        kind, _, rest = line.partition(" ")
        if kind == "handled" and f"answered {rest}" in seen:
            wrong.append(f"handled after its answer: {rest}")
        if kind == "answer":
            number, _, frames = rest.partition(" ")
            seen += f"answered ann{int(number) + 1}\n"
            if answers.setdefault(number, frames) != frames:
                wrong.append(f"answered twice: {answers[number]} {frames}")
    return wrong if len(answers) == 4 else [*wrong, f"lost: {sorted(answers)}"]


KINDS: Final = {"texts": (write_texts, check_texts), "answers": (answer_requests, check_answers)}
"""What a worker does, and what must hold after it."""


def run(job: dict[str, Any], at: int, pipe: int) -> int:
    """Run a worker that dies at place `at`; return the places that it passed, 0 where it died."""
    told, passed = os.pipe()
    child = os.fork()
    if not child:
        doom = Doom(at)
        signal.alarm(round(PROGRAM_PATIENCE))  # one that hangs is no death
        try:
            KINDS[job["kind"]][0](job, doom, pipe)
            os.write(passed, str(doom.passed).encode())
            os._exit(0)
        except BaseException as problem:  # the parent must hear of it, and the fork must end here
            os.write(passed, repr(problem).encode())
            os._exit(1)
    os.close(passed)
    _, status = os.waitpid(child, 0)
    with open(told, encoding="utf-8") as said:
        heard = said.read()
    assert status in (0, signal.SIGKILL), f"expected an end or a death, found status {status}: {heard}"
    return int(heard or 0)


def do(job: dict[str, Any]) -> dict[str, Any]:
    """Let one worker die and another one do all again; return the places and what is wrong."""
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    passed = run(job, job["at"], writing)
    said = _read(reading)
    wrong = KINDS["texts"][1](job, said) if job["kind"] == "texts" else []
    again = passed if passed and not job["at"] else run(job, 0, writing)
    said += _read(reading)
    os.close(reading)
    os.close(writing)
    return {"passed": passed, "died": not passed, "again": again, "wrong": wrong + KINDS[job["kind"]][1](job, said)}


def _read(pipe: int) -> list[str]:
    data = b""
    try:
        while chunk := os.read(pipe, 1 << 16):
            data += chunk
    except BlockingIOError:
        pass
    return data.decode().splitlines()


def do_apart(job: dict[str, Any]) -> None:
    """Do a job in a process of its own, which prints one line: what came of it, under the name of the session."""
    if os.fork():
        return
    try:
        found = do(job)
    except BaseException as problem:  # the process that waits needs an answer, and the fork must end here
        found = {"died": True, "passed": 0, "again": 0, "wrong": [f"no end of the job: {problem!r}"]}
    line = json.dumps(
        {"session": job["session"], **found, "wrong": [each[:300] for each in found.get("wrong", ())][:5]}
    )
    # At most select.PIPE_BUF bytes: lines of several processes do not mix.
    os.write(sys.stdout.fileno(), f"{line}\n".encode())
    os._exit(0)


def main() -> None:
    """Do every job of the input."""
    # No collection of a fork touches, and so copies, what all share; no fork imports what each would need.
    import_module("accp_adapters.stores.redis")
    gc.collect()
    gc.freeze()
    for line in sys.stdin:
        do_apart(json.loads(line))
        while reap():
            pass
    while reap(0):
        pass


def reap(options: int = os.WNOHANG) -> bool:
    """Return whether a job's process had ended."""
    try:
        return bool(os.waitpid(-1, options)[0])
    except ChildProcessError:
        return False


if __name__ == "__main__":
    main()
