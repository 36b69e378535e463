"""A run from the documents to the report, with models that answer at once."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel

from accp_adapters.evaluation import (
    Answered,
    Document,
    Question,
    Report,
    chat_model,
    evaluate,
    mailbox,
    models,
)
from accp_adapters.evaluation.run_file import read_run
from accp_adapters.evaluation.solvers import DocumentSolver
from accp_adapters.replay.prices import Budget, read_prices
from accp_adapters.tokens import o200k_base

COUNTER = o200k_base()
KINDS = ("city", "count")


def document(number: int) -> Document:
    """Return rows with a question for a city and one for a count, in words that other documents have, too."""
    rows = [{"id": row, "city": f"City {row}", "open": row % 3 == 0} for row in range(10 * number)]
    questions = [
        Question(id=f"city{number}", text="Which city is that of 7?", answer="City 7", kind="city"),
        Question(id=f"count{number}", text="How many?", answer=f"{10 * number}", kind="count", answer_type="integer"),
    ]
    return Document.of(f"rows-{number}", rows, questions)


DOCUMENTS = [document(number) for number in range(1, 6)]


class Knowing:
    """Answers rightly, but for questions about views that hold one of `hard`."""

    def __init__(self, *hard: str) -> None:
        self.hard = hard
        self.prompts: list[str] = []
        self.solver = DocumentSolver(DOCUMENTS, counter=COUNTER)

    def __call__(self, prompt: str) -> Answered:
        self.prompts.append(prompt)
        if "[{" not in prompt and any(word in prompt for word in self.hard):
            return Answered(text="*1", tokens_in=COUNTER(prompt), tokens_out=1)
        return self.solver(prompt)


def run(model: Any, **options: Any) -> Report:
    return evaluate(model, DOCUMENTS, counter=COUNTER, **{"forms": ("json", "view"), **options})


def test_a_model_that_knows_everything_is_right_in_each_form() -> None:
    report = run(Knowing(), forms=("json", "view", "readable"), concurrency=4)
    as_json, as_view, as_readable = report.arms
    assert [(arm.arm, arm.right, arm.tasks) for arm in report.arms] == [
        (form, 10, 10) for form in ("json", "view", "readable")
    ]
    assert as_view.difference and as_view.difference.low == 0
    assert as_view.chance == 1.0
    assert as_view.tokens < as_readable.tokens < as_json.tokens
    assert as_view.cost_difference and as_view.cost_difference.high < 0
    assert report.is_within("view", 3) and report.is_within("toon", 3)


def test_a_form_that_is_read_worse_is_below_by_its_interval() -> None:
    report = run(Knowing("How many"))
    as_view = report.arms[1]
    assert as_view.difference and as_view.difference.high < -3
    assert {kind: arms["view"].right for kind, arms in report.by_kind.items()} == {"city": 5, "count": 0}
    assert [line["answered"] for line in report.wrong] == ["*1"] * 5
    assert not report.is_within("view", 3)


def test_some_questions_are_spread_over_all_documents() -> None:
    report = run(Knowing(), limit=5)
    assert list(report.by_task) == ["city1", "city2", "city3", "city4", "city5"]


def test_two_questions_with_one_prompt_are_two_tasks() -> None:
    twins = [Question(id=id, text="How many?", answer="1", kind=id) for id in ("a", "b")]
    report = evaluate(Knowing(), [Document.of("one", [1], twins)], counter=COUNTER, forms=("json",))
    assert list(report.by_task) == ["a", "b"]


def test_a_form_that_a_document_has_not_is_refused() -> None:
    with pytest.raises(ValueError, match="expected forms of json, view, readable for 'rows-1', found 'toon'"):
        run(Knowing(), forms=("json", "toon"))


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
    assert report.missing > 0 and sum(arm.calls for arm in report.arms) == len(model.prompts)
    sent = list(map(COUNTER, model.prompts))
    assert sum(sent[:-1]) + 5 * len(sent[:-1]) < 3_000


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
    assert report.arms[1].right == report.arms[1].tasks > 0
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
    assert report.missing > 0 and sum(arm.calls for arm in report.arms) == len(model.prompts)
