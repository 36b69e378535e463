"""The words of a frame and the ways between them and Python values."""

import re
import sys
import unicodedata
from decimal import Decimal

import pytest

from accp_core.accp.grammar import (
    ATOM,
    DEFAULT_LIMITS,
    HIDDEN,
    HIDDEN_IN_ASCII,
    LOOKALIKE,
    GrammarLimits,
    escape,
    quote,
    read_json_literal,
    read_number,
    unescape,
    unescape_key,
    unquote,
)

DELIMITERS = "@>:{}[]|$,~\\"


def test_exactly_the_twelve_delimiters_are_escaped() -> None:
    visible = "".join(map(chr, range(0x21, 0x7F)))
    assert [character for character in visible if escape(character) != character] == sorted(DELIMITERS)
    assert unescape(escape(visible)) == visible


@pytest.mark.parametrize(("text", "end"), [("a,b", 1), (r"a\,b}", 4), (r"a\n", 1), ("", 0), ("\\", 0), (r"\\\\", 4)])
def test_a_string_ends_at_the_first_unescaped_delimiter(text: str, end: int) -> None:
    found = ATOM.match(text)
    assert found is not None
    assert found.end() == end


@pytest.mark.parametrize("text", ["", '"', "=", '"a', "=a", "true", "false", "null", "0", "-7", "007", "-00.50"])
def test_a_string_that_would_be_read_as_something_else_is_a_lookalike(text: str) -> None:
    assert LOOKALIKE.match(text)


@pytest.mark.parametrize("text", ["a", "True", "nullx", "1e5", "+1", ".5", "5.", "-", "1.2.3", "a=", "٣", "42\n"])
def test_any_other_string_is_no_lookalike(text: str) -> None:
    assert not LOOKALIKE.match(text)


def test_the_pinned_characters_agree_with_the_interpreter_on_all_that_are_assigned() -> None:
    for point in range(0xA1, sys.maxunicode + 1):
        character = chr(point)
        if unicodedata.category(character) != "Cn":
            assert bool(HIDDEN.match(character)) is not character.isprintable(), hex(point)


def test_noncharacters_are_hidden() -> None:
    noncharacters = [
        *range(0xFDD0, 0xFDF0),
        *(plane * 0x10000 + low for plane in range(17) for low in (0xFFFE, 0xFFFF)),
    ]
    assert all(HIDDEN.match(chr(point)) for point in noncharacters)


def test_only_visible_ascii_is_shown_in_ascii() -> None:
    shown = [point for point in range(0x3000) if not HIDDEN_IN_ASCII.match(chr(point))]
    assert shown == list(range(0x21, 0x7F))


@pytest.mark.parametrize("hidden", [HIDDEN, HIDDEN_IN_ASCII])
@pytest.mark.parametrize("text", ["", "a b", '_%"', DELIMITERS, "é\n\x00", "\ud800", "\U0001f600%41_"])
def test_a_quoted_form_is_read_as_what_was_quoted(text: str, hidden: re.Pattern[str]) -> None:
    quoted = quote(text, hidden)
    assert unquote(quoted[1:-1]) == text


def test_percent_encoded_bytes_that_are_not_utf_8_are_refused() -> None:
    with pytest.raises(UnicodeDecodeError):
        unquote("%FF")


def test_an_escape_beyond_unicode_is_refused() -> None:
    with pytest.raises(ValueError, match="range"):
        unescape_key("_x110000_")


@pytest.mark.parametrize(
    ("word", "number"), [("42", 42), ("-7", -7), ("1.5", 1.5), ("1e2", 100.0), ("1E-2", 0.01), ("-0.0", -0.0)]
)
def test_a_point_or_an_exponent_makes_a_decimal(word: str, number: float) -> None:
    read = read_number(word, float, DEFAULT_LIMITS)
    assert (type(read), read) == (type(number), number)
    exact = read_number(word, Decimal, DEFAULT_LIMITS)
    assert (type(exact), exact) == ((int, number) if isinstance(number, int) else (Decimal, Decimal(word)))


@pytest.mark.parametrize("word", ["9" * 9, "-" + "9" * 9, "1234.56789", "1e9", "1e-9", "0e-99999999"])
def test_a_long_number_is_refused_however_it_is_written(word: str) -> None:
    with pytest.raises(ValueError, match="at most 8 digits"):
        read_number(word, Decimal, GrammarLimits(digits=8))


def test_a_number_may_have_all_the_digits_that_are_allowed() -> None:
    assert read_number("9" * 1000, float, DEFAULT_LIMITS) == 10**1000 - 1


@pytest.mark.parametrize(
    "source",
    [
        "",
        "{",
        "NaN",
        "-Infinity",
        "[1e999]",
        "[-1e999]",
        '{"a":1,"a":1}',
        "01",
        "1" * 1001,
        "1e1001",
        "]]",
        "[1]]",
    ],
)
def test_what_is_not_json_is_refused(source: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        read_json_literal(source, float, DEFAULT_LIMITS)


def test_json_has_a_depth_of_its_own() -> None:
    assert read_json_literal("[" * 64 + "]" * 64, float, DEFAULT_LIMITS)
    with pytest.raises(ValueError, match="64 deep"):
        read_json_literal("[" * 65 + "]" * 65, float, DEFAULT_LIMITS)


def test_brackets_inside_json_strings_do_not_count() -> None:
    brackets = "[{" * 99
    assert read_json_literal(f'["{brackets}","\\"["]', float, DEFAULT_LIMITS) == [brackets, '"[']


def test_json_decimals_are_of_the_type_that_was_asked_for() -> None:
    assert read_json_literal('{"a":1.50,"b":2}', Decimal, DEFAULT_LIMITS) == {"a": Decimal("1.50"), "b": 2}


@pytest.mark.parametrize("depth", [0, 101])
def test_a_depth_that_recursion_cannot_bear_is_refused(depth: int) -> None:
    with pytest.raises(ValueError, match="depth"):
        GrammarLimits(depth=depth)
    with pytest.raises(ValueError, match="depth"):
        GrammarLimits(json_depth=depth)
