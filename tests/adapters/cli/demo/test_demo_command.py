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


def test_the_transcripts_show_what_the_model_read(folder: Path, tmp_path: Path) -> None:
    run(folder, tmp_path / "out")
    without, with_us = ((tmp_path / "out" / name).read_text("utf-8") for name in ("without.md", "with.md"))
    for text in (without, with_us):
        assert "## list_files answers (" in text
        assert "## model calls query_database" in text
        assert "module_59.py" in text
    assert len(with_us) < len(without)


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
