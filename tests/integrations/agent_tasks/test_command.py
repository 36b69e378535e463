"""`python -m integrations.agent_tasks` from the command line."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from integrations.agent_tasks.__main__ import app
from tests.limits import PROGRAM_PATIENCE

ROOT = Path(__file__).parents[3]


def test_tasks_in_two_arms(tmp_path: Path) -> None:
    def run(name: str, *more: str) -> str:
        out = ["--out", str(tmp_path / f"{name}.jsonl"), "--size", "0.2", "--task", "returned_orders"]
        arms = ["--arm", "without", "--arm", "default"]
        result = CliRunner().invoke(app, ["--model", "scripted", *out, *arms, *more])
        assert result.exit_code == 0, result.output
        return result.stdout

    shown = run("one")
    assert "1/1" in shown and "returned_orders" in shown
    figures = json.loads(run("two", "--json", "--max-tokens", "1"))
    assert (figures["missing"], [arm["arm"] for arm in figures["arms"]]) == (1, ["without"])


@pytest.mark.slow
def test_it_is_started_from_a_checkout() -> None:
    words = ["--model", "scripted", "--task", "voucher", "--size", "0.2", "--arm", "without", "--json"]
    run = subprocess.run(
        [sys.executable, "-m", "integrations.agent_tasks", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PROGRAM_PATIENCE,
    )
    assert (run.returncode, run.stderr) == (0, "")
    assert [(arm["arm"], arm["right"]) for arm in json.loads(run.stdout)["arms"]] == [("without", 1)]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--model", "nobody:x"], "nobody"),
        (["--model", "scripted", "--arm", "toon"], "'toon'"),
        (["--model", "scripted", "--task", "weather"], "'weather'"),
        (["--model", "scripted", "--task", "voucher", "--out", "."], "directory"),
    ],
)
def test_tasks_that_cannot_be_done_are_refused(
    arguments: list[str], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    refused = CliRunner().invoke(app, arguments)
    assert refused.exit_code == 2
    assert words in refused.output
    assert "Traceback" not in refused.output
