"""Attacks on the memory of a relay by many addresses together."""

import asyncio
import json

import httpx2

from tests.attacks.commands import ACCP, BOUND, needs_proc, running
from tests.attacks.sockets import hold, request_of, silent
from tests.limits import PATIENCE

pytestmark = needs_proc

WIDE = json.dumps({"text": "x" * 1_000_000 + "🦊"}, ensure_ascii=False).encode()
"""One wide character makes each character of a text take four bytes in memory."""
ADDRESSES = [f"127.0.0.{number}" for number in range(2, 12)]


async def test_rooms_and_bodies_of_many_addresses() -> None:
    with running(*ACCP, "relay", "--http", "127.0.0.1:0") as command:

        async def fill(source: str) -> None:
            transport = httpx2.AsyncHTTPTransport(local_address=source)
            async with httpx2.AsyncClient(base_url=command.url, transport=transport, timeout=PATIENCE) as client:
                for _ in range(2):
                    token = (await client.post("/acp/new")).json()["token"]
                    for _ in range(8):
                        assert (await client.post(f"/acp/{token}/send", content=WIDE)).status_code in (200, 503)

        await asyncio.gather(*map(fill, ADDRESSES))
        half = request_of("POST", "/acp/x/send", b"x" * 2_000_000)[:-100]
        for source in ADDRESSES[:4]:
            async with silent(command.ports[0], [half] * 30, source=source):
                await hold(1)
        assert command.peak < BOUND
