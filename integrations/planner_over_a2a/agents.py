"""The two remote agents, each a process of its own: LangGraph agents behind an A2A server.

    python agents.py support|analyst --way contexts|plain --log FILE

"support" calls the tool of the MCP server; "analyst" ranks the customers in support's result. With `--way contexts` an
agent takes an AgentContext and returns it; with `--way plain` it is an ordinary A2A agent that gets all of it as words.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path
from typing import Any

import uvicorn
from a2a.helpers import new_text_part
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill, Task, TaskState, TaskStatus
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.tools import BaseTool, tool
from mcp import Client, StdioServerParameters, stdio_client
from models import Scripted, call, last, list_overdue, rank
from starlette.applications import Starlette

from accp_adapters.a2a import AccpRequestHandler, ContextExecutor, GrantedTexts, declare
from accp_adapters.langgraph import AccpMiddleware, Policy
from accp_adapters.tokens import o200k_base
from accp_core.aci import AgentContext, brief

HERE = Path(__file__).resolve().parent


# --- what the agents do -----------------------------------------------------------------------------------------------


@asynccontextmanager
async def service_desk() -> AsyncIterator[BaseTool]:
    """Start the MCP server and yield its tool."""
    server = StdioServerParameters(command=sys.executable, args=[str(HERE / "service_desk.py")])
    # mcp 2.0 takes a transport only; parameters, from 2.1 on.
    async with Client(stdio_client(server)) as client:

        @tool
        async def list_tickets(priority: str, state: str) -> str:
            """Return the tickets of a priority (P1, P2, P3) in a state (open, closed)."""
            result = await client.call_tool("list_tickets", {"priority": priority, "state": state})
            return "".join(block.text for block in result.content if block.type == "text")

        yield list_tickets


def support_model(log: Path) -> Scripted:
    """Return a model that looks the tickets up, then lists those that are overdue."""
    return Scripted(
        name="support", log=log, steps=[lambda _: call("list_tickets", priority="P1", state="open"), list_overdue]
    )


def opening_model(log: Path) -> Scripted:
    """Return a model that opens the reference in its task, then ranks the tickets behind it."""

    def open_it(messages: list[BaseMessage]) -> AIMessage:
        reference = re.search(r"refs.*?(\$cold\.\w+)", last(messages), re.DOTALL)
        return call("open_reference", ref=reference[1] if reference else "none")

    return Scripted(name="analyst", log=log, steps=[open_it, lambda messages: AIMessage(rank(last(messages)))])


def conversation_model(log: Path) -> Scripted:
    """Return a model that ranks the tickets in the conversation."""
    return Scripted(name="analyst", log=log, steps=[lambda messages: AIMessage(rank(last(messages)))])


async def answer(agent: Any, words: str) -> str:
    """Return the agent's answer to `words`."""
    result = await agent.ainvoke({"messages": [("user", words)]})
    return str(result["messages"][-1].text)


# --- the agents behind A2A --------------------------------------------------------------------------------------------


def with_contexts(name: str, log: Path, tools: list[BaseTool]) -> AgentExecutor:
    """Return the executor of an agent that takes contexts."""
    model = support_model(log) if name == "support" else opening_model(log)

    async def run(context: AgentContext, granted: GrantedTexts) -> str:
        @tool
        async def open_reference(ref: str) -> str:
            """Return the text behind a $cold reference of the task."""
            return granted.open(ref)

        own = tools or [open_reference]
        # The model needs the whole text behind the reference, also the lines that the abstract showed already.
        whole = Policy(tools={} if tools else {"open_reference": "as_is"})
        agent = create_agent(model, own, middleware=[AccpMiddleware(whole)])
        return f"done: {await answer(agent, brief(context, counter=o200k_base()))}"

    return ContextExecutor(run, agent_id=name)


class PlainExecutor(AgentExecutor):
    """An ordinary agent: it gets the whole conversation, and answers with an artifact."""

    def __init__(self, name: str, log: Path, tools: list[BaseTool]) -> None:
        """Serve the agent called `name`."""
        self._agent = create_agent(support_model(log) if name == "support" else conversation_model(log), tools)

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Answer the words of the message."""
        assert context.task_id and context.context_id and context.message
        status = TaskStatus(state=TaskState.TASK_STATE_WORKING)
        task = Task(id=context.task_id, context_id=context.context_id, status=status, history=[context.message])
        await event_queue.enqueue_event(task)
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        await updater.add_artifact([new_text_part(await answer(self._agent, context.get_user_input()))])
        await updater.complete()

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Cancel the task."""
        await TaskUpdater(event_queue, context.task_id or "", context.context_id or "").cancel()


def card_of(name: str, url: str) -> AgentCard:
    """Return the card of an agent."""
    return AgentCard(
        name=name,
        description=f"The {name} agent of the example",
        version="1.0.0",
        supported_interfaces=[AgentInterface(protocol_binding="JSONRPC", url=url, protocol_version="1.0")],
        capabilities=AgentCapabilities(streaming=True),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[AgentSkill(id=name, name=name, description=name, tags=["example"])],
    )


async def serve(name: str, way: str, log: Path) -> None:
    """Serve until the process is terminated; the first line of its output is its URL."""
    async with service_desk() if name == "support" else nullcontext() as desk:
        tools = [desk] if desk else []
        takes_contexts = way == "contexts"
        executor = with_contexts(name, log, tools) if takes_contexts else PlainExecutor(name, log, tools)
        listener = socket.create_server(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        card = declare(card_of(name, url)) if takes_contexts else card_of(name, url)
        inner = DefaultRequestHandler(executor, InMemoryTaskStore(), card)
        handler = AccpRequestHandler(inner) if takes_contexts else inner
        routes = [*create_agent_card_routes(card), *create_jsonrpc_routes(handler, "/")]
        print(url, flush=True)
        config = uvicorn.Config(Starlette(routes=routes), log_level="error", timeout_graceful_shutdown=1)
        await uvicorn.Server(config).serve([listener])


def main() -> None:
    """Parse the command line and serve."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=["support", "analyst"])
    parser.add_argument("--way", choices=["contexts", "plain"], required=True)
    parser.add_argument("--log", type=Path, required=True)
    arguments = parser.parse_args()
    asyncio.run(serve(arguments.name, arguments.way, arguments.log))


if __name__ == "__main__":
    main()
