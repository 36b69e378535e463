"""Which of two texts has more tokens, counting as little as is needed: counting takes more time than rendering."""

from __future__ import annotations

from typing import Final

from accp_core.ports import TokenCounter

__all__ = ["RememberingCounter", "has_tokens", "is_longer"]

_MIN_REMEMBERED_CHARS: Final = 100
"""Characters of a text whose count is remembered."""
_MAX_CUT_TOKENS: Final = 8
"""Tokens that a cut in a text may add to its count."""
_CHARS_OF_TOKEN: Final = 4
"""Characters of compact JSON in which a bound finds a token, approximately."""


class RememberingCounter:
    """A counter that counts each long text once: the view and the source are counted in several places.

    It keeps every text that it counts, so it is for the work on one source.
    """

    def __init__(self, counter: TokenCounter) -> None:
        """Count by `counter`."""
        self._counter = counter
        self._counts: dict[str, int] = {}

    def __call__(self, text: str, /) -> int:
        """Return the number of tokens of `text`."""
        if len(text) < _MIN_REMEMBERED_CHARS:
            return self._counter(text)
        if text not in self._counts:
            self._counts[text] = self._counter(text)
        return self._counts[text]

    def at_least(self, text: str, /) -> int:
        """Return a number that the tokens of `text`, and of any text that begins with it, are never below."""
        return _at_least(text, self._counter)


def _at_least(text: str, counter: TokenCounter) -> int:
    """Return a number of tokens that `text` has at least; 0 where the counter is no `BoundedCounter`."""
    bound = getattr(counter, "at_least", None)
    return int(bound(text)) if bound else 0


def has_tokens(text: str, tokens: int, *, counter: TokenCounter) -> bool:
    """Return whether `text` has at least that many tokens; what is sure of its beginning is not counted."""
    chars = 2 * _CHARS_OF_TOKEN * tokens
    return (len(text) > chars and _at_least(text[:chars], counter) >= tokens) or counter(text) >= tokens


def is_longer(text: str, view: str, *, counter: TokenCounter) -> bool:
    """Return whether `text` has more tokens than `view`, counting only as much of it as is needed."""
    tokens = counter(view)
    chars = _CHARS_OF_TOKEN * (tokens + 1)
    if _at_least(text[:chars], counter) > tokens or (chars < len(text) and _at_least(text, counter) > tokens):
        return True
    return _is_counted_longer(text, len(view), tokens, counter)


def _is_counted_longer(text: str, chars: int, tokens: int, counter: TokenCounter) -> bool:
    """Return whether `text` has more than `tokens`, the tokens of a view of that many characters."""
    counted = at = 0
    length = chars * 9 // 8
    while at < len(text) and (at or length <= len(text) * 15 // 16):
        # No word reaches across a quote, so a cut behind one adds hardly a token to the count.
        end = len(text) if length > len(text) * 15 // 16 else text.rfind('"', at, length) + 1
        if end:
            counted += counter(text[at:end]) - _MAX_CUT_TOKENS
            at = end
            if counted > tokens:
                return True
        length = length * 5 // 4 + 1
    return counter(text) > tokens
