"""Maps of several kinds as one table for each, and back."""

import pytest

from accp_core.packing.columns import maps_in_order, pack_rows, table_cost, unpack_table
from accp_core.packing.kinds import MAX_KINDS, pack_kinds, unpack_kinds
from accp_core.packing.tree import ABSENT, Constant, Kinds, PooledLists, Repetition, Sparse, Table
from tests.core.exactly import exactly


def login(at: int) -> dict[str, object]:
    return {"at": at, "type": "login", "user": f"u{at}", "mfa": True, "ip": f"10.0.0.{at}"}


def error(at: int) -> dict[str, object]:
    return {"at": at, "type": "error", "code": at + 1, "text": f"t{at}", "stack": None}


EVENTS: list[object] = [login(1), error(2), login(3), login(4), error(5), error(6)]


def test_events_of_two_types_are_two_tables() -> None:
    kinds = pack_kinds(EVENTS, pack_rows(EVENTS))
    assert kinds is not None
    assert [list(table.columns) for table in kinds.tables] == [
        ["at", "type", "user", "mfa", "ip"],
        ["at", "type", "code", "text", "stack"],
    ]
    assert kinds.order == [0, 1, 0, 0, 1, 1]
    assert exactly(unpack_kinds(kinds)) == exactly(EVENTS)


@pytest.mark.parametrize(
    "other",
    [{"at": 9, "reason": "the only one of its kind"}, {}, Repetition(1), {"mfa": False, "at": 1}],
    ids=repr,
)
def test_what_is_of_no_kind_stands_between_the_rows(other: object) -> None:
    items = [*EVENTS, other, *EVENTS]
    kinds = pack_kinds(items, pack_rows(items))
    assert kinds is not None
    assert kinds.order[len(EVENTS)] is other
    assert unpack_kinds(kinds) == items


def test_maps_whose_keys_are_in_another_order_are_left_out_of_the_table() -> None:
    items: list[object] = [{"a": n, "b": n, "c": n} for n in range(5)] + [{"b": 1, "a": 2, "c": 3}]
    assert pack_rows(items) is None
    kinds = pack_kinds(items, None)
    assert kinds == Kinds([Table({name: list(range(5)) for name in "abc"}, None, 5)], [0] * 5 + items[5:])


def test_keys_come_in_the_order_in_which_they_were_seen_where_the_maps_leave_it_open() -> None:
    assert maps_in_order([{"a": 1, "d": 1}, {"b": 1, "d": 1}, {"a": 1, "c": 1}]) == (("a", "b", "d", "c"), [True] * 3)
    assert maps_in_order([{"a": 1, "b": 1}, {"b": 1, "a": 1}, {"b": 1, "c": 1}]) == (
        ("a", "b", "c"),
        [True, False, True],
    )


NO_KINDS = {
    "maps of one kind": [login(1), login(2), login(3)],
    "one map of each kind": [login(1), error(2)],
    "maps and texts": [*EVENTS, "text"],
    "lists": [[1], [2]],
    "no map": [Repetition(1), Repetition(1)],
    "maps that are cheaper one by one": [{"a": 1}, {"b": 2}, {"a": 3}, {"b": 4}],
    "more kinds than letters": [{f"a{n}": 1, f"b{n}": 2, "c": n} for n in range(MAX_KINDS + 1) for _ in range(3)],
    "shapes without end": [{f"a{n}": 1, f"b{n}": 2} for n in range(300)],
}


@pytest.mark.parametrize("items", NO_KINDS.values(), ids=NO_KINDS)
def test_other_arrays_have_no_kinds(items: list[object]) -> None:
    assert pack_kinds(items, pack_rows(items) if all(type(item) is dict for item in items) else None) is None


def test_a_table_that_costs_less_stays_a_table() -> None:
    items: list[object] = [{"a": n, "b": n, "c": n, "d": n, **({"e": n} if n % 2 else {})} for n in range(9)]
    table = pack_rows(items)
    assert table is not None
    assert pack_kinds(items, table) is None


def test_maps_within_maps_tell_kinds_apart() -> None:
    items: list[object] = []
    for n in range(6):
        items.append({"id": n, "data": {"text": n, "by": n, "of": n, "to": n}})
        items.append({"id": n, "data": {"size": n, "name": n, "hash": n, "path": n}})
    kinds = pack_kinds(items, pack_rows(items))
    assert kinds is not None
    assert kinds.order == [0, 1] * 6
    assert unpack_kinds(kinds) == items


def test_keys_of_few_rows_are_sparse_columns() -> None:
    items: list[object] = [{"id": n, "text": n, **({"note": n} if n == 3 else {})} for n in range(8)]
    table = pack_rows(items)
    assert table is not None
    assert table.columns["note"] == Sparse([ABSENT, ABSENT, ABSENT, 3, ABSENT, ABSENT, ABSENT, ABSENT])
    assert unpack_table(table) == items
    assert kinds_free(items)


def kinds_free(items: list[object]) -> bool:
    """Return whether one table is all that `items` need."""
    return pack_kinds(items, pack_rows(items)) is None


@pytest.mark.parametrize(
    ("columns", "cost"),
    [
        ({"a": [1, 2]}, 1),
        ({"a": [1, ABSENT], "b": Constant(1)}, 4),
        ({"a": [1, 2], "b": Sparse([1, ABSENT])}, 5),
        ({"a": Table({"b": [1, 2]}, None, 2)}, 2),
        ({"a": Table({"b": [1]}, [ABSENT], 1)}, 4),
        ({"a": PooledLists([1, 1], Table({"b": [1, 2]}, None, 2))}, 4),
        ({"a": PooledLists([1, 1], PooledLists([1, 1], Table({"b": [1, 2]}, None, 2)))}, 3),
    ],
    ids=repr,
)
def test_the_cost_of_a_table_is_estimated(columns: dict[str, object], cost: int) -> None:
    assert table_cost(Table(columns, None, 2)) == cost  # type: ignore[arg-type]
