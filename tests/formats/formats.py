"""Every stored format: how a file of it is written, and what must be found in one that any earlier version wrote."""

import base64
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, Final, NamedTuple

import redis
from langchain.agents import create_agent
from langchain_core.messages import ToolMessage, messages_from_dict, messages_to_dict
from langchain_core.tools import tool
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.store.memory import InMemoryStore
from langgraph.store.postgres import PostgresStore

from accp_adapters.langgraph import AccpMiddleware, Policy, StoreColdStore
from accp_adapters.langgraph.grants import held_texts, stored_keys
from accp_adapters.langgraph.node import restore_message
from accp_adapters.langgraph.teams.state import read_interaction
from accp_adapters.stores import RedisColdStore, SqliteColdStore, SqliteInstructionRegistry
from accp_adapters.stores.instructions import AuditLog
from accp_core.aacp.audit import AuditRecord
from accp_core.aacp.registry import RegistryEntry
from accp_core.accp import Session, SessionOptions
from accp_core.aci import Interaction, TaskContext, interaction_to_json, step
from accp_core.references import key_of, reference_to
from tests.adapters.bindings.hosts.agents import CODEC, Client
from tests.adapters.langgraph.jobs import fetch_last, thread
from tests.harness.fuzz.thread import TEXT, conversation
from tests.scripted_model import ScriptedModel, call, calls

__all__ = ["FORMATS", "Format"]

KEY: Final = key_of(TEXT)
SESSION: Final = "user@example.com"


class Format(NamedTuple):
    """One stored format."""

    file: str
    """The name of its file in the folder of a version."""
    write: Callable[..., object]
    """Writes a file as this version does; of a server, its address is the second argument."""
    check: Callable[..., object]
    """Opens a copy of a file and fails unless all that was stored is found."""


def closed(path: Path) -> None:
    """Put what an SQLite database has in its log into its one file."""
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")
    connection.close()


def write_cold(path: Path) -> None:
    """Write texts, one of which UTF-8 has not."""
    with closing(SqliteColdStore(path)) as store:
        store.put(SESSION, KEY, TEXT)
        store.put("half \ud800", key_of("\ud800"), "\ud800")
    closed(path)


def check_cold(path: Path) -> None:
    """Find them, and add another one."""
    with closing(SqliteColdStore(path)) as store:
        assert store.get(SESSION, KEY) == TEXT
        assert store.get("half \ud800", key_of("\ud800")) == "\ud800"
        store.put(SESSION, key_of("new"), "new")
        assert store.get(SESSION, key_of("new")) == "new"


def write_redis(path: Path, url: str) -> None:
    """Write the hash of a session."""
    store = RedisColdStore(url, namespace="formats")
    store.put(SESSION, KEY, TEXT)
    with redis.Redis.from_url(url) as client:
        (name,) = client.keys("formats:*")
        fields: Any = client.hgetall(name)
        entries = {field.decode(): base64.b64encode(value).decode() for field, value in fields.items()}
        path.write_text(json.dumps({name.decode(): entries}, indent=1), encoding="utf-8")
    store.purge(SESSION)
    store.close()


def check_redis(path: Path, url: str) -> None:
    """Put the hash into a server, and find the text."""
    store = RedisColdStore(url, namespace="formats")
    with redis.Redis.from_url(url) as client:
        for name, entries in json.loads(path.read_text(encoding="utf-8")).items():
            client.hset(name, mapping={field: base64.b64decode(value) for field, value in entries.items()})
    assert store.get(SESSION, KEY) == TEXT
    assert store.purge(SESSION) == 1
    store.close()


def write_langgraph_store(path: Path) -> None:
    """Write what a LangGraph store of any kind, such as PostgreSQL, keeps of a text."""
    base = InMemoryStore()
    StoreColdStore(base).put(SESSION, KEY, TEXT)
    (item,) = base.search(("accp",))
    path.write_text(json.dumps([item.namespace, item.key, item.value], indent=1), encoding="utf-8")


