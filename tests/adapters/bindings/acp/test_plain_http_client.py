"""ACP's stream read by a plain HTTP client, which reconnects with `since` or `Last-Event-ID` (binding D, HTTP/SSE)."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest

from accp_adapters.bindings.acp import AcpHost, acp_app
from accp_adapters.serving.principals import BearerTokens, Principal
from tests.adapters.bindings.acp.agents import Echo, Proxy, serving
from tests.limits import PATIENCE

TOKEN = "tok_ba366fcab78d4d61"
Event = tuple[str, Any]
"""The id of an event, "" for none, and its data."""


@pytest.fixture
def host() -> AcpHost:
    return AcpHost(Echo(), authenticate=BearerTokens({TOKEN: Principal("ann")}))


@asynccontextmanager
async def stream(port: int, query: str = "", **headers: str) -> AsyncIterator[AsyncIterator[Event]]:
    """Open a stream as any client of server-sent events does."""
    given = {"authorization": f"Bearer {TOKEN}", **{name.replace("_", "-"): value for name, value in headers.items()}}
    async with (
        httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", headers=given, timeout=PATIENCE) as client,
        client.stream("GET", f"/stream{query}") as answer,
    ):
        assert answer.status_code == 200
        yield events_of(answer)


async def events_of(answer: httpx2.Response) -> AsyncIterator[Event]:
    """Yield the events: lines up to a blank one; comments keep the connection alive."""
    fields: dict[str, str] = {}
    async for line in answer.aiter_lines():
        name, _, value = line.partition(":")
        if name:
            fields[name] = value.removeprefix(" ")
        elif "data" in fields:
            yield fields.get("id", ""), json.loads(fields["data"])
            fields = {}


async def read(events: AsyncIterator[Event], count: int) -> list[tuple[str, str]]:
    """Return the ids of the next messages with their texts."""
    found = [await anext(events) for _ in range(count)]
    return [(number, data["parts"][0]["content"]) for number, data in found]


async def send(host: AcpHost, *texts: str) -> None:
    for text in texts:
        await host.send("ann", text)


@pytest.mark.parametrize(("query", "headers"), [("?since=2", {}), ("", {"Last_Event_ID": "2"})])
async def test_a_stream_goes_on_behind_the_number_that_a_plain_client_names(
    host: AcpHost, query: str, headers: dict[str, str]
) -> None:
    async with serving(acp_app(host)) as port:
        async with stream(port) as events:
            number, ready = await anext(events)
            assert (number, ready["card"]["name"]) == ("", "Echo")
            await send(host, "a", "b", "c")
            assert await read(events, 3) == [("1", "a"), ("2", "b"), ("3", "c")]
        await send(host, "d")
        async with stream(port, query, **headers) as events:
            await anext(events)
            assert await read(events, 2) == [("3", "c"), ("4", "d")]
            await send(host, "e")
            assert await read(events, 1) == [("5", "e")]


async def test_a_plain_client_that_is_cut_off_in_the_middle_gets_each_message_once(host: AcpHost) -> None:
    proxy, heard = Proxy(), []
    async with serving(acp_app(host)) as port, proxy.to(port) as through:
        last = "0"
        for cut in range(4):
            async with stream(through, Last_Event_ID=last) as events:
                await anext(events)
                await send(host, *[f"{cut}.{number}" for number in range(5)])
                heard += await read(events, 3 if cut < 3 else 11)
                last = heard[-1][0]
                if cut < 3:
                    proxy.cut()
    assert [text for _, text in heard] == [f"{cut}.{number}" for cut in range(4) for number in range(5)]
    assert [number for number, _ in heard] == [str(number) for number in range(1, 21)]
