"""Contexts over A2A: delivered, returned, checked; references opened for who was granted them, and nobody else."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from a2a.client import Client
from a2a.helpers import new_text_part
from a2a.types import CancelTaskRequest, ListTasksRequest, Message, Part, Role, SendMessageRequest, TaskState

from accp_adapters.a2a import ContextExecutor, ContextReply, References, RemoteAgent
from accp_adapters.a2a.teams.contexts import completion_parts, delivery_parts, question_part
from accp_adapters.stores import SqliteColdStore
from accp_core import parse_frame
from accp_core.aci import (
    AgentContext,
    Interaction,
    ItemAnswer,
    ItemState,
    KeyInformation,
    TaskContext,
    scope_of,
    todo,
    with_answers,
)
from accp_core.errors import ProtocolError
from tests.adapters.a2a.calls import connect, request, told
from tests.adapters.a2a.serve import Served, Wrap, always, negotiating, plain, serve
from tests.limits import PATIENCE

LONG = "\n".join(f"ORD-{7000 + n}: {n * 37} EUR, open since {n} days" for n in range(120))


def a_context(**more: Any) -> AgentContext:
    """Return the context of one subtask."""
    fields: dict[str, Any] = {"agent_id": "crm", "subtask_id": "s1", "subtask_name": "Find open orders"}
    return AgentContext(**{**fields, "todo_items": todo("List them", "Sum them up"), **more})


async def worker(context: AgentContext, references: References) -> AgentContext:
    """Do all items in few words."""
    return with_answers(context, {item.item_id: ItemAnswer(True, f"did {item.item_id}") for item in context.todo_items})


@asynccontextmanager
async def served(agent: Any = worker, wrap: Wrap = always, **options: Any) -> AsyncIterator[Served]:
    """Serve an agent that takes contexts."""
    async with serve(wrap, executor=ContextExecutor(agent, agent_id="crm", **options)) as running:
        yield running


@pytest.mark.parametrize("wrap", [always, negotiating, plain])
async def test_a_context_goes_out_and_comes_back_updated(wrap: Wrap) -> None:
    async with served(wrap=wrap) as running:
        returned = await RemoteAgent(running.url, agent_id="crm")(a_context(context=({"quarter": "Q3"},)))
    assert returned.states == {"1": 1, "2": 1}
    assert returned.abstracts == {"1": "did 1", "2": "did 2"}
    assert returned.context == ({"quarter": "Q3"},)


async def test_the_context_is_a_req_frame_and_its_answer_a_done_frame() -> None:
    async with served() as running:
        await RemoteAgent(running.card, agent_id="crm")(a_context())
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
        returned = await RemoteAgent(running.url, agent_id="crm")(a_context(todo_items=todo("List them")))
    assert returned.abstracts["1"].startswith("Echo: task Find open orders")


async def test_a_context_can_be_delivered_without_an_event_loop() -> None:
    async with served() as running:
        returned = await asyncio.to_thread(RemoteAgent(running.url, agent_id="crm").run, a_context())
    assert returned.states == {"1": 1, "2": 1}


def test_a_remote_agent_is_awaited_as_an_asynchronous_function_is() -> None:
    assert inspect.iscoroutinefunction(RemoteAgent.__call__)


async def test_a_task_of_the_core_runs_over_a2a() -> None:
    async with served() as running:
        agent = RemoteAgent(running.url, agent_id="crm")
        interaction = Interaction.start(TaskContext(task_id="t1", user_query="What is open?"), [a_context()])
        interaction, (delivery,) = interaction.deliver()
        interaction = interaction.receive(delivery.id, await agent(delivery.context)).verify()
    assert interaction.task.overall_status == "completed"


# --- references -------------------------------------------------------------------------------------------------------


async def opener(context: AgentContext, references: References) -> str:
    """Open all that is granted, one after the other, and say what was there."""
    texts = [await references.open(uri.replace("accp://cold/", "$cold.")) for uri in context.context_uri]
    return f"1: {'; '.join(texts)}\n2: {len(texts)} texts"


def master_store(**texts: str) -> Callable[[str], str | None]:
    """Return what opens references of a master's store."""
    store = SqliteColdStore()
    for name, text in texts.items():
        store.put(scope_of("t1"), f"cold.{name}", text)
    return lambda key: store.get(scope_of("t1"), key)


