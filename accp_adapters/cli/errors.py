"""The errors that end a command: a refused input with its place (exit code 1), a missing extra (exit code 2)."""

from __future__ import annotations

from accp_core.error_codes import ErrorCode
from accp_core.errors import DecodeError

__all__ = ["ExtraMissing", "InputRefused", "line_and_column", "refusal"]


class InputRefused(Exception):
    """An input is malformed; the text is one line such as "frames.txt:3:1: E1001: …" that an editor can jump to."""

    def __init__(
        self, reason: str, *, path: str, line: int = 0, column: int = 1, code: str = ErrorCode.PARSE_ERROR
    ) -> None:
        """Refuse an input.

        Args:
            reason: What was expected and found.
            path: The file, or another name for the input.
            line: From 1; 0: no place in it is wrong, such as where a query of it is.
            column: From 1.
            code: The error code of ACCP.
        """
        super().__init__(f"{path}{f':{line}:{column}' if line else ''}: {code}: {reason}")


class ExtraMissing(Exception):
    """A command needs an optional extra that is not installed."""

    def __init__(self, feature: str, *, extra: str) -> None:
        """Name the `feature` and the `extra` of the package that it needs."""
        super().__init__(f"{feature} needs an extra: pip install 'accp-middleware[{extra}]'")


def line_and_column(text: str, position: int) -> tuple[int, int]:
    """Return line and column, both from 1, of the character at `position` of `text`."""
    before = text[:position]
    return before.count("\n") + 1, position - (before.rfind("\n") + 1) + 1


def refusal(error: DecodeError, *, path: str, line: int = 1) -> InputRefused:
    """Return the refusal of a text that the core did not accept.

    Args:
        error: The error of the core.
        path: The file that holds the text.
        line: The line in which the text begins.
    """
    first, column = line_and_column(error.text, error.position)
    reason = error.reason.removesuffix(f", at position {error.position}")
    return InputRefused(reason, path=path, line=line + first - 1, column=column, code=error.code)
