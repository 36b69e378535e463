"""Which tests show which requirement, and whether they pass: a run of pytest over the tests that the data names."""

import contextlib
import io
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.conformance.families import every_requirement
from tests.conformance.requirement import Requirement

__all__ = ["Evidence", "cases", "evidence_files", "gather", "marked_files", "named"]

TESTS = Path(__file__).parent.parent


@dataclass(slots=True, eq=False)
class Evidence:
    """A pytest plugin that keeps what was collected and how it ended."""

    marks: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Node id, below `tests/`, to the requirements that the test's marks name."""
    failed: set[str] = field(default_factory=set)
    """Node ids of tests that ran and did not pass."""

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Keep each test and its marks."""
        for item in session.items:
            names = [str(name) for mark in item.iter_markers("requirement") for name in mark.args]
            self.marks[item.nodeid.removeprefix("tests/")] = tuple(names)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep what did not pass; a test that is skipped shows nothing."""
        if report.failed or report.skipped:
            self.failed.add(report.nodeid.removeprefix("tests/"))


def marked_files() -> list[Path]:
    """Return the files whose tests carry the mark."""
    return sorted(Path(__file__).parent.glob("test_level_*.py"))


def _named_files() -> Iterator[Path]:
    names = {test.partition("::")[0] for requirement in every_requirement() for test in requirement.tests}
    yield from (TESTS / name for name in sorted(names))


def evidence_files() -> set[Path]:
    """Return the files whose tests could show a requirement."""
    return {path for path in {*marked_files(), *_named_files()} if path.exists()}


def gather(*, run: bool) -> Evidence:
    """Return what pytest finds; only for an interpreter of its own, not within another run of pytest."""
    evidence = Evidence()
    paths = sorted(map(str, evidence_files()))
    options = ["-q", "-p", "no:cacheprovider", *([] if run else ["--collect-only"])]
    with contextlib.redirect_stdout(io.StringIO()) as output:
        code = pytest.main([*options, *paths], plugins=[evidence])
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        raise RuntimeError(output.getvalue())
    return evidence


def cases(requirement: Requirement, evidence: Evidence) -> list[str]:
    """Return the node ids of all tests that show `requirement`."""
    marked = (node for node, names in evidence.marks.items() if requirement.id in names)
    return sorted({*marked, *(node for test in requirement.tests for node in named(test, evidence))})


def named(test: str, evidence: Evidence) -> list[str]:
    """Return the node ids that one name of the data means."""
    prefix = test.removesuffix("*") if test.endswith("*") else f"{test}["
    return [node for node in evidence.marks if node == test or node.startswith(prefix)]
