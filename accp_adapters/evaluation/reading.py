"""Questions about documents in several forms, one question in a prompt: what `evaluate` asks a model."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

from accp_adapters.evaluation.answers import is_right
from accp_adapters.evaluation.models import Model
from accp_adapters.evaluation.report import Report
from accp_adapters.evaluation.run_file import Job, RunFile, do_all, spread
from accp_adapters.replay.prices import Budget
from accp_core.ports import TokenCounter
from accp_core.strict_json import compact_json
from accp_core.view import Options, legend_for, render_text

__all__ = [
    "JSON_FORM",
    "READING_FORMS",
    "Document",
    "Question",
    "evaluate",
    "make_prompt",
    "prompt_parts",
    "shown_text",
]

JSON_FORM: Final = "json"
"""The form that the others are compared with: compact JSON."""
READING_FORMS: Final = (JSON_FORM, "view", "readable")
"""The forms that every document has; one with `texts` has those, too."""
_OPTIONS: Final = {"view": Options(), "readable": Options(readable=True)}
_ASK: Final = (
    "Answer with the value alone, without an explanation: of a number only its digits, of a date or name the text as "
    "it stands in the data, of a list its items with commas and no blanks between them."
)
_FENCE, _QUESTION = "```\n", "\n```\n\nQuestion: "


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question with its answer."""

    id: str
    """Its name in reports and run files."""
    text: str
    """The question."""
    answer: str
    """What is right."""
    kind: str = ""
    """What it takes, such as "aggregation"."""
    answer_type: str = "string"
    """How answers are compared (`ANSWER_TYPES`)."""
    normalize: Mapping[str, Any] = field(default_factory=dict)
    """The options of the comparison (`is_right`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One document, and what is asked about it."""

    name: str
    """Its name in reports."""
    texts: Mapping[str, str]
    """The name of a form to the text in it; "json", the compact JSON that views are made of, is always there."""
    questions: Sequence[Question]
    """What is asked."""
    primers: Mapping[str, str] = field(default_factory=dict)
    """The name of a form to the words that explain it."""

    @classmethod
    def of(cls, name: str, value: Any, questions: Sequence[Question]) -> Document:
        """Return a document whose text is the compact JSON of `value`."""
        return cls(name=name, texts={JSON_FORM: compact_json(value)}, questions=questions)


def evaluate(
    model: Model,
    documents: Iterable[Document],
    *,
    counter: TokenCounter,
    forms: Sequence[str] = READING_FORMS,
    limit: int | None = None,
    model_name: str = "",
    run_file: Path | None = None,
    concurrency: int = 1,
    budget: Budget | None = None,
) -> Report:
    """Ask a model all questions about documents in all forms and return the figures.

    Args:
        model: What answers.
        documents: What is asked about; the ids of their questions are distinct.
        counter: Counts the tokens of prompts.
        forms: The forms of each document; the first is what the others are compared with.
        limit: Questions, spread over those of all documents; None: all.
        model_name: The name of the model in the run file.
        run_file: Keeps each answer; a run that was interrupted goes on where it stopped.
        concurrency: Prompts at once.
        budget: What may be taken before no further prompt is sent; None: no limit.

    Raises:
        ValueError: the run file holds another run, or a document has no such form. What the model raises passes
            through, after the answers that have come are kept.
    """
    run = RunFile(run_file, {"kind": "reading", "model": model_name})
    jobs = list(_jobs(model, list(documents), counter, forms, limit))
    return Report.of(do_all(run, jobs, concurrency=concurrency, budget=budget), asked=len(jobs), model=model_name)


def _jobs(
    model: Model, documents: Sequence[Document], counter: TokenCounter, forms: Sequence[str], limit: int | None
) -> Iterator[Job]:
    asked = spread([(document, question) for document in documents for question in document.questions], limit)
    for form in forms:
        texts = {document.name: shown_text(document, form, counter) for document in documents}
        for document, question in asked:
            prompt = make_prompt(document, form, texts[document.name], question)
            key = hashlib.sha256(f"{form}\n{question.id}\n{prompt}".encode("utf-8", "surrogatepass")).hexdigest()[:24]
            yield key, partial(_line, model, document, question, form, prompt, counter)


def shown_text(document: Document, form: str, counter: TokenCounter) -> str:
    """Return the text of a document in one form.

    Raises:
        ValueError: it has no such form.
    """
    if form in document.texts:
        return document.texts[form]
    if form not in _OPTIONS:
        known = ", ".join(dict.fromkeys((*document.texts, *_OPTIONS)))
        raise ValueError(f"expected forms of {known} for {document.name!r}, found {form!r}")
    return render_text(document.texts[JSON_FORM], counter=counter, options=_OPTIONS[form]).text


def make_prompt(document: Document, form: str, text: str, question: Question) -> str:
    """Return the prompt that asks a question about a document whose text in a form is `text`."""
    primer = legend_for(text) if form in _OPTIONS else document.primers.get(form, "")
    opening = f"{primer}\n\n" if primer else ""
    return f"{opening}The data:\n\n{_FENCE}{text}{_QUESTION}{question.text}\n\n{_ASK}\n\nAnswer:"


def prompt_parts(prompt: str) -> tuple[str, str]:
    """Return the text and the question of a prompt."""
    text, _, asked = prompt.partition(_FENCE)[2].rpartition(_QUESTION)
    return text, asked.removesuffix(f"\n\n{_ASK}\n\nAnswer:")


def _line(
    model: Model, document: Document, question: Question, form: str, prompt: str, counter: TokenCounter
) -> dict[str, Any]:
    """Ask one question and return what the run file keeps of it."""
    answered = model(prompt)
    tokens = counter(prompt)
    return {
        "arm": form,
        "task": question.id,
        "group": document.name,
        "kind": question.kind,
        "expected": question.answer,
        "answered": answered.text,
        "right": is_right(answered.text.strip(), question.answer, question.answer_type, question.normalize),
        "calls": 1,
        "tokens": tokens,
        "cost": tokens,
        "output": counter(answered.text),
        "usage_in": answered.tokens_in,
        "usage_out": answered.tokens_out,
    }
