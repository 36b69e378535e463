"""Every checkpointer with the middleware: references hold over restarts, forks and resumes, store or none."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from langchain_core.tools import BaseTool, tool
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command, interrupt

from accp_adapters.langgraph import AccpMiddleware
from accp_adapters.stores import SqliteColdStore, embedded_store
from tests.adapters.langgraph.jobs import LOOK_UP, ROWS, agent, crm, fetch_last, results, thread
from tests.adapters.langgraph.ways import alternating
from tests.scripted_model import call, calls

SAVERS = ["InMemorySaver", "SqliteSaver", "AsyncSqliteSaver", "PostgresSaver", "AsyncPostgresSaver"]
# Each mode with a saver that has both ways, and each saver with the usual mode.
MODES = [("InMemorySaver", "sync"), ("InMemorySaver", "exit"), ("SqliteSaver", "sync"), ("AsyncPostgresSaver", "exit")]
durable = pytest.mark.parametrize(
    ("life", "durability"), [*MODES, *((saver, "async") for saver in SAVERS)], indirect=["life"]
)


@dataclass
class Life:
    """What outlives a process: a thread, its checkpoints, and a store or none. Each `agent` is a new process's."""

    kind: str
    place: str
    store: Path | None
    thread: str
    memory: InMemorySaver

    @asynccontextmanager
    async def agent(self, script: list[Any], *tools: BaseTool) -> AsyncIterator[Any]:
        """Yield the graph of one life."""
        async with AsyncExitStack() as stack:
            saver = await self._saver(stack)
            store = None
            if self.store:
                store = SqliteColdStore(self.store)
                stack.callback(store.close)
            graph, _ = agent(script, *tools, middleware=AccpMiddleware(store=store), checkpointer=saver)
            yield graph

    async def run(self, graph: Any, given: Any, config: Any = None, **options: Any) -> dict[str, Any]:
        """Return the state that `given` leads to."""
        config = config or thread(self.thread)
        if self.kind.startswith("Async"):
            return dict(await graph.ainvoke(given, config, **options))
        return dict(graph.invoke(given, config, **options))

    async def history(self, graph: Any) -> list[Any]:
        """Return the thread's checkpoints, newest first."""
        config = thread(self.thread)
        if self.kind.startswith("Async"):
            return [past async for past in graph.aget_state_history(config)]
        return list(graph.get_state_history(config))

    async def _saver(self, stack: AsyncExitStack) -> BaseCheckpointSaver[Any]:
        if self.kind == "InMemorySaver":
            return self.memory
        makers: dict[str, Any] = {
            "SqliteSaver": SqliteSaver,
            "AsyncSqliteSaver": AsyncSqliteSaver,
            "PostgresSaver": PostgresSaver,
            "AsyncPostgresSaver": AsyncPostgresSaver,
        }
        opened = makers[self.kind].from_conn_string(self.place)
        if self.kind.startswith("Async"):
            saver = await stack.enter_async_context(opened)
            await saver.setup()
        else:
            saver = stack.enter_context(opened)
            saver.setup()
        return saver


@pytest.fixture(params=SAVERS)
def life(request: pytest.FixtureRequest, tmp_path: Path) -> Life:
    place = str(tmp_path / "checkpoints.sqlite")
    # In turn: each saver has a store or none, and so has each way to reach it.
    stored = SAVERS.index(request.param) % 3 != 0
    if "Postgres" in request.param:
        place = request.getfixturevalue("postgres_url")
    store = tmp_path / "cold.sqlite" if stored else None
    return Life(request.param, place, store, f"user@example.com {tmp_path}", InMemorySaver())


@durable
async def test_a_reference_opens_after_a_restart(life: Life, durability: str) -> None:
    async with life.agent([LOOK_UP, "done"]) as graph:
        await life.run(graph, {"messages": "go"}, durability=durability)
    async with life.agent([fetch_last, "found"]) as graph:
        fetched = results(await life.run(graph, {"messages": "open it"}))[1]
    assert fetched.status == "success"
    assert ROWS[0]["email"] in fetched.text


@durable
async def test_an_interrupt_is_resumed_by_another_process(life: Life, durability: str) -> None:
    @tool
    def ask(query: str) -> list[dict[str, Any]]:
        """Ask a person, then return the customers."""
        return ROWS if interrupt("may I?") == "yes" else []

    turn = calls(call("crm", "c1", query="x"), call("ask", "c2", query="y"))
    async with life.agent([turn], ask, crm) as graph:
        stopped = await life.run(graph, {"messages": "go"}, durability=durability)
    assert stopped["__interrupt__"][0].value == "may I?"
    async with life.agent([fetch_last, "found"], ask, crm) as graph:
        state = await life.run(graph, Command(resume="yes"), durability=durability)
    first, second, fetched = results(state)
    assert first.tool_call_id != second.tool_call_id
    assert ROWS[0]["email"] in fetched.text


