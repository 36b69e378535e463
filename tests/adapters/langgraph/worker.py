"""Two workers on one thread of work, one of which dies: what `test_workers.py` starts, once for many deaths.

Each line of standard input is a job, each line of standard output what became of it. For every job two processes are
forked from this one, which has imported everything and opened nothing: the first works at thread "a" until it is
killed (SIGKILL), the second works at thread "b" meanwhile, then goes on with "a" and tells how both ended.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager
from typing import Any, Final

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.tools import BaseTool, tool
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.store.postgres import AsyncPostgresStore, PostgresStore
from langgraph.store.sqlite import SqliteStore

from accp_adapters.langgraph import AccpMiddleware, Policy, stores
from accp_adapters.langgraph.node import restore_message
from accp_adapters.stores import RedisColdStore, SqliteColdStore
from tests.adapters.langgraph.jobs import by_hand, fetch_last, thread
from tests.doom import Doom
from tests.scripted_model import ScriptedModel, call, calls

POLICY: Final = Policy(inline_limit=200, preview_limit=80)
BEGIN: Final = {"messages": "go"}


def rows(query: str) -> list[dict[str, Any]]:
    """Return what the tool returns for `query`: rows that no notation makes fit."""
    dice = random.Random(query)
    return [{"id": number, "query": query, "trace": f"{dice.getrandbits(96):x}"} for number in range(60)]


def next_turn(messages: Sequence[BaseMessage]) -> AIMessage:
    """Return what the model says next: it depends on the messages alone, so any worker may go on."""
    turn = sum(isinstance(message, AIMessage) for message in messages)
    if turn == 0:
        return calls(call("look_up", "c1", query="north"), call("look_up", "c2", query="south"))
    if turn in (1, 3):
        return fetch_last(messages, f"f{turn}", offset=turn)
    return calls(call("look_up", "c3", query="east")) if turn == 2 else AIMessage("done")


def _parts(doom: Doom) -> tuple[ScriptedModel, BaseTool]:
    """Return the model and the tool of every graph; both are places to die at."""

    @tool
    def look_up(query: str) -> list[dict[str, Any]]:
        """Look something up."""
        doom.reach()
        return rows(query)

    def answer(messages: list[BaseMessage]) -> AIMessage:
        doom.reach()
        return next_turn(messages)

    return ScriptedModel(script=[answer]), look_up


@contextmanager
def opened(job: dict[str, Any], doom: Doom) -> Iterator[Any]:
    """Yield the job's graph and its cold store, with places to die at around all that leaves the process."""
    with ExitStack() as stack:
        saver_type: Any = doom.on(SAVERS[job["saver"]], "put", "put_writes", "get_tuple")
        saver = stack.enter_context(saver_type.from_conn_string(job["place"]))
        store = STORES[job["store"]](job, doom, stack)
        build = _by_hand if job["graph"] == "by hand" else _agent
        yield build(*_parts(doom), saver, store), stores.choose(store, None)


@asynccontextmanager
async def aopened(job: dict[str, Any], doom: Doom) -> AsyncIterator[Any]:
    """Yield the graph on the asynchronous saver and store of PostgreSQL, whose tables are those of `opened`."""
    savers: Any = doom.on(AsyncPostgresSaver, "aput", "aput_writes", "aget_tuple")
    saver_stores: Any = doom.on(AsyncPostgresStore, "abatch")
    async with savers.from_conn_string(job["place"]) as saver, saver_stores.from_conn_string(job["place"]) as store:
        yield _agent(*_parts(doom), saver, store)


def _langgraph(base: type) -> Callable[[dict[str, Any], Doom, ExitStack], Any]:
    def open_store(job: dict[str, Any], doom: Doom, stack: ExitStack) -> Any:
        mortal: Any = doom.on(base, "batch")
        return stack.enter_context(mortal.from_conn_string(job["store_place"]))

    return open_store


def _ours(base: type) -> Callable[[dict[str, Any], Doom, ExitStack], Any]:
    def open_store(job: dict[str, Any], doom: Doom, stack: ExitStack) -> Any:
        store = doom.on(base, "put", "get")(job["store_place"])
        stack.callback(store.close)
        return store

    return open_store


SAVERS: Final[dict[str, type]] = {"postgres": PostgresSaver, "sqlite": SqliteSaver}
STORES: Final[dict[str, Callable[[dict[str, Any], Doom, ExitStack], Any]]] = {
    "none": lambda job, doom, stack: None,
    "PostgresStore": _langgraph(PostgresStore),
    "SqliteStore": _langgraph(SqliteStore),
    "SqliteColdStore": _ours(SqliteColdStore),
    "RedisColdStore": _ours(RedisColdStore),
}


