"""The bound on what a text may become."""

import pytest

from accp_core.packing.expansion import Expansion, ExpansionError, ExpansionLimits, size_of, table_size
from accp_core.packing.tree import Constant, EmbeddedJson, PooledLists, RepeatedValue, Repetition, Table


@pytest.mark.parametrize(
    ("chars", "size"), [(0, 0), (1, 50), (1000, 50_000), (10_000_000, 16 * 1024 * 1024), (20_000_000, 20_000_000)]
)
def test_both_limits_hold_and_a_text_may_stay_as_large_as_it_is(chars: int, size: int) -> None:
    assert ExpansionLimits().of(chars) == size


def test_what_is_left_is_counted_down_and_never_below_zero() -> None:
    expansion = Expansion(10)
    expansion.add(4, "*1")
    expansion.add(6, "*1")
    assert expansion.left == 0
    with pytest.raises(ExpansionError, match=r"found '\*1', which adds 1 to at most 0"):
        expansion.add(1, "*1")


@pytest.mark.parametrize(
    ("value", "size"),
    [
        (None, 1), (True, 1), (12, 3), (1.5, 4), ("", 1), ("abc", 4), ([], 1), ([1, 2], 5), ({"ab": "c"}, 5),
        (RepeatedValue(1, [1]), 4), (EmbeddedJson([1], "4"), 4), ([Repetition(1)], 2),
    ],
)  # fmt: skip
def test_members_and_characters_are_counted(value: object, size: int) -> None:
    assert size_of(value) == size


def test_what_a_table_adds_is_its_keys_and_constants() -> None:
    inner = Table({"d": Constant("xy"), "e": [1, 2, 3]}, None, 3)
    lists = PooledLists([1, 2], Table({"f": [1, 2, 3]}, None, 3))
    table = Table({"ab": [1, 2, 3], "c": inner, "g": lists}, None, 3)
    assert table_size(table, 0) == 3 * (3 + 2 + 2) + 3 * (2 + 2) + 3 * 3 + 3 * 2
    assert table_size(["x"], 1) == 0
