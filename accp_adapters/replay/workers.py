"""Many runs replayed under several strategies, on as many processors as there are."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Final

from accp_adapters.replay.recorded_run import Run
from accp_adapters.replay.replay import Replay, replay
from accp_adapters.replay.strategies import StrategyName, strategy_named
from accp_adapters.replay.strategy import Strategy
from accp_adapters.tokens import o200k_base, o200k_base_encoding

__all__ = ["replay_all"]

# Fewer messages are done before a second process has read its vocabulary.
_MESSAGES_WORTH_A_PROCESS: Final = 2000


def replay_all(
    runs: Sequence[Run], names: Sequence[StrategyName], *, processes: int | None = None
) -> Iterator[tuple[Replay, ...]]:
    """Yield, for each of `runs` in order, its replay under each of `names`.

    Args:
        runs: What was recorded.
        names: The strategies.
        processes: How many to use; None: as many as there are processors, one for little work.

    Raises:
        ExtraMissing: a strategy needs an optional part that is not installed.
    """
    wanted = processes or _worth_while(runs)
    if wanted < 2:
        strategies = _strategies(names)
        yield from (_replay_one(run, strategies) for run in runs)
        return
    # A fresh interpreter: a progress bar is a thread, and forking a process with threads can hang it.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(wanted, mp_context=context, initializer=_prepare, initargs=(names,)) as pool:
        yield from pool.map(_replay_prepared, runs, chunksize=1)


def _worth_while(runs: Sequence[Run]) -> int:
    messages = sum(len(run.messages) for run in runs)
    return min(os.cpu_count() or 1, messages // _MESSAGES_WORTH_A_PROCESS)


def _strategies(names: Sequence[StrategyName]) -> list[Strategy]:
    counter = o200k_base()
    return [strategy_named(name, counter) for name in names]


def _replay_one(run: Run, strategies: Sequence[Strategy]) -> tuple[Replay, ...]:
    tokenize = o200k_base_encoding().encode_ordinary
    return tuple(replay(run, strategy, tokenize) for strategy in strategies)


_prepared: list[Strategy] = []


def _prepare(names: Sequence[StrategyName]) -> None:
    """Build the strategies once in each worker: functions do not travel between processes."""
    _prepared[:] = _strategies(names)


def _replay_prepared(run: Run) -> tuple[Replay, ...]:
    return _replay_one(run, _prepared)
