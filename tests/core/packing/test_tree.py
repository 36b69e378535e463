"""The nodes that transforms put into a tree."""

import pytest

from accp_core.packing.tree import ABSENT, PRESENT, Alias, Anchor, bare, like


@pytest.mark.parametrize("value", [None, 1, "x", [], {}, ABSENT, Alias(1)])
def test_a_value_without_an_anchor_is_bare(value: object) -> None:
    assert bare(value) is value


def test_an_anchor_is_taken_off_and_put_on_again() -> None:
    anchor = Anchor(3, {"a": 1})
    assert bare(anchor) == {"a": 1}
    assert like(anchor, PRESENT) == Anchor(3, PRESENT)


def test_content_stays_bare_where_the_value_was() -> None:
    assert like({"a": 1}, PRESENT) is PRESENT


def test_marks_are_neither_each_other_nor_none() -> None:
    assert len({ABSENT, PRESENT, None}) == 3
