"""One line in an MCP server: models read fewer tokens, and `accp_fetch` opens large results."""

from __future__ import annotations

import asyncio
import re
from typing import Any

from mcp import Client
from mcp.server import MCPServer

from accp_adapters.mcp import wrap_server
from accp_adapters.tokens import o200k_base

server = MCPServer("shop")


@server.tool()
def orders(count: int) -> list[dict[str, Any]]:
    """Return the newest orders."""
    return [{"id": f"ORD-{7000 + n}", "city": "Lima" if n % 3 else "Oslo", "total": n * 1.25} for n in range(count)]


async def use(served: Any) -> tuple[Any, Any, Any]:
    """Call the tools of a server like any client."""
    async with Client(served) as client:
        few = await client.call_tool("orders", {"count": 5})
        many = await client.call_tool("orders", {"count": 5_000})
        references = re.findall(r"\$cold\.\w+", str(many.content))
        if not references:
            return few, many, None
        found = await client.call_tool("accp_fetch", {"ref": references[0], "query": "id=ORD-11999"})
        return few, many, found


def shown(result: Any) -> str:
    """Return what a model reads in a host that shows it both forms of a result."""
    return "".join(block.text for block in result.content) + str(result.structured_content or "")


plain_few, plain_many, _ = asyncio.run(use(server))
wrap_server(server, policy="always", host="structured", fetch=True)
few, many, found = asyncio.run(use(server))

count = o200k_base()
print(shown(few))
print(f"5 orders: {count(shown(plain_few)):,} tokens, now {count(shown(few)):,}")
print(
    f"5,000 orders: {count(shown(plain_many)):,} tokens, now {count(shown(many)):,}; then {shown(found)!r} was fetched"
)
assert count(shown(few)) * 3 < count(shown(plain_few))
assert count(shown(many)) <= 2_000
assert "total 6248.75" in shown(found)
