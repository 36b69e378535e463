"""Two processes on one store and one checkpointer: one is killed, the other goes on, and nothing is missing."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.store.postgres import PostgresStore
from langgraph.store.sqlite import SqliteStore

ROOT = Path(__file__).parents[3]
# How many deaths each pair of saver and store dies, a seeded choice among all; "all" tries every place to die.
DEATHS = os.environ.get("ACCP_DEATHS", "2")
PAIRS = {
    "postgres, PostgresStore": ("postgres", "PostgresStore", "middleware"),
    "postgres, PostgresStore, async": ("postgres", "PostgresStore", "async"),
    "postgres, PostgresStore, by hand": ("postgres", "PostgresStore", "by hand"),
    "postgres, RedisColdStore": ("postgres", "RedisColdStore", "middleware"),
    "postgres, no store": ("postgres", "none", "middleware"),
    "sqlite, SqliteStore": ("sqlite", "SqliteStore", "middleware"),
    "sqlite, SqliteColdStore": ("sqlite", "SqliteColdStore", "middleware"),
    "sqlite, SqliteColdStore, by hand": ("sqlite", "SqliteColdStore", "by hand"),
}


class Workers:
    """The process from which workers are forked."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "tests.adapters.langgraph.worker"]
        self.process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def do(self, job: dict[str, Any]) -> dict[str, Any]:
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        assert "failed" not in answer, answer
        return dict(answer)


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    opened = Workers()
    with opened.process:
        yield opened
        assert opened.process.stdin
        opened.process.stdin.close()


@pytest.fixture(params=PAIRS)
def job(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, Any]:
    saver, store, graph = PAIRS[request.param]
    url = request.getfixturevalue("postgres_url") if saver == "postgres" else ""
    places = {
        "PostgresStore": url,
        "RedisColdStore": request.getfixturevalue("redis_url") if store == "RedisColdStore" else "",
        "SqliteStore": str(tmp_path / "store.sqlite"),
        "SqliteColdStore": str(tmp_path / "cold.sqlite"),
    }
    place = url or str(tmp_path / "checkpoints.sqlite")
    found = {"saver": saver, "place": place, "store": store, "store_place": places.get(store), "graph": graph}
    set_up(found)
    return found | {"durability": "sync", "kill_at": None, "kill_after": None}


def set_up(job: dict[str, Any]) -> None:
    """Make the tables, as a deployment does before its workers start."""
    savers: dict[str, Any] = {"postgres": PostgresSaver, "sqlite": SqliteSaver}
    saver_stores: dict[str, Any] = {"PostgresStore": PostgresStore, "SqliteStore": SqliteStore}
    with savers[job["saver"]].from_conn_string(job["place"]) as saver:
        saver.setup()
    if job["store"] in saver_stores:
        with saver_stores[job["store"]].from_conn_string(job["store_place"]) as store:
            store.setup()


@pytest.mark.slow
def test_whoever_goes_on_ends_where_an_undisturbed_worker_ends(workers: Workers, job: dict[str, Any]) -> None:
    began = time.monotonic()
    calm = workers.do(job)
    lasted = time.monotonic() - began
    for name in ("a", "b"):
        assert calm[name]["restored"] == [True, True, True]
        assert [message[0] for message in calm[name]["messages"]].count("tool") == 5
    places = range(1, calm["b"]["passed"] + 1)
    dice = random.Random(0)
    at = [{"kill_at": place} for place in (places if DEATHS == "all" else dice.sample(places, int(DEATHS)))]
    after = [{"kill_after": dice.uniform(0, lasted)} for _ in range(max(1, len(at) // 6))]
    for death in [*at, *after]:
        ended = workers.do(job | death | {"durability": dice.choice(["sync", "async", "exit"])})
        for name in ("a", "b"):
            assert (death, ended[name]["dangling"]) == (death, [])
            assert (death, ended[name]["restored"]) == (death, [True, True, True])
            assert (death, ended[name]["messages"]) == (death, calm[name]["messages"])
