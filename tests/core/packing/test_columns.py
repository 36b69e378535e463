"""Maps of like shape as a table, and back."""

import pytest

from accp_core.packing.columns import (
    cell_count,
    last_column_with_cells,
    pack_column,
    pack_keyed_rows,
    pack_list,
    pack_table,
    unpack_column,
    unpack_table,
)
from accp_core.packing.tree import (
    ABSENT,
    NEXT_ROW,
    Constant,
    KeyColumn,
    PooledLists,
    RepeatedValue,
    Repetition,
    Sparse,
    Table,
)
from tests.core.exactly import exactly

TABLES = {
    "maps of the same keys": ([{"a": 1, "b": 2}, {"a": 3, "b": 4}], {"a": [1, 3], "b": [2, 4]}),
    "a key that all maps give one value": ([{"a": 1, "b": 2}, {"a": 1, "b": 3}], {"a": Constant(1), "b": [2, 3]}),
    "values that are equal and not the same": ([{"a": 1}, {"a": 1.0}, {"a": True}], {"a": [1, 1.0, True]}),
    "a key that is absent, a key that is null": (
        [{"a": 1, "b": None}, {"a": 2}, {"b": 3}],
        {"a": [1, 2, ABSENT], "b": [None, ABSENT, 3]},
    ),
    "a key between two others": (
        [{"a": 1, "c": 2}, {"a": 3, "b": 4, "c": 5}],
        {"a": [1, 3], "b": [ABSENT, 4], "c": [2, 5]},
    ),
    "a key before all others": (
        [{"a": 1, "b": 0}, {"z": 2, "a": 3, "b": 4}],
        {"z": [ABSENT, 2], "a": [1, 3], "b": [0, 4]},
    ),
    "nested maps": (
        [{"u": {"x": 1, "y": 2}}, {"u": {"x": 3, "y": 4}}],
        {"u": Table({"x": [1, 3], "y": [2, 4]}, None, 2)},
    ),
    "nested maps that some lack": (
        [{"i": 1, "u": {"x": 1, "y": 2}}, {"i": 2, "u": None}, {"i": 3}, {"i": 4, "u": {"x": 3, "y": 4}}],
        {"i": [1, 2, 3, 4], "u": Table({"x": [1, 3], "y": [2, 4]}, [NEXT_ROW, None, ABSENT, NEXT_ROW], 2)},
    ),
    "nested rows": (
        [{"r": [{"x": 1}, {"x": 2}]}, {"r": []}, {"r": [{"x": 3}]}],
        {"r": PooledLists([2, 0, 1], Table({"x": [1, 2, 3]}, None, 3))},
    ),
    "nested rows that some lack": (
        [{"i": 1, "r": [{"x": 1}, {"x": 2}]}, {"i": 2, "r": None}, {"i": 3}],
        {"i": [1, 2, 3], "r": PooledLists([2, None, ABSENT], Table({"x": [1, 2]}, None, 2))},
    ),
    "lists of values": ([{"r": [1, 2]}, {"r": [3]}], {"r": [[1, 2], [3]]}),
    "one nested map among scalars": ([{"u": {"x": 1}}, {"u": 3}], {"u": [{"x": 1}, 3]}),
    "a single nested map": ([{"i": 1, "u": {"x": 1}}, {"i": 2, "u": None}], {"i": [1, 2], "u": [{"x": 1}, None]}),
}


@pytest.mark.parametrize(("items", "columns"), TABLES.values(), ids=TABLES)
def test_maps_of_like_shape_become_columns_and_come_back(items: list[object], columns: dict[str, object]) -> None:
    table = pack_table(items)
    assert table is not None
    assert repr(table.columns) == repr(columns)
    assert (table.slots, table.rows) == (None, len(items))
    assert exactly(unpack_table(table)) == exactly(items)


SHOWN = {
    "rows that are all the same": ([{"a": 1, "b": 2}] * 2, {"a": [1, 1], "b": Constant(2)}),
    "a long text and a short one": ([{"a": "x" * 30, "b": "y"}] * 2, {"a": Constant("x" * 30), "b": ["y", "y"]}),
    "a map and a short text": ([{"a": {"b": 1}, "c": "y"}] * 2, {"a": Constant({"b": 1}), "c": ["y", "y"]}),
    "maps only": ([{"a": {"b": 1, "c": 2}}] * 2, {"a": Table({"b": [1, 1], "c": Constant(2)}, None, 2)}),
    "a row without other cells": (
        [{"a": 1, "b": 2}, {"a": 1}, {"a": 1, "b": 3}],
        {"a": [1, 1, 1], "b": [2, ABSENT, 3]},
    ),
    "a row whose map and list are absent": (
        [{"a": 1, "b": [{"x": 1}, {"x": 2}], "c": {"y": 1}}, {"a": 1}, {"a": 1, "c": {"y": 2}}],
        {
            "a": [1, 1, 1],
            "b": PooledLists([2, ABSENT, ABSENT], Table({"x": [1, 2]}, None, 2)),
            "c": Table({"y": [1, 2]}, [NEXT_ROW, ABSENT, NEXT_ROW], 2),
        },
    ),
}


