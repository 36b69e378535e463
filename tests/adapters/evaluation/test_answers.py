"""The rules of TOON's benchmark: what is the same answer in other words."""

from __future__ import annotations

from typing import Any

import pytest

from accp_adapters.evaluation.answers import is_right


@pytest.mark.parametrize(
    ("kind", "expected", "right", "wrong"),
    [
        ("integer", "1234", ["1234", "1,234", "$1,234", "The answer is 1234.", "1234.7"], ["-1234", "123", "none", ""]),
        ("number", "0.42", ["0.42", "42%", "4.2e-1", "0.4200001"], ["0.421", "none"]),
        ("boolean", "YES", ["yes", " Y ", "true", "1"], ["no", "0", "yes, it is"]),
        ("date", "2025-06-01", ["2025-06-01", '"2025-06-01T00:00:00Z"'], ["2025-06-02", "June"]),
        ("string", "Ada Lovelace", ["ada lovelace", '"Ada Lovelace"', "```text\nAda Lovelace\n```"], ["Ada", "'"]),
        ("csv-list-ordered", "a,b", ["a, B", '"a,b"', "a,,b"], ["b,a", "a"]),
        ("csv-list-unordered", "a,b", ["b, a"], ["a,b,b"]),
    ],
)
def test_an_answer_is_compared_by_its_type(kind: str, expected: str, right: list[str], wrong: list[str]) -> None:
    assert [answer for answer in right if not is_right(answer, expected, kind)] == []
    assert [answer for answer in wrong if is_right(answer, expected, kind)] == []


@pytest.mark.parametrize(
    ("kind", "answer", "expected", "normalize", "right"),
    [
        ("number", "2.345", "2.35", {"decimalPlaces": 2}, True),
        ("number", "2.5", "3", {"decimalPlaces": 0}, True),
        ("number", "1e999", "1e999", {"decimalPlaces": 2}, True),
        ("string", "ada", "Ada", {"caseSensitive": True}, False),
    ],
)
def test_options_of_a_comparison(kind: str, answer: str, expected: str, normalize: dict[str, Any], right: bool) -> None:
    assert is_right(answer, expected, kind, normalize) is right


def test_an_unknown_type_and_an_endless_number_are_refused() -> None:
    with pytest.raises(ValueError, match=r"expected an answer type of integer, .*, found 'colour'"):
        is_right("red", "red", "colour")
    assert not is_right("9" * 5_000, "9", "integer")
