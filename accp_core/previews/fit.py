"""How a preview fills its room: the fullest text within a limit of tokens, and how parts share room."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from accp_core.ports import TokenCounter

__all__ = ["fill", "share"]

_TRIES: Final = 5
"""How often a text is written and counted; the number of characters in a token depends on the text."""
_AIM: Final = 0.98
"""The share of the limit that a try aims at."""
_MAX_SHRINK: Final = 0.94
"""The share of the room that is left at most after a text that was too long."""

_STEP: Final = 0.75
"""The share of it that is left after the same text again."""


def fill(write: Callable[[float], str], *, limit: int, token_chars: float, counter: TokenCounter) -> str:
    """Return the text of `write(characters)` that has the most tokens up to `limit`.

    Args:
        write: Returns a text of about so many characters; of 0: the shortest one, which fits.
        limit: Tokens of the text at most.
        token_chars: The mean number of characters in a token, an estimate.
        counter: Counts the tokens of the model.
    """
    fullest = write(0)
    fullest_tokens = counter(fullest)
    room = limit * token_chars
    last = ""
    for _ in range(_TRIES):
        text = write(room)
        tokens = counter(text)
        if fullest_tokens < tokens <= limit:
            fullest, fullest_tokens = text, tokens
        change = _AIM * limit / max(tokens, 1)
        # Texts grow in steps: a little less room may give the same text again, much less does not.
        room *= change if tokens <= limit else min(change, _MAX_SHRINK) * (_STEP if text == last else 1)
        last = text
    return fullest


def share(sizes: Sequence[float], total: float) -> list[float]:
    """Return parts of `total`: the smallest sizes are met first, what they leave goes to the larger ones equally."""
    parts = [0.0] * len(sizes)
    left = total
    for rank, index in enumerate(sorted(range(len(sizes)), key=sizes.__getitem__)):
        parts[index] = left / (len(sizes) - rank)
        left -= min(parts[index], sizes[index])
    return parts
