"""A store for the texts behind references, so that these open after a summary, a restart, and on any machine.

python examples/durable_references.py                                      a file (here: a temporary one)
python examples/durable_references.py redis://localhost:6379/0             a plain Redis
python examples/durable_references.py postgresql://user@localhost/agents   PostgreSQL, by LangGraph's own store
"""

from __future__ import annotations

import re
import sys
from contextlib import AbstractContextManager, closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage
from langchain_core.tools import tool
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.store.postgres import PostgresStore
from scripted import Scripted, call

from accp_adapters.langgraph import AccpMiddleware
from accp_adapters.stores import RedisColdStore, SqliteColdStore


@tool
def read_log(day: str) -> str:
    """Return the log of a day."""
    return "".join(f"{n:05} worker {n % 7} {'disk full' if n == 4_711 else 'ok'}\n" for n in range(9_000))


def open_store(place: str) -> AbstractContextManager[Any]:
    """Return the store at `place`; PostgreSQL needs its tables (`store.setup()`, once)."""
    if place.startswith("postgresql:"):
        return PostgresStore.from_conn_string(place)
    return closing(RedisColdStore(place) if place.startswith("redis") else SqliteColdStore(place))


def run(place: str, saver: SqliteSaver, asked: list[Any], *steps: Any) -> list[Any]:
    """Return the messages of one run of the thread; each run could be in another process."""
    model = Scripted(steps=[*steps])
    with open_store(place) as store:
        agent = create_agent(model, [read_log], middleware=[AccpMiddleware(store=store)], checkpointer=saver)
        state = agent.invoke({"messages": asked}, {"configurable": {"thread_id": "example"}})
    return [*state["messages"], *model.sent[-1]]


with TemporaryDirectory() as folder, SqliteSaver.from_conn_string(str(Path(folder) / "threads.sqlite")) as saver:
    place = next((word for word in sys.argv[1:] if "://" in word), str(Path(folder) / "cold.sqlite"))
    steps = (lambda _: call("read_log", day="Monday"), lambda _: AIMessage("Long."))
    *_, shown = first = run(place, saver, [HumanMessage("Read it.")], *steps)
    reference = re.findall(r"\$cold\.\w+", shown.text)[0]
    fetch = call("accp_fetch", ref=reference, query="disk full")
    # A summary removes messages from the thread; the store keeps what the model was told of.
    asked = [*(RemoveMessage(message.id) for message in first[:4]), HumanMessage(f"What failed, by {reference}?")]
    second = run(place, saver, asked, lambda _: fetch, lambda messages: AIMessage(messages[-1].text))
print(second[3].text)
assert "04711 worker 0 disk full" in second[3].text
