"""Attacks by requests that are complete and small, and that a server behind ours takes long to answer."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.adapters.mcp.proxy.upstream import Saying, Upstream
from tests.adapters.mcp.serving import serving
from tests.attacks.commands import ACCP, Command, needs_proc, running
from tests.attacks.frames import CLIENT, request
from tests.attacks.sockets import request_of, silent
from tests.limits import PATIENCE

pytestmark = needs_proc

FEW_FILES = ("sh", "-c", 'ulimit -Sn 1024; exec "$@"', "sh", *ACCP)
"""The command, where it may have as many descriptors open as systems allow by default."""
IDLE, OWN = 128, 40
"""Connections of one address between requests; sockets that a process has of its own."""
FIELDS = {"content-type": "application/json", "accept": "application/json, text/event-stream"}


async def answer(scope: Any, body: bytes, say: Saying) -> None:
    """Answer all but calls of tools."""
    asked = json.loads(body)
    if asked["method"] == "tools/call":
        await say.run_until_disconnect()
    else:
        told = json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": {}})
        await say(told.encode(), content_type="application/json")


@contextmanager
def opened(name: str, folder: Path) -> Iterator[Command]:
    """Yield the proxy of a server over HTTP, or the gateway, whose servers leave calls without an answer."""
    listen = ("--listen", "127.0.0.1:0")
    if name == "gateway":
        server = {"command": sys.executable, "args": ["-m", "tests.attacks.hostile_server", "silent"]}
        (folder / "servers.json").write_text(json.dumps({"mcpServers": {"one": server}}))
        with running(*FEW_FILES, "mcp", "--config", str(folder / "servers.json"), *listen) as command:
            yield command
        return
    upstream = Upstream()
    upstream.answering = answer
    with serving(upstream) as url, running(*FEW_FILES, "mcp", "--url", f"{url}/mcp", *listen) as command:
        yield command


def client(command: Command, source: str) -> httpx2.AsyncClient:
    transport = httpx2.AsyncHTTPTransport(local_address=source)
    return httpx2.AsyncClient(base_url=command.url, transport=transport, headers=FIELDS, timeout=PATIENCE)


async def begun(http: httpx2.AsyncClient) -> dict[str, str]:
    """Return the field of a new session, none where there are no sessions."""
    answer = await http.post("/mcp", json=request("initialize", **CLIENT))
    assert answer.status_code == 200
    session = answer.headers.get("mcp-session-id")
    return {"mcp-session-id": session} if session else {}


# A request to the proxy has a connection to the server, too, of which 100 are kept for later ones.
@pytest.mark.parametrize(("name", "sockets"), [("proxy", 2 * 128 + 100), ("gateway", 512)])
async def test_calls_that_take_long_leave_places_for_others(name: str, sockets: int, tmp_path: Path) -> None:
    with opened(name, tmp_path) as command:
        async with client(command, "127.0.0.1") as hog:
            fields = FIELDS | await begun(hog)
        bodies = (json.dumps(request("tools/call", 10 + number, name="t", arguments={})) for number in range(1_200))
        calls = [request_of("POST", "/mcp", body.encode(), **fields) for body in bodies]
        async with silent(command.ports[0], calls), client(command, "127.0.0.2") as ann:
            await begun(ann)
            assert command.sockets < sockets + IDLE + OWN
        assert not [line for line in command.said if "Too many open files" in line]
