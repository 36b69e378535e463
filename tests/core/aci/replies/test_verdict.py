"""A judge's clear yes, and everything else."""

from __future__ import annotations

import pytest

from accp_core.aci import ItemAnswer, read_verdict
from accp_core.errors import ProtocolError


@pytest.mark.parametrize(
    "answer",
    [
        "yes",
        "Yes.",
        " **Yes** ",
        "YES!",
        "Yes, the step is done.",
        "Yes: 6 accounts are named.",
        "Yes, nothing is missing.",
        '"yes"',
    ],
)
def test_a_clear_yes_is_a_yes(answer: str) -> None:
    assert read_verdict(answer) is None


@pytest.mark.parametrize(
    "answer",
    [
        *("Yes, the step is not done", "yes and no", "Yes, but the names are missing.", "yes?", "Yes, partly.", "no"),
        *(
            "Yes if the table is right",
            "Yes, though I could not check",
            "Almost.",
            "Yes or no",
            "Yeah, right",
            "Oui",
            "Ja",
        ),
        *(
            "The answer is yes",
            "Not yes.",
            "Yes, das ist nicht erledigt",
            "Yes, it is wrong",
            "Yes, only one of two is named",
        ),
    ],
)
def test_everything_else_is_feedback(answer: str) -> None:
    assert read_verdict(answer) == answer


def test_an_empty_answer_is_no_judgement() -> None:
    assert read_verdict(" \n") == "the result was not judged"


def test_an_item_answer_has_an_outcome() -> None:
    with pytest.raises(ProtocolError, match=r"E1004.*an Outcome, found True"):
        ItemAnswer(True, "x")  # type: ignore[arg-type]
