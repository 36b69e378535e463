"""What tools/list returns at each level, and which level costs least.

    full         the server's definitions
    signatures   accp_tools with a line for each tool: its arguments, their types, a summary
    names        accp_tools with the names of the tools
    lazy         accp_tools with the words that occur in most names; a search finds the tools
    auto         whichever costs least in a session of usual length

A session of n calls that uses k tools sends the list with each model call. The fewer the list says, the more calls
ask for what is missing, and what they return stays in the conversation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from accp_adapters.mcp.shim.protocol import JsonObject
from accp_adapters.mcp.shim.tools.signatures import says_all, signature, words_of
from accp_adapters.mcp.shim.tools.tool_catalog import ToolCatalog
from accp_adapters.mcp.shim.tools.tool_index import described, index_definition
from accp_core.ports import TokenCounter
from accp_core.strict_json import compact_json

__all__ = [
    "LEVELS",
    "AgentUse",
    "Level",
    "ListOptions",
    "ToolListing",
    "cheapest_level",
    "index_tool",
    "listed_tools",
    "model_definitions",
    "session_tokens",
]

ToolListing: TypeAlias = Literal["full", "signatures", "names", "lazy", "auto"]
"""What tools/list returns: all definitions, one tool that calls the others, or whichever costs least."""

Level: TypeAlias = Literal["full", "signatures", "names", "lazy"]
"""How much a list says about tools."""
LEVELS: Final[tuple[Level, ...]] = ("full", "signatures", "names", "lazy")
"""The levels from the one that says most to the one that says least."""
_MAX_LINES: Final = 400
"""Tools that a list names; the others are found by `search`."""
_MAX_TOPICS: Final = 24
"""Words that describe the tools in lazy mode."""
_CALL: Final = 12
"""Tokens of a call that describes a tool, without the tool's name."""


@dataclass(frozen=True, slots=True)
class ListOptions:
    """How tools are listed."""

    level: ToolListing
    """How much the list says."""
    has_lists: bool = False
    """Whether `accp_tools` takes lists of calls."""


@dataclass(frozen=True, slots=True)
class AgentUse:
    """How much of a server an agent uses."""

    tools: int = 3
    """Different tools that it calls."""
    calls: int = 6
    """Calls that it makes of them; there is one model call more."""


def index_tool(catalog: ToolCatalog, level: Level, *, has_lists: bool = False) -> JsonObject:
    """Return the definition of `accp_tools` for all tools in `catalog`."""
    tools = list(catalog.tools.values())
    return index_definition(_LISTS[level](tools), tools, has_lists=has_lists)


def listed_tools(catalog: ToolCatalog, options: ListOptions, counter: TokenCounter) -> list[JsonObject]:
    """Return what tools/list returns once all pages are known; all tools where an index would be longer."""
    tools = list(catalog.tools.values())
    level = cheapest_level(catalog, AgentUse(), counter) if options.level == "auto" else options.level
    if level == "full" or not tools:
        return tools
    index = index_tool(catalog, level, has_lists=options.has_lists)
    return [index] if _tokens([index], counter) < _tokens(tools, counter) else tools


def cheapest_level(catalog: ToolCatalog, session: AgentUse, counter: TokenCounter) -> Level:
    """Return the level at which the model calls of a session read the fewest tokens; of equal ones the fullest."""
    costs = {level: session_tokens(catalog, level, session, counter) for level in LEVELS}
    return min(LEVELS, key=costs.__getitem__)


def session_tokens(catalog: ToolCatalog, level: Level, session: AgentUse, counter: TokenCounter) -> int:
    """Return the tokens that all model calls of a session read of definitions: the list, and what was asked for.

    Every further call that asks for a schema is one more model call, which reads the list, too, and the schema stays in
    the conversation, on average for half of the calls.
    """
    tools = list(catalog.tools.values())
    listed = listed_tools(catalog, ListOptions(level), counter)
    used = min(session.tools, len(tools))
    if len(listed) == len(tools):
        return _tokens(listed, counter) * (session.calls + 1)
    asked = [tool for tool in tools if level != "signatures" or not says_all(tool)]
    share = len(asked) / len(tools)
    answers = sum(counter(described(tool, counter)) + _CALL for tool in asked) / max(len(asked), 1)
    searches = used if level == "lazy" else 0
    found = counter("\n".join(signature(tool) for tool in tools[:20])) if searches else 0
    more = used * share
    read = (session.calls + 2) / 2
    return round(
        _tokens(listed, counter) * (session.calls + 1 + more + searches) + (more * answers + searches * found) * read
    )


def model_definitions(tools: list[JsonObject]) -> list[JsonObject]:
    """Return what a host shows a model of tools; the rest (`outputSchema`, annotations) is for the client."""
    return [{name: tool[name] for name in ("name", "description", "inputSchema") if name in tool} for tool in tools]


def _tokens(tools: list[JsonObject], counter: TokenCounter) -> int:
    return counter(compact_json(model_definitions(tools)))


def _signatures(tools: list[JsonObject]) -> str:
    more = [f"… {len(tools) - _MAX_LINES} more: search"] if len(tools) > _MAX_LINES else []
    return "\n".join(["Tools (? optional, untyped: text):", *map(signature, tools[:_MAX_LINES]), *more])


def _names(tools: list[JsonObject]) -> str:
    more = [f"… {len(tools) - _MAX_LINES} more: search"] if len(tools) > _MAX_LINES else []
    return "Tools: " + ", ".join([*(str(tool.get("name")) for tool in tools[:_MAX_LINES]), *more])


def _topics(tools: list[JsonObject]) -> str:
    counts = Counter(word for tool in tools for word in dict.fromkeys(words_of(str(tool.get("name")))))
    topics = [word for word, _ in counts.most_common(_MAX_TOPICS) if len(word) > 2]
    return f"{len(tools)} tools, of: {', '.join(topics)}"


_LISTS: Final[Mapping[str, Callable[[list[JsonObject]], str]]] = MappingProxyType(
    {"signatures": _signatures, "names": _names, "lazy": _topics}
)
