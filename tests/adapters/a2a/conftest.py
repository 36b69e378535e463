"""What every test of A2A runs with."""

from __future__ import annotations

import pytest
from sse_starlette.sse import AppStatus


@pytest.fixture(autouse=True)
def _streams_outlive_other_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the streams of a test's second server go on.

    sse-starlette before 3.5 asks twice a second whether the first server of a loop has ended; then it ends all streams.
    """
    monkeypatch.setattr(AppStatus, "enable_automatic_graceful_drain", False)
