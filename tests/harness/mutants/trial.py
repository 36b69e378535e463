"""Tests against changes: a fork for each change runs the tests that reach it, fastest first."""

import gc
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from types import CodeType
from typing import Any, Final

import pytest
from _pytest.runner import runtestprotocol

from tests.harness.mutants.changes import Change

__all__ = ["Trial"]

PATIENCE: Final = 600
"""Seconds by the clock after which a fork that waits is taken for one that noticed."""
MAX_BROKEN: Final = 5
"""Tests that may fail without a change: those of the depth of the stack, when each call is watched."""
MEMORY: Final = 6 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """What one test does."""

    seconds: float
    passes: bool
    functions: list[str]


@dataclass(slots=True)
class Trial:
    """A plugin of pytest: what it collects tries each change, one module after the other."""

    modules: Mapping[str, Sequence[Change]]
    jobs: int
    seconds: float
    """Modules are begun so long."""
    budget: float
    """Seconds of CPU that the tests of one change may take: the fastest of those that reach it."""
    show: Callable[[str, Sequence[Change]], None]
    """Is called with a module and those of its changes that no test noticed."""
    left_out: list[str] = field(default_factory=list)
    """Modules that were not begun."""

    def pytest_configure(self, config: pytest.Config) -> None:
        """Know the mark that pytest-cov would bring."""
        config.addinivalue_line("markers", "no_cover: not measured")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Try every change instead of running the tests once."""
        session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]  # one folder for all forks
        with TemporaryDirectory() as folder:
            reached = self._learn(session.items, Path(folder) / "reached.json")
        broken = [item.nodeid for item, each in zip(session.items, reached, strict=True) if not each.passes]
        print(
            f"{len(reached):,} tests, {len(broken)} left out, which fail while they are watched: {broken}", flush=True
        )
        assert len(broken) <= MAX_BROKEN
        gc.collect()
        gc.freeze()
        deadline = time.monotonic() + self.seconds
        for module, changes in self.modules.items():
            if time.monotonic() > deadline:
                self.left_out.append(module)
            else:
                self.show(module, self._try_all(changes, session.items, reached))
        return True

    def _learn(self, items: Sequence[pytest.Item], told: Path) -> list[Reach]:
        """Return what each test reaches; a fork runs them, so that no cache is filled here."""
        names = {_key(change.function.__code__): change.name for changes in self.modules.values() for change in changes}
        if not os.fork():
            self._child(lambda: _learned(told, items, names))
        _, status = os.wait()
        assert not status, f"expected an end of the tests without a change, found status {status}"
        return [Reach(**each) for each in json.loads(told.read_text(encoding="utf-8"))]

    def _try_all(
        self, changes: Sequence[Change], items: Sequence[pytest.Item], reached: Sequence[Reach]
    ) -> list[Change]:
        """Return the changes that no test notices, those that no test reaches among them."""
        running: dict[int, Change] = {}
        survivors: list[Change] = []

        def reap() -> None:
            process, status = os.wait()
            change = running.pop(process)
            survivors.extend([change] if status == 0 else [])

        for change in changes:
            while len(running) >= self.jobs:
                reap()
            running[self._fork(change, _fastest(change, items, reached, self.budget))] = change
        while running:
            reap()
        return survivors

    def _fork(self, change: Change, chosen: Sequence[tuple[pytest.Item, float]]) -> int:
        if process := os.fork():
            return process
        seconds = round(5 + 4 * sum(each for _, each in chosen))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(PATIENCE)
        change.apply()
        self._child(lambda: [_must_pass(item, each) for item, each in _pairs([item for item, _ in chosen])])
        raise AssertionError("a fork does not return")

    @staticmethod
    def _child(work: Callable[[], object]) -> None:
        """Do the work of a fork and end it: 0, or 1 where a test failed."""
        code = 1
        try:
            silent = os.open(os.devnull, os.O_WRONLY)
            os.dup2(silent, 1)
            os.dup2(silent, 2)
            work()
            code = 0
        except BaseException:  # a fork ends here, whatever the change did
            code = 1
        finally:
            os._exit(code)


def _pairs(items: Sequence[pytest.Item]) -> Iterator[tuple[pytest.Item, pytest.Item | None]]:
    """Yield each test and the next one, which pytest wants to know."""
    # Not strict: a change that no test reaches has no test, and survives.
    return zip(items, [*items[1:], None], strict=False)


def _learned(told: Path, items: Sequence[pytest.Item], names: dict[str, str]) -> None:
    """Write what each test reaches."""
    found = [_watch(item, following, names) for item, following in _pairs(items)]
    told.write_text(json.dumps(found), encoding="utf-8")


def _must_pass(item: pytest.Item, following: pytest.Item | None) -> None:
    if any(report.failed for report in runtestprotocol(item, log=False, nextitem=following)):
        raise AssertionError(item.nodeid)


def _key(code: CodeType) -> str:
    return f"{code.co_filename}:{code.co_firstlineno}"


def _watch(item: pytest.Item, following: pytest.Item | None, names: dict[str, str]) -> dict[str, Any]:
    """Return the fields of a `Reach`."""
    seen: set[CodeType] = set()
    sys.setprofile(lambda frame, event, _: seen.add(frame.f_code) if event == "call" else None)
    start = time.process_time()
    try:
        reports = runtestprotocol(item, log=False, nextitem=following)
    finally:
        sys.setprofile(None)
    found = {_key(code) for code in seen} & names.keys()
    passes = not any(report.failed for report in reports)
    return {"seconds": time.process_time() - start, "passes": passes, "functions": sorted(found)}


def _fastest(
    change: Change, items: Sequence[pytest.Item], reached: Sequence[Reach], budget: float
) -> list[tuple[pytest.Item, float]]:
    """Return the tests that reach a change, fastest first, as many as the budget allows."""
    key, chosen, left = _key(change.function.__code__), [], budget
    for each, item in sorted(zip(reached, items, strict=True), key=lambda pair: pair[0].seconds):
        if each.passes and key in each.functions and left > 0:
            chosen.append((item, each.seconds))
            left -= each.seconds
    return chosen
