"""The one function that decides what a model is sent of a conversation."""

from __future__ import annotations

import json
from typing import Any

import pytest

from accp_adapters.tokens import o200k_base
from accp_core.compression import ResultLimits
from accp_core.projection import CallRecord, MessageRecord, ProjectedPrompt, ProjectionRules, PromptProjector, Role
from accp_core.references import key_of

LONG = "\n".join(f"CRM-{n:04} is Customer {n}, to be reached at c{n}@example.com" for n in range(300))
SHORT = "\n".join(LONG.split("\n")[:30])


def record(role: Role, text: str, **fields: Any) -> MessageRecord:
    return MessageRecord(role=role, blocks=(text,), **fields)


def rules(**changes: Any) -> ProjectionRules:
    fields: dict[str, Any] = {"counter": o200k_base(), "limits": ResultLimits(), "batch_limit": 16_000}
    return ProjectionRules(**{**fields, "open_with": "accp_fetch", **changes})


def project(*records: MessageRecord, agent: str | None = None, **changes: Any) -> ProjectedPrompt:
    return PromptProjector(rules(**changes)).project(records, agent=agent)


USER, RESULT = record(Role.USER, "Who?"), record(Role.TOOL, LONG)


def test_the_tool_is_offered_where_a_reference_is_shown_the_tool_was_called_or_always() -> None:
    fetched = record(Role.MODEL, "", calls=(CallRecord(id="f1", name="accp_fetch"),))
    assert not project(USER, record(Role.MODEL, "", calls=(CallRecord(id="c1", name="crm"),))).offers_tool
    assert project(USER, RESULT).offers_tool
    assert project(USER, fetched).offers_tool
    assert project(USER, always_offered=True).offers_tool


def test_the_first_reference_pays_for_the_change_of_the_tools_after_large_instructions() -> None:
    large: dict[str, Any] = {"fixed_tokens": 50_000}
    assert project(USER, RESULT).messages[1].stored
    assert not project(USER, RESULT, **large).messages[1].stored
    assert project(USER, RESULT, **large, always_offered=True).messages[1].stored
    assert project(USER, RESULT, **large, cache_aware=False).messages[1].stored


def test_after_large_instructions_no_saving_makes_a_prompt_too_short_for_the_cache() -> None:
    rows = json.dumps([{"id": n, "name": f"Customer {n}", "note": "leave at the door"} for n in range(60)])
    words, found = record(Role.USER, "word " * 500), record(Role.TOOL, rows)
    assert o200k_base()(rows) > 800
    assert not project(words, found).messages[1].is_changed
    assert project(words, found, fixed_tokens=4_000).messages[1].is_changed


def test_instructions_among_the_messages_are_not_counted_a_second_time() -> None:
    system = record(Role.INSTRUCTIONS, "Answer briefly. " * 4_000)
    assert project(system, USER, RESULT).messages[2].stored
    assert project(system, USER, RESULT).messages[1:] == project(USER, RESULT).messages


def test_words_of_other_agents_have_their_limits_only_where_they_surely_are_others() -> None:
    own = ResultLimits(inline=100, preview=80)
    words = record(Role.MODEL, SHORT, name="scout")
    sure = project(USER, words, agent_names=frozenset({"scout"}), agent_limits=own).messages[1]
    presumed = project(USER, words, agent="clerk", agent_limits=own).messages[1]
    assert sure.stored and not presumed.stored
    assert project(USER, record(Role.MODEL, LONG, name="scout"), agent="clerk", agent_limits=own).messages[1].stored
    assert not project(USER, words, agent_names=None, agent="clerk", agent_limits=own).messages[1].is_changed


@pytest.mark.parametrize("handed_over", [(), (key_of(SHORT), key_of(LONG))])
def test_a_text_that_was_handed_over_stays_open_in_the_words_of_others(handed_over: tuple[str, ...]) -> None:
    words = record(Role.MODEL, f"See ${key_of(SHORT)}.", name="scout")
    prompts = PromptProjector(rules(agent_names=frozenset({"scout"})))
    (shown,) = prompts.project([words], handed_over=handed_over).messages
    assert shown.is_changed is not bool(handed_over)
