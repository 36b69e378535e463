"""The error of reading recorded runs."""

from __future__ import annotations

__all__ = ["UnreadableRun"]


class UnreadableRun(ValueError):
    """A text is not JSON or not a recorded run; the message begins with the place, such as "runs.json:2:12: "."""

    def __init__(self, reason: str, *, path: str, line: int = 1, column: int = 1) -> None:
        """Name the place.

        Args:
            reason: What was expected and found.
            path: The file.
            line: From 1.
            column: From 1.
        """
        super().__init__(f"{path}:{line}:{column}: {reason}")
        self.reason = reason
        self.path = path
        self.line = line
        self.column = column
