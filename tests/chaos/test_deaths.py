"""A few deaths in each store; `make chaos` dies at every place, 1,000 times."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.chaos.deaths import STORES, Worker, deaths, prepare, worker


@pytest.fixture(scope="module")
def forker() -> Iterator[Worker]:
    with worker() as opened:
        yield opened


@pytest.mark.slow
@pytest.mark.parametrize("name", STORES)
def test_a_death_loses_nothing_leaves_nothing_dangling_and_answers_nothing_twice(
    name: str, forker: Worker, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    kind, server = STORES[name]
    sqlite = f"sqlite:{tmp_path / 'store.sqlite'}"
    address = sqlite if server == "sqlite" else request.getfixturevalue(f"{server}_url")
    found = list(deaths(forker, kind, prepare(address), (2, 5)))
    assert [each["died"] for each in found] == [True, True]
    assert [each["wrong"] for each in found] == [[], []]
    assert all(each["again"] > 8 for each in found)
