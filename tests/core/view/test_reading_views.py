"""Reading a view: values, texts around them, refusals, and how much a text may stand for."""

import json
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accp_core import DecodeError, read, render, render_text
from accp_core.documents.json_forms import describe_json
from accp_core.packing.expansion import ExpansionLimits, size_of
from accp_core.strict_json import compact_json
from accp_core.view import Options
from accp_core.view.layout import CUT_LINE, restore
from accp_core.view.notation import AS_IS, NOTATION
from accp_core.view.read_value import MAX_READ_DEPTH
from accp_core.view.render_value import render_tree
from tests.core.exactly import exactly
from tests.core.view.bombs import BOMBS

# A view read back, whatever its text: the vectors of `tests/vectors/view` pin what each construct means.


def reads(text: str) -> bool:
    """Return whether `text` is read; it must be refused with a place inside it otherwise."""
    try:
        read(text)
    except DecodeError as refusal:
        assert refusal.code == "E1001"
        assert refusal.text == text
        assert 0 <= refusal.position <= len(text)
        return False
    return True


DEEP = {
    "arrays": "[",
    "JSON arrays": '["',
    "maps": "{a ",
    "maps over lines": "{\na ",
    "pairs": "a {\n",
    "arrays of one map": "[{\na ",
    "counted lines": "[1]:\n",
    "tables in a line": "[:a: ",
    "keyed tables in a line": "{:a: k ",
    "tables in a header": "[1] (a=[:",
    "nested headers": "[1] a{",
    "headers of nested rows": "[1] [",
    "headers of nested rows in a row": "[:a[",
    "repeated values": "&1 ",
    "documents": "!json ",
    "constants": "[:(a=",
}


@pytest.mark.parametrize("depth", [MAX_READ_DEPTH + 1, 100_000])
@pytest.mark.parametrize("opening", DEEP.values(), ids=DEEP)
def test_a_text_that_only_opens_is_refused(opening: str, depth: int) -> None:
    assert not reads(opening * depth)


@pytest.mark.parametrize("depth", [60, 100_000])
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ("[x, ", "]"), ("{a ", "}"), ("[:a: ", "]")])
def test_nesting_is_read_up_to_a_limit(opening: str, closing: str, depth: int) -> None:
    assert reads(opening * depth + "1" + closing * depth) == (depth == 60)


@pytest.mark.parametrize("end", ["\n", "\n\n", "\r\n"])
@pytest.mark.parametrize(
    "value", [{"a": 1, "b": "x"}, [{"id": 1, "n": "a"}, {"id": 2, "n": "b"}], {"a": "1\n2\n3\n4"}], ids=repr
)
def test_line_breaks_behind_a_view_are_no_part_of_it(value: object, end: str) -> None:
    assert read(render(value, counter=len) + end) == value
    shown = render_text(json.dumps(value) + end, counter=len)
    assert shown.text.endswith(end)
    assert read(shown.text) == value


@pytest.mark.parametrize(
    "text",
    [
        "[3] (a=[1] b={x {y 1}}) c\n1\n2\n3",
        "a &1 [1, {x 2}]\nb *1\nc [*1, *1]",
        "a [:(b=[1]) c: 1; 2]\nd {:key: (e={x 1}) f: g 1; h 2}",
        "[2] (a=!json [1]) b\n1\n2",
    ],
)
def test_no_container_stands_in_two_places(text: str) -> None:
    """Otherwise a change in one place would appear in another."""
    found, level = [], [read(text)]
    while level:
        containers = [value for value in level if isinstance(value, (dict, list))]
        found += containers
        level = [member for each in containers for member in (each.values() if isinstance(each, dict) else each)]
    assert len(set(map(id, found))) == len(found)


# What a refused view or layout is told: the code, the place and the words (ACCP 9, item 2: refused whole).

TIGHT = ExpansionLimits(times=1)
CUT = f"[1]{CUT_LINE}"

