"""The view of a value: what is rendered, how it is laid out, and that it is read back."""

import json
import random
import re
from typing import Any

import pytest

from accp_adapters.tokens import count_o200k, o200k_base
from accp_core import DecodeError, EncodeError, View, read
from accp_core.ports import TokenCounter
from accp_core.strict_json import compact_json
from accp_core.token_counts import RememberingCounter, has_tokens, is_longer
from accp_core.view import Options, legend_for, notation, render, render_text
from accp_core.view.layout import CUT_LINE, replace_cut_lines, restore
from accp_core.view.render_value import render_known, render_tree
from tests.core.exactly import exactly
from tests.core.view.payloads import PAYLOADS
from tests.harness.bench.made_payloads import MADE_PAYLOADS

# A JSON value in the fewest tokens that lose nothing.

counter = o200k_base()


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


@pytest.mark.parametrize("text", ['k: v[{"id": 1, "b": 2}, {"id": 2, "b": 3}]', '-0;["a", "b", "c"]', "a\nb\nc\nd"])
def test_a_text_that_stands_alone_is_no_pair(text: str) -> None:
    assert read(render(text, counter=len)) == text


@pytest.mark.parametrize("cells", LONE_CELLS)
def test_a_row_of_one_cell_is_told_from_an_empty_map_and_from_a_repeated_row(cells: list[Any]) -> None:
    rows: list[dict[str, Any]] = [{"id": cell} for cell in cells]
    rows[1]["name"] = None
    notation = render_tree(rows, compact_json(rows), counter=len, options=Options(derived=False))
    assert notation is not None
    assert compact_json(read(notation)) == compact_json(rows)


def test_a_number_with_a_comma_is_told_from_two_cells() -> None:
    rows = [{"what": f"nro {n}", "sum": f"{n},75", "of": f"-1.{n},7 kr" if n % 2 else "x"} for n in range(20, 40)]
    for keys, shown in (
        ("what sum of", '\nnro 21,"21,75" -1.21,7 kr\n'),
        ("what of", '\nnro 21,"-1.21,7 kr"\nnro 22, x\n'),
    ):
        chosen = [{key: row[key] for key in keys.split()} for row in rows]
        view = render(chosen, counter=counter)
        assert shown in view and read(view) == chosen


@pytest.mark.parametrize(("tokens", "view"), [(None, '{"a":1}'), (0, '{"a":1}'), (1, '{"a":1}'), (2, "a 1")])
def test_a_view_of_as_many_tokens_as_the_compact_text_is_not_shown(tokens: int | None, view: str) -> None:
    found = render_known({"a": 1}, '{"a":1}', counter=lambda text: 1, options=Options(), tokens=tokens)
    assert found == view


def test_the_key_that_is_no_string_is_named_beside_many_that_are() -> None:
    with pytest.raises(EncodeError, match="expected strings as keys, found 1"):
        render({**{f"key {number}": 0 for number in range(50)}, 1: 0}, counter=len)


# Which strings may stand without quotes, and how the others are written.

PLACES = {
    "line": notation.LINE,
    "word": notation.WORD,
    "cell": notation.CELL,
    "nested last": notation.NESTED_LAST,
    "nested word": notation.NESTED_WORD,
    "nested cell": notation.NESTED_CELL,
    "inline": notation.INLINE,
}
NOWHERE = [
    "",
    "-",
    "true",
    "0",
    "-1",
    "True",
    "None",
    "NaN",
    "-Infinity",
    "undefined",
    "...",
    "…",
    "to do:",
    ":",
    "$x",
    "${x}",
    "(none)",
    "007",
    "1.50",
    "-0.0",
    "1e+22",
    " a",
    "a ",
    "[a",
    '"a',
    "&1",
    "*1",
    "!json",
    "\n",
    "a\nb",
    "\r",
    "\x00",
    "\x7f",
    "\ud800",
    '"""',
]
SOMEWHERE = {
    "two words": {"line", "cell", "nested last", "nested cell", "inline"},
    "a,b": {"line", "word", "cell", "nested last", "nested word", "nested cell"},
    "a, b": {"line", "nested last"},
    "a,": {"line", "word", "nested last", "nested word"},
    "a;b": {"line", "word", "cell"},
    "a]": {"line", "word", "cell"},
    "a}b": {"line", "word", "cell"},
    "a[b": {"line", "word", "cell"},
    "a{b": {"line", "word", "cell"},
    ":x": set(PLACES) - {"inline"},
}


@pytest.mark.parametrize("text", NOWHERE, ids=repr)
def test_what_could_be_taken_for_another_thing_is_plain_in_no_place(text: str) -> None:
    if text != "!json":
        assert [name for name, plain in PLACES.items() if plain.allows(text)] == []


@pytest.mark.parametrize(("text", "places"), SOMEWHERE.items(), ids=map(repr, SOMEWHERE))
def test_a_sign_that_ends_a_text_is_plain_elsewhere(text: str, places: set[str]) -> None:
    assert {name for name, plain in PLACES.items() if plain.allows(text)} == places


