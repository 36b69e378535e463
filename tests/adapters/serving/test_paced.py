"""When a connection or a caller has to rest from what was dear to read."""

import asyncio
from itertools import count
from types import SimpleNamespace
from typing import Any
from unittest.mock import AsyncMock, MagicMock

import pytest
import uvicorn
from uvicorn.server import ServerState

from accp_adapters.serving import paced, turns


async def answer(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body"})


@pytest.mark.parametrize(("cost", "rests"), [(0.0001, False), (0.0009, True)])
async def test_a_connection_rests_only_while_reading_takes_much_of_the_loop(
    monkeypatch: pytest.MonkeyPatch, *, cost: float, rests: bool
) -> None:
    ticks, work = count(), count()
    clock = SimpleNamespace(monotonic=lambda: next(ticks) / 1_000, thread_time=lambda: next(work) * cost)
    monkeypatch.setattr(paced, "time", clock)
    monkeypatch.setattr(paced._Paced, "last", -1.0)  # what another test has spent is long ago
    config = uvicorn.Config(answer, lifespan="off")
    config.load()
    transport = MagicMock(spec=asyncio.Transport, is_closing=lambda: False)
    transport.get_extra_info.side_effect = lambda name: ("127.0.0.1", 1) if name == "peername" else None
    for _ in range(20):  # all but the last one are silent
        protocol = paced.PacedHttp(config=config, server_state=ServerState(), app_state={})
        protocol.connection_made(transport)
    transport.get_protocol.return_value = protocol
    for _ in range(100):
        protocol.data_received(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        for _ in range(5):
            await asyncio.sleep(0)
    assert transport.pause_reading.called == rests


async def test_who_cannot_ask_while_the_loop_is_held_counts_as_one_who_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    now, left = [100.0], AsyncMock()
    monkeypatch.setattr(turns, "time", SimpleNamespace(monotonic=lambda: now[0], thread_time=lambda: now[0]))
    callers = turns.Turns()
    _, hog, other = [callers.line(name, 1, is_large=name != "ann") for name in ("ann", "hog", "other")]
    assert await callers.begin(hog, left)
    now[0] += 5
    callers.rest(hog, 5)
    assert not await callers.begin(other, left)  # it waits until its client has left
