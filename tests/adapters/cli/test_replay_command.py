import csv
import gzip
import io
import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from accp_adapters.cli.app import app
from accp_adapters.cli.output import run_rows
from accp_adapters.cli.replaying import EXAMPLE
from tests.adapters.replay.runs import chat, trajectory

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
    path.write_text("\n".join([json.dumps(trajectory())] * 2), encoding="utf-8")
    return path


def test_the_report_shows_files_agents_tools_and_messages(conversation: Path, trajectories: Path) -> None:
    result = runner.invoke(app, ["replay", str(conversation), str(trajectories)])
    assert result.exit_code == 0, result.output
    for expected in ("conversation.json", "runs.jsonl", "total", "clerk", "assistant", "search", "visible %"):
        assert expected in result.stdout
    assert "largest messages as recorded" in result.stdout


def test_json_holds_everything(trajectories: Path) -> None:
    result = runner.invoke(app, ["replay", "--policy", "lossless", "--json", str(trajectories)])
    (report,) = json.loads(result.stdout)["policies"]
    assert report["strategy"] == "lossless"
    assert report["total"]["runs"] == len(report["runs"]) == 2
    assert report["total"]["after"]["visible"] == report["total"]["after"]["needed"] > 0
    assert report["total"]["larger_messages"] == 0
    assert report["total"]["after"]["prompt"] < report["total"]["before"]["prompt"]
    assert {"agents", "tools", "sources", "largest_before", "largest_after"} <= report.keys()


def test_several_policies_are_replayed_side_by_side(trajectories: Path) -> None:
    command = ["replay", "--policy", "lossless, tight", str(trajectories), "--price", "3,0.3,3.75,15"]
    shown = runner.invoke(app, command)
    assert shown.exit_code == 0, shown.output
    for expected in ("lossless", "tight", "money", "strictly %"):
        assert expected in shown.stdout
    first, second = json.loads(runner.invoke(app, [*command, "--json"]).stdout)["policies"]
    assert (first["strategy"], second["strategy"]) == ("lossless", "tight")
    assert first["total"]["before"] == second["total"]["before"]
    before = first["total"]["before"]
    paid = (3 * before["prompt"] + 15 * before["output"]) / 1e6
    assert first["money"]["before"] == pytest.approx(paid)


def test_a_line_for_each_run_and_policy(trajectories: Path) -> None:
    result = runner.invoke(app, ["replay", "--csv", "--policy", "lossless,tight", str(trajectories)])
    rows = list(csv.DictReader(result.stdout.splitlines()))
    assert [(row["run"], row["policy"]) for row in rows] == [
        ("t1", "lossless"), ("t1", "lossless"), ("t1", "tight"), ("t1", "tight")
    ]  # fmt: skip
    assert int(rows[0]["tokens_after"]) < int(rows[0]["tokens_before"])


def test_the_rows_of_runs_stand_in_the_document_like_any_other_array(trajectories: Path) -> None:
    lines = [json.dumps(trajectory(trajectory_id='"runs": []')), json.dumps(trajectory())]
    trajectories.write_text("\n".join(lines), encoding="utf-8")
    options = ["replay", str(trajectories), "--policy", "lossless,compact-json", "--json"]
    shown = runner.invoke(app, options).stdout
    assert shown == json.dumps(json.loads(shown), indent=1) + "\n"
    assert [[run["name"] for run in each["runs"]] for each in json.loads(shown)["policies"]] == [
        ['"runs": []', "t1"]
    ] * 2


