"""How many results were rewritten, and what that did to their tokens."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["Counts", "total_of"]


@dataclass(frozen=True, slots=True)
class Counts:
    """The messages of one kind, of one server."""

    messages: int = 0
    rewritten: int = 0
    """How many of the messages were rewritten; the tokens are those of these."""
    tokens_before: int = 0
    """As the server sent them."""
    tokens_after: int = 0
    """As the client got them."""

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            self.messages + other.messages,
            self.rewritten + other.rewritten,
            self.tokens_before + other.tokens_before,
            self.tokens_after + other.tokens_after,
        )

    def describe(self) -> str:
        """Return the counts in words: "12 messages, 9 rewritten: 4,512 tokens became 2,310 (48.8 % less)"."""
        shown = f"{self.messages:,} message{'s' * (self.messages != 1)}, {self.rewritten:,} rewritten"
        if not self.rewritten:
            return shown
        change = 100 * (self.tokens_after - self.tokens_before) / max(self.tokens_before, 1)
        share = f" ({abs(change):.1f} % {'more' if change > 0 else 'less'})" if self.tokens_before else ""
        return f"{shown}: {self.tokens_before:,} tokens became {self.tokens_after:,}{share}"


def total_of(counts: Iterable[Counts]) -> str:
    """Return in words what counts of several kinds or servers are together."""
    return f"all together: {sum(counts, Counts()).describe()}"
