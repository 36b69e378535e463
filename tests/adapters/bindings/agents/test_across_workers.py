"""A remote agent, its contexts and its cold texts on two workers: one log, one store, each opened by either worker."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from langgraph.store.postgres import PostgresStore

from accp_adapters.bindings.accp.app import accp_app
from accp_adapters.bindings.agents import GrantedReferences, serve_contexts
from accp_adapters.bindings.hosts import HostLimits, SessionHost
from accp_adapters.bindings.logs import FrameLog, open_log
from accp_adapters.langgraph import StoreColdStore
from accp_adapters.stores import RedisColdStore, SqliteColdStore
from accp_core.aci import AgentContext, AgentReply
from accp_core.ports import ColdStore
from accp_core.references import StoredText, uri_to_key
from tests.adapters.bindings.accp.faults import cutting
from tests.adapters.bindings.accp.serving import serve
from tests.adapters.bindings.agents.agents import ORDERS, a_context, opener, remote, with_done
from tests.adapters.bindings.hosts.agents import CODEC, count_characters
from tests.limits import PATIENCE

COPY = StoredText.of(ORDERS.text.upper())
GRANTED = a_context(context_uri=(ORDERS.reference,))
Place: TypeAlias = Callable[[], tuple[FrameLog, ColdStore]]
"""Opens log and store once more, as another process does."""


@pytest.fixture(params=["sqlite", "redis", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """Yield where workers keep sessions and texts; PostgreSQL keeps texts only, beside a log in a file."""
    namespace, stack = f"t{secrets.token_hex(4)}", ExitStack()

    def open_again() -> tuple[FrameLog, ColdStore]:
        if request.param == "redis":
            url = request.getfixturevalue("redis_url")
            return open_log(url, namespace=namespace), stack.enter_context(
                closing(RedisColdStore(url, namespace=namespace))
            )
        log = open_log(f"sqlite:{tmp_path / 'log'}", power_safe=False)
        if request.param == "sqlite":
            return log, stack.enter_context(closing(SqliteColdStore(str(tmp_path / "cold"))))
        base = stack.enter_context(PostgresStore.from_conn_string(request.getfixturevalue("postgres_url")))
        base.setup()
        return log, StoreColdStore(base, namespace=namespace)

    with stack:
        yield open_again


class Workers:
    """An application that gives every frame to one of several workers, until it is told to take another one."""

    def __init__(self, place: Place, agent: Any, count: int = 2) -> None:
        self.chosen = 0
        self.hosts: list[SessionHost] = []
        self.taken = [0] * count
        self._logs = []
        for _ in range(count):
            log, store = place()
            handler = serve_contexts(agent, agent_id="crm", store=store, counter=count_characters)
            self.hosts.append(SessionHost(handler, log=log, codec=CODEC, limits=HostLimits(lease=0.5)))
            self._logs.append(log)
        self._apps = [accp_app(host) for host in self.hosts]

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.taken[self.chosen] += 1
        await self._apps[self.chosen](scope, receive, send)

    async def __aenter__(self) -> Workers:
        for host in self.hosts:
            await host.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        for host, log in zip(self.hosts, self._logs, strict=True):
            await host.aclose()
            await log.aclose()


async def copier(context: AgentContext, references: GrantedReferences) -> AgentReply:
    """Give what is granted, in capitals, as a result that is no abstract."""
    return AgentReply(context=with_done(context), full={"1": (await references.open(ORDERS.reference)).upper()})


@pytest.mark.slow
async def test_a_context_its_texts_and_its_result_pass_from_worker_to_worker(place: Place) -> None:
    """The text comes to the second worker while the first one runs; the result opens when the first one has gone."""

    def fetch(_: str) -> str:
        workers.chosen = 1
        return ORDERS.text

    async with Workers(place, copier) as workers, serve(workers) as address:
        agent = remote(address, "http", fetch=fetch, leave_results=True)
        reply = await agent(GRANTED)
        assert (workers.chosen, list(map(uri_to_key, reply.stored))) == (1, [COPY.key])
        assert all(workers.taken)
        await workers.hosts[0].aclose()
        assert "185 EUR" in await agent.query(COPY.reference, "ORD-7005")
        assert (await agent(GRANTED)).context.states == {"1": 1, "2": 1}


async def test_a_worker_that_goes_while_its_agent_runs_is_replaced(place: Place) -> None:
    """ACCP 3.7: the run of the second worker asks for no text again that the first one was given."""
    runs, asked, first_is_busy = list[AgentContext](), list[str](), asyncio.Event()

    async def slow(context: AgentContext, references: GrantedReferences) -> str:
        runs.append(context)
        answer = await opener(context, references)
        if len(runs) == 1:
            first_is_busy.set()
            await asyncio.Event().wait()
        return answer

    def fetch(key: str) -> str:
        asked.append(key)
        workers.chosen = 1
        return ORDERS.text

    async with Workers(place, slow) as workers, serve(workers) as address, cutting(address) as proxy:
        waiting = asyncio.ensure_future(remote(proxy.address, "http", fetch=fetch)(GRANTED))
        await asyncio.wait_for(first_is_busy.wait(), PATIENCE)
        await workers.hosts[0].aclose()
        proxy.cut()
        reply = await asyncio.wait_for(waiting, PATIENCE)
    assert reply.context.abstracts == {"1": f"{len(ORDERS.text)} characters", "2": "1 texts"}
    assert (runs, asked) == ([GRANTED, GRANTED], [ORDERS.key])
