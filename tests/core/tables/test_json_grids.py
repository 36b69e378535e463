"""Rows that JSON writes as names and arrays, as arrays side by side, or as arrays of pairs."""

from typing import Any

import pytest

from accp_core.tables import tables_of

PEOPLE = [{"id": 1, "name": "Ann"}, {"id": 2, "name": "Bo"}]
CELLS = [[1, "Ann"], [2, "Bo"]]


def tables(value: Any) -> dict[str, Any]:
    return {table.name: list(map(dict, table.rows)) for table in tables_of(value)}


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ({"columns": ["id", "name"], "rows": CELLS}, {"rows": PEOPLE}),
        ({"data": CELLS, "fields": ["id", "name"], "n": 2}, {"root": [{"n": 2}], "data": PEOPLE}),
        ({"result": {"header": ["id", "name"], "values": CELLS}}, {"result.values": PEOPLE}),
        (
            {"columns": ["id", "name"], "index": [0, 1], "data": CELLS},
            {"index": [{"value": 0}, {"value": 1}], "data": PEOPLE},
        ),
        (
            {"cols": [{"name": "id", "type": "int"}, {"name": "name", "type": "text"}], "rows": CELLS},
            {"cols": [{"name": "id", "type": "int"}, {"name": "name", "type": "text"}], "rows": PEOPLE},
        ),
        ({"columns": ["n"], "rows": [[1]]}, {"rows": [{"n": 1}]}),
    ],
)
def test_rows_have_the_names_that_stand_beside_them(value: Any, found: Any) -> None:
    assert tables(value) == found


@pytest.mark.parametrize(
    "value",
    [
        {"columns": ["id", "id"], "rows": CELLS},
        {"columns": ["id"], "rows": CELLS},
        {"columns": [1, 2], "rows": CELLS},
        {"columns": "id name", "rows": CELLS},
        {"columns": ["id", "name"], "rows": [[1, "Ann"], [2]]},
        {"columns": ["id", "name"], "rows": [[1, "Ann"], None]},
        {"rows": [["a", "b"], ["c", "d"]]},
    ],
)
def test_rows_without_names_for_all_columns_have_none(value: Any) -> None:
    assert "name" not in (tables_of(value)[-1].columns)
    assert tables_of(value)[-1].name == "rows"


def test_arrays_side_by_side_are_the_columns_of_one_table() -> None:
    value = {"place": "Oslo", "hourly": {"unit": "h", "time": [0, 1, 2, 3], "load": [0.5, None, 0.6, 0.9]}}
    assert tables(value) == {
        "root": [{"place": "Oslo", "hourly.unit": "h"}],
        "hourly": [
            {"time": 0, "load": 0.5},
            {"time": 1, "load": None},
            {"time": 2, "load": 0.6},
            {"time": 3, "load": 0.9},
        ],
    }
    assert list(tables({"a": [1, 2, 3, 4], "b": [5, 6, 7, 8]})) == ["rows"]


@pytest.mark.parametrize(
    "value",
    [
        {"tags": ["a", "b", "c"], "owners": ["x", "y", "z"]},
        {"a": [1, 2, 3, 4], "b": [1, 2, 3]},
        {"a": [1, 2, 3, 4], "b": [1, 2, 3, [4]]},
        {"a": [1, 2, 3, 4], "b": [{}, {}, {}, {}]},
    ],
)
def test_arrays_that_are_not_side_by_side_are_tables_of_their_own(value: Any) -> None:
    assert [table.name for table in tables_of(value)] == list(value)


def test_arrays_of_pairs_in_rows_are_a_child_table() -> None:
    value = [
        {"job": "a", "values": [[0, "1"], [1, "2"]]},
        {"job": "b", "values": [[0, "3"]]},
        {"job": "c", "values": []},
    ]
    rows, child = tables_of(value)
    assert (rows.columns, child.name) == (("_row", "job"), "values")
    assert child.parent is not None
    assert [[row[name] for name in child.columns] for row in child.rows] == [[0, 0, "1"], [0, 1, "2"], [1, 0, "3"]]


@pytest.mark.parametrize("cell", [[["a", 1]], [["a"], ["b"]], [["a", 1], ["b"]], [["a", {}], ["b", {}]], [[1, 2], 3]])
def test_other_arrays_of_arrays_stay_cells(cell: Any) -> None:
    (rows,) = tables_of([{"job": "a", "values": cell}])
    assert rows.rows[0]["values"] == cell
