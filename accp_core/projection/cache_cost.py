"""Whether a shorter text saves money where the provider caches the beginning of a prompt.

Prices are relative to a token that is not cached. They are the published ones of 2025: OpenAI caches prompts of at
least 1,024 tokens in steps of 128; Anthropic charges 0.1 for a token read from the cache, 1.25 for one written to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = [
    "CACHE_MINIMUM", "CACHE_STEP", "FETCH_TOKENS", "READ_PRICE", "WRITE_PRICE", "PriorPrompt", "first_reference_pays",
    "saving_pays",
]  # fmt: skip

CACHE_MINIMUM: Final = 1_024
"""Tokens; a shorter prompt is not cached."""
CACHE_STEP: Final = 128
"""Tokens; the cached beginning of a prompt is a multiple of this."""
READ_PRICE: Final = 0.1
"""Price of a token that is read from the cache."""
WRITE_PRICE: Final = 1.25
"""Price of a token that is written to the cache."""

FETCH_TOKENS: Final = 130
"""Approximate tokens of the definition of the fetch tool in each prompt that offers it."""

# A saving of a part of a step of the cache and below a hundredth of the prompt can be lost or doubled by the rounding
# of the cache. Of 25 recorded runs with small tool results, 1 costs over 1 % more with three eighths of a step, none
# with half a step; but then all 25 together cost 1.4 % more.
_MIN_SAVING: Final = 3 * CACHE_STEP // 8
_MIN_SHARE: Final = 0.01
_CALLS_AHEAD: Final = 3
"""Further model calls that are assumed before the conversation is long enough for the cache anyway."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PriorPrompt:
    """The prompt before a message."""

    tokens: int = 0
    """Approximate tokens, instructions and tool definitions included as far as the rules say them; 0: unknown."""
    saved: int = 0
    """Tokens that the messages in it would have more if they were sent as they are."""
    has_references: bool = False
    """Whether the fetch tool is offered already: always, or because the prompt holds a reference."""


def saving_pays(before: int, after: int, prompt: PriorPrompt) -> bool:
    """Return whether a message of `before` tokens should be sent as one of `after` tokens.

    It should not where the rounding of the cache may consume the saving, nor where the prompt would become too short
    for the cache.
    """
    if after >= before:
        return False
    # What earlier messages saved has moved the end of the cached part already.
    saved = prompt.saved + before - after
    if saved < _MIN_SAVING and saved < _MIN_SHARE * prompt.tokens:
        return False
    return not prompt.tokens or not _leaves_cache(prompt.tokens + prompt.saved + before, prompt.tokens + after)


def _leaves_cache(long: int, short: int) -> bool:
    """Return whether a prompt of `short` tokens is not cached and costs more over a few calls than one of `long`."""
    if not short < CACHE_MINIMUM <= long:
        return False
    return _CALLS_AHEAD * (short - READ_PRICE * long) > WRITE_PRICE * long - short


def first_reference_pays(saved: int, prompt: PriorPrompt) -> bool:
    """Return whether a preview that saves `saved` tokens pays for offering the fetch tool.

    The definition of the tool changes the beginning of the prompt, so that the provider writes all of it again.
    """
    if prompt.has_references:
        return True
    cached = prompt.tokens if prompt.tokens >= CACHE_MINIMUM else 0
    return WRITE_PRICE * (saved - FETCH_TOKENS) > (WRITE_PRICE - READ_PRICE) * cached
