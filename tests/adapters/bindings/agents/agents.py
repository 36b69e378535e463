"""Agents that take contexts, and how they are served over ACCP."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from accp_adapters.backoff import Backoff
from accp_adapters.bindings.accp.connect import ClientOptions
from accp_adapters.bindings.agents import AccpWire, GrantedReferences, RemoteAgent, serve_contexts
from accp_core.accp import Codec
from accp_core.aci import AgentContext, AgentReply, ItemAnswer, Outcome, todo, with_answers
from accp_core.references import StoredText
from tests.adapters.bindings.accp.serving import serving
from tests.adapters.bindings.hosts.agents import CODEC, count_characters

ORDERS = StoredText.of("\n".join(f"ORD-{7000 + n}: {n * 37} EUR, open since {n} days" for n in range(120)))
SALARIES = StoredText.of("Haas 90,000")
STORE = {stored.key: stored.text for stored in (ORDERS, SALARIES)}


def a_context(**more: Any) -> AgentContext:
    """Return the context of one subtask."""
    fields: dict[str, Any] = {"agent_id": "crm", "subtask_id": "s1", "subtask_name": "Find open orders"}
    return AgentContext(**{**fields, "todo_items": todo("List them", "Sum them up"), **more})


def with_done(context: AgentContext) -> AgentContext:
    """Return the context with all items done in few words."""
    return with_answers(
        context, {item.item_id: ItemAnswer(Outcome.DONE, f"did {item.item_id}") for item in context.todo_items}
    )


async def worker(context: AgentContext, _: GrantedReferences) -> AgentContext:
    """Do all items."""
    return with_done(context)


async def opener(context: AgentContext, references: GrantedReferences) -> str:
    """Open all that is granted, and say how long it is."""
    texts = [await references.open(uri) for uri in context.context_uri]
    return f"1: {sum(map(len, texts))} characters\n2: {len(texts)} texts"


async def lister(context: AgentContext, _: GrantedReferences) -> AgentReply:
    """Give a result that is no abstract."""
    return AgentReply(context=with_done(context), full={"1": ORDERS.text})


@asynccontextmanager
async def served(
    agent: Any = worker, *, host: dict[str, Any] | None = None, codec: Codec = CODEC, **options: Any
) -> AsyncIterator[str]:
    """Serve an agent that takes contexts; yield host and port."""
    handler = serve_contexts(agent, agent_id="crm", counter=count_characters, **options)
    async with serving(handler, codec=codec, **(host or {})) as address:
        yield address


def remote(address: str, scheme: str = "ws", **options: Any) -> RemoteAgent:
    """Return the agent at an address."""
    quick = ClientOptions(backoff=Backoff(first=0.01, longest=0.1))
    given = {"codec": CODEC, "options": quick} | {
        name: options.pop(name) for name in {"codec", "token"} & options.keys()
    }
    wire = AccpWire(f"{scheme}://{address}", **given)
    return RemoteAgent(wire, **({"agent_id": "crm", "fetch": STORE.get} | options))
