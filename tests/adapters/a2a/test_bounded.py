"""What the requests of one caller take of an A2A server: refusals before the SDK reads, pauses after large bodies."""

from __future__ import annotations

import asyncio
import json
from collections.abc import MutableMapping
from typing import Any

import pytest
from httpx import ASGITransport, AsyncClient
from starlette.types import Receive, Scope, Send

from accp_adapters.a2a import BoundedRequests

LARGE = json.dumps({"text": "x" * 10_000})
FRAMED = json.dumps({"text": "@user>req:task{view:…}", "mediaType": "application/accp"})
HELD = 0.05
"""Seconds for which the application holds the event loop when it has read a large body."""


class Application:
    """Holds the loop for each large body, answers, and keeps when it did."""

    def __init__(self) -> None:
        self.read: list[float] = []
        self.held: list[float] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = (await receive())["body"]
        if len(body) > 5_000 or b"accp" in body:
            now = asyncio.get_running_loop().time
            self.read.append(now())
            while now() < self.read[-1] + HELD:
                pass
            self.held.append(now() - self.read[-1])
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": str(len(body)).encode()})


def client(app: BoundedRequests, address: str = "192.0.2.1") -> AsyncClient:
    return AsyncClient(transport=ASGITransport(app, client=(address, 1)), base_url="http://agent")


@pytest.mark.parametrize("body", ["x" * 2_001, json.dumps([[]] * 101), json.dumps([{"a": 1}] * 60)])
async def test_too_large_a_body_is_refused_as_json_rpc_before_the_application_reads(body: str) -> None:
    app = BoundedRequests(Application(), max_bytes=2_000, max_values=100)
    async with client(app) as http:
        answer = await http.post("/", content=body)
        assert answer.status_code == 413
        assert answer.json()["error"]["code"] == -32600 and "found a larger one" in answer.json()["error"]["message"]
        assert (await http.post("/", content="y" * 2_000)).text == "2000"
        assert (await http.get("/card")).text == "0"


async def pauses(body: str, **fields: str) -> list[float]:
    """Return the seconds between large bodies of one address, while another one sends small requests."""
    application = Application()
    app = BoundedRequests(application)
    async with client(app) as hog, client(app, "192.0.2.2") as other:

        async def ask() -> None:
            while True:
                await other.get("/card")
                await asyncio.sleep(5 * HELD)

        asking = asyncio.create_task(ask())
        many = [{name: f"{value}{number}" for name, value in fields.items()} for number in range(3)]
        await asyncio.gather(*(hog.post("/", content=body, headers=each) for each in many))
        asking.cancel()
    return [later - earlier for earlier, later in zip(application.read, application.read[1:], strict=False)]


@pytest.mark.parametrize("body", [LARGE, FRAMED], ids=["long", "a short frame, which may hold much"])
async def test_large_bodies_of_an_address_take_a_tenth_of_the_loop_whatever_their_fields(body: str) -> None:
    fields = {"authorization": "Bearer t", "mcp-session-id": "s", "user-agent": "u", "x-forwarded-for": "198.51.100."}
    assert min(await pauses(body, **fields)) > 9 * HELD


async def test_while_nobody_else_asks_they_take_half_of_it() -> None:
    application = Application()
    async with client(BoundedRequests(application)) as http:
        for _ in range(2):
            await http.get("/card")
            await http.post("/", content=LARGE)
    begun, again = application.read
    assert 1.9 < (again - begun) / application.held[0] < 9


async def test_who_leaves_while_the_caller_rests_is_not_served() -> None:
    application, sent = Application(), list[Any]()
    app = BoundedRequests(application)
    scope = {"type": "http", "method": "POST", "headers": [], "client": ("192.0.2.1", 1)}

    async def ask(*, leaves: bool) -> None:
        told: list[MutableMapping[str, Any]] = [{"type": "http.request", "body": LARGE.encode()}]
        told += [{"type": "http.disconnect"}] * leaves

        async def receive() -> MutableMapping[str, Any]:
            return told.pop(0) if told else await asyncio.Future()

        async def send(message: MutableMapping[str, Any]) -> None:
            sent.append(message["type"])

        await app(scope, receive, send)

    await ask(leaves=False)
    await ask(leaves=True)
    assert len(application.read) == 1 and sent == ["http.response.start", "http.response.body"]


async def test_an_application_is_cancelled_and_fails_as_without_it() -> None:
    reached = list[str]()

    async def fails(scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await asyncio.sleep(0 if (await receive())["body"] == LARGE.encode() else 3_600)
            raise LookupError("its own")
        finally:
            reached.append("its end")

    async with client(BoundedRequests(fails)) as http:
        with pytest.raises(LookupError, match="its own"):
            await http.post("/", content=LARGE)
        asking = asyncio.create_task(http.post("/", content=LARGE + " " * 5_000))
        await asyncio.sleep(0.01)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
    assert reached == ["its end"] * 2
