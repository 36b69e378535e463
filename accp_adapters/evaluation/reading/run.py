"""Asks a model the questions about each document in each form."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from accp_adapters.evaluation.models import Answered, Model
from accp_adapters.evaluation.reading.documents import Document
from accp_adapters.evaluation.reading.forms import READING_FORMS, available_forms
from accp_adapters.evaluation.reading.grading import grade, read_answers
from accp_adapters.evaluation.reading.questions import Question, questions_of
from accp_adapters.evaluation.reading.report import Report
from accp_adapters.evaluation.run_file import RunFile
from accp_adapters.replay.prices import Budget
from accp_core.ports import TokenCounter

__all__ = ["ReadingOptions", "evaluate", "make_prompt"]

_INSTRUCTIONS: Final = (
    "Answer questions about the document below, from it alone. Write one line for each question: its number, a colon, "
    "and the answer alone. Copy values as they stand in the document."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingOptions:
    """What a run asks."""

    forms: tuple[str, ...] = available_forms()
    """The forms of each document; the first is what the others are compared with."""
    per_kind: int = 1
    """Questions of each kind about each document."""
    batch: int = 1
    """Questions of one prompt."""
    seed: int = 0
    """Of the choice of questions; the same seed gives the same ones."""

    def __post_init__(self) -> None:
        if unknown := [name for name in self.forms if name not in READING_FORMS]:
            raise ValueError(f"expected forms of {', '.join(READING_FORMS)}, found {unknown[0]!r}")
        if not self.forms or min(self.per_kind, self.batch) < 1:
            raise ValueError(f"expected at least one form, question and batch, found {self!r}")


@dataclass(frozen=True, slots=True)
class _Prompt:
    """One prompt, and what it asks."""

    document: Document
    form: str
    text: str
    questions: Sequence[Question]
    document_tokens: int

    @property
    def key(self) -> str:
        return hashlib.sha256(f"{self.form}\n{self.text}".encode("utf-8", "surrogatepass")).hexdigest()[:24]


def evaluate(
    model: Model,
    documents: Iterable[Document],
    *,
    counter: TokenCounter,
    options: ReadingOptions | None = None,
    model_name: str = "",
    run_file: Path | None = None,
    concurrency: int = 1,
    budget: Budget | None = None,
) -> Report:
    """Ask a model all questions and return the figures.

    Args:
        model: What answers.
        documents: What is asked about; their names are distinct.
        counter: Counts the tokens of documents.
        options: What is asked; None: the defaults.
        model_name: The name of the model in the run file.
        run_file: Keeps each answer; a run that was interrupted goes on where it stopped.
        concurrency: Prompts at once.
        budget: What may be taken before no further prompt is sent; None: no limit.

    Raises:
        ValueError: the run file holds another run. What the model raises passes through, after the answers that have
            come are kept.
    """
    chosen, limits = options or ReadingOptions(), budget or Budget()
    run = RunFile(run_file, {"model": model_name, **asdict(chosen), "forms": list(chosen.forms)})
    prompts = list(_prompts(documents, chosen, counter))

    def ask(prompt: _Prompt) -> None:
        lines = list(run.answers.values())
        sent, answered = (sum(line[name] for line in lines) for name in ("tokens_in", "tokens_out"))
        if prompt.key not in run.answers and limits.is_left(prompt=sent, output=answered):
            run.add(prompt.key, _line(prompt, model(prompt.text)))

    with ThreadPoolExecutor(max_workers=concurrency) as pool:
        for _ in pool.map(ask, prompts):
            pass
    return Report.of([run.answers[prompt.key] for prompt in prompts if prompt.key in run.answers], asked=len(prompts))


def make_prompt(document: Document, text: str, questions: Sequence[Question]) -> str:
    """Return the prompt that asks `questions` about a document whose text, in some form, is `text`."""
    earlier = f"An earlier text:\n{document.earlier}\n\n" if document.earlier else ""
    asked = "\n".join(f"{number}: {question.text}" for number, question in enumerate(questions, 1))
    return f"{_INSTRUCTIONS}\n\n{earlier}The document:\n{text}\n\nQuestions:\n{asked}"


def _prompts(documents: Iterable[Document], options: ReadingOptions, counter: TokenCounter) -> Iterator[_Prompt]:
    for document in documents:
        questions = questions_of(document, seed=options.seed, per_kind=options.per_kind)
        for form in options.forms:
            text = READING_FORMS[form](document, counter)
            for start in range(0, len(questions), options.batch):
                part = questions[start : start + options.batch]
                yield _Prompt(document, form, make_prompt(document, text, part), part, counter(text))


def _line(prompt: _Prompt, answered: Answered) -> dict[str, Any]:
    """Return what the run file keeps of one prompt."""
    answers = read_answers(answered.text, len(prompt.questions))
    grades = [grade(question, answer) for question, answer in zip(prompt.questions, answers, strict=True)]
    return {
        "document": prompt.document.name,
        "form": prompt.form,
        "document_tokens": prompt.document_tokens,
        "tokens_in": answered.tokens_in,
        "tokens_out": answered.tokens_out,
        "answered": answered.text,
        "questions": [
            {"id": question.id, "kind": question.kind, "expected": question.answer, "found": answer, **asdict(graded)}
            for question, answer, graded in zip(prompt.questions, answers, grades, strict=True)
        ],
    }
