"""Two agents over ACP: a server by WebSocket, HTTP and TCP at once, one client for all, and ACCP frames as parts.

The server here is uvicorn in this process; `acp_app` is an ASGI application that any server runs or any other
application mounts.
"""

import asyncio
from contextlib import asynccontextmanager
from dataclasses import replace

import uvicorn

from accp_adapters.bindings import BearerTokens, Principal
from accp_adapters.bindings.acp import AcpHost, acp_app, acp_connect, serve_tcp
from accp_core import Frame, parse_frame, serialize_frame
from accp_core.accp import Intent
from accp_core.acp import AgentCard, TextPart
from accp_core.bridges.accp_in_acp import CarriedKind, read_parts, text_to_part

TOKEN = "tok_ba366fcab78d4d61"


class Accountant:
    """Answers words by words, and a frame that asks for a balance by a frame."""

    card = AgentCard(name="accountant", description="Knows balances")

    async def handle(self, message, peer):
        for text in read_parts(message, CarriedKind.FRAME):
            asked = parse_frame(text)
            answer = replace(asked, sender="us", intent=Intent.COMPLETE, params={**asked.params, "balance": 120})
            return text_to_part(CarriedKind.FRAME, serialize_frame(answer))
        return f"{peer.name} said {message.parts[0].content}"


@asynccontextmanager
async def serving(app):
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error", lifespan="off"))
    task = asyncio.create_task(server._serve())
    while not server.started:
        await asyncio.sleep(0.01)
    yield server.servers[0].sockets[0].getsockname()[1]
    server.should_exit = server.force_exit = True
    await task


async def main():
    host = AcpHost(Accountant(), authenticate=BearerTokens({TOKEN: Principal("ann")}))
    async with serving(acp_app(host)) as port, serve_tcp(host) as tcp_port:
        for address in (f"acp://127.0.0.1:{port}/{TOKEN}", f"http://127.0.0.1:{port}", f"tcp://127.0.0.1:{tcp_port}"):
            async with acp_connect(address, token=TOKEN) as session:
                assert await session.request("hello") == (TextPart(content="ann said hello"),)
                asked = Frame(sender="ann", intent=Intent.REQUEST, operation="get_balance", params={"of": "ACME"})
                (part,) = await session.request(text_to_part(CarriedKind.FRAME, serialize_frame(asked)))
                assert parse_frame(part.content).params == {"balance": 120, "of": "ACME"}
                print(f"{address.partition(':')[0]:5} {part.content}")


asyncio.run(main())
