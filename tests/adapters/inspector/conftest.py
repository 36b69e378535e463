"""The browser of the tests of pages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.adapters.inspector import browser as browsers


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Yield headless Chromium; skip where it is not installed."""
    yield from browsers.chromium()
