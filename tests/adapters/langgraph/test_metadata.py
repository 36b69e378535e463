"""What messages say about themselves: grants, carried texts, and what others write under our key."""

from __future__ import annotations

import base64
import tracemalloc
import zlib
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from accp_adapters.langgraph import AccpMiddleware, Policy, metadata, stores
from accp_adapters.langgraph.metadata import (
    METADATA_KEY,
    Grant,
    Metadata,
    carried_text,
    carried_texts,
    grants_in,
    is_carriable,
    pack_carried,
)
from accp_adapters.langgraph.results import ResultCompressor, restore_message
from accp_adapters.stores import SqliteColdStore
from accp_core.errors import ProtocolError
from accp_core.references import StoredText, key_of
from tests.adapters.langgraph.jobs import LOOK_UP, agent, fetch_last, refs_in, results, thread
from tests.scripted_model import call, calls

SOURCE = "".join(f"{number} a line that is no JSON\n" for number in range(3_000))
POLICY = Policy(inline_limit=500, preview_limit=200)
KEY = key_of(SOURCE)


def carrying(source: str = SOURCE) -> ToolMessage:
    compressor = ResultCompressor(policy=POLICY, session_id="s", carries=True)
    message, texts = compressor.compress_message(ToolMessage(source, tool_call_id="c1"))
    assert texts == ()
    return message


def saying(data: Any) -> HumanMessage:
    return HumanMessage("hello", additional_kwargs={METADATA_KEY: data})


@pytest.mark.parametrize("odd", ["", "\0", "half of a pair: \ud800", "Ünïcödé 漢字"])
def test_a_message_carries_what_it_cites_in_fewer_bytes(odd: str) -> None:
    message = carrying(SOURCE + odd)
    (grant,) = Metadata.of(message).grants
    assert carried_text(grant.key, [message]) == SOURCE + odd
    assert len(repr(message)) < len(SOURCE) / 2


def test_the_original_comes_back_from_the_message_alone() -> None:
    message = carrying()
    assert restore_message(message) == ToolMessage(SOURCE, tool_call_id="c1")
    assert restore_message(message, lambda key: "never asked").content == SOURCE


def test_a_message_that_cites_nothing_carries_nothing() -> None:
    message = carrying('{ "a": 1 }')
    assert Metadata.of(message).texts == ()
    assert carried_text(KEY, [message, HumanMessage("hello")]) is None


def test_who_grants_a_key_anew_carries_its_text_on() -> None:
    messages = [carrying(), carrying(SOURCE + "more")]
    grant = Grant(key=KEY, session_id="s", agent="b")
    task = Metadata(grants=(grant,), texts=carried_texts([KEY], messages)).on(HumanMessage("go on"))
    assert carried_text(KEY, [task]) == SOURCE
    assert len(Metadata.of(task).texts) == 1
    assert carried_texts(["cold.other"], messages) == ()
    assert (grants_in([task], {"b"}), grants_in([task], {"a"})) == ([grant], [])


@pytest.mark.parametrize(
    "written",
    [
        Metadata(),
        Metadata(blocks=({"layout": "j"}, None, {"ref": KEY})),
        Metadata(grants=(Grant(key=KEY, session_id="s"),), texts=((KEY, "eA=="),)),
        Metadata(grants=(Grant(key=KEY, session_id="s", agent="a"), Grant(key=KEY, session_id="t"))),
    ],
)
def test_what_is_written_is_read(written: Metadata) -> None:
    assert Metadata.from_json(written.to_json()) == written
    assert Metadata.of(written.on(HumanMessage("x"))) == written


def test_without_anything_to_say_a_message_is_the_same_object() -> None:
    message = HumanMessage("x")
    assert Metadata().on(message) is message


HOSTILE: list[Any] = [
    "x",
    None,
    [],
    7,
    {"agents": 5},
    {"refs": [KEY], "sessions": ["t"], "agents": 5},
    {"refs": KEY, "sessions": ["t"]},
    {"refs": [7], "sessions": ["t"]},
    {"refs": [KEY], "sessions": [None]},
    {"blocks": ["x"]},
    {"blocks": [{"layout": 7}]},
    {"blocks": [{"layout": "no layout"}]},
    {"blocks": [{}]},
    {"blocks": [None, None]},
    {"texts": "x"},
    {"texts": [[KEY]]},
    {"texts": [[KEY, 7]]},
    {"texts": [["cold.1", "eA=="]]},
]


@pytest.mark.parametrize("data", HOSTILE)
def test_anything_of_another_shape_is_ignored(data: Any) -> None:
    message = saying(data)
    assert Metadata.of(message).grants == ()
    assert carried_text(KEY, [message]) is None
    assert grants_in([message], {"agent"}) == []


