"""What prompts cost where the provider keeps a prefix cache: tokens, cached tokens and their price."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Final

__all__ = ["CACHE_MINIMUM", "CACHE_STEP", "READ_PRICE", "WRITE_PRICE", "Charge", "Ledger", "Tokens", "charge"]

Tokens = Sequence[int]
"""The token ids of one part of a prompt: the tool definitions or one message."""

# Providers' published terms of 2025: OpenAI caches from 1,024 tokens on in steps of 128; Anthropic takes 0.1
# of the list price for a token read and 1.25 for one written.
CACHE_MINIMUM: Final = 1024
CACHE_STEP: Final = 128
READ_PRICE: Final = 0.1
WRITE_PRICE: Final = 1.25


@dataclass(frozen=True, slots=True)
class Charge:
    """The price of one prompt."""

    tokens: int
    cached: int
    """Those of `tokens` that the provider had kept."""
    cost: float
    """In fresh tokens: 1.0 is one token at the list price."""


def charge(tokens: int, prefix: int) -> Charge:
    """Return the price of a prompt of `tokens` of which the first `prefix` stood in the one before it."""
    if tokens < CACHE_MINIMUM:
        return Charge(tokens, 0, float(tokens))
    cached = prefix // CACHE_STEP * CACHE_STEP if prefix >= CACHE_MINIMUM else 0
    return Charge(tokens, cached, READ_PRICE * cached + WRITE_PRICE * (tokens - cached))


class Ledger:
    """The prompts of a run, one after the other; it remembers the last one of each agent."""

    def __init__(self) -> None:
        self._last: dict[str, Sequence[Tokens]] = {}

    def enter(self, agent: str, prompt: Sequence[Tokens]) -> Charge:
        """Return the price of `prompt`, the next one of `agent`."""
        prefix = _common_prefix(self._last.get(agent, ()), prompt)
        self._last[agent] = prompt
        return charge(sum(map(len, prompt)), prefix)


def _common_prefix(last: Sequence[Tokens], prompt: Sequence[Tokens]) -> int:
    """Return how many tokens two prompts share from the start: part by part, then token by token."""
    shared = 0
    for old, new in zip(last, prompt, strict=False):
        if old is not new and old != new:
            return shared + _equal(old, new)
        shared += len(new)
    return shared


def _equal(old: Tokens, new: Tokens) -> int:
    pairs = zip(old, new, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
