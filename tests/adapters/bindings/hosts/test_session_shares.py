"""One principal that begins session after session: it loses its own, and nobody else does."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from accp_adapters.bindings.hosts import HostLimits, Request, SessionHost
from accp_adapters.bindings.hosts.names import session_name
from accp_adapters.bindings.identity import Principal
from accp_adapters.bindings.logs import FrameLog, open_log
from accp_adapters.serving.shares import TooMany
from tests.adapters.bindings.accp.serving import serving
from tests.adapters.bindings.accp.test_http_endpoint import code_of, post
from tests.adapters.bindings.hosts.agents import ANN, BOB, CODEC, Client
from tests.limits import PATIENCE


async def answer(request: Request) -> Mapping[str, Any]:
    return dict(request.message.payload)


async def whoever(scope: Any) -> Principal:
    return Principal(dict(scope["headers"])[b"authorization"].decode())


def host(log: FrameLog, handler: Any = answer, **limits: int) -> SessionHost:
    return SessionHost(handler, codec=CODEC, log=log, limits=HostLimits(**limits))


async def ask(served: SessionHost, principal: Principal, session: str, client: Client | None = None) -> list[str]:
    return await served.frames(principal, (client or Client(session)).ask("add", n=1))


async def admitted(served: SessionHost, principal: Principal, session: str) -> bool:
    with suppress(TooMany):
        return bool(await ask(served, principal, session))
    return False


async def last_of(log: FrameLog, principal: Principal, session: str) -> int:
    """Return the number of the last text of a session, 0 where the log has none."""
    return max([number async for number, _ in log.read(session_name(principal, session), 0)], default=0)


@pytest.fixture(params=("memory", "sqlite", "redis", "nats"))
async def log(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[FrameLog]:
    if request.param in ("redis", "nats"):
        found = open_log(str(request.getfixturevalue(f"{request.param}_url")), namespace=secrets.token_hex(4))
    else:
        found = open_log("memory" if request.param == "memory" else f"sqlite:{tmp_path / 'log.db'}")
    yield found
    await found.aclose()


async def test_more_sessions_than_a_share_cost_the_oldest_of_their_principal(log: FrameLog) -> None:
    ann = Client("kept")
    async with host(log, sessions_each=4) as served:
        await ask(served, ANN, "kept", ann)
        for number in range(12):
            await ask(served, BOB, f"s{number}")
        kept = [number for number in range(12) if await last_of(log, BOB, f"s{number}")]
        assert kept == [8, 9, 10, 11]
        (answered,) = ann.messages(await ask(served, ANN, "kept", ann))
        assert answered.payload == {"n": 1}
        assert ann.messages(await ask(served, BOB, "s0", Client("s0"))) == []  # another one of that name


async def test_where_there_are_too_many_sessions_nobody_new_is_refused() -> None:
    async with serving(answer, host_limits={"sessions": 6, "sessions_each": 5}, authenticate=whoever) as address:
        for number in range(12):
            assert (await post(address, Client(f"s{number}").ask("add"), authorization="bob")).status_code == 200
        clients = [Client(name, name) for name in ("ann", "eve", "joe")]
        for _ in range(2):
            answers = [await post(address, each.ask("add"), authorization=each.session.agent_id) for each in clients]
            assert [each.status_code for each in answers] == [200] * 3


async def test_who_has_nothing_but_sessions_in_use_is_refused_alone(log: FrameLog) -> None:
    go_on = asyncio.Event()

    async def wait(request: Request) -> Mapping[str, Any]:
        if request.message.operation == "wait":
            await go_on.wait()
        return {}

    async with host(log, wait, sessions_each=2) as served:
        waiting = [asyncio.ensure_future(served.frames(BOB, Client(name).ask("wait"))) for name in ("a", "b")]
        while not (await last_of(log, BOB, "a") and await last_of(log, BOB, "b")):
            await asyncio.sleep(0)
        with pytest.raises(TooMany, match=r"E2003.*at most 2 at once"):
            await ask(served, BOB, "c")
        assert await ask(served, ANN, "s1")
        go_on.set()
        assert all(await asyncio.gather(*waiting))
        async with asyncio.timeout(PATIENCE):  # until the last step is over
            while not await admitted(served, BOB, "c"):
                await asyncio.sleep(0)


async def test_over_http_a_share_in_use_is_429() -> None:
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def wait(request: Request) -> Mapping[str, Any]:
        begun.set()
        await go_on.wait()
        return {}

    async with serving(wait, host_limits={"sessions_each": 1}, authenticate=whoever) as address:
        first = asyncio.ensure_future(post(address, Client("a").ask("wait"), authorization="bob"))
        await begun.wait()
        second = await post(address, Client("b").ask("wait"), authorization="bob")
        assert (second.status_code, code_of(second)) == (429, "E2003")
        go_on.set()
        assert (await first).status_code == 200


async def test_a_session_that_another_worker_uses_stays(log: FrameLog) -> None:
    client = Client("both")
    async with host(log, sessions_each=2) as one, host(log) as other:
        await ask(one, BOB, "both", client)
        await ask(other, BOB, "both", client)
        for number in range(3):
            await ask(one, BOB, f"s{number}")
        assert [await last_of(log, BOB, name) > 0 for name in ("both", "s0", "s1", "s2")] == [True, False, True, True]
        assert client.messages(await ask(other, BOB, "both", client))


async def test_a_connection_ends_with_the_session_that_gives_way() -> None:
    log = open_log("memory")
    async with host(log, sessions=2, sessions_each=2) as served, served.attached(BOB, "s1") as attachment:
        await attachment.receive(Client("s1").ask("add"))
        await ask(served, BOB, "s2")
        await ask(served, BOB, "s3")  # takes the place of s2, on which there is no connection
        assert await last_of(log, BOB, "s1")


async def test_where_all_sessions_have_connections_one_of_them_is_ended() -> None:
    log = open_log("memory")
    async with host(log, sessions=2) as served, served.attached(BOB, "s1") as one, served.attached(BOB, "s2") as two:
        for attachment in (one, two):
            await attachment.receive(Client("s1" if attachment is one else "s2").ask("add"))
        assert await ask(served, ANN, "s1")
        async with asyncio.timeout(PATIENCE):
            assert [frame async for frame in one]
        assert not one.is_replaced  # the peer connects again
        assert [await last_of(log, BOB, name) > 0 for name in ("s1", "s2")] == [False, True]