async def test_a_fork_of_the_past_opens_what_its_past_was_shown(life: Life) -> None:
    async with life.agent([LOOK_UP, "done", "and so on"]) as graph:
        await life.run(graph, {"messages": "go"})
        await life.run(graph, {"messages": "thanks"})
    async with life.agent([fetch_last, "forked"]) as graph:
        history = await life.history(graph)
        past = next(past for past in history if past.next == ("model",) and len(past.values["messages"]) == 3)
        fetched = results(await life.run(graph, None, past.config))[1]
        assert ROWS[0]["email"] in fetched.text
    async with life.agent([fetch_last, "found"]) as graph:
        newest = await life.run(graph, {"messages": "open it"}, history[0].config)
    assert ROWS[0]["email"] in results(newest)[-1].text


async def test_a_replay_of_the_past_comes_to_the_same_text(life: Life) -> None:
    async with life.agent([LOOK_UP, "done"]) as graph:
        (first,) = results(await life.run(graph, {"messages": "go"}))
    async with life.agent(["done again"]) as graph:
        before = next(past for past in await life.history(graph) if past.next == ("tools",))
        (replayed,) = results(await life.run(graph, None, before.config))
    assert (replayed.content, replayed.additional_kwargs) == (first.content, first.additional_kwargs)


async def test_deleting_a_thread_leaves_what_the_store_holds(life: Life) -> None:
    """`delete_thread` knows of checkpoints only: who gave a store purges it, too."""
    async with life.agent([LOOK_UP, "done"]) as graph:
        await life.run(graph, {"messages": "go"})
        session = (await life.history(graph))[0].values.get("accp_session")
        saver = graph.checkpointer
        if life.kind.startswith("Async"):
            await saver.adelete_thread(life.thread)
        else:
            saver.delete_thread(life.thread)
        assert await life.history(graph) == []
    if life.store:
        store = SqliteColdStore(life.store)
        assert store.purge(session) == 1
        assert store.purge(session) == 0
        store.close()


ENDING: dict[str, tuple[Callable[[Path], Any], bool]] = {
    "none": (lambda folder: None, False),
    "the embedded one": (lambda folder: embedded_store(), True),
    "InMemoryStore": (lambda folder: InMemoryStore(), True),
    "SqliteColdStore in memory": (lambda folder: SqliteColdStore(), True),
    "SqliteColdStore in a file": (lambda folder: SqliteColdStore(folder / "cold.sqlite"), False),
}


@alternating("kind", ENDING)
async def test_who_keeps_texts_in_memory_under_a_lasting_checkpointer_is_warned(
    kind: str, asynchronous: bool, tmp_path: Path, recwarn: pytest.WarningsRecorder
) -> None:
    make, ends = ENDING[kind]
    store = make(tmp_path)
    maker: Any = AsyncSqliteSaver if asynchronous else SqliteSaver
    async with AsyncExitStack() as stack:
        opened = maker.from_conn_string(str(tmp_path / "checkpoints.sqlite"))
        saver = await stack.enter_async_context(opened) if asynchronous else stack.enter_context(opened)
        graph, _ = agent([LOOK_UP, "done"], middleware=AccpMiddleware(store=store), checkpointer=saver)
        asked: Any = {"messages": "go"}
        if asynchronous:
            await graph.ainvoke(asked, thread("t"))
        else:
            graph.invoke(asked, thread("t"))
    said = [str(warning.message) for warning in recwarn]
    assert len(said) == ends
    assert all("SqliteSaver keeps this conversation, but" in each for each in said)


PROGRAM = """
import sys, warnings
from langgraph.checkpoint.sqlite import SqliteSaver
from tests.adapters.langgraph.jobs import LOOK_UP, agent, fetch_last, results, thread
script = [LOOK_UP, "done"] if sys.argv[2] == "first" else [fetch_last, "found"]
with SqliteSaver.from_conn_string(sys.argv[1]) as saver:
    graph, _ = agent(script, checkpointer=saver)
    print(results(graph.invoke({"messages": "go"}, thread("t")))[-1].status)
"""


@pytest.mark.slow
def test_strict_msgpack_reads_what_was_written_in_another_process(tmp_path: Path) -> None:
    """LANGGRAPH_STRICT_MSGPACK=true lets the serializer make no type that it does not know."""
    environment = {**os.environ, "LANGGRAPH_STRICT_MSGPACK": "true", "PYTHONPATH": os.getcwd()}
    for life in ("first", "second"):
        command = [sys.executable, "-W", "error::UserWarning", "-c", PROGRAM, str(tmp_path / "c.sqlite"), life]
        run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert (run.returncode, run.stdout.strip()) == (0, "success"), run.stderr
        assert "Blocked" not in run.stderr
        assert "unregistered" not in run.stderr
