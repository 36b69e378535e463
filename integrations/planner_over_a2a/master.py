"""The master in two ways: a LangGraph graph that delivers contexts, and a supervisor that sends everything to all."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from a2a.client import ClientConfig, create_client
from a2a.helpers import new_text_part
from a2a.types import Message, Role, SendMessageRequest
from google.protobuf.json_format import MessageToDict
from httpx import AsyncClient
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from models import QUESTION, Scripted, call, last

from accp_adapters.a2a import RemoteAgent
from accp_adapters.langgraph import begin, master_graph, read_results
from accp_adapters.stores import SqliteColdStore
from accp_adapters.tokens import o200k_base
from accp_core import render
from accp_core.aci import AgentContext, TaskContext, todo
from accp_core.strict_json import compact_json

PROMPT = "You plan work for two agents: support knows the tickets, analyst ranks customers."
THREAD = "planner"
PATIENCE = 900.0
"""Seconds that an agent may take to start or to answer: long enough for a busy machine."""


async def with_contexts(urls: Mapping[str, str], log: Path) -> str:
    """Do the job with contexts and return the answer: plan, deliver, evaluate, report."""
    model = Scripted(
        name="master",
        log=log,
        steps=[lambda _: AIMessage("1 support: list overdue P1 tickets; 2 analyst: rank the customers"), report_step],
    )
    store = SqliteColdStore()

    async def plan(state: Any) -> dict[str, Any]:
        await model.ainvoke([SystemMessage(PROMPT), HumanMessage(QUESTION)])
        return begin(TaskContext(task_id=THREAD, user_query=QUESTION), subtasks())

    async def report(state: Any) -> dict[str, Any]:
        results = render(read_results(state), counter=o200k_base())
        answer = await model.ainvoke([SystemMessage(PROMPT), HumanMessage(f"{QUESTION}\n{results}")])
        return {"aci_progress": {"answer": answer.text}}

    def fetch(key: str) -> str | None:
        return store.get(THREAD, key)

    agents = {name: RemoteAgent(url, agent_id=name, fetch=fetch, timeout=PATIENCE) for name, url in urls.items()}
    graph = master_graph(agents, plan=plan, report=report, store=store).compile()
    done = await graph.ainvoke({}, {"configurable": {"thread_id": THREAD}})
    return str(done["aci_progress"]["answer"])


def subtasks() -> list[AgentContext]:
    """Return the plan: support lists the tickets, and the analyst ranks the customers in that list."""
    listing = AgentContext(
        agent_id="support",
        subtask_id="s1",
        subtask_name="overdue tickets",
        todo_items=todo("List the open P1 tickets that are overdue, with customer and revenue"),
    )
    ranking = AgentContext(
        agent_id="analyst",
        subtask_id="s2",
        subtask_name="whom to call",
        dependencies=("s1",),
        todo_items=todo("Rank the customers by days overdue; open the list in refs"),
    )
    return [listing, ranking]


def report_step(messages: Any) -> AIMessage:
    """Answer with the analyst's result."""
    found = re.search(r"Call .*? tickets\.", last(messages))
    assert found is not None
    return AIMessage(found[0])


async def with_everything(urls: Mapping[str, str], log: Path) -> str:
    """Do the job as supervisors usually do: send the whole conversation, put the whole task back into it."""
    model = Scripted(
        name="master",
        log=log,
        steps=[
            lambda _: call("ask_support"),
            lambda _: call("ask_analyst"),
            lambda turns: AIMessage(rank_of(turns)),
        ],
    )
    conversation: list[Any] = [SystemMessage(PROMPT), HumanMessage(QUESTION)]
    for name in ("support", "analyst"):
        turn = await model.ainvoke(conversation)
        words = "\n".join(f"{message.type}: {message.text}" for message in conversation)
        task = await send(urls[name], f"Previous conversation:\n{words}")
        content = compact_json(MessageToDict(task))
        conversation += [turn, ToolMessage(content, tool_call_id=f"call-ask_{name}")]
    return str((await model.ainvoke(conversation)).text)


def rank_of(conversation: Any) -> str:
    """Return the ranking in the task that came last."""
    task = json.loads(last(conversation))
    return str(task["artifacts"][0]["parts"][0]["text"])


async def send(url: str, words: str) -> Any:
    """Send `words` to a plain agent and return the task with its answer."""
    message = Message(message_id=f"m-{len(words)}", role=Role.ROLE_USER, parts=[new_text_part(words)])
    async with AsyncClient(timeout=PATIENCE) as http:
        client = await create_client(url, ClientConfig(streaming=False, httpx_client=http))
        (response,) = [each async for each in client.send_message(SendMessageRequest(message=message))]
    return response.task
