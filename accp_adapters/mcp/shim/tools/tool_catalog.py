"""The tools of a server, as its last tools/list said."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any, Final, NamedTuple

from accp_adapters.mcp.shim.protocol import JsonObject
from accp_adapters.mcp.shim.tools.signatures import argument_names

__all__ = ["SearchedTool", "ToolCatalog", "matches_any"]

_MAX_TOOLS: Final = 10_000
"""Tools of one server."""
_MAX_SEARCHED: Final = 4_000
"""Characters of what is said of a tool in which a search looks for words."""


class SearchedTool(NamedTuple):
    """A tool as a search looks at it."""

    name: str
    folded: str
    """The name, case-folded."""
    rest: str
    """Its title, description and arguments, case-folded."""


class ToolCatalog:
    """The tools of a server, as far as a client has listed them."""

    def __init__(self) -> None:
        """Start without any tool."""
        self.tools: dict[str, JsonObject] = {}
        """Name to definition."""
        self.own: Final[set[str]] = set()
        """The names under which our own tools were listed: no tool of the server takes one later."""
        self._searched: tuple[dict[str, JsonObject], list[SearchedTool]] = {}, []
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

    def searched(self) -> list[SearchedTool]:
        """Return the tools as a search looks at them, which is made once for each list of tools."""
        tools, found = self._searched
        if tools is not self.tools:
            tools = self.tools
            found = [_searched(name, tool) for name, tool in tools.items()]
            self._searched = tools, found
        return found

    def of_server(self, tools: list[Any]) -> list[Any]:
        """Return the tools of a page of the server's list without those that have the name of one of ours."""
        return [tool for tool in tools if not (isinstance(tool, dict) and str(tool.get("name")) in self.own)]

    def clear(self) -> None:
        """Remove all tools: the server's list has changed, or is listed again."""
        self.tools = {}
        self.is_complete = False


def _searched(name: str, tool: JsonObject) -> SearchedTool:
    rest = f"{tool.get('title', '')} {tool.get('description', '')} {' '.join(argument_names(tool))}"
    return SearchedTool(name, name.casefold(), rest[:_MAX_SEARCHED].casefold())


def matches_any(name: str, patterns: Sequence[str]) -> bool:
    """Return whether a tool's name matches one of `patterns`, in which `*` and `?` match other characters."""
    return any(fnmatchcase(name, pattern) for pattern in patterns)
