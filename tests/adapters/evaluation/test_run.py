"""A run from the documents to the report, with models that answer at once."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel

from accp_adapters.evaluation import (
    Answered,
    Document,
    Report,
    chat_model,
    evaluate,
    mailbox,
    models,
    shipped_documents,
)
from accp_adapters.evaluation.reading.forms import READING_FORMS
from accp_adapters.evaluation.reading.questions import questions_of
from accp_adapters.evaluation.reading.run import ReadingOptions
from accp_adapters.evaluation.run_file import read_run
from accp_adapters.replay.prices import Budget, read_prices
from accp_adapters.tokens import o200k_base

COUNTER = o200k_base()
DOCUMENTS = list(shipped_documents())[::9]
OPTIONS = ReadingOptions(forms=("json", "view"), batch=5)


class Knowing:
    """Answers rightly, but for questions about views whose text holds one of `hard`."""

    def __init__(self, *hard: str) -> None:
        self.hard = hard
        self.prompts: list[str] = []

    def __call__(self, prompt: str) -> Answered:
        self.prompts.append(prompt)
        text, asked = prompt.split("The document:\n")[1].split("\n\nQuestions:\n")
        lines = [line.partition(": ") for line in asked.split("\n")]
        words = [f"{number}: {self.answer(text, question)}" for number, _, question in lines]
        return Answered(text="\n".join(words), tokens_in=COUNTER(prompt), tokens_out=5)

    def answer(self, text: str, question: str) -> str:
        form, right = ANSWERS[text]
        if form == "view" and any(word in question for word in self.hard):
            return "*1"
        answer = right[question]
        return json.dumps(list(answer) if isinstance(answer, tuple) else answer)


ANSWERS = {
    READING_FORMS[form](document, COUNTER): (form, {each.text: each.answer for each in questions_of(document, seed=0)})
    for form in ("json", "view")
    for document in DOCUMENTS
}
"""The text of each document in each form to the form and to the answers by question."""


def run(model: Any, **options: Any) -> Report:
    return evaluate(model, DOCUMENTS, counter=COUNTER, **{"options": OPTIONS, **options})


def test_a_model_that_knows_everything_is_right_in_each_form() -> None:
    report = run(Knowing(), concurrency=4)
    as_json, as_view = report.forms
    assert (as_json.right, as_view.right) == (as_json.asked, as_json.asked)
    assert as_json.asked == sum(len(questions_of(document, seed=0)) for document in DOCUMENTS)
    assert as_view.difference and as_view.difference.low == 0
    assert as_view.chance == 1.0
    assert as_view.document_tokens < as_json.document_tokens == sum(COUNTER(each.source) for each in DOCUMENTS)
    assert report.is_within("view", 3) and report.is_within("toon", 3)


def test_a_form_that_is_read_worse_is_below_by_its_interval() -> None:
    report = run(Knowing("which", "how many"))
    as_view = report.forms[1]
    assert as_view.difference and as_view.difference.high < -3
    assert sum(as_view.errors.values()) == as_view.asked - as_view.right
    assert as_view.errors["repeated value"] > 0
    assert as_view.asked > as_view.right
    assert not report.is_within("view", 3)


def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    path, whole = tmp_path / "run.jsonl", Knowing()
    expected = run(whole).to_json()

    class Dying(Knowing):
        def __call__(self, prompt: str) -> Answered:
            if len(self.prompts) == 4:
                raise ConnectionError("gone")
            return super().__call__(prompt)

    with pytest.raises(ConnectionError, match="gone"):
        run(Dying(), run_file=path)
    path.write_text(path.read_text(encoding="utf-8") + '{"prompt": "cut o', encoding="utf-8")
    again = Knowing()
    assert run(again, run_file=path).to_json() == expected
    assert len(again.prompts) == len(whole.prompts) - 4
    assert run(None, run_file=path).to_json() == expected, "all answers are there"


def test_a_run_file_of_another_run_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    run(Knowing(), run_file=path, model_name="a")
    with pytest.raises(
        ValueError, match=r"run\.jsonl: expected a run made with .*'model': 'b'.*, found \{'model': 'a'\}"
    ):
        run(Knowing(), run_file=path, model_name="b")
    path.write_text("no run\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"run\.jsonl:1: expected the header of a run, found 'no run'"):
        run(Knowing(), run_file=path)
    path.write_text('{"run": {}}\n[]\n', encoding="utf-8")
    with pytest.raises(ValueError, match=r"run\.jsonl:2: expected the line of a prompt, found '\[\]'"):
        read_run(path)


def test_the_limit_of_tokens_ends_the_run_before_the_next_prompt() -> None:
    model = Knowing()
    report = run(model, budget=Budget(max_tokens=3_000))
    assert report.missing > 0 and report.prompts == len(model.prompts)
    sent = list(map(COUNTER, model.prompts))
    assert sum(sent[:-1]) + 5 * len(sent[:-1]) < 3_000


@pytest.mark.parametrize("options", [{"forms": ("xml",)}, {"forms": ()}, {"batch": 0}, {"per_kind": 0}])
def test_options_that_ask_nothing_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="expected "):
        ReadingOptions(**options)


def test_any_chat_model_of_langchain_is_a_model() -> None:
    model = chat_model(FakeListChatModel(responses=["1: Oslo"]), counter=COUNTER)
    answered = model("Where?")
    assert (answered.text, answered.tokens_in) == ("1: Oslo", COUNTER("Where?"))


def test_a_mailbox_is_answered_by_somebody_else(tmp_path: Path) -> None:
    folder = tmp_path / "letters"
    knowing = Knowing()
    seen = threading.Event()

    def person() -> None:
        answered: set[Path] = set()
        while not seen.is_set():
            for prompt in set(folder.glob("*.prompt.txt")) - answered:
                answer = knowing(prompt.read_text(encoding="utf-8")).text
                part = prompt.with_suffix(".new")
                part.write_text(answer, encoding="utf-8")
                part.rename(prompt.with_name(prompt.name.replace(".prompt.", ".answer.")))
                answered.add(prompt)

    thread = threading.Thread(target=person)
    thread.start()
    try:
        report = run(mailbox(folder, counter=COUNTER, wait=60), concurrency=8)
    finally:
        seen.set()
        thread.join()
    assert report.forms[1].right == report.forms[1].asked > 0
    with pytest.raises(TimeoutError, match=r"expected an answer in '.*\.answer\.txt' within 0 seconds"):
        mailbox(folder, counter=COUNTER, wait=0)("Nobody answers this.")


def test_an_answer_that_is_still_written_is_awaited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The writer opens the answer itself and writes it piece by piece, one between any two looks."""
    pieces = ["", "1: Os", "lo\n2: ", "7\n"]

    def write_on(seconds: float) -> None:
        (prompt,) = tmp_path.glob("*.prompt.txt")
        if pieces:
            with prompt.with_name(prompt.name.replace(".prompt.", ".answer.")).open("a", encoding="utf-8") as answer:
                answer.write(pieces.pop(0))

    monkeypatch.setattr(models.time, "sleep", write_on)
    ask = mailbox(tmp_path, counter=COUNTER, wait=60)
    assert ask("Where?").text == "1: Oslo\n2: 7\n"
    assert pieces == [] and [path.suffix for path in tmp_path.iterdir()] == [".txt"] * 2


