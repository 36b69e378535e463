"""The nodes that transforms put into a tree."""

import pytest

from accp_core.packing.tree import ABSENT, NEXT_ROW, RepeatedValue, Repetition, content_of, with_content


@pytest.mark.parametrize("value", [None, 1, "x", [], {}, ABSENT, Repetition(1)])
def test_a_value_without_an_anchor_is_bare(value: object) -> None:
    assert content_of(value) is value


def test_an_anchor_is_taken_off_and_put_on_again() -> None:
    anchor = RepeatedValue(3, {"a": 1})
    assert content_of(anchor) == {"a": 1}
    assert with_content(anchor, NEXT_ROW) == RepeatedValue(3, NEXT_ROW)


def test_content_stays_bare_where_the_value_was() -> None:
    assert with_content({"a": 1}, NEXT_ROW) is NEXT_ROW


def test_marks_are_neither_each_other_nor_none() -> None:
    assert len({ABSENT, NEXT_ROW, None}) == 3
