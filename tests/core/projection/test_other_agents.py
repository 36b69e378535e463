"""Whose words a message holds, by its name and the handoffs above it."""

from __future__ import annotations

import pytest

from accp_core.projection import OtherAgents


def test_only_names_that_are_given_or_handed_over_to_are_agents() -> None:
    others = OtherAgents(["crm"], agent="writer")
    assert others.wrote("crm") and others.wrote("crm", as_user=True)
    assert not any(map(others.wrote, ["market", "writer", "", None]))


@pytest.mark.parametrize("tool", ["transfer_to_market_desk", "transfer_back_to_market_desk"])
def test_a_handoff_names_an_agent_from_then_on(tool: str) -> None:
    others = OtherAgents([])
    others.add_call("search")
    others.add_call(tool)
    assert others.wrote("market_desk") and others.wrote("Market Desk")
    assert not others.wrote("market_desk", as_user=True)
    assert not others.wrote("search")


def test_without_names_nobody_is_taken_for_another_agent() -> None:
    others = OtherAgents(None)
    others.add_call("transfer_to_market")
    assert not others.wrote("market")


def test_the_agent_itself_is_no_other_even_where_a_handoff_comes_back_to_it() -> None:
    others = OtherAgents(["writer"], agent="writer")
    others.add_call("transfer_to_writer")
    assert not others.wrote("writer") and not others.wrote("writer", as_user=True)
