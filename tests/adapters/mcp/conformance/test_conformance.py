"""MCP's conformance suite says the same of a server alone, behind us, and behind two of us with frames between."""

from __future__ import annotations

import pytest

from tests.adapters.mcp.conformance.suite import ERAS, LEGS, failed, install, run_until
from tests.adapters.mcp.real_servers.registries import Missing

pytestmark = pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")


@pytest.fixture(scope="module")
def suite() -> list[str]:
    """Return the words that begin a run of the suite."""
    try:
        return install()
    except Missing as missing:
        pytest.skip(f"MCP's conformance suite is not here: {missing}")


@pytest.mark.slow
@pytest.mark.parametrize("era", ERAS)
def test_a_server_behind_us_passes_each_check_that_it_passes_alone(era: str, suite: list[str]) -> None:
    plain = run_until(lambda checks: not failed(checks), "plain", era, suite)
    assert len(plain) >= 30
    assert failed(plain) == []
    results = {leg: run_until(plain.__eq__, leg, era, suite) for leg in LEGS if leg != "plain"}
    assert {leg for leg, checks in results.items() if checks != plain} == set()
