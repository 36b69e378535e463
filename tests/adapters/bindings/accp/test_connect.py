"""The client of ACCP over HTTP and WebSocket, against the real server: answers, streams, losses, refusals."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.routing import Mount

from accp_adapters.backoff import Backoff
from accp_adapters.bindings.accp.app import accp_app
from accp_adapters.bindings.accp.client_session import ClientSession, ConnectionRefused, RequestFailed, SessionLost
from accp_adapters.bindings.accp.connect import ClientOptions, connect
from accp_adapters.bindings.hosts import Request, SessionHost
from accp_adapters.serving.principals import BearerTokens, Principal
from accp_adapters.stores import SqliteColdStore
from accp_core.accp import Intent, Message
from accp_core.errors import ProtocolError
from tests.adapters.bindings.accp.faults import LosingAnswers, cutting
from tests.adapters.bindings.accp.serving import count, echo, serve, serving
from tests.adapters.bindings.hosts.agents import CODEC
from tests.limits import LONG, PATIENCE, async_wait_until

BOTH = pytest.mark.parametrize("scheme", ["http", "ws"])
QUICK = ClientOptions(backoff=Backoff(first=0.01, longest=0.1))
TOKENS = BearerTokens({"token-of-ann": Principal("ann", frozenset({"ann"})), "token-of-bob": Principal("bob")})
FRAMES = 10_000 if LONG else 200


def joined(address: str, scheme: str = "ws", **options: Any) -> AbstractAsyncContextManager[ClientSession]:
    chosen = {"agent_id": "ann", "codec": CODEC, "options": QUICK} | options
    return connect(f"{scheme}://{address}", **chosen)


def ask(operation: str = "add", **payload: Any) -> Message:
    return Message(sender="", intent=Intent.REQUEST, operation=operation, payload=payload)


@BOTH
async def test_a_request_is_answered(scheme: str) -> None:
    async with serving() as address, joined(address, scheme) as session:
        answer = await session.request(ask(n=7, text="grün & \n quoted"))
    assert (answer.sender, answer.intent, answer.payload["n"]) == ("agent", Intent.COMPLETE, 7)
    assert answer.payload["text"] == "grün & \n quoted"


class Late(SqliteColdStore):
    """A store that loads no session before it may."""

    may_load = threading.Event()

    def load_session(self, name: str) -> tuple[int, str] | None:
        self.may_load.wait(PATIENCE)
        return super().load_session(name)


async def test_a_number_is_exact_however_late_a_server_says_what_it_reads() -> None:
    """ACCP 3.1.1: six places are for servers that are known to read no more."""
    store = Late()
    async with (
        SessionHost(echo, codec=CODEC, store=store) as host,
        serve(accp_app(host)) as address,
        joined(address) as session,
    ):
        asked = asyncio.ensure_future(session.request(ask(n=0.1 + 0.2)))
        await asyncio.sleep(0)  # it is sent, or waits
        store.may_load.set()
        assert (await asked).payload["n"] == 0.1 + 0.2


@BOTH
async def test_iterating_yields_what_answers_no_request_and_ends_with_the_session(scheme: str) -> None:
    got: list[Any] = []
    async with serving() as address:
        async with joined(address, scheme) as session:
            for number in range(2):
                await session.send(ask(n=number))
            async for message in session:
                got.append((message.intent, message.payload["n"]))
                if len(got) == 2:
                    break
        assert [message async for message in session] == []
    assert got == [(Intent.COMPLETE, 0), (Intent.COMPLETE, 1)]


@BOTH
async def test_a_stream_comes_part_by_part(scheme: str) -> None:
    async with serving(count) as address, joined(address, scheme) as session:
        parts = [part.payload["data"] async for part in session.stream(ask("count", n=3))]
        whole = await session.request(ask("count", n=3))
    assert (parts, whole.payload["data"]) == (["0", "1", "2", ""], "012")


@BOTH
async def test_a_part_arrives_before_the_next_one_is_made(scheme: str) -> None:
    go_on = asyncio.Event()

    async def two(_: Request) -> AsyncIterator[Mapping[str, Any]]:
        yield {"data": "first"}
        await go_on.wait()
        yield {"data": "second"}

    async with serving(two) as address, joined(address, scheme) as session:
        parts = session.stream(ask("count"))
        assert (await asyncio.wait_for(anext(parts), PATIENCE)).payload["data"] == "first"
        go_on.set()
        assert [part.payload["data"] async for part in parts] == ["second", ""]


@BOTH
@pytest.mark.parametrize(("raised", "code"), [("E2001", "E2001"), ("E3002", "E4002"), ("E3003", "E4002")])
async def test_a_failure_is_raised_with_its_code(
    scheme: str, raised: str, code: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def refuse(_: Request) -> Mapping[str, Any]:
        raise ProtocolError("no such invoice", code=raised)

    async with serving(refuse) as address, joined(address, scheme) as session:
        with pytest.raises(RequestFailed, match="no such invoice") as failed:
            await session.request(ask(n=1))
    assert failed.value.code == code
    assert failed.value.message is not None
    assert "Traceback" not in caplog.text


@BOTH
async def test_a_request_that_nobody_awaits_any_more_is_cancelled(scheme: str) -> None:
    began, ended = asyncio.Event(), asyncio.Event()

    async def slow(request: Request) -> Mapping[str, Any]:
        if request.message.payload.get("n") == 1:
            began.set()
            await asyncio.wait_for(ended.wait(), PATIENCE)
        return {}

    async with serving(slow) as address, joined(address, scheme) as session:
        waiting = asyncio.ensure_future(session.request(ask(n=1)))
        await began.wait()
        waiting.cancel()
        await asyncio.wait([waiting])
        assert (await session.request(ask(n=2))).payload == {}
        ended.set()


class Recording:
    """A handler that notes what it was asked, in order."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    async def __call__(self, request: Request) -> Mapping[str, Any]:
        self.seen.append(request.message.payload["n"])
        return {"n": request.message.payload["n"]}


