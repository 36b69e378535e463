"""Two phases, item by item; what phase 1 finds is a vector."""

from __future__ import annotations

from dataclasses import replace

import pytest

from accp_core.aci import (
    AgentContext,
    ItemState,
    KeyInformation,
    OpenItem,
    Outcome,
    evaluate,
    judge,
    read_verdict,
    verify,
    verify_by_rule,
)
from accp_core.errors import ProtocolError
from tests.core.aci.plans import subtask


def context(*results: str | None, items: int = 3) -> AgentContext:
    """Return a subtask whose items 1, 2, … came out like this; None: not done."""
    said = [(str(number), text) for number, text in enumerate(results, 1)]
    return replace(
        subtask("s1", items=items),
        item_state_updates=tuple(ItemState(item, int(text is not None)) for item, text in said),
        key_information=tuple(KeyInformation(item, text) for item, text in said if text is not None),
    )


@pytest.mark.requirement("aci:4.1-3")
def test_a_verifier_sees_the_subtask_the_item_and_the_abstract_of_claims_only() -> None:
    seen: list[tuple[str, ...]] = []
    verify(context("found 6", None, "found 2"), lambda *claim: seen.append(claim))
    assert seen == [("Part s1", "Step 1 of s1", "found 6"), ("Part s1", "Step 3 of s1", "found 2")]


@pytest.mark.requirement("aci:5.2-7")
def test_every_item_is_judged_by_itself() -> None:
    found = verify(context("found 6", None, "wrong"), lambda *claim: "not so" if claim[2] == "wrong" else None)
    assert found.verified == ("1",)
    assert found.open == (
        OpenItem(item_id="2", reason="not done"),
        OpenItem(item_id="3", reason="not so", answer="wrong"),
    )
    assert not found.complete


def test_a_verifier_without_words_neither_verifies_nor_rejects() -> None:
    (item,) = verify(context("found 6", items=1), lambda *_: read_verdict(" ")).open
    assert item == OpenItem(
        item_id="1", reason="the result was not judged", outcome=Outcome.UNVERIFIED, answer="found 6"
    )


def test_it_is_complete_when_every_item_is_verified() -> None:
    assert verify(context("a 1", "b 2", "c 3"), lambda *_: None).complete
    assert not verify(context("a 1", "b 2"), lambda *_: None).complete
    assert not verify(context(items=0), lambda *_: None).complete


def test_what_an_agent_says_of_an_undone_item_is_the_reason() -> None:
    said = replace(context(None, items=1), key_information=(KeyInformation("1", "no access"),))
    assert evaluate(said)[0] == (OpenItem(item_id="1", reason="no access"),)


def test_a_claim_without_a_verdict_is_not_verified() -> None:
    assert judge(context("found 6", items=1), {}).open == (
        OpenItem(item_id="1", reason="not verified", answer="found 6"),
    )


def test_empty_feedback_rejects_all_the_same() -> None:
    assert judge(context("found 6", items=1), {"1": ""}).open == (
        OpenItem(item_id="1", reason="rejected", answer="found 6"),
    )


@pytest.mark.parametrize("verdict", [True, False, 1, [], object()])
def test_a_verdict_is_none_or_words(verdict: object) -> None:
    with pytest.raises(ProtocolError, match="E1004"):
        verify(context("found 6", items=1), lambda *_: verdict)  # type: ignore[arg-type,return-value]


@pytest.mark.parametrize("abstract", ["done", "Done.", " **Done!** ", "...", "-", "find them", "FIND CHURN"])
def test_the_rule_refuses_abstracts_that_say_nothing(abstract: str) -> None:
    assert verify_by_rule("Find churn", "Find  them", abstract)


@pytest.mark.parametrize("abstract", ["6 accounts", "yes", "no", "0", "n/a", "done: 6 rows written", "blue", "未完了"])
def test_the_rule_accepts_abstracts_that_say_something(abstract: str) -> None:
    assert verify_by_rule("Find churn", "Is it red or blue?", abstract) is None
