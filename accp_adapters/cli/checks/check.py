"""The outcome of one check."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Check"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """What one check found."""

    name: str
    """What was looked at."""
    found: str
    """What was found."""
    next_step: str = ""
    """What to do about it; empty: nothing is wrong."""

    @property
    def is_problem(self) -> bool:
        """Whether something is wrong."""
        return bool(self.next_step)
