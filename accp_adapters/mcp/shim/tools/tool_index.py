"""One tool in the place of many: an index of a server's tools, and their schemas on demand.

Definitions are what a client of MCP pays most for, with every model call, for tools that it mostly does not use. In
this mode it is offered `accp_tools` alone, whose description is one line for each tool; `describe` gives the server's
own schemas, `search` finds tools by words, `call` runs one, and reaches the server as an ordinary tools/call.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from accp_adapters.mcp.shim.protocol import Json, compact, text_block, tool_result
from accp_adapters.mcp.shim.tools.tool_catalog import Catalog
from accp_core.ports import TokenCounter

__all__ = ["TOOLS_NAME", "answer_tools", "call_within", "index_tool", "shown_tools"]

TOOLS_NAME: Final = "accp_tools"
"""The name of the one tool."""

_HOW: Final = (
    "Runs this server's tools: call=name, arguments={…}. First describe=name,name for their schemas. "
    "search=words finds tools. Tools, ? optional:"
)
_SCHEMA: Final[Json] = {
    "type": "object",
    "properties": {
        "call": {"type": "string"},
        "arguments": {"type": "object"},
        "describe": {"type": "string"},
        "search": {"type": "string"},
    },
}
_WORTH: Final = 0.6
"""Of the tokens of all definitions; a longer index is not offered."""
_MOST_LINES: Final = 400
_MOST_FOUND: Final = 20
_MOST_ARGUMENTS: Final = 12
_LONGEST_SUMMARY: Final = 80
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s|\n")
_WORD: Final = re.compile(r"[^\W_]+")


def index_tool(catalog: Catalog) -> Json:
    """Return the definition of `accp_tools` for all tools in `catalog`."""
    tools = list(catalog.tools.values())
    lines = [_line(tool) for tool in tools[:_MOST_LINES]]
    if len(tools) > _MOST_LINES:
        lines.append(f"… {len(tools) - _MOST_LINES} more: search")
    return {"name": TOOLS_NAME, "description": "\n".join([_HOW, *lines]), "inputSchema": _SCHEMA}


def shown_tools(catalog: Catalog, counter: TokenCounter) -> list[Json]:
    """Return what a client that has read all pages is offered: the index, or all tools where that saves too little.

    The index of a small server is nearly as long as its definitions, of which one still must be read to make a call.
    """
    tools, index = list(catalog.tools.values()), index_tool(catalog)
    plain = counter(compact([_definition(tool) for tool in tools]))
    return [index] if counter(compact([index])) <= plain * _WORTH else tools


def call_within(params: object) -> Json | None:
    """Return the params of the call that a call of `accp_tools` holds; None where it asks for something else."""
    if not isinstance(params, dict) or params.get("name") != TOOLS_NAME:
        return None
    asked = params.get("arguments")
    if not isinstance(asked, dict) or not isinstance(asked.get("call"), str) or not asked["call"]:
        return None
    return {**params, "name": asked["call"], "arguments": asked.get("arguments", {})}


def answer_tools(arguments: object, catalog: Catalog) -> Json:
    """Return the result of a call of `accp_tools` that describes or searches."""
    asked = arguments if isinstance(arguments, dict) else {}
    if not catalog.tools:
        return _refusal("E4001: no tools are known yet: list them (tools/list) and call again")
    if isinstance(asked.get("describe"), str):
        return _describe([name.strip() for name in asked["describe"].split(",")], catalog)
    if isinstance(asked.get("search"), str):
        return _search(asked["search"], catalog)
    return _refusal(f"E4003: expected call, describe or search, got {sorted(map(str, asked))!r}")


def _describe(names: list[str], catalog: Catalog) -> Json:
    unknown = [name for name in names if name not in catalog.tools]
    if unknown:
        near = ", ".join(_found(" ".join(unknown), catalog)) or ", ".join(list(catalog.tools)[:_MOST_FOUND])
        return _refusal(f"E4001: expected names of tools such as {near}; got {', '.join(map(repr, unknown))}")
    return tool_result([text_block(compact(_definition(catalog.tools[name]))) for name in dict.fromkeys(names)])


def _definition(tool: Json) -> Json:
    """Return what a host shows a model of a tool; the rest (`outputSchema`, annotations) is for the client."""
    return {name: tool[name] for name in ("name", "description", "inputSchema") if name in tool}


def _search(words: str, catalog: Catalog) -> Json:
    lines = [_line(catalog.tools[name]) for name in _found(words, catalog)]
    return tool_result([text_block("\n".join(lines) or f"no tool has one of these words: {words[:200]!r}")])


def _found(words: str, catalog: Catalog) -> list[str]:
    """Return the names of the tools that hold most of `words`, those with the words in their name first."""
    wanted = {word.casefold() for word in _WORD.findall(words)}
    scored = [(_score(tool, wanted), name) for name, tool in catalog.tools.items()]
    best = sorted((pair for pair in scored if pair[0]), key=lambda pair: -pair[0])
    return [name for _, name in best[:_MOST_FOUND]]


def _score(tool: Json, wanted: Iterable[str]) -> int:
    name = str(tool.get("name")).casefold()
    rest = f"{tool.get('title', '')} {tool.get('description', '')} {' '.join(_names(tool))}".casefold()
    return sum(3 * (word in name) + (word in rest) for word in wanted)


def _line(tool: Json) -> str:
    """Return a tool in one line: `create_page(parent, properties, icon?) Create a page.`"""
    required = _schema(tool).get("required")
    needed = set(map(str, required)) if isinstance(required, list) else set()
    names = [name if name in needed else f"{name}?" for name in _names(tool)]
    shown = names[:_MOST_ARGUMENTS] + ["…"] * (len(names) > _MOST_ARGUMENTS)
    summary = _SENTENCE.split(str(tool.get("description") or tool.get("title") or "").strip(), maxsplit=1)[0]
    if len(summary) > _LONGEST_SUMMARY:
        summary = f"{summary[:_LONGEST_SUMMARY].rsplit(' ', 1)[0]}…"
    return f"{tool.get('name')}({', '.join(shown)}) {summary}".rstrip()


def _names(tool: Json) -> list[str]:
    properties = _schema(tool).get("properties")
    return list(properties) if isinstance(properties, dict) else []


def _schema(tool: Json) -> dict[str, Any]:
    schema = tool.get("inputSchema")
    return schema if isinstance(schema, dict) else {}


def _refusal(text: str) -> Json:
    return tool_result([text_block(text)], is_error=True)
