"""Attacks on the memory of an agent of ACP: what waits for it, and what it keeps of its answers."""

import asyncio
import json

import httpx2
import pytest

from tests.attacks.commands import ACCP, BOUND, needs_proc, running
from tests.limits import PATIENCE

pytestmark = needs_proc

NAMES = ("p1", "p2", "p3")
TOKENS = " ".join(f"{name}:{name}-token" for name in NAMES)
LONG = "x" * 1_000_000 + "🦊"
"""One wide character makes each character of a text take four bytes in memory."""
DENSE = b'{"role":"user","parts":[{"type":"data","content":[' + b"[]," * 330_000 + b"1]}]}"


@pytest.mark.parametrize("kind", ["waiting", "results", "values"])
async def test_messages_and_results_of_several_principals(kind: str) -> None:
    agent = {"waiting": "slow_agent", "values": "slow_agent"}.get(kind, "echo_agent")
    told = {"role": "user", "parts": [{"type": "text", "content": LONG}]}
    body = DENSE if kind == "values" else json.dumps(told).encode()
    words = ("serve", f"tests.attacks.served:{agent}", "--http", "127.0.0.1:0", "--token-env", "TOKENS")
    with running(*ACCP, *words, TOKENS=TOKENS) as command:

        async def flood(name: str) -> None:
            fields = {"authorization": f"Bearer {name}-token", "content-type": "application/json"}
            async with httpx2.AsyncClient(base_url=command.url, headers=fields, timeout=PATIENCE) as client:
                for _ in range(10 if kind == "values" else 50):
                    assert (await client.post("/message:send", content=body)).status_code in (200, 413, 429, 503)

        await asyncio.gather(*map(flood, NAMES))
        assert command.peak < BOUND
