"""Agents that take contexts, and how they are served."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from accp_adapters.a2a import ContextExecutor, GrantedReferences
from accp_adapters.stores import SqliteColdStore
from accp_core.aci import (
    AgentContext,
    AgentReply,
    ItemAnswer,
    Outcome,
    scope_of,
    todo,
    with_answers,
)
from tests.adapters.a2a.serve import Served, Wrap, always, serve

LONG = "\n".join(f"ORD-{7000 + n}: {n * 37} EUR, open since {n} days" for n in range(120))


def a_context(**more: Any) -> AgentContext:
    """Return the context of one subtask."""
    fields: dict[str, Any] = {"agent_id": "crm", "subtask_id": "s1", "subtask_name": "Find open orders"}
    return AgentContext(**{**fields, "todo_items": todo("List them", "Sum them up"), **more})


async def worker(context: AgentContext, references: GrantedReferences) -> AgentContext:
    """Do all items in few words."""
    return with_answers(
        context, {item.item_id: ItemAnswer(Outcome.DONE, f"did {item.item_id}") for item in context.todo_items}
    )


@asynccontextmanager
async def served(agent: Any = worker, wrap: Wrap = always, **options: Any) -> AsyncIterator[Served]:
    """Serve an agent that takes contexts."""
    async with serve(wrap, executor=ContextExecutor(agent, agent_id="crm", **options)) as running:
        yield running


async def opener(context: AgentContext, references: GrantedReferences) -> str:
    """Open all that is granted, one after the other, and say what was there."""
    texts = [await references.open(uri.replace("accp://cold/", "$cold.")) for uri in context.context_uri]
    return f"1: {'; '.join(texts)}\n2: {len(texts)} texts"


def master_store(**texts: str) -> Callable[[str], str | None]:
    """Return what opens references of a master's store."""
    store = SqliteColdStore()
    for name, text in texts.items():
        store.put(scope_of("t1"), f"cold.{name}", text)
    return lambda key: store.get(scope_of("t1"), key)


async def lister(context: AgentContext, references: GrantedReferences) -> AgentReply:
    """Give a result that is no abstract."""
    short = with_answers(
        context, {"1": ItemAnswer(Outcome.DONE, "120 orders"), "2": ItemAnswer(Outcome.DONE, "264,180 EUR")}
    )
    return AgentReply(context=short, full={"1": LONG})
