"""The second phase of evaluation: a verifier of any kind, a chat model among them, and its failures (ACI 4.1, 5.2)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from langchain_core.messages import BaseMessage, HumanMessage
from langchain_core.runnables import Runnable
from langgraph.errors import GraphBubbleUp

from accp_adapters.langgraph.teams.replies import is_awaited
from accp_core.aci import Claim, NotJudged, Verdict, read_verdict, verify_by_rule

__all__ = ["AsyncVerifier", "Judge", "ModelVerifier"]

AsyncVerifier: TypeAlias = Callable[[str, str, str], Awaitable[str | None]]
"""A `Verifier` whose call is awaited: subtask, item and abstract to None or feedback."""

_QUESTION: Final = "Does the result show that the step is done? Answer `yes` alone, or what is missing in one sentence."


@dataclass(frozen=True, slots=True)
class Judge:
    """Asks a verifier about claims."""

    verifier: Any
    """A `Verifier` or `AsyncVerifier`; an object may have a method `averify` besides its call."""
    catch: tuple[type[Exception], ...]
    """Exceptions of the verifier that leave an item unverified."""

    @property
    def is_rule(self) -> bool:
        """Whether the verifier is the one that asks nobody."""
        return self.verifier is verify_by_rule

    def check_sync(self) -> None:
        """Raise TypeError where the verifier has to be awaited."""
        if is_awaited(self.verifier):
            raise TypeError("expected `ainvoke` with an asynchronous verifier, found `invoke`")

    def ask(self, claim: Claim) -> Verdict:
        """Return the verdict on a claim."""
        try:
            verdict: Verdict = self.verifier(claim.subtask_name, claim.description, claim.abstract)
        except GraphBubbleUp:  # an interrupt: a person judges
            raise
        except self.catch as error:
            return _not_judged(error)
        return verdict

    async def aask(self, claim: Claim) -> Verdict:
        """`ask`, asynchronously."""
        try:
            verdict: Verdict = await self._answer(claim.subtask_name, claim.description, claim.abstract)
        except GraphBubbleUp:
            raise
        except self.catch as error:
            return _not_judged(error)
        return verdict

    def _answer(self, *claim: str) -> Awaitable[Verdict]:
        asynchronous = self.verifier if is_awaited(self.verifier) else getattr(self.verifier, "averify", None)
        answer: Awaitable[Verdict] = asynchronous(*claim) if asynchronous else asyncio.to_thread(self.verifier, *claim)
        return answer


def _not_judged(error: Exception) -> NotJudged:
    return NotJudged(f"{type(error).__name__}: {error}")


class ModelVerifier:
    """A verifier that asks a chat model about each item: `master_graph(…, verifier=ModelVerifier(model))`.

    The model is sent the subtask, the step and the abstract, nothing else. `yes` alone verifies; words without a yes
    are the feedback for the next attempt; a yes with more words judges nothing (`accp_core.aci.read_verdict`).
    """

    def __init__(self, model: Runnable[Any, BaseMessage]) -> None:
        """Ask `model`: a chat model, or any Runnable from messages to a message."""
        self._model: Final = model

    def __call__(self, subtask: str, item: str, abstract: str, /) -> str | None:
        """Return None for a yes, else the feedback."""
        return read_verdict(self._model.invoke(_question(subtask, item, abstract)).text)

    async def averify(self, subtask: str, item: str, abstract: str, /) -> str | None:
        """`__call__`, asynchronously."""
        return read_verdict((await self._model.ainvoke(_question(subtask, item, abstract))).text)


def _question(subtask: str, item: str, abstract: str) -> list[BaseMessage]:
    return [HumanMessage(f"task {subtask}\nstep {item}\nresult {abstract}\n\n{_QUESTION}")]
