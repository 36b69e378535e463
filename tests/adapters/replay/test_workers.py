import json
import os
from collections.abc import Iterator

import pytest

from accp_adapters.cli.replaying import EXAMPLE
from accp_adapters.replay import Run, parse_runs, read_runs, replay
from accp_adapters.replay.strategies import StrategyName
from accp_adapters.replay.workers import compare, replay_all
from tests.adapters.replay.runs import trajectory

NAMES = (StrategyName.AS_RECORDED, StrategyName.LOSSLESS)


@pytest.fixture
def runs() -> list[Run]:
    lines = [json.dumps(trajectory(trajectory_id=f"t{number}")) for number in range(3)]
    return parse_runs("\n".join(lines), path="runs.jsonl")


def test_runs_come_back_in_their_order_under_every_strategy(runs: list[Run]) -> None:
    replays = list(replay_all(runs, NAMES))
    assert [[one.run for one in each] for each in replays] == [["t0"] * 2, ["t1"] * 2, ["t2"] * 2]
    assert [one.strategy for one in replays[0]] == ["as recorded", "lossless"]


def test_strategies_that_are_replayed_together_come_to_the_same_figures_as_each_alone(runs: list[Run]) -> None:
    names = (*NAMES, StrategyName.TIGHT)
    runs = [*runs, *read_runs(EXAMPLE)]
    alone = [tuple(replay(run, name) for name in names) for run in runs]
    assert list(replay_all(runs, names, processes=1)) == alone


@pytest.mark.slow
def test_several_processes_come_to_the_same_figures(runs: list[Run]) -> None:
    assert list(replay_all(runs, NAMES, processes=2)) == list(replay_all(runs, NAMES, processes=1))


def test_one_strategy_is_compared_with_the_runs_as_recorded(runs: list[Run]) -> None:
    report = compare(runs, StrategyName.LOSSLESS)
    assert report.strategy == "lossless"
    assert report.total().runs == 3


def test_a_log_is_not_held_in_memory(runs: list[Run]) -> None:
    begun = 0

    def log() -> Iterator[Run]:
        nonlocal begun
        for _ in range(3000):
            begun += 1
            yield runs[0]

    replays = replay_all(log(), (StrategyName.AS_RECORDED,), processes=1)
    next(replays)
    assert begun <= 2000 * (os.cpu_count() or 1) / len(runs[0].messages) + 1