def test_a_folder_in_the_place_of_an_answer_is_refused_by_its_path(tmp_path: Path) -> None:
    ask = mailbox(tmp_path, counter=COUNTER, wait=0)
    with pytest.raises(TimeoutError):
        ask("Where?")
    (prompt,) = tmp_path.iterdir()
    answer = prompt.with_name(prompt.name.replace(".prompt.", ".answer."))
    answer.mkdir()
    with pytest.raises(ValueError, match=rf"^expected a file with an answer at '{answer}', found a folder"):
        ask("Where?")


def test_one_prompt_of_two_threads_is_one_letter(tmp_path: Path) -> None:
    ask = mailbox(tmp_path, counter=COUNTER, wait=0)

    def expect_nobody(number: int) -> bool:
        with pytest.raises(TimeoutError):
            ask("The same for all.")
        return True

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(expect_nobody, range(40)))
    assert len(list(tmp_path.iterdir())) == 1


def test_a_run_that_was_killed_within_its_header_begins_anew(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    whole = run(Knowing(), run_file=path, model_name="a")
    header = path.read_text(encoding="utf-8").splitlines(keepends=True)[0]
    for left in (0, 1, len(header) - 1):
        path.write_text(header[:left], encoding="utf-8")
        assert run(Knowing(), run_file=path, model_name="a") == whole
        assert path.read_text(encoding="utf-8").startswith(header)
    path.write_text("notes", encoding="utf-8")
    with pytest.raises(ValueError, match="expected the header of a run, found 'notes'"):
        run(Knowing(), run_file=path, model_name="a")


def test_the_limit_of_money_ends_the_run_before_the_next_prompt() -> None:
    model = Knowing()
    report = run(model, budget=Budget(max_cost=0.01, prices=read_prices("3,15")))
    sent = [3 * COUNTER(prompt) + 15 * 5 for prompt in model.prompts]
    assert sum(sent[:-1]) < 10_000 <= sum(sent)
    assert report.missing > 0 and report.prompts == len(model.prompts)


def test_a_document_that_allows_no_question_asks_none() -> None:
    report = evaluate(Knowing(), [Document.of("empty", "file", [])], counter=COUNTER, options=OPTIONS)
    assert report.to_json() == {"prompts": 0, "missing": 0, "forms": []}
