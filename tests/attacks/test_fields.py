"""Attacks by one principal, or one address, that varies every field it sends: it takes nothing of others.

The same for MCP stands in tests/adapters/mcp/test_wrapped_http.py, for A2A in tests/adapters/a2a/test_bounded.py, for
the rooms of a relay in tests/adapters/bindings/acp/test_bindings.py.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest

from accp_adapters.a2a import BoundedRequests
from accp_adapters.bindings import SessionHost, accp_app
from accp_adapters.bindings.acp import acp_app
from accp_adapters.bindings.acp.host import AcpHost
from accp_adapters.bindings.acp.relay import relay_app
from accp_adapters.bindings.hosts import HostLimits
from accp_adapters.serving.limits import ServerLimits
from accp_adapters.serving.principals import BearerTokens, Principal
from tests.attacks.frames import frame_of
from tests.attacks.served import answer, echo_agent

TOKENS = BearerTokens({f"{name}-token": Principal(name) for name in ("hog", "ann")})
ADDRESSES = {"hog": "192.0.2.1", "ann": "192.0.2.2"}


class Caller:
    """Sends requests of a principal from its address; the hog's all differ in what it may choose."""

    def __init__(self, app: Any, name: str, port: int = 1) -> None:
        transport = httpx2.ASGITransport(app, client=(ADDRESSES[name], port))
        self._http = httpx2.AsyncClient(transport=transport, base_url="http://localhost")
        self.name, self._sent = name, 0

    async def __call__(self, method: str, path: str, **request: Any) -> httpx2.Response:
        self._sent += 1
        names = ("x-i", "user-agent", "cookie", "mcp-session-id", "x-request-id", "accp-session", "x-user")
        fields = {name: f"{name}-{self._sent}" for name in names} if self.name == "hog" else {}
        fields |= {"authorization": f"Bearer {self.name}-token", **request.pop("headers", {})}
        return await self._http.request(method, path, headers=fields, **request)


ACCP = {"content-type": "application/accp"}


async def test_sessions_of_accp() -> None:
    host = SessionHost(answer, limits=HostLimits(sessions=8, sessions_each=5))
    async with host:
        app = accp_app(host, authenticate=TOKENS)
        hog, ann = Caller(app, "hog"), Caller(app, "ann")
        await ann("POST", "/accp/v1/frames", content=frame_of("ann", "mine", "1"), headers=ACCP)
        for number in range(30):
            frame = frame_of(f"a{number}", f"s{number}", "1")
            assert (await hog("POST", "/accp/v1/frames", content=frame, headers=ACCP)).status_code == 200
        again = await ann("POST", "/accp/v1/frames", content=frame_of("ann", "mine", "1"), headers=ACCP)
        assert "code:E3002" in again.text  # the session knows it; a new one would answer


async def test_sessions_and_memory_of_acp() -> None:
    host = AcpHost(echo_agent, authenticate=TOKENS, limits=ServerLimits(places=4))
    app = acp_app(host)
    hog, ann = Caller(app, "hog"), Caller(app, "ann")
    told = {"role": "user", "parts": [{"type": "text", "content": "1"}]}
    assert (await ann("POST", "/message:send", json=told)).status_code == 200
    for number in range(30):
        told_so = {**told, "from": f"a{number}", "message_id": f"m{number}"}
        assert (await hog("POST", "/message:send", json=told_so)).status_code == 200
    assert sorted(session.name for session in host.sessions()) == ["ann", "hog"]


@pytest.mark.parametrize("door", ["ACCP", "ACP", "A2A"])
async def test_who_has_many_connections_waits_for_who_has_one(door: str) -> None:
    app, path = {
        "ACCP": (accp_app(SessionHost(answer), authenticate=TOKENS), "/accp/v1/frames"),
        "ACP": (acp_app(echo_agent, authenticate=TOKENS), "/message:send"),
        "A2A": (BoundedRequests(relay_app()), "/health"),
    }[door]
    answered = list[str]()

    async def ask(name: str, port: int = 1) -> None:
        await Caller(app, name, port)("POST", path, content="{}")
        answered.append(name)

    await ask("ann")
    await asyncio.gather(*(ask("hog", port) for port in range(16)), ask("ann"))
    assert answered.index("ann", 1) < 4


@asynccontextmanager
async def half_bodies(app: Any, path: str, size: int, many: int) -> AsyncIterator[None]:
    """Begin requests of the hog, of whose bodies only the end is missing."""

    async def one(number: int) -> None:
        parts = [{"type": "http.request", "body": b"x" * size, "more_body": True}]
        fields = {"host": "localhost", "authorization": "Bearer hog-token", "x-i": f"{number}"}
        types = {"content-type": "application/accp" if "accp" in path else "application/json"}
        scope: dict[str, Any] = {
            "type": "http",
            "method": "POST",
            "path": path,
            "query_string": b"",
            "client": (ADDRESSES["hog"], number),
            "headers": [(name.encode(), value.encode()) for name, value in {**fields, **types}.items()],
        }

        async def receive() -> Any:
            return parts.pop() if parts else await asyncio.Future()

        async def send(_: Any) -> None:
            pass

        await app(scope, receive, send)

    begun = [asyncio.ensure_future(one(number)) for number in range(many)]
    await asyncio.sleep(0.01)
    yield
    for each in begun:
        each.cancel()
    await asyncio.gather(*begun, return_exceptions=True)


@pytest.mark.parametrize("door", ["ACCP", "ACP", "relay"])
async def test_half_bodies(door: str) -> None:
    limits = ServerLimits(buffered_bytes=100_000)
    host = SessionHost(answer)
    async with host:
        relay = relay_app(limits=limits)
        token = (await Caller(relay, "ann")("POST", "/acp/new")).json()["token"]
        app, path = {
            "ACCP": (accp_app(host, authenticate=TOKENS, limits=limits), "/accp/v1/frames"),
            "ACP": (acp_app(echo_agent, authenticate=TOKENS, limits=limits), "/message:send"),
            "relay": (relay, f"/acp/{token}/send"),
        }[door]
        body = json.dumps({"role": "user", "parts": [{"type": "text", "content": "x" * 100}]})
        sent: dict[str, Any] = {"content": body, "headers": {"content-type": "application/json"}}
        if door == "ACCP":
            sent = {"content": frame_of("ann", "mine", "1"), "headers": ACCP}
        async with half_bodies(app, path, 4_000, 60):
            assert (await Caller(app, "ann")("POST", path, **sent)).status_code == 200
