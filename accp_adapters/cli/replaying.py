"""One invocation of `accp replay`: runs read, replayed and summed one after another, with a progress bar."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import typer

from accp_adapters.cli.errors import ExtraMissing, InputRefused
from accp_adapters.extras import needs

if TYPE_CHECKING:
    from rich.progress import Progress

    from accp_adapters.cli.output.run_rows import RunRows
    from accp_adapters.replay import Findings, Report, Run, StrategyName

__all__ = ["EXAMPLE", "INTERRUPTED", "MAX_RUNS", "Replaying"]

EXAMPLE: Final = Path(__file__).parents[1] / "replay" / "recorded_run.json"
"""The run that comes with the package."""
INTERRUPTED: Final = "interrupt before"
"""What findings call the input that was not read because of an interrupt from the keyboard."""
MAX_RUNS: Final = 400
"""Runs that an HTML page shows one by one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replaying:
    """What is replayed, and how."""

    files: list[str]
    """Files, folders, patterns, URLs or `-`."""
    run_format: str | None
    """The name of their format; None: found by content."""
    policies: list[str]
    """The names of the strategies."""
    agent_names: list[str]
    """Names whose messages are an agent's."""
    jobs: int
    """Processes; 0: as many as are useful."""
    keep_runs: int
    """Runs that the reports keep one by one."""
    texts: bool = False
    """Whether the reports keep the texts of the largest messages."""

    def reports(self, findings: Findings, rows: RunRows | None = None) -> list[Report]:
        """Return the report of each policy; an interrupt from the keyboard ends them early, which is a finding.

        Args:
            findings: Collects what is not counted.
            rows: Takes each run under each policy; None: nothing does.

        Raises:
            InputRefused: a text is no recorded run.
            ExtraMissing: a database needs an extra.
            typer.BadParameter: an option has no such value, or a file cannot be read.
        """
        from accp_adapters.replay import Report, StrategyName, replay_all

        self._check()
        names = [StrategyName.AS_RECORDED, *map(_strategy, self.policies)]
        reports = [Report(keep_runs=self.keep_runs) for _ in self.policies]
        with _refusals(), _progress() as bar, _interruptible(findings) as interrupts:
            runs, processes = self._runs(findings, bar), self.jobs or None
            for before, *others in replay_all(runs, names, processes=processes, texts=self.texts):
                with interrupts.held():
                    for report, after in zip(reports, others, strict=True):
                        run = report.add(before, after)
                        if rows:
                            rows.add(run, report.strategy)
        return reports

    def inputs(self) -> list[str]:
        """Return the files that are read.

        Raises:
            InputRefused: a folder or a pattern has none.
        """
        from accp_adapters.replay import find_files

        with _refusals():
            return [name for file in self.files for name in find_files(file)]

    def _check(self) -> None:
        from accp_adapters.replay import format_named

        if not self.files:
            raise typer.BadParameter("expected a file with recorded runs, found none; try `accp replay --example`")
        if not self.policies:
            raise typer.BadParameter("expected the name of a policy, found none", param_hint="--policy")
        try:
            if self.run_format:
                format_named(self.run_format)
        except ValueError as error:
            raise typer.BadParameter(str(error), param_hint="--format") from error

    def _runs(self, findings: Findings, bar: Progress) -> Iterator[Run]:
        from accp_adapters.replay import read_runs
        from accp_adapters.replay.formats.run_files import runs_of_files

        names = self.inputs()
        sizes = [os.path.getsize(name) if os.path.isfile(name) else 0 for name in names]
        task = bar.add_task("replaying", total=sum(sizes) or None)

        def read(name: str) -> Iterator[Run]:
            return read_runs(
                name,
                run_format=self.run_format,
                agent_names=self.agent_names,
                findings=findings,
                on_read=lambda count: bar.advance(task, count),
            )

        yield from runs_of_files(names, read, findings)


def _strategy(name: str) -> StrategyName:
    from accp_adapters.replay import StrategyName

    known = [each.value for each in StrategyName if each is not StrategyName.AS_RECORDED]
    if name not in known:
        raise typer.BadParameter(f"expected one of {', '.join(known)}, found {name!r}", param_hint="--policy")
    return StrategyName(name)


@contextmanager
def _progress() -> Iterator[Progress]:
    with needs("cli"):
        from rich.console import Console
        from rich.progress import Progress

    console = Console(stderr=True)
    bar = Progress(console=console, transient=True, disable=not console.is_terminal)
    # Before rich 14.3 a bar that is disabled ends with an empty line.
    with bar if console.is_terminal else nullcontext():
        yield bar


class _Interrupts:
    """Interrupts from the keyboard, which end the work between two runs: none is added in part."""

    def __init__(self) -> None:
        self._is_held = False
        self._came = False

    def handle(self, *_: object) -> None:
        """Take one."""
        self._came = True
        if not self._is_held:
            raise KeyboardInterrupt

    @contextmanager
    def held(self) -> Iterator[None]:
        """Let one that comes meanwhile wait."""
        self._is_held = True
        yield
        self._is_held = False
        if self._came:
            raise KeyboardInterrupt


@contextmanager
def _interruptible(findings: Findings) -> Iterator[_Interrupts]:
    """Let an interrupt end the work with what is counted by then, and name that."""
    interrupts = _Interrupts()
    # Only the main thread of a process may, and gets, them.
    is_main = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGINT, interrupts.handle) if is_main else None
    try:
        yield interrupts
    except KeyboardInterrupt:
        findings.add(INTERRUPTED, "the rest of the input")
    finally:
        if before is not None:
            signal.signal(signal.SIGINT, before)


@contextmanager
def _refusals() -> Iterator[None]:
    from accp_adapters.replay import UnreadableRun

    try:
        yield
    except UnreadableRun as error:
        raise InputRefused(error.reason, path=error.path, line=error.line, column=error.column) from error
    except ImportError as error:
        raise ExtraMissing("a database of checkpoints", extra="langgraph") from error
    except OSError as error:
        raise typer.BadParameter(f"{error.filename or '-'}: {error.strerror or error}") from error
