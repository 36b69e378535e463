"""Why recorded runs were refused: where in which file, or which extra is missing."""

from __future__ import annotations

from accp_core.error_codes import ErrorCode

__all__ = ["ExtraMissing", "InputRefused", "place"]


class InputRefused(Exception):
    """The input is malformed; the command ends with exit code 1 and this text on standard error."""

    def __init__(
        self, reason: str, *, path: str, line: int = 1, column: int = 1, code: str = ErrorCode.PARSE_ERROR
    ) -> None:
        super().__init__(f"{path}:{line}:{column}: {code}: {reason}")
        self.reason = reason
        self.path = path
        self.line = line
        self.column = column
        self.code = code


def place(text: str, position: int) -> tuple[int, int]:
    """Return line and column, both from 1, of the character at `position` of `text`."""
    before = text[:position]
    return before.count("\n") + 1, position - (before.rfind("\n") + 1) + 1


class ExtraMissing(Exception):
    """A command needs an optional part that is not installed; it ends with exit code 2 and this text."""

    def __init__(self, what: str, *, extra: str) -> None:
        super().__init__(f"{what} needs an extra: pip install 'accp-middleware[{extra}]'")
        self.extra = extra
