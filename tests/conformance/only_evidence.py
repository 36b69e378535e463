"""A plugin of pytest: run only what the requirements name, and leave the slow tests of it to `make test-all`.

PYTEST_DONT_REWRITE: `evidence.py` has imported it before pytest does.
"""

import pytest

from tests.conformance.families import every_requirement

__all__ = ["LEFT", "pytest_collection_modifyitems"]

LEFT = "left to `make test-all`"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the tests that show something; skip the slow ones."""
    names = {test for requirement in every_requirement() for test in requirement.tests}
    beginnings = tuple(name.removesuffix("*") if name.endswith("*") else f"{name}[" for name in names)
    items[:] = [item for item in items if _below_tests(item) in names or _below_tests(item).startswith(beginnings)]
    for item in items:
        if item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.skip(reason=LEFT))


def _below_tests(item: pytest.Item) -> str:
    return item.nodeid.removeprefix("tests/")
