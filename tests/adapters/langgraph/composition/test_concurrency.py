"""A hundred conversations at once through one graph and one store: each opens its own, none opens another's."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.sqlite import SqliteSaver
from psycopg.rows import dict_row
from psycopg_pool import ConnectionPool

from accp_adapters.fetching import FETCH_NAME
from accp_adapters.langgraph import AccpMiddleware
from accp_adapters.stores import SqliteColdStore
from accp_core.references import key_of, reference_to
from tests.adapters.langgraph.composition import sources
from tests.adapters.langgraph.composition.harness import POLICY, Model, look, thread
from tests.scripted_model import call

CONVERSATIONS = 100
AT_ONCE = 8


@contextmanager
def sqlite_saver(place: str) -> Iterator[Any]:
    with SqliteSaver.from_conn_string(place) as saver:
        yield saver


@contextmanager
def postgres_saver(url: str) -> Iterator[Any]:
    options = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
    with ConnectionPool(url, min_size=1, max_size=AT_ONCE, kwargs=options) as pool:
        saver = PostgresSaver(pool)  # type: ignore[arg-type]  # the rows are dictionaries
        saver.setup()
        yield saver


def text_of(owner: str) -> str:
    return json.dumps(sources.rows(owner, 30))


@tool
def crm(query: str) -> str:
    """Return the customers of an owner."""
    return text_of(query)


class Reader:
    """Answers from the messages alone: one object serves all conversations."""

    def __init__(self) -> None:
        self.prompts: list[Any] = []

    def answer(self, messages: Sequence[BaseMessage]) -> AIMessage:
        last = messages[-1]
        if isinstance(last, HumanMessage):
            if stolen := re.search(r"\$cold\.\d+", last.text):
                return AIMessage(content="", tool_calls=[call(FETCH_NAME, "stolen", ref=stolen[0])])
            return AIMessage(content="", tool_calls=[call("crm", "c1", query=last.text)])
        if isinstance(last, ToolMessage) and last.name == "crm":
            return look(messages)
        return AIMessage(content=f"I read: {last.text}")


def converse(graph: Any, number: int, named: str) -> None:
    """Look up one's own customers, then ask for the next conversation's; `named` begins the name of the thread."""
    own, other = f"owner{number:03}", f"owner{(number + 1) % CONVERSATIONS:03}"
    messages = graph.invoke({"messages": [HumanMessage(own)]}, thread(f"{named}-{own}"))["messages"]
    assert [message.type for message in messages] == ["human", "ai", "tool", "ai", "tool", "ai"]
    assert messages[2].content == text_of(own)
    assert f"{own}-0000" in messages[4].text
    assert set(re.findall(r"owner\d{3}", messages[4].text)) == {own}
    assert messages[4].status == "success"
    stolen = HumanMessage(f"open {reference_to(key_of(text_of(other)))}")
    refused = graph.invoke({"messages": [stolen]}, thread(f"{named}-{own}"))["messages"][-2]
    assert (refused.status, refused.text[:5]) == ("error", "E5002")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("database", "stored"), [("sqlite", True), ("postgres", False)], ids=["sqlite, store", "postgres"]
)
def test_conversations_do_not_meet(database: str, stored: bool, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    opened: Callable[[str], Any] = {"sqlite": sqlite_saver, "postgres": postgres_saver}[database]
    place = request.getfixturevalue("postgres_url") if database == "postgres" else str(tmp_path / "checkpoints.sqlite")
    store = SqliteColdStore(tmp_path / "cold.sqlite") if stored else None
    with opened(place) as saver:
        accp = AccpMiddleware(POLICY, store=store)
        graph = create_agent(Model(script=Reader()), [crm], middleware=[accp], checkpointer=saver)
        with ThreadPoolExecutor(AT_ONCE) as pool:
            done = list(pool.map(lambda number: converse(graph, number, str(stored)), range(CONVERSATIONS)))
    assert len(done) == CONVERSATIONS
    if store is not None:
        store.close()
