"""Attacks by pieces: of a body, of a message, of the fields of a request, each of a few bytes."""

import asyncio

import httpx2
import pytest

from tests.attacks.commands import ACCP, BOUND, needs_proc, running
from tests.attacks.sockets import UPGRADE, request_of, silent
from tests.limits import PATIENCE

pytestmark = needs_proc

DOORS = {
    "answer": ("/accp/v1/frames", "/accp/v1/ws", "application/accp", "/health"),
    "agent": ("/message:send", "/x", "application/json", "/.well-known/acp.json"),
}
IN_TIME = 10
"""Seconds for 30 requests, which take 0.2 alone; where pieces are served as they come, one takes longer."""
FIELDS = b"GET / HTTP/1.1\r\nhost: localhost\r\n"
PIECES = {
    "chunks": ("body", b"1\r\n \r\n"),
    "requests": ("", FIELDS + b"\r\n"),
    "fields": ("fields", b"a:b\r\n"),
    "one field": ("fields", b"a"),
    "pings": ("socket", b"\x89\x80\0\0\0\0"),
    "pongs": ("socket", b"\x8a\x80\0\0\0\0"),
    "messages": ("socket", b"\x81\x80\0\0\0\0"),
    "fragments": ("socket", b"\x01\x80\0\0\0\0" + b"\0\x80\0\0\0\0" * 2_000),
}


async def flood(port: int, head: bytes, piece: bytes) -> None:
    """Send `piece` again and again, as fast as it is taken; connect again where the server ends a connection."""
    many = piece * (65_536 // len(piece))
    while True:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            writer.write(head)
            if b"upgrade" in head:
                await reader.readuntil(b"\r\n\r\n")
            while True:
                writer.write(many)
                await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            await asyncio.sleep(0.01)
        finally:
            writer.transport.abort()


@pytest.mark.parametrize("target", DOORS)
@pytest.mark.parametrize("name", PIECES)
async def test_others_are_served_beside_many_pieces(target: str, name: str) -> None:
    path, socket, content, asked = DOORS[target]
    kind, piece = PIECES[name]
    body = request_of("POST", path, content_type=content, transfer_encoding="chunked")
    heads = {
        "": b"",
        "fields": FIELDS,
        "body": body.replace(b"content-length: 0\r\n", b""),
        "socket": request_of("GET", socket, **UPGRADE),
    }
    with running(*ACCP, "serve", f"tests.attacks.served:{target}", "--http", "127.0.0.1:0") as command:
        floods = [asyncio.ensure_future(flood(command.ports[0], heads[kind], piece)) for _ in range(4)]
        async with httpx2.AsyncClient(base_url=command.url, timeout=PATIENCE) as client:
            await asyncio.sleep(0.5)
            async with asyncio.timeout(IN_TIME):
                for _ in range(30):
                    assert (await client.get(asked)).status_code == 200
        for each in floods:
            each.cancel()
        await asyncio.gather(*floods, return_exceptions=True)
        await asyncio.sleep(0.1)  # the connections are closed
        assert command.peak < BOUND


REFUSED = {"requests": (FIELDS + b"\r\n") * 20_000, "fields": FIELDS + b"a:b\r\n" * 12_000}


@pytest.mark.parametrize("data", REFUSED.values(), ids=REFUSED)
async def test_what_is_refused_takes_no_memory(data: bytes) -> None:
    with running(*ACCP, "serve", "tests.attacks.served:answer", "--http", "127.0.0.1:0") as command:
        before = command.peak
        for _ in range(8):
            async with silent(command.ports[0], [data] * 40):
                pass
        assert command.peak < before + 60
