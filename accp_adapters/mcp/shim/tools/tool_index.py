"""One tool in place of many: an index of a server's tools, and their schemas on demand.

A client of MCP sends the definitions of all tools with every model call, although most are not used. Instead it gets
one tool, `accp_tools`, whose description lists the others. `describe` returns the server's own schemas, `search` finds
tools by words, `call` runs one, which reaches the server as an ordinary tools/call once its arguments fit the tool's
schema, and `calls` runs several (see `call_list`).

Hosts ask their user by the name of a tool, and this one may call any of them: it has the strictest annotations.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

from accp_adapters.mcp.shim.protocol import JsonObject, text_block, tool_result
from accp_adapters.mcp.shim.tools.schema_check import find_violation
from accp_adapters.mcp.shim.tools.signatures import signature, words_of
from accp_adapters.mcp.shim.tools.tool_catalog import ToolCatalog
from accp_core import view
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError
from accp_core.ports import TokenCounter
from accp_core.strict_json import compact_json

__all__ = [
    "INDEX_NAME",
    "answer_index_call",
    "call_in_index",
    "check_call",
    "described",
    "find_tool",
    "index_definition",
    "read_arguments",
    "refusal",
]

INDEX_NAME: Final = "accp_tools"
"""The name of the one tool."""

_USAGE: Final = "Runs tools: call=name, arguments={…}; describe=name,… gives schemas, search=words finds tools"
_LISTS: Final = (
    '; calls=[{call,arguments,show:query},…] in order, a value of result 1: {"$from":1,"query":"path or SELECT"}, '
    "returns what show asks for"
)
_PROPERTIES: Final[JsonObject] = {
    "call": {"type": "string"},
    "arguments": {"type": "object"},
    "describe": {"type": "string"},
    "search": {"type": "string"},
}
_CALLS: Final[JsonObject] = {"calls": {"type": "array", "items": {"type": "object"}}}
_WORD: Final = re.compile(r"[^\W_]+")
_MAX_MATCHES: Final = 20
"""Tools that a search returns."""
_MAX_ASKED: Final = 2_000
"""Characters of a search that are read."""
_MAX_DESCRIBED: Final = 100
"""Tools that are described at once."""
_MAX_WORDS: Final = 50
"""Words of a search that are looked for."""
_MAX_ECHO: Final = 200
"""Characters of a request that its answer repeats."""
_MAX_SCHEMA: Final = 4_000
"""Characters of a schema that the refusal of a call repeats."""


def index_definition(listed: str, tools: list[JsonObject], *, has_lists: bool) -> JsonObject:
    """Return the definition of `accp_tools` with `listed` about the tools that it calls.

    Args:
        listed: What the description says about the tools.
        tools: The tools that it calls.
        has_lists: Whether it takes lists of calls.
    """
    usage = _USAGE + (_LISTS if has_lists else "")
    properties = {**_PROPERTIES, **(_CALLS if has_lists else {})}
    return {
        "name": INDEX_NAME,
        "description": f"{usage}.\n{listed}",
        "inputSchema": {"type": "object", "properties": properties},
        "annotations": _strictest([_annotations(tool) for tool in tools]),
    }


def _annotations(tool: JsonObject) -> dict[str, Any]:
    annotations = tool.get("annotations")
    return annotations if isinstance(annotations, dict) else {}


def _strictest(annotations: list[dict[str, Any]]) -> JsonObject:
    """Return the hints that hold for every tool; a missing hint has the specification's default, the stricter one."""
    writes = [each for each in annotations if each.get("readOnlyHint") is not True]
    return {
        "readOnlyHint": not writes,
        "destructiveHint": any(each.get("destructiveHint") is not False for each in writes),
        "idempotentHint": all(each.get("idempotentHint") is True for each in annotations),
        "openWorldHint": any(each.get("openWorldHint") is not False for each in annotations),
    }


def call_in_index(params: object) -> JsonObject | None:
    """Return the params of the tool call that a call of `accp_tools` contains; None if it does something else."""
    if not isinstance(params, dict) or params.get("name") != INDEX_NAME:
        return None
    given = params.get("arguments")
    if not isinstance(given, dict) or not isinstance(given.get("call"), str) or not given["call"]:
        return None
    return {**params, "name": given["call"], "arguments": read_arguments(given.get("arguments"))}


def read_arguments(given: object) -> Any:
    """Return the arguments of a call; models write them as an object, as JSON text, or leave them out."""
    if given is None:
        return {}
    if isinstance(given, str):
        try:
            opened = json.loads(given)
        except (ValueError, RecursionError):
            return given
        return opened if isinstance(opened, dict) else given
    return given


