"""The tools of a server, as its last tools/list said, and the check of a value against their schemas."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from typing import Any, Final

from accp_adapters.mcp.shim.protocol import JsonObject, is_longer_than

__all__ = ["ToolCatalog", "find_violation", "matches_any", "violates"]

_MAX_TOOLS: Final = 10_000
"""Tools of one server."""
_MAX_FOLLOWED: Final = 2_000
"""References that the check of one value follows."""
_MAX_FOUND: Final = 200
"""Characters of a value that a refusal repeats."""
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
        known = dict(self.tools) if isinstance(params, dict) and params.get("cursor") else {}
        tools = result.get("tools")
        for tool in tools if isinstance(tools, list) else ():
            name = tool.get("name") if isinstance(tool, dict) else None
            if isinstance(name, str) and len(known) < _MAX_TOOLS:
                known[name] = tool
        # Replaced, never changed: another thread may be reading it.
        self.tools = known
        self.is_complete = not result.get("nextCursor")

    def clear(self) -> None:
        """Remove all tools: the server's list has changed, or is listed again."""
        self.tools = {}
        self.is_complete = False


def matches_any(name: str, patterns: Sequence[str]) -> bool:
    """Return whether a tool's name matches one of `patterns`, in which `*` and `?` stand for other characters."""
    return any(fnmatchcase(name, pattern) for pattern in patterns)


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


def find_violation(schema: object, value: object) -> str | None:
    """Return in one sentence how `value` violates `schema`, with the argument's name; None where it is not known to.

    What `violates` does not check is not checked here either.
    """
    if not isinstance(schema, dict) or not violates(schema, value):
        return None
    try:
        return _sentence(min(_validator(schema).iter_errors(value), key=lambda error: len(error.absolute_path)))
    except Exception:  # Not all of what is wrong can be found within the limits.
        return "expected the arguments to meet the schema"


def _sentence(error: Any) -> str:
    where = ".".join(map(str, error.absolute_path))
    at = f"the argument {where!r}" if where else "the arguments"
    found = repr(error.instance)
    found = found if len(found) <= _MAX_FOUND else f"{found[:_MAX_FOUND]}…"
    rule, given = error.validator, error.instance
    if rule == "required" and isinstance(given, dict):
        missing = [name for name in error.validator_value if name not in given]
        return f"expected {at} to have {missing[0]!r}, found {sorted(given)!r}"
    if rule == "additionalProperties" and isinstance(given, dict):
        extra = [name for name in given if name not in error.schema.get("properties", {})]
        return f"expected no {extra[0]!r} in {at}, found {sorted(given)!r}"
    return f"expected {at} to meet {rule}: {str(error.validator_value)[:_MAX_FOUND]}, found {found}"


def _validator(schema: JsonObject) -> Any:
    # A dependency of MCP's SDKs, not of ours; without it nothing is checked.
    from jsonschema import validators  # type: ignore[import-untyped]  # noqa: PLC0415  has no stubs; optional
    from referencing import Registry  # noqa: PLC0415  a dependency of jsonschema

    base = validators.Draft202012Validator
    rules: dict[str, Callable[..., Any]] = {"pattern": _accept, "patternProperties": _accept}
    followed = itertools.count(1)

    def limited(rule: Callable[..., Any]) -> Callable[..., Any]:
        """Return a rule that follows references, a limited number of times: each may double the work."""

        def follow(*arguments: Any) -> Iterator[Any]:
            if next(followed) > _MAX_FOLLOWED:
                raise ValueError(f"expected at most {_MAX_FOLLOWED} references to be followed")
            yield from rule(*arguments) or ()

        return follow

    rules |= {name: limited(base.VALIDATORS[name]) for name in ("$ref", "$dynamicRef")}
    return validators.extend(base, rules)(schema, registry=Registry())


def _accept(*_: object) -> None:
    """Report no violation."""
