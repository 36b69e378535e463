"""A wrapped server behind streamable HTTP, as its users run it: both eras, two clients, one session each."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from accp_adapters.mcp import wrap_server, wrap_transport
from tests.adapters.mcp.sdk import MAJOR, ROWS

if MAJOR < 2:
    pytest.skip("needs mcp 2.x", allow_module_level=True)

from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server import MCPServer

from tests.adapters.mcp.proxy.tenants import Client as HttpClient
from tests.adapters.mcp.proxy.tenants import rows_server
from tests.adapters.mcp.serving import serving

MODES = ("legacy", "2026-07-28", "auto")


def app(**settings: Any) -> Any:
    server = MCPServer("parts")

    @server.tool()
    def find() -> list[dict[str, Any]]:
        """Find parts."""
        return ROWS

    return wrap_server(server, **settings).streamable_http_app()


@pytest.mark.parametrize("mode", MODES)
async def test_each_client_gets_what_it_understands(mode: Any) -> None:
    with serving(app(), lifespan="on") as origin:
        url = f"{origin}/mcp"
        async with (
            Client(url, mode=mode) as unaware,
            Client(wrap_transport(streamable_http_client(url), view="frame"), mode=mode) as aware,
            Client(wrap_transport(streamable_http_client(url)), mode=mode) as decoding,
        ):
            plain = await unaware.call_tool("find", {})
            frame = await aware.call_tool("find", {})
            decoded = await decoding.call_tool("find", {})
    assert [json.loads(block.text) for block in plain.content] == ROWS
    assert frame.content[0].resource.text.startswith("@mcp>done:tool{")
    assert decoded == plain


@pytest.mark.parametrize(("version", "stateless"), [("2025-11-25", True), ("2025-11-25", False), ("2026-07-28", True)])
def test_a_reference_belongs_to_the_credentials_and_without_any_there_is_none(version: str, stateless: bool) -> None:
    def wrap(server: Any) -> Any:
        return wrap_server(server, policy="always", fetch=True)

    with serving(rows_server(stateless=stateless, wrap=wrap), lifespan="on") as origin:
        alice, bob = (
            HttpClient(f"{origin}/mcp", {"authorization": f"Bearer {name}"}, version).start()
            for name in ("alice", "bob")
        )
        [ref] = set(re.findall(r"\$cold\.[0-9]{12}", alice.call("report")))
        query = "SELECT owner FROM items WHERE id = 3"
        assert "alice" in alice.call("accp_fetch", ref=ref, query=query)
        nobody = HttpClient(f"{origin}/mcp", {}, version).start()
        others = [bob, nobody, HttpClient(alice.url, {**alice.headers, **bob.headers}, version)]
        if session := alice.headers.get("mcp-session-id"):
            others += [HttpClient(alice.url, {"mcp-session-id": session, "authorization": "Bearer bob"}, version)]
        for other in others:
            assert "alice" not in other.call("accp_fetch", ref=ref, query=query)
            assert ref[6:] not in other.post("resources/list", {}).text
        assert ("cold." in nobody.call("report")) == (not stateless)
