"""What a request takes over a network: `python -m tests.bench network`.

One server on the loopback interface adds numbers; asked as plain JSON over httpx and websockets, and as ACCP over the
same libraries, which adds the session, its log in memory and the frames. Server and clients share one event loop, and
the routes take turns, so that what else the machine does hits all of them.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Final, TypeAlias

import httpx
import websockets
from rich.console import Console
from starlette.applications import Starlette
from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from accp_adapters.bindings import Request, SessionHost, accp_app, connect
from accp_adapters.inspector.tables import plain_table
from accp_adapters.serving.listening import http_server, listen_at
from accp_adapters.serving.websockets import WebSocketConnection
from accp_core.accp import Intent, Message

__all__ = ["main"]

Ask: TypeAlias = Callable[[], Awaitable[object]]

IN_FLIGHT: Final = (1, 16)
CALLS: Final = 320
"""Requests of each route at each level."""
_ROUNDS: Final = 4
_AMOUNTS: Final = list(range(20))
_QUESTION: Final = Message(sender="ann", intent=Intent.REQUEST, operation="add", payload={"amounts": _AMOUNTS})


def main() -> None:
    """Print a table for each number of requests in flight."""
    asyncio.run(_print_tables(Console(width=100)))


async def _print_tables(console: Console) -> None:
    columns = ("route", "p50 ms", "p99 ms", "p50 of plain JSON over the same library")
    async with AsyncExitStack() as stack:
        routes = await _routes(stack, await stack.enter_async_context(_served()))
        for level in IN_FLIGHT:
            title = f"A request with 20 numbers, {level} in flight, {CALLS} of each route"
            console.print(plain_table(title, columns, await _measured(routes, level)))


async def add(request: Request) -> Mapping[str, Any]:
    """Answer in ACCP."""
    payload: Any = request.message.payload
    return {"total": sum(payload["amounts"])}


async def add_json(request: HttpRequest) -> JSONResponse:
    """Answer in JSON over HTTP."""
    return JSONResponse({"total": sum((await request.json())["amounts"])})


async def add_texts(socket: WebSocket) -> None:
    """Answer in JSON over WebSocket."""
    await socket.accept()
    try:
        while True:
            await socket.send_json({"total": sum((await socket.receive_json())["amounts"])})
    except WebSocketDisconnect:
        return


@asynccontextmanager
async def _served() -> AsyncIterator[int]:
    """Serve all routes; yield the port."""
    with listen_at("127.0.0.1", 0) as listening:
        async with SessionHost(add, agent_id="crm") as host:
            plain = [Route("/json", add_json, methods=["POST"]), WebSocketRoute("/texts", add_texts)]
            app = Starlette(routes=[*plain, Mount("/", accp_app(host))])
            server = http_server(app, header_seconds=10, websocket=WebSocketConnection)
            serving = asyncio.create_task(server.serve(sockets=[listening]))
            yield listening.getsockname()[1]
            server.should_exit = True
            await serving


async def _routes(stack: AsyncExitStack, port: int) -> Mapping[str, Ask]:
    client = await stack.enter_async_context(httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}"))
    socket = await stack.enter_async_context(websockets.connect(f"ws://127.0.0.1:{port}/texts"))
    turn = asyncio.Lock()
    sessions = {
        scheme: await stack.enter_async_context(connect(f"{scheme}://127.0.0.1:{port}", agent_id="ann"))
        for scheme in ("http", "ws")
    }

    async def over_socket() -> object:
        async with turn:  # plain JSON has nothing by which an answer finds its request
            await socket.send(json.dumps({"amounts": _AMOUNTS}))
            return json.loads(await socket.recv())

    return {
        "JSON, HTTP": lambda: client.post("/json", json={"amounts": _AMOUNTS}),
        "ACCP, HTTP": lambda: sessions["http"].request(_QUESTION),
        "JSON, WebSocket": over_socket,
        "ACCP, WebSocket": lambda: sessions["ws"].request(_QUESTION),
    }


async def _measured(routes: Mapping[str, Ask], level: int) -> list[tuple[str, str, str, str]]:
    """Return the name of each route, its p50 and p99, and how many times the p50 of plain JSON it takes."""
    times: dict[str, list[float]] = {name: [] for name in routes}
    for round_number in range(_ROUNDS + 1):
        for name, ask in routes.items():
            taken = await _ask_all(ask, level, CALLS // _ROUNDS)
            # The first round warms up.
            times[name] += taken if round_number else []
    cuts = {name: statistics.quantiles(each, n=100, method="inclusive") for name, each in times.items()}
    base = {name: cuts[name.replace("ACCP", "JSON")][49] for name in cuts}
    return [(name, _ms(cut[49]), _ms(cut[98]), f"{cut[49] / base[name]:.2f}") for name, cut in cuts.items()]


async def _ask_all(ask: Ask, level: int, count: int) -> list[float]:
    waiting, taken = iter(range(count)), list[float]()

    async def ask_in_turn() -> None:
        for _ in waiting:
            start = time.perf_counter()
            await ask()
            taken.append(time.perf_counter() - start)

    await asyncio.gather(*(ask_in_turn() for _ in range(level)))
    return taken


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.1f}"
