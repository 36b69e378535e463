"""Large bodies and responses: of each owner, the event loop moves one piece in a turn, so that others wait for one."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from accp_adapters.serving.bodies import ByteBudget, read_body
from accp_adapters.serving.off_loop import OWNER
from accp_adapters.serving.responses import ResponseWriter

PIECE = b"x" * 65_536
PIECES, REQUESTS = 20, 8


async def read_one(moved: Callable[[], None]) -> None:
    left = PIECES

    async def receive() -> dict[str, Any]:
        nonlocal left
        moved()
        left -= 1
        return {"type": "http.request", "body": PIECE, "more_body": left > 0}

    with ByteBudget(1 << 30).lease() as lease:
        await read_body({"headers": []}, receive, lease, limit=1 << 30)


async def write_one(moved: Callable[[], None]) -> None:
    async def send(event: Any) -> None:
        if event.get("body"):
            moved()

    await ResponseWriter(send).write(PIECE * PIECES)


@pytest.mark.parametrize("move", [read_one, write_one])
async def test_others_wait_for_one_piece(move: Callable[[Callable[[], None]], Awaitable[None]]) -> None:
    turn, last = 0, dict[str, int]()
    moved: Counter[int] = Counter()

    async def count() -> None:
        nonlocal turn
        while True:
            turn += 1
            await asyncio.sleep(0)

    async def of(owner: str) -> None:
        OWNER.set(owner)
        await move(lambda: moved.update([turn] if owner == "hog" else []))
        last[owner] = turn

    counting = asyncio.ensure_future(count())
    await asyncio.gather(*(of("hog") for _ in range(REQUESTS)), of("ann"))
    counting.cancel()
    first = min(moved)
    assert max(number for each, number in moved.items() if each > first) <= 1
    assert last["ann"] < PIECES * 3
