"""The service desk: a real MCP server over standard streams, with one tool."""

from __future__ import annotations

from typing import Any

from mcp.server import MCPServer
from tickets import tickets

server = MCPServer("service-desk")


@server.tool()
def list_tickets(priority: str, state: str) -> dict[str, Any]:
    """Return the tickets of a priority (P1, P2, P3) in a state (open, closed)."""
    found = [ticket for ticket in tickets() if ticket["priority"] == priority and ticket["state"] == state]
    return {"tickets": found, "count": len(found)}


if __name__ == "__main__":
    server.run("stdio")
