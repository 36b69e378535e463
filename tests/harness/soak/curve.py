"""What a process and its children take over time, and whether a line through it rises."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

__all__ = ["BOUNDS", "Sample", "lowest", "rises", "row", "table", "take_sample"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One moment of a process and all its descendants."""

    seconds: float
    """Since the load began."""
    memory: float
    """Resident memory in MB."""
    descriptors: float
    threads: float
    jobs: int
    """How many jobs of the load were done."""


BOUNDS: Final = {"memory": (4.0, 0.05), "descriptors": (3.0, 0.0), "threads": (3.0, 0.0)}
"""How much a line over the last two thirds may rise from its beginning to its end: at least, and as a share."""


def take_sample(seconds: float, jobs: int) -> Sample:
    """Return what this process and its descendants take now."""
    processes = [Path("/proc", str(each)) for each in _tree(os.getpid())]
    status = [_status(process) for process in processes]
    return Sample(
        seconds=seconds,
        memory=sum(each.get("VmRSS", 0) for each in status) / 1024,
        descriptors=sum(_descriptors(process) for process in processes),
        threads=sum(each.get("Threads", 0) for each in status),
        jobs=jobs,
    )


def lowest(moments: Sequence[Sample]) -> Sample:
    """Return the last moment with the fewest descriptors and threads of all.

    Threads of pools and connections come and go with the jobs; one that is never given back is there at each moment.
    """
    descriptors, threads = (min(getattr(each, name) for each in moments) for name in ("descriptors", "threads"))
    return replace(moments[-1], descriptors=descriptors, threads=threads)


def _tree(process: int) -> list[int]:
    """Return a process and its descendants."""
    found = [process]
    for parent in found:
        for task in Path(f"/proc/{parent}/task").glob("*/children"):
            try:
                found += map(int, task.read_text().split())
            except OSError:  # the thread has ended
                continue
    return found


def _status(process: Path) -> dict[str, int]:
    try:
        lines = (process / "status").read_text().splitlines()
    except OSError:  # the process has ended
        return {}
    fields = (line.split()[:2] for line in lines if line.startswith(("VmRSS", "Threads")))
    return {name.rstrip(":"): int(number) for name, number in fields}


def _descriptors(process: Path) -> int:
    try:
        return len(list((process / "fd").iterdir()))
    except OSError:
        return 0


def rises(samples: Sequence[Sample]) -> dict[str, tuple[float, float]]:
    """Return for each figure how much the fitted line rises over the last two thirds, and the bound of that."""
    late = [sample for sample in samples if 3 * sample.seconds >= samples[-1].seconds]
    found = {}
    for name, (least, share) in BOUNDS.items():
        values = [getattr(sample, name) for sample in late]
        mean = sum(values) / len(values)
        found[name] = _rise([sample.seconds for sample in late], values), max(least, share * mean)
    return found


def _rise(times: Sequence[float], values: Sequence[float]) -> float:
    """Return the rise of the line with the least squares, from the first to the last time."""
    middle, mean = sum(times) / len(times), sum(values) / len(values)
    spread = sum((time - middle) ** 2 for time in times)
    moved = sum((time - middle) * (value - mean) for time, value in zip(times, values, strict=True))
    return moved / spread * (times[-1] - times[0]) if spread else 0.0


def row(sample: Sample, highest: float) -> str:
    """Return a row of the table, with a bar for the memory."""
    bar = "#" * round(40 * sample.memory / max(highest, sample.memory, 1))
    figures = f"{sample.memory:>9.1f}{sample.descriptors:>7.0f}{sample.threads:>7.0f}{sample.jobs:>9,}"
    return f"{sample.seconds:>7.0f}{figures}  {bar}"


def table(samples: Sequence[Sample]) -> str:
    """Return the curve, and the verdict in its last lines."""
    highest = max(sample.memory for sample in samples)
    lines = [f"{'s':>7}{'MB':>9}{'files':>7}{'threads':>7}{'jobs':>9}"]
    lines += [row(sample, highest) for sample in samples]
    for name, (rise, bound) in rises(samples).items():
        lines.append(f"{name}: {rise:+.1f} over the last two thirds, at most {bound:+.1f}: {verdict(rise, bound)}")
    return "\n".join(lines)


def verdict(rise: float, bound: float) -> str:
    """Return whether a figure is flat."""
    return "flat" if rise <= bound else "RISES"
