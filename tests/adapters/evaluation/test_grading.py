"""What counts as a right answer, and the class of a wrong one."""

from __future__ import annotations

from typing import Any

import pytest

from accp_adapters.evaluation.reading.grading import grade, read_answers
from accp_adapters.evaluation.reading.questions import Question


def question(answer: Any) -> Question:
    distractors = {"row": ("Lima", "41"), "column": ("late", "2026-01-02")}
    return Question(id="q", document="d", kind="lookup", text="?", answer=answer, distractors=distractors)


@pytest.mark.parametrize(
    ("expected", "given"),
    [
        ("Oslo", "Oslo"),
        ("Oslo", ' "Oslo" '),
        ("Oslo", "`Oslo`"),
        ("Oslo", "**Oslo**"),
        (2.5, "2.50"),
        (1_000, "1000.0"),
        (7, "7"),
        ("007", "007"),
        (None, "null"),
        (None, "None"),
        (True, "True"),
        ("absent", '"absent"'),
        ((3, 1), "[1, 3]"),
        (("a", "b"), "b, a"),
        (("a",), '["a"]'),
        (("a",), '"a"'),
    ],
)
def test_right(expected: Any, given: str) -> None:
    assert grade(question(expected), given).right


@pytest.mark.parametrize(
    ("expected", "given", "error"),
    [
        ("Oslo", None, "format"),
        ("Oslo", "*1", "repeated value"),
        ("Oslo", "Lima", "row"),
        (40, "41.0", "row"),
        ("Oslo", "late", "column"),
        ("Oslo", "in Oslo", "other"),
        ("Oslo", "oslo", "other"),
        ((1, 3), "[1]", "other"),
        ((1, 3), "[1, 3, 3]", "other"),
        (("1", "01"), '["1", "1"]', "other"),
        ("007", "7", "other"),
        ("1.10", "1.1", "other"),
        ("1e3", "1000", "other"),
        ("None", "null", "other"),
        (1_000, "1_000", "other"),
        (12345678901234567890123456789012, "12345678901234567890123456789013", "other"),
        (1, "1e999999999", "other"),
        (1, "[" * 20_000, "other"),
        ((1, 3), "[" * 20_000, "other"),
        (None, "absent", "other"),
        (1, "NaN", "other"),
    ],
)
def test_wrong(expected: Any, given: str | None, error: str) -> None:
    graded = grade(question(expected), given)
    assert (graded.right, graded.error) == (False, error)


@pytest.mark.parametrize(
    ("text", "count", "answers"),
    [
        ("1: Oslo\n2: 7", 2, ["Oslo", "7"]),
        ("Here you are:\n\n**1.** Oslo\n2) 7", 2, ["Oslo", "7"]),
        ("- 1. Oslo\n2) 7", 2, ["Oslo", "7"]),
        ("2: 7", 2, [None, "7"]),
        ("1:\n2: 7", 2, [None, "7"]),
        ("Oslo", 1, ["Oslo"]),
        ("The answer:\n\nOslo\n", 1, ["Oslo"]),
        ("", 1, [None]),
        ("Oslo\n7", 2, [None, None]),
    ],
)
def test_answers_are_found_by_their_numbers(text: str, count: int, answers: list[str | None]) -> None:
    assert read_answers(text, count) == answers
