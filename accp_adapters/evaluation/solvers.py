"""Players without weights that know the way to an answer and read only their prompt: they prove a harness.

What they come to says what a form or an arm allows, not what a model makes of it.
"""

from __future__ import annotations

from collections.abc import Iterable

from accp_adapters.evaluation.models import Answered
from accp_adapters.evaluation.reading import BASELINE, Document, prompt_parts
from accp_core.errors import DecodeError
from accp_core.ports import TokenCounter
from accp_core.strict_json import compact_json
from accp_core.view import read

__all__ = ["DocumentSolver"]


class DocumentSolver:
    """Answers where the text in its prompt is one of a document, or a view that reads as the document's value."""

    def __init__(self, documents: Iterable[Document], *, counter: TokenCounter) -> None:
        """Know the answers to all questions about `documents`."""
        self._counter = counter
        self._answers: dict[str, dict[str, str]] = {}
        for document in documents:
            answers = {question.text: question.answer for question in document.questions}
            for text in (*document.texts.values(), compact_json(read(document.texts[BASELINE]))):
                self._answers[text] = answers

    def __call__(self, prompt: str) -> Answered:
        """Answer a prompt of `make_prompt`."""
        text, question = prompt_parts(prompt)
        answer = (self._answers.get(text) or self._answers.get(_value_of(text), {})).get(question, "unknown")
        return Answered(text=answer, tokens_in=self._counter(prompt), tokens_out=self._counter(answer))


def _value_of(view: str) -> str:
    """Return the compact JSON of the value that a view shows, "" where it is none."""
    try:
        return compact_json(read(view))
    except DecodeError:
        return ""
