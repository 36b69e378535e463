"""A database of checkpoints that real graphs have written."""

from __future__ import annotations

from pathlib import Path

import pytest
from langgraph.checkpoint.sqlite import SqliteSaver

from tests.adapters.inspector.live.graphs import run_swarm, run_team


@pytest.fixture(scope="session")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a database with a swarm of two agents and a team of two agents; tests only read it."""
    path = tmp_path_factory.mktemp("inspector") / "threads.sqlite"
    with SqliteSaver.from_conn_string(str(path)) as saver:
        run_swarm(saver)
        run_team(saver)
    return path
