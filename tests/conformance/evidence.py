"""Which tests show which requirement, and whether they pass: a run of pytest over the tests that the data names."""

import contextlib
import io
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.conformance import only_evidence
from tests.conformance.families import every_requirement
from tests.conformance.only_evidence import LEFT
from tests.conformance.requirement import Requirement

__all__ = ["Evidence", "cases", "evidence_files", "gather", "named"]

TESTS = Path(__file__).parent.parent


@dataclass(slots=True, eq=False)
class Evidence:
    """A pytest plugin that keeps what was collected and how it ended."""

    nodes: list[str] = field(default_factory=list)
    """Node ids, below `tests/`, of what was collected."""
    failed: set[str] = field(default_factory=set)
    """Node ids of tests that ran and did not pass."""
    left: set[str] = field(default_factory=set)
    """Node ids of slow tests, which another command runs."""
    reports: list[pytest.TestReport] = field(default_factory=list)
    """Reports of the tests that name a demand and a carrier."""

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Keep each test."""
        self.nodes = [item.nodeid.removeprefix("tests/") for item in session.items]

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """Keep each test, where processes of their own run them."""
        self.nodes = [each.removeprefix("tests/") for each in ids]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep what did not pass; a test that is skipped shows nothing."""
        if report.when == "call" and report.user_properties:
            self.reports.append(report)
        if report.skipped and LEFT in str(report.longrepr):
            self.left.add(report.nodeid.removeprefix("tests/"))
        elif report.failed or report.skipped:
            self.failed.add(report.nodeid.removeprefix("tests/"))


def evidence_files() -> set[Path]:
    """Return the files whose tests could show a requirement."""
    names = {test.partition("::")[0] for requirement in every_requirement() for test in requirement.tests}
    return {TESTS / name for name in names if (TESTS / name).exists()}


def gather(*, run: bool) -> Evidence:
    """Return what pytest finds; only for an interpreter of its own, not within another run of pytest."""
    evidence = Evidence()
    paths = sorted(map(str, evidence_files()))
    how = ["-n", "auto", "--dist", "worksteal", "-p", only_evidence.__name__] if run else ["--collect-only"]
    options = ["-q", "-p", "no:cacheprovider", *how]
    with contextlib.redirect_stdout(io.StringIO()) as output:
        code = pytest.main([*options, *paths], plugins=[evidence])
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        raise RuntimeError(output.getvalue())
    return evidence


def cases(requirement: Requirement, evidence: Evidence) -> list[str]:
    """Return the node ids of all tests that show `requirement`."""
    return sorted({node for test in requirement.tests for node in named(test, evidence)})


def named(test: str, evidence: Evidence) -> list[str]:
    """Return the node ids that one name of the data means."""
    prefix = test.removesuffix("*") if test.endswith("*") else f"{test}["
    return [node for node in evidence.nodes if node == test or node.startswith(prefix)]