VIEWS = [
    ("", 0, "expected a key, a blank and a value"),
    ("{1} key: a\nx", 11, "expected a key, a blank and a value"),
    ('a "x', 2, "expected a JSON string"),
    ("a [1, 2", 7, "expected ',' or ']'"),
    ("a {b 1", 6, "expected ',' or '}'"),
    ("[1] a[b]\n[;]", 10, "expected a value without blanks around it"),
    # Blanks and control characters that no view has: the text behind the view is another's
    ("[2] a b\n1 x\n2 null \n", 18, "expected no tab, and no blank at the end of a line, found ' '"),
    ("a  b", 2, "expected a value without blanks around it"),
    ("a [ b, c]", 3, "expected a value without blanks around it"),
    ("a 1\tb", 3, "expected no tab, and no blank at the end of a line, found '\\t'"),
    ("a 1\r\nb 2\r\n", 3, "expected no control character, found '\\r'"),
    ('a """\none\x00\n"""', 9, "expected no control character, found '\\x00'"),
    ("[1]:\n[1]x", 8, "expected the end of the line"),
    ("[1]:\n1\n2", 7, "expected the end of the text, found another line"),
    ("[2]:\nxy", 5, "expected another line, found the end of the text"),
    ('a """\none', 0, 'expected a line \'"""\' at the end of a text block, found the end of the text'),
    ("a 1\na 2", 4, "expected each key once, found 'a' again"),
    ("a {b 1, b 2}", 11, "expected each key once, found 'b' again"),
    ("a " + "[" * 201, 201, "expected at most 200 levels, found more"),
    # Values beside each other are not nested.
    ("a [[[1], " + "[" * 198, 206, "expected at most 200 levels, found more"),
    ("a {\nb {\nc {\nd 1\n}\ne " + "[" * 198, 217, "expected at most 200 levels, found more"),
    ("a 1e999", 7, "expected a number that a float can hold, found '1e999'"),
    # Headers
    ("[1] ?\n1", 4, "expected the name of a column"),
    ("[1] a{[b]}\n1", 9, "expected the name of a column"),
    ("[1] a a\n1 2", 6, "expected each column once, found 'a' again"),
    ("{1} key: a b==c\n1", 12, "expected the end of the header"),
    ("[1] (a 1) b\n1", 6, "expected '='"),
    ("[1] a{b c\n1 2", 9, "expected '}'"),
    ("[1] (a=1)\nx", 9, "expected a column with cells"),
    ("[1] a]\n1", 5, "expected the end of the header"),
    ("[1] b (a=${b}${c})\n1", 9, "expected a text with one '${name}' of a value"),
    ("[1] " + "[" * 61, 64, "expected at most 60 nested headers"),
    # Headers beside each other are not nested.
    ("[1] a{b{c} " + "a{" * 59, 129, "expected at most 60 nested headers"),
    # Only the rows of a map of maps have a key.
    ("a [:k==key m: 1]", 5, "expected ': '"),
    ("{:a: 1}", 2, "expected 'key: '"),
    # Rows
    ("[1] a b\n1", 9, "expected ' '"),
    ("[1] a, b\n1 2", 12, "expected ', '"),
    ("[1] a? b\na=1", 12, "expected another cell"),
    ('[:a? b: a="x"X 1]', 13, "expected ' '"),
    ('[1] a\n"x" y', 9, "expected the end of the row"),
    ("{2} key: a\nx 1\nx 2", 15, "expected each key once"),
    # Repeated values, documents and addresses
    ("a &x 1", 2, "expected the number of a repeated value"),
    ("a *1", 4, "expected a value &1 for *1, found none"),
    ("&1 [*1]", 7, "expected *1 outside the value &1, found it inside"),
    ("[2] (a={x &1 foo}) b\n1\n2", 24, "expected &1 once, found it again"),
    ("!json9 1", 5, "expected the code of a style of JSON, found '9'"),
    ("[!js 1]", 1, "expected '!json' and the code of a style"),
    ("a=${b}/c", 8, "expected a string or a whole number 'b' for ${b}, found None"),
]


@pytest.mark.parametrize(("text", "position", "reason"), VIEWS)
def test_a_refused_view_is_told_what_was_expected_and_where(text: str, position: int, reason: str) -> None:
    with pytest.raises(DecodeError) as refusal:
        read(text)
    assert (refusal.value.code, refusal.value.text, refusal.value.position) == ("E1001", text, position)
    assert str(refusal.value) == f"E1001: {reason}, at position {position}"


