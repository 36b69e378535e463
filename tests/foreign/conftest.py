"""The server that peers of the draft alone talk to; prints which demands of the draft hold on which carrier."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.foreign.matrix import matrix_of
from tests.foreign.served import serving


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, int]]:
    """Yield the address of a server that each module has for itself."""
    with serving(tmp_path_factory.mktemp("served")) as address:
        yield address


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print one line for each demand."""
    reports = [report for outcome in ("passed", "failed") for report in terminalreporter.stats.get(outcome, ())]
    if lines := list(matrix_of(reports)):
        terminalreporter.section("demands of the draft, by a peer written from it alone")
    for line in lines:
        terminalreporter.write_line(line)
