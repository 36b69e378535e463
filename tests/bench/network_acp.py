"""The bindings of ACP and plain JSON over the same carriers, for `network`; as a program, an agent on a pipe.

`python -m tests.bench.network_acp` speaks binding B on standard input and output, with the argument `plain` one line of
JSON for each line of JSON.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any, Final, TypeAlias

from starlette.types import ASGIApp

from accp_adapters.bindings.acp import (
    AcpHost,
    AcpSession,
    acp_app,
    acp_connect,
    relay_app,
    serve_relay,
    serve_stdio,
    serve_tcp,
)
from accp_adapters.bindings.identity import BearerTokens, Principal
from accp_core.acp import AcpMessage, AgentCard, TextPart

__all__ = ["BASES", "acp_routes"]

Ask: TypeAlias = Callable[[], Awaitable[object]]

QUESTION: Final = json.dumps({"amounts": list(range(20))})
TOKENS: Final = {each: f"tok_ba366fcab78d4d6{each}" for each in "acde"}
"""Binding to the token of its guest; of one principal, the last connection counts."""
BASES: Final[Mapping[str, str]] = {
    "ACP A, WebSocket": "JSON, WebSocket",
    "ACP B, stdio": "JSON, stdio",
    "ACP C, relay": "JSON, WebSocket",
    "ACP D, HTTP and SSE": "JSON, HTTP",
    "ACP E, TCP": "JSON, TCP",
}
"""Route to the plain JSON that it is compared with; a relay has none of its own."""


def total(question: str) -> str:
    """Return the JSON answer to a JSON question."""
    return json.dumps({"total": sum(json.loads(question)["amounts"])})


class Adder:
    """Adds numbers; the agent of every binding."""

    def __init__(self) -> None:
        """Create the agent with its card."""
        self.card = AgentCard(name="Adder")

    async def handle(self, message: AcpMessage, peer: AcpSession) -> str:
        """Answer a question."""
        return total("".join(part.content for part in message.parts if isinstance(part, TextPart)))


@asynccontextmanager
async def acp_routes(serve: Callable[[ASGIApp], Any]) -> AsyncIterator[Mapping[str, Ask]]:
    """Serve an agent over every binding, and plain JSON on a pipe and a socket; yield how to ask each.

    Args:
        serve: Returns the context of a server of an ASGI application, which yields its port.
    """
    host = AcpHost(
        Adder(), authenticate=BearerTokens({token: Principal(f"ann_{each}") for each, token in TOKENS.items()})
    )
    async with AsyncExitStack() as stack:
        port = await stack.enter_async_context(serve(acp_app(host)))
        tcp = await stack.enter_async_context(serve_tcp(host))
        relay = await stack.enter_async_context(serve(relay_app()))
        room = f"acp+ws://127.0.0.1:{relay}/acp/{TOKENS['c']}"
        await stack.enter_async_context(_in_room(host, room))
        addresses: dict[str, Any] = {
            "ACP A, WebSocket": f"acp://127.0.0.1:{port}/{TOKENS['a']}",
            "ACP B, stdio": [sys.executable, "-m", "tests.bench.network_acp"],
            "ACP C, relay": room,
            "ACP D, HTTP and SSE": f"http://127.0.0.1:{port}",
            "ACP E, TCP": f"tcp://127.0.0.1:{tcp}",
        }
        routes: dict[str, Ask] = {
            "JSON, stdio": await stack.enter_async_context(_plain_pipe()),
            "JSON, TCP": await stack.enter_async_context(_plain_socket()),
        }
        for name, address in addresses.items():
            token = TOKENS.get(name[len("ACP ")].lower(), "")
            session = await stack.enter_async_context(acp_connect(address, token=token))
            routes[name] = _asking(session)
        yield routes


def _asking(session: AcpSession) -> Ask:
    return lambda: session.request(QUESTION)


@asynccontextmanager
async def _in_room(host: AcpHost, room: str) -> AsyncIterator[None]:
    task = asyncio.create_task(serve_relay(host, room))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@asynccontextmanager
async def _plain_pipe() -> AsyncIterator[Ask]:
    words = (sys.executable, "-m", "tests.bench.network_acp", "plain")
    process = await asyncio.create_subprocess_exec(
        *words, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield _in_turn(process.stdout, process.stdin)
    finally:
        process.stdin.close()
        await process.wait()


@asynccontextmanager
async def _plain_socket() -> AsyncIterator[Ask]:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while line := await reader.readline():
                writer.write(f"{total(line.decode())}\n".encode())
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        yield _in_turn(reader, writer)
        writer.close()
        await writer.wait_closed()


def _in_turn(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Ask:
    """Return how to ask; plain JSON has nothing by which an answer finds its request."""
    turn = asyncio.Lock()

    async def ask() -> object:
        async with turn:
            writer.write(f"{QUESTION}\n".encode())
            return json.loads(await reader.readline())

    return ask


def main(words: list[str]) -> None:
    """Answer on standard input and output."""
    if words != ["plain"]:
        asyncio.run(serve_stdio(Adder()))
        return
    for line in sys.stdin:
        print(total(line), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
