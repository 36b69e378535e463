"""The JSON value that a recorded text is."""

from __future__ import annotations

import json

__all__ = ["json_value"]


def json_value(text: str) -> object:
    """Return the JSON object or array that `text` is; None for any other text."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value
