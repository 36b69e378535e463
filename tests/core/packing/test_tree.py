"""The nodes that transforms put into a tree."""

import pytest

from accp_core.packing.tree import ABSENT, NEXT_ROW, RepeatedValue, Repetition, content_of, with_content


@pytest.mark.parametrize("value", [None, 1, "x", [], {}, ABSENT, Repetition(1)])
def test_another_value_is_its_own_content(value: object) -> None:
    assert content_of(value) is value


def test_the_content_of_a_repeated_value_is_replaced() -> None:
    value = RepeatedValue(3, {"a": 1})
    assert content_of(value) == {"a": 1}
    assert with_content(value, NEXT_ROW) == RepeatedValue(3, NEXT_ROW)


def test_content_gets_no_number_from_another_value() -> None:
    assert with_content({"a": 1}, NEXT_ROW) is NEXT_ROW


def test_placeholders_are_neither_each_other_nor_none() -> None:
    assert len({ABSENT, NEXT_ROW, None}) == 3
