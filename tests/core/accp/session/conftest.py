"""A test of a session runs twice: with a session that stays, and with one that is restored before its calls."""

import pytest

from accp_core.accp.session.session import Session
from tests.core.accp.session.handover import CALLS, HandOvers

WITHOUT_SESSION = {"test_context_tracker", "test_delivery", "test_exchanges", "test_heartbeat", "test_streams"}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    alone = metafunc.module.__name__.rpartition(".")[2] in WITHOUT_SESSION
    metafunc.parametrize("_handed_over", ["stays"] if alone else ["stays", "restored"], indirect=True)


@pytest.fixture(autouse=True)
def _handed_over(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Restore each session before its calls, in every second run."""
    if request.param == "restored":
        hand_overs = HandOvers()
        for name in CALLS:
            monkeypatch.setattr(Session, name, hand_overs.before(getattr(Session, name)))
