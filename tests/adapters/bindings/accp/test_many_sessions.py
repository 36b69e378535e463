"""Many sessions, one after the other, at one server: nothing of them stays open, and memory does not grow.

With ACCP_LONG=1 these are 1,000 sessions of 100 frames.
"""

from __future__ import annotations

import asyncio
import gc
import os
import tracemalloc
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from accp_adapters.bindings.accp.app import accp_app
from accp_adapters.bindings.accp.connect import connect
from accp_adapters.bindings.hosts import HostLimits, SessionHost
from accp_adapters.bindings.limits import BindingLimits
from accp_adapters.bindings.logs import FrameLog, MemoryFrameLog, SqliteFrameLog
from accp_core.accp import Intent, Message
from tests.adapters.bindings.accp.serving import echo, serve
from tests.adapters.bindings.hosts.agents import CODEC
from tests.limits import LONG

SESSIONS, FRAMES, WARM, REPLICAS = (1_000, 100, 100, 50) if LONG else (14, 4, 4, 1)
KIB = 1 << 10
SPREAD = 160 * KIB
"""Bytes by which what Python objects hold may differ by chance; that of ten sessions, if nothing of them was freed, is
more."""
ASK = Message(sender="", intent=Intent.REQUEST, operation="add", payload={"n": 7})

pytestmark = pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="descriptors and memory are read in /proc")


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def memory() -> tuple[int, int]:
    """Return the bytes that Python objects hold, and those of the process, whose allocator keeps what was freed."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return tracemalloc.get_traced_memory()[0], pages * os.sysconf("SC_PAGESIZE")


@pytest.fixture
def traced() -> Iterator[None]:
    """Trace what Python objects hold."""
    tracemalloc.start()
    yield
    tracemalloc.stop()


@asynccontextmanager
async def log_of(kind: str, path: Path) -> AsyncIterator[FrameLog]:
    """Yield a log in a file, or one in memory that forgets a session in which nothing happens for some seconds."""
    log: FrameLog = SqliteFrameLog(path / "log.db", power_safe=False) if kind == "sqlite" else MemoryFrameLog(ttl=20)
    yield log
    await log.aclose()


@pytest.mark.parametrize(("scheme", "kind"), [("http", "memory"), ("ws", "sqlite")])
@pytest.mark.usefixtures("traced")
async def test_nothing_is_left_of_a_session(scheme: str, kind: str, tmp_path: Path) -> None:
    async def use(address: str) -> None:
        async with connect(f"{scheme}://{address}", agent_id="ann", codec=CODEC) as session:
            for _ in range(FRAMES):
                await session.request(ASK)

    async with (
        log_of(kind, tmp_path) as log,
        SessionHost(echo, codec=CODEC, log=log, limits=HostLimits(replicas=REPLICAS)) as host,
        serve(accp_app(host, limits=BindingLimits(rate=1e6))) as address,
    ):
        for _ in range(WARM):
            await use(address)
        await asyncio.sleep(0.1)
        before, (held, size) = descriptors(), memory()
        for _ in range(SESSIONS - WARM):
            await use(address)
        await asyncio.sleep(0.1)
        after, size_after = memory()
        print(
            f"{scheme}, {kind}: {SESSIONS} sessions of {FRAMES} frames: {held // KIB} to {after // KIB} KiB of objects"
        )
        print(f"{size // KIB} to {size_after // KIB} KiB of the process, {before} to {descriptors()} descriptors")
        assert descriptors() <= before + 2
        assert len(host._journal._places) <= REPLICAS
        assert after <= held + SPREAD
