"""One span, and the lists that its attributes spell out key by key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

__all__ = ["Span", "unflatten"]

_MAX_INDEX: Final = 100_000
"""A hostile key such as `llm.input_messages.999999999` makes no list of that length."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """One operation of a trace."""

    trace: str
    """The id of the trace."""
    key: str
    """What no other span has: the ids of trace and span; empty: not recorded."""
    started: str
    """When it began; texts of one trace have one form."""
    attributes: Mapping[str, Any]
    """Its attributes."""
    events: tuple[tuple[str, Mapping[str, Any]], ...]
    """Name and attributes of each event."""


def unflatten(attributes: Mapping[str, Any], prefix: str) -> list[dict[str, Any]]:
    """Return the list that attributes such as `gen_ai.prompt.0.role` spell out below `prefix`.

    Each entry maps the rest of the key, such as "role" or "tool_calls.0.name", to the value; gaps are left out.
    """
    rows: dict[int, dict[str, Any]] = {}
    for key, value in attributes.items():
        if not key.startswith(f"{prefix}."):
            continue
        index, _, rest = key.removeprefix(f"{prefix}.").partition(".")
        if index.isdecimal() and int(index) <= _MAX_INDEX:
            rows.setdefault(int(index), {})[rest] = value
    return [rows[index] for index in sorted(rows)]
