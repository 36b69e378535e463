"""The stages of a session add up to the whole, and measuring them leaves no trace."""

import pytest

from accp_core.accp.session.session import Session
from tests.bench.session import shares


def test_the_stages_of_a_run_add_up_to_all_of_it() -> None:
    before = Session.send
    rows = shares(20)
    assert sum(share for *_, share in rows) == pytest.approx(1)
    assert all(microseconds > 0 for _, microseconds, _ in rows)
    assert Session.send is before
