"""Which strings may stand without quotes, and how the others are written."""

import pytest

from accp_core.view.notation import (
    CELL,
    INLINE,
    LINE,
    NESTED_CELL,
    NESTED_LAST,
    NESTED_WORD,
    WORD,
    PlainTextRule,
)

PLACES = {
    "line": LINE,
    "word": WORD,
    "cell": CELL,
    "nested last": NESTED_LAST,
    "nested word": NESTED_WORD,
    "nested cell": NESTED_CELL,
    "inline": INLINE,
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
    rule = PlainTextRule("|", first="?", comma=comma)
    assert all(map(rule.allows, ["aXb", 'a"b', "a,b", "a?", ":x"]))
    assert not any(map(rule.allows, ["a|b", "?a", " a", 'a"""b']))
    assert bool(rule.allows("a, b")) is not comma


def test_a_rule_without_signs_of_its_own_allows_all_that_a_line_may_hold() -> None:
    assert all(map(PlainTextRule().allows, ["Xa", "aXb", "a, b"]))
