"""`accp replay`: the report, its verdict and exit code, JSON, the page, and what it refuses."""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from accp_adapters.cli.app import app
from tests.adapters.replay.runs import chat

runner = CliRunner()


def unboxed(error: str) -> str:
    """Return the words of a usage error, which are printed in a box."""
    return " ".join(error.replace("│", "").split())


@pytest.fixture
def conversation(tmp_path: Path) -> Path:
    path = tmp_path / "conversation.json"
    path.write_text(json.dumps(chat()), encoding="utf-8")
    return path


@pytest.fixture
def trajectories(tmp_path: Path) -> Path:
    path = tmp_path / "runs.jsonl"
    path.write_text("\n".join([json.dumps({"messages": chat()})] * 2), encoding="utf-8")
    return path


def test_the_report_shows_files_and_tools_and_ends_with_a_verdict(conversation: Path, trajectories: Path) -> None:
    result = runner.invoke(app, ["replay", str(conversation), str(trajectories), "--policy", "lossless, default"])
    assert result.exit_code == 0, result.output
    for expected in ("conversation.json", "runs.jsonl", "lossless", "search", "list price"):
        assert expected in result.stdout
    assert result.stdout.splitlines()[-1].startswith("Yes: with the policy 'default', these 3 runs cost ")


def test_json_holds_everything(trajectories: Path) -> None:
    result = runner.invoke(app, ["replay", "--policy", "lossless,compact-json", "--json", str(trajectories)])
    report, other = json.loads(result.stdout)["policies"]
    assert (report["strategy"], other["strategy"]) == ("lossless", "compact JSON")
    assert report["total"]["before"] == other["total"]["before"]
    assert report["total"]["runs"] == len(report["runs"]) == 2
    assert report["total"]["after"]["visible"] == report["total"]["after"]["needed"] > 0
    assert report["total"]["larger_messages"] == 0
    assert report["total"]["after"]["prompt"] < report["total"]["before"]["prompt"]
    assert {"verdict", "tools", "sources"} <= report.keys()
    for run in report["runs"]:
        for side in ("before", "after"):
            assert sum(call[side]["tokens"] for call in run["calls"]) == run[side]["prompt"]


def test_the_example_runs_without_langchain_and_writes_its_page(tmp_path: Path) -> None:
    program = """
import sys
sys.modules.update(dict.fromkeys(["langchain", "langchain_core", "langgraph"]))
from accp_adapters.cli.app import app
app(["replay", "--example", "--html", sys.argv[1]])
"""
    page = tmp_path / "report.html"
    done = subprocess.run([sys.executable, "-c", program, str(page)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, f"Report: {page}\n")
    assert "<h1>Yes: with the policy" in page.read_text(encoding="utf-8")


PICTURES = [
    chat()[0],
    {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:,"}}]},
    *chat()[2:],
]
FLAT = "System: You book flights.\nHuman: To Seattle\nAI: calls search\nTool: 40 flights\n"
LANGSMITH = {"id": "r1", "run_type": "llm", "inputs": {"prompts": [FLAT]}, "outputs": {"text": "done"}}


@pytest.mark.parametrize(
    ("record", "said"),
    [
        (PICTURES, "not read, and not in the figures: 1 block of type 'image_url' of an OpenAI message (log.jsonl:1)"),
        (LANGSMITH, "1 prompt of a LangSmith run that is one text, so that no result in it can be found (log.jsonl:1)"),
        ([*chat()[:2], chat()[4]], "No: the runs hold no tool result"),
    ],
)
def test_what_is_not_read_and_what_holds_nothing_to_shorten_end_with_1(
    record: object, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("log.jsonl").write_text(json.dumps(record), encoding="utf-8")
    result = runner.invoke(app, ["replay", "log.jsonl"])
    assert result.exit_code == 1
    assert said in result.output


def test_a_finding_names_its_files_and_a_pipe_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in "cab":
        Path(f"{name}.jsonl").write_text(f"{json.dumps(PICTURES)}\n" * 2, encoding="utf-8")
    os.mkfifo("pipe")
    Path("link.jsonl").symlink_to("a.jsonl")
    assert "found a pipe or a device; use -" in runner.invoke(app, ["replay", "pipe"]).stderr
    found = runner.invoke(app, ["replay", "."]).stderr
    assert "of an OpenAI message (a.jsonl:1, b.jsonl, c.jsonl)" in found
    assert "left out on purpose: 1 link which is not followed: 'link.jsonl' (link.jsonl:1), 1 pipe" in found


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ('{"hello": 1}', "found 1 record in no known format (log.json:1); the formats are"),
        ('{"messages": [', "log.json:1:15: E1001: "),
        (
            "Dear all,\nthe agent said hello.\n",
            "expected recorded runs, such as requests of OpenAI chat, as JSON or JSON lines; found text: 'Dear all,'",
        ),
        ("", "expected a recorded run, found nothing"),
    ],
)
def test_a_file_without_a_run_is_refused_in_words(
    content: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("log.json").write_text(content, encoding="utf-8")
    result = runner.invoke(app, ["replay", "log.json"])
    assert result.exit_code == 1
    assert reason in result.stderr


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ([], "try `accp replay --example`"),
        (["--example", "--policy", "none"], "expected one of compact-json, lossless, default, found 'none'"),
        (["none.json"], "No such file"),
        (["--example", "--html", "none/report.html"], "No such file or directory"),
    ],
)
def test_a_usage_error_says_what_is_expected(arguments: list[str], reason: str) -> None:
    result = runner.invoke(app, ["replay", *arguments])
    assert result.exit_code == 2
    assert reason in unboxed(result.stderr)