def check_langgraph_store(path: Path) -> None:
    """Put the item into a store, and find the text."""
    base = InMemoryStore()
    namespace, key, value = json.loads(path.read_text(encoding="utf-8"))
    base.put(tuple(namespace), key, value)
    assert StoreColdStore(base).get(SESSION, KEY) == TEXT


def check_postgres(path: Path, url: str) -> None:
    """Put what a LangGraph store kept into PostgreSQL."""
    namespace, key, value = json.loads(path.read_text(encoding="utf-8"))
    with PostgresStore.from_conn_string(url) as base:
        base.setup()
        base.put(tuple(namespace), key, value)
        assert StoreColdStore(base).get(SESSION, KEY) == TEXT
        assert StoreColdStore(base).purge(SESSION) == 1


@tool
def look_up(query: str) -> str:
    """Look something up."""
    return TEXT


def agent_at(store: SqliteColdStore, script: list[Any], saver: Any) -> Any:
    """Return an agent whose threads are in a file."""
    middleware = AccpMiddleware(Policy(inline_limit=200, preview_limit=80), store=store)
    return create_agent(ScriptedModel(script=script), [look_up], middleware=[middleware], checkpointer=saver)


def write_thread(path: Path) -> None:
    """Write a thread with the private keys of the middleware, and what the store has of it."""
    script = [calls(call("look_up", "c1", query="all")), fetch_last, "done"]
    cold = closing(SqliteColdStore(path.with_suffix(".cold")))
    with cold as store, SqliteSaver.from_conn_string(str(path)) as saver:
        agent_at(store, script, saver).invoke({"messages": "go"}, thread("t"), durability="exit")
    closed(path)
    closed(path.with_suffix(".cold"))


def check_thread(path: Path) -> None:
    """Go on with the thread: what it stored opens, and a reference of its past is answered."""
    cold = closing(SqliteColdStore(path.with_suffix(".cold")))
    with cold as store, SqliteSaver.from_conn_string(str(path)) as saver:
        agent = agent_at(store, [fetch_again, "done"], saver)
        before = agent.get_state(thread("t")).values
        assert {"accp_session", "accp_stored", "accp_offered"} <= before.keys()
        (key,) = stored_keys(before)
        assert store.get(before["accp_session"], key) == held_texts(before).get(key)
        messages = agent.invoke({"messages": "again"}, thread("t"))["messages"]
        assert (messages[-2].status, messages[-2].tool_call_id) == ("success", "f2")
        assert agent.get_state(thread("t")).values["accp_session"] == before["accp_session"]


def fetch_again(messages: list[Any]) -> Any:
    """Open the reference once more."""
    return fetch_last(messages, "f2")


@tool
def page(number: int) -> str:
    """Return a page of rows."""
    return json.dumps([{"id": f"{number}-{row}", "name": f"name {row * 7919 % 101} of {number}"} for row in range(40)])


def paging(script: list[Any], saver: Any) -> tuple[Any, ScriptedModel]:
    """Return an agent without a store, and its model."""
    model = ScriptedModel(script=script)
    middleware = AccpMiddleware(Policy(inline_limit=2_000))
    return create_agent(model, [page], middleware=[middleware], checkpointer=saver), model


def write_folded(path: Path) -> None:
    """Write a thread with a text that another agent handed over; earlier versions folded its older results, too."""
    script = [calls(call("page", f"p{number}", number=number)) for number in range(8)]
    with SqliteSaver.from_conn_string(str(path)) as saver:
        agent, _ = paging([*script, "done"], saver)
        agent.invoke({"messages": "go", "accp_texts": {KEY: TEXT}}, thread("t"), durability="exit")
    closed(path)


def check_folded(path: Path) -> None:
    """Go on with the thread: the text that was handed over opens."""
    with SqliteSaver.from_conn_string(str(path)) as saver:
        agent, _ = paging([calls(call("accp_fetch", "f1", ref=reference_to(KEY), query="7")), "done"], saver)
        before = agent.get_state(thread("t")).values
        assert "accp_texts" in before
        messages = agent.invoke({"messages": "again"}, thread("t"))["messages"]
        assert (messages[-2].status, messages[-2].tool_call_id) == ("success", "f1")