@pytest.mark.parametrize("data", HOSTILE)
@pytest.mark.parametrize("kind", [HumanMessage, AIMessage, ToolMessage])
def test_no_message_of_others_ends_a_run(data: Any, kind: Any) -> None:
    options: Any = {"additional_kwargs": {METADATA_KEY: data}}
    message = kind("Hm.", tool_call_id="c0", **options) if kind is ToolMessage else kind("Hm.", **options)
    before: list[Any] = [
        HumanMessage("first"),
        *([calls(call("crm", "c0", query="x"))] if kind is ToolMessage else []),
        message,
    ]
    graph, _ = agent([LOOK_UP, fetch_last, "done"], middleware=AccpMiddleware(hot_budget=400))
    state = graph.invoke({"messages": [*before, ("user", "go")]}, thread("t"))
    assert results(state)[-1].status == "success"


@pytest.mark.parametrize("packed", ["not base64!", "ünïcode", base64.b64encode(b"not packed").decode(), ""])
def test_what_is_no_text_of_ours_is_refused(packed: str) -> None:
    with pytest.raises(ProtocolError, match=r"^E2001: expected "):
        carried_text(KEY, [saying({"texts": [[KEY, packed]]})])


def test_a_forged_text_is_refused() -> None:
    _, packed = pack_carried(StoredText.of("another text"))
    with pytest.raises(ProtocolError, match=r"^E2001: expected the stored text of .*, found another text"):
        carried_text(KEY, [saying({"texts": [[KEY, packed]]})])


def test_a_small_text_that_expands_without_end_is_refused_at_the_limit() -> None:
    packed = base64.b64encode(zlib.compress(b"A" * 200_000_000, 9)).decode()
    message = saying({"refs": [KEY], "sessions": ["t"], "texts": [[KEY, packed]]})
    tracemalloc.start()
    with pytest.raises(ProtocolError, match=r"^E2003: "):
        carried_text(KEY, [message])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4 * metadata.MAX_CARRIED_BYTES


@pytest.mark.parametrize(("chars", "carriable"), [(4, True), (5, True), (16, True), (17, False)])
def test_a_text_up_to_the_limit_is_carried(chars: int, carriable: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "MAX_CARRIED_BYTES", 16)
    assert is_carriable("x" * chars) is carriable
    text = StoredText.of("x" * chars)
    message = Metadata(texts=(pack_carried(text),)).on(HumanMessage("x"))
    if carriable:
        assert carried_text(text.key, [message]) == text.text
    else:
        with pytest.raises(ProtocolError, match=r"^E2003: "):
            carried_text(text.key, [message])


def test_a_text_that_no_message_may_carry_is_kept_in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    embedded = SqliteColdStore()
    monkeypatch.setattr(stores, "embedded_store", lambda: embedded)
    monkeypatch.setattr(metadata, "MAX_CARRIED_BYTES", 1_000)
    graph, _ = agent([LOOK_UP, fetch_last, "done"])
    shown, fetched = results(graph.invoke({"messages": "go"}, thread("t")))
    assert Metadata.of(shown).texts == ()
    assert fetched.status == "success"
    assert embedded.purge("t") == 1
    embedded.close()


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_without_a_store_nothing_is_kept_in_this_process(
    asynchronous: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that runs for months would keep every text of every conversation."""
    embedded = SqliteColdStore()
    monkeypatch.setattr(stores, "embedded_store", lambda: embedded)
    graph, model = agent([LOOK_UP, fetch_last, "done"])
    asked: Any = {"messages": "go"}
    state = await graph.ainvoke(asked) if asynchronous else graph.invoke(asked)
    assert results(state)[1].status == "success"
    assert list(embedded._execute("SELECT text FROM cold")[0]) == []
    embedded.close()
    # A later run that is given these messages may open what they cite.
    model.script += [lambda messages: fetch_last(messages, "f2"), "again"]
    assert results(graph.invoke({"messages": [*state["messages"], ("user", "again")]}))[-1].status == "success"


def test_with_a_store_messages_carry_nothing() -> None:
    store = SqliteColdStore()
    graph, _ = agent([LOOK_UP, "done"], middleware=AccpMiddleware(store=store))
    (shown,) = results(graph.invoke({"messages": "go"}))
    assert refs_in(shown)
    assert Metadata.of(shown).texts == ()
    store.close()


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_a_text_that_a_store_changed_is_refused(asynchronous: bool) -> None:
    class Changed(SqliteColdStore):
        def get(self, session_id: str, key: str) -> str | None:
            text = super().get(session_id, key)
            return text and text.replace("open", "won")

    store = Changed()
    graph, _ = agent([LOOK_UP, fetch_last, "done"], middleware=AccpMiddleware(store=store))
    asked: Any = {"messages": "go"}
    state = await graph.ainvoke(asked) if asynchronous else graph.invoke(asked)
    fetched = results(state)[1]
    assert fetched.status == "error"
    assert fetched.text.startswith("E2001: expected the stored text of ")
    assert fetched.text.endswith("found another text")
    store.close()
