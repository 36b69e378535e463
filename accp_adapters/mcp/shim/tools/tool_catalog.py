"""The tools of a server, as its last tools/list said, and the check of a value against their schemas."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from accp_adapters.mcp.shim.protocol import JsonObject, is_longer_than

__all__ = ["ToolCatalog", "violates"]

_MAX_TOOLS: Final = 10_000
"""Tools of one server."""
_MAX_CHECKED: Final = 65_536
"""Characters of a schema and a value together; longer ones are not checked."""


class ToolCatalog:
    """The tools of a server, as far as a client has listed them."""

    def __init__(self) -> None:
        """Start without any tool."""
        self.tools: dict[str, JsonObject] = {}
        """Name to definition."""
        self.is_complete = False
        """Whether the last page was seen, so that a name which is missing is not a tool."""

    def add(self, result: JsonObject, params: object) -> None:
        """Add a page of tools/list; the first page replaces everything.

        Args:
            result: The result of tools/list.
            params: The params of its request; a cursor marks a further page.
        """
        if not (isinstance(params, dict) and params.get("cursor")):
            self.clear()
        tools = result.get("tools")
        for tool in tools if isinstance(tools, list) else ():
            name = tool.get("name") if isinstance(tool, dict) else None
            if isinstance(name, str) and len(self.tools) < _MAX_TOOLS:
                self.tools[name] = tool
        self.is_complete = not result.get("nextCursor")

    def clear(self) -> None:
        """Remove all tools: the server's list has changed, or is listed again."""
        self.tools = {}
        self.is_complete = False


def violates(schema: object, value: object) -> bool:
    """Return whether `value` is known to violate `schema`.

    Patterns are ignored and references outside the schema are not resolved: the schema comes from a server, which must
    not be able to use up our time or make us fetch anything. So False also stands for what cannot be checked.
    """
    if not isinstance(schema, dict) or is_longer_than([schema, value], _MAX_CHECKED):
        return False
    try:
        return not _validator(schema).is_valid(value)
    except Exception:
        return False


def _validator(schema: JsonObject) -> Any:
    # A dependency of MCP's SDKs, not of ours; without it nothing is checked.
    from jsonschema import validators  # type: ignore[import-untyped]  # noqa: PLC0415  has no stubs; optional
    from referencing import Registry  # noqa: PLC0415  a dependency of jsonschema

    ignored: Mapping[str, Callable[..., Any]] = {"pattern": _accept, "patternProperties": _accept}
    return validators.extend(validators.Draft202012Validator, ignored)(schema, registry=Registry())


def _accept(*_: object) -> None:
    """Report no violation."""
