"""Prints which demands of the draft hold on which carrier."""

from typing import Any

CARRIERS = ("http", "ws")


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print one line for each demand."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    for outcome in ("passed", "failed"):
        for report in terminalreporter.stats.get(outcome, ()):
            for section, demand, carrier in (each for name, each in report.user_properties if name == "demand"):
                found.setdefault((section, demand), {})[carrier] = "holds" if report.passed else "fails"
    if found:
        terminalreporter.section("demands of the draft, by a peer written from it alone")
    for (section, demand), held in found.items():
        cells = "  ".join(f"{carrier} {held.get(carrier, '-'):6}" for carrier in CARRIERS)
        terminalreporter.write_line(f"{section:14} {cells} {demand}")
