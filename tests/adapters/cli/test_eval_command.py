"""`accp eval` from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from accp_adapters.cli.app import app
from accp_adapters.evaluation.models import mailbox
from accp_adapters.evaluation.reading import Document, Question, make_prompt, shown_text
from accp_adapters.tokens import o200k_base

COUNTER = o200k_base()
ROWS = [{"id": number, "city": f"City {number}", "open": number % 3 == 0} for number in range(12)]
QUESTIONS = [{"id": "q1", "prompt": "Where is 7?", "groundTruth": "City 7", "dataset": "rows"}]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "mine.json"
    path.write_text(json.dumps({"documents": [{"name": "rows", "value": ROWS}], "questions": QUESTIONS}))
    return path


def answer_all(folder: Path, form: str, answer: str) -> None:
    """Put an answer to the question in one form into a mailbox, before anybody asks."""
    question = Question(id="q1", text="Where is 7?", answer="City 7")
    document = Document.of("rows", ROWS, [question])
    prompt = make_prompt(document, form, shown_text(document, form, COUNTER), question)
    with pytest.raises(TimeoutError):
        mailbox(folder, counter=COUNTER, wait=0)(prompt)
    written = next(path for path in folder.glob("*.prompt.txt") if path.read_text(encoding="utf-8") == prompt)
    written.with_name(written.name.replace(".prompt.", ".answer.")).write_text(answer, encoding="utf-8")


def test_asking_and_comparing(tmp_path: Path, source: Path) -> None:
    for form in ("json", "view"):
        answer_all(tmp_path / "right", form, "City 7")
        answer_all(tmp_path / "wrong", form, "City 7" if form == "json" else "*1")

    def ask(name: str, *more: str) -> tuple[int, str]:
        out = str(tmp_path / f"{name}.jsonl")
        options = ["--model", f"mailbox:{tmp_path / name}", "--arm", "json", "--arm", "view", "--out", out]
        result = CliRunner().invoke(app, ["eval", "public", "toon", "--from", str(source), *options, *more])
        assert result.stdout, result.output
        return result.exit_code, result.stdout

    code, shown = ask("right", "--price", "3,15")
    assert code == 0 and "1/1" in shown and "money" in shown
    code, shown = ask("wrong", "--json")
    assert code == 1
    assert [(arm["arm"], arm["right"]) for arm in json.loads(shown)["arms"]] == [("json", 1), ("view", 0)]
    runs = [str(tmp_path / "right.jsonl"), str(tmp_path / "wrong.jsonl")]
    compared = CliRunner().invoke(app, ["eval", "compare", *runs, "--arm", "view"])
    assert compared.exit_code == 0
    assert "-100.0" in compared.stdout


def test_a_solver_is_no_model_and_the_table_says_so(source: Path) -> None:
    shown = CliRunner().invoke(app, ["eval", "public", "toon", "--from", str(source), "--model", "solver"])
    assert shown.exit_code == 0, shown.output
    assert "solver (not run with a model)" in shown.stdout and "readable" in shown.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--model", "nobody:x", "--from", "mine.json"], "nobody"),
        (["--model", "mailbox:m", "--from", "mine.json", "--arm", "xml"], "'xml'"),
        (["--model", "mailbox:m", "--from", "mine.json", "--price", "3"], "'3'"),
        (["--model", "mailbox:m", "--from", "missing"], "git clone https://github.com/toon-format/toon"),
        (["--model", "mailbox:m"], "git clone https://github.com/toon-format/toon"),
        (["--model", "solver", "--from", "mine.json", "--price", "3,15", "--max-cost", "0"], "No task was run"),
    ],
)
def test_what_cannot_be_asked_is_refused(
    arguments: list[str], words: str, tmp_path: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    refused = CliRunner().invoke(app, ["eval", "public", "toon", *arguments], env={"COLUMNS": "400"})
    assert refused.exit_code in (1, 2)
    assert words in refused.output
    assert "Traceback" not in refused.output


def test_what_cannot_be_compared_is_refused(tmp_path: Path) -> None:
    lines = {
        "empty": '{"run": {}}\n',
        "bad": '{"run": {}}\n7\n',
        "other": '{"run": {}}\n{"prompt": "a", "arm": "json"}\n',
    }
    for name, text in lines.items():
        (tmp_path / f"{name}.jsonl").write_text(text, encoding="utf-8")
    for name, code, words in (
        ("mine", 2, "mine.jsonl: No such file"),
        ("bad", 1, "bad.jsonl:2:1: "),
        ("empty", 2, "expected answers, found None"),
        ("other", 2, "expected one of json, found 'default'"),
    ):
        path = str(tmp_path / f"{name}.jsonl")
        refused = CliRunner().invoke(app, ["eval", "compare", path, path], env={"COLUMNS": "400"})
        assert (refused.exit_code, words in refused.output) == (code, True), refused.output
