import json
import re
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import ToolMessage
from typer.testing import CliRunner

from accp_adapters.cli.app import app
from accp_adapters.cli.demo import comparison
from accp_adapters.cli.demo.scripted_model import ScriptedModel
from accp_adapters.langgraph import AccpMiddleware

runner = CliRunner()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    project = tmp_path / "project"
    project.mkdir()
    for number in range(60):
        body = "\n".join(f"def step_{number}_{k}(value: int) -> int:\n    return value + {k}\n" for k in range(number))
        (project / f"module_{number:02d}.py").write_text(f"import module_00\n{body}", encoding="utf-8")
    return project


def run(folder: Path, output: Path) -> Any:
    return runner.invoke(app, ["demo", "--folder", str(folder), "--output", str(output)])


def test_both_runs_come_to_the_same_answer_for_fewer_tokens(folder: Path, tmp_path: Path) -> None:
    result = run(folder, tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert "The same final answer" in result.stdout
    (line,) = (line for line in result.stdout.splitlines() if line.strip().startswith("all prompts"))
    *_, without, with_us, share = line.split()
    assert int(with_us.replace(",", "")) < int(without.replace(",", ""))
    assert float(share) < 80
    assert "cache-weighted cost" in result.stdout


FOLDERS: dict[str, dict[str, str]] = {
    "one line": {"a.txt": "hello\n"},
    "an empty file": {"empty.txt": ""},
    "two notes": {"notes.md": "# Notes\n\n## Plan\n\nSee other.md.\n", "other.md": "text\n"},
    "a table": {"orders.csv": "id,total\n" + "".join(f"{n},{n * 3}\n" for n in range(3_000))},
    "one large JSON document": {"data.json": json.dumps([{"id": n, "name": f"name {n}"} for n in range(5_000)])},
    "names that need quotes": {'it\'s a "name" [x].py': "def first(): ...\n", "[bold].txt": "[red]:smile:[/red]\n"},
    "names of other languages": {"größe/東京.py": "class 大きい: ...\n", "größe/naïve.txt": "東京\n"},
    "a deep folder": {"/".join("abcdefghij") + "/deep.rs": "pub fn deep() {}\n" * 200},
    "texts that look like references": {"r.txt": f"$cold.{'0' * 24} [preview: 3 lines $cold.314159265358]\n" * 50},
    "JavaScript": {f"src/m{n}.ts": "export function run() {}\nimport './m1'\n" * 40 for n in range(30)},
    "control characters": {"log.txt": "\x1b[2J\x1b[31mred\x07\n" * 90},
}


@pytest.mark.parametrize("kind", FOLDERS)
def test_the_demo_has_sensible_answers_on_any_folder(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    folder = tmp_path / "folder"
    for name, text in FOLDERS[kind].items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    result = run(folder, tmp_path / "out")
    assert result.exit_code == 0, result.output
    note = result.stdout.partition("The same final answer:")[2]
    assert "Longest files: " in note
    assert not re.search(r"none|\b0 (files|definitions)|\(\d+\)\.? by", note)
    assert "Last change" not in note
    assert "what the model read of the largest result" in result.stdout
    assert "\x1b" not in result.stdout
    assert (tmp_path / "out" / "report.html").stat().st_size > 0


def test_the_largest_result_stands_side_by_side(folder: Path, tmp_path: Path) -> None:
    shown = run(folder, tmp_path / "out").stdout
    (header,) = (line for line in shown.splitlines() if "without: " in line)
    before, after = (int(number.replace(",", "")) for number in re.findall(r"([\d,]+) tokens", header))
    assert after < before


def test_the_transcripts_show_what_the_model_read(folder: Path, tmp_path: Path) -> None:
    run(folder, tmp_path / "out")
    without, with_us = ((tmp_path / "out" / name).read_text("utf-8") for name in ("without.md", "with.md"))
    for text in (without, with_us):
        assert "## list_files answers (" in text
        assert "## model calls query_database" in text
        assert "module_59.py" in text
    assert len(with_us) < len(without)
    assert '"path": "module_' in without
    assert '"path": "module_' not in with_us


def test_a_result_too_long_to_show_is_fetched(folder: Path, tmp_path: Path) -> None:
    lines = "\n".join(f"def longest_{k}(first: int, second: str) -> None: ..." for k in range(450))
    (folder / "longest.py").write_text(lines, encoding="utf-8")
    result = run(folder, tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert "accp_fetch" in result.stdout
    first = next(line.split() for line in result.stdout.splitlines() if line.strip().startswith("list_files"))
    assert first[1] == first[2], "no reference is known yet, so nothing is paid for the fetch tool"
    assert "def longest_449(first: int, second: str)" in result.stdout


class Lossy(AccpMiddleware):
    """Changes a digit of every result."""

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        result = handler(request)
        assert isinstance(result, ToolMessage)
        return result.model_copy(update={"content": result.text.replace("59", "58")})


def test_another_answer_ends_with_1(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparison, "AccpMiddleware", Lossy)
    result = run(folder, tmp_path / "out")
    assert result.exit_code == 1
    assert "The final answers differ" in result.stdout


def test_a_folder_without_texts_is_a_usage_error(tmp_path: Path) -> None:
    result = run(tmp_path, tmp_path / "out")
    assert result.exit_code == 2
    assert "expected text files in" in " ".join(result.stderr.split()).replace("│ ", "")


def test_an_unknown_model_is_a_usage_error(folder: Path) -> None:
    result = runner.invoke(app, ["demo", "--folder", str(folder), "--model", "nonsense"])
    assert result.exit_code == 2


def test_transcripts_go_to_a_new_private_folder_unless_told(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    results = [runner.invoke(app, ["demo", "--folder", str(folder)]) for _ in range(2)]
    folders = list(tmp_path.glob("accp-demo-*"))
    assert len(folders) == len(results)
    assert [result.exit_code for result in results] == [0, 0]
    shown, said = ("".join(getattr(result, name) for result in results) for name in ("stdout", "stderr"))
    for output in folders:
        assert output.stat().st_mode & 0o077 == 0
        assert (output / "with.md").is_file()
        assert str(output / "with.md") in shown
        assert "<h1>With the policy “default”: " in (output / "report.html").read_text("utf-8")
        assert f"Report: {output / 'report.html'}" in said


def test_a_model_that_words_things_anew_is_not_held_to_the_same_answer(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("langchain.chat_models.init_chat_model", lambda name: ScriptedModel())
    monkeypatch.setattr(comparison, "AccpMiddleware", Lossy)
    arguments = ["demo", "--folder", str(folder), "--output", str(tmp_path / "out"), "--model", "some:model"]
    result = runner.invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert "The model's two answers" in result.stdout
    assert "visible in its prompts" not in result.stdout
