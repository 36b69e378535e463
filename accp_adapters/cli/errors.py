"""What a command says when it refuses its input: one line that an editor can jump to."""

from __future__ import annotations

from accp_adapters.replay.errors import ExtraMissing, InputRefused, place
from accp_core.errors import DecodeError

__all__ = ["ExtraMissing", "InputRefused", "place", "refusal"]


def refusal(error: DecodeError, *, path: str, line: int = 1) -> InputRefused:
    """Return what to say about a text that the core refused; `line` is where the text begins in the file."""
    first, column = place(error.text, error.position)
    reason = error.reason.removesuffix(f", at position {error.position}")
    return InputRefused(reason, path=path, line=line + first - 1, column=column, code=error.code)
