"""One principal that begins session after session: it loses its own, and nobody else does."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from accp_adapters.bindings.hosts import HostLimits, Request, SessionHost
from accp_adapters.serving.limits import Shares, TooMany
from accp_adapters.serving.principals import Principal
from accp_adapters.stores import SessionStore, SqliteColdStore
from accp_core.accp import parse_frame
from tests.adapters.bindings.accp.serving import serving
from tests.adapters.bindings.accp.test_http_endpoint import code_of, post
from tests.adapters.bindings.hosts.agents import ANN, BOB, CODEC, Client
from tests.limits import PATIENCE


async def answer(request: Request) -> Mapping[str, Any]:
    return dict(request.message.payload)


async def whoever(scope: Any) -> Principal:
    return Principal(dict(scope["headers"])[b"authorization"].decode())


def host(store: SessionStore | None, handler: Any = answer, **limits: int) -> SessionHost:
    return SessionHost(handler, codec=CODEC, store=store, limits=HostLimits(**limits))


async def ask(served: SessionHost, principal: Principal, session: str, client: Client | None = None) -> list[str]:
    return await served.frames(principal, (client or Client(session)).ask("add", n=1))


async def goes_on(served: SessionHost, principal: Principal, client: Client) -> bool:
    """Return whether a session takes the next frame of its client, which another one of that name would not."""
    frames = await served.frames(principal, client.ask("add", n=2))
    return bool(client.messages(frames)) and parse_frame(frames[0]).envelope.sequence == 2


@pytest.fixture(params=("memory", "sqlite"))
def store(request: pytest.FixtureRequest) -> SessionStore | None:
    return SqliteColdStore() if request.param == "sqlite" else None


async def test_more_sessions_than_a_share_cost_the_oldest_of_their_principal(store: SessionStore | None) -> None:
    ann, bobs = Client("kept"), [Client(f"s{number}") for number in range(12)]
    async with host(store, sessions_each=4) as served:
        await ask(served, ANN, "kept", ann)
        first = [await ask(served, BOB, "", client) for client in bobs]
        for number in (8, 9, 10, 11):
            assert await goes_on(served, BOB, bobs[number])
        assert await goes_on(served, ANN, ann)
        # The same frames again: answered again where the session is there, and by another one of that name else.
        assert await ask(served, BOB, "s11") == first[11]
        assert await ask(served, BOB, "s0") != first[0]


async def test_what_takes_too_much_memory_is_read_from_the_store_again() -> None:
    client, text = Client("s0"), "x" * 40_000
    async with host(SqliteColdStore(), characters_each=100_000) as served:
        await ask(served, BOB, "s0", client)
        for number in range(1, 6):
            await served.frames(BOB, f"@ann>req:add{{n:{text}}}[mid:a,seq:1,ts:1,sid:s{number}]")
        assert await goes_on(served, BOB, client)


async def test_slow_requests_of_one_principal_leave_handlers_to_others() -> None:
    async def slow(request: Request) -> Mapping[str, Any]:
        return await asyncio.sleep(2 * PATIENCE if request.principal == BOB.name else 0, {"n": 1})

    async with host(None, slow, handlers=4) as served, asyncio.timeout(PATIENCE):
        waiting = asyncio.gather(*[ask(served, BOB, f"s{number}") for number in range(8)])
        assert await ask(served, ANN, "s0")
        waiting.cancel()


async def test_where_there_are_too_many_sessions_nobody_new_is_refused() -> None:
    async with serving(answer, host_limits={"sessions": 6, "sessions_each": 5}, authenticate=whoever) as address:
        for number in range(12):
            assert (await post(address, Client(f"s{number}").ask("add"), authorization="bob")).status_code == 200
        clients = [Client(name, name) for name in ("ann", "eve", "joe")]
        for _ in range(2):
            answers = [await post(address, each.ask("add"), authorization=each.session.agent_id) for each in clients]
            assert [each.status_code for each in answers] == [200] * 3


async def test_over_http_a_share_in_use_is_429_and_only_for_its_principal() -> None:
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def wait(request: Request) -> Mapping[str, Any]:
        if request.message.operation == "wait":
            begun.set()
            await go_on.wait()
        return {}

    async with serving(wait, host_limits={"sessions_each": 1}, authenticate=whoever) as address:
        first = asyncio.ensure_future(post(address, Client("a").ask("wait"), authorization="bob"))
        await begun.wait()
        second = await post(address, Client("b").ask("wait"), authorization="bob")
        assert (second.status_code, code_of(second)) == (429, "E2003")
        assert (await post(address, Client("b").ask("add"), authorization="ann")).status_code == 200
        go_on.set()
        assert (await first).status_code == 200


async def test_a_session_that_another_worker_uses_stays() -> None:
    client, store = Client("both"), SqliteColdStore()
    async with host(store, sessions_each=2) as one, host(store) as other:
        await ask(one, BOB, "both", client)
        await ask(other, BOB, "both", client)
        for number in range(3):
            await ask(one, BOB, f"s{number}")
        assert client.messages(await ask(other, BOB, "both", client))


async def test_a_connection_ends_with_the_session_that_gives_way() -> None:
    async with host(None, sessions=2) as served, served.attached(BOB, "s1") as one, served.attached(BOB, "s2"):
        await one.receive(Client("s1").ask("add"))
        assert await ask(served, ANN, "s1")
        async with asyncio.timeout(PATIENCE):
            async for _ in one:
                pass
        assert not one.is_replaced  # the peer connects again


def test_whoever_has_most_gives_way() -> None:
    shares = Shares(10, 6)
    for number in range(6):
        assert shares.admit("hog", f"h{number}") == []
    assert shares.admit("hog", "h6") == ["h0"]
    for number in range(4):
        assert shares.admit("ann", f"a{number}") == []
    assert shares.admit("ann", "a4") == ["h1"]
    assert shares.admit("ann", "a4", size=2) == ["a0"]
    with pytest.raises(TooMany, match="expected at most 5 at once"):
        shares.admit("hog", "h9", lambda _: True, size=3)
    assert shares.admit("hog", "h9", lambda name: name == "h2", size=2) == ["h3", "h4"]
