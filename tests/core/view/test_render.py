"""A JSON value in the fewest tokens that lose nothing."""

import re
from typing import Any

import pytest

from accp_adapters.tokens import o200k_base
from accp_core import EncodeError, read, render
from accp_core.strict_json import compact_json
from accp_core.view import Options
from accp_core.view.render_value import render_known, render_tree
from tests.core.exactly import exactly
from tests.core.view.payloads import orders, webhook

counter = o200k_base()


def test_a_readable_view_has_the_key_in_each_cell_and_no_markers() -> None:
    options = Options(readable=True)
    lines = render(orders(20), counter=counter, options=options).split("\n")
    assert lines[0] == "orders [20] id? customer? items? currency? paid? coupon?"
    assert lines[1] == (
        "id=ord_7300 customer={name Ana Haas, city Lima} items=[{sku SKU-00, quantity 1, price 9.5}] currency=EUR "
        "paid=false coupon=SPRING"
    )
    assert lines[2].endswith("paid=true")
    assert not re.search(r"[&*]1\b", render(webhook(), counter=counter, options=options))


@pytest.mark.parametrize("value", [[{"a": 1}], [{"a": 1}, 2], [{"a": 1}, {}], [{"a": 1, "b": 2}, {"b": 1, "a": 2}]])
def test_other_arrays_have_no_rows_in_a_readable_view(value: object) -> None:
    notation = render_tree(value, compact_json(value), counter=len, options=Options(readable=True))
    assert notation is not None
    assert "=" not in notation
    assert read(notation) == value


class Text(str):
    """A string that is no `str`."""


CIRCLE: list[object] = []
CIRCLE.append(CIRCLE)
GROWING: dict[str, object] = {}
GROWING.update(a=GROWING, b=GROWING)

REFUSED = {
    "a tuple": ((1, 2), "found (1, 2) of type 'tuple'"),
    "a tuple within": ({"a": [{"b": (1, 2)}]}, "found (1, 2) of type 'tuple'"),
    "a set": ([{3}], "found {3} of type 'set'"),
    "bytes": ({"a": b"x"}, "found b'x' of type 'bytes'"),
    "a string of another class": ([Text("x")], "found 'x' of type 'Text'"),
    "a number as key": ({"a": {1: 2}}, "expected strings as keys, found 1"),
    "null as key": ([{None: 2}], "expected strings as keys, found None"),
    "a boolean as key": ({True: 2}, "expected strings as keys, found True"),
    "a tuple as key": ({(1, 2): 2}, "expected strings as keys, found (1, 2)"),
    "NaN": ([{"a": float("nan")}], "found nan of type 'float'"),
    "infinity": ({"a": 1.0, "b": float("inf")}, "found inf of type 'float'"),
    "negative infinity": (float("-inf"), "found -inf of type 'float'"),
    "surrogates that JSON joins": (["\ud83d\ude00"], r"found '\ud83d\ude00', which JSON reads as one"),
    "an array in itself": (CIRCLE, "expected a JSON value: Circular reference detected"),
    "a map twice in itself": (GROWING, "expected a JSON value: Circular reference detected"),
    "a number of 5000 digits": ([10**5000], "expected a JSON value: Exceeds the limit"),
}


@pytest.mark.parametrize(("value", "reason"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_json_is_refused_by_its_name(value: object, reason: str) -> None:
    with pytest.raises(EncodeError, match=re.escape(reason)) as refusal:
        render(value, counter=counter)
    assert refusal.value.code == "E1004"


def nested(depth: int, *, maps: bool) -> object:
    value: object = "two words"
    for number in range(depth):
        value = {"key": value, "n": number} if maps else [value, number]
    return value


@pytest.mark.parametrize("maps", [True, False], ids=["maps", "arrays"])
def test_nesting_that_json_cannot_write_is_refused(maps: bool) -> None:
    with pytest.raises(EncodeError, match="recursion") as refusal:
        render(nested(100_000, maps=maps), counter=counter)
    assert refusal.value.code == "E1004"


@pytest.mark.parametrize("value", [None, 1, "x", [1], {"a": 1}])
def test_the_value_is_left_as_it_was(value: object) -> None:
    before = exactly(value)
    render(value, counter=counter)
    assert exactly(value) == before


@pytest.mark.parametrize(
    "value",
    [
        pytest.param([{"who": [str(number) * 1_000 for number in range(1, 6)]}] * 4_000, id="rows"),
        pytest.param([{"id": number, "by": {"who": list(range(1000))}} for number in range(500)], id="a constant"),
    ],
)
def test_a_value_that_repeats_itself_beyond_all_measure_is_read_back_too(value: object) -> None:
    compact = compact_json(value)
    view = render(value, counter=len)
    assert read(view) == value
    assert len(view) < len(compact) / 10 or view == compact


LONG = "a text that is long enough to be written only once"
LONE_CELLS = [
    [None, None, None, None, {}],
    [{"x": None}, {"x": 1}, {"x": 2}, {"x": 3}, {"x": {}}],
    [{"x": 1, "y": 2}, {"x": 3, "y": 4}, {"x": 5, "y": 6}, {"x": 7, "y": 8}, {}],
    [1, [LONG, 1], 2, 3, [LONG, 1]],
    [[LONG, 1], [1], [2], [3], [LONG, 1]],
    [[1], [2], [3], [4], [5]],
]


@pytest.mark.parametrize("cells", LONE_CELLS)
def test_a_row_of_one_cell_is_told_from_an_empty_map_and_from_a_repeated_row(cells: list[Any]) -> None:
    rows: list[dict[str, Any]] = [{"id": cell} for cell in cells]
    rows[1]["name"] = None
    notation = render_tree(rows, compact_json(rows), counter=len, options=Options(derived=False))
    assert notation is not None
    assert compact_json(read(notation)) == compact_json(rows)


@pytest.mark.parametrize(("tokens", "view"), [(None, '{"a":1}'), (0, '{"a":1}'), (1, '{"a":1}'), (2, "a 1")])
def test_a_view_of_as_many_tokens_as_the_compact_text_is_not_shown(tokens: int | None, view: str) -> None:
    found = render_known({"a": 1}, '{"a":1}', counter=lambda text: 1, options=Options(), tokens=tokens)
    assert found == view


def test_the_key_that_is_no_string_is_named_beside_many_that_are() -> None:
    with pytest.raises(EncodeError, match="expected strings as keys, found 1"):
        render({**{f"key {number}": 0 for number in range(50)}, 1: 0}, counter=len)
