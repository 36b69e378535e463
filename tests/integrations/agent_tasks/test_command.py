"""`python -m integrations.agent_tasks` from the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from accp_adapters.cli.app import app as accp
from integrations.agent_tasks.__main__ import app
from tests.limits import PROGRAM_PATIENCE

ROOT = Path(__file__).parents[3]


def test_tasks_and_comparing(tmp_path: Path) -> None:
    def run(name: str, *more: str) -> str:
        out = ["--out", str(tmp_path / f"{name}.jsonl"), "--size", "0.2", "--task", "returned_orders"]
        arms = ["--arm", "without", "--arm", "default"]
        result = CliRunner().invoke(app, ["--model", "scripted", *out, *arms, *more])
        assert result.exit_code == 0, result.output
        return result.stdout

    shown = run("one", "--price", "3,15")
    assert "1/1" in shown and "money" in shown and "returned_orders" in shown
    figures = json.loads(run("two", "--json", "--price", "3,0.3,3.75,15", "--max-cost", "0.000001"))
    assert (figures["missing"], [arm["arm"] for arm in figures["arms"]]) == (1, ["without"])
    run("two")
    paths = [str(tmp_path / f"{name}.jsonl") for name in ("one", "two")]
    compared = CliRunner().invoke(accp, ["eval", "compare", *paths])
    assert compared.exit_code == 0
    assert "one.jsonl: default" in compared.stdout and "100.0" in compared.stdout


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


def test_a_limit_that_lets_no_task_begin_is_said() -> None:
    limits = ["--price", "3,15", "--max-cost", "0"]
    result = CliRunner().invoke(app, ["--model", "scripted", "--task", "voucher", *limits])
    assert (result.exit_code, "No task was run: " in result.stderr) == (1, True)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--model", "nobody:x"], "nobody"),
        (["--model", "scripted", "--arm", "toon"], "'toon'"),
        (["--model", "scripted", "--task", "weather"], "'weather'"),
        (["--model", "scripted", "--price", "3"], "'3'"),
        (["--model", "scripted", "--max-cost", "3"], "--price"),
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
