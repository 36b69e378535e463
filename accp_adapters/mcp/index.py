"""One tool in place of many: an index of a server's tools, and their schemas on demand.

A client of MCP sends the definitions of all tools with every model call, although most are not used. Instead it gets
one tool, `accp_tools`, whose description names the others. `describe` returns the server's own schemas, `search` finds
tools by words, `call` runs one, which reaches the server as an ordinary tools/call; the server checks its arguments.

Hosts ask their user by the name of a tool, and this one may call any of them: it has the strictest annotations.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

from accp_adapters.mcp.messages import JsonObject, text_block, tool_result
from accp_core import view
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError
from accp_core.ports import TokenCounter
from accp_core.strict_json import compact_json

__all__ = ["INDEX_NAME", "ToolCatalog", "answer_index_call", "call_in_index", "listed_tools"]

INDEX_NAME: Final = "accp_tools"
"""The name of the one tool."""
_USAGE: Final = "Runs tools: call=name, arguments={…}; describe=name,… gives schemas, search=words finds tools"
_SCHEMA: Final[JsonObject] = {
    "type": "object",
    "properties": {
        "call": {"type": "string"},
        "arguments": {"type": "object"},
        "describe": {"type": "string"},
        "search": {"type": "string"},
    },
}
_WORD: Final = re.compile(r"[^\W_]+")
_PART: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_A-Za-z]+")
"""A word in a name such as `listOrders`, `list_orders`, `HTTPGet`."""
_MAX_TOOLS: Final = 10_000
"""Tools of one server."""
_MAX_LISTED: Final = 400
"""Tools that the index names; the others are found by `search`."""
_MAX_SEARCHED: Final = 4_000
"""Characters of what is said of a tool in which a search looks for words."""
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
_MAX_SUMMARY: Final = 60
"""Characters of a description in the line of a tool."""


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


def listed_tools(catalog: ToolCatalog, counter: TokenCounter) -> list[JsonObject]:
    """Return what tools/list returns once all pages are known; all tools where the index would be longer."""
    tools = list(catalog.tools.values())
    index = _index_definition(tools)
    if not tools or _tokens([index], counter) >= _tokens(tools, counter):
        return tools
    return [index]


def _tokens(tools: list[JsonObject], counter: TokenCounter) -> int:
    """Return the tokens of what a host shows a model of tools; `outputSchema` and annotations are for the client."""
    shown = ("name", "description", "inputSchema")
    return counter(compact_json([{name: tool[name] for name in shown if name in tool} for tool in tools]))


def _index_definition(tools: list[JsonObject]) -> JsonObject:
    more = [f"… {len(tools) - _MAX_LISTED} more: search"] if len(tools) > _MAX_LISTED else []
    names = ", ".join([*(str(tool.get("name")) for tool in tools[:_MAX_LISTED]), *more])
    annotations = _strictest([own if isinstance(own := tool.get("annotations"), dict) else {} for tool in tools])
    description = f"{_USAGE}.\nTools: {names}"
    return {"name": INDEX_NAME, "description": description, "inputSchema": _SCHEMA, "annotations": annotations}


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
    return {**params, "name": given["call"], "arguments": _read_arguments(given.get("arguments"))}


def _read_arguments(given: object) -> Any:
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


def answer_index_call(arguments: object, catalog: ToolCatalog, counter: TokenCounter) -> JsonObject:
    """Return the result of a call of `accp_tools` that describes or searches tools.

    Raises:
        ProtocolError: E4001, E4003 or E2003: a tool, the arguments or their number are not as expected.
    """
    given = arguments if isinstance(arguments, dict) else {}
    if not catalog.tools:
        raise ProtocolError("no tools are known yet: list them (tools/list)", code=ErrorCode.TOOL_NOT_FOUND)
    if isinstance(given.get("describe"), str):
        return _describe([name.strip() for name in given["describe"].split(",")], catalog, counter)
    if isinstance(given.get("search"), str):
        lines = [_signature(catalog.tools[name]) for name in _matches(given["search"], catalog)]
        nothing = f"no tool has one of these words: {given['search'][:_MAX_ECHO]!r}"
        return tool_result([text_block("\n".join(lines) or nothing)])
    found = sorted(map(str, given))
    raise ProtocolError(
        f"expected 'call', 'describe' or 'search', found {found!r}", code=ErrorCode.TOOL_SCHEMA_MISMATCH
    )


def _describe(names: list[str], catalog: ToolCatalog, counter: TokenCounter) -> JsonObject:
    if len(names) > _MAX_DESCRIBED:
        reason = f"expected at most {_MAX_DESCRIBED} names, found {len(names)}"
        raise ProtocolError(reason, code=ErrorCode.BUDGET_EXCEEDED)
    if unknown := [name for name in names if name not in catalog.tools]:
        known = ", ".join(_matches(" ".join(unknown), catalog)) or ", ".join(list(catalog.tools)[:_MAX_MATCHES])
        found = ", ".join(map(repr, unknown))[:_MAX_ECHO]
        reason = f"expected names of tools such as {known}; found {found}"
        raise ProtocolError(reason, code=ErrorCode.TOOL_NOT_FOUND)
    return tool_result([text_block(_described(catalog.tools[name], counter)) for name in dict.fromkeys(names)])


def _described(tool: JsonObject, counter: TokenCounter) -> str:
    definition = {name: tool[name] for name in ("name", "description", "inputSchema") if name in tool}
    return view.render_text(compact_json(definition), counter=counter).text


def _signature(tool: JsonObject) -> str:
    """Return a tool in one line: `list_orders(owner, page?) Lists orders`, required arguments first."""
    schema = tool.get("inputSchema")
    required = schema.get("required") if isinstance(schema, dict) else None
    needed = [name for name in _arguments(tool) if isinstance(required, list) and name in required]
    shown = [*needed, *(f"{name}?" for name in _arguments(tool) if name not in needed)]
    summary = re.split(r"(?<=[.!?])\s|\n", str(tool.get("description") or "").strip(), maxsplit=1)[0]
    return f"{tool.get('name')}({', '.join(shown)}) {summary[:_MAX_SUMMARY]}".rstrip()


def _arguments(tool: JsonObject) -> list[str]:
    schema = tool.get("inputSchema")
    properties = schema.get("properties") if isinstance(schema, dict) else None
    return list(properties) if isinstance(properties, dict) else []


def _matches(words: str, catalog: ToolCatalog) -> list[str]:
    """Return the names of the tools with most of `words`, those with the words in their name first."""
    asked = words[:_MAX_ASKED]
    parts = [*map(str.casefold, _WORD.findall(asked)), *map(str.casefold, _PART.findall(asked))]
    wanted = list(dict.fromkeys(parts))[:_MAX_WORDS]
    scores = {name: _score(name, tool, wanted) for name, tool in catalog.tools.items()}
    return sorted((name for name in scores if scores[name]), key=lambda name: -scores[name])[:_MAX_MATCHES]


def _score(name: str, tool: JsonObject, wanted: list[str]) -> int:
    folded = name.casefold()
    said = f"{tool.get('title', '')} {tool.get('description', '')} {' '.join(_arguments(tool))}"[:_MAX_SEARCHED]
    rest = said.casefold()
    return sum(3 * (word in folded) + (word in rest) for word in wanted)
