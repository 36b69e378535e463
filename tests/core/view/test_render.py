"""A JSON value in the fewest tokens that lose nothing."""

import json
import re
from typing import Any

import pytest

from accp_adapters.tokens import o200k_base
from accp_core import EncodeError, read, render
from accp_core.strict_json import compact_json
from accp_core.view import Options
from accp_core.view.render_value import MAX_DEPTH, check_json, render_known, render_tree
from accp_core.view.write import write_view
from tests.core.exactly import exactly
from tests.core.view.payloads import PAYLOADS, messages, orders, records, webhook

counter = o200k_base()


@pytest.mark.parametrize("name", PAYLOADS)
def test_a_payload_is_read_back_from_a_fraction_of_its_tokens(name: str) -> None:
    value, percent = PAYLOADS[name]
    view = render(value, counter=counter)
    assert exactly(read(view)) == exactly(value)
    assert 100 * counter(view) <= percent * counter(compact_json(value))


def test_rows_stand_under_one_header() -> None:
    lines = render(records(40), counter=counter).split("\n")
    assert lines[0] == "[40] employee_id full_name, department salary active"
    assert len(lines) == 41


@pytest.mark.parametrize(
    ("names", "lines"),
    [
        (["x y", "x z", "a", "b"], ["[4] n m", '"x y" 0']),
        (["x y", "x z", "y z", "b"], ["[4] n, m", "x y,0"]),
    ],
)
def test_a_comma_ends_the_cells_where_most_have_blanks(names: list[str], lines: list[str]) -> None:
    rows = [{"n": name, "m": at} for at, name in enumerate(names)]
    view = render(rows, counter=len)
    assert view.split("\n")[:2] == lines
    assert read(view) == rows


@pytest.mark.parametrize(
    ("value", "line"),
    [
        (
            [{"a": at, "m": {f"k{at}{no}": {"p": no, "q": f"x;y}} {at}{no}"} for no in range(3)}} for at in range(4)],
            '1 {:key: p q: k10 0 "x;y} 10"; k11 1 "x;y} 11"; k12 2 "x;y} 12"}',
        ),
        ([{"n": f"u{at};v]", "m": at} for at in range(3)], "u1;v] 1"),
        ([{"n": f"u {at};v]", "m": at} for at in range(3)], "u 1;v],1"),
        ([{"n": at, "m": {"p": at, "q": f"u {at}, v]; w"}} for at in range(3)], "1 1 u 1, v]; w"),
    ],
)
def test_a_bracket_or_semicolon_needs_quotes_within_brackets_only(value: list[Any], line: str) -> None:
    view = render(value, counter=len)
    assert line in view.split("\n")
    assert read(view) == value


def test_options_leave_transforms_out() -> None:
    assert "!json" not in render(messages(8), counter=counter, options=Options(embedded_json=False))
    assert not re.search(r"[&*]1\b", render(webhook(), counter=counter, options=Options(repeated_values=False)))


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


@pytest.mark.parametrize("value", [{}, [], "x", 1, None, [1, 2], {"a": 1}, "two words", [[1, 2], [3, 4]]], ids=repr)
def test_compact_json_stays_where_the_notation_saves_nothing(value: object) -> None:
    expensive = render(value, counter=lambda text: 1)
    assert expensive == compact_json(value)
    assert exactly(read(expensive)) == exactly(value)


def test_the_longer_text_is_counted_only_as_far_as_needed() -> None:
    counted: list[str] = []

    def count(text: str) -> int:
        counted.append(text)
        return counter(text)

    value = records(200)
    compact = compact_json(value)
    render(value, counter=count)
    assert compact not in counted
    assert any(compact.startswith(text) and len(text) > 100 for text in counted)


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
@pytest.mark.parametrize("depth", [MAX_DEPTH - 1, MAX_DEPTH, MAX_DEPTH + 1, 60, 500])
def test_nesting_is_rendered_up_to_the_limit_and_is_json_beyond(depth: int, maps: bool) -> None:
    value = nested(depth, maps=maps)
    assert json.dumps(read(render(value, counter=len))) == json.dumps(value)
    for levels in (None, check_json(value)):
        notation = render_tree(value, compact_json(value), counter=len, options=Options(), levels=levels)
        assert (notation is None) == (depth > MAX_DEPTH)
        assert notation is None or json.dumps(read(notation)) == json.dumps(value)


