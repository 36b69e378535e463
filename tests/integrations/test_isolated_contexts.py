"""The team with isolated contexts: it is started as a process, like a user would, and checks itself."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("langgraph.checkpoint.postgres")

FOLDER = Path(__file__).parents[2] / "integrations" / "isolated_contexts"


def test_the_check_passes() -> None:
    done = subprocess.run([sys.executable, "-W", "error", str(FOLDER / "check.py")], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    *_, last = done.stdout.splitlines()
    assert last.startswith("SQLite: right, ")


def test_it_says_where_it_keeps_the_run_and_what_it_took(tmp_path: Path) -> None:
    command = [sys.executable, "-W", "error", str(FOLDER / "app.py"), "--sqlite", "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("SQLite files instead of PostgreSQL: chosen by --sqlite\nSQLite: 73 customers; ")
    told = figures((FOLDER / "README.md").read_text(encoding="utf-8"))
    measured = figures(done.stdout)
    assert list(measured) == list(told) == ["shared history", "isolated contexts"]
    for name, numbers in measured.items():
        assert numbers == pytest.approx(told[name], rel=0.05)


def figures(text: str) -> dict[str, list[float]]:
    """Return the rows of the table in a text: name to numbers."""
    rows = re.findall(r"^\| (\w+ \w+) \|((?: [0-9,]+ \|)+)$", text, re.MULTILINE)
    return {name: [float(cell.replace(",", "")) for cell in cells.split("|") if cell.strip()] for name, cells in rows}
