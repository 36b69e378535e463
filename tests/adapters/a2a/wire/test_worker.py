"""Large objects are encoded and decoded in another process, with the same results; without one, in this process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from threading import Thread
from typing import IO, Any, Final

import pytest
from a2a.helpers import new_data_part, new_text_part
from a2a.types import Artifact, Message, Part, Task

from accp_adapters.a2a.wire import offloading, worker, worker_process
from accp_adapters.a2a.wire.envelope_flag import Event
from accp_adapters.a2a.wire.events import decode, encode
from accp_adapters.a2a.wire.offloading import decode_aside, encode_aside
from accp_adapters.a2a.wire.pieces import cut, take
from accp_adapters.a2a.wire.worker import NoWorker, ask
from accp_adapters.a2a.wire.worker_process import READY, read_pieces, serve, write_pieces
from accp_core.errors import ProtocolError
from tests.limits import PATIENCE

ROWS = [{"id": n, "name": f"row {n}", "late": n % 3 == 0} for n in range(300)]
"""More than the event loop encodes by itself."""


def a_task(*parts: Part) -> Task:
    """Return a task with one artifact."""
    return Task(id="t", context_id="c", artifacts=[Artifact(artifact_id="a", parts=parts)])


def broken() -> Message:
    """Return a large message that says it holds frames, one of which another one wrote badly."""
    sent = encode(Message(message_id="m", parts=[new_data_part(ROWS), new_data_part(ROWS[:40])]))
    text = sent.parts[1].text
    sent.parts[1].text = text.replace("view", "mt", 1) if "view" in text else text.replace("d:", "mt:", 1)
    return sent


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Yield the kinds of the objects that are sent to another process; all processes end after the test."""
    kinds: list[str] = []

    def noted(header: Any, pieces: Any) -> Any:
        kinds.append(header["kind"])
        return ask(header, pieces)

    monkeypatch.setattr(offloading, "ask", noted)
    monkeypatch.setattr(offloading, "MAX_THREAD_BYTES", 0)
    yield kinds
    worker._end_all()


async def test_what_comes_back_of_another_process_is_the_same(asked: list[str]) -> None:
    plain = a_task(new_data_part(ROWS), new_text_part("x"))
    framed = await encode_aside(plain)
    assert framed == encode(plain) != plain
    target = a_task(new_text_part("what a field held"))
    target.Clear()
    assert await decode_aside(framed, into=target) is target
    assert target == plain
    as_it_is = a_task(new_text_part("word " * 2_000))
    copy = await encode_aside(as_it_is)
    assert copy == as_it_is and copy is not as_it_is
    message = Message(message_id="m", parts=as_it_is.artifacts[0].parts)
    assert await encode_aside(message) is message
    with pytest.raises(ProtocolError) as here:
        decode(broken())
    with pytest.raises(ProtocolError) as there:
        await decode_aside(broken())
    assert (there.value.code, there.value.reason) == (here.value.code, here.value.reason)
    assert asked == ["Task", "Task", "Task", "Message", "Message"]


async def test_a_process_that_ended_is_followed_by_another(asked: list[str]) -> None:
    task = a_task(new_data_part(ROWS))
    first = await encode_aside(task)
    for process in worker._RUNNING:
        process.kill()
        process.wait()
    assert await encode_aside(task) == first
    assert len(asked) == 2


IS_INTERPRETER = worker._is_interpreter


@pytest.mark.parametrize("executable", ["", "/opt/uwsgi", "/nowhere/python3", "/bin/true"])
async def test_without_a_process_the_work_is_done_here(
    executable: str, monkeypatch: pytest.MonkeyPatch, asked: list[str]
) -> None:
    monkeypatch.setattr(worker, "_failed_starts", 0)
    monkeypatch.setattr(worker, "_is_interpreter", lambda name: name == "/bin/true" or IS_INTERPRETER(name))
    monkeypatch.setattr(sys, "executable", executable)
    task = a_task(new_data_part(ROWS))
    expected = encode(task)
    for _ in range(3):
        assert await encode_aside(task) == expected
    assert worker._failed_starts <= worker.MAX_FAILED_STARTS
    assert not worker._RUNNING