def test_a_container_in_two_places_counts_in_the_deeper_one() -> None:
    shared = outer = nested(MAX_DEPTH // 2, maps=True)
    for number in range(MAX_DEPTH // 2 + 1):
        outer = {"key": outer, "n": number}
    value = [shared, outer]
    assert render(value, counter=counter) == compact_json(value)
    assert [check_json(value), check_json([outer]), check_json(1)] == [None, MAX_DEPTH + 2, 0]


@pytest.mark.parametrize("literals", [[0.0, -0.0], [1, 1.0], [True, 1], [False, 0.0]])
def test_lists_that_python_takes_for_equal_are_not_repeated(literals: list[object]) -> None:
    rows = [[literal] * 30 for literal in literals] * 2
    assert json.dumps(read(render({"a": rows}, counter=counter))) == json.dumps({"a": rows})


def test_embedded_documents_count_as_levels() -> None:
    value: object = "x"
    for _ in range(4):
        value = json.dumps(nested(13, maps=True)).replace("two words", json.dumps(value)[1:-1])
    assert type(value) is str
    assert render_tree(value, compact_json(value), counter=len, options=Options()) is None
    assert read(render(value, counter=len)) == value


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


def test_what_was_read_shares_no_part_with_another() -> None:
    rows = read(render([{"id": number, "tags": ["x", "y"], "by": {"a": 1}} for number in range(5)], counter=counter))
    assert isinstance(rows, list)
    rows[0]["tags"].append("z")
    rows[0]["by"]["a"] = 2
    assert all((row["tags"], row["by"]) == (["x", "y"], {"a": 1}) for row in rows[1:])


def test_what_was_read_is_rendered_again_with_numbers_as_they_were_spelled() -> None:
    view = "[3] id price\n1 1.50\n2 1E5\n3 0.10"
    value = read(view)
    assert json.dumps(value) == json.dumps([{"id": 1, "price": 1.5}, {"id": 2, "price": 1e5}, {"id": 3, "price": 0.1}])
    assert render(value, counter=len) == view


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


def test_a_string_that_holds_an_array_and_no_map_is_rendered_too() -> None:
    assert render({"a": json.dumps([[n, f"name {n}"] for n in range(6)])}, counter=len).startswith("a !json")


@pytest.mark.parametrize(("tokens", "view"), [(None, '{"a":1}'), (0, '{"a":1}'), (1, '{"a":1}'), (2, "a 1")])
def test_a_view_of_as_many_tokens_as_the_compact_text_is_not_shown(tokens: int | None, view: str) -> None:
    found = render_known({"a": 1}, '{"a":1}', counter=lambda text: 1, options=Options(), tokens=tokens)
    assert found == view


@pytest.mark.parametrize(
    ("value", "view"),
    [
        ({"a": ["x" * 40, 1]}, f"a [{'x' * 40},1]"),
        ({"a": ["x" * 41, 1]}, f"a [2]:\n{'x' * 41}\n1"),
        ({"a": ["x\ny", 1]}, 'a [2]:\n"x\\ny"\n1'),
        ({"m": {"a": 1, "b": 2, "c": 3, "d": 4}}, "m {a 1, b 2, c 3, d 4}"),
        ({"m": {"a": 1, "b": 2, "c": 3, "d": 4, "e": 5}}, "m {\na 1\nb 2\nc 3\nd 4\ne 5\n}"),
        ({"a": "x\ny\nz"}, 'a "x\\ny\\nz"'),
        ({"a": "x\ny\nz\n"}, 'a """\nx\ny\nz\n\n"""'),
        ({"a": '"b"c"d"e" '}, 'a "\\"b\\"c\\"d\\"e\\" "'),
        ({"a": '"b"c"d"e"f" '}, 'a """\n"b"c"d"e"f" \n"""'),
        ({"k": {"x y": {"a": 1, "t": "u; v"}, "z": {"a": 2, "t": "w]"}}}, 'k {2} key: a t\n"x y" 1 u; v\nz 2 w]'),
    ],
)
def test_what_is_short_stands_in_a_line_and_many_lines_or_quotes_in_a_block(value: object, view: str) -> None:
    assert write_view(value) == view
    assert read(view) == value


def test_all_types_of_json_stand_beside_each_other() -> None:
    spelled = read("[12.50, x]")
    assert type(spelled) is list
    value = [spelled[0], 1.5, 1, "a", True, None, {}, []]
    assert read(render(value, counter=len)) == value


def test_the_key_that_is_no_string_is_named_beside_many_that_are() -> None:
    with pytest.raises(EncodeError, match="expected strings as keys, found 1"):
        render({**{f"key {number}": 0 for number in range(50)}, 1: 0}, counter=len)


QUOTES = {
    "none": "def f():\n    return 1\n\n\nf()\n",
    "double": 'def f():\n    """Return."""\n\n\n"""\n',
    "single": "def f():\n    '''Return.'''\n\n\n'''\n",
    "both": "a = \"\"\"x'''y\"\"\"\nb = '''x\"\"\"y'''\nc = 1\n",
    "longer": 'a = 1\n""""\n""""""\n"""',
    "JSON": json.dumps(records(3), indent=2) + "\n",
    "tabs and backslashes": "a\tb\\n\n\n\\\n\t",
}


@pytest.mark.parametrize("content", QUOTES.values(), ids=QUOTES)
def test_a_text_of_many_lines_stands_without_escapes_whatever_its_quotes(content: str) -> None:
    value = {"path": "a/b.py", "content": content}
    view = write_view(value)
    assert content in view
    assert read(view) == value