def _agent(model: ScriptedModel, look_up: BaseTool, saver: Any, store: Any) -> Any:
    return create_agent(model, [look_up], middleware=[AccpMiddleware(POLICY, store=store)], checkpointer=saver)


def _by_hand(model: ScriptedModel, look_up: BaseTool, saver: Any, store: Any) -> Any:
    return by_hand(model, look_up, POLICY, store).compile(checkpointer=saver)


def work(job: dict[str, Any], name: str, doom: Doom) -> dict[str, Any]:
    """Begin thread `name`, or go on with what another worker left; return what it came to."""
    config = thread(f"{name}@example.com")
    if job["graph"] == "async":
        asyncio.run(_go_on_asynchronously(job, config, doom))
    else:
        with opened(job, doom) as (graph, _):
            begun = bool(graph.get_state(config).values)
            graph.invoke(None if begun else BEGIN, config, durability=job["durability"])
    with opened(job, Doom(None)) as (graph, store):
        messages = graph.get_state(config).values["messages"]
        return {
            "passed": doom.passed,
            "messages": [_told(message) for message in messages],
            "restored": _restored(messages, store, _session(config)),
            "dangling": _dangling(graph, config, store),
        }


async def _go_on_asynchronously(job: dict[str, Any], config: Any, doom: Doom) -> None:
    async with aopened(job, doom) as graph:
        begun = bool((await graph.aget_state(config)).values)
        await graph.ainvoke(None if begun else BEGIN, config, durability=job["durability"])


def _told(message: BaseMessage) -> list[Any]:
    """Return what a message says, without the ids that differ from run to run."""
    return [message.type, message.text, getattr(message, "tool_call_id", None), getattr(message, "status", None)]


def _restored(messages: Sequence[BaseMessage], store: Any, session_id: str) -> list[bool]:
    """Return, for each result of `look_up`, whether it comes back as the tool returned it."""
    queries = {"c1": "north", "c2": "south", "c3": "east"}
    found = [message for message in messages if isinstance(message, ToolMessage) and message.name == "look_up"]
    read = (lambda key: store.get(session_id, key)) if store else None
    originals = [restore_message(message, read).text for message in found]
    return [
        json.loads(text) == rows(queries[message.tool_call_id]) for message, text in zip(found, originals, strict=True)
    ]


def _session(config: Any) -> str:
    """Return the session of a hand-built graph."""
    return str(config["configurable"]["thread_id"])


def _dangling(graph: Any, config: Any, store: Any) -> list[str]:
    """Return the references in any checkpoint of the thread whose text is not where it should be."""
    pasts = [past.values for past in graph.get_state_history(config)]
    by_middleware = [
        (past.get("accp_session"), key)
        for past in pasts
        for keys in past.get("accp_stored", {}).values()
        for key in keys
    ]
    by_hand = [
        (_session(config), block["ref"])
        for past in pasts
        for message in past.get("messages", ())
        for block in message.additional_kwargs.get("accp", {}).get("blocks", ())
        if block and "ref" in block
    ]
    return [key for session_id, key in {*by_middleware, *by_hand} if store.get(session_id, key) is None]


def forked(run: Callable[[], None]) -> int:
    """Return the id of a new process that does `run` and ends."""
    child = os.fork()
    if child:
        return child
    try:
        run()
        sys.stdout.flush()
        os._exit(0)
    except BaseException as problem:  # whatever it is, the test must hear of it and the fork must end here
        print(json.dumps({"failed": repr(problem)}), flush=True)
        os._exit(1)


def forget(job: dict[str, Any]) -> None:
    """Delete both threads, and what the store holds of them."""
    with opened(job, Doom(None)) as (graph, store):
        for name in ("a@example.com", "b@example.com"):
            graph.checkpointer.delete_thread(name)
            if store:
                store.purge(name)


def do(job: dict[str, Any]) -> None:
    """Do one job: begin anew, let two workers work, kill the first, wait for the second."""
    os.waitpid(forked(lambda: forget(job)), 0)
    ended, held = os.pipe()

    def first() -> None:
        os.close(ended)
        work(job, "a", Doom(job["kill_at"]))

    def second() -> None:
        os.close(held)
        own = work(job, "b", Doom(None))
        os.read(ended, 1)  # returns when the first worker is no more
        print(json.dumps({"b": own, "a": work(job, "a", Doom(None))}))

    workers = [forked(first), forked(second)]
    os.close(ended)
    os.close(held)
    if job["kill_after"] is not None:
        time.sleep(job["kill_after"])
        os.kill(workers[0], signal.SIGKILL)
    for worker in workers:
        os.waitpid(worker, 0)


if __name__ == "__main__":
    POLICY.counter("loads the vocabulary before any fork")
    for line in sys.stdin:
        do(json.loads(line))