@pytest.mark.parametrize("comma", [True, False])
def test_a_rule_is_written_for_the_signs_of_its_place(comma: bool) -> None:
    rule = notation.PlainTextRule("|", first="?", comma=comma)
    assert all(map(rule.allows, ["aXb", 'a"b', "a,b", "a?", ":x"]))
    assert not any(map(rule.allows, ["a|b", "?a", " a", 'a"""b']))
    assert bool(rule.allows("a, b")) is not comma


def test_a_rule_without_signs_of_its_own_allows_all_that_a_line_may_hold() -> None:
    assert all(map(notation.PlainTextRule().allows, ["Xa", "aXb", "a, b"]))


# How a source is made up, written down as a short text; whatever the layout, restoring is exact or refused.


@pytest.mark.parametrize(
    ("text", "layout", "source"),
    [
        ("", "t:0", ""),
        ("a b", "os1;2.0:3", '{"a": "b"}'),
        ("a b", "o:3", '{"a":"b"}'),
        ("a é", "o@0:3", '{"a":"\\u00e9"}'),
        ("a é", "o:3", '{"a":"é"}'),
        ("a b", "o@t:3", '{\n\t"a": "b"\n}'),
        ("[2] a\n1\n2", "nn1;4.0:9", '{"a":1}\n{"a":2}'),
        ("a b", "p:3", "{'a': 'b'}"),
        ("a [b, {c 1}]", "y:12", "a:\n- b\n- c: 1"),
        ("x[]y", "t:1 o:2 t:1", "x[]y"),
        (f"prose{CUT_LINE}", f"t:{5 + len(CUT_LINE)}", f"prose{CUT_LINE}"),
        (f"a b{CUT_LINE}, more", f"os1;2.0:{3 + len(CUT_LINE)}<9 t:6", '{"a": "b", more'),
        (f"[1, 2]{CUT_LINE}", f"nn1;1.0:{6 + len(CUT_LINE)}<0", ""),
    ],
)
def test_a_text_and_its_layout_give_the_source(text: str, layout: str, source: str) -> None:
    assert View(text=text, layout=f"{notation.NOTATION} {layout}", tokens_before=1, tokens_after=1).restore() == source


@pytest.mark.parametrize("layout", ["j:3", "v2 j:3", "v3 j:3", "AS-IS", "", " v4 j:3"])
def test_a_view_in_another_notation_is_refused_by_its_version(layout: str) -> None:
    reason = f"expected a view in the notation 'v4', found {layout.split(' ')[0]!r}: another version wrote it"
    with pytest.raises(DecodeError, match=re.escape(reason)) as refusal:
        restore("[1]", layout)
    assert (refusal.value.code, refusal.value.text, refusal.value.position) == ("E1001", "[1]", 0)


@pytest.mark.parametrize(
    ("text", "layout", "position"),
    [
        ("[1]", "", 0),
        ("[1]", "o:3 ", 3),
        ("[1]", "o", 0),
        ("[1]", "o3", 0),
        ("[1]", "x:3", 0),
        ("[1]", "o9:3", 0),
        ("[1]", "os1;9.0:3", 0),
        ("[1]", "os1;0.1:3", 0),
        ("[1]", "os1;x:3", 0),
        ("[1]", "on1+1:3", 0),
        ("[1]", "o!2f;x;0.0:3", 0),
        ("[1]", "o!2f;u;0.0:3", 0),
        ("[1]", "o!zz;:3", 0),
        ("[1]", "j:3", 0),
        ("[1]", "j2u:3", 0),
        ("[1]", "ou2:3", 0),
        ("[1]", "o:4", 0),
        ("[1]", "t:1 o:3", 1),
        ("[1]", "o:2", None),
        ("[1]", "t:2", 2),
        ("[1]", f"t:{'9' * 5000}", 0),
        ("[1]", "t:\u0663", 0),
        ("[1]", "t:-3", 0),
        ("[1]x", "o:3", 3),
        ("a", "o:1", 0),
        ("[1", "o:2", 2),
        ('{"a":1}', "n:7", 0),
        ("1", "n:1", 0),
        ("[1]", "o:3<3", 0),
        ("1", "y:1", 0),
        (f"[1]{CUT_LINE}", f"o:{3 + len(CUT_LINE)}<4", 0),
        (f"[1]{CUT_LINE}", f"t:{3 + len(CUT_LINE)}<2", 0),
        (f"[1]{CUT_LINE}", f"o:{3 + len(CUT_LINE)}<2<2", 0),
        (f"[1]{CUT_LINE}", f"o:{3 + len(CUT_LINE)}<", 0),
    ],
)
def test_what_does_not_belong_together_is_refused(text: str, layout: str, position: int | None) -> None:
    with pytest.raises(DecodeError) as refusal:
        restore(text, f"{notation.NOTATION} {layout}")
    assert refusal.value.code == "E1001"
    assert 0 <= refusal.value.position <= len(text)
    assert position is None or refusal.value.position == position


