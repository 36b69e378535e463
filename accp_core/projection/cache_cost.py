"""When a rewriting pays where the provider keeps the prompt's prefix: what was sent before costs a tenth.

The prices are the published ones of 2025: a token read from the cache costs 0.1, a token written 1.25; prompts below
1,024 tokens are not cached, and the cache moves in steps of 128.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = [
    "CACHE_MINIMUM", "CACHE_STEP", "FETCH_TOKENS", "READ_PRICE", "WRITE_PRICE", "Prompt", "first_reference_pays",
    "worth_it",
]  # fmt: skip

FETCH_TOKENS: Final = 130
"""About what the definition of the fetch tool takes in each prompt that offers it."""
# The providers' published terms of 2025: OpenAI caches prompts of 1,024 tokens and more, in steps of 128; Anthropic
# charges 0.1 of the list price for a token read from the cache and 1.25 for one written to it.
CACHE_MINIMUM: Final = 1_024
"""Tokens; a shorter prompt is not cached."""
CACHE_STEP: Final = 128
"""Tokens; the cached prefix is a multiple of it."""
READ_PRICE: Final = 0.1
"""Of the list price, for a token that is read from the cache."""
WRITE_PRICE: Final = 1.25
"""Of the list price, for a token that is written to the cache."""
# Half a step of the cache, and a share of the prompt: of savings below both, the rounding of the cache decides whether
# they save or cost (2 of 25 recorded runs with small tool results were dearer by over 1 % before this rule).
_LEAST_SAVING: Final = 64
_LEAST_SHARE: Final = 0.01
_CALLS_AHEAD: Final = 3
"""Further model calls to reckon with before the conversation is long enough for the cache anyway."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """What a model has before it when a message comes."""

    tokens: int = 0
    """About how many tokens it has read, instructions and tools included as far as they are known; 0: unknown."""
    references: bool = False
    """Whether something in it can be fetched, so that the fetch tool is offered already."""


def worth_it(before: int, after: int, prompt: Prompt) -> bool:
    """Tell whether a message of `before` tokens should be sent as one of `after` tokens.

    Not where the saving is lost in the rounding of the cache, and not where the prompt would fall out of the cache.
    """
    saved = before - after
    if saved <= 0 or (saved < _LEAST_SAVING and saved < _LEAST_SHARE * prompt.tokens):
        return False
    return not prompt.tokens or not _leaves_cache(prompt.tokens + before, prompt.tokens + after)


def _leaves_cache(whole: int, small: int) -> bool:
    """Tell whether a prompt of `small` tokens, which is not cached, costs more in a few calls than one of `whole`."""
    if not small < CACHE_MINIMUM <= whole:
        return False
    return _CALLS_AHEAD * (small - READ_PRICE * whole) > WRITE_PRICE * whole - small


def first_reference_pays(saved: int, prompt: Prompt) -> bool:
    """Tell whether a preview that saves `saved` tokens pays for the fetch tool.

    Offering the tool changes the beginning of the prompt, so all that the provider has kept is written again.
    """
    if prompt.references:
        return True
    kept = prompt.tokens if prompt.tokens >= CACHE_MINIMUM else 0
    return WRITE_PRICE * (saved - FETCH_TOKENS) > (WRITE_PRICE - READ_PRICE) * kept
