"""Many sessions, one after the other, at one server: nothing of them stays open, and memory does not grow.

With ACCP_LONG=1 these are 1,000 sessions of 100 frames: 50 requests and their answers. What is flat is counted in
blocks of Python's allocator, which costs nothing: a run that traces every allocation takes far longer.
"""

from __future__ import annotations

import asyncio
import gc
import os
import sys
from pathlib import Path

import pytest

from accp_adapters.bindings.accp.app import accp_app
from accp_adapters.bindings.accp.connect import connect
from accp_adapters.bindings.hosts import HostLimits, SessionHost
from accp_adapters.serving.limits import ServerLimits
from accp_adapters.stores import SqliteColdStore
from accp_core.accp import Intent, Message
from tests.adapters.bindings.accp.serving import echo, serve
from tests.adapters.bindings.hosts.agents import CODEC
from tests.limits import LONG

SESSIONS, REQUESTS, WARM, REPLICAS = (1_000, 50, 100, 50) if LONG else (14, 2, 4, 1)
SPREAD = 2_000 if LONG else 1_000
"""Blocks by which what Python objects hold may differ by chance; one session that stays in memory has about 200."""
RISE = 8 << 20
"""Bytes by which the process may grow: its allocators keep what was freed, and SQLite its pages."""
ASK = Message(sender="", intent=Intent.REQUEST, operation="add", payload={"n": 7})

pytestmark = pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="descriptors and memory are read in /proc")


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def memory() -> tuple[int, int]:
    """Return the blocks that Python objects hold, and the bytes of the process."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return sys.getallocatedblocks(), pages * os.sysconf("SC_PAGESIZE")


@pytest.mark.parametrize(("scheme", "kind"), [("http", "memory"), ("ws", "sqlite")])
async def test_nothing_is_left_of_a_session(scheme: str, kind: str, tmp_path: Path) -> None:
    store = SqliteColdStore(tmp_path / "sessions.sqlite") if kind == "sqlite" else None

    async def use(address: str) -> None:
        async with connect(f"{scheme}://{address}", agent_id="ann", codec=CODEC) as session:
            for _ in range(REQUESTS):
                await session.request(ASK)

    async with (
        SessionHost(echo, codec=CODEC, store=store, limits=HostLimits(sessions=REPLICAS)) as host,
        serve(accp_app(host, limits=ServerLimits(rate=1e6))) as address,
    ):
        for _ in range(WARM):
            await use(address)
        await asyncio.sleep(0.1)
        before, (held, size) = descriptors(), memory()
        for _ in range(SESSIONS - WARM):
            await use(address)
        await asyncio.sleep(0.1)
        after, size_after = memory()
        print(f"{scheme}, {kind}: {SESSIONS} sessions of {2 * REQUESTS} frames: {held} to {after} blocks of objects")
        print(f"{size >> 10} to {size_after >> 10} KiB of the process, {before} to {descriptors()} descriptors")
        assert descriptors() <= before + 2
        assert after <= held + SPREAD
        assert size_after <= size + RISE
