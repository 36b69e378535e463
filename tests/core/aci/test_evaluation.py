"""Two phases, item by item; what phase 1 finds is a vector."""

from dataclasses import replace

import pytest

from accp_core.aci import AgentContext, ItemState, KeyInformation, OpenItem, Outcome, read_verdict, verify
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


def test_a_verifier_without_words_neither_verifies_nor_rejects() -> None:
    (item,) = verify(context("found 6", items=1), lambda *_: read_verdict(" ")).open
    assert item == OpenItem(
        item_id="1", reason="the result was not judged", outcome=Outcome.UNVERIFIED, answer="found 6"
    )


@pytest.mark.parametrize("verdict", [True, False, 1, [], object()])
def test_a_verdict_is_none_or_words(verdict: object) -> None:
    with pytest.raises(ProtocolError, match="E1004"):
        verify(context("found 6", items=1), lambda *_: verdict)  # type: ignore[arg-type,return-value]
