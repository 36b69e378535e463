"""The definition of the tool `accp_fetch`: its name, its description for a model and its parameters."""

from __future__ import annotations

from typing import Any, Final

from accp_core.view.legend import LEGEND

__all__ = ["FETCH_DESCRIPTION", "FETCH_NAME", "FETCH_PARAMETERS"]

FETCH_NAME: Final = "accp_fetch"
"""The tool's name; its results are never compressed again."""

# The legend stands here and not in a system prompt, whose change would break the provider's cache.
FETCH_DESCRIPTION: Final = (
    "Queries $cold refs by SQLite SELECT (json_each; a text is lines(n, text); join: FROM $cold.a, $cold.b), "
    "condition, path (a.0.b) or words; default: rows that fit. " + LEGEND
)
"""What a model reads about the tool."""

# Written by hand: a schema made from a signature holds every default and costs half as many tokens again.
FETCH_PARAMETERS: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "ref": {"type": "string"},
        "query": {"type": "string"},
        "offset": {"type": "integer"},
        "limit": {"type": "integer"},
    },
    "required": ["ref"],
}
"""The JSON Schema of its arguments."""
