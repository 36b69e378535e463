"""The tools of a server, as its last tools/list said."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any, Final

from accp_adapters.mcp.shim.protocol import JsonObject

__all__ = ["ToolCatalog", "matches_any"]

_MAX_TOOLS: Final = 10_000
"""Tools of one server."""


class ToolCatalog:
    """The tools of a server, as far as a client has listed them."""

    def __init__(self) -> None:
        """Start without any tool."""
        self.tools: dict[str, JsonObject] = {}
        """Name to definition."""
        self.own: Final[set[str]] = set()
        """The names under which our own tools were listed: no tool of the server takes one later."""
        self.is_complete = False
        """Whether the last page was seen, so that a name which is missing is not a tool."""

    def add(self, result: JsonObject, params: object) -> None:
        """Add a page of tools/list; the first page replaces everything.

        Args:
            result: The result of tools/list.
            params: The params of its request; a cursor marks a further page.
        """
        known = dict(self.tools) if isinstance(params, dict) and params.get("cursor") else {}
        tools = result.get("tools")
        for tool in self.of_server(tools) if isinstance(tools, list) else ():
            name = tool.get("name") if isinstance(tool, dict) else None
            if isinstance(name, str) and len(known) < _MAX_TOOLS:
                known[name] = tool
        # Replaced, never changed: another thread may be reading it.
        self.tools = known
        self.is_complete = not result.get("nextCursor")

    def of_server(self, tools: list[Any]) -> list[Any]:
        """Return the tools of a page of the server's list without those that have the name of one of ours."""
        return [tool for tool in tools if not (isinstance(tool, dict) and str(tool.get("name")) in self.own)]

    def clear(self) -> None:
        """Remove all tools: the server's list has changed, or is listed again."""
        self.tools = {}
        self.is_complete = False


def matches_any(name: str, patterns: Sequence[str]) -> bool:
    """Return whether a tool's name matches one of `patterns`, in which `*` and `?` match other characters."""
    return any(fnmatchcase(name, pattern) for pattern in patterns)
