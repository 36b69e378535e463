"""The time that an answer may take, looked at between pieces of work that are short."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError

__all__ = ["PIECE", "Deadline"]

PIECE: Final = 200_000
"""Characters, or comparisons of one, of a piece of work: a few milliseconds, in which no other thread runs."""


class Deadline:
    """The end of the time for one answer."""

    def __init__(self, seconds: float, reason: str) -> None:
        """Begin.

        Args:
            seconds: The time.
            reason: What was expected, for the refusal.
        """
        self._end: Final = time.monotonic() + seconds
        self._reason: Final = reason

    @property
    def is_over(self) -> bool:
        """Whether the time is over."""
        return time.monotonic() > self._end

    def check(self) -> None:
        """Refuse to go on once the time is over.

        Raises:
            ProtocolError: E2003, it is.
        """
        if self.is_over:
            raise ProtocolError(self._reason, code=ErrorCode.BUDGET_EXCEEDED)

    def in_pieces(self, change: Callable[[str], str], text: str) -> str:
        """Return `change(text)`, where that changes each character by itself.

        Raises:
            ProtocolError: E2003, the time is over.
        """
        if len(text) <= PIECE:
            return change(text)
        pieces = []
        for start in range(0, len(text), PIECE):
            self.check()
            pieces.append(change(text[start : start + PIECE]))
        return "".join(pieces)
