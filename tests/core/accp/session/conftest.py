"""Every test of a session runs twice: with a session that stays, and with one that is restored before its calls."""

import pytest

from accp_core.accp.session.session import Session
from tests.core.accp.session.handover import CALLS, HandOvers


@pytest.fixture(autouse=True, params=["stays", "restored"])
def handed_over(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Restore each session before its calls, in every second run."""
    if request.param == "restored":
        hand_overs = HandOvers()
        for name in CALLS:
            monkeypatch.setattr(Session, name, hand_overs.before(getattr(Session, name)))
