"""Time that goes on, whatever happens to the wall clock of a worker or of a client."""

from __future__ import annotations

import asyncio
import time

import pytest

from accp_adapters.bindings.accp.client_session import ClientSession
from accp_adapters.bindings.clock import SteadyClock
from accp_adapters.stores import embedded_store
from accp_core.accp import Intent, Message, Session, SessionOptions
from tests.adapters.bindings.hosts.agents import CODEC

HOUR = 3_600.0
JUMPS = pytest.mark.parametrize("jump", [HOUR, -HOUR])


@JUMPS
def test_it_does_not_jump_with_the_wall_clock(jump: float) -> None:
    wall, steady = [1_000_000.0], [5.0]
    clock = SteadyClock(wall=lambda: wall[0], steady=lambda: steady[0])
    wall[0] += jump
    steady[0] += 2.0
    assert clock() == 1_000_002.0


@JUMPS
async def test_a_wall_clock_that_is_set_ends_no_request_of_a_client(
    jump: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ACCP 3.7 and 11.2: neither E3001 nor a missed heartbeat."""
    options = SessionOptions(timeout=60, heartbeat=30, name_session=True)
    made = Session("s1", "ann", codec=CODEC, new_id=lambda: "a1", options=options)
    session = ClientSession(lambda: made, embedded_store(), options, CODEC)
    silent = list[str]()
    session.on_silence = lambda: silent.append("silent")
    message = Message(sender="", intent=Intent.REQUEST, operation="add", payload={})
    asked = asyncio.ensure_future(session.request(message))
    await asyncio.sleep(0)
    monkeypatch.setattr(time, "time", lambda now=time.time: now() + jump)
    await session.tick()
    await asyncio.sleep(0)
    assert (asked.done(), silent) == (False, [])
    asked.cancel()
    await asyncio.wait([asked])
