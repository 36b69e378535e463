"""The nodes that transforms put into a tree."""

from accp_core.packing.tree import ABSENT, NEXT_ROW


def test_placeholders_are_neither_each_other_nor_none() -> None:
    assert len({ABSENT, NEXT_ROW, None}) == 3
