"""`python -m tests.harness.soak [load…]`: a mixed load for SOAK_SECONDS (3600), and a curve of what it takes.

The exit code is 1 where a line rises.

The curve is the memory, the descriptors and the threads of this process and its children.
"""

import asyncio
import gc
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from tests.harness.soak.curve import Sample, lowest, rises, table, take_sample
from tests.harness.soak.loads import LOADS
from tests.limits import async_wait_until

__all__ = ["main", "soak"]

SAMPLES = 60
"""Samples of a run."""
MOMENTS = 5
"""Moments of a sample: it has the fewest descriptors and threads of them."""
PAUSE = 0.05
"""Seconds that a load rests after each job, so that the others run, too."""


async def soak(
    seconds: float, names: Sequence[str] = tuple(LOADS), *, samples: int = SAMPLES, taken: list[Sample] | None = None
) -> list[Sample]:
    """Return the samples of so many seconds of loads, all at once; they are also added to `taken` as they come."""
    done: dict[str, int] = dict.fromkeys(names, 0)
    taken = [] if taken is None else taken
    with tempfile.TemporaryDirectory() as folder:
        async with AsyncExitStack() as stack, asyncio.TaskGroup() as group:
            jobs = [(name, await stack.enter_async_context(LOADS[name](Path(folder)))) for name in names]
            running = [group.create_task(repeat(job, name, done)) for name, job in jobs]
            start = time.monotonic()
            for number in range(samples):
                ends = [start + seconds * (number + part / MOMENTS) / samples for part in range(1, MOMENTS + 1)]
                taken.append(lowest([await moment(start, end, done) for end in ends]))
                print(f"{taken[-1]} {done}", file=sys.stderr, flush=True)
            await async_wait_until(lambda: all(done.values()) or any(task.done() for task in running))
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)
    return taken


async def moment(start: float, end: float, done: dict[str, int]) -> Sample:
    """Return what the load takes at a time of the monotonic clock, without garbage."""
    await asyncio.sleep(max(0.0, end - time.monotonic()))
    gc.collect()
    return take_sample(time.monotonic() - start, sum(done.values()))


async def repeat(job: Callable[[int], Any], name: str, done: dict[str, int]) -> None:
    """Do a job again and again."""
    while True:
        await job(done[name])
        done[name] += 1
        await asyncio.sleep(PAUSE)


def main() -> int:
    """Run, print the curve, and return 1 where a line rises."""
    names = sys.argv[1:] or list(LOADS)
    samples: list[Sample] = []
    try:
        asyncio.run(soak(float(os.environ.get("SOAK_SECONDS", "3600")), names, taken=samples))
    finally:
        # A load that breaks ends the run with a traceback; the curve up to there is shown.
        print(table(samples) if samples else "no samples", flush=True)
    return int(any(rise > bound for rise, bound in rises(samples).values()))


if __name__ == "__main__":
    sys.exit(main())
