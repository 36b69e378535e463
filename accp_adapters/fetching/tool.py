"""The tool `accp_fetch` as every framework offers it: its name, what a model is told of it, what it takes."""

from __future__ import annotations

from typing import Any, Final

from accp_core.view.notation import LEGEND

__all__ = ["FETCH_DESCRIPTION", "FETCH_NAME", "FETCH_PARAMETERS"]

FETCH_NAME: Final = "accp_fetch"
"""The tool's name; results of this tool are never rewritten."""

# The legend stands here and in no system prompt, whose change would break the provider's cache.
FETCH_DESCRIPTION: Final = (
    "Opens $cold references. select `col,col`, `col=value`, path `a.b` or words; offset, limit in rows or lines. "
    + LEGEND
)
"""What a model is told of it."""

# Written by hand: a schema made from a signature spells every default out and costs half as much again.
FETCH_PARAMETERS: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "ref": {"type": "string"},
        "select": {"type": "string"},
        "offset": {"type": "integer"},
        "limit": {"type": "integer"},
    },
    "required": ["ref"],
}
"""The JSON Schema of its arguments."""
