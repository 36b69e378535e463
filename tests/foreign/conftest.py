"""Prints which demands of the draft hold on which carrier."""

from typing import Any

from tests.foreign.matrix import matrix_of


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print one line for each demand."""
    reports = [report for outcome in ("passed", "failed") for report in terminalreporter.stats.get(outcome, ())]
    if lines := list(matrix_of(reports)):
        terminalreporter.section("demands of the draft, by a peer written from it alone")
    for line in lines:
        terminalreporter.write_line(line)
