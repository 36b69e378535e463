"""ACCP: an agent behind `accp serve` gets one AgentContext and returns it; it opens what the context grants."""

import asyncio
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from accp_adapters.bindings.agents import AccpWire, GrantedReferences, RemoteAgent, serve_contexts
from accp_core.aci import AgentContext, todo
from accp_core.errors import ProtocolError
from accp_core.references import StoredText

ORDERS = StoredText.of("Haas AG 820.44\nBerg GmbH 214.37\nLind AB 745.81")
SALARIES = StoredText.of("Haas 90,000")
STORE = {stored.key: stored.text for stored in (ORDERS, SALARIES)}
"""The master's store; an agent may open in it what its context grants, and nothing else."""


async def rank(context: AgentContext, references: GrantedReferences) -> str:
    """The agent: a function here, but usually a LangGraph agent whose model reads `brief(context)`."""
    if "salaries" in context.subtask_name:
        return await references.open(SALARIES.reference)
    lines = (await references.open(ORDERS.reference)).splitlines()
    return f"done: {max(lines, key=lambda line: float(line.split()[-1]))}"


ranker = serve_contexts(rank, agent_id="ranker")


async def main() -> None:
    folder, name = Path(__file__).parent, Path(__file__).stem
    command = [Path(sys.executable).with_name("accp"), "serve", f"{name}:ranker", "--http", "127.0.0.1:0"]
    server = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.PIPE, cwd=folder)
    try:
        assert server.stderr
        address = (await server.stderr.readline()).decode().split("//")[1].strip()
        await ask(f"ws://{address}")
    finally:
        server.terminate()
        await server.communicate()


async def ask(url: str) -> None:
    orders = AgentContext(
        agent_id="ranker",
        subtask_id="s2",
        subtask_name="largest customer",
        context_uri=(ORDERS.reference,),
        todo_items=todo("Name the customer with the largest order"),
    )
    agent = RemoteAgent(AccpWire(url), agent_id="ranker", fetch=STORE.get)
    assert (await agent(orders)).context.abstracts == {"1": "Haas AG 820.44"}
    with suppress(ProtocolError):  # E5002: expected a reference to a text that this conversation still has
        raise AssertionError(await agent(replace(orders, subtask_name="salaries")))


if __name__ == "__main__":
    asyncio.run(main())
