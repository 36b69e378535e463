"""langchain-mcp-adapters with the interceptor, and through a wrapped transport; run by `make test-mcp1`."""

from __future__ import annotations

import json
from typing import Any

import pytest

pytest.importorskip("langchain_mcp_adapters", reason="needs mcp 1.x: make test-mcp1")

from langchain_core.messages import ToolMessage
from langchain_mcp_adapters.tools import load_mcp_tools
from mcp import ClientSession, types
from mcp.server.fastmcp import FastMCP

from accp_adapters.mcp import ViewInterceptor, wrap_server, wrap_transport
from accp_core.view import read
from tests.adapters.mcp.sdk import ROWS, connected


def server() -> Any:
    built = FastMCP("parts")

    @built.tool()
    def find() -> list[dict[str, Any]]:
        """Find parts."""
        return ROWS

    @built.tool(structured_output=False)
    def text() -> str:
        """Find parts as text."""
        return json.dumps({"parts": ROWS}, indent=2)

    @built.tool()
    def fail() -> str:
        """Fail."""
        raise ValueError('{"no": [1, 2, 3]}')

    @built.tool(structured_output=False)
    def prose() -> str:
        """Say something."""
        return "All is well."

    return built


async def messages(transport: Any, *interceptors: Any) -> dict[str, ToolMessage]:
    """Return the message that each tool gives an agent."""
    async with transport as streams, ClientSession(*streams) as session:
        await session.initialize()
        tools = await load_mcp_tools(session, tool_interceptors=list(interceptors))
        calls = {tool.name: tool for tool in tools}
        return {
            name: await tool.ainvoke({"type": "tool_call", "id": "c1", "name": name, "args": {}})
            for name, tool in calls.items()
        }


SERVERS = [
    lambda: connected(server()),
    lambda: connected(wrap_server(server(), policy="always")),
    lambda: connected(wrap_server(server())),
    lambda: wrap_transport(connected(wrap_server(server()))),
]


@pytest.mark.parametrize("transport", SERVERS)
async def test_the_agent_reads_the_view_and_programs_find_the_value(transport: Any) -> None:
    seen = await messages(transport(), ViewInterceptor())
    assert read(seen["find"].text) == ROWS
    assert seen["find"].artifact["structured_content"] == {"result": ROWS}
    assert read(seen["text"].text) == {"parts": ROWS}
    assert seen["text"].artifact["structured_content"] == {"parts": ROWS}
    assert seen["prose"].text == "All is well."


async def test_a_failure_stays_as_it_is() -> None:
    bare = await messages(connected(server()))
    seen = await messages(connected(server()), ViewInterceptor())
    assert seen["fail"].status == "error"
    assert seen["fail"].text == bare["fail"].text


async def test_a_wrapped_transport_shows_views_without_an_interceptor() -> None:
    seen = await messages(wrap_transport(connected(wrap_server(server())), view="view"))
    assert read(seen["find"].text) == ROWS
    assert seen["find"].artifact["structured_content"] == {"result": ROWS}


async def test_what_another_interceptor_answered_is_left_alone() -> None:
    answer = ToolMessage("cached", tool_call_id="c1")

    async def cached(request: Any, handler: Any) -> Any:
        return answer

    seen = await messages(connected(server()), ViewInterceptor(), cached)
    assert seen["find"].text == "cached"


async def test_a_result_keeps_its_type() -> None:
    async def handler(request: Any) -> Any:
        return types.CallToolResult(content=[types.TextContent(type="text", text=json.dumps(ROWS))])

    result = await ViewInterceptor()(None, handler)
    assert isinstance(result, types.CallToolResult)
    assert result.structuredContent == {"result": ROWS}