def test_rows_beyond_what_is_kept_in_memory_come_from_a_file(
    trajectories: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = ["replay", str(trajectories), "--policy", "lossless", "--json"]
    expected = runner.invoke(app, options).stdout
    monkeypatch.setattr(run_rows, "_MAX_IN_MEMORY", 10)
    monkeypatch.setattr(run_rows, "_PIECE", 7)
    assert runner.invoke(app, options).stdout == expected


def test_a_page_and_a_document_come_from_one_replay(trajectories: Path, tmp_path: Path) -> None:
    options = ["replay", str(trajectories), "--policy", "lossless", "--json"]
    both = runner.invoke(app, [*options, "--html", str(tmp_path / "report.html")])
    assert both.stdout == runner.invoke(app, options).stdout


def test_a_record_in_no_known_format_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text('{"hello": 1}\n' + json.dumps({"messages": chat()}), encoding="utf-8")
    result = runner.invoke(app, ["replay", "--json", str(path)])
    assert result.exit_code == 3
    assert f"not understood: 1 record in no known format ({path}:1)" in result.stderr
    assert json.loads(result.stdout)["policies"][0]["total"]["runs"] == 1
    path.write_text('{"hello": 1}\n', encoding="utf-8")
    alone = runner.invoke(app, ["replay", "--ignore-unknown", str(path)])
    assert alone.exit_code == 1
    assert "found 1 record in no known format" in alone.stderr
    assert "Claude Code transcripts" in alone.stderr


def test_a_name_is_no_formula_of_a_spreadsheet(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    path.write_text(json.dumps(trajectory(trajectory_id="=1+1")), encoding="utf-8")
    assert "'=1+1,default" in runner.invoke(app, ["replay", "--csv", str(path)]).stdout


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--policy", "none"], "expected one of compact-json, lossless, default, tight, found 'none'"),
        (["--policy", ","], "expected the name of a policy, found none"),
        (["--price", "1,2,5"], "expected prices such as 3,15 or 3,0.3,3.75,15, or a price file, found '1,2,5'"),
        (["--format", "yaml"], "expected one of the formats trajectories"),
    ],
)
def test_an_option_without_such_a_value_is_a_usage_error(conversation: Path, options: list[str], reason: str) -> None:
    result = runner.invoke(app, ["replay", str(conversation), *options])
    assert result.exit_code == 2
    assert reason in unboxed(result.stderr)


def test_without_a_file_the_example_is_named_and_the_example_runs() -> None:
    nothing = runner.invoke(app, ["replay"])
    assert nothing.exit_code == 2
    assert "try `accp replay --example`" in unboxed(nothing.stderr)
    example = runner.invoke(app, ["replay", "--example", "--json"])
    assert example.exit_code == 0
    assert json.loads(example.stdout)["policies"][0]["total"]["before"]["calls"] > 2


def test_what_is_not_understood_ends_with_3_and_names_its_place(tmp_path: Path) -> None:
    messages = chat()
    messages[1]["content"] += [{"type": "image_url", "image_url": {"url": "data:,"}}] * 3
    path = tmp_path / "pictures.json"
    path.write_text(json.dumps(messages), encoding="utf-8")
    result = runner.invoke(app, ["replay", str(path)])
    assert result.exit_code == 3
    assert f"not understood: 3 blocks of type 'image_url' of an OpenAI message ({path}:1)" in result.stderr
    assert runner.invoke(app, ["replay", "--ignore-unknown", str(path)]).exit_code == 0
    (row,) = json.loads(runner.invoke(app, ["replay", "--json", str(path)]).stdout)["not_understood"]
    assert (row["count"], row["line"]) == (3, 1)


def test_a_file_without_a_call_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "empty.json"
    path.write_text("[]", encoding="utf-8")
    result = runner.invoke(app, ["replay", "--format", "openai", str(path)])
    assert result.exit_code == 1
    assert "expected a run with a model call, found 1 record without a model call" in result.stderr
    path.write_text("[1, 2]", encoding="utf-8")
    result = runner.invoke(app, ["replay", "--format", "trajectories", str(path)])
    assert result.exit_code == 1
    assert "expected a trajectory as a JSON object, found [1, 2]" in result.stderr


def test_folders_patterns_and_gzip_are_read(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "one.json").write_text(json.dumps(chat()), encoding="utf-8")
    (tmp_path / "two.jsonl.gz").write_bytes(gzip.compress(json.dumps(trajectory()).encode()))
    (tmp_path / "notes.txt").write_text("nothing", encoding="utf-8")
    for argument in (tmp_path, f"{tmp_path}/**/*n*.json*", tmp_path / "two.jsonl.gz"):
        result = runner.invoke(app, ["replay", "--json", str(argument)])
        assert result.exit_code == 0, result.output
    (both,) = json.loads(runner.invoke(app, ["replay", "--json", str(tmp_path)]).stdout)["policies"]
    assert both["total"]["runs"] == 2
    assert "expected a pattern that matches files" in runner.invoke(app, ["replay", f"{tmp_path}/*.log"]).stderr
    missing = runner.invoke(app, ["replay", str(tmp_path / "none.json")])
    assert (missing.exit_code, "No such file" in unboxed(missing.stderr)) == (2, True)


