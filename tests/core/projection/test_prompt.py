"""The one function that decides what a model is sent of a conversation."""

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


def test_the_tool_is_offered_where_a_reference_is_shown_or_the_tool_was_called() -> None:
    fetched = record(Role.MODEL, "", calls=(CallRecord(id="f1", name="accp_fetch"),))
    assert not project(USER, record(Role.MODEL, "", calls=(CallRecord(id="c1", name="crm"),))).offers_tool
    assert project(USER, RESULT).offers_tool
    assert project(USER, fetched).offers_tool


@pytest.mark.parametrize("tokens", [300, 959, 1_162, 2_322, 2_612])
def test_the_first_table_of_a_conversation_is_shown_smaller_whatever_its_size(tokens: int) -> None:
    """DESIGN 5.4: a smaller text is always used."""
    rows = [{"id": n, "city": ("Leeds", "Ghent")[n % 2], "note": f"leave at door {n * 7}"} for n in range(200)]
    size = next(n for n in range(1, 200) if o200k_base()(json.dumps(rows[:n])) >= tokens)
    (_, shown) = project(USER, record(Role.TOOL, json.dumps(rows[:size]))).messages
    assert str(shown.blocks[0]).startswith(f"[{size}] id city note\n")
    assert shown.tokens_after < shown.tokens_before


@pytest.mark.parametrize("handed_over", [(), (key_of(SHORT), key_of(LONG))])
def test_a_text_that_was_handed_over_stays_open_in_the_words_of_others(handed_over: tuple[str, ...]) -> None:
    words = record(Role.MODEL, f"See ${key_of(SHORT)}.", name="scout")
    prompts = PromptProjector(rules(agent_names=frozenset({"scout"})))
    (shown,) = prompts.project([words], handed_over=handed_over).messages
    assert shown.is_changed is not bool(handed_over)
