"""The mixed load: LangGraph threads, an MCP proxy, A2A tasks and ACCP sessions; each yields after every job."""

import asyncio
import json
import random
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from a2a.helpers import new_text_part
from a2a.server.context import ServerCallContext
from httpx import AsyncClient, Limits
from langchain.agents import create_agent
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.checkpoint.sqlite import SqliteSaver

from accp_adapters.bindings.accp.app import accp_app
from accp_adapters.bindings.accp.connect import ClientOptions
from accp_adapters.bindings.accp.connect import connect as connect_session
from accp_adapters.bindings.hosts import HostLimits, SessionHost
from accp_adapters.langgraph import AccpMiddleware, Policy
from accp_adapters.stores import SqliteColdStore
from accp_core.accp import Intent, Message
from tests.adapters.a2a.calls import connect as connect_agent
from tests.adapters.a2a.calls import request
from tests.adapters.a2a.serve import always, serve
from tests.adapters.bindings.accp.serving import echo
from tests.adapters.bindings.accp.serving import serve as serve_app
from tests.adapters.bindings.hosts.agents import CODEC
from tests.adapters.langgraph.jobs import fetch_last, thread
from tests.adapters.mcp.transcripts import ACCP, LEGACY, SERVER, ask
from tests.limits import PATIENCE
from tests.scripted_model import ScriptedModel, call, calls

__all__ = ["LOADS"]

ROWS: Final = (20, 80, 400, 8_000)
"""How many rows a tool's result may have."""
POLICY: Final = Policy(inline_limit=300, preview_limit=100)


@tool
def look_up(query: str) -> list[dict[str, Any]]:
    """Look something up: rows that differ from job to job, few of them or so many that the caches are soon full."""
    dice = random.Random(query)
    rows = dice.choice(ROWS)
    return [{"id": number, "query": query, "trace": f"{dice.getrandbits(96):x}"} for number in range(rows)]


class Model(ScriptedModel):
    """Says what the messages call for, and remembers nothing."""

    def bind_tools(self, tools: Sequence[Any], **options: Any) -> Any:
        """Go on unbound; `ScriptedModel` keeps the names of each call's tools for ever."""
        return self

    def _generate(self, messages: list[Any], *args: Any, **options: Any) -> ChatResult:
        """Call the tool, fetch from its preview, then end."""
        turn = sum(isinstance(message, AIMessage) for message in messages)
        steps = (
            lambda: calls(call("look_up", "c1", query=messages[0].text)),
            lambda: fetch_last(messages, query="SELECT count(*) FROM rows"),
            lambda: AIMessage("done"),
        )
        return ChatResult(generations=[ChatGeneration(message=steps[turn]())])


@asynccontextmanager
async def threads(folder: Path) -> AsyncIterator[Callable[[int], Any]]:
    """Yield a job: a conversation with a preview and a fetch in a store, forgotten at its end."""
    store = SqliteColdStore(folder / "cold.sqlite")
    with SqliteSaver.from_conn_string(str(folder / "threads.sqlite")) as saver:
        middleware = AccpMiddleware(POLICY, store=store)
        agent = create_agent(Model(script=[]), [look_up], middleware=[middleware], checkpointer=saver)

        def converse(number: int) -> None:
            config: Any = thread(f"t{number}")
            state = agent.invoke({"messages": f"job {number}"}, config)
            assert state["messages"][-1].text == "done"
            store.purge(agent.get_state(config).values["accp_session"])
            saver.delete_thread(f"t{number}")

        yield lambda number: asyncio.to_thread(converse, number)
    store.close()


@asynccontextmanager
async def proxy(folder: Path) -> AsyncIterator[Callable[[int], Any]]:
    """Yield a job: a tool's result through one proxy that runs all the time."""
    command = [*ACCP, "--policy", "always", "--", *SERVER]
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, limit=1 << 24)
    assert process.stdin
    assert process.stdout
    answers, requests = process.stdout, process.stdin

    async def exchange(line: bytes, identity: object) -> dict[str, Any]:
        requests.write(line)
        await requests.drain()
        while True:
            found = json.loads(await answers.readline())
            if found.get("id") == identity:
                return dict(found)

    async def job(number: int) -> None:
        for name in ("orders", "test_simple_text"):
            identity = f"{name} {number}"
            answer = await exchange(ask("tools/call", identity, name=name, arguments={}), identity)
            assert answer["result"]["content"]

    try:
        await exchange(LEGACY[0], 0)
        requests.write(LEGACY[1])
        yield job
    finally:
        requests.close()
        await process.wait()


@asynccontextmanager
async def tasks(folder: Path) -> AsyncIterator[Callable[[int], Any]]:
    """Yield a job: a task with a stream of eight chunks in frames, deleted at its end."""
    async with (
        serve(always) as served,
        # A connection that was kept may be closed by the server just when a busy machine comes to use it again.
        AsyncClient(timeout=PATIENCE, limits=Limits(max_keepalive_connections=0)) as http,
        await connect_agent(served.card, streaming=True, http=http) as client,
    ):

        async def job(number: int) -> None:
            served.agent.seen.clear()
            chunks, task_id = 0, ""
            async for event in client.send_message(request(f"load-{number}", new_text_part(f"job {number}"))):
                chunks += event.HasField("artifact_update")
                task_id = event.artifact_update.task_id or task_id
            assert chunks == 8
            # The SDK's store keeps every task.
            await served.store.delete(task_id, ServerCallContext())
            assert await served.store.get(task_id, ServerCallContext()) is None

        yield job


@asynccontextmanager
async def sessions(folder: Path) -> AsyncIterator[Callable[[int], Any]]:
    """Yield a job: a session over WebSocket with ten requests."""
    log = SqliteColdStore(folder / "sessions.sqlite", session_ttl=300)
    async with (
        SessionHost(echo, codec=CODEC, store=log, limits=HostLimits(sessions=20)) as host,
        serve_app(accp_app(host)) as address,
    ):

        async def job(number: int) -> None:
            patient = ClientOptions(first_time=PATIENCE)
            async with connect_session(f"ws://{address}", agent_id="ann", codec=CODEC, options=patient) as session:
                for turn in range(10):
                    asked = Message(sender="", intent=Intent.REQUEST, operation="add", payload={"n": number + turn})
                    assert (await session.request(asked)).payload["n"] == number + turn

        yield job


LOADS: Final = {"threads": threads, "proxy": proxy, "tasks": tasks, "sessions": sessions}
"""The name of a load to what opens it."""