@pytest.mark.parametrize(
    ("text", "layout"),
    [
        (f"a\n[1{CUT_LINE}b", f"t:2 o:{2 + len(CUT_LINE)}<2 t:1"),
        (f"[1{CUT_LINE}[2{CUT_LINE}", f"o:{2 + len(CUT_LINE)}<2 o:{2 + len(CUT_LINE)}<2"),
    ],
)
def test_the_lines_about_a_cut_are_found_by_the_layout(text: str, layout: str) -> None:
    assert replace_cut_lines(text, f"{notation.NOTATION} {layout}", "[gone]") == text.replace(CUT_LINE, "\n[gone]")


def test_a_line_of_the_source_that_looks_like_one_about_a_cut_stays() -> None:
    text = f"a{CUT_LINE}[1{CUT_LINE}"
    layout = f"t:{1 + len(CUT_LINE)} o:{2 + len(CUT_LINE)}<2"
    assert replace_cut_lines(text, f"{notation.NOTATION} {layout}", "[gone]") == f"a{CUT_LINE}[1\n[gone]"


# Numbers that a source spells unusually keep their spelling: `12.50`, `1E5`, `1e+06`.


def count(text: str) -> int:
    return len(text)


def test_equal_numbers_of_different_spelling_make_no_constant() -> None:
    source = '[{"name": "first", "price": 1.50}, {"name": "second", "price": 1.500}]'
    view = render_text(source, counter=count)
    assert "price=" not in view.text
    assert view.restore() == source


# The one line that explains what a view has and JSON has not.


def test_what_the_reader_knows_is_not_explained_again() -> None:
    view = "[2] id, (kind=x)\n1\n-"
    assert notation.explanations(view) == ["a comma ends a cell", "(k=v) in every row", "- absent"]
    assert legend_for(view, known={"- absent", "a comma ends a cell"}) == "Notation: (k=v) in every row."
    assert legend_for(view, known=notation.explanations(view)) == ""


@pytest.mark.parametrize("name", PAYLOADS)
def test_a_legend_is_one_line_of_less_than_a_hundred_tokens(name: str) -> None:
    legend = legend_for(render(PAYLOADS[name][0], counter=counter))
    assert "\n" not in legend
    assert counter(legend) < 100


def test_the_whole_legend_is_one_short_line() -> None:
    assert "\n" not in notation.LEGEND
    assert counter(notation.LEGEND) < 50


def test_a_long_text_without_a_header_is_looked_through_in_one_pass() -> None:
    assert legend_for("[1] " * 50_000) == ""
    assert legend_for("[: " * 50_000) == ""


# How much text a view has counted, which takes a third of the time of rendering.


class Counter:
    """Counts tokens, and the characters that it is given."""

    def __init__(self) -> None:
        self.characters = 0

    def __call__(self, text: str) -> int:
        self.characters += len(text)
        return count_o200k(text)


class Bounded(Counter):
    """Knows a bound, too."""

    at_least = o200k_base().at_least


def made(name: str) -> object:
    return MADE_PAYLOADS[name](random.Random(name))


def test_of_most_payloads_the_view_and_half_of_the_json_are_counted() -> None:
    counter, sizes = Counter(), 0
    for name in MADE_PAYLOADS:
        value = made(name)
        counter.characters -= len(render(value, counter=counter))
        sizes += len(compact_json(value))
    assert counter.characters < 0.7 * sizes


def test_a_text_is_counted_to_its_end_before_any_part_is_counted_again() -> None:
    counter, view = Counter(), "a b c d e f g " * 40
    text = json.dumps(["abcdefgh"] * 80)
    assert is_longer(text, view, counter=counter) == (count_o200k(text) > count_o200k(view))
    assert counter.characters <= len(view) + 2 * len(text)


@pytest.mark.parametrize("text", ["", "[]", "[1,2,3]", '["a","b"]', '"' * 40, "7" * 4_000, '["' + "x" * 900 + '"]'])
@pytest.mark.parametrize("view", ["", "a", "1 2 3", "b " * 30])
def test_any_two_texts_are_compared_as_by_counting_both(text: str, view: str) -> None:
    assert is_longer(text, view, counter=count_o200k) == (count_o200k(text) > count_o200k(view))
    assert is_longer(text, view, counter=o200k_base()) == (count_o200k(text) > count_o200k(view))


@pytest.mark.parametrize("text", ["", "a", "a b c d e f g h", "word " * 40, "x" * 400])
@pytest.mark.parametrize("tokens", [0, 1, 8, 9, 40, 41])
@pytest.mark.parametrize("counter", [count_o200k, o200k_base(), RememberingCounter(o200k_base())])
def test_a_text_has_the_tokens_that_it_is_counted(text: str, tokens: int, counter: TokenCounter) -> None:
    assert has_tokens(text, tokens, counter=counter) == (count_o200k(text) >= tokens)


def test_a_long_text_of_sure_tokens_is_not_counted() -> None:
    counter = Bounded()
    assert has_tokens("some words " * 40, 8, counter=RememberingCounter(counter))
    assert counter.characters == 0