LAYOUTS = [
    ("[1]", "?:3", 0, "expected a part of a layout, found '?:3'"),
    (CUT, f"t:{len(CUT)}<2", 0, f"expected a part of a layout, found 't:{len(CUT)}<2'"),
    ("[1]", "o:4", 0, "expected 4 characters for 'o:4', found 3"),
    ("[1]x", "o:3", 3, "expected a text of 3 characters for the layout, found 4"),
    ("[1]", "o:3<2", 0, f"expected {CUT_LINE!r} for 'o:3<2', found '[1]'"),
    ("[1]\nx", "o:3 t+:2", 3, "expected '\\nsource text:' for 't+:2', found '\\nx'"),
    (CUT, f"o:{len(CUT)}<4", 0, "expected at least 4 characters before the cut, found 3"),
    ("x7", "t:1 n:1", 1, "expected an array for JSON Lines, found 'int'"),
]


@pytest.mark.parametrize(("text", "layout", "position", "reason"), LAYOUTS)
def test_a_refused_layout_is_told_what_was_expected_and_where(
    text: str, layout: str, position: int, reason: str
) -> None:
    with pytest.raises(DecodeError) as refusal:
        restore(text, f"{NOTATION} {layout}")
    assert (refusal.value.code, refusal.value.text, refusal.value.position) == ("E1001", text, position)
    assert str(refusal.value) == f"E1001: {reason}, at position {position}"


SIGNS = [
    (f"a &1 {'y' * 40}\nb [*1, *1]", "*1", 49, 41, 0),
    (f"[3] (a={'y' * 40}) b\n1\n2\n3", "the rows of this table", 55, 135, 0),
    (f"{{2}} key: a==key b\n{'y' * 40}0 1\n{'y' * 40}1 1", "a==key", 9, 85, 0),
    (f"a {'y' * 40}\nb=${{a}}/z", "${a}", 45, 42, 0),
    ("[1] a? b\nx", "?", 5, 2, 0),
    ("!json [x, y z]", "!json", 0, 12, 0),
]


@pytest.mark.parametrize(("text", "sign", "position", "size", "left"), SIGNS)
def test_a_view_that_expands_too_much_is_told_what_expands(
    text: str, sign: str, position: int, size: int, left: int
) -> None:
    with pytest.raises(DecodeError) as refusal:
        read(text, limits=TIGHT)
    words = f"expected a result within the limits, found {sign!r}, which adds {size} to at most {left}"
    assert refusal.value.text == text
    assert str(refusal.value) == f"E2003: {words}, at position {position}"


PARTS = [(f"a {'é' * 100}", "o@0:102", 0, 608, 102), (f"x{'y' * 40}\na é", "t:42 o:3", 42, 9, 3)]


@pytest.mark.parametrize(("text", "layout", "position", "size", "left"), PARTS)
def test_a_source_that_would_be_too_large_is_told_its_part(
    text: str, layout: str, position: int, size: int, left: int
) -> None:
    with pytest.raises(DecodeError) as refusal:
        restore(text, f"{NOTATION} {layout}", limits=TIGHT)
    words = f"expected a result within the limits, found 'this part', which adds {size} to at most {left}"
    assert refusal.value.text == text
    assert str(refusal.value) == f"E2003: {words}, at position {position}"


# Each kind of place of the notation, with every text that could be taken for something else there.

SIGNS_OF_PLACES = [*'-*&{}[]";,:=$?!()\\#/', '""', '"""']
WORDS = [
    "", " ", "a", "a b", " a", "a ", "true", "false", "null", "5", "-5", "007", "1e5", "*1", "&1 a", "{}", "[]",
    "{a 1}", "[a]", "[:a: 1]", "[2] a b", "[3]:", "{2} key: a", "list: a", "key: a", "A: a", "A a", "p=1", "q=1", "p q",
    "null: p", "True", "NaN", "…", "...", "p:", "p: q", "(p)", "${p}/q", "!json 1", "!json{", "$p", "${p}",
    "https://a.example/$p", "a\nb", "a\nb\nc\nd",
    '"""\na\n"""', 'a\n"""\n""""\nb', 'a\nb\nc\n"d"', "a\r\nb",
    "\t", "\x01", "\x010\x01", "\u2028", "\ud800", "é", "日本", "😀", "a long text that stands in several places",
    *SIGNS_OF_PLACES, *[f"{sign}a" for sign in SIGNS_OF_PLACES],
    *[f"a{sign}" for sign in SIGNS_OF_PLACES], *[f"a{sign} b" for sign in SIGNS_OF_PLACES],
]  # fmt: skip
OTHERS = ["x", "y z", 3, None, "w, v"]


