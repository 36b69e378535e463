"""What every log of sessions does: in memory, in SQLite, in a real Redis and in a real NATS server."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from accp_adapters.bindings.logs import Fence, Fenced, FrameLog, LogError, MemoryFrameLog, open_log
from accp_adapters.bindings.logs.frame_log import MAX_LOG_TEXT_BYTES
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError
from tests.limits import PATIENCE

KINDS = ("memory", "sqlite", "redis", "nats")
LONG = 600.0
SHORT = 0.1


@pytest.fixture(params=KINDS)
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the address of a log of each kind."""
    if request.param in ("redis", "nats"):
        return str(request.getfixturevalue(f"{request.param}_url"))
    return "memory" if request.param == "memory" else f"sqlite:{tmp_path / 'log.db'}"


@pytest.fixture
async def opened(address: str) -> AsyncIterator[Callable[[], FrameLog]]:
    """Yield a function that opens the log once more, as another worker does; a log in memory is always the same one."""
    memory, logs = MemoryFrameLog(), list[FrameLog]()
    namespace = {"namespace": secrets.token_hex(4)} if address.startswith(("redis", "nats")) else {}

    def open_again() -> FrameLog:
        logs.append(memory if address == "memory" else open_log(address, **namespace))
        return logs[-1]

    yield open_again
    for log in logs:
        await log.aclose()
        await log.aclose()


async def held(log: FrameLog, name: str = "s/1", seconds: float = LONG) -> Fence:
    fence = await log.lease(name, "ann", seconds)
    assert fence is not None
    return fence


async def texts(log: FrameLog, after: int = 0, name: str = "s/1") -> list[tuple[int, str]]:
    return [entry async for entry in log.read(name, after)]


async def taken_over(log: FrameLog, name: str = "s/1") -> Fence:
    """Return the lease, as soon as that of another worker has ended."""
    async with asyncio.timeout(PATIENCE):
        while (fence := await log.lease(name, "bob", LONG)) is None:
            await asyncio.sleep(SHORT / 10)
    return fence


async def test_what_is_appended_is_read_in_order_by_every_worker(opened: Callable[[], FrameLog]) -> None:
    one, other = opened(), opened()
    fence = await held(one)
    assert [await one.append(fence, number, f"ä{number}") for number in (1, 2, 3)] == [True] * 3
    assert await texts(other) == [(1, "ä1"), (2, "ä2"), (3, "ä3")]
    assert await texts(other, 2) == [(3, "ä3")]
    assert await texts(other, 3) == await texts(other, name="s/2") == []


async def test_only_the_next_number_is_appended_and_once(opened: Callable[[], FrameLog]) -> None:
    log = opened()
    fence = await held(log)
    assert [await log.append(fence, number, f"text {number}") for number in (1, 1, 3)] == [True, False, False]
    assert await texts(log) == [(1, "text 1")]


async def test_one_worker_at_a_time_has_the_lease(opened: Callable[[], FrameLog]) -> None:
    one, other = opened(), opened()
    fence = await held(one)
    assert await other.lease("s/1", "bob", LONG) is None
    assert await other.lease("s/2", "bob", LONG) is not None
    await one.append(fence, 1, "first")
    await one.release(fence)
    mine = await other.lease("s/1", "bob", LONG)
    assert mine is not None
    assert (mine.last, mine.owner) == (1, "bob")
    assert mine.token > fence.token


async def test_a_lease_ends_by_itself_and_its_holder_writes_no_more(opened: Callable[[], FrameLog]) -> None:
    one, other = opened(), opened()
    lost = await held(one, seconds=SHORT)
    await one.append(lost, 1, "first")
    mine = await taken_over(other)
    assert mine.last == 1
    for attempt in (one.append(lost, 2, "late"), one.renew(lost, LONG), one.save(lost, 1, "late")):
        with pytest.raises(Fenced) as refused:
            await attempt
        assert refused.value.code == ErrorCode.TIMEOUT
    await one.release(lost)  # takes nothing from the new holder
    assert await one.lease("s/1", "ann", LONG) is None
    assert await other.append(mine, 2, "second")
    assert await texts(one) == [(1, "first"), (2, "second")]


async def test_a_renewed_lease_goes_on(opened: Callable[[], FrameLog]) -> None:
    one, other = opened(), opened()
    fence = await held(one, seconds=LONG / 2)
    await one.renew(fence, LONG)
    assert await other.lease("s/1", "bob", LONG) is None
    assert await one.append(fence, 1, "first")


async def test_a_snapshot_stands_for_the_texts_up_to_it(opened: Callable[[], FrameLog]) -> None:
    one, other = opened(), opened()
    fence = await held(one)
    assert await other.snapshot("s/1") is None
    for number in range(1, 4):
        await one.append(fence, number, str(number))
    await one.save(fence, 3, "state at 3: ä")
    assert await other.snapshot("s/1") == (3, "state at 3: ä")
    for number in range(4, 6):
        await one.append(fence, number, str(number))
    assert await texts(other, 3) == [(4, "4"), (5, "5")]
    assert (await texts(other))[-2:] == [(4, "4"), (5, "5")]
    await one.save(fence, 5, "state at 5")
    assert await other.snapshot("s/1") == (5, "state at 5")
    assert await texts(other, 5) == []
    assert await one.append(fence, 6, "6")
    await one.release(fence)
    mine = await held(other)
    assert (mine.last, await texts(other, 5)) == (6, [(6, "6")])


