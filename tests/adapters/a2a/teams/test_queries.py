"""References opened by queries: where the query runs, what crosses the wire, and who may ask."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from a2a.client import ClientConfig
from a2a.helpers import new_text_part
from a2a.types import AgentCardSignature, Part

from accp_adapters.a2a import A2aWire, GrantedReferences, RemoteAgent, declare_queries
from accp_adapters.a2a.teams.reference_messages import request_in, request_part
from accp_adapters.fetching import FETCH_NAME
from accp_adapters.remote.reference_request import FETCH_OPERATION, ReferenceRequest
from accp_core.aci import AgentContext, AgentReply, ItemAnswer, Outcome, with_answers
from accp_core.errors import ProtocolError
from accp_core.references import StoredText, uri_to_key
from tests.adapters.a2a.agent import card
from tests.adapters.a2a.calls import Recorder
from tests.adapters.a2a.teams.agents import a_context, served

ROWS = StoredText.of(json.dumps([{"id": n, "who": f"customer-{n}", "total": n * 7 % 100} for n in range(200)]))
NAMES = StoredText.of(json.dumps([{"id": n, "region": f"region-{n}"} for n in range(200)]))
OTHER = StoredText.of("of somebody else")
MOST = "SELECT who FROM rows ORDER BY total DESC, id LIMIT 1"
STORE = {stored.key: stored.text for stored in (ROWS, NAMES)}
GRANTED = a_context(context_uri=(ROWS.reference, NAMES.reference))


async def asker(context: AgentContext, references: GrantedReferences) -> str:
    """Ask for one row of one reference, and for one of two that are joined."""
    most = await references.query(ROWS.reference, MOST)
    joined = f"SELECT region FROM {ROWS.reference} a JOIN {NAMES.reference} b ON b.id = a.id WHERE a.total = 98"
    return f"1: {most}\n2: {await references.query('', joined, limit=1)}"


ANSWERS = {"1": "who customer-57", "2": "[{region region-14}]\n… rows 0-0 of 2; next: offset=1"}


async def test_the_master_runs_the_query_and_only_the_answer_crosses_the_wire() -> None:
    async with served(asker) as running, Recorder() as http:
        config = ClientConfig(httpx_client=http)
        reply = await RemoteAgent(A2aWire(running.card, config=config), agent_id="crm", fetch=STORE.get)(GRANTED)
    assert reply.context.abstracts == ANSWERS
    wire = "".join(http.asked)
    assert "customer-57" in wire and "customer-56" not in wire and "region-15" not in wire


async def test_where_the_master_knows_no_queries_the_agent_runs_them(monkeypatch: pytest.MonkeyPatch) -> None:
    def whole(parts: Any) -> ReferenceRequest | None:
        request = request_in(parts)
        return request and replace(request, query=None)

    async def one(context: AgentContext, references: GrantedReferences) -> str:
        return f"1: {await references.query(ROWS.reference, MOST)}\n2: done"

    monkeypatch.setattr("accp_adapters.a2a.teams.a2a_wire.request_in", whole)
    async with served(one) as running:
        reply = await RemoteAgent(A2aWire(running.card), agent_id="crm", fetch=STORE.get)(GRANTED)
    assert reply.context.abstracts["1"] == ANSWERS["1"]


@pytest.mark.parametrize(
    ("query", "code"),
    [("SELECT nothing FROM rows", "E1004"), (f"SELECT * FROM {NAMES.reference}", "E5002"), ("rows.900.id", "E1004")],
)
async def test_what_is_wrong_with_a_query_is_told_the_agent(query: str, code: str) -> None:
    refusals = []

    async def wrong(context: AgentContext, references: GrantedReferences) -> str:
        with pytest.raises(ProtocolError) as refused:
            await references.query(ROWS.reference, query)
        refusals.append(refused.value.code)
        return "1: done\n2: done"

    async with served(wrong) as running:
        agent = RemoteAgent(A2aWire(running.card), agent_id="crm", fetch=STORE.get)
        await agent(a_context(context_uri=(ROWS.reference,)))
    assert refusals == [code]


async def test_the_master_checks_every_reference_that_a_query_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accp_adapters.remote.granted_references.check_context_grant", lambda *_: None)

    async def thief(context: AgentContext, references: GrantedReferences) -> str:
        return await references.query(ROWS.reference, f"SELECT * FROM {NAMES.reference}")

    async with served(thief) as running:
        agent = RemoteAgent(A2aWire(running.card), agent_id="crm", fetch=STORE.get)
        with pytest.raises(ProtocolError, match="E5002"):
            await agent(a_context(context_uri=(ROWS.reference,)))


# --- what the agent stored --------------------------------------------------------------------------------------------


async def lister(context: AgentContext, references: GrantedReferences) -> AgentReply:
    """Give two results that are no abstracts."""
    answers = {item: ItemAnswer(Outcome.DONE, "200 rows") for item in ("1", "2")}
    return AgentReply(context=with_answers(context, answers), full={"1": ROWS.text, "2": NAMES.text})


@pytest.mark.parametrize("declared", [True, False])
async def test_a_result_that_is_left_with_the_agent_is_queried_there(declared: bool) -> None:
    async with served(lister) as running, Recorder() as http:
        agent_card = declare_queries(running.card) if declared else running.card
        config = ClientConfig(httpx_client=http)
        agent = RemoteAgent(A2aWire(agent_card, config=config), agent_id="crm", leave_results=True)
        reply = await agent(a_context())
        assert reply.full == {}
        rows, names = (f"${uri_to_key(uri)}" for uri in reply.stored)
        assert "customer-150" not in "".join(http.answered)
        assert await agent.query(rows, MOST) == "who customer-57"
        join = f"SELECT b.region FROM {rows} a JOIN {names} b ON b.id = a.id WHERE a.who = 'customer-3'"
        assert await agent.query(f"{rows}, {names}", join) == "region region-3"
        assert ("customer-150" in "".join(http.answered)) != declared
        for query, code in (("SELECT nothing FROM rows", "E1004"), (f"SELECT * FROM {OTHER.reference}", "E5002")):
            with pytest.raises(ProtocolError, match=code):
                await agent.query(rows, query)


async def test_a_master_queries_what_one_delivery_returned_and_nothing_else() -> None:
    async with served(lister) as running:
        agent = RemoteAgent(A2aWire(declare_queries(running.card)), agent_id="crm", leave_results=True)
        with pytest.raises(
            ProtocolError, match="E5002: expected a reference to a text that this conversation still has"
        ):
            await agent.query(ROWS.reference, MOST)
        await agent(a_context())
        assert await agent.query(ROWS.reference, MOST) == "who customer-57"
        with pytest.raises(ProtocolError, match="E5002"):
            await RemoteAgent(A2aWire(running.card), agent_id="crm", leave_results=True).query(ROWS.reference)
        stolen = RemoteAgent(A2aWire(declare_queries(running.card)), agent_id="crm", leave_results=True)
        stolen._deliveries.put(ROWS.key, "another A2A context", 1)
        with pytest.raises(ProtocolError, match="E5002"):
            await stolen.query(ROWS.reference)


async def test_an_agent_without_queries_answers_with_the_whole_text(monkeypatch: pytest.MonkeyPatch) -> None:
    def whole(parts: Any) -> ReferenceRequest | None:
        request = request_in(parts)
        return request and replace(request, query=None)

    monkeypatch.setattr("accp_adapters.a2a.teams.executor.request_in", whole)
    async with served(lister) as running:
        agent = RemoteAgent(A2aWire(declare_queries(running.card)), agent_id="crm", leave_results=True)
        await agent(a_context())
        assert await agent.query(ROWS.reference, MOST) == "who customer-57"


async def test_results_that_are_too_large_to_keep_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accp_adapters.remote.stored_results.MAX_STORED_BYTES", 100)
    async with served(lister) as running:
        with pytest.raises(ProtocolError, match="E2003: expected long results of at most 100 bytes"):
            await RemoteAgent(A2aWire(running.card), agent_id="crm")(a_context())


# --- the card and the messages ----------------------------------------------------------------------------------------


def test_a_card_declares_queries_once_and_loses_its_signatures() -> None:
    signed = card()
    signed.signatures.append(AgentCardSignature(signature="x"))
    declared = declare_queries(signed)
    assert [skill.id for skill in declared.skills][-1] == FETCH_NAME
    assert not declared.signatures and signed.signatures
    assert declare_queries(declared) is declared


def test_a_request_says_what_it_asks_for() -> None:
    request = ReferenceRequest(ref="$cold.a", query="total > 1", offset=3, limit=5, tokens=100)
    part = request_part(request, sender="master", message_id="0123456789ab")
    assert request_in([part]) == replace(request, correlation_id="0123456789ab")
    assert request_in([new_text_part("hello")]) is None


@pytest.mark.parametrize("wrong", ["offset:x", "limit:1.5", "offset:-1"])
def test_a_number_that_is_none_is_refused(wrong: str) -> None:
    part = Part(text=f"@m>qry:{FETCH_OPERATION}{{ref:$cold.a|query:x|{wrong}}}[mid:0123456789ab,seq:1]")
    request = request_in([part])
    assert request is not None
    with pytest.raises(ProtocolError, match=f"E1004: expected '{wrong.partition(':')[0]}' to be a whole number"):
        request.to_fetch()
