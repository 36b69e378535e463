"""A list of calls over the tools of two servers, with the command in front of both."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from accp_adapters.mcp import Encoder
from accp_adapters.mcp.gateway.http_front import PATH, GatewayApp
from accp_adapters.mcp.proxy.relay import encoder_relay
from tests.adapters.mcp.gateway.client import asking
from tests.adapters.mcp.proxy.tenants import Client
from tests.adapters.mcp.real_servers.servers import conversation
from tests.adapters.mcp.serving import serving
from tests.adapters.mcp.transcripts import ACCP, ask, converse

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and pipes of POSIX")

SERVER = asking("any").command[1]


@pytest.fixture
def config(tmp_path: Path) -> Path:
    servers = {name: {"command": sys.executable, "args": [SERVER, name]} for name in ("red", "blue")}
    path = tmp_path / "mcp.json"
    path.write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
    return path


def result_of(config: Path, calls: list[Any], *options: str) -> Any:
    lines = conversation([("accp_tools", {"calls": calls})])
    # A call waits for its server: both are up when the list is asked for.
    lines[2:2] = [ask("tools/call", name, name=f"{name}__pid", arguments={}) for name in ("red", "blue")]
    said = [json.loads(line) for line in converse([*ACCP, "--config", str(config), *options], lines)[:-1]]
    return next(message["result"] for message in said if message.get("id") == 2)


@pytest.mark.slow
def test_a_list_calls_tools_of_several_servers_in_order(config: Path) -> None:
    calls = [{"call": "red__pid", "show": ""}, {"call": "blue__pid", "show": ""}]
    result = result_of(config, calls, "--tools", "names", "--allow", "*__pid")
    first, second = (block["text"].rpartition(": ") for block in result["content"])
    assert (first[0], second[0]) == ("1 red__pid", "2 blue__pid")
    assert first[2] != second[2]


def test_a_list_runs_behind_an_http_endpoint() -> None:
    servers = [asking("red"), asking("blue")]
    app = GatewayApp(servers, lambda: encoder_relay(Encoder(tools="names", call_lists=True, allow=("*__pid",))))

    async def serve(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            await app(scope, receive, send)
            return
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await app.close()
        await send({"type": "lifespan.shutdown.complete"})

    calls = [{"call": "red__pid", "show": ""}, {"call": "blue__pid", "show": ""}]
    with serving(serve, lifespan="on") as origin:
        client = Client(origin + PATH).start()
        client.ask("tools/list")
        result = client.ask("tools/call", name="accp_tools", arguments={"calls": calls})["result"]
    first, second = (block["text"].rpartition(": ") for block in result["content"])
    assert (first[0], second[0]) == ("1 red__pid", "2 blue__pid")
    assert first[2] != second[2]
