"""Lists of the same length as a table of positions."""

import pytest

from accp_core.packing.lists import pack_lists, positions, unpack_lists
from accp_core.packing.tree import Constant, SameColumn, Table

WORDS = [["a", "paid"], ["b", "open"], ["c", "open"]]


@pytest.mark.parametrize(
    "items",
    [
        WORDS,
        [[1, *row] for row in WORDS],
        [[n, {"x": n, "y": [1, 2]}, None] for n in range(8)],
        [[n, n, None, True] for n in range(9)],
        [["2026-05-01T09:00", name, "2026-05-01T09:00"] for name in "abcdefgh"],
    ],
)
def test_lists_are_packed_and_come_back(items: list[object]) -> None:
    table = pack_lists(items)
    assert table is not None
    assert list(table.columns) == positions(len(table.columns))
    assert unpack_lists(table) == items


@pytest.mark.parametrize(
    "items",
    [
        [],
        WORDS[:2],
        [*WORDS, "a"],
        [*WORDS, ["a"]],
        [["a"], ["b"], ["c"], ["d"]],
        [[], [], []],
        [[1, 2, 3]] * 3,
        [["two words", 1.5]] * 2 + [["more words", 2.5]],
        [["x"] * 101] * 3,
    ],
)
def test_what_is_as_short_in_brackets_stays(items: list[object]) -> None:
    assert pack_lists(items) is None


def test_a_member_that_all_lists_have_is_a_constant() -> None:
    table = pack_lists([[n, "kind", f"2026-05-0{n}T09:00", f"2026-05-0{n}T09:00"] for n in range(1, 9)])
    assert table is not None
    assert table.columns["2"] == Constant("kind")
    assert table.columns["4"] == SameColumn("3")


@pytest.mark.parametrize(
    "table",
    [
        Table({"2": ["a"]}, None, 1),
        Table({"a": ["a"]}, None, 1),
        Table({"1": ["a"], "2": ["b"]}, [{}], 0),
    ],
)
def test_a_table_of_no_lists_is_refused(table: Table) -> None:
    with pytest.raises(ValueError, match="expected"):
        unpack_lists(table)
