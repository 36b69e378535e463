"""The rows of an array that are not copied are those that a copy would have."""

import pytest

from accp_core.tables import tables_of
from accp_core.tables.flatten import Items, flatten
from accp_core.tables.table import plain_rows


@pytest.mark.parametrize(
    "value", [[1, None, "x", [2]], [[1, 2], [3]], [{"a": 1, "b": [2]}, {"c": {}}, {"a": None}], [[]]]
)
def test_plain_rows_are_those_of_a_copy(value: list[object]) -> None:
    plain = plain_rows(value)
    assert plain is not None
    columns, rows = plain
    copied = flatten(Items(value), max_children=1)
    assert (list(columns), rows) == (copied.columns, copied.rows)
    assert rows[0] == copied.rows[0]
    assert rows[:1] == copied.rows[:1]
    assert rows != 1


def test_arrays_by_key_are_rows_with_that_key() -> None:
    (table,) = tables_of({f"k{number}": [[number, 1]] for number in range(20)})
    assert table.columns == ("key", "c0", "c1")
    assert table.rows[3] == {"key": "k3", "c0": 3, "c1": 1}
