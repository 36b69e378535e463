"""One line in an MCP client of any server: frames on the wire, views for the model, plain values for programs."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.server import MCPServer

from accp_adapters.mcp import wrap_server, wrap_transport
from accp_core import read

STATIONS = [{"id": n, "name": f"Station {n}", "place": {"lat": 47.5 + n, "lon": 8.25}} for n in range(6)]


def serve() -> None:
    """Run the server; wrapping it is optional, and makes what it sends smaller."""
    server = MCPServer("weather")

    @server.tool()
    def stations() -> list[dict[str, Any]]:
        """Return all stations."""
        return STATIONS

    wrap_server(server).run("stdio")


async def call_server(**settings: Any) -> Any:
    """Call the tool of a server in another process."""
    transport = stdio_client(StdioServerParameters(command=sys.executable, args=[__file__, "serve"]))
    async with Client(wrap_transport(transport, **settings)) as client:
        return await client.call_tool("stations", {})


if "serve" in sys.argv:
    serve()
else:
    frame, view = asyncio.run(call_server(view="frame")), asyncio.run(call_server(view="view"))
    print(frame.content[0].resource.text, view.content[0].text, sep="\n")
    assert frame.structured_content == view.structured_content == {"result": STATIONS}
    assert frame.content[0].resource.text.startswith("@mcp>done:tool{tool:stations|res:{")
    assert read(view.content[0].text) == STATIONS
