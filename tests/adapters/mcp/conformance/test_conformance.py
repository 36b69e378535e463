"""MCP's conformance suite says the same of a server alone, behind us, and behind two of us with frames between."""

from __future__ import annotations

import pytest

from tests.adapters.mcp.conformance.suite import ERAS, LAZY_LEGS, LEGS, Checks, failed, install, run_until
from tests.adapters.mcp.real_servers.registries import Missing
from tests.limits import LONG

READ_LISTS = {"server-tools-list", "server-json-schema-2020-12", "server-http-custom-header-server-validation"}
"""Scenarios that look for a tool or its schema in tools/list."""
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
    results = {leg: run_until(plain.__eq__, leg, era, suite) for leg in LEGS if leg not in {"plain", *LAZY_LEGS}}
    assert {leg for leg, checks in results.items() if checks != plain} == set()


@pytest.mark.skipif(not LONG, reason="takes minutes; ACCP_LONG=1")
@pytest.mark.parametrize("era", ERAS)
def test_an_index_of_tools_changes_the_verdicts_only_of_what_reads_their_list(era: str, suite: list[str]) -> None:
    plain = without_lists(run_until(lambda checks: not failed(checks), "plain", era, suite))
    for leg in LAZY_LEGS:
        assert without_lists(run_until(lambda checks: without_lists(checks) == plain, leg, era, suite)) == plain


def without_lists(checks: Checks) -> Checks:
    return {scenario: found for scenario, found in checks.items() if scenario not in READ_LISTS}
