"""What tools a server has, as its last tools/list said, and whether a value is what their schemas want."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from accp_adapters.mcp.shim.protocol import Json, is_longer_than

__all__ = ["Catalog", "violates"]

_MOST: Final = 10_000
"""Tools of one server."""
_LONGEST: Final = 65_536
"""Characters of a schema and of a value that are checked."""


class Catalog:
    """The tools of a server, as far as a client has listed them."""

    def __init__(self) -> None:
        """Begin knowing none."""
        self.tools: dict[str, Json] = {}
        self.is_complete = False
        """Whether the last page was seen, so that a name which is not here is no tool."""

    def add(self, result: Json, params: object) -> None:
        """Learn from a page of tools/list; the first page begins anew."""
        if not (isinstance(params, dict) and params.get("cursor")):
            self.clear()
        tools = result.get("tools")
        for tool in tools if isinstance(tools, list) else ():
            name = tool.get("name") if isinstance(tool, dict) else None
            if isinstance(name, str) and len(self.tools) < _MOST:
                self.tools[name] = tool
        self.is_complete = not result.get("nextCursor")

    def clear(self) -> None:
        """Forget everything: the server says that its list has changed, or it is listed again."""
        self.tools = {}
        self.is_complete = False


def violates(schema: object, value: object) -> bool:
    """Tell whether `value` is known to break `schema`; one that is too long or no schema is not known to be broken.

    Patterns are passed over, and references leave the schema nowhere: it comes from a server, which shall not be
    able to keep us busy or make us fetch anything.
    """
    if not isinstance(schema, dict) or is_longer_than([schema, value], _LONGEST):
        return False
    try:
        return not _validator(schema).is_valid(value)
    except Exception:
        return False


def _validator(schema: Json) -> Any:
    # MCP's own SDKs bring it along; without it nothing is known to be broken.
    from jsonschema import validators  # type: ignore[import-untyped]  # noqa: PLC0415  has no stubs; optional
    from referencing import Registry  # noqa: PLC0415  comes with it

    skipped: Mapping[str, Callable[..., Any]] = {"pattern": _pass, "patternProperties": _pass}
    return validators.extend(validators.Draft202012Validator, skipped)(schema, registry=Registry())


def _pass(*_: object) -> None:
    """Find nothing wrong."""
