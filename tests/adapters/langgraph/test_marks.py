"""Texts that messages carry where there is no store."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from langchain_core.messages import HumanMessage, ToolMessage

from accp_adapters.langgraph import AccpMiddleware, Policy, stores
from accp_adapters.langgraph.marks import MARK, carried_pairs, carried_text, carry
from accp_adapters.langgraph.messages import compact_message, restore_message
from accp_adapters.langgraph.runtime import grant
from accp_adapters.stores import SqliteColdStore
from accp_core.errors import ProtocolError
from tests.adapters.langgraph.jobs import LOOK_UP, agent, fetch_last, refs_in, results

SOURCE = "".join(f"{number} a line that is no JSON\n" for number in range(3_000))
POLICY = Policy(inline_limit=500, preview_limit=200)


def carrying(source: str = SOURCE) -> ToolMessage:
    message, items = compact_message(ToolMessage(source, tool_call_id="c1"), POLICY, "s", carries=True)
    assert items == ()
    return message


@pytest.mark.parametrize("odd", ["", "\0", "half of a pair: \ud800", "Ünïcödé 漢字"])
def test_a_message_carries_what_it_cites_in_fewer_bytes(odd: str) -> None:
    message = carrying(SOURCE + odd)
    (key,) = message.additional_kwargs[MARK]["refs"]
    assert carried_text(key, [message]) == SOURCE + odd
    assert len(repr(message)) < len(SOURCE) / 2


def test_the_original_comes_back_from_the_message_alone() -> None:
    message = carrying()
    assert restore_message(message) == ToolMessage(SOURCE, tool_call_id="c1")
    assert restore_message(message, lambda key: "never asked").content == SOURCE


def test_a_message_that_cites_nothing_carries_nothing() -> None:
    message, _ = compact_message(ToolMessage('{ "a": 1 }', tool_call_id="c1"), POLICY, "s", carries=True)
    assert "texts" not in message.additional_kwargs.get(MARK, {})
    assert carried_text("cold.1", [message, HumanMessage("hello")]) is None


def test_who_grants_a_key_anew_carries_its_text_on() -> None:
    first, second = carrying(), carrying(SOURCE + "more")
    (key,) = first.additional_kwargs[MARK]["refs"]
    task = HumanMessage(
        "go on", additional_kwargs={MARK: grant([("s", key)], "b") | carried_pairs([key], [first, second])}
    )
    assert carried_text(key, [task]) == SOURCE
    assert len(task.additional_kwargs[MARK]["texts"]) == 1
    assert carried_pairs(["cold.other"], [first]) == {}


@pytest.mark.parametrize("packed", ["not base64!", base64.b64encode(b"not packed").decode(), ""])
def test_what_is_no_text_of_ours_is_refused(packed: str) -> None:
    message = HumanMessage("", additional_kwargs={MARK: {"texts": [["cold.1", packed]]}})
    with pytest.raises(ProtocolError, match=r"^E2001: expected "):
        carried_text("cold.1", [message])


def test_carry_says_nothing_for_nothing() -> None:
    assert carry([]) == {}


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
    assert "texts" not in shown.additional_kwargs[MARK]
    store.close()
