"""The master's side: replies checked, references answered, long results fetched whole, errors with codes."""

from __future__ import annotations

from typing import Any

import pytest
from a2a.client import ClientConfig
from a2a.types import Part
from httpx import AsyncClient, Request, Response

from accp_adapters.a2a import A2aWire, GrantedReferences, RemoteAgent
from accp_adapters.a2a.teams.reference_messages import answer_parts
from accp_adapters.remote import ReferenceRequest
from accp_core.aci import AgentContext, Interaction, TaskContext
from accp_core.compression import ResultLimits
from accp_core.errors import ProtocolError
from accp_core.references import key_of
from tests.adapters.a2a.serve import plain, serve
from tests.adapters.a2a.teams.agents import LONG, a_context, lister, opener, served


async def test_a_task_of_the_core_runs_over_a2a() -> None:
    async with served() as running:
        agent = RemoteAgent(A2aWire(running.url), agent_id="crm")
        interaction = Interaction.start(TaskContext(task_id="t1", user_query="What is open?"), [a_context()])
        interaction, (delivery,) = interaction.deliver()
        interaction = interaction.receive(delivery.id, await agent(delivery.context)).verify()
    assert interaction.task.overall_status == "completed"


async def test_a_text_of_the_masters_store_is_checked_against_its_key() -> None:
    key = key_of("the granted text")
    async with served(opener) as running:
        agent = RemoteAgent(A2aWire(running.url), agent_id="crm", fetch=lambda _: "another text")
        with pytest.raises(ProtocolError, match=rf"E2001: expected the stored text of '\${key}', found another"):
            await agent(a_context(context_uri=(f"${key}",)))


async def test_a_text_that_the_agent_stored_is_checked_against_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    def other(request: ReferenceRequest, text: str, **named: str) -> list[Part]:
        return answer_parts(request, f"{text}.", **named)

    monkeypatch.setattr("accp_adapters.a2a.teams.executor.answer_parts", other)
    async with served(lister) as running:
        with pytest.raises(
            ProtocolError, match=r"E2001: expected the stored text of '\$cold\.[0-9]{29}', found another"
        ):
            await RemoteAgent(A2aWire(running.url), agent_id="crm")(a_context())


async def test_an_agent_stores_no_more_results_than_a_master_fetches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accp_adapters.remote.replies.MAX_OPENED", 0)
    async with served(lister) as running:
        with pytest.raises(ProtocolError, match="E2003: expected at most 0 long results, found 1"):
            await RemoteAgent(A2aWire(running.url), agent_id="crm")(a_context())


async def test_a_long_result_is_kept_where_it_was_made_and_fetched_whole() -> None:
    async with served(lister) as running:
        found = await RemoteAgent(A2aWire(running.url), agent_id="crm")(a_context())
    assert found.full == {"1": LONG}
    assert found.context.context_uri == ()
    assert "$cold." in found.context.abstracts["1"]
    assert found.context.abstracts["2"] == "264,180 EUR"


async def test_a_result_that_is_an_abstract_for_the_master_is_one() -> None:
    async def shorter(context: AgentContext, references: GrantedReferences) -> str:
        return f"1: {LONG[:1_500]}\n2: done"

    async with served(shorter, limits=ResultLimits(abstract=100)) as running:
        found = await RemoteAgent(A2aWire(running.url), agent_id="crm")(a_context())
    assert found.full == {}
    assert found.context.abstracts["1"] == LONG[:1_500].strip()


@pytest.mark.parametrize(
    ("name", "code"), [("reject", "E5001"), ("auth", "E5001"), ("fail", "E9999"), ("crash", "E9999")]
)
async def test_a_task_that_does_not_complete_says_why(name: str, code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accp_adapters.a2a.teams.a2a_wire.secrets.token_hex", lambda _: name)
    async with serve(plain) as running:
        with pytest.raises(ProtocolError, match=code):
            await RemoteAgent(A2aWire(running.url), agent_id="crm")(a_context())


async def test_an_agent_that_is_not_there_is_an_error_with_a_code() -> None:
    with pytest.raises(ProtocolError, match="'crm': "):
        await RemoteAgent(A2aWire("http://127.0.0.1:9"), agent_id="crm")(a_context())


@pytest.mark.parametrize("given", [True, False], ids=["the caller's HTTP client", "one of its own"])
async def test_only_the_time_of_the_caller_limits_a_delivery(given: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    limits: list[Any] = []
    send = AsyncClient.send

    async def noted(self: AsyncClient, request: Request, **options: Any) -> Response:
        limits.append(set(request.extensions["timeout"].values()))
        return await send(self, request, **options)

    monkeypatch.setattr(AsyncClient, "send", noted)
    async with served() as running, AsyncClient(timeout=5) as http:
        config = ClientConfig(httpx_client=http) if given else None
        await RemoteAgent(A2aWire(running.url, config=config), agent_id="crm", timeout=300)(a_context())
    # The card, and the delivery.
    assert limits == [{300}, {300}]
