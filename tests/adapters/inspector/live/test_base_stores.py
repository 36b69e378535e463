"""Texts that a LangGraph `BaseStore` keeps, read without changing them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.store.postgres import PostgresStore
from langgraph.store.sqlite import SqliteStore

from accp_adapters.inspector.live import open_source, open_texts
from accp_adapters.langgraph import AccpMiddleware, Policy
from accp_adapters.langgraph.references.stores import StoreColdStore
from accp_adapters.replay import UnreadableRun
from accp_core.errors import ProtocolError
from accp_core.references import key_of
from tests.adapters.inspector.live.clients import opened, thread_paths
from tests.adapters.inspector.live.test_pages import texts_of
from tests.adapters.langgraph.jobs import LOOK_UP, ROWS, crm
from tests.scripted_model import ScriptedModel

SESSION = "run of ann@example.com"


def test_the_references_of_a_thread_open_from_the_store_of_its_graph(tmp_path: Path) -> None:
    from langchain.agents import create_agent  # noqa: PLC0415  slow

    path, store_path = tmp_path / "threads.sqlite", str(tmp_path / "store.sqlite")
    with SqliteSaver.from_conn_string(str(path)) as saver, SqliteStore.from_conn_string(store_path) as store:
        store.setup()
        model = ScriptedModel(script=[LOOK_UP, "done"])
        accp = AccpMiddleware(Policy.tight(), store=store)
        agent: Any = create_agent(model, [crm], middleware=[accp], checkpointer=saver)
        agent.invoke({"messages": "go"}, {"configurable": {"thread_id": "t"}})
        page = opened(open_source(str(path)), open_texts(store_path))
        (thread,) = thread_paths(page).values()
        (row,) = (row for row in texts_of(page, f"{thread}/references", "tr") if key_of(json.dumps(ROWS)) in row)
    assert row.endswith("as long as the thread holds the message; the store does not delete it by itself")


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_text_is_read_until_it_expires(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    address = str(tmp_path / "s.db") if kind == "sqlite" else str(request.getfixturevalue("postgres_url"))
    kept = SqliteStore if kind == "sqlite" else PostgresStore
    with kept.from_conn_string(address) as store:
        store.setup()
        StoreColdStore(store).put(SESSION, "cold.1", "a\0b\ud800")
        StoreColdStore(store, ttl=90).put(SESSION, "cold.2", "until then")
        StoreColdStore(store, ttl=-1).put(SESSION, "cold.3", "gone") if kind == "postgres" else None
        store.put(("accp", "other"), "cold.4", {"not": "ours"})
    texts = open_texts(address)
    found, later = (texts.find(["nobody", SESSION], f"cold.{n}") for n in (1, 2))
    assert found is not None and later is not None
    assert (found.text, found.seconds, later.text) == ("a\0b\ud800", None, "until then")
    assert later.seconds is not None and 0 < later.seconds <= 90 * 60
    assert texts.find([SESSION], "cold.3") is None
    assert texts.find(["nobody"], "cold.1") is None
    with pytest.raises(ProtocolError, match="E2001: expected an item with a text, found"):
        texts.find(["other"], "cold.4")


def test_a_database_that_is_not_there_is_refused() -> None:
    with pytest.raises(UnreadableRun, match="expected"):
        open_texts("postgresql://127.0.0.1:1/nothing")
