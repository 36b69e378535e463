"""What a request takes over a network: `python -m tests.bench network`.

A server on the loopback interface adds numbers; asked as plain JSON, as ACCP and over each binding of ACP, over the
same libraries, which adds the session, its log in memory and the frames. Servers and clients share one event loop, but
for the agents on a pipe, and the routes take turns, so that what else the machine does hits all of them.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Final, TypeAlias

import httpx2
import websockets
from rich.console import Console
from starlette.applications import Starlette
from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.types import ASGIApp
from starlette.websockets import WebSocket, WebSocketDisconnect

from accp_adapters.bindings import Request, SessionHost, accp_app, connect
from accp_adapters.bindings.accp.client_session import ClientSession
from accp_adapters.cli.output.terminal_tables import plain_table
from accp_adapters.serving.listening import http_server, listen_at
from accp_adapters.serving.websockets import WebSocketConnection
from accp_core.accp import Intent, Message
from tests.bench.network_acp import BASES, acp_routes
from tests.bench.network_stalls import LONG_TEXT, longest_stall

__all__ = ["main"]

Ask: TypeAlias = Callable[[], Awaitable[object]]

IN_FLIGHT: Final = (1, 16)
CALLS: Final = 160
"""Requests of each route at each level."""
LONG_ANSWERS: Final = 1
_ROUNDS: Final = 4
_AMOUNTS: Final = list(range(20))
_QUESTION: Final = Message(sender="ann", intent=Intent.REQUEST, operation="add", payload={"amounts": _AMOUNTS})


def main(calls: int = CALLS) -> None:
    """Print a table for each number of requests in flight, and the longest stall of the event loop."""
    asyncio.run(_print_tables(Console(width=100), calls))


async def _print_tables(console: Console, calls: int) -> None:
    columns = ("route", "p50 ms", "p99 ms", "p50 of its plain JSON", "messages/s")
    async with AsyncExitStack() as stack:
        sessions, routes = await _routes(stack, await stack.enter_async_context(_served()))
        for level in IN_FLIGHT:
            title = f"A request with 20 numbers, {level} in flight, {calls} of each route"
            console.print(plain_table(title, columns, await _measured(routes, level, calls)))
        stalls = [(f"ACCP, {name}", await longest_stall(session, LONG_ANSWERS)) for name, session in sessions.items()]
    rows = [(name, _ms(stall.worked), _ms(stall.elapsed)) for name, stall in stalls]
    title = f"The longest stall of the event loop while {len(LONG_TEXT):,} characters are answered"
    console.print(plain_table(title, ("route", "ms of processor time", "ms by the clock"), rows))


async def add(request: Request) -> Mapping[str, Any]:
    """Answer in ACCP."""
    payload: Any = request.message.payload
    if request.message.operation == "tell":
        return {"text": LONG_TEXT}
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
    """Serve ACCP and plain JSON; yield the port."""
    async with SessionHost(add, agent_id="crm") as host:
        plain = [Route("/json", add_json, methods=["POST"]), WebSocketRoute("/texts", add_texts)]
        async with serve(Starlette(routes=[*plain, Mount("/", accp_app(host))])) as port:
            yield port


@asynccontextmanager
async def serve(app: ASGIApp) -> AsyncIterator[int]:
    """Serve an application on the loopback interface; yield the port."""
    with listen_at("127.0.0.1", 0) as listening:
        server = http_server(app, header_seconds=10, websocket=WebSocketConnection)
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        try:
            yield listening.getsockname()[1]
        finally:
            server.should_exit = True
            await serving


async def _routes(stack: AsyncExitStack, port: int) -> tuple[Mapping[str, ClientSession], Mapping[str, Ask]]:
    """Return the sessions of ACCP, by what carries them, and how to ask each route."""
    client = await stack.enter_async_context(httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}"))
    socket = await stack.enter_async_context(websockets.connect(f"ws://127.0.0.1:{port}/texts"))
    turn = asyncio.Lock()
    sessions = {
        name: await stack.enter_async_context(connect(f"{scheme}://127.0.0.1:{port}", agent_id="ann"))
        for name, scheme in (("HTTP", "http"), ("WebSocket", "ws"))
    }

    async def over_socket() -> object:
        async with turn:  # plain JSON has nothing by which an answer finds its request
            await socket.send(json.dumps({"amounts": _AMOUNTS}))
            return json.loads(await socket.recv())

    return sessions, {
        "JSON, HTTP": lambda: client.post("/json", json={"amounts": _AMOUNTS}),
        "ACCP, HTTP": lambda: sessions["HTTP"].request(_QUESTION),
        "JSON, WebSocket": over_socket,
        "ACCP, WebSocket": lambda: sessions["WebSocket"].request(_QUESTION),
        **await stack.enter_async_context(acp_routes(serve)),
    }


async def _measured(routes: Mapping[str, Ask], level: int, calls: int) -> list[tuple[str, str, str, str, str]]:
    """Return the name of each route, its p50 and p99, how many times the p50 of plain JSON it takes, and its rate.

    Of the messages, two are a request and its answer; what acknowledges them, or polls for them, is not counted.
    """
    times: dict[str, list[float]] = {name: [] for name in routes}
    spent = dict.fromkeys(routes, 0.0)
    for round_number in range(_ROUNDS + 1):
        for name, ask in routes.items():
            start = time.perf_counter()
            taken = await _ask_all(ask, level, calls // _ROUNDS)
            if round_number:  # the first round warms up
                times[name] += taken
                spent[name] += time.perf_counter() - start
    cuts = {name: statistics.quantiles(each, n=100, method="inclusive") for name, each in times.items()}
    base = {name: cuts[BASES.get(name, name.replace("ACCP", "JSON"))][49] for name in cuts}
    return [
        (name, _ms(cut[49]), _ms(cut[98]), f"{cut[49] / base[name]:.2f}", f"{2 * len(times[name]) / spent[name]:,.0f}")
        for name, cut in cuts.items()
    ]


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
