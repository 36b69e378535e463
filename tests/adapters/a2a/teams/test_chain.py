"""Three agents, each a server, in a chain: each gets one context, and references open through the masters between."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest
from a2a.client import ClientConfig

from accp_adapters.a2a import A2aWire, ContextExecutor, GrantedReferences, RemoteAgent
from accp_core.aci import AgentContext, AgentReply, Outcome, todo, with_answers
from accp_core.aci import ItemAnswer as Answer
from accp_core.errors import ProtocolError
from accp_core.references import StoredText
from tests.adapters.a2a.calls import Recorder
from tests.adapters.a2a.serve import Served, negotiating, serve

ORDERS = StoredText.of(json.dumps([{"id": n, "customer": f"customer-{n}", "open": n % 9 == 0} for n in range(300)]))
PLANS = StoredText.of("the plans of the board")
STORE = {stored.key: stored.text for stored in (ORDERS, PLANS)}
OPEN = "SELECT customer FROM rows WHERE open = 1"


def context_of(agent: str, task: str, *references: str) -> AgentContext:
    """Return the context of one agent of the chain."""
    names: dict[str, Any] = {"agent_id": agent, "subtask_id": f"s-{agent}", "subtask_name": task}
    return AgentContext(**names, todo_items=todo("List them"), context_uri=references)


@asynccontextmanager
async def chain(last: Any) -> AsyncIterator[tuple[list[Served], list[Recorder]]]:
    """Start the agents "one", "two" and "three"; the first two deliver to the next, the third runs `last`."""
    async with AsyncExitStack() as stack:
        wires = [await stack.enter_async_context(Recorder()) for _ in range(3)]
        three = await stack.enter_async_context(serve(negotiating, executor=ContextExecutor(last, agent_id="three")))
        agents = [three]
        for name, following, wire in (("two", "three", wires[2]), ("one", "two", wires[1])):
            agent = middle(agents[0], following, wire)
            running = serve(negotiating, executor=ContextExecutor(agent, agent_id=name))
            agents.insert(0, await stack.enter_async_context(running))
        yield agents, wires


def middle(served: Served, following: str, wire: Recorder) -> Any:
    """Return an agent that delivers its own subtask to the next one, with the references that it was granted."""

    async def run(context: AgentContext, references: GrantedReferences) -> AgentReply:
        config = ClientConfig(httpx_client=wire)
        remote = RemoteAgent(A2aWire(served.card, config=config), agent_id=following, fetch=references)
        reply = await remote(context_of(following, f"part of {context.subtask_name}", *context.context_uri))
        answers = {item: Answer(Outcome.DONE, words) for item, words in reply.context.abstracts.items()}
        return AgentReply(context=with_answers(context, answers), full=reply.full)

    return run


async def test_contexts_and_references_cross_a_chain_of_three_agents() -> None:
    async def clerk(context: AgentContext, references: GrantedReferences) -> AgentReply:
        found = await references.query(ORDERS.reference, OPEN, limit=2)
        whole = await references.open(ORDERS.reference)
        assert whole == ORDERS.text
        done = with_answers(context, {"1": Answer(Outcome.DONE, found)})
        return AgentReply(context=done, full={"1": f"{found}\n{whole}"})

    async with chain(clerk) as (agents, wires):
        config = ClientConfig(httpx_client=wires[0])
        master = RemoteAgent(A2aWire(agents[0].card, config=config), agent_id="one", fetch=STORE.get)
        reply = await master(context_of("one", "open orders", ORDERS.reference))
    assert reply.context.states == {"1": 1}
    (full,) = reply.full.values()
    assert full.startswith("[2] customer\ncustomer-0\ncustomer-9\n") and full.endswith(ORDERS.text)
    tasks = [" ".join(wire.asked) for wire in wires]
    assert "part of part of open orders" in tasks[2].replace("_", " ")
    assert "part of part of" not in tasks[1].replace("_", " ")


async def test_a_query_goes_up_the_chain_and_only_its_answer_comes_down() -> None:
    async def clerk(context: AgentContext, references: GrantedReferences) -> str:
        return f"1: {await references.query(ORDERS.reference, 'SELECT count(*) FROM rows WHERE open = 1')}"

    async with chain(clerk) as (agents, wires):
        config = ClientConfig(httpx_client=wires[0])
        master = RemoteAgent(A2aWire(agents[0].card, config=config), agent_id="one", fetch=STORE.get)
        reply = await master(context_of("one", "open orders", ORDERS.reference))
    assert reply.context.abstracts == {"1": "count(*) 34"}
    assert all("customer-" not in body for wire in wires for body in (*wire.asked, *wire.answered))


async def test_no_agent_of_a_chain_opens_what_its_own_context_does_not_grant() -> None:
    async def thief(context: AgentContext, references: GrantedReferences) -> str:
        return await references.query(PLANS.reference)

    async with chain(thief) as (agents, wires):
        config = ClientConfig(httpx_client=wires[0])
        master = RemoteAgent(A2aWire(agents[0].card, config=config), agent_id="one", fetch=STORE.get)
        with pytest.raises(ProtocolError, match="E5002"):
            await master(context_of("one", "open orders", ORDERS.reference))
    assert all(PLANS.text not in body for wire in wires for body in (*wire.asked, *wire.answered))