@pytest.mark.parametrize(("items", "columns"), SHOWN.values(), ids=SHOWN)
def test_each_row_shows_a_cell_that_is_not_absent(items: list[object], columns: dict[str, object]) -> None:
    table = pack_table(items)
    assert table is not None
    assert repr(table.columns) == repr(columns)
    assert exactly(unpack_table(table)) == exactly(items)


def test_a_map_without_keys_is_no_row() -> None:
    items: list[object] = [{"a": 1, "b": 2}, {}, {"a": 3, "b": 4}]
    table = pack_list(items)
    assert table == Table({"a": [1, 3], "b": [2, 4]}, [NEXT_ROW, {}, NEXT_ROW], 2)
    assert unpack_table(table) == items


NO_TABLES = {
    "no item": [],
    "one map": [{"a": 1}],
    "maps without keys": [{}, {}],
    "contradictory orders": [{"a": 1, "b": 2}, {"b": 3, "a": 4}],
    "contradictory orders by way of a third": [{"a": 1, "b": 2}, {"b": 3, "c": 4}, {"c": 5, "a": 6}],
    "hardly a key in common": [{"a": 1}, {"b": 2}, {"c": 3}],
    "one map and a reference": [{"a": 1, "b": 2}, Repetition(1)],
}


@pytest.mark.parametrize("items", NO_TABLES.values(), ids=NO_TABLES)
def test_maps_of_other_shapes_make_no_table(items: list[object]) -> None:
    assert pack_table(items) is None


@pytest.mark.parametrize(
    "items",
    [
        [],
        [{"a": 1}],
        [1, 2],
        ["a", {"a": 1}],
        [{"a": 1}, 2],
        [{"a": 1, "b": 2}, {"a": 3, "b": 4}, "x"],
        [[1], [2]],
        [[{"a": 1}], {"a": 1}],
        [[{"a": 1}], []],
        [None, None],
        [Repetition(1), Repetition(1)],
        [RepeatedValue(1, "text"), Repetition(1)],
        [RepeatedValue(1, {"a": 1}), {"a": 2}, Repetition(1)],
    ],
    ids=repr,
)
def test_an_array_of_other_things_is_no_table(items: list[object]) -> None:
    assert pack_list(items) is None


def test_rows_may_be_repeated_values_or_repetitions() -> None:
    items = [RepeatedValue(1, {"a": 1, "b": 2}), {"a": 3, "b": 4}, Repetition(1)]
    table = pack_list(items)
    assert table == Table({"a": [1, 3], "b": [2, 4]}, [RepeatedValue(1, NEXT_ROW), NEXT_ROW, Repetition(1)], 2)
    assert unpack_table(table) == items


def test_lists_of_maps_are_pooled_with_their_lengths() -> None:
    items: list[object] = [[{"a": 1}, {"a": 2}], [], RepeatedValue(1, [{"a": 3}]), Repetition(1)]
    lists = pack_list(items)
    assert lists == PooledLists([2, 0, RepeatedValue(1, 1), Repetition(1)], Table({"a": [1, 2, 3]}, None, 3))
    assert unpack_column(lists, 0) == items


def test_lists_of_lists_of_maps_are_pooled_twice() -> None:
    items: list[object] = [[[{"a": 1}], [{"a": 2}]], [[{"a": 3}, {"a": 4}]]]
    lists = pack_list(items)
    assert lists == PooledLists([2, 1], PooledLists([1, 1, 2], Table({"a": [1, 2, 3, 4]}, None, 4)))
    assert unpack_column(lists, 0) == items


def test_the_members_of_pooled_lists_may_be_repetitions() -> None:
    items: list[object] = [[RepeatedValue(1, {"a": 1, "b": 2}), {"a": 3, "b": 4}], [Repetition(1)]]
    lists = pack_list(items)
    assert type(lists) is PooledLists
    assert unpack_column(lists, 0) == items


@pytest.mark.parametrize(
    ("values", "column"),
    [
        ([1, 1, 1], Constant(1)),
        ([1, 1.0], [1, 1.0]),
        (["x", "y"], ["x", "y"]),
        ([None, ABSENT], [None, ABSENT]),
        ([ABSENT, ABSENT], [ABSENT, ABSENT]),
        ([{"a": 1}, [1]], [{"a": 1}, [1]]),
        ([{"a": 1, "b": 2}, {"b": 1, "a": 2}], [{"a": 1, "b": 2}, {"b": 1, "a": 2}]),
        ([RepeatedValue(1, "x"), Repetition(1)], Constant(RepeatedValue(1, "x"))),
        ([RepeatedValue(1, "x"), Repetition(2)], [RepeatedValue(1, "x"), Repetition(2)]),
        ([{"a": 1}, {"a": 1}], Constant({"a": 1})),
        ([Repetition(1), Repetition(1)], Constant(Repetition(1))),
    ],
    ids=repr,
)
def test_a_column_takes_the_tersest_form_and_comes_back(values: list[object], column: object) -> None:
    packed = pack_column(values)
    assert repr(packed) == repr(column)
    assert repr(unpack_column(packed, len(values))) == repr(values)


