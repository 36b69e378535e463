"""Replay on Ray: two workers come to the totals of the command, from JSON lines and from Parquet."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from accp_adapters.cli.app import app
from tests.conformance.vectors import ROOT
from tests.limits import PROGRAM_PATIENCE

pytest.importorskip("ray", reason="Ray Data is not installed: pip install --group ray")
pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install --group ray")
parquet = pytest.importorskip("pyarrow.parquet")

APP = Path(__file__).parents[2] / "integrations" / "replay_on_ray" / "app.py"
LOGS = ("openai_exchanges.jsonl", "anthropic_exchanges.jsonl", "langsmith.jsonl")
OPTIONS = ("--policy", "compact-json,default")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with each log as JSON lines and as Parquet, once by columns and once as texts."""
    folder = tmp_path / "logs"
    folder.mkdir()
    for name in LOGS:
        log = Path(shutil.copy(ROOT / "replay" / name, folder))
        lines = log.read_text(encoding="utf-8").splitlines()
        rows = [{"record": line} for line in lines] if name.startswith("anthropic") else list(map(json.loads, lines))
        parquet.write_table(pyarrow.Table.from_pylist(rows), log.with_suffix(".parquet"))
    return folder


def test_two_workers_come_to_the_totals_of_the_command(folder: Path, tmp_path: Path) -> None:
    command = [sys.executable, str(APP), str(folder), *OPTIONS, "--cpus", "2"]
    # Ray keeps a token for its connections in the home folder.
    done = subprocess.run(
        command, capture_output=True, text=True, env=os.environ | {"HOME": str(tmp_path)}, timeout=PROGRAM_PATIENCE
    )
    assert done.returncode == 0, done.stderr
    ours = json.loads(done.stdout)
    files = [str(folder / name) for name in LOGS]
    theirs = CliRunner().invoke(app, ["replay", *files, *files, *OPTIONS, "--json"])
    expected = [whole(each["total"]) for each in json.loads(theirs.stdout)["policies"]]
    assert [whole(each["total"]) for each in ours["policies"]] == expected
    assert expected[0]["runs"] == 2 * len(LOGS)
    assert ours["not_understood"] == []
    assert ours["workers"] == 2


def whole(total: Any) -> Any:
    """Return the figures of a total without what the order of a sum of fractions changes."""
    if isinstance(total, dict):
        return {name: whole(value) for name, value in total.items()}
    return round(total, 6) if isinstance(total, float) else total
