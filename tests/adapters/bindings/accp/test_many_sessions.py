"""Many sessions, one after the other, at one server: nothing of them stays open."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from accp_adapters.bindings.accp.connect import connect
from accp_core.accp import Intent, Message
from tests.adapters.bindings.accp.serving import serving
from tests.adapters.bindings.hosts.agents import CODEC

SESSIONS, FRAMES = (1_000, 100) if os.environ.get("ACCP_LONG") else (10, 5)
ASK = Message(sender="", intent=Intent.REQUEST, operation="add", payload={"n": 7})


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="descriptors are counted in /proc")
@pytest.mark.parametrize("scheme", ["http", "ws"])
async def test_no_descriptor_is_left(scheme: str) -> None:
    async def use(address: str) -> None:
        async with connect(f"{scheme}://{address}", agent_id="ann", codec=CODEC) as session:
            for _ in range(FRAMES):
                await session.request(ASK)

    async with serving() as address:
        await use(address)
        await asyncio.sleep(0.1)
        before = descriptors()
        for _ in range(SESSIONS):
            await use(address)
        await asyncio.sleep(0.1)
        assert descriptors() <= before + 2
