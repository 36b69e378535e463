"""A judge's yes, its feedback, and what is neither."""

from dataclasses import replace

import pytest

from accp_core.aci import ItemAnswer, ItemState, KeyInformation, Outcome, judge, read_verdict
from accp_core.errors import ProtocolError
from tests.core.aci.plans import subtask


@pytest.mark.requirement("aci:5.2-7")
@pytest.mark.parametrize("answer", ["yes", "Yes.", " **Yes** ", "YES!", '"yes"', "- `yes`\n", "Yes 👍"])
def test_a_yes_alone_is_a_yes(answer: str) -> None:
    assert read_verdict(answer) is None


@pytest.mark.requirement("aci:5.2-7")
@pytest.mark.parametrize(
    "answer",
    [
        "Yes, the step is done.",
        "Yes: 6 accounts are named.",
        "Yes, but the names are missing.",
        "yes and no",
        "yes?",
        "Yes if the table is right",
        "Yes, das ist nicht erledigt",
        "Yes.\n\nOnly one of two is named.",
    ],
)
def test_a_yes_with_more_words_neither_verifies_nor_rejects(answer: str) -> None:
    verdict = read_verdict(answer)
    assert verdict == f"the result was not judged: expected `yes` alone, found {answer!r}"
    claim = replace(
        subtask("s1"), item_state_updates=(ItemState("1", 1),), key_information=(KeyInformation("1", "six"),)
    )
    (item,) = judge(claim, {"1": verdict}).open
    assert (item.outcome, item.reason, item.answer) == (Outcome.UNVERIFIED, verdict, "six")


@pytest.mark.requirement("aci:5.2-7")
def test_the_words_after_a_yes_are_quoted_in_part() -> None:
    assert len(read_verdict("yes " * 5_000) or "") < 300


@pytest.mark.requirement("aci:5.2-7")
def test_an_empty_answer_is_no_judgement() -> None:
    assert read_verdict(" \n") == "the result was not judged"


@pytest.mark.requirement("aci:5.2-7")
def test_an_item_answer_has_an_outcome() -> None:
    with pytest.raises(ProtocolError, match=r"E1004.*an Outcome, found True"):
        ItemAnswer(True, "x")  # type: ignore[arg-type]
