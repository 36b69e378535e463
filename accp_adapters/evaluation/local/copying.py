"""The copying proxy: how likely a small model finds the right value after a document, in each form."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from accp_adapters.evaluation.local.lookups import Lookup, lookups_of, shortened
from accp_adapters.evaluation.local.small_model import Scorer
from accp_adapters.evaluation.reading.documents import Document
from accp_adapters.evaluation.reading.forms import FORMS
from accp_adapters.evaluation.statistics import Difference, difference
from accp_core.ports import TokenCounter

__all__ = ["CopyingFigures", "Measured", "copying_figures", "measure_copying"]

_FORMS: Final = ("json", "view", "readable")
_EXAMPLES: Final = 2
"""Look-ups whose answers the model is given; from them it learns what is asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What came of one look-up in one form."""

    document: str
    """The name of the document."""
    form: str
    """The form in which the model read it."""
    question: str
    """What was looked up, and where."""
    tokens: int
    """Tokens of the document in this form."""
    log_likelihood: float
    """The logarithm of the probability of the right answer, for each of its characters."""
    filled_in: bool
    """Whether each token of the right answer is the most likely one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyingFigures:
    """What came out in one form."""

    form: str
    """Its name."""
    questions: int
    """Look-ups."""
    tokens: int
    """Tokens of the documents, each counted once."""
    log_likelihood: float
    """The mean logarithm of the probability of a character of the right answers; nearer to 0 is better."""
    filled_in: int
    """Right answers whose tokens are the most likely ones."""
    difference: Difference | None = None
    """Of the logarithm to the first form, in hundredths, with a 95 % interval over documents; None for the first."""
    filled_in_difference: Difference | None = None
    """Of the right answers to the first form, in points of 100, with its interval; None for the first."""

    def to_json(self) -> dict[str, Any]:
        """Return the figures as JSON."""
        return asdict(self)


def measure_copying(
    scorer: Scorer,
    documents: Iterable[Document],
    *,
    counter: TokenCounter,
    max_tokens: int = 200,
    per_document: int = 6,
    max_documents: int = 16,
    seed: int = 0,
) -> Iterator[Measured]:
    """Yield what a model makes of each look-up in each form.

    Below the document stand sentences such as "The city of the id A17 is Oslo."; those before the one that is asked
    have their answers, so that the model needs to understand no instructions.

    Args:
        scorer: The model.
        documents: What is looked up in; of one whose JSON takes more than `max_tokens`, the first entries of its lists
            alone. Documents without a list of objects, and those that repeat an earlier text, are left out.
        counter: Counts the tokens of documents.
        max_tokens: Tokens of a document as JSON.
        per_document: Look-ups in each that are measured.
        max_documents: Documents; of more, some are drawn.
        seed: Of what is drawn.
    """
    wanted = _EXAMPLES + per_document
    found = []
    for document in documents:
        short = None if document.earlier else shortened(document, lambda text: counter(text) <= max_tokens)
        if short and len(asked := lookups_of(short, seed=seed)[:wanted]) > _EXAMPLES:
            found.append((short, asked))
    chance = random.Random(seed)
    drawn = set(chance.sample(range(len(found)), min(max_documents, len(found))))
    for number, (document, asked) in enumerate(found):
        for form in _FORMS if number in drawn else ():
            yield from _measure(scorer, document, form, asked, counter)


def _measure(
    scorer: Scorer, document: Document, form: str, asked: Sequence[Lookup], counter: TokenCounter
) -> Iterator[Measured]:
    text = FORMS[form](document, counter)
    prompt, tokens = f"{text}\n\n", counter(text)
    for number, lookup in enumerate(asked):
        prompt += lookup.words
        if number >= _EXAMPLES:
            scored = scorer.score(prompt, f" {lookup.answer}")
            yield Measured(
                document=document.name,
                form=form,
                question=f"{document.name}: {lookup.words}",
                tokens=tokens,
                log_likelihood=scored.log_likelihood / (len(lookup.answer) + 1),
                filled_in=scored.is_most_likely,
            )
        prompt += f" {lookup.answer}.\n"


def copying_figures(measured: Sequence[Measured]) -> list[CopyingFigures]:
    """Return the figures of each form, the first of which is what the others are compared with."""
    by_form: dict[str, list[Measured]] = defaultdict(list)
    for each in measured:
        by_form[each.form].append(each)
    first = {each.question: each for each in next(iter(by_form.values()), ())}
    return [_figures(form, each, first if number else {}) for number, (form, each) in enumerate(by_form.items())]


def _figures(form: str, measured: Sequence[Measured], first: Mapping[str, Measured]) -> CopyingFigures:
    likely: dict[str, list[tuple[float, float]]] = defaultdict(list)
    filled: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for each in measured:
        if before := first.get(each.question):
            likely[each.document].append((before.log_likelihood, each.log_likelihood))
            filled[each.document].append((before.filled_in, each.filled_in))
    return CopyingFigures(
        form=form,
        questions=len(measured),
        tokens=sum({each.document: each.tokens for each in measured}.values()),
        log_likelihood=sum(each.log_likelihood for each in measured) / len(measured),
        filled_in=sum(each.filled_in for each in measured),
        difference=difference(likely) if likely else None,
        filled_in_difference=difference(filled) if filled else None,
    )