def rows(place: Callable[[object], dict[str, Any]]) -> Callable[[str], object]:
    """Return what makes rows of which the second has the text in its place."""
    return lambda text: [place(OTHERS[0]), place(text), *map(place, OTHERS[1:])]


def of_words(place: Callable[[object], dict[str, Any]]) -> Callable[[str], object]:
    """Return what makes rows of single words, and the text."""
    return lambda text: [place(each) for each in ["u", text, "v", "w", "x", "y", "z"]]


def few(make: Callable[[object], dict[str, Any]], text: object) -> list[dict[str, Any]]:
    """Return nine rows, of which one has a member that the others lack."""
    return [{"p": at, **(make(text) if at == 4 else {}), "q": f"q={at}"} for at in range(9)]


PLACES: dict[str, Callable[[str], object]] = {
    "document": lambda text: text,
    "key": lambda text: {text: 1, f"{text} ": {text: {text: "two words", "b": "c d"}}},
    "pair": lambda text: {"p": text, "q": [{"p": text}]},
    "keys of one literal": lambda text: {"p": None, text: None, "q": None, "r": None},
    "array in a line": lambda text: [text, 1, text],
    "array over lines": lambda text: ["a text of so many characters that it needs a line", text, {"p": text}],
    "arrays": lambda text: [[text], [text, "x"], []],
    "arrays as rows": lambda text: [["u", text, 1], [text, "v", 2], ["w", "x y", 3], ["z", text, 4]],
    "name of a column": lambda text: [{text: 1, f"{text}p": 2}, {text: 3, f"{text}p": 4}],
    "cell that a blank ends": of_words(lambda value: {"p": value, "q": 1, "r": "a b"}),
    "cell that a comma ends": rows(lambda value: {"p": value, "q": "x", "r": "a"}),
    "last cell": rows(lambda value: {"p": 1, "q": value}),
    "only cell": rows(lambda value: {"p": value}),
    "constant": lambda text: [{"p": 1, "q": text, "r": 2}, {"p": 3, "q": text, "r": 5}],
    "map in a row": of_words(lambda value: {"m": {"p": value, "q": value}, "n": "a"}),
    "map that some rows lack": of_words(lambda value: {"m": {"p": value, "q": f"{value} b"} if value != "v" else None}),
    "map at the end of a row": rows(lambda value: {"n": "a", "m": {"p": "a", "q": value}}),
    "row in brackets": rows(lambda value: {"n": "a", "m": [{"p": value, "q": value}, {"p": value, "q": 1}]}),
    "words in brackets": of_words(lambda value: {"m": [{"p": value, "q": value}, {"p": "v", "q": value}], "n": 1}),
    "maps in brackets": of_words(lambda value: {"m": [{"o": {"p": value, "q": value}}, {"o": {"p": 1, "q": value}}]}),
    "list in a row": rows(lambda value: {"n": "a", "m": [value, value], "o": value}),
    "lists in a row": rows(lambda value: {"n": "a", "m": [[value], [value, 1]]}),
    "cell of few rows": lambda text: few(lambda value: {"r": value}, text),
    "cell of few rows that ends them": lambda text: [{"p": at, **({"r": text} if at == 4 else {})} for at in range(9)],
    "few rows in brackets": lambda text: [{"n": n, "m": few(lambda value: {"r": value}, text)} for n in range(3)],
    "behind the cells of few rows": lambda text: [
        {"p": at, **({"q": 1} if at == 4 else {}), **({"r": 2} if at == 7 else {}), "s": text if at % 2 else "a"}
        for at in range(20)
    ],
    "map of maps": lambda text: {f"{text}{at}": {"p": at, "q": text, "r": f"{at} b"} for at in range(4)},
    "map of maps with its key": lambda text: {
        f"{text} {at} long": {"p": f"{text} {at} long", "q": at} for at in range(4)
    },
    "map of maps in a row": lambda text: [
        {"n": n, "m": {f"{text}{at}": {"p": text} for at in range(3)}} for n in range(3)
    ],
    "rows of kinds": lambda text: [
        {"p": at, "q": text, "r": "a"} if at % 2 else {"s": text, "t": "a b", "u": at, "v": text} for at in range(12)
    ],
    "beside rows of kinds": lambda text: [
        text, *({"p": at, "q": text} if at % 2 else {"s": text, "t": at, "u": at, "v": 1} for at in range(12))
    ],
    "beside rows": lambda text: [{"p": 1, "q": "a b"}, text, {"p": 2, "q": "c d"}, {}, {"p": 3, "q": "e"}],
    "repeated row": lambda text: [{"p": f"{text} and many more words", "q": "which is long"}, {"p": 1, "q": 2}] * 2,
    "repeated value": lambda text: {"a": f"{text} and many more words", "b": [f"{text} and many more words"]},
    "address": lambda text: {
        "url": "https://a.example/users/somebody", "next": f"https://a.example/users/somebody{text}"
    },
    "addresses": lambda text: [
        {"id": f"{text}{at}", "url": f"https://a.example/of/everybody/{text}{at}/next"} for at in range(4)
    ],
    "document in a string": lambda text: {
        "p": json.dumps({"q": text, "r": [{"s": text}] * 2}), "t": json.dumps([text, 1])
    },
    "document in a cell": lambda text: [{"p": json.dumps({"q": text}), "r": at} for at in range(3)],
}  # fmt: skip
"""What makes a value with a text in the place of that name."""


