"""Recorded runs in any format of the replay: each run is a thread."""

from __future__ import annotations

from itertools import islice

from accp_adapters.inspector.live.events import run_events
from accp_adapters.inspector.live.threads import MAX_THREADS, Observed, Thread, identified
from accp_adapters.replay import Findings, Run, read_runs

__all__ = ["observe_runs"]


def observe_runs(path: str, run_format: str | None = None) -> Observed:
    """Return the runs of a file, a folder or a pattern as threads.

    Raises:
        UnreadableRun: it holds nothing that can be read.
        OSError: a file cannot be read.
        ValueError: there is no such format.
    """
    findings = Findings()
    runs = read_runs(path, run_format=run_format, findings=findings)
    threads = map(_thread, islice(runs, MAX_THREADS))
    return Observed(
        threads=tuple(identified(threads)),
        left_out=sum(1 for _ in runs),
        findings=tuple(map(str, findings.not_understood())),
    )


def _thread(run: Run) -> Thread:
    return Thread(name=run.name.rpartition("/")[2] or run.name, events=tuple(run_events(run, 0)), runs=(run,))