@pytest.mark.slow
def test_a_full_disk_is_no_traceback() -> None:
    program = "from accp_adapters.cli import main; main()"
    with Path("/dev/full").open("wb") as full:
        command = [sys.executable, "-c", program, "replay", "--example"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (1, b"accp: standard output: No space left on device\n")


def test_standard_input_is_read_for_a_dash() -> None:
    result = runner.invoke(app, ["replay", "--json", "-"], input=json.dumps(chat()))
    assert json.loads(result.stdout)["policies"][0]["total"]["before"]["calls"] == 2


def test_every_model_call_is_told_before_and_after(conversation: Path) -> None:
    (run,) = json.loads(runner.invoke(app, ["replay", "--json", str(conversation)]).stdout)["policies"][0]["runs"]
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


def test_neither_langchain_nor_langgraph_is_needed(tmp_path: Path) -> None:
    program = """
import sys

missing = ["langchain", "langchain_core", "langgraph"]
sys.modules.update(dict.fromkeys(missing))
from accp_adapters.cli.app import app

app(["replay", "--example", "--policy", "lossless,default,tight", "--html", sys.argv[1]])
"""
    page = tmp_path / "report.html"
    done = subprocess.run([sys.executable, "-c", program, str(page)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, f"Report: {page}\n")
    assert "tight" in done.stdout
    assert page.exists()


def test_names_of_agents_are_those_of_the_policy(tmp_path: Path) -> None:
    words = "\n".join(f"line {number} says something about subject {number * 7}" for number in range(900))
    messages = [
        {"role": "user", "content": "go"},
        {"role": "user", "name": "scout", "content": words},
        {"role": "assistant", "content": "done"},
    ]
    path = tmp_path / "team.json"
    path.write_text(json.dumps(messages), encoding="utf-8")

    def sent(*options: str) -> int:
        result = runner.invoke(app, ["replay", "--json", *options, str(path)])
        return int(json.loads(result.stdout)["policies"][0]["total"]["after"]["prompt"])

    assert sent("--agent-names", "scout") < 2_000 < sent()


def test_what_a_terminal_would_obey_is_not_printed(tmp_path: Path) -> None:
    messages = chat()
    messages[3]["content"] = "\x1b[31mred\x1b]0;title\x07 [bold]\ud800 :smile:"
    path = tmp_path / "hostile.json"
    path.write_text(json.dumps(messages), encoding="utf-8")
    result = runner.invoke(app, ["replay", str(path)])
    assert result.exit_code == 0, result.output
    assert r"\x1b[31mred\x1b]0;title\x07 [bold]\ud800 :smile:" in result.stdout
    assert "\x1b" not in result.stdout


def test_the_page_is_written_with_all_three_policies(trajectories: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    result = runner.invoke(app, ["replay", str(trajectories), "--html", str(page), "--price", "3,0.3,3.75,15"])
    assert result.exit_code == 0, result.output
    assert f"Report: {page}" in result.stderr
    text = page.read_text(encoding="utf-8")
    assert "<h1>With the policy “default”: 2 of 2 runs are cheaper, none is costlier; " in text
    for expected in ("lossless", "tight", "HAT083", "money, output included"):
        assert expected in text
    runner.invoke(app, ["replay", str(trajectories), "--html", str(page), "--policy", "tight", "--no-texts"])
    text = page.read_text(encoding="utf-8")
    assert "With the policy “tight”" in text
    assert "HAT083" not in text


def test_the_page_does_not_replace_a_recorded_run(trajectories: Path, tmp_path: Path) -> None:
    before = trajectories.read_bytes()
    (tmp_path / "link.html").symlink_to(trajectories)
    for target in (trajectories, tmp_path / "link.html"):
        result = runner.invoke(app, ["replay", str(trajectories), "--html", str(target)])
        assert result.exit_code == 2
        assert "expected another file than the recorded runs" in " ".join(result.stderr.replace("│", "").split())
    assert trajectories.read_bytes() == before


def test_the_page_is_not_written_to_a_file_named_dash(
    trajectories: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = runner.invoke(app, ["replay", str(trajectories), "--html", "-"])
    assert (result.exit_code, "expected a file, found '-'" in result.stderr) == (2, True)
    assert not Path("-").exists()


def test_a_page_that_cannot_be_written_is_a_usage_error(trajectories: Path, tmp_path: Path) -> None:
    result = runner.invoke(app, ["replay", str(trajectories), "--html", str(tmp_path / "none" / "report.html")])
    assert result.exit_code == 2
    assert "No such file or directory" in unboxed(result.stderr)


def test_without_jinja_the_missing_extra_is_named(
    trajectories: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "accp_adapters.inspector.report", None)
    result = runner.invoke(app, ["replay", str(trajectories), "--html", str(tmp_path / "report.html")])
    assert result.exit_code == 2
    assert "the HTML report needs an extra: pip install 'accp-middleware[cli]'" in result.stderr


@pytest.mark.parametrize(
    ("name", "content", "place"),
    [
        ("a.jsonl", b'data: {"a": 1}\n\n', "a.jsonl:1"),
        ("z.jsonl", b'data: {"a": 1}\n\n', "z.jsonl:1"),
        ("a.jsonl", b'{"messages": [], "messages": []}\n', "a.jsonl:1"),
        ("a.jsonl.gz", gzip.compress(gzip.compress(b"{}", mtime=0), mtime=0), "a.jsonl.gz:1"),
        ("z.jsonl", b"", "z.jsonl:1"),
    ],
)
def test_a_broken_file_among_others_is_named_and_they_are_read(
    name: str, content: bytes, place: str, trajectories: Path, tmp_path: Path
) -> None:
    broken = tmp_path / name
    broken.write_bytes(content)
    for files in ([str(broken), str(trajectories)], [str(trajectories), str(broken)], [str(tmp_path)]):
        result = runner.invoke(app, ["replay", "--json", "--jobs", "1", *files])
        assert result.exit_code == 3, result.output
        assert json.loads(result.stdout)["policies"][0]["total"]["runs"] == 2
        assert "1 record that cannot be read: " in result.stderr
        assert place in "".join(result.stderr.split())
    alone = runner.invoke(app, ["replay", str(broken), str(broken)])
    assert alone.exit_code == 1
    assert place in "".join(alone.stderr.split())


class Interrupted(io.BytesIO):
    """A log whose reader interrupts the process after some lines."""

    def __init__(self, lines: int) -> None:
        super().__init__("\n".join([json.dumps(trajectory())] * 5).encode())
        self.left = lines

    def readline(self, size: int | None = -1, /) -> bytes:
        self.left -= 1
        if self.left < 0:
            signal.raise_signal(signal.SIGINT)
        return super().readline(-1 if size is None else size)


@pytest.mark.parametrize("lines", [0, 2])
def test_an_interrupt_ends_with_the_figures_of_the_runs_until_then(
    lines: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(Interrupted(lines), encoding="utf-8"))
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(SystemExit) as ended:
        app(["replay", "-", "--jobs", "1", "--json"])
    assert ended.value.code == 130
    shown = capsys.readouterr()
    assert json.loads(shown.out)["policies"][0]["total"]["runs"] == lines
    assert "not understood: 1 interrupt before the rest of the input" in shown.err
    assert signal.getsignal(signal.SIGINT) is before


def test_the_policy_is_named_and_long_paths_are_shortened_in_the_middle(tmp_path: Path) -> None:
    path = tmp_path / "a_rather_long_name_of_a_run.json"
    path.write_bytes(EXAMPLE.read_bytes())
    shown = runner.invoke(app, ["replay", str(path), "--policy", "tight"]).stdout
    assert "prompts of all model calls, policy tight" in shown
    assert f"{str(path)[:7]}…{str(path)[-14:]}:1 #" in shown