@pytest.mark.parametrize("place", PLACES)
def test_every_text_is_read_back_from_every_place(place: str) -> None:
    for text in WORDS:
        value = PLACES[place](text)
        view = render_tree(value, compact_json(value), counter=len, options=Options())
        assert view is not None
        assert exactly(read(view)) == exactly(value), (text, view)


# What a short text may expand to: `read` and `restore` refuse more before it is built, `render` never asks for it.

bomb = pytest.mark.parametrize("text", BOMBS.values(), ids=BOMBS)


def peak_of(run: Callable[[], object]) -> int:
    """Return the bytes of memory that `run` takes at most."""
    tracemalloc.start()
    try:
        run()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@bomb
def test_a_text_that_stands_for_too_much_is_refused_before_it_is_built(text: str) -> None:
    def run() -> None:
        with pytest.raises(DecodeError, match="expected a result within the limits") as refusal:
            read(text)
        assert refusal.value.code == "E2003"
        assert 0 <= refusal.value.position < len(text)

    assert peak_of(run) < 2_000_000 + 60 * len(text)


@bomb
@pytest.mark.parametrize("layout", ["o{}", "p{}"])
def test_no_layout_makes_a_source_of_such_a_text(text: str, layout: str) -> None:
    inner = INDENTED if "!json4" in text else ""
    documents = f"&{inner}" * text.count("!json")
    with pytest.raises(DecodeError) as refusal:
        restore(text, f"{NOTATION} {layout.format(f'{documents}:{len(text)}')}")
    assert refusal.value.code == "E2003"


DEEP_OF_EXPANSION = json.loads("[" * 150 + "1, " * 2000 + "1" + "]" * 150)
INDENTED = describe_json(json.dumps(DEEP_OF_EXPANSION, indent=4), [DEEP_OF_EXPANSION])
INDENTED_LINES = describe_json(f"{json.dumps(DEEP_OF_EXPANSION, indent=4)}\n1", [DEEP_OF_EXPANSION, 1])
SOURCES = {
    "an indentation of many levels": ("[" * 150 + "1, " * 2000 + "1" + "]" * 150, f"o{INDENTED}:{{}}"),
    "escapes of letters": (f"a {'é' * 1000}", "o@0:{}"),
    "escapes in Python": (f"a {chr(0x202E) * 1000}", "p:{}"),
    "lines of JSON": ("[2]:\n" + "[" * 150 + "1, " * 2000 + "1" + "]" * 150 + "\n1", f"n{INDENTED_LINES}:{{}}"),
}


