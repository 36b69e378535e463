"""Logs and checkpoints come from anywhere: reading them runs nothing, writes nothing and takes bounded memory."""

import gzip
import io
import json
import os
import re
import sqlite3
import tracemalloc
from contextlib import closing
from functools import reduce
from pathlib import Path
from typing import Annotated, Any, TypedDict

import ormsgpack
import pytest
from langchain_core.messages import AnyMessage, convert_to_messages
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import StateGraph
from langgraph.graph.message import add_messages

from accp_adapters.replay import AS_RECORDED, Findings, UnreadableRun, parse_runs, read_runs, replay
from accp_adapters.replay.formats.run_files import read_documents
from tests.conformance.vectors import ROOT


class State(TypedDict):
    """A state of messages and something else."""

    messages: Annotated[list[AnyMessage], add_messages]
    secret: str


NESTED = reduce(lambda inner, _: ormsgpack.packb(ormsgpack.Ext(7, inner)), range(3000), ormsgpack.packb(1))


def store(saver: Any, thread: str = "t1") -> None:
    """Let a graph put the conversation into `saver`, message by message."""
    graph = StateGraph(State).add_node("noop", lambda state: {}).set_entry_point("noop").compile(checkpointer=saver)
    config: Any = {"configurable": {"thread_id": thread}}
    for message in convert_to_messages(json.loads((ROOT / "replay" / "openai_list.json").read_text())):
        graph.invoke({"messages": [message], "secret": "sk-1234"}, config)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "threads.sqlite"
    with SqliteSaver.from_conn_string(str(path)) as saver:
        store(saver)
    return path


