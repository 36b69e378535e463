"""What prompts cost where the provider caches their prefix: tokens, cached tokens and the price of both.

Prices are relative to a token that is not cached. They are the published ones of 2025: OpenAI caches prompts of at
least 1,024 tokens in steps of 128; Anthropic charges 0.1 for a token read from the cache, 1.25 for one written to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Final

__all__ = ["CACHE_MINIMUM", "READ_PRICE", "WRITE_PRICE", "Charge", "PromptCache", "TokenIds", "price_prompt"]

CACHE_MINIMUM: Final = 1_024
"""Tokens; a shorter prompt is not cached."""
CACHE_STEP: Final = 128
"""Tokens; the cached beginning of a prompt is a multiple of this."""
READ_PRICE: Final = 0.1
"""Price of a token that is read from the cache."""
WRITE_PRICE: Final = 1.25
"""Price of a token that is written to the cache."""
TokenIds = Sequence[int]
"""The token ids of one part of a prompt: the tool definitions or one message."""


@dataclass(frozen=True, slots=True)
class Charge:
    """What one prompt costs."""

    tokens: int
    """Tokens of the whole prompt."""
    cached: int
    """Tokens that the provider reads from its cache."""
    cost: float
    """Cache-weighted tokens: 1.0 is one token at the list price."""


def price_prompt(tokens: int, prefix: int) -> Charge:
    """Return what a prompt costs.

    Args:
        tokens: Tokens of the whole prompt.
        prefix: Tokens at its beginning that the previous prompt began with, too.
    """
    if tokens < CACHE_MINIMUM:
        return Charge(tokens, 0, float(tokens))
    cached = prefix // CACHE_STEP * CACHE_STEP if prefix >= CACHE_MINIMUM else 0
    return Charge(tokens, cached, READ_PRICE * cached + WRITE_PRICE * (tokens - cached))


class PromptCache:
    """A provider's cache of prompt prefixes: it remembers the last prompt of each agent of a run."""

    def __init__(self) -> None:
        """Start empty."""
        self._last: dict[str, Sequence[TokenIds]] = {}

    def charge(self, agent: str, prompt: Sequence[TokenIds]) -> Charge:
        """Return what `prompt`, the next one of `agent`, costs, and remember it."""
        prefix = _common_prefix(self._last.get(agent, ()), prompt)
        self._last[agent] = prompt
        return price_prompt(sum(map(len, prompt)), prefix)


def _common_prefix(last: Sequence[TokenIds], prompt: Sequence[TokenIds]) -> int:
    """Return how many tokens at the beginning two prompts share, compared part by part, then token by token."""
    shared = 0
    for old, new in zip(last, prompt, strict=False):
        if old is not new and old != new:
            return shared + _count_equal(old, new)
        shared += len(new)
    return shared


def _count_equal(old: TokenIds, new: TokenIds) -> int:
    pairs = zip(old, new, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