@pytest.mark.parametrize(("text", "form"), SOURCES.values(), ids=SOURCES)
def test_a_source_is_measured_before_it_is_written(text: str, form: str) -> None:
    layout = f"{NOTATION} {form.format(len(text))}"
    source = restore(text, layout, limits=ExpansionLimits(times=1000))
    assert len(source) > len(text)
    assert restore(text, layout, limits=ExpansionLimits(times=1000, size=len(source))) == source
    with pytest.raises(DecodeError) as refusal:
        restore(text, layout, limits=ExpansionLimits(times=1000, size=len(source) - 1))
    assert refusal.value.code == "E2003"
    assert refusal.value.position == (len(text) if form.startswith("q") else 0)


BOMBS_OF_COLUMNS = {
    "keys many times": f"{{100}} key: a {' '.join(f'c{n}==key' for n in range(1000))}\n"
    + "\n".join([f"{'y' * 1000}{n} 1" for n in range(100)])
}


@pytest.mark.parametrize("text", BOMBS_OF_COLUMNS.values(), ids=BOMBS_OF_COLUMNS)
def test_columns_that_repeat_something_are_measured_before_they_are_built(text: str) -> None:
    with pytest.raises(DecodeError) as refusal:
        read(text)
    assert refusal.value.code == "E2003"


REPETITIVE: dict[str, object] = {
    "a string in every place": ["the same words and more of them, again and again, without an end" * 9] * 400,
    "a map in every place": [{"a": ["the same words"] * 30, "b": {"c": "and more of them"}}] * 400,
    "arrays of arrays": [[["the same words"] * 12] * 12] * 12,
    "rows with a large constant": [{"n": n, "schema": {"a": ["the same words"] * 30}} for n in range(400)],
    "rows of constants": [{f"name{number}": "the same words" for number in range(40)}] * 400,
    "documents in rows": [json.dumps({"a": ["the same words"] * 30}, indent=4)] * 400,
    "deep documents": json.dumps(json.dumps(json.dumps(["the same words", 'and "quotes"'] * 30, indent=4))),
}


@pytest.mark.parametrize("value", REPETITIVE.values(), ids=REPETITIVE)
def test_no_view_is_written_that_the_default_limits_refuse(value: object) -> None:
    view = render(value, counter=len)
    assert read(view) == value
    source = json.dumps(value, indent=4)
    shown = render_text(source, counter=len)
    assert restore(shown.text, shown.layout) == source


def test_no_view_is_written_that_is_just_beyond_the_default_limits() -> None:
    """A repeated document of digits adds nearly twice its characters: its members, and its text."""
    for uses in range(24, 28):
        value = [json.dumps([1] * 1500, separators=(",", ":"))] * uses
        assert read(render(value, counter=len)) == value


@pytest.mark.parametrize("name", ["a string in every place", "rows with a large constant", "documents in rows"])
def test_a_value_of_many_repetitions_is_written_less_densely_and_not_as_json(name: str) -> None:
    value = REPETITIVE[name]
    assert 15 * len(render(value, counter=len)) < len(json.dumps(value))


def test_an_indentation_that_the_limits_do_not_restore_is_left_alone() -> None:
    value: object = [1] * 200
    for _ in range(45):
        value = [value]
    source = json.dumps(value, indent=4)
    shown = render_text(source, counter=len)
    assert shown.layout == AS_IS


PIECES = [
    "[9] (a=1) b c{(d=2) e}\n", "{9} key: (a=x) b\n", "[:(a=", "[:a (b=7): ",
    ") b: ", "&1 ", "&2 ", "*1", "*2", "[*1, *1]", "!json ", "!json4 ",
    "[", "]", "{", "}", ": ", ";", ", ", "\n", "k ", "x", "1", "-", '"y"', "1; 2; 3", "k &1 [x, x, x]\n",
    "l &2 [*1, *1, *1]\n", "m [*2, *2]\n", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "=", "é",
]  # fmt: skip


@given(pieces=st.lists(st.sampled_from(PIECES), max_size=30), times=st.integers(1, 50))
def test_whatever_is_read_is_within_its_limits(pieces: list[str], times: int) -> None:
    text = "".join(pieces)
    limits = ExpansionLimits(times=times)
    try:
        value = read(text, limits=limits)
    except DecodeError as refusal:
        assert refusal.code in ("E1001", "E2003")
        assert 0 <= refusal.position <= len(text)
        return
    assert size_of(value) <= limits.of(len(text)) + len(text)
