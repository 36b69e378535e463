"""Frames in files and in the logs of session hosts: to whom each goes, its words and tokens, secrets hidden."""

from __future__ import annotations

import asyncio
import json
import logging
import sqlite3
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import pytest

from accp_adapters.bindings.hosts import SessionHost
from accp_adapters.bindings.logs import open_log
from accp_adapters.cli.debug import JsonLines
from accp_adapters.inspector.live import open_source
from accp_adapters.inspector.live.frame_record import FrameRecord, recipients, record_of_text
from accp_adapters.inspector.live.frames import show_frame, shown_time
from accp_adapters.inspector.live.sources import frame_file, sessions
from accp_adapters.inspector.live.sources.frame_file import FrameFile
from accp_adapters.inspector.live.threads import Thread
from accp_adapters.replay import UnreadableRun
from accp_adapters.tokens import count_o200k
from accp_core.accp import parse_frame
from accp_core.accp.debug import DebugLog, Direction, FrameSeen
from accp_core.errors import ProtocolError
from tests.adapters.bindings.hosts.agents import ANN, CODEC, Client
from tests.adapters.bindings.hosts.test_host import echo

ASKED = "@planner>req:lookup{customer:42|api_key:hunter2}[mid:00000000000a,seq:1,ts:1714000000,sid:s-1]"
ANSWERED = "@crm>done:lookup{found:true}[mid:00000000000b,seq:1,ts:1714000001,cid:00000000000a,sid:s-1]"
FAILED = "@crm>fail:lookup{code:E4001}[mid:00000000000c,seq:2,ts:1714000002,cid:00000000000a,sid:s-1]"


def threads_of(path: Path) -> dict[str, Thread]:
    return {thread.name: thread for thread in open_source(str(path)).read().threads}


def lanes(thread: Thread) -> list[tuple[str, str, str, str]]:
    return [(str(event.kind), event.sender, event.recipient, event.title) for event in thread.events]


def test_a_request_goes_to_whom_answers_it_and_the_answer_back(tmp_path: Path) -> None:
    path = tmp_path / "frames.jsonl"
    path.write_text("\n".join([ASKED, "", json.dumps(ANSWERED), json.dumps({"frame": FAILED}), ""]), "utf-8")
    thread = threads_of(path)["s-1"]
    assert lanes(thread) == [
        ("request", "planner", "crm", "req lookup"),
        ("done", "crm", "planner", "done lookup"),
        ("failure", "crm", "planner", "fail lookup"),
    ]
    assert [event.at for event in thread.events] == [1714000000, 1714000001, 1714000002]


def test_among_several_agents_only_what_is_recorded_decides() -> None:
    texts = [ASKED, ANSWERED, "@mail>sync:state{}", "@mail>req:ask{}[mid:00000000000d]"]
    assert recipients([record_of_text(text) for text in texts]) == ["crm", "planner", "", ""]
    # Both frames of a request may name what they belong to instead of each other.
    both = ["@a>req:x{}[mid:000000000001,cid:42]", "@c>sync:x{}", "@b>done:x{}[mid:000000000002,cid:42]"]
    assert recipients([record_of_text(text) for text in both])[0] in ("", "b")
    assert recipients([FrameRecord(operation="connect")]) == [""]


def test_a_frame_is_shown_in_words_with_its_tokens_and_without_its_secrets() -> None:
    shown = show_frame(record_of_text(ASKED))
    assert shown.words.startswith("Request by planner: lookup(customer=42, api_key=[redacted]) [")
    assert "customer:42" in shown.text and "hunter2" not in shown.text + shown.words
    assert (shown.redacted, shown.tokens) == (True, count_o200k(ASKED))
    assert ("time", "2024-04-24 23:06:40") in shown.facts
    plain = show_frame(record_of_text(ANSWERED))
    assert (plain.text, plain.redacted) == (ANSWERED, False)
    nested = show_frame(record_of_text("@a>req:x{settings:{token:hunter2}|rows:[{password:hunter2}]}"))
    assert "hunter2" not in nested.text + nested.words


def test_what_is_no_frame_is_shown_with_the_reason(tmp_path: Path) -> None:
    path = tmp_path / "frames.txt"
    path.write_text(f"{ASKED}\n@crm>shout:x{{}}\nnot a frame\n", "utf-8")
    observed = open_source(str(path)).read()
    refused = next(thread for thread in observed.threads if thread.name == "frames").events[0]
    assert (refused.kind, refused.sender) == ("failure", "unknown")
    assert refused.title == "no frame: E1002: expected a known intent, at position 5"
    assert refused.frame is not None
    assert show_frame(refused.frame).facts[-1][0] == "refused"
    assert observed.findings == ("1 entries of other kinds, or beyond what is kept",)


