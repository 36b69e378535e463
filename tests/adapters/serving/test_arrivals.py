"""Connections that are waited for: too many cut the oldest of the address that has most."""

from __future__ import annotations

import asyncio
from typing import Any

from accp_adapters.serving.listening import http_server, listen_at
from accp_adapters.serving.shares import Arrivals
from tests.adapters.serving.unread import request_of
from tests.limits import PATIENCE


def test_an_address_with_its_share_loses_its_oldest_connection() -> None:
    arrivals, cut = Arrivals(10, 2), list[str]()
    for name in ("a1", "a2", "b1", "a3", "a4"):
        arrivals.enter(name[0], name, lambda name=name: cut.append(name))
    assert (cut, len(arrivals)) == (["a1", "a2"], 3)


def test_where_there_are_too_many_in_all_the_address_with_most_loses_one() -> None:
    arrivals, cut = Arrivals(3, 3), list[str]()
    for name in ("b1", "a1", "a2", "c1", "d1"):
        arrivals.enter(name[0], name, lambda name=name: cut.append(name))
    assert (cut, len(arrivals)) == (["a1", "b1"], 3)
    arrivals.leave("b", "b1")
    arrivals.leave("a", "a2")
    assert len(arrivals) == 2


async def test_a_body_that_goes_on_after_its_answer_is_cut() -> None:
    async def refuse(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 401, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body"})

    with listen_at("127.0.0.1", 0) as listening:
        server = http_server(refuse, header_seconds=0.3)
        running = asyncio.ensure_future(server.serve(sockets=[listening]))
        reader, writer = await asyncio.open_connection("127.0.0.1", listening.getsockname()[1])
        writer.write(request_of("POST", "/", b"x" * 1000)[:-900])
        assert b"401" in await reader.readline()
        ending = asyncio.ensure_future(reader.read())
        async with asyncio.timeout(PATIENCE):
            while not ending.done():
                writer.write(b"x")
                await asyncio.wait([ending], timeout=0.1)
        ending.exception()
        writer.close()
        server.should_exit = True
        await running
