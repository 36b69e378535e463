"""Which demands of the draft hold on which carrier: the matrix that runs of the tests print."""

from collections.abc import Iterable, Iterator
from typing import Any

__all__ = ["CARRIERS", "matrix_of"]

CARRIERS = ("http", "ws")


def matrix_of(reports: Iterable[Any]) -> Iterator[str]:
    """Yield a line for each demand that the reports of pytest name."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    for report in reports:
        for section, demand, carrier in (each for name, each in report.user_properties if name == "demand"):
            found.setdefault((section, demand), {})[carrier] = "holds" if report.passed else "fails"
    for (section, demand), held in found.items():
        cells = "  ".join(f"{carrier} {held.get(carrier, '-'):6}" for carrier in CARRIERS)
        yield f"{section:14} {cells} {demand}"