def test_the_log_of_debug_mode_is_followed_as_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "frames.jsonl"
    path.touch()
    handler = logging.FileHandler(path)
    handler.setFormatter(JsonLines())
    logger = logging.Logger("frames", logging.DEBUG)
    logger.addHandler(handler)
    observe = DebugLog(logger=logger)
    source = open_source(str(path))
    assert source.read().threads == ()
    for direction, text in ((Direction.SENT, ASKED), (Direction.RECEIVED, ANSWERED)):
        observe(FrameSeen(direction=direction, session_id="s-1", frame=parse_frame(text), tokens=count_o200k(text)))
    observe(FrameSeen(direction=Direction.RECEIVED, session_id="s-1", frame=None, code="E1001", reason="no frame"))
    (thread,) = source.read().threads
    assert lanes(thread)[:2] == [
        ("request", "planner", "crm", "req lookup"),
        ("done", "crm", "planner", "done lookup"),
    ]
    assert lanes(thread)[2][0] == "failure"
    frame = thread.events[0].frame
    assert frame is not None
    shown = show_frame(frame)
    assert (shown.text, shown.tokens) == ("", count_o200k(ASKED))
    assert "api_key=[redacted]" in shown.words
    handler.close()


def test_only_whole_new_lines_are_read_and_a_new_file_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "frames.jsonl"
    path.write_text(ASKED + "\n" + ANSWERED[:20], "utf-8")
    source = FrameFile(str(path))
    first = source.read()
    assert [len(thread.events) for thread in first.threads] == [1]
    assert source.read() is first
    with path.open("a", encoding="utf-8") as stream:
        stream.write(ANSWERED[20:] + "\n")
    assert [len(thread.events) for thread in source.read().threads] == [2]
    path.write_text(FAILED + "\n", "utf-8")
    assert [event.title for event in source.read().threads[0].events] == ["fail lookup"]


def test_a_hostile_file_takes_bounded_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frame_file, "_MAX_LINE", 200)
    monkeypatch.setattr(sessions, "MAX_THREADS", 3)
    path = tmp_path / "frames.jsonl"
    lines = [f"@a>req:x{{}}[sid:s{number}]" for number in range(9)] + ["@a>req:x{" + "y" * 500]
    lines += [
        '{"frame": 1}',
        "[" * 5_000,
        '{"direction": "sent", "session_id": "s1", "intent": 3, "tokens": "x"}',
        "\0",
    ]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    observed = FrameFile(str(path)).read()
    assert (len(observed.threads), observed.left_out) == (3, 3)
    assert observed.findings == ("4 entries of other kinds, or beyond what is kept",)


def test_of_too_many_frames_the_last_are_kept_and_the_rest_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "MAX_FRAMES", 4)
    path = tmp_path / "frames.jsonl"
    path.write_text("".join(f"@a>req:x{number}{{}}\n" for number in range(10)), "utf-8")
    (thread,) = FrameFile(str(path)).read().threads
    assert [event.title for event in thread.events] == [f"req x{number}" for number in range(6, 10)]
    assert thread.note == "6 earlier frames are not shown"


@pytest.mark.parametrize("kind", ["sqlite", "redis", "nats"])
async def test_the_sessions_of_a_host_are_read_from_its_log(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    path = tmp_path / "log.db"
    address = f"sqlite:{path}" if kind == "sqlite" else str(request.getfixturevalue(f"{kind}_url"))
    log = open_log(address)
    client = Client(f"of-{kind}")
    async with SessionHost(echo, codec=CODEC, log=log) as host:
        client.messages(await host.frames(ANN, client.ask("add", n=7)))
        source = open_source(address)
        first = await asyncio.to_thread(source.read)
        thread = first.threads[0]
        assert lanes(thread)[0][:2] == ("request", "ann")
        assert ("done", "agent", "ann", "done add") in lanes(thread)
        # Between two reads, a busy host may say that it is still there, which changes its log.
        reads = [await asyncio.to_thread(source.read) for _ in range(9)]
        assert any(earlier is later for earlier, later in pairwise(reads))
        client.messages(await host.frames(ANN, client.ask("add", n=8)))
        later = (await asyncio.to_thread(source.read)).threads[0]
        assert len(later.events) > len(thread.events)
        assert later.events[: len(thread.events)] == thread.events
    await log.aclose()


@pytest.mark.parametrize("address", ["redis://me:hunter2@127.0.0.1:1/0", "nats://me:hunter2@127.0.0.1:1"])
def test_a_server_that_is_not_there_is_refused_without_its_password(address: str) -> None:
    source = open_source(address)
    with pytest.raises(ProtocolError, match="expected") as refused:
        source.read()
    assert refused.value.code == "E3001"
    assert "hunter2" not in f"{refused.value} {source.name}"


def test_an_entry_that_is_no_step_is_shown_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE logs (name BLOB, number INTEGER)")
        database.execute("CREATE TABLE texts (name BLOB, number INTEGER, text TEXT)")
        database.execute("INSERT INTO logs VALUES (x'ff41', 7)")
        database.execute("INSERT INTO texts VALUES (x'ff41', 8, '<script>alert(1)</script>')")
    (thread,) = open_source(str(path)).read().threads
    assert (thread.name, thread.note) == ("\ufffdA", "a snapshot stands for the first 7 steps")
    assert thread.events[0].kind == "failure"


def test_a_database_whose_tables_have_other_columns_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    with closing(sqlite3.connect(path)) as database, database:
        database.executescript("CREATE TABLE logs (a); CREATE TABLE texts (b)")
    with pytest.raises(UnreadableRun, match="expected a SQLite file that can be read: no such column: n"):
        open_source(str(path)).read()


def test_a_time_of_no_calendar_is_not_shown() -> None:
    assert shown_time(None) == shown_time(1e30) == ""