@pytest.mark.parametrize(
    ("items", "cells"),
    [
        ([{"a": 1, "b": 2}, {"a": 2, "b": 3}], 2),
        ([{"a": 1, "b": 2}, {"a": 1, "b": 3}], 1),
        ([{"a": 1}, {"a": 1}], 1),
        ([{"a": 1, "u": {"x": 1, "y": 2}}, {"a": 2, "u": {"x": 3, "y": 4}}], 3),
        ([{"u": {"x": 1, "y": 0}}, {"u": {"x": 2, "y": 0}}], 1),
        ([{"a": 1, "u": {"x": 1}}, {"a": 1, "u": {"x": 2}}, {"a": 1, "u": None}], 1),
        ([{"r": [{"x": 1}]}, {"r": [{"x": 2}]}], 1),
    ],
    ids=repr,
)
def test_the_cells_of_a_row_are_counted(items: list[object], cells: int) -> None:
    table = pack_table(items)
    assert table is not None
    assert cell_count(table) == cells


@pytest.mark.parametrize(
    ("items", "last"),
    [
        ([{"a": 1, "b": 2}, {"a": 2, "b": 3}], "b"),
        ([{"a": 1, "b": 2}, {"a": 2, "b": 2}], "a"),
        ([{"a": 1, "u": {"x": 1}}, {"a": 2, "u": {"x": 1}}], "a"),
        ([{"a": 1, "u": {"x": 1, "y": 2}}, {"a": 1, "u": {"x": 2, "y": 2}}], "u"),
    ],
    ids=repr,
)
def test_the_last_column_with_a_cell_ends_the_row(items: list[object], last: str) -> None:
    table = pack_table(items)
    assert table is not None
    assert last_column_with_cells(table) == last


NAMES = ["web-frontend", "db-replica-2"]


def test_a_column_with_the_keys_of_the_rows_has_no_cells() -> None:
    table = pack_keyed_rows({name: {"id": name, "cpu": cpu} for cpu, name in enumerate(NAMES)})
    assert table is not None
    assert table.columns == {"id": KeyColumn(), "cpu": [0, 1]}


@pytest.mark.parametrize("names", [["a", "b"], [*NAMES, "other"]])
def test_a_column_with_few_characters_or_other_strings_stays(names: list[str]) -> None:
    table = pack_keyed_rows({name: {"id": [*NAMES, "a"][at], "cpu": at} for at, name in enumerate(names)})
    assert table is not None
    assert KeyColumn() not in table.columns.values()


def test_rows_keep_a_cell_besides_their_key() -> None:
    table = pack_keyed_rows({name: {"name": name, "id": 7} for name in NAMES})
    assert table is not None
    assert table.columns == {"name": NAMES, "id": Constant(7)}
    assert pack_keyed_rows({name: [name] for name in NAMES}) is None


KEPT = {f"k{number}": number for number in range(6)}
EIGHT = dict.fromkeys("pqxyzwrs", 1)
GAPS = {
    "in one row": ([EIGHT | KEPT] * 4 + [dict.fromkeys("pqrs", 1) | KEPT], "xyzw"),
    "in another row once the keys of the first are named": (
        [EIGHT | KEPT] * 8 + [dict.fromkeys("pqrs", 1) | KEPT] + [dict.fromkeys("xyzw", 1) | KEPT],
        "pqxyzwrs",
    ),
    "of three": ([dict.fromkeys("pqxr", 1) | KEPT] * 4 + [{"r": 1} | KEPT], ""),
}


@pytest.mark.parametrize(("rows", "named"), GAPS.values(), ids=GAPS)
def test_keys_are_named_of_which_a_row_would_lack_more_than_three_in_succession(
    rows: list[dict[str, int]], named: str
) -> None:
    items: list[object] = [dict(row, n=number) for number, row in enumerate(rows)]
    table = pack_table(items)
    assert table is not None
    assert {name for name, column in table.columns.items() if type(column) is Sparse} == set(named)
    assert unpack_table(table) == items


@pytest.mark.parametrize(
    ("maps", "in_brackets"),
    [
        ([{"a": n, "b": 2, "c": -n} for n in range(10)], False),
        ([{"a": n, **({"b": 2} if n % 2 else {}), "c": -n} for n in range(10)], False),
        ([{"a": n, "b": 2, **({"c": 3} if n % 2 else {})} for n in range(10)], True),
        ([{**({"a": n} if n % 2 else {}), "b": -n} for n in range(10)], True),
        ([{"a": n, "b": -n, **({"c": 3} if n == 4 else {}), "d": n} for n in range(10)], True),
    ],
)
def test_a_map_in_a_row_is_in_brackets_where_its_absent_cells_or_keys_could_be_taken_for_those_of_the_row(
    maps: list[object], in_brackets: bool
) -> None:
    items: list[object] = [{"id": number, "m": inner} for number, inner in enumerate(maps)]
    table = pack_table(items)
    assert table is not None
    inner = table.columns["m"]
    assert type(inner) is Table
    assert inner.slots == ([NEXT_ROW] * len(maps) if in_brackets else None)
    assert unpack_table(table) == items