def find_tool(name: str, catalog: ToolCatalog) -> JsonObject | None:
    """Return the tool of that name; None where the server's list is not known yet.

    Raises:
        ProtocolError: E4001, there is no such tool.
    """
    if name not in catalog.tools and catalog.is_complete:
        near = ", ".join(_matches(name, catalog)) or ", ".join(list(catalog.tools)[:_MAX_MATCHES])
        reason = f"expected the name of a tool such as {near}; found {name[:_MAX_ECHO]!r}"
        raise ProtocolError(reason, code=ErrorCode.TOOL_NOT_FOUND)
    return catalog.tools.get(name)


def check_call(name: str, arguments: object, catalog: ToolCatalog) -> None:
    """Check a call against the server's list of tools.

    Raises:
        ProtocolError: E4001, there is no such tool; E4003, the arguments violate its inputSchema, which is repeated.
    """
    tool = find_tool(name, catalog)
    violation = None if tool is None else find_violation(tool.get("inputSchema"), arguments)
    if tool is not None and violation is not None:
        schema = compact_json(tool["inputSchema"])
        shown = f"; its schema: {schema}" if len(schema) <= _MAX_SCHEMA else f"; describe={name} shows its schema"
        raise ProtocolError(f"{name}: {violation}{shown}", code=ErrorCode.TOOL_SCHEMA_MISMATCH)


def answer_index_call(arguments: object, catalog: ToolCatalog, counter: TokenCounter) -> JsonObject:
    """Return the result of a call of `accp_tools` that describes or searches tools."""
    given = arguments if isinstance(arguments, dict) else {}
    if not catalog.tools:
        return refusal(ErrorCode.TOOL_NOT_FOUND, "no tools are known yet: list them (tools/list) and call again")
    if isinstance(given.get("describe"), str):
        return _describe([name.strip() for name in given["describe"].split(",")], catalog, counter)
    if isinstance(given.get("search"), str):
        return _search(given["search"], catalog)
    names = sorted(map(str, given))
    return refusal(ErrorCode.TOOL_SCHEMA_MISMATCH, f"expected 'call', 'describe' or 'search', found {names!r}")


def described(tool: JsonObject, counter: TokenCounter) -> str:
    """Return what `describe` says of a tool: description and inputSchema, as a view."""
    definition = {name: tool[name] for name in ("name", "description", "inputSchema") if name in tool}
    return view.render_text(compact_json(definition), counter=counter).text


def refusal(code: ErrorCode, reason: str) -> JsonObject:
    """Return the result of a call that is refused."""
    return tool_result([text_block(f"{code}: {reason}")], is_error=True)


def _describe(names: list[str], catalog: ToolCatalog, counter: TokenCounter) -> JsonObject:
    if len(names) > _MAX_DESCRIBED:
        return refusal(ErrorCode.BUDGET_EXCEEDED, f"expected at most {_MAX_DESCRIBED} names, found {len(names)}")
    unknown = [name for name in names if name not in catalog.tools]
    if unknown:
        known = ", ".join(_matches(" ".join(unknown), catalog)) or ", ".join(list(catalog.tools)[:_MAX_MATCHES])
        found = ", ".join(map(repr, unknown))[:_MAX_ECHO]
        return refusal(ErrorCode.TOOL_NOT_FOUND, f"expected names of tools such as {known}; found {found}")
    return tool_result([text_block(described(catalog.tools[name], counter)) for name in dict.fromkeys(names)])


def _search(words: str, catalog: ToolCatalog) -> JsonObject:
    lines = [signature(catalog.tools[name]) for name in _matches(words, catalog)]
    return tool_result([text_block("\n".join(lines) or f"no tool has one of these words: {words[:_MAX_ECHO]!r}")])


def _matches(words: str, catalog: ToolCatalog) -> list[str]:
    """Return the names of the tools with most of `words`, those with the words in their name first."""
    asked = words[:_MAX_ASKED]
    wanted = list(dict.fromkeys([*map(str.casefold, _WORD.findall(asked)), *words_of(asked)]))[:_MAX_WORDS]
    scores = [
        (sum(3 * (word in tool.folded) + (word in tool.rest) for word in wanted), tool.name)
        for tool in catalog.searched()
    ]
    best = sorted((pair for pair in scores if pair[0]), key=lambda pair: -pair[0])
    return [name for _, name in best[:_MAX_MATCHES]]