@pytest.mark.parametrize("wrap", [always, plain])
async def test_an_agent_opens_what_its_context_grants(wrap: Wrap) -> None:
    async with served(opener, wrap) as running:
        agent = RemoteAgent(running.url, agent_id="crm", fetch=master_store(a1="first text", a2="@x>req:op{}"))
        returned = await agent(a_context(context_uri=("$cold.a1", "$cold.a2")))
    assert returned.abstracts == {"1": "first text; @x>req:op{}", "2": "2 texts"}


async def test_a_master_may_have_to_wait_for_its_own_store() -> None:
    async def fetch(key: str) -> str:
        await asyncio.sleep(0)
        return f"text of {key}"

    async with served(opener) as running:
        agent = RemoteAgent(running.url, agent_id="crm", fetch=fetch)
        returned = await agent(a_context(context_uri=("$cold.a1",)))
    assert returned.abstracts["1"] == "text of cold.a1"


async def thief(context: AgentContext, references: References) -> str:
    """Open what was not granted."""
    return await references.open("$cold.secret")


async def test_an_agent_cannot_open_what_its_context_does_not_grant() -> None:
    async with served(thief) as running:
        agent = RemoteAgent(running.url, agent_id="crm", fetch=master_store(secret="salaries"))
        with pytest.raises(ProtocolError, match=r"E5002: .*found '\$cold.secret'"):
            await agent(a_context(context_uri=("$cold.a1",)))


class Ungranted(References):
    """References of a server that lies: it asks for whatever it likes."""

    async def open(self, reference: str) -> str:
        found: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._asked.put_nowait((reference, found))
        return await found


async def test_the_master_checks_the_grant_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accp_adapters.a2a.teams.executor.References", Ungranted)
    async with served(thief) as running:
        agent = RemoteAgent(running.url, agent_id="crm", fetch=master_store(secret="salaries"))
        with pytest.raises(ProtocolError, match=r"E5002: .*found '\$cold.secret'"):
            await agent(a_context(context_uri=("$cold.a1",)))


@pytest.mark.parametrize("fetch", [None, master_store()])
async def test_a_granted_reference_to_nothing_is_not_found(fetch: Any) -> None:
    async with served(opener) as running:
        agent = RemoteAgent(running.url, agent_id="crm", fetch=fetch)
        with pytest.raises(ProtocolError, match=r"E2001: expected a text under '\$cold.gone', found none"):
            await agent(a_context(context_uri=("$cold.gone",)))


async def lister(context: AgentContext, references: References) -> ContextReply:
    """Give a result that is no abstract."""
    short = with_answers(context, {"1": ItemAnswer(True, "120 orders"), "2": ItemAnswer(True, "264,180 EUR")})
    return ContextReply(context=short, full={"1": LONG})


async def test_a_long_result_is_kept_where_it_was_made_and_fetched_whole() -> None:
    async with served(lister) as running:
        found = await RemoteAgent(running.url, agent_id="crm").deliver(a_context())
    assert found.full == {"1": LONG}
    assert found.context.context_uri == ()
    assert "$cold." in found.context.abstracts["1"]
    assert found.context.abstracts["2"] == "264,180 EUR"


async def test_the_caller_says_what_becomes_of_long_results() -> None:
    async with served(lister) as running:
        kept = await RemoteAgent(running.url, agent_id="crm", reply=dict)(a_context())
        alone = await RemoteAgent(running.url, agent_id="crm")(a_context())
    assert kept["full"] == {"1": LONG}
    assert isinstance(alone, AgentContext)


async def test_a_result_that_is_an_abstract_for_the_master_is_one() -> None:
    async with served(lister, abstract_limit=100) as running:
        running_long = LONG[:1_500]

        async def shorter(context: AgentContext, references: References) -> str:
            return f"1: {running_long}\n2: done"

        async with served(shorter, abstract_limit=100) as other:
            found = await RemoteAgent(other.url, agent_id="crm").deliver(a_context())
        assert running.url != other.url
    assert found.full == {}
    assert found.context.abstracts["1"] == running_long.strip()


async def ask(client: Client, ref: str, context_id: str) -> Any:
    """Return the frame that answers a question for a reference."""
    message = Message(message_id=f"ask-{ref}-{context_id}", role=Role.ROLE_USER, context_id=context_id)
    message.parts.append(question_part(ref, sender="master", owner=message.message_id))
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


