"""The agent's side: references opened where they were granted, long results stored, tasks that wait."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from a2a.client import Client
from a2a.types import CancelTaskRequest, Message, Role, SendMessageRequest, TaskState

from accp_adapters.a2a import A2aWire, GrantedReferences, RemoteAgent
from accp_adapters.a2a.teams.contexts import delivery_parts
from accp_adapters.a2a.teams.reference_messages import request_part
from accp_adapters.remote import ReferenceRequest
from accp_adapters.stores import SqliteColdStore
from accp_core import parse_frame
from accp_core.aci import AgentContext, AgentReply
from accp_core.errors import ProtocolError
from tests.adapters.a2a.calls import connect, request
from tests.adapters.a2a.serve import Wrap, always, plain
from tests.adapters.a2a.teams.agents import LONG, a_context, lister, master_store, opener, served, worker
from tests.limits import PATIENCE


@pytest.mark.parametrize("wrap", [always, plain])
async def test_an_agent_opens_what_its_context_grants(wrap: Wrap) -> None:
    async with served(opener, wrap) as running:
        agent = RemoteAgent(A2aWire(running.url), agent_id="crm", fetch=master_store(a1="first text", a2="@x>req:op{}"))
        reply = await agent(a_context(context_uri=("$cold.a1", "$cold.a2")))
    assert reply.context.abstracts == {"1": "first text; @x>req:op{}", "2": "2 texts"}


async def test_an_agent_may_return_the_json_of_its_context() -> None:
    async def writer(context: AgentContext, references: GrantedReferences) -> AgentReply:
        return AgentReply(context=(await worker(context, references)).to_json())

    async with served(writer) as running:
        reply = await RemoteAgent(A2aWire(running.url), agent_id="crm")(a_context())
    assert reply.context.abstracts == {"1": "did 1", "2": "did 2"}


class Broken(SqliteColdStore):
    """A store that returns another text than the one it was given."""

    def get(self, session_id: str, key: str) -> str | None:
        return "another text"


async def test_a_stored_result_is_checked_against_its_key() -> None:
    async with served(lister, store=Broken()) as running:
        with pytest.raises(ProtocolError, match="E2001: expected the stored text of"):
            await RemoteAgent(A2aWire(running.url), agent_id="crm")(a_context())


async def ask(client: Client, ref: str, context_id: str) -> Any:
    """Return the frame that answers a question for a reference."""
    message = Message(message_id=f"ask-{ref}-{context_id}", role=Role.ROLE_USER, context_id=context_id)
    message.parts.append(request_part(ReferenceRequest(ref=ref), sender="master", message_id=message.message_id))
    (response,) = [each async for each in client.send_message(SendMessageRequest(message=message))]
    return parse_frame(response.message.parts[0].text)


async def test_what_an_agent_kept_opens_only_in_the_context_it_was_made_for() -> None:
    async with served(lister) as running, await connect(running.card) as client:
        parts = delivery_parts(a_context(), "0123456789ab", frames=True)
        (response,) = [each async for each in client.send_message(request("0123456789ab", *parts))]
        refs = parse_frame(response.task.status.message.parts[0].text).params["refs"]
        ref = str(refs[0])  # type: ignore[index]  # a list of one
        assert (await ask(client, ref, response.task.context_id)).intent == "done"
        for where, what in (("another", ref), (response.task.context_id, "$cold.0123456789ab")):
            refused = await ask(client, what, where)
            assert (refused.intent, refused.operation, refused.params["code"]) == ("fail", "error", "E5002")


async def test_results_of_contexts_long_past_are_forgotten_by_their_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accp_adapters.remote.stored_results.MAX_STORED_BYTES", 2 * len(LONG) - 1)
    store = SqliteColdStore()
    async with served(lister, store=store) as running:
        for _ in range(3):
            await RemoteAgent(A2aWire(running.url), agent_id="crm")(a_context())
    rows, _ = store._execute("SELECT count(*) FROM cold")  # there is no other way to count them
    assert rows[0][0] == 1


async def test_a_context_of_another_agent_is_refused_at_both_ends() -> None:
    async with served() as running:
        with pytest.raises(ProtocolError, match="E5001: expected a context of agent 'crm', found one of 'hr'"):
            await RemoteAgent(A2aWire(running.url), agent_id="crm")(a_context(agent_id="hr"))
        with pytest.raises(ProtocolError, match="E5001: expected a context of agent 'crm', found one of 'hr'"):
            await RemoteAgent(A2aWire(running.url), agent_id="hr")(a_context(agent_id="hr"))


async def test_a_task_that_waits_can_be_cancelled_and_not_gone_on_with() -> None:
    stopped = asyncio.Event()

    async def waiter(context: AgentContext, references: GrantedReferences) -> AgentContext:
        try:
            await references.open("$cold.a1")
        except asyncio.CancelledError:
            stopped.set()
            raise
        return context

    async with served(waiter) as running, await connect(running.card) as client:
        parts = delivery_parts(a_context(context_uri=("$cold.a1",)), "m1", frames=True)
        (response,) = [each async for each in client.send_message(request("m1", *parts))]
        assert response.task.status.state == TaskState.TASK_STATE_INPUT_REQUIRED
        cancelled = await client.cancel_task(CancelTaskRequest(id=response.task.id))
        assert cancelled.status.state == TaskState.TASK_STATE_CANCELED
        await asyncio.wait_for(stopped.wait(), PATIENCE)


async def test_a_run_that_was_given_up_is_not_resumed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accp_adapters.a2a.teams.executor.MAX_WAITING_BYTES", 1_000)
    async with served(opener) as running:
        agent = RemoteAgent(A2aWire(running.url), agent_id="crm", fetch=master_store(a1="text"))
        with pytest.raises(ProtocolError, match="E3001: expected a task that waits, found none"):
            await agent(a_context(context_uri=("$cold.a1",)))
