"""Whose words a message holds: by its name, the names that are given, and the handoffs and the user above it."""

from typing import Any

import pytest

from accp_core.projection import CallRecord, MessageRecord, Role, attribute


def said(name: str | None, text: str = "words", *, role: Role = Role.MODEL, **fields: Any) -> MessageRecord:
    return MessageRecord(role=role, blocks=(text,), name=name, **fields)


def asks(name: str | None = None) -> MessageRecord:
    return said(name, "Who?", role=Role.USER)


def hands_over(tool: str) -> MessageRecord:
    return said(None, "", calls=(CallRecord(id="h1", name=tool),))


def roles(*records: MessageRecord, names: tuple[str, ...] | None = (), agent: str | None = None) -> list[Role]:
    return [record.role for record in attribute(records, names=names, agent=agent)]


def test_the_words_of_a_name_that_is_given_are_another_agents_wherever_they_stand() -> None:
    records = [said("crm"), asks("crm"), asks("ann"), said("writer"), said(None)]
    whose = [Role.OTHER_AGENT, Role.OTHER_AGENT, Role.USER, Role.MODEL, Role.MODEL]
    assert roles(*records, names=("crm",), agent="writer") == whose
    assert roles(*records, names=("crm", "writer"), agent="writer") == whose


@pytest.mark.parametrize("tool", ["transfer_to_market_desk", "transfer_back_to_market_desk"])
def test_a_handoff_names_an_agent_from_then_on(tool: str) -> None:
    records = [said("market_desk"), hands_over(tool), said("market_desk"), said("Market Desk"), asks("market_desk")]
    model, other = Role.MODEL, Role.OTHER_AGENT
    assert roles(*records) == [model, model, other, other, Role.USER]
    assert roles(said("search"), hands_over("search"), said("search")) == [model, model, model]
    assert roles(*records, agent="market_desk") == [model, model, model, other, Role.USER]


def test_any_other_name_is_another_agents_after_the_users_words_if_the_reader_has_a_name() -> None:
    records = [said("example"), asks(), said("scout"), said("clerk"), said(None), asks("scout"), said("scout")]
    whose = list(attribute(records, names=(), agent="clerk"))
    model, other = Role.MODEL, Role.OTHER_AGENT
    assert [each.role for each in whose] == [model, Role.USER, other, model, model, Role.USER, other]
    assert roles(*records) == [record.role for record in records]


def test_the_words_of_an_agent_in_the_place_of_the_users_are_not_the_users() -> None:
    assert roles(asks("crm"), said("scout"), names=("crm",), agent="clerk") == [Role.OTHER_AGENT, Role.MODEL]


def test_only_the_calls_of_those_who_surely_are_agents_are_calls_of_others() -> None:
    made = (CallRecord(id="c1", name="crm"),)
    whose = list(
        attribute(
            [said("scout", "", calls=made), asks(), said("market", "I look.", calls=made)],
            names=("scout",),
            agent="clerk",
        )
    )
    assert [each.by_other for record in whose for each in record.calls] == [True, False]
    assert [record.role for record in whose] == [Role.MODEL, Role.USER, Role.OTHER_AGENT]


def test_parts_that_belong_together_stay_the_models() -> None:
    assert roles(asks(), said("scout", is_plain=False), agent="clerk") == [Role.USER, Role.MODEL]


def test_a_result_is_a_tools_whatever_its_name() -> None:
    result = MessageRecord(role=Role.TOOL, blocks=("data",), name="crm", call_id="c1")
    assert roles(asks(), result, names=("crm",), agent="clerk") == [Role.USER, Role.TOOL]


def test_without_names_nobody_is_taken_for_another_agent() -> None:
    records = [asks(), hands_over("transfer_to_market"), said("market"), said("scout")]
    assert roles(*records, names=None, agent="clerk") == [record.role for record in records]
