"""Many runs replayed under several strategies, in several processes where that is faster."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Final

from accp_adapters.replay.recorded_run import Run
from accp_adapters.replay.replay import Replay, replay
from accp_adapters.replay.report import Report
from accp_adapters.replay.strategies import StrategyName, to_strategy
from accp_adapters.replay.strategy import Strategy

__all__ = ["compare", "replay_all"]

# Starting a process and loading its vocabulary takes about as long as replaying so many messages.
_MESSAGES_PER_PROCESS: Final = 2000


def replay_all(
    runs: Sequence[Run], names: Sequence[StrategyName], *, processes: int | None = None
) -> Iterator[tuple[Replay, ...]]:
    """Yield, for each of `runs` in order, its replay under each of `names`.

    Args:
        runs: Recorded runs, see `read_runs`.
        names: The strategies, by name: functions cannot be sent to another process.
        processes: How many to use; None: one for few messages, at most one for each processor.

    Raises:
        ImportError: a strategy needs the LangGraph adapter, which is not installed.
    """
    count = processes or _useful_processes(runs)
    if count < 2:
        strategies = list(map(to_strategy, names))
        yield from (_replay_under(run, strategies) for run in runs)
        return
    # New interpreters: a progress bar is a thread, and forking a process with threads can hang it.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(count, mp_context=context, initializer=_prepare, initargs=(names,)) as pool:
        yield from pool.map(_replay_prepared, runs, chunksize=1)


def compare(runs: Sequence[Run], name: StrategyName, *, processes: int | None = None) -> Report:
    """Return the report of `runs` under one strategy, compared with the runs as recorded; see `replay_all`."""
    replays = replay_all(runs, (StrategyName.AS_RECORDED, name), processes=processes)
    return Report.of((before, after) for before, after in replays)


def _useful_processes(runs: Sequence[Run]) -> int:
    messages = sum(len(run.messages) for run in runs)
    return min(os.cpu_count() or 1, messages // _MESSAGES_PER_PROCESS)


def _replay_under(run: Run, strategies: Sequence[Strategy]) -> tuple[Replay, ...]:
    return tuple(replay(run, strategy) for strategy in strategies)


_prepared: list[Strategy] = []


def _prepare(names: Sequence[StrategyName]) -> None:
    """Make the strategies once in each worker process."""
    _prepared[:] = map(to_strategy, names)


def _replay_prepared(run: Run) -> tuple[Replay, ...]:
    return _replay_under(run, _prepared)
