"""The texts behind an answer that cites references, from an agent that runs as a tool to the agent that called it.

The calling agent opens a receptacle around the call of the tool. The agent within, in whatever graph the tool runs it,
puts the texts there that its final answer cites; the calling agent's state gets them with the tool's answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import Any, Final

from langchain_core.messages import ToolMessage
from langgraph.types import Command

from accp_adapters.langgraph.references.grants import HANDED_TEXTS_KEY, find_texts
from accp_core.references import key_of

__all__ = ["hand_over", "receiving", "with_texts"]

_receptacle: Final[ContextVar[dict[str, str] | None]] = ContextVar("accp_handed_over", default=None)


@contextmanager
def receiving() -> Iterator[dict[str, str]]:
    """Yield the dictionary, key to text, that gets what agents hand over while the tool runs."""
    texts: dict[str, str] = {}
    token = _receptacle.set(texts)
    try:
        yield texts
    finally:
        _receptacle.reset(token)


def hand_over(keys: Iterable[str], state: Any) -> None:
    """Hand over those texts of `state` that a final answer cites by `keys`, where a calling agent takes them."""
    texts = _receptacle.get()
    if texts is None:
        return
    texts.update((key_of(text), text) for text in find_texts(keys, state).values())


def with_texts(answer: ToolMessage | Command[Any], texts: Mapping[str, str]) -> ToolMessage | Command[Any]:
    """Return the answer of a tool, with an update of the state that adds `texts`."""
    if not texts:
        return answer
    if isinstance(answer, ToolMessage):
        return Command(update={"messages": [answer], HANDED_TEXTS_KEY: dict(texts)})
    if answer.graph is None and isinstance(answer.update, Mapping):
        return replace(answer, update={**answer.update, HANDED_TEXTS_KEY: dict(texts)})
    return answer
