"""Which strings may stand without quotes, and how the others are written."""

import json

import pytest

from accp_core.packing.tree import Derived
from accp_core.view.notation import (
    CELL,
    INLINE,
    LINE,
    NESTED_CELL,
    NESTED_LAST,
    NESTED_WORD,
    WORD,
    PlainTextRule,
    is_plain_key,
    quote,
    read_derived,
    write_derived,
    write_inline_key,
    write_key,
)
from accp_core.view.read_value import read
from accp_core.view.render_value import render
from accp_core.view.write import write_view

PLACES = {
    "line": LINE,
    "word": WORD,
    "cell": CELL,
    "nested last": NESTED_LAST,
    "nested word": NESTED_WORD,
    "nested cell": NESTED_CELL,
    "inline": INLINE,
}
EVERYWHERE = [
    "a",
    "中文",
    "-x",
    "+1",
    "1.2.3",
    "0x1f",
    "nullable",
    "Trueness",
    "a:b",
    "x=1",
    "a?",
    'a"b',
    "1e",
    ".5",
    "\xa0x",
    "\u2028",
    "\x85",
    "#",
]
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


@pytest.mark.parametrize("text", EVERYWHERE, ids=repr)
def test_a_plain_text_is_plain_in_every_place(text: str) -> None:
    assert [name for name, plain in PLACES.items() if not plain.allows(text)] == []


@pytest.mark.parametrize("text", NOWHERE, ids=repr)
def test_what_could_be_taken_for_another_thing_is_plain_in_no_place(text: str) -> None:
    if text != "!json":
        assert [name for name, plain in PLACES.items() if plain.allows(text)] == []


@pytest.mark.parametrize(("text", "places"), SOMEWHERE.items(), ids=map(repr, SOMEWHERE))
def test_a_sign_that_ends_a_text_is_plain_elsewhere(text: str, places: set[str]) -> None:
    assert {name for name, plain in PLACES.items() if plain.allows(text)} == places


@pytest.mark.parametrize("comma", [True, False])
def test_a_rule_is_written_for_the_signs_of_its_place(comma: bool) -> None:
    rule = PlainTextRule("|", first="?", comma=comma)
    assert all(map(rule.allows, ["aXb", 'a"b', "a,b", "a?", ":x"]))
    assert not any(map(rule.allows, ["a|b", "?a", " a", 'a"""b']))
    assert bool(rule.allows("a, b")) is not comma


def test_a_rule_without_signs_of_its_own_allows_all_that_a_line_may_hold() -> None:
    assert all(map(PlainTextRule().allows, ["Xa", "aXb", "a, b"]))


@pytest.mark.parametrize("plain", PLACES.values(), ids=PLACES)
def test_many_texts_fit_if_each_of_them_does(plain: PlainTextRule) -> None:
    texts = [*EVERYWHERE, *NOWHERE, *SOMEWHERE]
    fitting = [text for text in texts if plain.allows(text)]
    assert plain.allows_all(fitting)
    for text in texts:
        for mixed in ([text], [text, "a"], ["a", text], ["a", text, "b"]):
            assert bool(plain.allows_all(mixed)) == bool(plain.allows(text))


@pytest.mark.parametrize(
    "key",
    ["a-b", "a_b", "a/b", "$ref", "@type", "été", "1", "true", "a!", "a&b"],
)
def test_a_key_needs_no_quotes(key: str) -> None:
    assert is_plain_key(key)
    assert write_key(key) == key


@pytest.mark.parametrize(
    "key",
    [
        "",
        "a b",
        "-",
        "&a",
        "a:",
        "a;b",
        "a?",
        'a"',
        "a]",
        "a}",
        "\n",
        "\x7f",
        "\ud800",
        "a\xa0b",
    ],
)
def test_a_key_with_a_blank_or_a_sign_is_quoted(key: str) -> None:
    assert not is_plain_key(key)
    assert json.loads(write_key(key)) == key


@pytest.mark.parametrize("key", ["og:title", "a:b:c", "a::b", "null:x", "xml:lang/en"])
def test_a_key_with_a_colon_inside_is_plain_but_in_a_map_of_one_line(key: str) -> None:
    assert write_key(key) == key
    assert write_inline_key(key) == quote(key)
    assert write_inline_key(key.replace(":", "-")) == key.replace(":", "-")


@pytest.mark.parametrize(
    ("value", "view"),
    [
        ({"og:title": "A house", "og:type": "website", "a:": 1}, 'og:title A house\nog:type website\n"a:" 1'),
        ([{"k8s:id": n, "c:d": "e"} for n in (7, 8)], "[2] k8s:id (c:d=e)\n7\n8"),
        ({"k:1": {"a:b": 1, "c": 2}, "k:2": {"a:b": 3, "c": 4}}, "{2} key: a:b c\nk:1 1 2\nk:2 3 4"),
        ({"x": {"a:b": None, "c": 2}}, 'x {"a:b" null, c 2}'),
        ([{"l": [{"u:v": 1, "w": 2}, {"u:v": 3, "w": 4}]}, {"l": []}], "[2] l[u:v w]\n[1 2;3 4]\n[]"),
    ],
)
def test_keys_with_colons_come_back_from_pairs_headers_and_rows(value: object, view: str) -> None:
    assert write_view(value) == view
    assert read(view) == value


@pytest.mark.parametrize("text", ["", "é😀", 'a"b\\c', "\n\t\x00", "\ud800", "é\udc00"])
def test_a_quoted_text_is_a_json_string(text: str) -> None:
    assert json.loads(quote(text)) == text


def test_a_quoted_text_is_raw_unless_a_surrogate_is_in_it() -> None:
    assert quote("é") == '"é"'
    assert quote("é\ud800") == '"\\u00e9\\ud800"'


@pytest.mark.parametrize(
    ("before", "name", "behind", "text"),
    [
        ("", "url", "/comments", "${url}/comments"),
        ("https://", "login", ".example.org", "https://${login}.example.org"),
        ("", "url", "", "${url}"),
        ("x/", "url", "s", "x/${url}s"),
        ("", "url", "2", "${url}2"),
        ("", "url", "_2", "${url}_2"),
        ("", "html-url", "/x", "${html-url}/x"),
        ("", "a.b", "", "${a.b}"),
        ("", "2nd", "", "${2nd}"),
        ("", "été", "/x", "${été}/x"),
        ("", "html-url", "x", "${html-url}x"),
    ],
)
def test_an_address_names_the_value_in_it_in_braces(before: str, name: str, behind: str, text: str) -> None:
    assert write_derived(Derived(before, name, behind)) == text
    assert read_derived(text) == Derived(before, name, behind)


@pytest.mark.parametrize("name", ["url", "html-url", "a.b", "2nd"])
@pytest.mark.parametrize("behind", ["/comments", "s", "2"])
def test_an_address_in_a_map_comes_back_whatever_the_name_in_it(name: str, behind: str) -> None:
    base = "https://api.example.org/repos/octo/hello/issues/1"
    value = {name: base, "other": f"{base}{behind}", "n": 1}
    view = render(value, counter=len)
    assert "\nother=$" in view
    assert read(view) == value
