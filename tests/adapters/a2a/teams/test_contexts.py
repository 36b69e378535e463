"""Contexts in messages: what a delivery and its answer look like, and what is refused as neither."""

from __future__ import annotations

from typing import Any

import pytest
from a2a.helpers import new_text_part
from a2a.types import ListTasksRequest, Part

from accp_adapters.a2a import A2aWire, RemoteAgent
from accp_adapters.a2a.teams.contexts import completion_parts, failure_part
from accp_core import parse_frame
from accp_core.aci import (
    todo,
)
from accp_core.errors import ProtocolError
from tests.adapters.a2a.calls import connect, request, told
from tests.adapters.a2a.serve import Wrap, always, negotiating, plain, serve
from tests.adapters.a2a.teams.agents import a_context, served


@pytest.mark.parametrize("wrap", [always, negotiating, plain])
async def test_a_context_goes_out_and_comes_back_updated(wrap: Wrap) -> None:
    async with served(wrap=wrap) as running:
        reply = await RemoteAgent(A2aWire(running.url), agent_id="crm")(a_context(context=({"quarter": "Q3"},)))
    returned = reply.context
    assert returned.states == {"1": 1, "2": 1}
    assert returned.abstracts == {"1": "did 1", "2": "did 2"}
    assert returned.context == ({"quarter": "Q3"},)


async def test_the_context_is_a_req_frame_and_its_answer_a_done_frame() -> None:
    async with served() as running:
        await RemoteAgent(A2aWire(running.card), agent_id="crm")(a_context())
        async with await connect(running.card, aware=False) as client:
            (task,) = (await client.list_tasks(ListTasksRequest())).tasks
    sent = parse_frame(task.history[0].parts[0].text)
    answer = parse_frame(task.status.message.parts[0].text)
    assert (sent.sender, sent.intent, sent.operation) == ("master", "req", "execute")
    assert (answer.sender, answer.intent, answer.operation) == ("crm", "done", "execute")
    assert answer.envelope.correlation_id == sent.envelope.msg_id == task.history[0].message_id
    assert answer.envelope.msg_id == task.status.message.message_id


async def test_an_agent_that_knows_no_contexts_is_understood_in_words() -> None:
    async with serve(plain) as running:
        reply = await RemoteAgent(A2aWire(running.url), agent_id="crm")(a_context(todo_items=todo("List them")))
    assert reply.context.abstracts["1"].startswith("Echo: task Find open orders")


@pytest.mark.parametrize(
    ("parts", "code"),
    [
        ([new_text_part("hello")], "E1001"),
        ([Part(text="@m>req:execute{agent:crm}[mid:0123456789ab,seq:1]", media_type="application/accp")], "E1004"),
        ([Part(text="@m>done:sing{}[mid:0123456789ab,seq:1]", media_type="application/accp")], "E1004"),
    ],
)
async def test_what_is_no_context_is_refused_with_its_code(parts: list[Part], code: str) -> None:
    async with served() as running, await connect(running.card) as client:
        (event,) = await told(client, request("m1", *parts))
    assert event["task"]["status"]["state"] == "TASK_STATE_FAILED"
    assert f"@crm>fail:error{{code:{code}|" in event["task"]["status"]["message"]["parts"][0]["text"]


async def test_a_reply_to_another_delivery_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def confused(*given: Any, **named: Any) -> list[Part]:
        return completion_parts(*given, **{**named, "correlation_id": "ffffffffffff"})

    monkeypatch.setattr("accp_adapters.a2a.teams.executor.completion_parts", confused)
    async with served() as running:
        with pytest.raises(ProtocolError, match=r"E5001: expected the answer to '[0-9a-f]{12}', found one to 'ffff"):
            await RemoteAgent(A2aWire(running.url), agent_id="crm")(a_context())


def test_a_refusal_with_a_code_of_another_table_is_reported_as_an_internal_error() -> None:
    part = failure_part(ProtocolError("too much", code="E7777"), sender="crm", correlation_id="c", message_id="m")
    assert parse_frame(part.text).params["code"] == "E9999"
