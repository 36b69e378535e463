"""The words of a frame and the ways between them and Python values."""

import sys
import unicodedata

import pytest

from accp_core.accp.grammar import (
    ATOM,
    DEFAULT_LIMITS,
    HIDDEN,
    HIDDEN_IN_ASCII,
    LOOKALIKE,
    GrammarLimits,
    read_json_literal,
)


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


@pytest.mark.parametrize(
    "source",
    ["", "{", "NaN", "-Infinity", "[1e999]", "[-1e999]", '{"a":1,"a":1}', "01", "1" * 1001, "1e1001", "]]", "[1]]"],
)
def test_what_is_not_json_is_refused(source: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        read_json_literal(source, float, DEFAULT_LIMITS)


def test_json_has_a_depth_of_its_own() -> None:
    assert read_json_literal("[" * 64 + "]" * 64, float, DEFAULT_LIMITS)
    with pytest.raises(ValueError, match="64 deep"):
        read_json_literal("[" * 65 + "]" * 65, float, DEFAULT_LIMITS)


@pytest.mark.parametrize("depth", [0, 101])
def test_a_depth_that_recursion_cannot_bear_is_refused(depth: int) -> None:
    with pytest.raises(ValueError, match="depth"):
        GrammarLimits(depth=depth)
    with pytest.raises(ValueError, match="depth"):
        GrammarLimits(json_depth=depth)