def alter(path: Path, statement: str, values: tuple[object, ...] = ()) -> None:
    """Execute one statement on a database."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement, values)


def tokens(runs: list[Any]) -> list[int]:
    return [call.charge.tokens for run in runs for call in replay(run, AS_RECORDED).calls]


READER = "accp_adapters.replay.formats.run_files"
EXPECTED = tokens(list(read_runs(ROOT / "replay" / "openai_list.json")))


def test_the_last_checkpoint_of_a_thread_is_its_run(database: Path) -> None:
    before = database.read_bytes()
    findings = Findings()
    runs = list(read_runs(database, findings=findings))
    assert tokens(runs) == EXPECTED
    assert findings.not_understood() == []
    assert list(map(str, findings.left_out())) == [f"1 channel 'secret' of a LangGraph state ({database}:1)"]
    assert "sk-1234" not in repr(runs)
    assert database.read_bytes() == before


@pytest.mark.parametrize("code", range(8))
def test_a_checkpoint_that_would_run_code_is_read_as_data(
    code: int, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ACCP_TEST_WEAPON", raising=False)
    for target in ((__name__, "Weapon"), ("os", "system"), ("builtins", "eval")):
        inner = ormsgpack.packb((*target, {"command": "false"}, "__call__"))
        content = ormsgpack.packb({"channel_values": {"messages": [ormsgpack.Ext(code, inner)]}})
        alter(database, "UPDATE checkpoints SET checkpoint = ?", (content,))
        try:
            runs = list(read_runs(database, findings=Findings()))
        except UnreadableRun:
            runs = []
        assert runs == []
    assert "ACCP_TEST_WEAPON" not in os.environ


def test_a_checkpoint_in_pickle_is_refused(database: Path) -> None:
    content = b"cos\nsystem\n(S'touch /tmp/accp-test-weapon'\ntR."
    alter(database, "UPDATE checkpoints SET type = 'pickle', checkpoint = ?", (content,))
    with pytest.raises(UnreadableRun, match="found 'pickle'"):
        list(read_runs(database))
    assert not Path("/tmp/accp-test-weapon").exists()


def test_a_checkpoint_without_messages_is_named(tmp_path: Path, database: Path) -> None:
    content = ormsgpack.packb({"channel_values": {"todos": [1]}})
    alter(database, "UPDATE checkpoints SET checkpoint = ?", (content,))
    findings = Findings()
    assert list(read_runs(database, findings=findings)) == []
    assert "1 checkpoint without messages, or with messages that are kept as changes" in str(
        findings.not_understood()[0]
    )


@pytest.mark.parametrize(
    "schema",
    [
        "CREATE TABLE other (x)",
        "CREATE VIEW checkpoints AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n",
        "CREATE VIRTUAL TABLE checkpoints USING fts5(thread_id, checkpoint_ns, checkpoint_id, type, checkpoint)",
    ],
)
def test_a_database_without_the_table_of_the_saver_is_refused(tmp_path: Path, schema: str) -> None:
    path = tmp_path / "other.db"
    alter(path, schema)
    with pytest.raises(UnreadableRun, match="expected the table 'checkpoints' of LangGraph's SqliteSaver"):
        list(read_runs(path))


def test_a_checkpoint_that_is_too_large_is_refused(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{READER}.MAX_RECORD", 100)
    with pytest.raises(UnreadableRun, match="expected checkpoints of at most 100 bytes"):
        list(read_runs(database))


@pytest.mark.parametrize("content", [b"\xc1", b"\x81", ormsgpack.packb([1]), NESTED])
def test_a_broken_checkpoint_is_refused(database: Path, content: bytes) -> None:
    alter(database, "UPDATE checkpoints SET checkpoint = ?", (content,))
    with pytest.raises(UnreadableRun, match="expected checkpoints of LangGraph"):
        list(read_runs(database))


def test_a_dump_that_names_a_class_or_a_secret_makes_no_object() -> None:
    shell = {"lc": 1, "type": "constructor", "id": ["subprocess", "Popen"], "kwargs": {"args": "false", "content": ""}}
    secret = {"lc": 1, "type": "secret", "id": ["OPENAI_API_KEY"]}
    messages = [{"lc": 1, "type": "constructor", "id": ["langchain", "HumanMessage"], "kwargs": {"content": "go"}}]
    with pytest.raises(UnreadableRun, match="expected one of"):
        parse_runs(json.dumps(shell), path="dump.json")
    findings = Findings()
    parse_runs(json.dumps([*messages, {**messages[0], "kwargs": {"content": [secret]}}]), path="d", findings=findings)
    assert any("block of type 'secret'" in str(finding) for finding in findings)


CHAT = b'[{"role":"user","content":"go"},{"role":"assistant","content":"a"}]\n'


@pytest.mark.parametrize(
    ("line", "runs", "found"),
    [
        (b"\n", 3, r"a run in 1,000 lines, found none \(.*gz:4001\)"),
        (b'{"a": 1}\n', 3, r"a run in 1,000 lines, found none \(.*gz:4001\)"),
        (b'[{"role":"user","content":"go"}]\n', 3, r"a run in 1,000 lines, found none \(.*gz:4001\)"),
        (CHAT, 1001, r"at most 1,000 runs in a file; the next ones are not read: split it"),
    ],
)
def test_lines_and_runs_are_read_up_to_a_limit(
    line: bytes, runs: int, found: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"{READER}._MAX_BARREN", 1000)
    monkeypatch.setattr(f"{READER}._BYTES_OF_RUN", 1_000_000)
    path, findings = tmp_path / "log.jsonl.gz", Findings()
    path.write_bytes(gzip.compress((line * 999 + CHAT) * 3 + line * 100_000))
    assert len(list(read_runs(path, findings=findings))) == runs
    assert re.search(f"expected {found}", str(list(findings)[-1]))


def test_a_record_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{READER}.MAX_RECORD", 1000)
    log = '{"a": 1}\n' + json.dumps({"text": "x" * 2000}) + '\n{"a": 2}'
    broken: list[UnreadableRun] = []
    assert list(read_documents(io.BytesIO(log.encode()), "log.jsonl", broken.append)) == [(1, {"a": 1}), (3, {"a": 2})]
    assert "log.jsonl:2:1: expected records of at most 1,000 bytes" in str(broken)


@pytest.mark.parametrize("pattern", ["", "/**/*.jsonl", "/*/*.jsonl"])
def test_links_and_pipes_in_a_folder_or_below_a_pattern_are_named_and_not_followed(
    pattern: str, tmp_path: Path
) -> None:
    folder, findings = tmp_path / "logs", Findings()
    (folder / "day").mkdir(parents=True)
    (folder / "day" / "run.jsonl").write_bytes(CHAT)
    os.mkfifo(folder / "day" / "pipe.jsonl")
    for name, target in {"latest": "day", "self": ".", "day/out.jsonl": "/etc/passwd"}.items():
        (folder / name).symlink_to(target)
    assert len(list(read_runs(f"{folder}{pattern}", folder / "day" / "run.jsonl", findings=findings))) == 1
    (lost,) = findings.not_understood()
    assert lost.detail == "which is not followed: 'out.jsonl'"
    assert {each.detail.rpartition(" ")[2] for each in findings.left_out()} == {"'latest'", "'self'", "'pipe.jsonl'"}


def test_broken_gzip_and_broken_utf8_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl.gz"
    line = json.dumps({"messages": [{"role": "user", "content": "go"}, {"role": "assistant", "content": "gone"}]})
    path.write_bytes(gzip.compress(f"{line}\n".encode() * 1000)[:-20])
    with pytest.raises(UnreadableRun, match="expected gzip"):
        list(read_runs(path))
    path.write_bytes(gzip.compress(b'[{"role":"user","content":"' + b"a" * 9_000_000))
    with pytest.raises(UnreadableRun, match="expected gzip of at most 200 times its bytes; unpack it first"):
        list(read_runs(path))
    path.write_bytes(b'{"messages": [\xff]}')
    with pytest.raises(UnreadableRun, match=r"log\.jsonl\.gz:1:15: expected UTF-8"):
        list(read_runs(path))


def test_what_is_hostile_between_two_records_is_named_by_its_line() -> None:
    record = json.dumps(
        {"messages": [{"role": "user", "content": "go\0\ud800"}, {"role": "assistant", "content": "a"}]}
    )
    hostile = [
        "[" * 5000,
        '{"a": ' + "9" * 5000 + "}",
        '{"messages": 1e999}',
        "\0",
        '{"messages": [1]}',
        "[[[{}]]]",
        '{"role": {}}',
    ]
    lines = [record, *(line for each in hostile for line in (each, record))]
    findings = Findings()
    runs = parse_runs("\n".join(lines), path="log.jsonl", findings=findings)
    assert len(runs) == len(hostile) + 1
    assert {finding.line for finding in findings.not_understood()} <= set(range(2, len(lines), 2))
    assert sum(finding.count for finding in findings.not_understood()) == len(hostile)


def test_a_million_blanks_are_counted() -> None:
    # tiktoken panics there, with an exception that `except Exception` does not catch.
    turns = [{"role": "user", "content": "a" + " " * 1_200_000 + "b"}, {"role": "assistant", "content": "x"}]
    (run,) = parse_runs(json.dumps(turns), path="log.json")
    (call,) = replay(run, AS_RECORDED).calls
    assert call.charge.tokens > 1000


@pytest.mark.parametrize("values", [b"[],", b"{},", b"1,", b'{"":', "\U0001f600".encode()])
@pytest.mark.parametrize("name", ["log.jsonl", "log.json.gz"])
def test_a_record_of_many_values_is_refused_before_it_is_read(tmp_path: Path, name: str, values: bytes) -> None:
    path, data = tmp_path / name, b'{"messages":[{"role":"user","content":"x","y":[' + values * 21_000_000
    path.write_bytes(gzip.compress(data, 1) if name.endswith(".gz") else data)
    tracemalloc.start()
    with pytest.raises(UnreadableRun, match="expected records of at most 536,870,912 bytes of memory"):
        list(read_runs(path))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100 << 20


def test_open_runs_hold_their_texts_alone_up_to_a_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accp_adapters.replay.formats.assembly._SHARE", 100_000)
    # The keys in the text of a result are none of its record.
    monkeypatch.setattr("accp_adapters.replay.formats.conversation.MAX_MEMORY", 40_000_000)
    result = {"role": "tool", "tool_call_id": "c1", "content": "[" + '{"a":1},' * 110_000 + "1]"}
    turns = [{"role": "user", "content": "go"}, result, {"role": "assistant", "content": "a"}]
    log = tmp_path / "log.jsonl"
    log.write_text("\n".join(json.dumps([{"role": "system", "content": str(n)}, *turns]) for n in range(20)))
    tracemalloc.start()
    runs = read_runs(log)
    first, held = next(runs), tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert first.name.endswith(":1") and len(list(runs)) == 19 and held < 14_000_000


def test_a_run_of_too_many_messages_is_a_finding_and_the_next_one_is_read() -> None:
    findings = Findings()
    lines = [json.dumps([{"role": "user", "content": str(n)}, {"role": "assistant", "content": "a"}]) for n in (1, 2)]
    many = json.dumps([{"role": role, "content": "x"} for role in ("assistant", "user")] * 20_000)
    tracemalloc.start()
    runs = parse_runs("\n".join([lines[0], many, lines[1]]), path="runs.jsonl", findings=findings)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(runs) == 2 and peak < 100_000_000
    reason = "OpenAI chat: expected at most 5,000 messages in a run, found 40,000"
    assert list(map(str, findings)) == [f"1 record that cannot be read: {reason} (runs.jsonl:2)"]
