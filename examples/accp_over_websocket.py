"""An agent asks another one over a network: a server and a client of ACCP, over WebSocket and HTTP."""

import asyncio
import socket
from collections.abc import AsyncIterator, Mapping
from typing import Any

import uvicorn

from accp_adapters.bindings import BearerTokens, Principal, Request, SessionHost, accp_app, connect
from accp_core.accp import Intent, Message

TOKEN = "a-long-random-token"


async def crm(request: Request) -> Mapping[str, Any] | AsyncIterator[Mapping[str, Any]]:
    payload: Any = request.message.payload
    return count(payload["to"]) if request.message.operation == "count" else {"total": sum(payload["amounts"])}


async def count(to: int) -> AsyncIterator[Mapping[str, Any]]:
    for number in range(to):
        yield {"data": f"{number} "}


async def main() -> None:
    tokens = BearerTokens({TOKEN: Principal("ann", frozenset({"ann"}))})
    with socket.create_server(("127.0.0.1", 0)) as listening:
        async with SessionHost(crm, agent_id="crm") as host:
            app = accp_app(host, authenticate=tokens)
            server = uvicorn.Server(uvicorn.Config(app, lifespan="off", log_level="warning"))
            serving = asyncio.create_task(server.serve(sockets=[listening]))
            for scheme in ("ws", "http"):
                await ask(f"{scheme}://127.0.0.1:{listening.getsockname()[1]}")
            server.should_exit = True
            await serving


async def ask(url: str) -> None:
    async with connect(url, token=TOKEN, agent_id="ann") as session:
        amounts = Message(sender="ann", intent=Intent.REQUEST, operation="add", payload={"amounts": [3, 4]})
        answer = await session.request(amounts)
        assert (answer.sender, answer.payload["total"]) == ("crm", 7)
        numbers = Message(sender="ann", intent=Intent.REQUEST, operation="count", payload={"to": 3})
        parts = [part.payload["data"] async for part in session.stream(numbers)]
        assert parts == ["0 ", "1 ", "2 ", ""]


if __name__ == "__main__":
    asyncio.run(main())