def test_folders_patterns_gzip_and_standard_input_are_read(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "one.json").write_text(json.dumps(chat()), encoding="utf-8")
    (tmp_path / "two.jsonl.gz").write_bytes(gzip.compress(json.dumps({"messages": chat()}).encode()))
    (tmp_path / "notes.txt").write_text("nothing", encoding="utf-8")
    for argument, runs in ((tmp_path, 2), (f"{tmp_path}/**/*n*.json*", 1), (tmp_path / "two.jsonl.gz", 1), ("-", 1)):
        result = runner.invoke(app, ["replay", "--json", str(argument)], input=json.dumps(chat()))
        assert json.loads(result.stdout)["policies"][0]["total"]["runs"] == runs
    assert "expected a pattern that matches files" in runner.invoke(app, ["replay", f"{tmp_path}/*.log"]).stderr


def test_what_a_folder_has_in_another_format_is_named(tmp_path: Path) -> None:
    record = json.dumps({"messages": chat()})
    logs = {
        "one.jsonl.zst": b"\x28\xb5\x2f\xfd\0packed", "two.log": f"2026-11-29 INFO {record}\n".encode() * 3,
        "events": f"event: message\ndata: {record}\n\n".encode() * 3, "wide.log": record.encode("utf-16"),
        "bad.json": b"{", "other.jsonl": b'{"x": 1}\n' * 36,
    }  # fmt: skip
    for name, content in {**logs, "notes.md": b'# Notes\nSo:\n\n    {"a": 1}\n', ".index": b"\0"}.items():
        (tmp_path / name).write_bytes(content)
    for _ in ("without a run", "with one"):
        result = runner.invoke(app, ["replay", str(tmp_path)])
        assert result.exit_code == 1
        assert all(name in result.stderr for name in (*logs, "36 records in no known format"))
        assert not any(name in result.stderr for name in ("notes.md", ".index"))
        (tmp_path / "run.jsonl").write_text(record, encoding="utf-8")


def test_names_of_agents_are_those_of_the_policy(tmp_path: Path) -> None:
    words = "\n".join(f"line {number} says something about subject {number * 7}" for number in range(900))
    path = tmp_path / "team.json"
    said = [{"role": "user", "content": "go"}, {"role": "user", "name": "scout", "content": words}]
    path.write_text(json.dumps([*said, {"role": "assistant", "content": "done"}]), encoding="utf-8")

    def sent(*options: str) -> int:
        result = runner.invoke(app, ["replay", "--json", *options, str(path)])
        return int(json.loads(result.stdout)["policies"][0]["total"]["after"]["prompt"])

    assert sent("--agent-names", "scout") < 2_000 < sent()


def test_what_a_terminal_would_obey_is_not_printed(tmp_path: Path) -> None:
    messages = chat()
    messages[2]["tool_calls"][0]["function"]["name"] = "\x1b[31mred [bold]\ud800 :smile:"
    path = tmp_path / "hostile.json"
    path.write_text(json.dumps(messages), encoding="utf-8")
    result = runner.invoke(app, ["replay", str(path)])
    assert r"\x1b[31mred [bold]\ud800 :smile:" in result.stdout
    assert "\x1b" not in result.stdout


def test_the_page_does_not_replace_a_recorded_run(trajectories: Path) -> None:
    before = trajectories.read_bytes()
    result = runner.invoke(app, ["replay", str(trajectories), "--html", str(trajectories)])
    assert result.exit_code == 2
    assert "expected another file than the recorded runs" in unboxed(result.stderr)
    assert trajectories.read_bytes() == before
