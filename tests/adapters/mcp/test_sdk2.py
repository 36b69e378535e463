"""The shim in the SDK of 2.x and in fastmcp 4: unaware peers notice nothing, aware ones get frames or views."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import anyio
import pytest

from accp_adapters.mcp import EXTENSION, wrap_server, wrap_transport
from accp_adapters.stores import SqliteColdStore
from accp_core.references import reference_to_uri
from accp_core.view import read
from tests.adapters.mcp.sdk import MAJOR, ROWS, connected, plain
from tests.limits import async_wait_until

if MAJOR < 2:
    pytest.skip("needs mcp 2.x", allow_module_level=True)

import mcp_types as types
from fastmcp import FastMCP
from mcp import Client, MCPError
from mcp.client import advertise
from mcp.server import MCPServer, Server
from mcp.server.mcpserver import Context

LONG = "It does what it says, and says at length what it does. " * 12
MODES = ("legacy", "2026-07-28", "auto")
Build = Callable[[], Any]


def mcp_server() -> Any:
    server = MCPServer("parts", instructions="Ask for parts.")

    @server.tool()
    def find(count: int = 20) -> list[dict[str, Any]]:
        """Find parts."""
        return ROWS[:count]

    @server.tool()
    def say(word: str) -> str:
        """Say a word."""
        return f"{word}!"

    @server.tool()
    def fail() -> str:
        """Fail."""
        raise MCPError(-32001, "too late", {"after": 3})

    @server.resource("parts://one")
    def one() -> str:
        """One part."""
        return "A-1"

    return server


def lowlevel_server() -> Any:
    tool = types.Tool(name="find", description="Find parts.", input_schema={"type": "object"})

    async def list_tools(ctx: Any, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[tool])

    async def call_tool(ctx: Any, params: Any) -> types.CallToolResult:
        if params.name == "fail":
            raise MCPError(-32001, "too late", {"after": 3})
        text = types.TextContent(type="text", text=json.dumps(ROWS, indent=2))
        return types.CallToolResult(content=[text], structured_content={"result": ROWS})

    return Server("low", on_list_tools=list_tools, on_call_tool=call_tool)


def fastmcp_server() -> Any:
    server: Any = FastMCP("fast")

    @server.tool
    def find() -> list[dict[str, Any]]:
        """Find parts."""
        return ROWS

    return server


SERVERS: tuple[Build, ...] = (mcp_server, lowlevel_server, fastmcp_server)


async def job(client: Client) -> list[Any]:
    """Do what an ordinary client does; return what it sees, less what says when."""
    seen = [plain(await client.list_tools()), plain(await client.call_tool("find", {}))]
    for call in (client.call_tool("lost", {}), client.read_resource("parts://none"), client.call_tool("fail", {})):
        try:
            seen.append(plain(await call))
        except MCPError as error:
            seen.append((error.code, error.message, error.data))
    return seen


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("build", SERVERS)
async def test_a_transcript_of_an_unaware_client_is_the_same_with_and_without_the_shim(build: Build, mode: Any) -> None:
    records: list[list[str]] = []
    for server in (build(), wrap_server(build())):
        record: list[str] = []
        async with Client(connected(server, record), mode=mode) as client:
            await job(client)
        records.append(record)
    assert len(records[0]) > 8
    assert records[1] == records[0]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("build", SERVERS)
async def test_a_client_sees_the_plain_results_whoever_is_aware(build: Build, mode: Any) -> None:
    seen = []
    for aware_server in (False, True):
        for aware_client in (False, True):
            server = wrap_server(build()) if aware_server else build()
            transport = connected(server)
            async with Client(wrap_transport(transport) if aware_client else transport, mode=mode) as client:
                seen.append(await job(client))
    assert seen[1:] == seen[:1] * 3


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("build", SERVERS)
async def test_frames_travel_where_both_are_aware(build: Build, mode: Any) -> None:
    record: list[str] = []
    async with Client(wrap_transport(connected(wrap_server(build()), record)), mode=mode) as client:
        await client.call_tool("find", {})
    travelled = [line for line in record if "@mcp>done:tool{" in line]
    assert len(travelled) == 1
    assert "structuredContent" not in travelled[0]


@pytest.mark.parametrize("mode", MODES)
async def test_a_model_reads_views_and_a_program_the_value(mode: Any) -> None:
    for server, client_settings in (
        (wrap_server(mcp_server(), policy="always"), None),
        (mcp_server(), {"view": "view"}),
    ):
        transport = connected(server)
        wrapped = transport if client_settings is None else wrap_transport(transport, **client_settings)
        async with Client(wrapped, mode=mode) as client:
            result = await client.call_tool("find", {})
    assert read(result.content[0].text) == ROWS
    assert result.structured_content == {"result": ROWS}


@pytest.mark.parametrize("mode", MODES)
async def test_a_client_that_only_names_the_extension_is_sent_what_it_can_check(mode: Any) -> None:
    transport = connected(wrap_server(mcp_server()))
    async with Client(transport, mode=mode, extensions=[advertise(EXTENSION)]) as client:
        await client.list_tools()
        result = await client.call_tool("find", {})
    assert result.content[0].resource.text.startswith("@mcp>done:tool{")
    assert result.structured_content == {"result": ROWS}


@pytest.mark.parametrize("mode", MODES)
async def test_one_form_is_sent_and_the_client_does_not_miss_the_other(mode: Any) -> None:
    server = wrap_server(mcp_server(), policy="always", host="structured")
    async with Client(connected(server), mode=mode) as client:
        (tool, *_) = (await client.list_tools()).tools
        result = await client.call_tool("find", {})
    assert tool.output_schema is None
    assert result.structured_content is None
    assert read(result.content[0].text) == ROWS


@pytest.mark.parametrize("mode", MODES)
async def test_a_server_is_used_by_its_index(mode: Any) -> None:
    server = mcp_server()
    for name in ("write", "sell", "move"):
        server.add_tool(lambda: "done", name=name, description=f"{name} parts.\n{LONG}")
    async with Client(connected(wrap_server(server, index=True)), mode=mode) as client:
        (index,) = (await client.list_tools()).tools
        described = await client.call_tool("accp_tools", {"describe": "say"})
        said = await client.call_tool("accp_tools", {"call": "say", "arguments": {"word": "hi"}})
        refused = await client.call_tool("accp_tools", {"calls": []})
    assert "find, say, fail" in (index.description or "")
    assert read(described.content[0].text)["name"] == "say"
    assert said.structured_content == {"result": "hi!"}
    assert refused.content[0].text.startswith("E4003")


@pytest.mark.parametrize("mode", MODES)
async def test_a_big_result_is_opened_by_the_tool_and_as_a_resource(mode: Any) -> None:
    settings: Any = {"policy": "always", "fetch": True, "inline_limit": 100, "preview_limit": 80}
    async with Client(connected(wrap_server(mcp_server(), **settings)), mode=mode) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        shown = (await client.call_tool("find", {})).content[0].text
        ref = re.findall(r"\$cold\.\w+", shown)[0]
        fetched = await client.call_tool("accp_fetch", {"ref": ref, "query": "SELECT name FROM rows WHERE sku='A-7'"})
        whole = (await client.read_resource(reference_to_uri(ref))).contents[0]
        with pytest.raises(MCPError, match="E5002"):
            await client.read_resource("accp://cold/0123456789abcdef")
    assert names == ["find", "say", "fail", "accp_fetch"]
    assert "part 7" in fetched.content[0].text
    assert json.loads(whole.text) == ROWS


async def test_what_was_kept_for_a_connection_goes_with_it() -> None:
    store = SqliteColdStore()
    settings: Any = {"policy": "always", "fetch": True, "inline_limit": 100, "preview_limit": 80, "store": store}
    server = wrap_server(mcp_server(), **settings)
    keys = []
    put = store.put

    def noting(session_id: str, key: str, text: str) -> None:
        keys.append((session_id, key))
        put(session_id, key, text)

    store.put = noting  # type: ignore[method-assign]  # to learn what was put
    # What the first client of a process was shown stays for the next process.
    for _ in range(2):
        async with Client(connected(server), mode="legacy") as client:
            await client.call_tool("find", {})
            assert store.get(*keys[-1]) is not None
    await async_wait_until(lambda: store.get(*keys[-1]) is None)
    assert store.get(*keys[0]) is not None


@pytest.mark.slow
async def test_a_thousand_calls_at_once_are_answered_each_with_its_own() -> None:
    found: list[bool] = []
    async with Client(wrap_transport(connected(wrap_server(mcp_server(), min_gain=-1_000)))) as client:

        async def ask(count: int) -> None:
            value = (await client.call_tool("find", {"count": count})).structured_content
            found.append(value == {"result": ROWS[:count]})

        async with anyio.create_task_group() as tasks:
            for number in range(1_000):
                tasks.start_soon(ask, number % 20)
    assert found == [True] * 1_000


async def test_progress_reaches_the_client_while_a_call_is_under_way() -> None:
    server, seen = mcp_server(), list[float]()

    async def work(ctx: Context) -> list[dict[str, Any]]:
        await ctx.report_progress(1, 2)
        return ROWS

    async def note(progress: float, total: float | None, message: str | None) -> None:
        seen.append(progress)

    server.add_tool(work)
    async with Client(wrap_transport(connected(wrap_server(server))), mode="legacy") as client:
        result = await client.call_tool("work", {}, progress_callback=note)
    assert (seen, result.structured_content) == ([1], {"result": ROWS})


def test_what_is_no_server_is_refused_by_its_type() -> None:
    with pytest.raises(TypeError, match="found 'dict'"):
        wrap_server({})