async def ask_all(session: ClientSession, frames: int, at_once: int) -> list[Any]:
    """Ask for the numbers up to `frames`, so many at once; return the numbers of the answers."""
    answers: list[Any] = []
    numbers = iter(range(frames))

    async def work() -> None:
        for number in numbers:
            answer = await session.request(ask(n=number))
            answers.append(answer.payload["n"])

    await asyncio.gather(*(work() for _ in range(at_once)))
    return answers


async def test_frames_arrive_once_and_in_order_over_many_cut_connections() -> None:
    handler = Recording()
    async with serving(handler) as address, cutting(address) as proxy, joined(proxy.address) as session:

        async def cut() -> None:
            for number in range(1, 21):
                await async_wait_until(lambda number=number: len(handler.seen) > number * FRAMES // 22)
                proxy.cut()
                connections = proxy.connections
                await async_wait_until(lambda connections=connections: proxy.connections > connections)

        answers, _ = await asyncio.gather(ask_all(session, FRAMES, 32), cut())
    assert sorted(answers) == list(range(FRAMES))
    assert handler.seen == sorted(handler.seen) == list(range(FRAMES))
    assert proxy.cuts == 20


async def test_a_session_that_is_closed_while_it_connects_again_ends_at_once() -> None:
    unlimited = ClientOptions(backoff=QUICK.backoff, close_time=10 * PATIENCE)
    async with serving() as address, cutting(address) as proxy, asyncio.timeout(PATIENCE):
        async with joined(proxy.address, options=unlimited) as session:
            await session.request(ask(n=1))
            proxy.is_open.clear()
            proxy.cut()
            await async_wait_until(lambda: proxy.arrivals == 2)

            async def open_once_closed() -> None:
                await async_wait_until(lambda: session.is_lost)
                proxy.is_open.set()

            opening = asyncio.ensure_future(open_once_closed())
        await opening


async def test_frames_arrive_once_over_http_that_loses_answers(caplog: pytest.LogCaptureFixture) -> None:
    handler = Recording()
    async with SessionHost(handler, codec=CODEC) as host:
        app = LosingAnswers(accp_app(host), every=20)
        async with serve(app) as address, joined(address, "http") as session:
            answers = await ask_all(session, FRAMES, 8)
    assert sorted(answers) == list(range(FRAMES))
    assert sorted(handler.seen) == list(range(FRAMES))
    assert app.lost >= FRAMES // 20
    assert "refused" not in caplog.text


@pytest.mark.slow
@BOTH
async def test_a_server_that_lost_the_session_says_so(scheme: str) -> None:
    async with cutting("") as proxy, serving() as first, serving() as second:
        proxy._target = first.split(":")
        async with joined(proxy.address, scheme) as session:
            for number in range(300):
                await session.request(ask(n=number))
            proxy._target = second.split(":")
            proxy.cut()
            with pytest.raises(SessionLost) as lost:
                await asyncio.wait_for(session.request(ask(n=1)), 20)
            assert lost.value.code == "E3003"
            with pytest.raises(SessionLost):
                await anext(session)


async def test_the_first_connection_is_tried_again_but_not_for_ever() -> None:
    async with serving() as address, cutting(address) as proxy:
        proxy.is_refusing = True
        with pytest.raises(ConnectionRefused) as refused:
            async with joined(proxy.address, options=ClientOptions(first_time=0.05)):
                raise AssertionError
        assert refused.value.code == "E3001"


@pytest.mark.slow
@BOTH
async def test_a_server_that_is_not_there_is_named_with_the_cause(scheme: str) -> None:
    # Longer than a client over HTTP waits for the registry of a server.
    options = ClientOptions(first_time=6.5)
    with pytest.raises(ConnectionRefused) as refused:
        async with joined("127.0.0.1:1", scheme, options=options):
            raise AssertionError
    expected = rf"E3001: expected a connection to {scheme}://127\.0\.0\.1:1/.* within 6\.5 seconds, found .*onnect"
    assert re.match(expected, str(refused.value))


async def test_a_session_of_another_client_and_the_name_of_another_agent_are_refused() -> None:
    async with serving() as address, joined(address, "http", session_id="s1") as first:
        await first.request(ask(n=1))
        with pytest.raises(ProtocolError, match="E5001: expected a message of 'ann'"):
            await first.send(replace(ask(n=1), sender="bob"))
        with pytest.raises(SessionLost, match="E3003: expected a new session"):
            async with joined(address, "http", session_id="s1") as second, asyncio.timeout(PATIENCE):
                await second.request(ask(n=2))


@BOTH
async def test_whoever_has_no_valid_token_is_refused_once(scheme: str) -> None:
    async with serving(authenticate=TOKENS) as address:
        with pytest.raises(ConnectionRefused) as refused:
            async with joined(address, scheme, token="token-of-eve") as session:
                await session.request(ask(n=1))
    assert refused.value.status == 401


@BOTH
async def test_a_foreign_sender_is_refused_with_its_code(scheme: str) -> None:
    async with serving(authenticate=TOKENS) as address:
        with pytest.raises(ProtocolError) as refused:
            async with joined(address, scheme, token="token-of-ann", agent_id="eve"):
                raise AssertionError
    assert refused.value.code == "E5001"


@BOTH
async def test_a_token_stands_in_no_log(scheme: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(0)
    async with (
        serving(authenticate=TOKENS) as address,
        joined(address, scheme, token=lambda: "token-of-ann") as session,
    ):
        await session.request(ask(n=1))
    assert "token-of-ann" not in caplog.text


@pytest.mark.parametrize(
    "url",
    ["ftp://a.example", "http://", "https://u:secret@a.example", "wss://a.example/?token=secret", "ws://a.example"],
)
async def test_an_address_that_is_none_or_not_safe_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match=r"^expected") as refused:
        async with connect(url, token="secret"):
            raise AssertionError
    assert "secret" not in str(refused.value)


async def test_an_app_is_mounted_in_one_of_the_user() -> None:
    async with SessionHost(echo, codec=CODEC) as host:
        app = Starlette(routes=[Mount("/agents/crm", accp_app(host))])
        for scheme in ("http", "ws"):
            async with serve(app) as address, joined(f"{address}/agents/crm", scheme) as session:
                assert (await session.request(ask(n=1))).payload["n"] == 1
