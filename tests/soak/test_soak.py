"""The soak for moments, and its verdict; `make soak` runs it for an hour."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.soak.__main__ import soak
from tests.soak.curve import Sample, lowest, rises, table, take_sample

pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read in /proc")


def samples(*memory: float) -> list[Sample]:
    return [
        Sample(seconds=60.0 * number, memory=each, descriptors=20, threads=4, jobs=number)
        for number, each in enumerate(memory, 1)
    ]


@pytest.mark.slow
async def test_every_load_does_its_jobs() -> None:
    taken = await soak(1, samples=2)
    assert len(taken) == 2
    assert taken[-1].memory > 50
    assert taken[-1].descriptors > 10


def test_a_line_that_rises_after_the_first_third_is_named() -> None:
    flat = table(samples(50, 90, 100, 101, 100, 101, 100, 101, 100))
    assert "memory: +0.0 over the last two thirds, at most +5.0: flat" in flat
    leaking = samples(*range(100, 136, 4))
    assert rises(leaking)["memory"] == (24.0, pytest.approx(6.0))
    assert "at most +6.0: RISES" in table(leaking)
    assert rises(leaking)["threads"] == (0.0, 3.0)


def test_a_sample_has_the_threads_that_stay() -> None:
    """A thread of a pool that comes and goes is in no sample; one that is never given back is in each."""
    moments = [replace(each, threads=threads) for each, threads in zip(samples(90, 100), (18, 25), strict=True)]
    assert lowest(moments) == replace(moments[-1], threads=18)


def test_a_process_has_memory_descriptors_and_threads() -> None:
    sample = take_sample(0, 0)
    assert min(sample.memory, sample.descriptors, sample.threads) >= 1
    assert rises([sample])["memory"][0] == 0
