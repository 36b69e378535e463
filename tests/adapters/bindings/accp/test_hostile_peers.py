"""Peers that replay, stop in the middle or do not read: refused by their code, and their place becomes free."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from typing import Any

from accp_adapters.serving.principals import Principal
from accp_core.accp import PRACTICAL_LIMITS, Codec
from tests.adapters.bindings.accp.serving import serving
from tests.adapters.bindings.accp.test_http_endpoint import TYPE, code_of, post
from tests.adapters.bindings.accp.test_websocket_endpoint import opened
from tests.adapters.bindings.hosts.agents import Client, count_characters
from tests.limits import PATIENCE

WIDE = Codec(counter=count_characters, limits=PRACTICAL_LIMITS)


async def test_a_frame_that_was_taken_from_elsewhere_does_nothing() -> None:
    """ACCP 3.7 and 9: its sender is no agent of whoever replays it; the sender's replay gets the same answer."""
    runs = list[str]()

    async def handle(request: Any) -> dict[str, Any]:
        runs.append(request.principal)
        return {}

    async def whoever(scope: Any) -> Principal:
        name = dict(scope["headers"])[b"authorization"].decode()
        return Principal(name, frozenset({name}))

    frame = Client().ask("pay")
    async with serving(handle, authenticate=whoever) as address:
        answers = [await post(address, frame, authorization=name, accp_resume="1") for name in ("ann", "eve", "ann")]
    assert [answer.status_code for answer in answers] == [200, 403, 200]
    assert (code_of(answers[1]), answers[0].text, runs) == ("E5001", answers[2].text, ["ann"])


async def many(_: Any) -> AsyncIterator[dict[str, Any]]:
    for _number in range(20):
        yield {"data": "x" * 100_000}


def narrow(address: str) -> socket.socket:
    """Return a connection whose end takes little."""
    connected = socket.socket()
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    host, _, port = address.partition(":")
    connected.connect((host, int(port)))
    connected.setblocking(False)
    return connected


async def free(address: str) -> None:
    """Return as soon as there is a place again."""
    async with asyncio.timeout(PATIENCE):
        while (await post(address, Client("other", agent="ben").ask("none"))).status_code != 200:
            await asyncio.sleep(0.02)


LIMITS = {"places": 1, "write_time": 0.2}


async def test_a_peer_that_does_not_read_its_response_loses_its_connection() -> None:
    async def handle(request: Any) -> Any:
        return many(request) if request.message.operation == "tell" else {}

    async with serving(handle, limits=LIMITS, codec=WIDE) as address:
        connected = narrow(address)
        frame = Client().ask("tell")
        head = f"POST /accp/v1/frames HTTP/1.1\r\nhost: {address}\r\ncontent-type: {TYPE['content-type']}\r\n"
        request = f"{head}content-length: {len(frame)}\r\n\r\n{frame}".encode()
        await asyncio.get_running_loop().sock_sendall(connected, request)
        await asyncio.get_running_loop().sock_recv(connected, 10)  # it is being answered
        await free(address)
        connected.close()


async def test_a_peer_that_does_not_read_its_web_socket_loses_its_connection() -> None:
    async def handle(request: Any) -> Any:
        return many(request) if request.message.operation == "tell" else {}

    client = Client(registry_first=True)
    options: dict[str, Any] = {"max_queue": 1, "close_timeout": 0.1, "ping_interval": None}
    async with (
        serving(handle, limits=LIMITS, codec=WIDE) as address,
        opened(address, sock=narrow(address), **options) as peer,
    ):
        for frame in [*client.session.connected(1_000), client.ask("tell")]:
            await peer.send(frame)
        await asyncio.wait_for(peer.recv(), PATIENCE)
        peer.transport.pause_reading()
        await free(address)
