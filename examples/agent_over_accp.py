"""ACCP: `connect` sends one AgentContext to an agent behind `accp_app`, whose handler returns it (ACI section 5.3)."""

import asyncio
import socket
from contextlib import asynccontextmanager

import uvicorn

from accp_adapters.bindings import Request, SessionHost, accp_app, connect
from accp_core.accp import Message
from accp_core.aci import AcceptedReply, AgentContext, reply_from_words, todo
from accp_core.bridges.aci_in_accp import completion_message, delivery_message, read_context


async def rank(request: Request) -> Message:
    """The agent: words here, but usually a LangGraph agent whose model reads `brief(context)`."""
    context, _ = read_context(request.message)
    reply = reply_from_words(context, f"done: {max(context.context, key=lambda row: float(row.split()[-1]))}").context
    return completion_message(reply, sent=context, sender="ranker", correlation_id="")


@asynccontextmanager
async def served(app):
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
    serving = asyncio.create_task(server.serve([listener]))
    try:
        yield f"ws://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        await serving


async def main() -> None:
    rows = ("Haas AG 820.44", "Berg GmbH 214.37", "Lind AB 745.81")
    items = todo("Name the customer with the largest order")
    orders = AgentContext(agent_id="ranker", subtask_id="s2", subtask_name="largest", context=rows, todo_items=items)
    async with served(accp_app(SessionHost(rank))) as url, connect(url, agent_id="master") as session:
        answer = await session.request(delivery_message(orders, sender="", correlation_id="d1"))
    reply = AcceptedReply.of(orders, read_context(answer)[0])
    assert reply.context.abstracts == {"1": "Haas AG 820.44"}


asyncio.run(main())