def write_messages(path: Path) -> None:
    """Write messages that `CompressNode` stored, one of them as a preview."""
    path.write_text(json.dumps(messages_to_dict(conversation()), indent=1), encoding="utf-8")


def check_messages(path: Path) -> None:
    """Restore each of them."""
    messages = messages_from_dict(json.loads(path.read_text(encoding="utf-8")))
    results = [message for message in messages if isinstance(message, ToolMessage) and message.name == "look_up"]
    assert len(results) == 3
    assert len({message.text for message in results}) == 3
    assert [restore_message(message, {KEY: TEXT}.get).text for message in results] == [TEXT] * 3


def write_session(path: Path) -> None:
    """Write the snapshot of a session that waits for an answer."""
    client = Client()
    client.ask("add", n=1)
    path.write_bytes(client.session.snapshot())


def check_session(path: Path) -> None:
    """Restore it; its snapshot is the same."""
    options = SessionOptions(name_session=True, checkpoints=frozenset())
    session = Session.restore(path.read_bytes(), codec=CODEC, new_id=lambda: "x", options=options)
    assert session.snapshot() == path.read_bytes()


PACKET: Final = "FETCH|HR|return:A|aacp:1.1"
ENTRY: Final = RegistryEntry(pattern="p", key="k", packet=PACKET, source="model", english="Fetch x")


def write_registry(path: Path) -> None:
    """Write a registry of instructions."""
    with SqliteInstructionRegistry(path) as registry:
        registry.add([ENTRY])
    closed(path)


def check_registry(path: Path) -> None:
    """Find the entry."""
    with SqliteInstructionRegistry(path) as registry:
        assert registry.entries() == [ENTRY]
        assert registry.find("p") is not None


RECORD: Final = AuditRecord(at=1, run="r", packet=PACKET, result="0" * 16)


def check_audit(path: Path) -> None:
    """Read the record, and add another one."""
    log = AuditLog(path)
    log.append(RECORD)
    assert log.read() == ([RECORD, RECORD], [])


HEADER: Final = {"model": "m", "seed": 1}


def write_task(path: Path) -> None:
    """Write the state of a task in the middle of its course."""
    steps = [step("crm", "Count", repeatable=True), step("mail", "Write", after="crm")]
    begun, _ = Interaction.start(TaskContext(task_id="t1"), steps).deliver()
    state = {"aci_progress": {"interaction": interaction_to_json(begun)}}
    path.write_text(json.dumps(state, indent=1), encoding="utf-8")


def check_task(path: Path) -> None:
    """Go on with it."""
    state = json.loads(path.read_text(encoding="utf-8"))
    interaction = read_interaction(state)
    assert interaction_to_json(interaction) == state["aci_progress"]["interaction"]
    assert [each.agent_id for each in interaction.contexts.values()] == ["crm", "mail"]


FORMATS: Final = {
    "cold store, SQLite": Format("cold.sqlite", write_cold, check_cold),
    "cold store, Redis": Format("cold-redis.json", write_redis, check_redis),
    "cold store, LangGraph": Format("cold-langgraph.json", write_langgraph_store, check_langgraph_store),
    "cold store, PostgreSQL": Format("cold-langgraph.json", write_langgraph_store, check_postgres),
    "thread": Format("thread.sqlite", write_thread, check_thread),
    "messages": Format("messages.json", write_messages, check_messages),
    "thread with a text handed over": Format("folded.sqlite", write_folded, check_folded),
    "session": Format("session.json", write_session, check_session),
    "instructions": Format("instructions.sqlite", write_registry, check_registry),
    "audit log": Format("audit.jsonl", lambda path: AuditLog(path).append(RECORD), check_audit),
    "task": Format("task.json", write_task, check_task),
}
"""What is stored anywhere."""
