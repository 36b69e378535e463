"""One tool in place of many: an index of a server's tools, and their schemas on demand.

A client of MCP sends the definitions of all tools with every model call, although most are not used. In this mode it
gets one tool, `accp_tools`, whose description has one line for each tool. `describe` returns the server's own schemas,
`search` finds tools by words, and `call` runs one; it reaches the server as an ordinary tools/call.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from accp_adapters.mcp.shim.protocol import JsonObject, text_block, tool_result
from accp_adapters.mcp.shim.tools.tool_catalog import ToolCatalog
from accp_core.error_codes import ErrorCode
from accp_core.ports import TokenCounter
from accp_core.strict_json import compact_json

__all__ = ["INDEX_NAME", "answer_index_call", "call_in_index", "index_tool", "listed_tools"]

INDEX_NAME: Final = "accp_tools"
"""The name of the one tool."""

_USAGE: Final = (
    "Runs this server's tools: call=name, arguments={…}. First describe=name,name for their schemas. "
    "search=words finds tools. Tools, ? optional:"
)
_SCHEMA: Final[JsonObject] = {
    "type": "object",
    "properties": {
        "call": {"type": "string"},
        "arguments": {"type": "object"},
        "describe": {"type": "string"},
        "search": {"type": "string"},
    },
}
_MAX_SHARE: Final = 0.6
"""Of the tokens of all definitions; a longer index is not used."""
_MAX_LINES: Final = 400
"""Tools that the index lists; the others are found by `search`."""
_MAX_MATCHES: Final = 20
"""Tools that a search returns."""
_MAX_ARGUMENTS: Final = 12
"""Argument names in the line of a tool."""
_MAX_SUMMARY: Final = 80
"""Characters of the summary in the line of a tool."""
_MAX_ECHO: Final = 200
"""Characters of a search that its answer repeats."""
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s|\n")
_WORD: Final = re.compile(r"[^\W_]+")


def index_tool(catalog: ToolCatalog) -> JsonObject:
    """Return the definition of `accp_tools` for all tools in `catalog`."""
    tools = list(catalog.tools.values())
    lines = [_line(tool) for tool in tools[:_MAX_LINES]]
    if len(tools) > _MAX_LINES:
        lines.append(f"… {len(tools) - _MAX_LINES} more: search")
    return {"name": INDEX_NAME, "description": "\n".join([_USAGE, *lines]), "inputSchema": _SCHEMA}


def listed_tools(catalog: ToolCatalog, counter: TokenCounter) -> list[JsonObject]:
    """Return what tools/list returns once all pages are known: the index, or all tools where it saves too little.

    The index of a small server is nearly as long as its definitions, and a call still needs one of those.
    """
    tools, index = list(catalog.tools.values()), index_tool(catalog)
    plain = counter(compact_json([_definition(tool) for tool in tools]))
    return [index] if counter(compact_json([index])) <= plain * _MAX_SHARE else tools


def call_in_index(params: object) -> JsonObject | None:
    """Return the params of the tool call that a call of `accp_tools` contains; None if it does something else."""
    if not isinstance(params, dict) or params.get("name") != INDEX_NAME:
        return None
    given = params.get("arguments")
    if not isinstance(given, dict) or not isinstance(given.get("call"), str) or not given["call"]:
        return None
    return {**params, "name": given["call"], "arguments": given.get("arguments", {})}


def answer_index_call(arguments: object, catalog: ToolCatalog) -> JsonObject:
    """Return the result of a call of `accp_tools` that describes or searches tools."""
    given = arguments if isinstance(arguments, dict) else {}
    if not catalog.tools:
        return _refuse(ErrorCode.TOOL_NOT_FOUND, "no tools are known yet: list them (tools/list) and call again")
    if isinstance(given.get("describe"), str):
        return _describe([name.strip() for name in given["describe"].split(",")], catalog)
    if isinstance(given.get("search"), str):
        return _search(given["search"], catalog)
    names = sorted(map(str, given))
    return _refuse(ErrorCode.TOOL_SCHEMA_MISMATCH, f"expected 'call', 'describe' or 'search', found {names!r}")


def _describe(names: list[str], catalog: ToolCatalog) -> JsonObject:
    unknown = [name for name in names if name not in catalog.tools]
    if unknown:
        known = ", ".join(_matches(" ".join(unknown), catalog)) or ", ".join(list(catalog.tools)[:_MAX_MATCHES])
        reason = f"expected names of tools such as {known}; found {', '.join(map(repr, unknown))}"
        return _refuse(ErrorCode.TOOL_NOT_FOUND, reason)
    return tool_result([text_block(compact_json(_definition(catalog.tools[name]))) for name in dict.fromkeys(names)])


def _definition(tool: JsonObject) -> JsonObject:
    """Return what a host shows a model of a tool; the rest (`outputSchema`, annotations) is for the client."""
    return {name: tool[name] for name in ("name", "description", "inputSchema") if name in tool}


def _search(words: str, catalog: ToolCatalog) -> JsonObject:
    lines = [_line(catalog.tools[name]) for name in _matches(words, catalog)]
    return tool_result([text_block("\n".join(lines) or f"no tool has one of these words: {words[:_MAX_ECHO]!r}")])


def _matches(words: str, catalog: ToolCatalog) -> list[str]:
    """Return the names of the tools with most of `words`, those with the words in their name first."""
    wanted = {word.casefold() for word in _WORD.findall(words)}
    scores = [(_score(tool, wanted), name) for name, tool in catalog.tools.items()]
    best = sorted((pair for pair in scores if pair[0]), key=lambda pair: -pair[0])
    return [name for _, name in best[:_MAX_MATCHES]]


def _score(tool: JsonObject, wanted: Iterable[str]) -> int:
    name = str(tool.get("name")).casefold()
    rest = f"{tool.get('title', '')} {tool.get('description', '')} {' '.join(_argument_names(tool))}".casefold()
    return sum(3 * (word in name) + (word in rest) for word in wanted)


def _line(tool: JsonObject) -> str:
    """Return a tool in one line: `create_page(parent, properties, icon?) Create a page.`"""
    required = _schema(tool).get("required")
    required_names = set(map(str, required)) if isinstance(required, list) else set()
    names = [name if name in required_names else f"{name}?" for name in _argument_names(tool)]
    listed = names[:_MAX_ARGUMENTS] + ["…"] * (len(names) > _MAX_ARGUMENTS)
    summary = _SENTENCE_END.split(str(tool.get("description") or tool.get("title") or "").strip(), maxsplit=1)[0]
    if len(summary) > _MAX_SUMMARY:
        summary = f"{summary[:_MAX_SUMMARY].rsplit(' ', 1)[0]}…"
    return f"{tool.get('name')}({', '.join(listed)}) {summary}".rstrip()


def _argument_names(tool: JsonObject) -> list[str]:
    properties = _schema(tool).get("properties")
    return list(properties) if isinstance(properties, dict) else []


def _schema(tool: JsonObject) -> dict[str, Any]:
    schema = tool.get("inputSchema")
    return schema if isinstance(schema, dict) else {}


def _refuse(code: ErrorCode, reason: str) -> JsonObject:
    return tool_result([text_block(f"{code}: {reason}")], is_error=True)
