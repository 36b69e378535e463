"""Over every binding: each message arrives once and in order, however often the connection is aborted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest

from accp_adapters.bindings.acp.channels import serve_tcp
from accp_adapters.bindings.acp.connect import acp_connect
from accp_adapters.bindings.acp.host import AcpHost
from accp_adapters.bindings.acp.http import acp_app
from accp_adapters.bindings.acp.relay import relay_app
from accp_adapters.serving.limits import ServerLimits
from accp_adapters.serving.principals import BearerTokens, Principal
from tests.adapters.bindings.acp.agents import Echo, Proxy, cut_while, hosting, serving, text_of
from tests.limits import LONG, PATIENCE, async_wait_until

TOKEN = "tok_ba366fcab78d4d61"
MESSAGES, CUTS = (10_000, 20) if LONG else (300, 6)


def host_for(agent: Echo) -> AcpHost:
    return AcpHost(agent, authenticate=BearerTokens({TOKEN: Principal("ann")}))


@asynccontextmanager
async def address_of(binding: str, host: AcpHost, proxy: Proxy) -> AsyncIterator[str]:
    """Yield the address of a host by one binding, through a proxy."""
    match binding:
        case "A" | "D":
            async with serving(acp_app(host)) as port, proxy.to(port) as shown:
                yield f"acp://127.0.0.1:{shown}/{TOKEN}" if binding == "A" else f"http://127.0.0.1:{shown}"
        case "E":
            async with serve_tcp(host) as port, proxy.to(port) as shown:
                yield f"tcp://127.0.0.1:{shown}"
        case "C":
            async with serving(relay_app(limits=ServerLimits(rate=1e6))) as port, proxy.to(port) as shown:
                link = f"acp+ws://127.0.0.1:{shown}/acp/{TOKEN}"
                async with hosting(host, link):
                    yield link


# Before anyio 4.16 a connection is left open whose owner is cancelled just as it is made.
_LEFT_BY_ANYIO = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.mark.requirement("acp:3.4-1", cases="A]")
@pytest.mark.requirement("acp:5.3-1", cases="C]")
@pytest.mark.requirement("acp:6.3-1", cases="D]")
@pytest.mark.requirement("acp:7.2-1", cases="E]")
@pytest.mark.slow
@pytest.mark.parametrize("binding", ["A", "C", pytest.param("D", marks=_LEFT_BY_ANYIO), "E"])
async def test_each_message_arrives_once_and_in_order_both_ways(binding: str) -> None:
    agent, proxy = Echo(), Proxy()
    host, told = host_for(agent), []
    async with address_of(binding, host, proxy) as address, acp_connect(address, token=TOKEN) as session:

        async def listen() -> None:
            async for message in session.messages():
                told.append(text_of(message))  # noqa: PERF401  # others watch the list grow

        async def say() -> None:
            for number in range(MESSAGES):
                await session.send(f"{number}")

        async with asyncio.timeout(600), asyncio.TaskGroup() as tasks:
            listening = tasks.create_task(listen())
            tasks.create_task(say())
            await cut_while(proxy, lambda: len(told), total=MESSAGES, cuts=CUTS)
            await async_wait_until(lambda: len(told) >= MESSAGES)
            listening.cancel()
    assert agent.heard == [f"{number}" for number in range(MESSAGES)]
    assert told == [f"echo {number}" for number in range(MESSAGES)]
    assert proxy.cuts == CUTS


# "message_id: Client-generated unique ID for deduplication" (section 8): an agent that starts again knows no ids.
@pytest.mark.parametrize("binding", ["A", "C", pytest.param("D", marks=_LEFT_BY_ANYIO), "E"])
async def test_an_agent_that_starts_again_runs_what_was_not_handled_and_nothing_else(binding: str) -> None:
    first, second, proxy, unhandled = Echo(), Echo(), Proxy(), [f"quiet {number}" for number in range(70)]
    host = host_for(first)
    async with AsyncExitStack() as stack:
        async with address_of(binding, host, proxy) as address:
            session = await stack.enter_async_context(acp_connect(address, token=TOKEN))
            for number in range(10):
                assert text_of(await session.request(f"{number}", timeout=PATIENCE)) == f"echo {number}"
            await session.send("quiet")
            await async_wait_until(lambda: session.connection.log.acknowledged == 11)
            first.works.clear()
            for text in unhandled:
                await session.send(text)
            await async_wait_until(lambda: host.sessions()[0].connection.last_received == 81)
            proxy.cut()
        host.sessions()[0].end()
        async with address_of(binding, host_for(second), proxy):
            assert text_of(await session.request("new", timeout=PATIENCE)) == "echo new"
    assert second.heard == [*unhandled, "new"]
