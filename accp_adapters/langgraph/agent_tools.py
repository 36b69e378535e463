"""The tools of an agent: their names, and the list without the fetch tool."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from accp_adapters.fetching import FETCH_NAME, with_references
from accp_adapters.langgraph.fetch import is_own
from accp_adapters.policy import Policy
from accp_core.projection import ToolForms

__all__ = ["offered_tools", "warn_of_unknown_tools", "without_fetch"]

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


def offered_tools(tools: Sequence[Any], own: Sequence[Any], policy: Policy, *, offers: bool) -> list[Any]:
    """Return the tools of a request as the model is offered them, the fetch tool last where there is something to open.

    Most conversations never hold a reference, and the definition would be part of each of their prompts. Another tool
    of this name, such as that of an MCP server, stands for both.

    Args:
        tools: Those of the request.
        own: Our fetch tool, or nothing where the policy needs none.
        policy: It says which arguments of the others take references.
        offers: Whether there is something to open.
    """
    fetch = [tool for tool in tools if getattr(tool, "name", None) == FETCH_NAME]
    shown_tools = [_as_offered(tool, ToolForms(policy.tools)) for tool in tools]
    if not all(map(is_own, fetch)):
        return shown_tools
    others = without_fetch(shown_tools)
    if not offers or not own:
        return others
    return [*others, *(fetch or own)[:1]]


def _as_offered(tool: Any, forms: ToolForms) -> Any:
    """Return a tool whose arguments say that they take references."""
    resolved = forms.resolve(_name_of(tool))
    if not resolved or not isinstance(tool, BaseTool | dict):
        return tool
    changed: Mapping[str, Any] = tool if isinstance(tool, dict) else convert_to_openai_tool(tool)["function"]
    if isinstance(tool, BaseTool):
        changed = {"parameters": {"type": "object"}, **changed}
    changed = with_references(changed, resolved)
    # The model is sent this schema anyway: with what is added to it, the rest of the definition stays the same.
    return tool.model_copy(update={"args_schema": changed["parameters"]}) if isinstance(tool, BaseTool) else changed
