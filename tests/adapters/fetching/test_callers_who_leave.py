"""A query ends when its caller leaves: a cancelled task does not keep a thread until the end of its budget."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Coroutine
from functools import partial
from math import inf
from typing import Any

import anyio
import pytest

from accp_adapters.fetching import FetchRequest, answer
from accp_adapters.fetching.request import WorkBudget
from accp_adapters.langgraph import stores
from accp_adapters.serving.threads import off_loop
from accp_adapters.tokens import count_o200k

ROWS = json.dumps([{"id": n, "text": f"a longer text {n}"} for n in range(5_000)])
JOIN = "SELECT count(*) FROM rows a, rows b WHERE a.id + b.id = -1"
FUNCTION = "SELECT count(*) FROM rows a, rows b WHERE replace(a.text, 'a', 'b') = b.text"

Start = Callable[[Callable[[], Any]], Coroutine[Any, Any, Any]]


class Watched:
    """Waits in the first step of a query until its caller has left, and counts the steps behind it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun, self.left, self.ended, self.steps = *(threading.Event() for _ in range(3)), 0
        self.use = WorkBudget.use
        monkeypatch.setattr(WorkBudget, "use", lambda budget, steps: self.count(budget, steps))

    def count(self, budget: WorkBudget, steps: int) -> bool:
        self.begun.set()
        assert self.left.wait(30)
        self.steps += steps
        return self.use(budget, steps)

    def work(self, query: str) -> None:
        try:
            answer({"k": ROWS}, FetchRequest(query=query), limit=300, counter=count_o200k)
        finally:
            self.ended.set()


async def cancelled(start: Start, watched: Watched, query: str) -> None:
    task = asyncio.ensure_future(start(partial(watched.work, query)))
    await asyncio.to_thread(watched.begun.wait, 30)
    task.cancel()
    await asyncio.sleep(0.01)
    watched.left.set()
    await asyncio.wait([task])


async def out_of_scope(start: Start, watched: Watched, query: str) -> None:
    async with anyio.create_task_group() as group:
        group.start_soon(start, partial(watched.work, query))
        await asyncio.to_thread(watched.begun.wait, 30)
        group.cancel_scope.cancel()
        with anyio.CancelScope(shield=True):
            await asyncio.sleep(0.01)
        watched.left.set()


@pytest.mark.parametrize("query", [JOIN, FUNCTION, "longer 4999 text"])
@pytest.mark.parametrize("start", [partial(off_loop, inf), stores.in_thread])
@pytest.mark.parametrize("leave", [cancelled, out_of_scope])
def test_a_query_ends_when_its_caller_leaves(
    leave: Callable[..., Any], start: Start, query: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched = Watched(monkeypatch)
    asyncio.run(leave(start, watched, query))
    assert watched.ended.wait(30)
    assert watched.steps < 50_000
