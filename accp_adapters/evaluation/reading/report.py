"""The figures of a run: right answers in each form, their difference to the baseline, errors, tokens."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from accp_adapters.evaluation.statistics import Difference, difference, mcnemar

__all__ = ["FormFigures", "Report"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FormFigures:
    """What came out for one form."""

    form: str
    """Its name."""
    right: int
    """Right answers."""
    asked: int
    """Questions."""
    by_kind: Mapping[str, tuple[int, int]]
    """The kind of a question to (right answers, questions)."""
    errors: Mapping[str, int]
    """The class of an error to its number."""
    tokens_in: int
    """Tokens of all prompts."""
    tokens_out: int
    """Tokens of all answers."""
    document_tokens: int
    """Tokens of the documents, each counted once."""
    difference: Difference | None = None
    """Against the baseline, over the questions that both were asked; None for the baseline."""
    chance: float | None = None
    """The probability that chance alone gives such a split (McNemar's exact test)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The figures of a run."""

    forms: tuple[FormFigures, ...]
    """Those of each form, the baseline first."""
    prompts: int
    """Prompts that were answered."""
    missing: int = 0
    """Prompts that were not sent, because the limit of tokens was reached."""
    _lines: Sequence[Mapping[str, Any]] = field(default=(), repr=False)

    @classmethod
    def of(cls, lines: Sequence[Mapping[str, Any]], *, asked: int | None = None) -> Report:
        """Return the figures of the lines of a run file, whose first form is the baseline."""
        by_form: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
        for line in lines:
            by_form[line["form"]].append(line)
        baseline = _grades(next(iter(by_form.values()), ()))
        figures = [
            _figures(form, each, baseline if number else None) for number, (form, each) in enumerate(by_form.items())
        ]
        missing = 0 if asked is None else asked - len(lines)
        return cls(forms=tuple(figures), prompts=len(lines), missing=missing, _lines=lines)

    def is_within(self, form: str, points: float) -> bool:
        """Return whether a form is at most `points` of 100 below the baseline, by the lower end of its interval."""
        found = next((each.difference for each in self.forms if each.form == form), None)
        return found is None or found.low >= -points

    def to_json(self) -> dict[str, Any]:
        """Return the figures as JSON."""
        return {"prompts": self.prompts, "missing": self.missing, "forms": [asdict(form) for form in self.forms]}


def _grades(lines: Iterable[Mapping[str, Any]]) -> dict[str, tuple[str, bool]]:
    """Return the id of each question to its document and whether it was answered rightly."""
    return {each["id"]: (line["document"], bool(each["right"])) for line in lines for each in line["questions"]}


def _figures(
    form: str, lines: Sequence[Mapping[str, Any]], baseline: Mapping[str, tuple[str, bool]] | None
) -> FormFigures:
    questions = [question for line in lines for question in line["questions"]]
    kinds: dict[str, list[bool]] = defaultdict(list)
    for question in questions:
        kinds[question["kind"]].append(bool(question["right"]))
    pairs = _paired(_grades(lines), baseline or {})
    flat = [pair for each in pairs.values() for pair in each]
    return FormFigures(
        form=form,
        right=sum(bool(question["right"]) for question in questions),
        asked=len(questions),
        by_kind={kind: (sum(each), len(each)) for kind, each in kinds.items()},
        errors=dict(Counter(question["error"] for question in questions if not question["right"])),
        tokens_in=sum(line["tokens_in"] for line in lines),
        tokens_out=sum(line["tokens_out"] for line in lines),
        document_tokens=sum({line["document"]: line["document_tokens"] for line in lines}.values()),
        difference=difference(pairs) if flat else None,
        chance=mcnemar(flat) if flat else None,
    )


def _paired(
    grades: Mapping[str, tuple[str, bool]], baseline: Mapping[str, tuple[str, bool]]
) -> dict[str, list[tuple[bool, bool]]]:
    """Return the name of each document to (right in the baseline, right in the form) of the questions asked in both."""
    pairs: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
    for id, (document, right) in grades.items():
        if id in baseline:
            pairs[document].append((baseline[id][1], right))
    return pairs
