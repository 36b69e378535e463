"""The copying proxy: how likely a small model finds the right value after a document, in each form."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from accp_adapters.evaluation.local.small_model import Scorer
from accp_adapters.evaluation.reading.documents import Document
from accp_adapters.evaluation.reading.forms import FORMS
from accp_adapters.evaluation.reading.grading import grade
from accp_adapters.evaluation.reading.questions import Question, questions_of
from accp_adapters.evaluation.statistics import Difference, difference
from accp_core.ports import TokenCounter

__all__ = ["COPIED", "CopyingFigures", "Measured", "copying_figures", "measure_copying"]

COPIED: Final = ("lookup", "wide lookup", "repeated lookup", "reverse lookup", "next entry", "path")
"""Kinds of questions whose answer stands in the document; a model that copies well finds it likely."""
_FORMS: Final = ("json", "view", "readable")


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What came of one question in one form."""

    document: str
    """The name of the document."""
    form: str
    """The form in which the model read it."""
    question: str
    """The id of the question."""
    tokens: int
    """Tokens of the document in this form."""
    log_likelihood: float
    """The logarithm of the probability of the right answer, for each of its characters."""
    filled_in: bool
    """Whether the most likely line is the right answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyingFigures:
    """What came out in one form."""

    form: str
    """Its name."""
    questions: int
    """Questions."""
    tokens: int
    """Tokens of the documents, each counted once."""
    log_likelihood: float
    """The mean logarithm of the probability of a character of the right answers; nearer to 0 is better."""
    filled_in: int
    """Right answers among the most likely lines."""
    difference: Difference | None = None
    """Of the logarithm to the first form, in hundredths, with a 95 % interval over documents; None for the first."""

    def to_json(self) -> dict[str, Any]:
        """Return the figures as JSON."""
        return asdict(self)


def measure_copying(
    scorer: Scorer,
    documents: Iterable[Document],
    *,
    counter: TokenCounter,
    max_tokens: int = 700,
    per_document: int = 3,
    seed: int = 0,
) -> Iterator[Measured]:
    """Yield what a model makes of each question in each form.

    Args:
        scorer: The model.
        documents: What is asked about; those whose JSON takes more than `max_tokens`, and those that repeat an earlier
            text, are left out.
        counter: Counts the tokens of documents.
        max_tokens: Tokens of a document.
        per_document: Questions about each.
        seed: Of the choice of questions.
    """
    for document in documents:
        if document.earlier or counter(document.source) > max_tokens:
            continue
        questions = [each for each in questions_of(document, seed=seed) if each.kind in COPIED][:per_document]
        for form in _FORMS if questions else ():
            text = FORMS[form](document, counter)
            for question in questions:
                yield _measure(scorer, document, form, text, question, counter(text))


def _measure(scorer: Scorer, document: Document, form: str, text: str, question: Question, tokens: int) -> Measured:
    prompt = f"{text}\n\nQuestion: {question.text}\nAnswer:"
    answer = question.answer if isinstance(question.answer, str) else json.dumps(question.answer)
    return Measured(
        document=document.name,
        form=form,
        question=question.id,
        tokens=tokens,
        log_likelihood=scorer.log_likelihood(prompt, f" {answer}") / (len(answer) + 1),
        filled_in=grade(question, scorer.complete(prompt) or None).right,
    )


def copying_figures(measured: Sequence[Measured]) -> list[CopyingFigures]:
    """Return the figures of each form, the first of which is what the others are compared with."""
    by_form: dict[str, list[Measured]] = defaultdict(list)
    for each in measured:
        by_form[each.form].append(each)
    first = {each.question: each.log_likelihood for each in next(iter(by_form.values()), ())}
    return [_figures(form, each, first if number else None) for number, (form, each) in enumerate(by_form.items())]


def _figures(form: str, measured: Sequence[Measured], first: Mapping[str, float] | None) -> CopyingFigures:
    pairs: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for each in measured:
        if first is not None:
            pairs[each.document].append((first[each.question], each.log_likelihood))
    return CopyingFigures(
        form=form,
        questions=len(measured),
        tokens=sum({each.document: each.tokens for each in measured}.values()),
        log_likelihood=sum(each.log_likelihood for each in measured) / len(measured),
        filled_in=sum(each.filled_in for each in measured),
        difference=difference(pairs) if pairs else None,
    )
