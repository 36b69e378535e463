"""A2A: an agent elsewhere gets one AgentContext and returns it; a reference opens only where it was granted."""

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

from accp_adapters.a2a import AccpRequestHandler, ContextExecutor, GrantedReferences, RemoteAgent, declare
from accp_core.aci import AgentContext, todo
from accp_core.errors import ProtocolError

STORE = {"cold.c9523506b4bd": "Haas AG 820.44\nBerg GmbH 214.37\nLind AB 745.81", "cold.000000000000": "salaries"}
"""The master's store: what it opens for an agent is what the agent's context grants, and nothing else."""


async def ranker(context: AgentContext, references: GrantedReferences) -> str:
    """The agent: a function here, a LangGraph agent elsewhere; `brief(context)` is what its model would read."""
    if "salaries" in context.subtask_name:
        return await references.open("$cold.000000000000")
    lines = (await references.open("$cold.c9523506b4bd")).splitlines()
    return max(lines, key=lambda line: float(line.split()[-1]))


async def main() -> None:
    here = AgentInterface(protocol_binding="JSONRPC", url="http://ranker/", protocol_version="1.0")
    modes = ["text/plain"]
    card = AgentCard(
        name="ranker", description="Ranks", version="1", default_input_modes=modes, default_output_modes=modes
    )
    card.supported_interfaces.append(here)
    card.skills.add(id="ranker", name="ranker", description="Ranks", tags=["example"])
    card = declare(card)
    executor = ContextExecutor(ranker, agent_id="ranker")
    handler = AccpRequestHandler(DefaultRequestHandler(executor, InMemoryTaskStore(), card))
    app = Starlette(routes=create_jsonrpc_routes(handler, "/"))
    context = AgentContext(
        agent_id="ranker",
        subtask_id="s2",
        subtask_name="largest customer",
        context_uri=("$cold.c9523506b4bd",),
        todo_items=todo("Name the customer with the largest order"),
    )
    async with AsyncClient(transport=ASGITransport(app)) as http:
        config = ClientConfig(httpx_client=http, streaming=False)
        agent = RemoteAgent(card, agent_id="ranker", fetch=STORE.get, config=config)
        reply = await agent(context)
        assert reply.context.states == {"1": 1}
        assert reply.context.abstracts == {"1": "Haas AG 820.44"}
        with suppress(ProtocolError):  # E5002: expected a reference that the AgentContext grants
            raise AssertionError(await agent(replace(context, subtask_name="salaries")))


asyncio.run(main())
