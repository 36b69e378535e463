"""The shim in the SDK of 1.x, FastMCP and the lowlevel server; run by `make test-mcp1`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import anyio
import pytest

from accp_adapters.mcp import EXTENSION, wrap_server, wrap_transport
from accp_core.view import read
from tests.adapters.mcp.sdk import MAJOR, ROWS, connected, plain

if MAJOR > 1:
    pytest.skip("needs mcp 1.x: make test-mcp1", allow_module_level=True)

from mcp import ClientSession, McpError, types
from mcp.server.fastmcp import Context, FastMCP
from mcp.server.lowlevel import Server

Build = Callable[[], Any]


def fastmcp_server() -> Any:
    server = FastMCP("parts", instructions="Ask for parts.")

    @server.tool()
    def find(count: int = 20) -> list[dict[str, Any]]:
        """Find parts."""
        return ROWS[:count]

    @server.tool()
    async def work(ctx: Context) -> str:  # type: ignore[type-arg]  # the SDK finds it by the bare class
        """Work."""
        await ctx.report_progress(1, 2)
        return "done"

    @server.resource("parts://one")
    def one() -> str:
        """One part."""
        return "A-1"

    return server


def lowlevel_server() -> Any:
    server: Any = Server("low")

    @server.list_tools()
    async def list_tools() -> list[types.Tool]:
        return [types.Tool(name="find", description="Find parts.", inputSchema={"type": "object"})]

    @server.call_tool()
    async def call_tool(name: str, arguments: dict[str, Any]) -> list[types.TextContent]:
        if name != "find":
            raise ValueError(f"no {name}")
        return [types.TextContent(type="text", text=json.dumps(ROWS, indent=2))]

    return server


SERVERS: tuple[Build, ...] = (fastmcp_server, lowlevel_server)


async def job(session: ClientSession) -> list[Any]:
    """Do what an ordinary client does, and return what it sees."""
    seen = [plain(await session.initialize()), plain(await session.list_tools())]
    seen[0].pop("capabilities")
    seen += [plain(await session.call_tool("find", {})), plain(await session.call_tool("lost", {}))]
    try:
        seen.append(plain(await session.read_resource(types.AnyUrl("parts://none"))))
    except McpError as error:
        seen.append(plain(error.error))
    return seen


@pytest.mark.parametrize("build", SERVERS)
async def test_a_transcript_of_an_unaware_client_is_the_same_with_and_without_the_shim(build: Build) -> None:
    records: list[list[str]] = []
    for server in (build(), wrap_server(build())):
        record: list[str] = []
        async with connected(server, record) as streams, ClientSession(*streams) as session:
            await job(session)
        records.append(record)
    assert len(records[0]) > 8
    assert records[1] == records[0]


@pytest.mark.parametrize("build", SERVERS)
async def test_a_client_sees_the_plain_results_whoever_is_aware(build: Build) -> None:
    seen = []
    for aware_server in (False, True):
        for aware_client in (False, True):
            transport = connected(wrap_server(build()) if aware_server else build())
            transport = wrap_transport(transport) if aware_client else transport
            async with transport as streams, ClientSession(*streams) as session:
                seen.append(await job(session))
    assert seen[1:] == seen[:1] * 3


@pytest.mark.parametrize("build", SERVERS)
async def test_frames_travel_where_both_are_aware(build: Build) -> None:
    record: list[str] = []
    transport = wrap_transport(connected(wrap_server(build()), record))
    async with transport as streams, ClientSession(*streams) as session:
        started = await session.initialize()
        await session.call_tool("find", {})
        registry = await session.read_resource(types.AnyUrl("accp://registry"))
    assert EXTENSION in (started.capabilities.experimental or {})
    assert len([line for line in record if "@mcp>done:tool{" in line]) == 1
    assert registry.contents[0].mimeType == "application/accp"


async def test_a_model_reads_views_and_a_program_the_value() -> None:
    always = connected(wrap_server(fastmcp_server(), policy="always"))
    decoded = wrap_transport(connected(fastmcp_server()), view="view")
    for transport in (always, decoded):
        async with transport as streams, ClientSession(*streams) as session:
            await session.initialize()
            result = await session.call_tool("find", {})
        assert read(result.content[0].text) == ROWS
        assert result.structuredContent == {"result": ROWS}


async def test_an_error_is_the_servers_with_a_frame_beside_it() -> None:
    transport = wrap_transport(connected(wrap_server(fastmcp_server())), view="frame")
    async with transport as streams, ClientSession(*streams) as session:
        await session.initialize()
        await session.list_tools()
        lost = await session.call_tool("lost", {})
        with pytest.raises(McpError) as raised:
            await session.send_request(
                types.ClientRequest(types.SetLevelRequest(params=types.SetLevelRequestParams(level="info"))),
                types.EmptyResult,
            )
    assert lost.isError
    assert lost.meta is not None
    assert "code:E4001" in lost.meta[EXTENSION]["frame"]
    assert raised.value.error.code == -32601
    assert "code:E1002" in raised.value.error.data[EXTENSION]["frame"]


async def test_progress_reaches_the_client_and_the_index_runs_tools() -> None:
    seen: list[float] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        seen.append(progress)

    server = fastmcp_server()
    long = "It does what it says, and says at length what it does. " * 12
    for name in ("write", "sell", "buy"):
        server.add_tool(lambda: "done", name=name, description=f"{name} parts.\n{long}")
    transport = connected(wrap_server(server, index=True))
    async with transport as streams, ClientSession(*streams) as session:
        await session.initialize()
        (index,) = (await session.list_tools()).tools
        done = await session.call_tool("accp_tools", {"call": "work"}, progress_callback=note)
    assert "find, work" in (index.description or "")
    assert seen == [1]
    assert done.structuredContent == {"result": "done"}


async def test_a_big_result_is_opened_by_the_tool_and_as_a_resource() -> None:
    settings: Any = {"policy": "always", "fetch": True, "inline_limit": 100, "preview_limit": 80}
    async with connected(wrap_server(fastmcp_server(), **settings)) as streams, ClientSession(*streams) as session:
        await session.initialize()
        names = [tool.name for tool in (await session.list_tools()).tools]
        ref = re.findall(r"\$cold\.\w+", (await session.call_tool("find", {})).content[0].text)[0]
        fetched = await session.call_tool("accp_fetch", {"ref": ref, "query": "SELECT name FROM rows WHERE sku='A-7'"})
        with pytest.raises(McpError, match="E5002"):
            await session.read_resource(types.AnyUrl("accp://cold/0123456789abcdef"))
    assert names == ["find", "work", "accp_fetch"]
    assert "part 7" in fetched.content[0].text


async def test_many_calls_at_once_are_answered_each_with_its_own() -> None:
    found: dict[int, Any] = {}
    transport = wrap_transport(connected(wrap_server(fastmcp_server(), min_gain=-1_000)))
    async with transport as streams, ClientSession(*streams) as session:
        await session.initialize()

        async def ask(count: int) -> None:
            found[count] = (await session.call_tool("find", {"count": count % 20})).structuredContent

        async with anyio.create_task_group() as tasks:
            for count in range(200):
                tasks.start_soon(ask, count)
    assert all(value == {"result": ROWS[: count % 20]} for count, value in found.items())
    assert len(found) == 200
