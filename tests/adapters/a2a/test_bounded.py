"""What the requests of one caller take of an A2A server: refusals before the SDK reads, pauses after large bodies."""

from __future__ import annotations

import asyncio
import json
import time
from unittest.mock import AsyncMock

import pytest
from httpx import ASGITransport, AsyncClient
from starlette.types import Receive, Scope, Send

from accp_adapters.a2a import BoundedRequests

LARGE = json.dumps({"text": "x" * 10_000})
DENSE = json.dumps([[]] * 1_000)
FRAMED = json.dumps({"text": "@user>req:task{view:…}", "mediaType": "application/accp"})
FIELDS = {"authorization": "Bearer t", "mcp-session-id": "s", "user-agent": "u", "x-forwarded-for": "198.51.100."}
HELD = 0.07
"""Seconds of the processor for which the application holds the event loop when it has read a body that is dear."""


class Application:
    """Holds the loop for each body that is dear, answers, and keeps when it read one."""

    def __init__(self) -> None:
        self.read: list[float] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = (await receive())["body"]
        if body:
            self.read.append(asyncio.get_running_loop().time())
            begun = time.thread_time()
            while len(body) > 1 and time.thread_time() < begun + HELD:
                pass
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
    many = json.dumps([{"text": "x"}] * 10_100)  # parts that take the SDK longer than a second
    assert (await client(BoundedRequests(Application())).post("/", content=many)).status_code == 413


async def pauses(body: str, many: int = 3, alone: int = 0) -> list[float]:
    """Return the seconds between bodies of one address, first alone, then while another one sends small requests."""
    application = Application()
    app = BoundedRequests(application)
    async with client(app) as hog, client(app, "192.0.2.2") as other:
        for _ in range(alone):
            await hog.post("/", content=body)

        async def ask() -> None:
            while True:
                await other.get("/card")
                await asyncio.sleep(0.2)

        asking = asyncio.create_task(ask())
        each = [{name: f"{value}{number}" for name, value in FIELDS.items()} for number in range(many)]
        await asyncio.gather(*(hog.post("/", content=body, headers=headers) for headers in each))
        asking.cancel()
    return [later - earlier for earlier, later in zip(application.read, application.read[1:], strict=False)]


@pytest.mark.parametrize("body", [LARGE, DENSE, FRAMED], ids=["long", "many values", "a frame, which may hold much"])
async def test_dear_bodies_of_an_address_take_a_tenth_of_the_loop_whatever_their_fields(body: str) -> None:
    assert min(await pauses(body)) > 9 * HELD


async def test_small_requests_rest_when_they_hold_the_loop_again_and_again() -> None:
    once, *again = await pauses("small", many=4)
    assert max(once, 9 * HELD) < min(again)


async def test_while_nobody_else_asks_they_take_half_of_it_and_owe_nothing_for_that() -> None:
    *alone, beside = await pauses(LARGE, 1, alone=10)
    assert 1.9 < min(alone) / HELD < 9
    assert beside < 45 * sum(alone) / len(alone)


async def test_who_leaves_while_the_caller_rests_is_not_served() -> None:
    application, send = Application(), AsyncMock()
    app = BoundedRequests(application)
    await client(app).post("/", content=LARGE)
    told = [{"type": "http.request", "body": LARGE.encode()}, {"type": "http.disconnect"}]
    scope = {"type": "http", "method": "POST", "headers": [], "client": ("192.0.2.1", 1)}
    await app(scope, AsyncMock(side_effect=told), send)
    assert len(application.read) == 1 and not send.await_count


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
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(http.post("/", content=LARGE + " " * 5_000), 0.5)
    assert reached == ["its end"] * 2
