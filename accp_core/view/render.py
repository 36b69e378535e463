"""STUB of the first hour: replaced by the real notation; the signatures stay."""

from __future__ import annotations

import json
from dataclasses import dataclass

from accp_core.ports import TokenCounter


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Which transforms a view may use."""


def render(value: object, *, counter: TokenCounter, options: Options | None = None) -> str:
    """Return the view of a JSON value."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
