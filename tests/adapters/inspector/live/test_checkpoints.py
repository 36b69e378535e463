"""Checkpoints of real graphs as threads: who said what to whom, what each model was really sent, who may open what."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.sqlite import SqliteSaver

from accp_adapters.inspector.live import open_source
from accp_adapters.inspector.live.prompts import ShownProjection
from accp_adapters.inspector.live.references import references_of
from accp_adapters.inspector.live.threads import Observed, Thread
from accp_adapters.replay import StrategyName, UnreadableRun
from accp_core.references import parse_reference
from tests.adapters.inspector.live.graphs import run_swarm

SWARM = [
    ("words", "user", "sales"),
    ("call", "sales", ""),
    ("result", "sales", ""),
    ("handoff", "sales", "billing"),
    ("result", "sales", ""),
    ("handoff", "sales", "billing"),
    ("call", "billing", ""),
    ("result", "billing", ""),
    ("call", "billing", ""),
    ("result", "billing", ""),
    ("words", "billing", "user"),
]


def thread_of(observed: Observed, name: str) -> Thread:
    (found,) = (thread for thread in observed.threads if thread.name == name)
    return found


def lanes_of(thread: Thread) -> list[tuple[str, str, str]]:
    return [(str(event.kind), event.sender, event.recipient) for event in thread.events]


def test_a_swarm_has_a_lane_for_each_agent_and_an_arrow_for_the_handoff(checkpoints: Path) -> None:
    before = checkpoints.read_bytes()
    observed = open_source(str(checkpoints)).read()
    assert [thread.name for thread in observed.threads] == ["churn", "orders"]
    assert lanes_of(thread_of(observed, "orders")) == SWARM
    assert observed.findings == ()
    assert checkpoints.read_bytes() == before


def test_a_call_has_the_prompt_that_its_agent_was_sent_and_not_the_history_of_all(checkpoints: Path) -> None:
    (run,) = thread_of(open_source(str(checkpoints)).read(), "orders").runs
    assert [(call.agent, len(call.prompt)) for call in run.calls] == [
        ("sales", 1), ("sales", 3), ("billing", 1), ("billing", 3), ("billing", 5)
    ]  # fmt: skip
    first = run.calls[2].prompt
    assert run.messages[first[0]].text.startswith("Remind who has an open order over 900: $cold.")


def test_a_team_is_a_master_and_its_agents_with_their_contexts(checkpoints: Path) -> None:
    team = thread_of(open_source(str(checkpoints)).read(), "churn")
    assert [(event.sender, event.recipient) for event in team.events] == [
        ("user", "master"), ("master", "crm"), ("crm", ""), ("crm", ""), ("crm", "master"), ("master", "mail"),
        ("mail", "master"), ("master", "user"),
    ]  # fmt: skip
    assert team.task is not None and str(team.task.overall_status) == "completed"
    assert [(context.agent_id, dict(context.abstracts)) for context in team.contexts] == [
        ("crm", {"1": "13 of 90", "2": "basic, 8 of 13"}),
        ("mail", {"1": "Dear customer, basic has a new price."}),
    ]
    assert [call.agent for run in team.runs for call in run.calls] == ["crm", "crm", "mail"]


def test_a_reference_says_who_put_it_and_who_opened_it(checkpoints: Path) -> None:
    thread = thread_of(open_source(str(checkpoints)).read(), "orders")
    cited = ShownProjection(thread.runs[0], StrategyName.DEFAULT).references
    found = references_of(thread, {reference: (0, position) for reference, position in cited.items()})
    reference = found[parse_reference(next(iter(cited)))]
    assert (reference.put_by, reference.opened, reference.refused) == ("orders", ["billing"], 0)
    assert reference.kept == "as long as the thread holds the message"
    assert reference.tokens and reference.tokens > 4_000
    unknown = found["cold." + "0" * 29]
    assert (unknown.text, unknown.opened, unknown.refused) == (None, ["billing (refused)"], 1)


def test_what_a_graph_writes_later_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "threads.sqlite"
    with SqliteSaver.from_conn_string(str(path)) as saver:
        run_swarm(saver, "one")
        source = open_source(str(path))
        first = source.read()
        assert source.read() is first, "an unchanged source is not read again"
        run_swarm(saver, "two")
        assert [thread.name for thread in source.read().threads] == ["one", "two"]


def test_threads_in_postgres_are_the_same(postgres_url: str, checkpoints: Path) -> None:
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("CREATE DATABASE inspected")
    address = postgres_url.replace("/postgres?", "/inspected?")
    with PostgresSaver.from_conn_string(address) as saver:
        saver.setup()
        run_swarm(saver)
        source = open_source(address)
        first = source.read()
        assert lanes_of(first.threads[0]) == SWARM
        assert (source.read() is first, source.name) == (True, "postgresql:///inspected")
        run_swarm(saver, "more")
        assert [thread.name for thread in source.read().threads] == ["more", "orders"]


def test_a_password_in_a_url_is_refused_and_not_repeated() -> None:
    source = open_source("postgresql://me:hunter2@localhost/db")
    assert "hunter2" not in source.name
    with pytest.raises(UnreadableRun, match="expected the password in PGPASSWORD") as refused:
        source.read()
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("CREATE TABLE other (a)", "found other"),
        ("CREATE VIEW checkpoints AS SELECT 1", "found none"),
        ("CREATE VIRTUAL TABLE checkpoints USING fts5(a)", "found "),
    ],
)
def test_a_database_of_something_else_is_refused(tmp_path: Path, statement: str, reason: str) -> None:
    path = tmp_path / "other.sqlite"
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(statement)
    with pytest.raises(UnreadableRun, match=f"expected the tables of LangGraph's SqliteSaver.*{reason}"):
        open_source(str(path))


def test_a_broken_database_is_refused(tmp_path: Path, checkpoints: Path) -> None:
    path = tmp_path / "broken.sqlite"
    shutil.copy(checkpoints, path)
    with path.open("r+b") as stream:
        stream.seek(50)
        stream.write(b"\xff" * 8_000)
    with pytest.raises(UnreadableRun):
        open_source(str(path)).read()
