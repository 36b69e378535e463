"""`python -m tests.conformance`: which requirements hold, in a table for each specification and level."""

import contextlib
import io
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

import pytest
from rich.console import Console
from rich.table import Table

from tests.conformance.requirements import FAMILIES, REQUIREMENTS, Requirement, files_with_markers
from tests.conformance.suites import outcomes
from tests.foreign.matrix import matrix_of

__all__ = ["main"]

WORDS = ("holds", "diverges", "deferred", "skipped", "fails", "not shown")


@dataclass(slots=True, eq=False)
class Evidence:
    """A pytest plugin that runs what shows a requirement, and keeps how it ended."""

    shows: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """Node id to the requirements that it shows."""
    ended: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    """Requirement to the outcomes of the tests that show it."""
    reports: list[pytest.TestReport] = field(default_factory=list)
    """Reports of the tests that name a demand and a carrier."""

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Keep the tests that show something."""
        for item in items:
            case = item.nodeid.partition("[")[2]
            for marker in item.iter_markers("requirement"):
                if case.startswith(marker.kwargs.get("cases", "")):
                    self.shows[item.nodeid].update(marker.args)
        items[:] = [item for item in items if item.nodeid in self.shows]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep how a test ended."""
        if report.when == "call" and report.user_properties:
            self.reports.append(report)
        if report.when == "call" or not report.passed:
            for name in self.shows[report.nodeid]:
                self.ended[name].append(report.outcome)

    def verdict(self, requirement: Requirement) -> str:
        """Return whether the requirement holds."""
        ended = set(self.ended[requirement.id])
        if "failed" in ended:
            return "fails"
        if "passed" in ended:
            return "diverges" if requirement.divergence else "holds"
        return "skipped" if ended else "deferred" if requirement.deferred else "not shown"


def gather() -> Evidence:
    """Run the tests; only for an interpreter of its own, not within another run of pytest."""
    evidence = Evidence()
    paths = map(str, files_with_markers())
    with contextlib.redirect_stdout(io.StringIO()) as output:
        code = pytest.main(["-q", "-p", "no:cacheprovider", *paths], plugins=[evidence])
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        raise RuntimeError(output.getvalue())
    return evidence


def level_table(family: dict[str, Any], level: int, evidence: Evidence) -> Table:
    """Return the table of one level: what it adds to the one before."""
    title = f"{family['name']}: {family['titles'][str(level)]}"
    table = Table(title=title, title_justify="left", show_edge=False, pad_edge=False)
    for name in ("requirement", "force", "verdict"):
        table.add_column(name, no_wrap=True)
    table.add_column("cases", justify="right")
    table.add_column("text, and where we diverge")
    for each in REQUIREMENTS[family["name"]]:
        if each.level == level:
            count = str(len(evidence.ended[each.id]))
            table.add_row(each.id, each.force, evidence.verdict(each), count, words(each))
    return table


def words(requirement: Requirement) -> str:
    """Return what the requirement says, and what we do otherwise or not yet."""
    but = requirement.divergence or requirement.deferred
    unseen = requirement.unseen
    notes = [f"  but: {but}"] * bool(but) + [f"  no peer sees it: {unseen}"] * bool(unseen)
    return "\n".join([requirement.text, *notes])


def summary(family: dict[str, Any], level: int, evidence: Evidence) -> str:
    """Return how many requirements hold of all that the level asks for, those below included."""
    verdicts = [evidence.verdict(each) for each in REQUIREMENTS[family["name"]] if each.level <= level]
    state = "does NOT hold" if {"fails", "not shown"} & set(verdicts) else "holds"
    name = f"{family['name']} level {level}" if level else family["name"]
    said = ", ".join(f"{verdicts.count(word)} {word}" for word in WORDS)
    return f"{name} {state}: {len(verdicts)} requirements, {said}"


def main(console: Console) -> int:
    """Print the tables; return 1 when a requirement does not hold."""
    evidence = gather()
    levels = [(family, int(level)) for family in FAMILIES for level in family["titles"]]
    for family, level in levels:
        console.print(level_table(family, level, evidence), "")
    for line in matrix_of(evidence.reports):
        console.print(line, markup=False, highlight=False)
    lines = [summary(family, level, evidence) for family, level in levels]
    suites = list(outcomes())
    for line in [*lines, *(said for said, _ in suites)]:
        console.print(line, soft_wrap=True)
    return int(any("NOT hold" in line for line in lines) or not all(is_well for _, is_well in suites))


if __name__ == "__main__":
    sys.exit(main(Console() if sys.stdout.isatty() else Console(width=140)))
