"""A2A: a remote agent gets one AgentContext and returns it; it opens a reference only if the context grants it."""

import asyncio
from contextlib import suppress
from dataclasses import replace

from a2a.client import ClientConfig
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore
from a2a.types import AgentCard, AgentInterface
from httpx import ASGITransport, AsyncClient
from starlette.applications import Starlette

from accp_adapters.a2a import AccpRequestHandler, ContextExecutor, GrantedTexts, RemoteAgent, declare
from accp_core.aci import AgentContext, todo
from accp_core.errors import ProtocolError
from accp_core.references import StoredText

ORDERS = StoredText.of("Haas AG 820.44\nBerg GmbH 214.37\nLind AB 745.81")
SALARIES = StoredText.of("Haas 90,000")
STORE = {stored.key: stored.text for stored in (ORDERS, SALARIES)}
"""The master's store; an agent may open in it what its context grants, and nothing else."""


async def ranker(context: AgentContext, granted: GrantedTexts) -> str:
    """The agent: a function here, but usually a LangGraph agent whose model reads `brief(context)`."""
    if "salaries" in context.subtask_name:
        return granted.open(SALARIES.reference)
    lines = granted.open(ORDERS.reference).splitlines()
    return f"done: {max(lines, key=lambda line: float(line.split()[-1]))}"


async def main() -> None:
    here = AgentInterface(protocol_binding="JSONRPC", url="http://ranker/", protocol_version="1.0")
    modes = {"default_input_modes": ["text/plain"], "default_output_modes": ["text/plain"]}
    card = AgentCard(name="ranker", description="Ranks", version="1", supported_interfaces=[here], **modes)
    card.skills.add(id="ranker", name="ranker", description="Ranks", tags=["example"])
    card = declare(card)
    executor = ContextExecutor(ranker, agent_id="ranker")
    handler = AccpRequestHandler(DefaultRequestHandler(executor, InMemoryTaskStore(), card))
    app = Starlette(routes=create_jsonrpc_routes(handler, "/"))
    context = AgentContext(
        agent_id="ranker",
        subtask_id="s2",
        subtask_name="largest customer",
        context_uri=(ORDERS.reference,),
        todo_items=todo("Name the customer with the largest order"),
    )
    async with AsyncClient(transport=ASGITransport(app)) as http:
        config = ClientConfig(httpx_client=http, streaming=False)
        agent = RemoteAgent(card, agent_id="ranker", fetch=STORE.get, config=config)
        reply = await agent(context)
        assert reply.context.states == {"1": 1}
        assert reply.context.abstracts == {"1": "Haas AG 820.44"}
        with suppress(ProtocolError):  # E5002: expected a reference to a text that this conversation still has
            raise AssertionError(await agent(replace(context, subtask_name="salaries")))


asyncio.run(main())
