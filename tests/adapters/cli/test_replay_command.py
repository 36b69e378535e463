import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from accp_adapters.cli.app import app
from tests.adapters.replay.runs import chat, trajectory

runner = CliRunner()


@pytest.fixture
def conversation(tmp_path: Path) -> Path:
    path = tmp_path / "conversation.json"
    path.write_text(json.dumps(chat()), encoding="utf-8")
    return path


@pytest.fixture
def trajectories(tmp_path: Path) -> Path:
    path = tmp_path / "runs.jsonl"
    path.write_text("\n".join([json.dumps(trajectory())] * 2), encoding="utf-8")
    return path


def test_the_report_shows_files_agents_tools_and_messages(conversation: Path, trajectories: Path) -> None:
    result = runner.invoke(app, ["replay", str(conversation), str(trajectories)])
    assert result.exit_code == 0, result.output
    for expected in ("conversation.json", "runs.jsonl", "total", "clerk", "assistant", "search", "visible %"):
        assert expected in result.stdout
    assert "largest messages as recorded" in result.stdout


def test_json_holds_everything(trajectories: Path) -> None:
    result = runner.invoke(app, ["replay", "--lossless", "--json", str(trajectories)])
    report = json.loads(result.stdout)
    assert report["strategy"] == "lossless"
    assert report["total"]["runs"] == len(report["runs"]) == 2
    assert report["total"]["after"]["visible"] == report["total"]["after"]["needed"] > 0
    assert report["total"]["larger_messages"] == 0
    assert report["total"]["after"]["prompt"] < report["total"]["before"]["prompt"]
    assert {"agents", "tools", "sources", "largest_before", "largest_after"} <= report.keys()


def test_one_policy_is_replayed_at_a_time(trajectories: Path) -> None:
    result = runner.invoke(app, ["replay", "--tight", "--json", str(trajectories)])
    assert json.loads(result.stdout)["strategy"] == "tight"
    both = runner.invoke(app, ["replay", "--tight", "--lossless", str(trajectories)])
    assert both.exit_code == 2
    assert "expected one of --lossless and --tight, found both" in both.stderr.replace("\n", " ").replace("│", "")


def test_standard_input_is_read_for_a_dash() -> None:
    result = runner.invoke(app, ["replay", "--json", "-"], input=json.dumps(chat()))
    assert json.loads(result.stdout)["total"]["before"]["calls"] == 2


def test_every_model_call_is_told_before_and_after(conversation: Path) -> None:
    (run,) = json.loads(runner.invoke(app, ["replay", "--json", str(conversation)]).stdout)["runs"]
    assert len(run["calls"]) == run["after"]["calls"]
    for side in ("before", "after"):
        assert sum(call[side]["tokens"] for call in run["calls"]) == run[side]["prompt"]
        assert sum(call[side]["cost"] for call in run["calls"]) == pytest.approx(run[side]["cost"])
    assert "model calls" in runner.invoke(app, ["replay", str(conversation)]).stdout


def test_many_agents_are_cut_to_a_dozen(tmp_path: Path) -> None:
    messages = [{"role": "user", "content": "go"}]
    messages += [{"role": "assistant", "name": f"agent{n}", "content": "ok"} for n in range(20)]
    path = tmp_path / "many.json"
    path.write_text(json.dumps(messages), encoding="utf-8")
    assert "agents (12 of 20)" in runner.invoke(app, ["replay", str(path)]).stdout


def test_a_broken_file_is_refused_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "broken.json"
    path.write_text('{"messages": [', encoding="utf-8")
    result = runner.invoke(app, ["replay", str(path)])
    assert result.exit_code == 1
    assert f"{path}:1:15: E1001: " in result.stderr


def test_the_format_can_be_given(conversation: Path) -> None:
    result = runner.invoke(app, ["replay", "--format", "trajectories", str(conversation)])
    assert result.exit_code == 1
    assert "E1001" in result.stderr


def test_an_unknown_format_is_a_usage_error(conversation: Path) -> None:
    assert runner.invoke(app, ["replay", "--format", "yaml", str(conversation)]).exit_code == 2


def test_without_langgraph_the_missing_extra_is_named(conversation: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "accp_adapters.langgraph", None)
    result = runner.invoke(app, ["replay", str(conversation)])
    assert result.exit_code == 2
    assert "pip install 'accp-middleware[langgraph]'" in result.stderr
    assert runner.invoke(app, ["replay", "--lossless", str(conversation)]).exit_code == 2


def test_what_a_terminal_would_obey_is_not_printed(tmp_path: Path) -> None:
    messages = chat()
    messages[3]["content"] = "\x1b[31mred\x1b]0;title\x07 [bold]\ud800 :smile:"
    path = tmp_path / "hostile.json"
    path.write_text(json.dumps(messages), encoding="utf-8")
    result = runner.invoke(app, ["replay", str(path)])
    assert result.exit_code == 0, result.output
    assert "[31mred ]0;title  [bold]  :smile:" in result.stdout
    assert "\x1b" not in result.stdout
