"""A chat model as the verifier of results, the second phase of evaluation (ACI 5.2)."""

from __future__ import annotations

import re
from typing import Any, Final

from langchain_core.messages import BaseMessage, HumanMessage
from langchain_core.runnables import Runnable

__all__ = ["ModelVerifier"]

_QUESTION: Final = "Does the result show that the step is done? Answer `yes`, or say in one sentence what is missing."
_YES: Final = re.compile(r"\W*yes\b(?!\W+(?:but|except|however|although|only)\b)", re.IGNORECASE)


class ModelVerifier:
    """A verifier that asks a chat model about each item: `EvaluateNode(ModelVerifier(model))`.

    The model is sent the subtask, the step and the abstract, nothing else. Its answer, unless it is a yes, is the
    feedback for the next attempt.
    """

    def __init__(self, model: Runnable[Any, BaseMessage]) -> None:
        """Ask `model`: a chat model, or any Runnable from messages to a message."""
        self._model: Final = model

    def __call__(self, subtask: str, item: str, abstract: str, /) -> str | None:
        """Return None for a yes, else the feedback."""
        return _verdict(self._model.invoke(_question(subtask, item, abstract)))

    async def averify(self, subtask: str, item: str, abstract: str, /) -> str | None:
        """`__call__`, asynchronously."""
        return _verdict(await self._model.ainvoke(_question(subtask, item, abstract)))


def _question(subtask: str, item: str, abstract: str) -> list[BaseMessage]:
    return [HumanMessage(f"task {subtask}\nstep {item}\nresult {abstract}\n\n{_QUESTION}")]


def _verdict(answer: BaseMessage) -> str | None:
    return None if _YES.match(answer.text) else answer.text.strip() or "the result was not judged"
