"""Many runs replayed under several strategies, in several processes where that is faster."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from typing import Final

from accp_adapters.replay.recorded_run import Run
from accp_adapters.replay.replay import Replay, replay_under
from accp_adapters.replay.report import Report
from accp_adapters.replay.strategies import StrategyName, to_strategy
from accp_adapters.replay.strategy import Strategy
from accp_core.receipts.values import forget_texts

__all__ = ["compare", "replay_all"]

# Starting a process and loading its vocabulary takes about as long as replaying so many messages.
_MESSAGES_PER_PROCESS: Final = 2000
_RUNS_PER_PROCESS: Final = 4
"""Runs that wait for each process, so that none is idle and few are held."""


def replay_all(
    runs: Iterable[Run], names: Sequence[StrategyName], *, processes: int | None = None, texts: bool = False
) -> Iterator[tuple[Replay, ...]]:
    """Yield, for each of `runs` in order, its replay under each of `names`; few runs are held at a time.

    Args:
        runs: Recorded runs, see `read_runs`.
        names: The strategies, by name: functions cannot be sent to another process.
        processes: How many to use; None: one for few messages, at most one for each processor.
        texts: Whether the texts of the largest messages are kept.
    """
    remaining = iter(runs)
    first = [] if processes else list(_first_runs(remaining))
    count = processes or _useful_processes(first)
    every = itertools.chain(first, remaining)
    if count < 2:
        strategies = list(map(to_strategy, names))
        yield from (_replay_under(run, strategies, texts) for run in every)
        return
    # New interpreters: a progress bar is a thread, and forking a process with threads can hang it.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(count, mp_context=context, initializer=_prepare, initargs=(names, texts)) as pool:
        try:
            yield from _in_order(pool, every, count * _RUNS_PER_PROCESS)
        except BaseException:
            # After an interrupt or a file that cannot be read, the results of the other runs are not used.
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def compare(runs: Iterable[Run], name: StrategyName, *, processes: int | None = None) -> Report:
    """Return the report of `runs` under one strategy, compared with the runs as recorded; see `replay_all`."""
    replays = replay_all(runs, (StrategyName.AS_RECORDED, name), processes=processes)
    return Report.of((before, after) for before, after in replays)


def _first_runs(runs: Iterator[Run]) -> Iterator[Run]:
    """Yield the runs that show how many processes are useful."""
    messages = 0
    for run in runs:
        messages += len(run.messages)
        yield run
        if messages >= _MESSAGES_PER_PROCESS * (os.cpu_count() or 1):
            return


def _useful_processes(runs: Sequence[Run]) -> int:
    messages = sum(len(run.messages) for run in runs)
    return min(os.cpu_count() or 1, messages // _MESSAGES_PER_PROCESS)


def _in_order(pool: ProcessPoolExecutor, runs: Iterable[Run], ahead: int) -> Iterator[tuple[Replay, ...]]:
    """Yield the replays of `runs` in order; at most `ahead` runs are waiting for a process or for their turn."""
    waiting: deque[Future[tuple[Replay, ...]]] = deque()
    for run in runs:
        waiting.append(pool.submit(_replay_prepared, run))
        if len(waiting) >= ahead:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


def _replay_under(run: Run, strategies: Sequence[Strategy], texts: bool) -> tuple[Replay, ...]:
    try:
        return replay_under(run, strategies, texts=texts)
    finally:
        # What was found in the texts of one run is of no use for the next one.
        forget_texts()


_prepared: list[tuple[list[Strategy], bool]] = []


def _prepare(names: Sequence[StrategyName], texts: bool) -> None:
    """Make the strategies once in each worker process; an interrupt from the keyboard is for the one that waits."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _prepared[:] = [(list(map(to_strategy, names)), texts)]


def _replay_prepared(run: Run) -> tuple[Replay, ...]:
    ((strategies, texts),) = _prepared
    return _replay_under(run, strategies, texts)
