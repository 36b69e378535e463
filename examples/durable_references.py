"""Full texts in a store of your choice, so that a reference opens after a restart and on any machine.

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
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import tool
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


def run(place: str, asked: list[Any], *steps: Any) -> list[Any]:
    """Return the messages of one run; each run could be in another process."""
    with open_store(place) as store:
        agent = create_agent(Scripted(steps=[*steps]), [read_log], middleware=[AccpMiddleware(store=store)])
        return list(agent.invoke({"messages": asked})["messages"])


with TemporaryDirectory() as folder:
    place = next((word for word in sys.argv[1:] if "://" in word), str(Path(folder) / "cold.sqlite"))
    first = run(
        place, [HumanMessage("Read it.")], lambda _: call("read_log", day="Monday"), lambda _: AIMessage("Long.")
    )
    reference = re.findall(r"\$cold\.\w+", first[2].text)[0]
    fetch = call("accp_fetch", ref=reference, query="disk full")
    second = run(place, [*first, HumanMessage("What failed?")], lambda _: fetch, lambda sent: AIMessage(sent[-1].text))

print(second[-1].text)
assert "04711 worker 0 disk full" in second[-1].text
assert len(first[2].text) * 10 < 9_000 * 20