def test_a_process_that_never_answers_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "MAX_SECONDS", 0.1)
    monkeypatch.setattr(worker, "_failed_starts", 0)
    monkeypatch.setattr(worker, "_PROGRAM", "import sys; sys.stdin.read()")
    with pytest.raises(NoWorker):
        ask({"kind": "Message"}, ())
    assert not worker._RUNNING


def test_a_process_does_not_import_from_the_working_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", ["", "lib", *sys.path])
    path = worker._import_path()
    assert all(map(os.path.isabs, path)) and set(sys.path) - set(path) == {"", "lib"}


FORKED: Final = """
import asyncio, os, sys
from a2a.helpers import new_data_part
from a2a.types import Message
from accp_adapters.a2a.wire.offloading import encode_aside

message = Message(message_id="m", parts=[new_data_part([{"id": n, "name": f"row {n}"} for n in range(8_000)])])
encoded = asyncio.run(encode_aside(message))
child = os.fork()
again = asyncio.run(asyncio.wait_for(encode_aside(message), float(sys.argv[1])))
assert again == encoded != message
if child:
    assert os.waitpid(child, 0)[1] == 0
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_process_that_was_forked_has_threads_and_a_process_of_its_own() -> None:
    command = [sys.executable, "-W", "ignore", "-c", FORKED, str(PATIENCE)]
    assert subprocess.run(command, capture_output=True, text=True, check=False).stderr == ""


def test_a_process_that_always_ends_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[subprocess.Popen[bytes]] = []

    def start() -> subprocess.Popen[bytes]:
        process = subprocess.Popen([sys.executable, "-c", ""], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        process.wait()
        started.append(process)
        return process

    monkeypatch.setattr(worker, "_start", start)
    monkeypatch.setattr(worker, "_RUNNING", set())
    with pytest.raises(NoWorker):
        ask({"kind": "Task"}, [(-1, (), b"x" * 1_000_000)])
    assert len(started) == 2 and all(process.returncode is not None for process in started)


def served(*jobs: tuple[dict[str, Any], Event]) -> list[Any]:
    """Return the answers of a process to jobs, served in a thread of this one."""
    to_worker, of_us = _pipe()
    to_us, of_worker = _pipe()
    thread = Thread(target=serve, args=(to_worker, of_worker))
    thread.start()
    answers: list[Any] = [to_us.readline()]
    for header, event in jobs:
        write_pieces(of_us, {"kind": type(event).__name__, **header}, list(cut(take(event))))
        answers.append(read_pieces(to_us))
    of_us.close()
    thread.join()
    for stream in (to_worker, to_us, of_worker):
        stream.close()
    return answers


def _pipe() -> tuple[IO[bytes], IO[bytes]]:
    reading, writing = os.pipe()
    return open(reading, "rb"), open(writing, "wb")


def test_one_job_after_the_other_is_answered_until_the_input_ends() -> None:
    job = {"decode": False, "never_larger": True, "first_index": 0}
    plain = Message(message_id="m", parts=[new_data_part(ROWS[:40])])
    ready, framed, as_it_is, refused = served(
        (job, plain), (job, Message(parts=[new_text_part("x")])), ({**job, "decode": True}, broken())
    )
    assert ready == READY
    assert framed[1][0][2] == encode(plain).SerializeToString()
    assert as_it_is == ({}, [])
    assert refused[0]["code"].startswith("E") and not refused[1]


def test_a_process_without_jobs_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_process, "MAX_IDLE", 0)
    reading, writing = _pipe()
    with reading, writing, open(os.devnull, "wb") as answers:
        serve(reading, answers)


@pytest.mark.parametrize("sent", [b"", b'{"pieces": []', json.dumps({"pieces": [[0, [], 5]]}).encode() + b"\nabc"])
def test_an_answer_that_breaks_off_is_none(sent: bytes) -> None:
    reading, writing = _pipe()
    with reading:
        with writing:
            writing.write(sent)
        assert read_pieces(reading) is None
