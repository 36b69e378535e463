"""The log in an SQLite file: the file itself, and clocks that are set."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from accp_adapters.bindings.hosts import HostLimits, SessionHost
from accp_adapters.bindings.logs import SqliteFrameLog
from accp_core.errors import ProtocolError
from tests.adapters.bindings.hosts.agents import ANN, CODEC, Client

HOUR = 3_600.0


def opened(path: Path) -> SqliteFrameLog:
    return SqliteFrameLog(path, power_safe=False)


async def test_a_folder_that_is_missing_is_named(tmp_path: Path) -> None:
    log = opened(tmp_path / "missing" / "x.db")
    with pytest.raises(ProtocolError, match=r"missing' for the log '.*', found none: create it") as refused:
        await log.lease("s/1", "ann", 1.0)
    await log.aclose()
    assert refused.value.code == "E3001"


async def test_a_file_that_may_not_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    log = opened(tmp_path / "file" / "x.db")
    with pytest.raises(ProtocolError, match=r"^E3001: expected '.*' to be usable as a log, found: Not a directory"):
        await log.snapshot("s/1")
    await log.aclose()


async def test_a_file_that_was_removed_is_noticed_and_takes_no_more(tmp_path: Path) -> None:
    """What is written into it would end with the process, though it was acknowledged."""
    path, log, client = tmp_path / "log.db", opened(tmp_path / "log.db"), Client()
    async with SessionHost(lambda _: answer(), codec=CODEC, log=log) as host:
        await host.frames(ANN, client.ask("add"))
        await host.check()
        path.rename(tmp_path / "other.db")
        for attempt in (host.check(), host.frames(ANN, client.ask("add"))):
            with pytest.raises(ProtocolError, match="was removed or replaced") as refused:
                await attempt
            assert refused.value.code == "E3001"
        (tmp_path / "other.db").rename(path)
        await host.check()
    await log.aclose()


async def answer() -> dict[str, object]:
    return {}


@pytest.mark.parametrize("jump", [HOUR, -HOUR])
async def test_a_wall_clock_that_is_set_ends_no_lease_and_keeps_none(
    jump: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = opened(tmp_path / "log.db"), opened(tmp_path / "log.db")
    held, short = await one.lease("s/1", "ann", HOUR / 2), await one.lease("s/2", "ann", 0.1)
    assert held
    assert short
    monkeypatch.setattr(time, "time", lambda now=time.time: now() + jump)
    late = opened(tmp_path / "log.db")
    for log in (other, late):
        assert await log.lease("s/1", "bob", HOUR) is None
        while await log.lease("s/2", "bob", 0.1) is None:
            await asyncio.sleep(0.01)
    assert await one.append(held, 1, "still ours")
    for log in (one, other, late):
        await log.aclose()


@pytest.mark.parametrize("jump", [HOUR, -HOUR])
async def test_a_wall_clock_that_is_set_takes_no_request_from_its_worker(
    jump: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on, runs = asyncio.Event(), asyncio.Event(), list[str]()

    async def slow(request: object) -> dict[str, object]:
        runs.append("run")
        begun.set()
        await go_on.wait()
        return {"n": 1}

    client, limits = Client(), HostLimits(lease=60.0)
    logs = [opened(tmp_path / "log.db") for _ in range(2)]
    async with (
        SessionHost(slow, codec=CODEC, log=logs[0], limits=limits) as one,
        SessionHost(slow, codec=CODEC, log=logs[1], limits=limits) as other,
    ):
        frame = client.ask("add")
        waiting = [asyncio.ensure_future(one.frames(ANN, frame))]
        await begun.wait()
        monkeypatch.setattr(time, "time", lambda now=time.time: now() + jump)
        waiting.append(asyncio.ensure_future(other.frames(ANN, frame)))
        await asyncio.sleep(0.1)
        go_on.set()
        first, second = await asyncio.gather(*waiting)
    for log in logs:
        await log.aclose()
    assert (first, runs) == (second, ["run"])
