"""Attacks on the memory of the commands: none takes more than `BOUND` megabytes."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.adapters.mcp.proxy.upstream import Saying, Upstream
from tests.adapters.mcp.serving import serving
from tests.attacks.commands import ACCP, BOUND, Command, needs_proc, running
from tests.attacks.frames import CLIENT, request
from tests.attacks.sockets import hold, request_of, silent
from tests.limits import PATIENCE

pytestmark = needs_proc

MIB = 1 << 20
DENSE = b'{"jsonrpc":"2.0","id":1,"method":"x","params":[' + b"[]," * (4 * MIB // 3 - 30) + b"1]}"
"""A body of 4 MiB whose parts take twenty times as much in memory."""
LISTEN = ("--listen", "127.0.0.1:0")


def proxy(url: str, *options: str) -> Any:
    return running(*ACCP, "mcp", "--url", f"{url}/mcp", *LISTEN, *options)


def gateway(folder: Path, kind: str, *options: str) -> Any:
    server = {"command": sys.executable, "args": ["-m", "tests.attacks.hostile_server", kind]}
    config = folder / "servers.json"
    config.write_text(json.dumps({"mcpServers": {"evil": server, "other": server}}))
    return running(*ACCP, "mcp", "--config", str(config), *LISTEN, *options)


def post(body: bytes, path: str = "/mcp", **fields: str) -> bytes:
    return request_of("POST", path, body, content_type="application/json", accept="application/json", **fields)


@asynccontextmanager
async def client_of(command: Command) -> AsyncIterator[httpx2.AsyncClient]:
    """Yield a client of a gateway, which has begun a session."""
    fields = {"accept": "application/json, text/event-stream"}
    async with httpx2.AsyncClient(base_url=command.url, trust_env=False, timeout=PATIENCE, headers=fields) as client:
        answer = await client.post("/mcp", json=request("initialize", **CLIENT))
        client.headers["mcp-session-id"] = answer.headers["mcp-session-id"]
        yield client


async def test_requests_that_wait_for_the_server_of_a_proxy() -> None:
    async def never(scope: Any, body: bytes, say: Saying) -> None:
        await say.run_until_disconnect()

    upstream = Upstream()
    upstream.answering = never
    with serving(upstream) as url, proxy(url, "--policy", "always") as command:
        async with silent(command.ports[0], [post(DENSE)] * 70):
            await hold(4)
        assert command.peak < BOUND


async def test_a_response_of_many_parts() -> None:
    async def dense(scope: Any, body: bytes, say: Saying) -> None:
        answer = b'{"jsonrpc":"2.0","id":1,"result":[' + b"[]," * (60 * MIB // 3) + b"1]}"
        await say(answer, content_type="application/json")

    upstream = Upstream()
    upstream.answering = dense
    call = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}'
    with serving(upstream) as url, proxy(url, "--policy", "always") as command:
        async with silent(command.ports[0], [post(call)]):
            await hold(6)
        assert command.peak < BOUND


async def test_requests_that_wait_in_a_gateway(tmp_path: Path) -> None:
    with gateway(tmp_path, "silent") as command:
        async with client_of(command) as client:
            called = (
                DENSE.replace(b'"x","params":[', b'"tools/call","params":{"name":"evil__t","arguments":[')[:-2] + b"]}}"
            )
            waiting = post(called, mcp_session_id=client.headers["mcp-session-id"])
            async with silent(command.ports[0], [waiting] * 70):
                await hold(7)
        assert command.peak < BOUND


async def test_answers_of_a_gateway_that_nobody_reads(tmp_path: Path) -> None:
    calls = [json.dumps(request("tools/call", number, name="evil__t")).encode() for number in range(2, 42)]
    with gateway(tmp_path, "large") as command:
        async with client_of(command) as client:
            session = client.headers["mcp-session-id"]
            async with silent(command.ports[0], [post(each, mcp_session_id=session) for each in calls]):
                await hold(9)
        assert command.peak < BOUND


@pytest.mark.parametrize("kind", ["flood", "early", "pages", "line"])
async def test_a_hostile_server_behind_a_gateway(tmp_path: Path, kind: str) -> None:
    with gateway(tmp_path, kind) as command:
        async with client_of(command) as client:
            if kind != "early":
                await client.post("/mcp", json={"jsonrpc": "2.0", "method": "notifications/initialized"})
            if kind == "pages":
                await client.post("/mcp", json=request("tools/list", 2))
            await hold(4)
        assert command.peak < BOUND


async def test_long_lines_of_the_servers_of_many_sessions(tmp_path: Path) -> None:
    with gateway(tmp_path, "line") as command:
        async with AsyncExitStack() as stack:
            for _ in range(8):
                await stack.enter_async_context(client_of(command))
            await hold(3)
        assert command.peak < BOUND
