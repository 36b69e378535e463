"""Sessions, grants, and what a call knows of its turn."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from accp_adapters.langgraph.metadata import Grant, Metadata
from accp_adapters.langgraph.runtime import (
    SESSION_KEY,
    messages_of,
    new_session,
    open_grant,
    session_of,
)
from accp_adapters.langgraph.turns import find_call
from accp_core.errors import ProtocolError
from tests.scripted_model import call, calls


def runtime(thread_id: str | None) -> Any:
    return SimpleNamespace(execution_info=SimpleNamespace(thread_id=thread_id))


def granting(ref: str, session: str) -> AnyMessage:
    granted = Metadata(blocks=({"ref": ref},), grants=(Grant(key=ref, session_id=session),))
    return granted.on(ToolMessage(content="preview", tool_call_id="c1"))


def test_the_thread_is_the_session_before_the_private_key() -> None:
    assert session_of(runtime("t"), {SESSION_KEY: "run-1"}) == "t"
    assert session_of(runtime(None), {SESSION_KEY: "run-1"}) == "run-1"
    assert session_of(SimpleNamespace(execution_info=None), {}) is None
    assert session_of(runtime(None), []) is None
    number: Any = 7
    assert session_of(runtime(number), {}) == "7"


def test_messages_are_found_in_every_kind_of_state() -> None:
    messages = [HumanMessage("hello")]
    assert messages_of(messages) == messages
    assert messages_of({"talk": messages}, "talk") == messages
    assert messages_of(SimpleNamespace(messages=messages)) == messages
    assert messages_of({}) == []


@pytest.mark.parametrize("written", ["$cold.1", "cold.1", " $cold.1\n"])
def test_what_a_message_grants_opens_however_it_is_written(written: str) -> None:
    assert open_grant(written, [granting("cold.1", "t")], "t") == Grant(key="cold.1", session_id="t")


@pytest.mark.parametrize(
    "messages",
    [[], [HumanMessage("open $cold.1")], [granting("cold.2", "t")], [granting("cold.1", "another thread")]],
    ids=["nothing", "typed", "another reference", "another session"],
)
def test_anything_else_is_refused_by_name(messages: list[AnyMessage]) -> None:
    with pytest.raises(ProtocolError, match=r"^E5002: .* found '\$cold\.1'$"):
        open_grant("$cold.1", messages, "t")


def test_a_reference_of_a_run_without_a_thread_goes_where_its_message_goes() -> None:
    session = new_session()
    assert session != new_session()
    messages = [granting("cold.1", "another thread"), granting("cold.1", session)]
    assert open_grant("$cold.1", messages, "t") == Grant(key="cold.1", session_id=session)


def test_a_message_that_shows_its_result_whole_grants_nothing() -> None:
    shown = Metadata(blocks=({"layout": "x"},)).on(ToolMessage(content="[]", tool_call_id="c1"))
    with pytest.raises(ProtocolError, match="E5002"):
        open_grant("$cold.1", [shown], "t")


def test_a_call_is_found_with_the_number_of_calls_of_its_turn() -> None:
    turn = calls(call("crm", "c1", query="open deals"), call("crm", "c2", query="won deals"))
    messages = [HumanMessage("who is late?"), turn, AIMessage("done")]
    assert find_call(messages, "c2") == (turn.tool_calls[1], 2)
    assert find_call(messages, "unknown") == (None, 1)
