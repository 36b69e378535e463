"""Hosts that know only the specification: they answer by an `acp.message` with the correlation_id (sections 3.4, 8)."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, StreamingResponse
from starlette.routing import Route
from websockets.asyncio.server import serve

from accp_adapters.bindings.acp import acp_connect, relay_app
from tests.adapters.bindings.acp.agents import serving, text_of

TOKEN = "tok_ba366fcab78d4d61"
SCRIPT = """
import json, sys
def answer(text):
    data = json.loads(text)
    if data.get("type") != "acp.message":
        return None
    reply = {"type": "acp.message", "message_id": "a_" + data["message_id"], "from": "H", "role": "agent"}
    said = data["parts"][0]["content"]
    parts = [{"type": "text", "content": "you said " + said}]
    known = {"correlation_id": data["message_id"], "parts": parts}
    return json.dumps({"type": "acp.message", **known} if said == "again" else {**reply, **known})
"""
PROCESS = f"{SCRIPT}\nfor line in sys.stdin:\n    found = answer(line)\n    if found:\n        print(found, flush=True)"
_names: dict[str, Any] = {}
exec(SCRIPT, _names)  # the same words for the process and for those here
answer: Callable[[str], str | None] = _names["answer"]


async def a(stack: AsyncExitStack) -> Any:
    async def talk(socket: Any) -> None:
        async for text in socket:
            if found := answer(text):
                await socket.send(found)

    server = await stack.enter_async_context(serve(talk, "127.0.0.1", 0))
    return f"acp://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}/{TOKEN}"


async def b(stack: AsyncExitStack) -> Any:
    return [sys.executable, "-c", PROCESS]


async def c(stack: AsyncExitStack) -> Any:
    relay = await stack.enter_async_context(serving(relay_app()))
    client = await stack.enter_async_context(httpx2.AsyncClient(base_url=f"http://127.0.0.1:{relay}/acp"))
    await client.post("/new", params={"token": TOKEN})

    async def host() -> None:
        after = ""
        while True:
            polled = (await client.get(f"/{TOKEN}/poll", params={"after_id": after, "wait": 1})).json()
            for entry in polled["messages"]:
                after = entry["id"]
                if entry.get("from") != "H" and (found := answer(json.dumps(entry))):
                    await client.post(f"/{TOKEN}/send", content=found)

    task = asyncio.create_task(host())
    stack.callback(task.cancel)
    await client.post(f"/{TOKEN}/send", json={"type": "acp.agent_card", "from": "H", "card": {"name": "H"}})
    return f"acp+ws://127.0.0.1:{relay}/acp/{TOKEN}"


async def d(stack: AsyncExitStack) -> Any:
    said: asyncio.Queue[str] = asyncio.Queue()

    async def send(request: Request) -> JSONResponse:
        if found := answer((await request.body()).decode()):
            said.put_nowait(found)
        return JSONResponse({"ok": True})

    async def events() -> AsyncIterator[str]:
        yield ": keepalive\n\n"
        while True:
            yield f"data: {await said.get()}\n\n"

    async def stream(_: Request) -> StreamingResponse:
        return StreamingResponse(events(), media_type="text/event-stream")

    async def card(_: Request) -> JSONResponse:
        return JSONResponse({"name": "H", "capabilities": {}})

    routes = [Route("/message:send", send, methods=["POST"]), Route("/stream", stream)]
    app = Starlette(routes=[*routes, Route("/.well-known/acp.json", card)])
    return f"http://127.0.0.1:{await stack.enter_async_context(serving(app))}"


async def e(stack: AsyncExitStack) -> Any:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            if found := answer(line.decode()):
                writer.write(f"{found}\n".encode())
        writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    stack.callback(server.close)
    return f"tcp://127.0.0.1:{server.sockets[0].getsockname()[1]}"


@asynccontextmanager
async def talking(address: Any, **options: Any) -> AsyncIterator[Any]:
    async with acp_connect(address, **options) as session:
        yield session


@pytest.mark.requirement("acp:8-4")
@pytest.mark.parametrize("host", [a, b, c, d, e])
async def test_a_request_is_answered_by_a_message_with_its_id(host: Any) -> None:
    async with AsyncExitStack() as stack, talking(await host(stack)) as session:
        assert text_of(await session.request("hello")) == "you said hello"
        assert text_of(await session.request("again")) == "you said again"
