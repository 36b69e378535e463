"""The names of sixty tools instead of their definitions in every model call: schemas on demand, calls as before."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from mcp import Client
from mcp.server import MCPServer

from accp_adapters.mcp import wrap_server
from accp_adapters.tokens import o200k_base
from accp_core.view import read

server = MCPServer("office")
ADVICE = "Give the id as it was listed. Times are UTC. The answer says what was changed and by whom. " * 3


def handler(verb: str, noun: str) -> Any:
    """Return the function of a tool."""
    return lambda id, note="": f"{verb} {noun} {id} {note}"


for noun in ("page", "mail", "event", "file", "task", "contact"):
    for verb in ("create", "read", "update", "delete", "list", "share", "move", "copy", "find", "tag"):
        server.add_tool(handler(verb, noun), name=f"{verb}_{noun}", description=f"{verb.title()}s a {noun}.\n{ADVICE}")


async def list_definitions() -> str:
    """Return the definitions as a host gives them to its model."""
    async with Client(server) as client:
        tools = (await client.list_tools()).tools
    return json.dumps([[tool.name, tool.description, tool.input_schema] for tool in tools])


async def use_index() -> list[str]:
    """Find a tool, read its schema, call it."""
    async with Client(server) as client:
        run = {"call": "share_event", "arguments": {"id": "e7", "note": "to Ana"}}
        steps: list[dict[str, Any]] = [{"search": "share an event"}, {"describe": "share_event"}, run]
        await client.list_tools()
        return [(await client.call_tool("accp_tools", step)).content[0].text for step in steps]


plain = asyncio.run(list_definitions())
wrap_server(server, tools="names")
index = asyncio.run(list_definitions())
found, described, done = asyncio.run(use_index())

count = o200k_base()
print(
    f"{count(plain):,} tokens of definitions, now {count(index):,}, and {count(described):,} for one that was described"
)
print(found.splitlines()[0], "->", done)
assert count(index) * 5 < count(plain)
assert found.startswith("share_event(")
assert read(described)["inputSchema"]["required"] == ["id"]
assert done == "share event e7 to Ana"
