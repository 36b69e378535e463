"""The value in a stored text, and its tables."""

from __future__ import annotations

from typing import Any

from accp_core.tables import open_text

__all__ = ["open_source"]


def open_source(source: str) -> Any:
    """Return the JSON value that a stored text is, however it was written; any other text as it is."""
    opened = open_text(source)
    return opened.value if opened.prose is None else opened.prose
