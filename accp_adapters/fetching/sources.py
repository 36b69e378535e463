"""The value in a stored text, and its tables."""

from __future__ import annotations

from typing import Any

from accp_core.tables import OpenedText, open_text
from accp_core.view.documents import find_documents

__all__ = ["open_source", "open_stored"]


def open_stored(source: str) -> OpenedText:
    """Return the value in a stored text, and the other text around it; see `accp_core.tables`."""
    return open_text(source, find_documents)


def open_source(source: str) -> Any:
    """Return the JSON value that a stored text is, however it was written; any other text as it is."""
    opened = open_stored(source)
    return opened.value if opened.prose is None else opened.prose
