"""What one model is sent of a conversation, message by message."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accp_adapters.tokens import o200k_base
from accp_core.compression import ResultLimits
from accp_core.projection import CallRecord, MessageRecord, PriorPrompt, Projected, ProjectionRules, Projector, Role
from accp_core.references import key_of

counter = o200k_base()

PAGE = "\n".join(f"CRM-{n:04} is Customer {n}, to be reached at c{n}@example.com" for n in range(20))
LONG = "\n".join(f"CRM-{n:04} is Customer {n}, to be reached at c{n}@example.com" for n in range(300))
AS_ABOVE = '[as above: 20 lines from "CRM-0000 is Cust…"]'
JSON = json.dumps([{"id": n, "name": f"Customer {n}"} for n in range(40)])


def rules(**changes: Any) -> ProjectionRules:
    fields: dict[str, Any] = {"counter": counter, "limits": ResultLimits(), "batch_limit": 16_000}
    return ProjectionRules(**{**fields, "open_with": "accp_fetch", **changes})


def record(role: Role, *blocks: str | None, **fields: Any) -> MessageRecord:
    return MessageRecord(role=role, blocks=blocks, **fields)


def project(*records: MessageRecord, **changes: Any) -> list[Projected]:
    projector = Projector(rules(**changes))
    return [projector.project(each) for each in records]


def unchanged(*blocks: str | None) -> Projected:
    return Projected(blocks=(None,) * len(blocks))


def test_lines_that_a_tool_returns_again_are_replaced_by_a_marker() -> None:
    first, second = project(record(Role.TOOL, PAGE), record(Role.TOOL, f"Again:\n{PAGE}", None, "new"))
    assert first == unchanged(PAGE)
    assert second == Projected(blocks=(f"Again:\n{AS_ABOVE}", None, None))
    assert second.is_changed


@pytest.mark.parametrize("role", [Role.INSTRUCTIONS, Role.USER, Role.MODEL])
def test_only_texts_of_tools_and_other_agents_change(role: Role) -> None:
    assert project(record(Role.TOOL, PAGE), record(role, PAGE))[1] == unchanged(PAGE)


@pytest.mark.parametrize(
    "again",
    [
        record(Role.TOOL, PAGE, failed=True),
        record(Role.TOOL, PAGE, name="raw"),
        record(Role.TOOL, PAGE, call_id="c1"),
    ],
    ids=["error", "excluded by name", "excluded by its call"],
)
def test_errors_and_results_of_excluded_tools_stay(again: MessageRecord) -> None:
    calls = record(Role.MODEL, "", calls=(CallRecord(id="c1", name="raw"), CallRecord(id=None, name="crm")))
    assert project(record(Role.TOOL, PAGE), calls, again, exclude_tools=frozenset({"raw"}))[2] == unchanged(PAGE)


def test_markers_can_be_switched_off_and_must_pay_in_a_cache() -> None:
    few = "\n".join(PAGE.split("\n")[:4])
    twice = [record(Role.USER, "x" * 40_000), record(Role.TOOL, few), record(Role.TOOL, few)]
    assert project(*twice)[2] == unchanged(few)
    assert project(*twice, cache_aware=False, repeats=False)[2] == unchanged(few)
    assert project(*twice, cache_aware=False)[2].is_changed


def test_long_words_of_another_agent_are_a_preview_for_the_users_request() -> None:
    user, words = record(Role.USER, "Who is CRM-0150?"), record(Role.OTHER_AGENT, LONG, name="scout")
    projector = Projector(rules())
    projector.project(user)
    preview = projector.project(words)
    assert [text.text for text in preview.stored] == [LONG]
    assert f"accp_fetch ${key_of(LONG)}" in str(preview.blocks[0])
    assert "CRM-0150" in str(preview.blocks[0])
    assert projector.prompt.has_references
    assert project(user, words)[1] == preview


def test_json_of_another_agent_is_a_view_and_its_errors_stay() -> None:
    (view,) = project(record(Role.OTHER_AGENT, JSON))
    assert view.stored == ()
    assert str(view.blocks[0]).startswith("[40] id name\n")
    assert project(record(Role.OTHER_AGENT, JSON, failed=True)) == [unchanged(JSON)]


def test_a_result_is_compressed_for_its_call_and_its_turn() -> None:
    projector = Projector(rules(limits=ResultLimits(inline=4_000, preview=1_000), batch_limit=2_000))
    calls = tuple(CallRecord(id=f"c{n}", name="crm", args={"query": f"CRM-0{n}50"}) for n in range(2))
    projector.add(record(Role.USER, "Who is it?"))
    projector.add(record(Role.MODEL, "", calls=calls))
    (alone,) = projector.compress(record(Role.TOOL, LONG))
    (first,), (second,) = (projector.compress(record(Role.TOOL, LONG, call_id=f"c{n}")) for n in range(2))
    assert alone and first and second
    assert max(alone.tokens_after, first.tokens_after) <= 1_000
    assert ("CRM-0050" in first.text, "CRM-0150" in second.text) == (True, True)
    asked = projector.compress(record(Role.TOOL, LONG), request="CRM-0250", results=20)
    assert asked[0]
    assert "CRM-0250" in asked[0].text
    assert asked[0].tokens_after <= 100


def test_what_is_only_added_counts_as_read() -> None:
    projector = Projector(rules())
    projector.add(record(Role.TOOL, PAGE, None))
    assert projector.project(record(Role.TOOL, f"Again:\n{PAGE}")).blocks == (f"Again:\n{AS_ABOVE}",)


def test_a_prompt_is_what_the_provider_counted_and_an_estimate_of_the_rest() -> None:
    projector = Projector(rules(), prompt=PriorPrompt(tokens=7))
    projector.add(record(Role.USER, "x" * 400))
    assert projector.prompt == PriorPrompt(tokens=107)
    call = CallRecord(id="c1", name="crm", args={"query": "x" * 38})
    projector.add(record(Role.MODEL, "", calls=(call,), tokens_counted=1_000))
    assert projector.prompt == PriorPrompt(tokens=1_000)
    projector.add(record(Role.MODEL, "x" * 40, calls=(call,)))
    assert projector.prompt.tokens == 1_000 + (40 + len(str(call.args))) // 4
    projector.add(record(Role.TOOL, "", references=("cold.1",)))
    assert projector.prompt.has_references


def test_a_counter_that_cannot_be_hashed_counts_as_well() -> None:
    class Counter:
        __hash__ = None  # type: ignore[assignment]  # as a pydantic model has it

        def __call__(self, text: str, /) -> int:
            return counter(text)

    records = [record(Role.TOOL, PAGE), record(Role.TOOL, f"Again:\n{PAGE}"), record(Role.OTHER_AGENT, LONG)]
    assert project(*records, counter=Counter()) == project(*records)


TEXTS = st.sampled_from(["", "ok", PAGE, LONG, PAGE[200:], f"one\n{PAGE}\ntwo", LONG[:9000], JSON])
RECORDS = st.lists(st.builds(record, st.sampled_from(Role), TEXTS), max_size=6)


@given(RECORDS)
def test_a_sent_prefix_never_changes_and_nothing_gets_larger(records: list[MessageRecord]) -> None:
    options: dict[str, Any] = {"counter": len, "limits": ResultLimits(inline=500, preview=200)}
    whole = project(*records, **options)
    for length in range(len(records)):
        assert project(*records[:length], **options) == whole[:length]
    for source, shown in zip(records, whole, strict=True):
        pairs = zip(source.blocks, shown.blocks, strict=True)
        assert all(new is None or len(new) <= len(old or "") for old, new in pairs)