async def test_a_log_is_deleted_as_a_whole(opened: Callable[[], FrameLog]) -> None:
    log = opened()
    fence = await held(log)
    for number in (1, 2):
        await log.append(fence, number, "text")
    await log.save(fence, 2, "state")
    await log.release(fence)
    await log.delete("s/1")
    assert (await texts(log), await log.snapshot("s/1")) == ([], None)
    again = await held(log)
    assert (again.last, await log.append(again, 1, "new")) == (0, True)


async def test_a_long_log_is_read_whole(opened: Callable[[], FrameLog]) -> None:
    log = opened()
    fence = await held(log)
    for number in range(1, 301):
        await log.append(fence, number, str(number))
    assert await texts(log, 30) == [(number, str(number)) for number in range(31, 301)]


async def test_names_may_hold_any_character(opened: Callable[[], FrameLog]) -> None:
    log = opened()
    for name in ("s/a.*>{}", "s/ä b", "n/\ud800/x"):
        fence = await held(log, name)
        assert await log.append(fence, 1, name.encode("utf-8", "replace").decode())
        assert len(await texts(log, name=name)) == 1


async def test_a_text_that_is_too_long_is_refused(opened: Callable[[], FrameLog]) -> None:
    log = opened()
    fence = await held(log)
    with pytest.raises(ProtocolError, match="expected a text of at most") as refused:
        await log.append(fence, 1, "ä" * (MAX_LOG_TEXT_BYTES // 2 + 1))
    assert refused.value.code == ErrorCode.BUDGET_EXCEEDED
    assert await texts(log) == []


async def test_of_many_workers_one_appends_each_number(opened: Callable[[], FrameLog]) -> None:
    """Exactly once, whoever holds the lease: sixty texts by three workers that compete for it."""
    logs = [opened() for _ in range(3)]

    async def write(log: FrameLog, worker: int) -> int:
        count = 0
        while count < 20:
            fence = await log.lease("s/1", str(worker), LONG)
            if fence is None:
                await asyncio.sleep(0.001)
                continue
            count += await log.append(fence, fence.last + 1, f"{worker}/{count}")
            await log.release(fence)
        return count

    await asyncio.gather(*(write(log, worker) for worker, log in enumerate(logs)))
    found = await texts(logs[0])
    assert [number for number, _ in found] == list(range(1, 61))
    assert {text for _, text in found} == {f"{worker}/{count}" for worker in range(3) for count in range(20)}


async def test_whoever_knows_the_last_number_appends_the_next_one(opened: Callable[[], FrameLog]) -> None:
    one, other = opened(), opened()
    fence = await held(one)
    await one.append(fence, 1, "first")
    await one.release(fence)
    assert [await one.append_next("s/1", number, f"ä{number}") for number in (2, 2, 4, 3)] == [True, False, False, True]
    assert await texts(other, 1) == [(2, "ä2"), (3, "ä3")]
    assert await other.append_next("s/1", 4, "of the other one")
    assert not await one.append_next("s/1", 4, "too late")
    mine = await held(one)
    assert (mine.last, await texts(one, 3)) == (4, [(4, "of the other one")])
    await one.save(mine, 4, "state at 4")
    assert await one.append(mine, 5, "under the lease")
    await one.release(mine)
    assert await one.append_next("s/1", 6, "sixth")
    assert await texts(other, 4) == [(5, "under the lease"), (6, "sixth")]
    with pytest.raises(ProtocolError, match="E2003"):
        await one.append_next("s/1", 7, "x" * (MAX_LOG_TEXT_BYTES + 1))


async def test_a_lease_and_a_text_without_one_do_not_both_count(opened: Callable[[], FrameLog]) -> None:
    one, other = opened(), opened()
    fence = await held(one)
    await one.append(fence, 1, "first")
    assert await texts(other) == [(1, "first")]
    is_appended = await other.append_next("s/1", 2, "without")
    try:
        assert await one.append(fence, 2, "under the lease") is not is_appended
    except Fenced:
        assert is_appended
    assert await texts(other) == [(1, "first"), (2, "without" if is_appended else "under the lease")]


async def test_of_many_workers_without_a_lease_one_appends_each_number(opened: Callable[[], FrameLog]) -> None:
    logs = [opened() for _ in range(3)]

    async def write(log: FrameLog, worker: int) -> int:
        count = 0
        while count < 10:
            found = await texts(log)
            count += await log.append_next("s/1", len(found) + 1, f"{worker}/{count}")
        return count

    fence = await held(logs[0])
    await logs[0].append(fence, 1, "first")
    await logs[0].release(fence)
    await asyncio.gather(*(write(log, worker) for worker, log in enumerate(logs)))
    found = await texts(logs[0])
    assert [number for number, _ in found] == list(range(1, 32))
    assert {text for _, text in found[1:]} == {f"{worker}/{count}" for worker in range(3) for count in range(10)}


async def test_a_server_that_refuses_the_worker_is_out_of_reach(redis_url: str) -> None:
    """E3001, not E5001: the peer whose frame waits for the log has done nothing wrong."""
    log = open_log(redis_url.replace("redis://", "redis://nobody:wrong@"))
    with pytest.raises(LogError, match="redis") as refused:
        await log.snapshot("s/1")
    await log.aclose()
    assert refused.value.code == ErrorCode.TIMEOUT
    assert "wrong@" not in str(refused.value)
