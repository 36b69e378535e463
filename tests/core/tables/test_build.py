"""Which tables a value has, and what they are called."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accp_core.tables import Table, tables_of
from accp_core.tables.build import MAX_TABLES
from accp_core.tables.table import ParentLink
from tests.properties.json_values import values as json_values


def table(value: object, name: str) -> Table:
    return next(table for table in tables_of(value) if table.name == name)


def names(value: object) -> list[str]:
    return [table.name for table in tables_of(value)]


ORDERS = [
    {"order_no": "A1", "customer": {"name": "Ann", "tags": ["new"]}, "items": [{"sku": 1}, {"sku": 2}]},
    {"order_no": "A2", "customer": {"name": "Bo"}, "items": []},
]


@pytest.mark.parametrize(
    ("rows", "key", "column"),
    [
        ([{"id": 1, "b": [{}]}, {"id": 2}], "id", "a_id"),
        ([{"x": 1, "meta": {"id": "u"}, "b": [{}]}], "meta.id", "a_id"),
        ([{"orderId": 1, "id": 5, "b": [{}]}, {"orderId": 2, "id": 5}], "orderId", "orderId"),
        ([{"id": 1, "b": [{}]}, {"id": 1}], "_row", "a_row"),
        ([{"id": 1, "b": [{}]}, {}], "_row", "a_row"),
        ([{"id": 1, "b": [{}]}, {"id": "1"}], "_row", "a_row"),
        ([{"id": True, "b": [{}]}, {"id": 2.5}], "_row", "a_row"),
        ([{"paid": 1, "b": [{}]}], "_row", "a_row"),
        ([{"id": 1, "b": [{"a_id": 7}]}], "id", "a_id_2"),
    ],
    ids=["id", "nested", "unique", "twice", "absent", "as text", "types", "no key", "taken"],
)
def test_the_key_is_a_column_that_identifies_the_rows_else_their_number(rows: list[Any], key: str, column: str) -> None:
    value = {"a": rows}
    assert table(value, "a.b").parent == ParentLink(table="a", key=key, column=column)
    assert key in table(value, "a").columns
    assert table(value, "a.b").columns[0] == column


def test_a_map_in_rows_whose_names_are_keys_is_a_child_table() -> None:
    like = [{"id": 1, "users": {f"u{n}": {"age": n} for n in range(20)}}, {"id": 2, "users": {}}]
    users = table(like, "users")
    assert users.columns == ("rows_id", "key", "age")
    assert users.rows[3] == {"rows_id": 1, "key": "u3", "age": 3}
    sparse = [{"id": n, "labels": {f"l{n}": n}} for n in range(70)]
    assert table(sparse, "labels").rows[5] == {"rows_id": 5, "key": "l5", "value": 5}
    dense = [{"id": n, "labels": {f"l{m}": m for m in range(70)}} for n in range(3)]
    assert names(dense) == ["rows"]


def test_a_map_that_some_rows_do_not_have_is_a_cell_too() -> None:
    rows = table([{"k": 1, "by": {"of": {"n": 1}}}, {"k": 2, "at": {"x": 1}}, {"k": 3, "at": {"x": 2}}], "rows")
    assert list(rows.cells("by")) == [{"of": {"n": 1}}]
    assert list(rows.cells("by.of")) == [{"n": 1}]
    assert rows.own_columns == ("k", "by.of.n", "at.x")
    assert rows.own_cells(rows.rows[0]) == {"k": 1, "by.of.n": 1}
    always = table([{"at": {"x": 1}}, {"at": {"x": 2}}], "rows")
    assert always.columns == always.own_columns == ("at.x",)
    assert always.own_cells(always.rows[0]) == {"at.x": 1}


def test_maps_beside_arrays_of_maps_are_cells_too() -> None:
    rows = table([{"k": 1, "by": {"n": 1}}, {"k": 2, "by": [{"n": 2}]}], "rows")
    assert list(rows.cells("by")) == [{"n": 1}, [{"n": 2}]]


def test_items_that_are_no_maps_have_columns_too() -> None:
    assert table([1, {"a": 2}, None, [3]], "rows").rows == [{"value": 1}, {"a": 2}, {"value": None}, {"value": [3]}]
    assert table([["a", 1], ["b"]], "rows").rows == [{"c0": "a", "c1": 1}, {"c0": "b"}]
    assert table({"tags": ["x"]}, "tags").rows == [{"value": "x"}]
    assert tables_of(5)[0].rows == [{"value": 5}]
    assert tables_of([])[0].rows == []


def test_depth_and_number_of_tables_are_bounded() -> None:
    deep: Any = [{"end": 1}]
    for _ in range(40):
        deep = [{"a": deep}]
    assert len(tables_of(deep)) == 12
    maps: Any = {"x": 1}
    for _ in range(40):
        maps = {"a": maps}
    assert len(tables_of([maps])[0].columns) == len(tables_of(maps)[0].columns) == 1
    many = {f"t{n}": [1] for n in range(16)} | {f"m{n}": {"a": [1], f"b{n}": 1} for n in range(500)}
    assert len(tables_of({"a": 1, "x": many})) == MAX_TABLES + 1
    wide = [{f"t{n}": [{"a": 1}] for n in range(300)}]
    assert (len(tables_of(wide)), len(tables_of(wide)[0].columns)) == (51, 251)


def scalars(value: Any) -> Counter[str]:
    if isinstance(value, dict):
        return sum(map(scalars, value.values()), Counter())
    if isinstance(value, list):
        return sum(map(scalars, value), Counter())
    return Counter([repr(value)])


@pytest.mark.slow
@given(st.lists(json_values, max_size=6) | st.dictionaries(st.text(max_size=3), json_values, max_size=6))
def test_every_scalar_is_in_a_cell_and_every_name_is_safe(value: Any) -> None:
    tables = tables_of(value)
    assert len({table.name.casefold() for table in tables}) == len(tables)
    found: Counter[str] = Counter()
    for each in tables:
        assert len({column.casefold() for column in each.columns}) == len(each.columns)
        assert all('"' not in column and "\0" not in column for column in each.columns)
        assert {column for row in each.rows for column in row} <= set(each.columns)
        found += sum((scalars(cell) for row in each.rows for cell in row.values()), Counter())
        if each.parent is not None:
            parent = next(other for other in tables if other.name == each.parent.table)
            keys = Counter(map(str, parent.cells(each.parent.key)))
            assert len(keys) == keys.total() == len(parent.rows)
            assert {str(row[each.parent.column]) for row in each.rows} <= set(keys)
    assert scalars(value) <= found


def test_what_names_a_row_is_its_name_title_or_number() -> None:
    assert table(ORDERS, "rows").naming("order_no") == ("customer.name",)
    rows = [{"id": 1, "title": "a", "user": {"name": "b"}, "number": 3, "tags": [{"x": 1}]}]
    assert table(rows, "rows").naming("id") == ("title", "number")
    assert table(rows, "tags").naming("x") == ()
