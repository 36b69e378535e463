"""`accp eval` from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from accp_adapters.cli.app import app
from accp_adapters.evaluation import Document
from accp_adapters.evaluation.models import mailbox
from accp_adapters.evaluation.reading.forms import READING_FORMS
from accp_adapters.evaluation.reading.questions import questions_of
from accp_adapters.evaluation.reading.run import make_prompt
from accp_adapters.tokens import o200k_base

COUNTER = o200k_base()
ROWS = [{"id": number, "city": f"City {number}", "open": number % 3 == 0} for number in range(12)]


def answer_all(folder: Path, document: Document, form: str, *, wrong: bool = False) -> None:
    """Put the answers to all questions about a document in one form into a mailbox, before anybody asks."""
    with pytest.raises(TimeoutError):
        mailbox(folder, counter=COUNTER, wait=0)("to make the folder")
    for question in questions_of(document, seed=0):
        prompt = make_prompt(document, READING_FORMS[form](document, COUNTER), [question])
        with pytest.raises(TimeoutError):
            mailbox(folder, counter=COUNTER, wait=0)(prompt)
        written = next(path for path in folder.glob("*.prompt.txt") if path.read_text(encoding="utf-8") == prompt)
        right = list(question.answer) if isinstance(question.answer, tuple) else question.answer
        answer = "nothing" if wrong else json.dumps(right)
        written.with_name(written.name.replace(".prompt.", ".answer.")).write_text(f"1: {answer}", encoding="utf-8")


def test_reading_and_comparing(tmp_path: Path) -> None:
    file = tmp_path / "rows.json"
    file.write_text(json.dumps(ROWS), encoding="utf-8")
    document = Document.of("rows.json", "file", ROWS)
    for form in ("json", "view"):
        answer_all(tmp_path / "right", document, form)
        answer_all(tmp_path / "wrong", document, form, wrong=form == "view")

    def read(name: str, *more: str) -> tuple[int, str]:
        out = str(tmp_path / f"{name}.jsonl")
        options = ["--model", f"mailbox:{tmp_path / name}", "--form", "json", "--form", "view", "--out", out]
        result = CliRunner().invoke(app, ["eval", "reading", str(file), *options, *more])
        assert result.stdout, result.output
        return result.exit_code, result.stdout

    asked = len(questions_of(document, seed=0))
    code, shown = read("right", "--price", "3,15")
    assert code == 0 and f"{asked}/{asked}" in shown and "$" in shown
    code, shown = read("wrong", "--json")
    assert code == 1
    assert [(form["form"], form["right"]) for form in json.loads(shown)["forms"]] == [("json", asked), ("view", 0)]
    compared = CliRunner().invoke(
        app, ["eval", "compare", str(tmp_path / "right.jsonl"), str(tmp_path / "wrong.jsonl")]
    )
    assert compared.exit_code == 0
    assert "-100.0" in compared.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--model", "nobody:x"], "nobody"),
        (["--model", "mailbox:m", "--form", "xml"], "'xml'"),
        (["--model", "mailbox:m", "--price", "3"], "'3'"),
        (["--model", "mailbox:m", "missing.json"], "missing.json"),
        (["--model", "mailbox:m", "."], "found none"),
    ],
)
def test_what_cannot_be_asked_is_refused(
    arguments: list[str], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    refused = CliRunner().invoke(app, ["eval", "reading", *arguments])
    assert refused.exit_code in (1, 2)
    assert words in refused.output
    assert "Traceback" not in refused.output


def test_what_cannot_be_compared_is_refused(tmp_path: Path) -> None:
    lines = {"reading": '{"run": {}}\n', "bad": '{"run": {}}\n7\n', "tasks": '{"run": {"kind": "tasks"}}\n'}
    for name, text in lines.items():
        (tmp_path / f"{name}.jsonl").write_text(text, encoding="utf-8")
    for name, code, words in (
        ("mine", 2, "mine.jsonl: No such file"),
        ("bad", 1, "bad.jsonl:2:1: "),
        ("reading", 2, "expected answers, found None"),
        ("tasks", 2, "expected a run of `reading`, found one of 'tasks'"),
    ):
        path = str(tmp_path / f"{name}.jsonl")
        refused = CliRunner().invoke(app, ["eval", "compare", path, path], env={"COLUMNS": "400"})
        assert (refused.exit_code, words in refused.output) == (code, True), refused.output