async def test_results_of_contexts_long_past_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accp_adapters.a2a.teams.executor._SCOPES", 1)
    store = SqliteColdStore()
    async with served(lister, store=store) as running:
        for _ in range(3):
            await RemoteAgent(running.url, agent_id="crm")(a_context())
    rows, _ = store._execute("SELECT count(*) FROM cold")  # there is no other way to count them
    assert rows[0][0] == 1


# --- refusals ---------------------------------------------------------------------------------------------------------


async def test_a_context_of_another_agent_is_refused_at_both_ends() -> None:
    async with served() as running:
        with pytest.raises(ProtocolError, match="E5001: expected a context of agent 'crm', found one of 'hr'"):
            await RemoteAgent(running.url, agent_id="crm")(a_context(agent_id="hr"))
        with pytest.raises(ProtocolError, match="E5001: expected a context of agent 'crm', found one of 'hr'"):
            await RemoteAgent(running.url, agent_id="hr")(a_context(agent_id="hr"))


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


def liar(**changes: Any) -> Any:
    """Return an agent that changes what it may not."""

    async def agent(context: AgentContext, references: References) -> AgentContext:
        done = await worker(context, references)
        return AgentContext(**{**{name: getattr(done, name) for name in FIELDS}, **changes})

    return agent


FIELDS = ("agent_id", "subtask_id", "subtask_name", "todo_items", "item_state_updates", "key_information")


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"subtask_id": "s9"}, "E5001"),
        ({"item_state_updates": (ItemState("7", 1),)}, "E5001"),
        ({"key_information": (KeyInformation("7", "x"),)}, "E5001"),
    ],
)
async def test_a_reply_that_breaks_a_rule_is_refused(changes: dict[str, Any], code: str) -> None:
    async with served(liar(**changes)) as running:
        with pytest.raises(ProtocolError, match=code):
            await RemoteAgent(running.url, agent_id="crm")(a_context())


async def test_a_reply_to_another_delivery_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def confused(*given: Any, **named: Any) -> list[Part]:
        return completion_parts(*given, **{**named, "correlation_id": "ffffffffffff"})

    monkeypatch.setattr("accp_adapters.a2a.teams.executor.completion_parts", confused)
    async with served() as running:
        with pytest.raises(ProtocolError, match=r"E5001: expected the answer to '[0-9a-f]{12}', found one to 'ffff"):
            await RemoteAgent(running.url, agent_id="crm")(a_context())


@pytest.mark.parametrize(
    ("name", "code"), [("reject", "E5001"), ("auth", "E5001"), ("fail", "E9999"), ("crash", "E9999")]
)
async def test_a_task_that_does_not_complete_says_why(name: str, code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accp_adapters.a2a.teams.remote_agent.secrets.token_hex", lambda _: name)
    async with serve(plain) as running:
        with pytest.raises(ProtocolError, match=code):
            await RemoteAgent(running.url, agent_id="crm")(a_context())


async def test_an_agent_that_takes_too_long_is_given_up() -> None:
    async def sleeper(context: AgentContext, references: References) -> AgentContext:
        await asyncio.Event().wait()
        return context

    async with served(sleeper) as running:
        with pytest.raises(ProtocolError, match=r"E3001: expected 'crm' to answer within 0.3 seconds"):
            await RemoteAgent(running.url, agent_id="crm", timeout=0.3)(a_context())


async def test_an_agent_that_is_not_there_is_an_error_with_a_code() -> None:
    with pytest.raises(ProtocolError, match="'crm': "):
        await RemoteAgent("http://127.0.0.1:9", agent_id="crm")(a_context())


async def test_a_task_that_waits_can_be_cancelled_and_not_gone_on_with() -> None:
    stopped = asyncio.Event()

    async def waiter(context: AgentContext, references: References) -> AgentContext:
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
    monkeypatch.setattr("accp_adapters.a2a.teams.executor._WAITING", 0)
    async with served(opener) as running:
        agent = RemoteAgent(running.url, agent_id="crm", fetch=master_store(a1="text"))
        with pytest.raises(ProtocolError, match="E3001: expected a task that waits, found none"):
            await agent(a_context(context_uri=("$cold.a1",)))
