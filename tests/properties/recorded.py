"""The recorded runs that properties are tried on."""

import functools

import pytest

from accp_adapters.replay import Run
from tests.harness.bench.data import find_data, recorded_runs
from tests.limits import LONG

__all__ = ["some_recorded_runs"]


@functools.cache
def some_recorded_runs() -> list[Run]:
    """Return every eighth recorded run, with `ACCP_LONG=1` all; skip the test where there are none."""
    data = find_data()
    if data is None:
        pytest.skip("the recorded runs are not there: set ACCP_DATA")
    return recorded_runs(data)[0][:: 1 if LONG else 8]
