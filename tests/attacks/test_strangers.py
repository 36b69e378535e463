"""Attacks of those who show no token: what they take is not that of others."""

import httpx2

from tests.attacks.commands import ACCP, BOUND, Command, needs_proc, running
from tests.attacks.sockets import hold, request_of, silent
from tests.limits import PATIENCE

pytestmark = needs_proc

MIB = 1 << 20


def half(path: str, size: int) -> bytes:
    """Return a request whose body is not complete."""
    whole = request_of("POST", path, b"x" * size, content_type="application/json")
    return whole[:-100]


def client(command: Command, *, source: str = "127.0.0.1", **fields: str) -> httpx2.AsyncClient:
    transport = httpx2.AsyncHTTPTransport(local_address=source)
    return httpx2.AsyncClient(base_url=command.url, transport=transport, headers=fields, timeout=PATIENCE)


async def test_a_relay_under_half_bodies_and_polls_that_nobody_reads() -> None:
    with running(*ACCP, "relay", "--http", "127.0.0.1:0") as command:
        async with client(command) as hog, client(command, source="127.0.0.2") as ann:
            token = (await hog.post("/acp/new")).json()["token"]
            for number in range(12):
                await hog.post(f"/acp/{token}/send", json={"text": f"{number}" + "x" * 900_000})
            polls = [request_of("GET", f"/acp/{token}/poll")] * 150
            async with silent(command.ports[0], [*polls, *[half(f"/acp/{token}/send", 2 * MIB)] * 100]):
                made = (await ann.post("/acp/new")).json()["token"]
                assert (await ann.post(f"/acp/{made}/join", json={"name": "ann"})).status_code == 200
                await hold(2)
        assert command.peak < BOUND
