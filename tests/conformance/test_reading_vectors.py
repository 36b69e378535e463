"""The questions that an evaluation asks about views: each answer follows from its value."""

import json
from typing import Any

import pytest

from accp_core import read, render
from accp_core.view import Options
from tests.conformance.vectors import ROOT

CASES = json.loads((ROOT / "reading" / "view.json").read_text(encoding="utf-8"))["cases"]
QUESTIONS = [
    pytest.param(case, question, id=f"{case['construct']}: {question['question']}")
    for case in CASES
    for question in case["questions"]
]


def at(value: Any, path: list[Any]) -> Any:
    """Return the member at `path`; "absent" if the last map on it has no such key."""
    for step in path[:-1]:
        value = value[step]
    if not path:
        return value
    return value.get(path[-1], "absent") if isinstance(value, dict) else value[path[-1]]


def answer(value: Any, follows: dict[str, Any]) -> Any:
    """Return what `follows` says of `value`."""
    match follows:
        case {"get": path}:
            return at(value, path)
        case {"count": path}:
            return len(at(value, path))
        case {"having": key, "in": path}:
            return sum(key in row for row in at(value, path))
        case {"where": condition, "in": path}:
            return sum(all(row.get(key) == wanted for key, wanted in condition.items()) for row in at(value, path))
        case {"type": path}:
            return {str: "string", dict: "map", list: "array"}[type(at(value, path))]
    raise AssertionError(f"expected a question of a known kind, found {follows!r}")


@pytest.mark.parametrize(("case", "question"), QUESTIONS)
def test_an_answer_follows_from_the_value(case: dict[str, Any], question: dict[str, Any]) -> None:
    assert set(question) == {"question", "answer", "follows"}
    assert json.dumps(answer(case["value"], question["follows"])) == json.dumps(question["answer"])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["construct"])
def test_the_view_of_the_value_has_the_construct(case: dict[str, Any]) -> None:
    view = render(case["value"], counter=len, options=Options(**case.get("options", {})))
    assert case["sign"] in view
    assert read(view) == case["value"]


def test_a_construct_has_several_questions_and_one_case() -> None:
    constructs = [case["construct"] for case in CASES]
    assert len(set(constructs)) == len(constructs) >= 15
    assert all(len(case["questions"]) > 1 for case in CASES)
