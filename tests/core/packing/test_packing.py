"""Packing a value, and unpacking it to the same value: columns, repeated values, trees, deltas."""

import pytest

from accp_core.packing.columns import cell_count, pack_column, pack_table, unpack_column, unpack_table
from accp_core.packing.tree import ABSENT, NEXT_ROW, Constant, EmbeddedJson, RepeatedValue, Repetition, Sparse, Table
from accp_core.packing.values import REMOVED, Removed, apply, diff, is_same_json

# Maps of like shape as a table, and back.

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


# Deltas of plain maps.


def test_a_key_that_went_is_removed_and_a_null_stays_a_null() -> None:
    delta = diff({"a": 1, "b": 2, "c": 3}, {"a": 1, "b": None})
    assert delta == {"b": None, "c": REMOVED}
    assert apply({"a": 1, "b": 2, "c": 3}, delta) == {"a": 1, "b": None}


def test_types_count() -> None:
    assert diff({"a": 1, "b": 0.0}, {"a": True, "b": -0.0}) == {"a": True, "b": -0.0}


def test_removing_what_is_not_there_is_no_error() -> None:
    gone: dict[str, int | Removed] = {"a": REMOVED}
    assert apply({"b": 1}, gone) == {"b": 1}


# Which values are the same JSON text.

DISTINCT = [
    None, True, False, 0, 1, 0.0, -0.0, 1.0, "", "1", "true", [], [1], [1.0], [1, 1], {}, {"a": 1}, {"a": True},
    {"a": 1, "b": 2}, {"b": 2, "a": 1}, {"a": {"a": 1}},
    EmbeddedJson([1], ""), EmbeddedJson([1], "0"), EmbeddedJson([1.0], ""),
    Repetition(1), Repetition(2), 10**40, 1e40,
]  # fmt: skip


def rebuilt(value: object) -> object:
    """Return an equal value that is another object."""
    match value:
        case dict():
            return {key: rebuilt(member) for key, member in value.items()}
        case list():
            return [rebuilt(member) for member in value]
        case EmbeddedJson():
            return EmbeddedJson(rebuilt(value.value), value.style)
        case Repetition():
            return Repetition(value.number)
    return value


@pytest.mark.parametrize("value", DISTINCT, ids=repr)
def test_a_value_is_the_same_as_itself(value: object) -> None:
    assert is_same_json(value, rebuilt(value))


# The nodes that transforms put into a tree.


def test_placeholders_are_neither_each_other_nor_none() -> None:
    assert len({ABSENT, NEXT_ROW, None}) == 3
