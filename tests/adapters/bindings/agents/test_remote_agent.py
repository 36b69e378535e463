"""A remote agent over ACCP: contexts and texts across the wire, refusals, lost connections, several workers."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.graph import START, MessagesState, StateGraph

from accp_adapters.bindings.accp.client_errors import RequestFailed
from accp_adapters.bindings.agents import GrantedReferences
from accp_adapters.bindings.agents.context_messages import TextAnswer, ask_message
from accp_adapters.bindings.identity import BearerTokens, Principal
from accp_adapters.langgraph import isolate
from accp_adapters.langgraph.references.grants import HANDED_TEXTS_KEY
from accp_adapters.remote import ReferenceRequest
from accp_adapters.stores import SqliteColdStore
from accp_core.accp import PRACTICAL_LIMITS, Codec, Intent, Message
from accp_core.aci import AgentContext, AgentReply
from accp_core.errors import ProtocolError
from accp_core.references import StoredText, uri_to_key
from tests.adapters.bindings.accp.faults import cutting
from tests.adapters.bindings.accp.test_connect import joined
from tests.adapters.bindings.agents.agents import (
    ORDERS,
    SALARIES,
    a_context,
    lister,
    opener,
    remote,
    served,
    with_done,
)
from tests.adapters.bindings.hosts.agents import count_characters
from tests.limits import PATIENCE, async_wait_until

BOTH = pytest.mark.parametrize("scheme", ["http", "ws"])
GRANTED = a_context(context_uri=(ORDERS.reference,))
EXPECTED = {"1": f"{len(ORDERS.text)} characters", "2": "1 texts"}


@BOTH
async def test_a_context_goes_out_and_comes_back_updated(scheme: str) -> None:
    async with served() as address:
        reply = await remote(address, scheme)(a_context(context=({"quarter": "Q3"},)))
    assert reply.context.states == {"1": 1, "2": 1}
    assert reply.context.abstracts == {"1": "did 1", "2": "did 2"}
    assert reply.context.context == ({"quarter": "Q3"},)


async def test_an_agent_gets_its_own_context_and_nothing_else() -> None:
    seen: list[AgentContext] = []

    async def recorder(context: AgentContext, _: GrantedReferences) -> AgentContext:
        seen.append(context)
        return with_done(context)

    contexts = [a_context(subtask_id=f"s{number}", context=({"for": number},)) for number in range(5)]
    async with served(recorder) as address:
        agent = remote(address)
        replies = await asyncio.gather(*map(agent, contexts))
    assert sorted(seen, key=lambda context: context.subtask_id) == contexts
    assert [reply.context.subtask_id for reply in replies] == [context.subtask_id for context in contexts]


async def test_it_is_a_node_of_a_graph() -> None:
    async with served() as address:
        update = await isolate(remote(address), agent_id="crm").ainvoke({"agent_context": a_context().to_json()})
    assert AgentContext.from_json(update["agent_contexts"]["s1"]).abstracts == {"1": "did 1", "2": "did 2"}


async def test_a_thread_without_a_loop_may_call_it() -> None:
    async with served() as address:
        reply = await asyncio.to_thread(remote(address).run, a_context())
    assert reply.context.states == {"1": 1, "2": 1}


async def test_a_text_of_many_pieces_is_fetched_both_ways() -> None:
    big = StoredText.of("grün [a|b] \n" * 12_000)

    async def doubler(context: AgentContext, references: GrantedReferences) -> AgentReply:
        return AgentReply(context=with_done(context), full={"1": 2 * await references.open(big.reference)})

    codec = Codec(counter=count_characters, limits=PRACTICAL_LIMITS)
    async with served(doubler, codec=codec) as address:
        agent = remote(address, fetch={big.key: big.text}.get, codec=codec)
        reply = await agent(a_context(context_uri=(big.reference,)))
    assert reply.full == {"1": 2 * big.text}


async def test_several_texts_are_opened_at_once_and_queried_by_the_master() -> None:
    async def asker(_: AgentContext, references: GrantedReferences) -> str:
        whole, found = await asyncio.gather(
            references.open(ORDERS.reference), references.query(ORDERS.reference, "ORD-7005")
        )
        return f"1: {len(whole)}\n2: {'185 EUR' in found and len(found) < len(whole)}"

    async with served(asker) as address:
        reply = await remote(address)(GRANTED)
    assert reply.context.abstracts == {"1": str(len(ORDERS.text)), "2": "True"}


@pytest.mark.parametrize("by_agent", [True, False])
async def test_what_the_context_does_not_grant_is_refused_at_both_ends(
    by_agent: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not by_agent:
        checked = "accp_adapters.remote.granted_references.check_context_grant"
        monkeypatch.setattr(checked, lambda _, ref: ref.removeprefix("$"))

    async def thief(_: AgentContext, references: GrantedReferences) -> str:
        return await references.open(SALARIES.reference)

    async with served(thief) as address:
        with pytest.raises(ProtocolError, match="E5002"):
            await remote(address)(GRANTED)


async def test_a_text_that_the_master_does_not_have_is_a_refusal_to_the_agent() -> None:
    async def careful(_: AgentContext, references: GrantedReferences) -> str:
        with pytest.raises(ProtocolError, match="E2001"):
            await references.open(ORDERS.reference)
        return "1: nothing there\n2: nothing"

    async with served(careful) as address:
        reply = await remote(address, fetch=None)(GRANTED)
    assert reply.context.abstracts == {"1": "nothing there", "2": "nothing"}


@pytest.mark.parametrize(
    ("error", "code"),
    [(ValueError("secret of the agent"), "E9999"), (ProtocolError("too much", code="E2003"), "E2003")],
)
async def test_a_failing_agent_is_an_answer(error: Exception, code: str) -> None:
    failed = []

    async def failing(context: AgentContext, _: GrantedReferences) -> AgentContext:
        failed.append(context)
        if len(failed) == 1:
            raise error
        return with_done(context)

    async with served(failing) as address:
        agent = remote(address)
        with pytest.raises(RequestFailed, match=code) as refused:
            await agent(a_context())
        assert "secret" not in str(refused.value)
        assert (await agent(a_context())).context.states == {"1": 1, "2": 1}


async def test_a_reply_that_breaks_a_rule_is_refused() -> None:
    async def liar(context: AgentContext, _: GrantedReferences) -> AgentReply:
        return AgentReply(context=with_done(a_context(subtask_id="s9")))

    async with served(liar) as address:
        with pytest.raises(ProtocolError, match="E5001"):
            await remote(address)(a_context())


async def test_a_context_of_another_agent_is_refused_at_both_ends() -> None:
    async with served() as address:
        for agent in (remote(address), remote(address, agent_id="hr")):
            with pytest.raises(ProtocolError, match="E5001: expected a context of agent 'crm', found one of 'hr'"):
                await agent(a_context(agent_id="hr"))


async def test_a_long_result_may_stay_with_the_agent_and_be_queried() -> None:
    async with served(lister) as address:
        agent = remote(address, leave_results=True)
        reply = await agent(a_context())
        assert "185 EUR" in await agent.query(ORDERS.reference, "ORD-7005")
        with pytest.raises(ProtocolError, match="E5002"):
            await remote(address).query(ORDERS.reference)
    assert list(map(uri_to_key, reply.stored)) == [ORDERS.key]


async def test_a_result_opens_for_its_principal_and_delivery_only() -> None:
    tokens = BearerTokens({"token-of-ann": Principal("ann"), "token-of-bob": Principal("bob")})
    async with served(lister, host={"authenticate": tokens}) as address:
        agent = remote(address, leave_results=True, token="token-of-ann")
        await agent(a_context())
        delivery = agent._deliveries.get(ORDERS.key) or ""
        for token, asked in (("token-of-bob", delivery), ("token-of-ann", "another")):
            async with joined(address, token=token) as session:
                with pytest.raises(RequestFailed, match="E5002"):
                    await session.request(ask_message(ReferenceRequest(ref=ORDERS.reference), asked))


@pytest.mark.parametrize(
    ("message", "code"),
    [
        (Message(sender="", intent=Intent.REQUEST, operation="sing", payload={}), "E1004"),
        (Message(sender="", intent=Intent.REQUEST, operation="fetch", payload={"number": 0, "text": "x"}), "E1004"),
        (Message(sender="", intent=Intent.REQUEST, operation="fetch", payload={"delivery": "d", "number": 0}), "E1004"),
        (Message(sender="", intent=Intent.REQUEST, operation="fetch", payload={"delivery": "d", "text": "x"}), "E1004"),
        (TextAnswer(delivery="d", number=0, text="x").to_message(), "E3001"),
    ],
)
async def test_what_no_delivery_waits_for_is_refused(message: Message, code: str) -> None:
    async with served() as address, joined(address) as session:
        with pytest.raises(RequestFailed, match=code):
            await session.request(message)


async def test_an_agent_opens_so_many_references_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accp_adapters.bindings.agents.text_exchange.MAX_OPENED", 0)
    async with served(opener) as address:
        with pytest.raises(RequestFailed, match="E2003: expected an agent that opens at most 0"):
            await remote(address)(GRANTED)
        monkeypatch.undo()
        monkeypatch.setattr("accp_adapters.bindings.agents.accp_wire.MAX_OPENED", 0)
        with pytest.raises(ProtocolError, match="E2003: expected an agent that opens at most 0"):
            await remote(address)(GRANTED)


async def test_more_contexts_than_a_worker_takes_are_refused() -> None:
    async with served(deliveries=0) as address:
        with pytest.raises(RequestFailed, match="E2003: expected at most 0 contexts at once"):
            await remote(address)(a_context())


async def test_a_delivery_is_given_so_many_bytes_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accp_adapters.bindings.agents.text_exchange.MAX_WAITING_BYTES", 10)
    async with served(opener) as address:
        with pytest.raises(RequestFailed, match="E2003: expected texts of at most 10 bytes"):
            await remote(address)(GRANTED)


async def test_an_agent_that_takes_too_long_is_given_up_and_stopped() -> None:
    stopped = asyncio.Event()

    async def sleeper(context: AgentContext, _: GrantedReferences) -> AgentContext:
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()
        return context

    async with served(sleeper) as address:
        with pytest.raises(ProtocolError, match=r"E3001: expected 'crm' to answer within 0.5 seconds"):
            await remote(address, timeout=0.5)(a_context())
        await asyncio.wait_for(stopped.wait(), PATIENCE)


async def test_nothing_of_a_delivery_stays_in_the_store() -> None:
    store = SqliteColdStore()
    async with served(opener, store=store) as address:
        await remote(address)(GRANTED)
        # There is no other way to count them; they are deleted once the answer is recorded.
        await async_wait_until(lambda: store._execute("SELECT count(*) FROM cold")[0][0][0] == 0)


@BOTH
async def test_a_delivery_goes_on_over_lost_connections(scheme: str) -> None:
    async with served(opener) as address, cutting(address) as proxy:
        fetched = []

        async def fetch(key: str) -> str:
            fetched.append(key)
            proxy.cut()
            return ORDERS.text

        reply = await remote(proxy.address, scheme, fetch=fetch)(GRANTED)
        assert (proxy.cuts, fetched) == (1, [ORDERS.key])
    assert reply.context.abstracts == EXPECTED


class _State(MessagesState):
    accp_texts: dict[str, str]


async def test_a_graph_answers_behind_a_server() -> None:
    def answer(state: _State) -> dict[str, Any]:
        (text,) = state[HANDED_TEXTS_KEY].values()  # type: ignore[literal-required]  # the key of the class
        asked = str(state["messages"][0].content)
        return {"messages": [AIMessage(f"1: {len(text)} characters\n2: {'Sum them up' in asked}")]}

    graph = StateGraph(_State)
    graph.add_node("answer", answer)
    graph.add_edge(START, "answer")
    async with served(graph.compile()) as address:
        reply = await remote(address)(GRANTED)
    assert reply.context.abstracts == {"1": f"{len(ORDERS.text)} characters", "2": "True"}


async def test_a_plain_function_runs_in_a_thread() -> None:
    def plain(context: AgentContext, _: GrantedReferences) -> AgentContext:
        with pytest.raises(RuntimeError):
            asyncio.get_running_loop()
        return with_done(context)

    async with served(plain) as address:
        assert (await remote(address)(a_context())).context.states == {"1": 1, "2": 1}
