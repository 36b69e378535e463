"""The tools of an agent: their names, and the list without the fetch tool."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any, Final

from accp_adapters.fetching import FETCH_NAME
from accp_adapters.langgraph.fetch import is_own

__all__ = ["warn_of_unknown_tools", "without_fetch"]

_PATTERN: Final = frozenset("*?[")
"""Signs of a pattern of `fnmatch`."""


def without_fetch(tools: Sequence[Any]) -> list[Any]:
    """Return the tools without our fetch tool."""
    return [tool for tool in tools if getattr(tool, "name", None) != FETCH_NAME or not is_own(tool)]


def warn_of_unknown_tools(named: Iterable[str], tools: Sequence[Any]) -> None:
    """Warn of names in `Policy.tools` that no tool has: one may be mistyped. Patterns may match nothing."""
    names = sorted(filter(None, map(_name_of, tools)))
    unknown = sorted(name for name in named if not _PATTERN & set(name) and name not in names)
    if unknown and names:
        expected = f"expected Policy.tools to name tools of the agent ({', '.join(names)})"
        warnings.warn(f"{expected}, found {', '.join(map(repr, unknown))}", stacklevel=4)


def _name_of(tool: Any) -> str:
    """Return the name of a tool, or of its definition; "" where it has none."""
    if not isinstance(tool, dict):
        return str(getattr(tool, "name", ""))
    return str(tool.get("name") or (tool.get("function") or {}).get("name") or "")
