"""Reading frames: what the vectors do not say, and every branch once."""

import sys
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from accp_core import DecodeError, Envelope, Frame, Ref, parse_frame, serialize_frame
from accp_core.accp import REMOVED, GrammarLimits, Intent, LiteralKey


def refusal(text: str, **options: Any) -> tuple[str, int]:
    with pytest.raises(DecodeError) as caught:
        parse_frame(text, **options)
    return caught.value.code, caught.value.position


def read(value: str, **options: Any) -> object:
    return parse_frame(f"@a>req:op{{k:{value}}}", **options).params["k"]


def test_a_whole_frame_is_read() -> None:
    text = r"@a>done:op{k:1|l:[1.5,true,~,$warm.x,{b:\@c}]|m:\"|n:" + '"a_b"|o:=null}[mid:m1,seq:2,x:y]'
    text = text.replace(r"|m:\"", "")
    assert parse_frame(text, strict=True) == Frame(
        sender="a",
        intent=Intent.COMPLETE,
        operation="op",
        params={"k": 1, "l": [1.5, True, None, Ref("warm.x"), {"b": "@c"}], "n": "a b", "o": None},
        envelope=Envelope(msg_id="m1", sequence=2, extra={"x": "y"}),
    )


def test_a_frame_without_metadata_has_an_empty_envelope() -> None:
    assert parse_frame("@a>req:op{}").envelope == Envelope()


@pytest.mark.parametrize(
    "text", ["", "a", "@>req:op{}", "@a>req:op", "@a>req:op{}x", "@a>req:op{}[]", "@a>req:op{k:a b}"]
)
def test_a_text_that_is_no_frame_is_refused(text: str) -> None:
    assert refusal(text)[0] == "E1001"


def test_a_refusal_keeps_the_text_and_says_the_place() -> None:
    with pytest.raises(DecodeError, match=r"E1001: expected '\|' or '}', at position 13") as caught:
        parse_frame("@a>req:op{k:a>}")
    assert caught.value.text == "@a>req:op{k:a>}"


def test_an_unknown_intent_has_a_code_of_its_own() -> None:
    assert refusal("@a>do:op{}") == ("E1002", 3)


def test_keys_may_not_repeat_or_escape_beyond_unicode() -> None:
    assert refusal("@a>req:op{k:1|k:2}") == ("E1001", 14)
    assert refusal("@a>req:op{_x110000_:1}") == ("E1001", 10)


def test_a_key_that_was_escaped_without_need_stands_for_itself() -> None:
    assert parse_frame("@a>req:op{_x64_:1|d:2|a_x20_b:3}").params == {LiteralKey("d"): 1, "d": 2, "a b": 3}


def test_the_members_of_a_delta_are_removed_by_a_tilde() -> None:
    text = "@a>sync:state{delta:{a:~,b:=null,c:null,d:1}}"
    assert parse_frame(text).params["delta"] == {"a": REMOVED, "b": None, "c": REMOVED, "d": 1}
    assert parse_frame(text, strict=True).params["delta"] == {"a": REMOVED, "b": None, "c": "null", "d": 1}


def test_mentions_and_pairs_are_read_unless_strict() -> None:
    assert read("[@a:b,c:@d]") == ["@a:b", {"c": "@d"}]
    assert refusal("@a>req:op{k:@b}", strict=True) == ("E1001", 12)
    assert refusal("@a>req:op{k:[b:1]}", strict=True) == ("E1001", 14)


def test_amounts_are_references_unless_compatible() -> None:
    assert read("$42.30") == Ref("42.30")
    assert read("$42.30", compat=True) == "$42.30"
    assert read("$x", compat=True) == Ref("x")
    assert read("$007", compat=True) == Ref("007")


def test_strict_reading_knows_no_compatibility() -> None:
    assert read("$42.30", compat=True, strict=True) == Ref("42.30")


def test_empty_arrays_and_maps_are_read() -> None:
    assert read("[[],{}]") == [[], {}]


@pytest.mark.parametrize(
    ("value", "position"),
    [
        ("[1,]", 15),
        ("[1", 14),
        ("{a}", 14),
        ("", 12),
        (r"a\n", 13),
        ('"a', 14),
        ('"%FF"', 12),
        ("=NaN", 12),
        ("01", 12),
    ],
)
def test_a_malformed_value_is_refused_where_it_stops(value: str, position: int) -> None:
    assert refusal(f"@a>req:op{{k:{value}}}") == ("E1001", position)


def test_an_escape_makes_a_string() -> None:
    assert read(r"4\,2") == "4,2"


def test_decimals_are_floats_unless_decimals_are_wanted() -> None:
    assert read("[1.50,=1.5]") == [1.5, 1.5]
    assert str(read("[1.50,=1.5]", decimal_type=Decimal)) == "[Decimal('1.50'), Decimal('1.5')]"
    assert str(read("-0.0")) == "-0.0"


def test_a_decimal_beyond_float64_can_still_be_a_decimal() -> None:
    beyond = "9" * 400 + ".5"
    assert refusal(f"@a>req:op{{k:{beyond}}}") == ("E1004", 12)
    assert read(beyond, decimal_type=Decimal) == Decimal(beyond)


def test_the_types_of_the_envelope_are_fixed() -> None:
    assert parse_frame("@a>req:op{}[mid:007]").envelope.msg_id == "007"
    assert refusal("@a>req:op{}[seq:007]") == ("E1004", 16)


@pytest.fixture
def few_digits() -> Iterator[None]:
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(640)
    yield
    sys.set_int_max_str_digits(before)


@pytest.mark.usefixtures("few_digits")
def test_an_interpreter_that_converts_fewer_digits_refuses_them() -> None:
    assert refusal("@a>req:op{k:" + "9" * 641 + "}") == ("E1001", 12)
    assert refusal("@a>req:op{k:=" + "9" * 641 + "}") == ("E1001", 12)
    assert refusal("@a>req:op{}[seq:" + "9" * 641 + "]") == ("E1001", 16)


class TestLimits:
    def test_bytes_are_counted_and_not_characters(self) -> None:
        text = "@a>req:op{k:é}"
        assert parse_frame(text, limits=GrammarLimits(frame_bytes=15)).params == {"k": "é"}
        assert refusal(text, limits=GrammarLimits(frame_bytes=14)) == ("E1001", 0)

    def test_a_frame_may_be_a_mebibyte(self) -> None:
        room = (1 << 20) - len("@a>req:op{k:}")
        assert read("a" * room) == "a" * room
        assert refusal("@a>req:op{k:" + "a" * (room + 1) + "}") == ("E1001", 0)

    def test_digits_are_counted(self) -> None:
        assert read("-1.23", limits=GrammarLimits(digits=3)) == -1.23
        assert refusal("@a>req:op{k:1.234}", limits=GrammarLimits(digits=3)) == ("E1001", 12)
        assert refusal("@a>req:op{k:=1234}", limits=GrammarLimits(digits=3)) == ("E1001", 12)

    def test_depth_is_counted(self) -> None:
        assert read("[{a:1}]", limits=GrammarLimits(depth=2)) == [{"a": 1}]
        assert refusal("@a>req:op{k:[{a:[]}]}", limits=GrammarLimits(depth=2)) == ("E1001", 16)
        assert refusal("@a>req:op{k:[{a:{}}]}", limits=GrammarLimits(depth=2)) == ("E1001", 16)
        assert refusal("@a>req:op{k:[[a:1]]}", limits=GrammarLimits(depth=2)) == ("E1001", 14)

    def test_json_depth_is_counted(self) -> None:
        literal = r"=\[\[\]\]"
        assert read(literal, limits=GrammarLimits(json_depth=2)) == [[]]
        assert refusal(f"@a>req:op{{k:{literal}}}", limits=GrammarLimits(json_depth=1)) == ("E1001", 12)

    def test_members_are_counted_wherever_they_stand(self) -> None:
        text = "@a>req:op{k:[1,a:2]|l:{b:3}}[mid:c]"
        assert parse_frame(text, limits=GrammarLimits(members=7)).params["l"] == {"b": 3}
        assert refusal(text, limits=GrammarLimits(members=6)) == ("E1001", text.index("mid"))
        assert refusal(text, limits=GrammarLimits(members=3)) == ("E1001", text.index("a:2"))
        assert refusal(text, limits=GrammarLimits(members=1)) == ("E1001", text.index("1,a"))

    def test_the_characters_of_a_msg_id_are_counted(self) -> None:
        assert parse_frame(r"@a>req:op{}[mid:a\:b]", limits=GrammarLimits(msg_id_chars=3)).envelope.msg_id == "a:b"
        assert refusal(r"@a>req:op{}[mid:a\:b]", limits=GrammarLimits(msg_id_chars=2)) == ("E1001", 16)


LARGE = 500_000


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("9" * 10_000_000, 0),
        ("@a>req:op{k:" + "9" * LARGE + "}", 12),
        ("@a>req:op{k:0." + "0" * LARGE + "}", 12),
        ("@a>req:op{}[seq:" + "9" * LARGE + "]", 16),
        ("@a>req:op{k:" + "[" * LARGE, 17),
        ("@a>req:op{k:" + "{a:" * 300_000, 27),
        ("@a>req:op{k:[" + "a:" * LARGE + "1]}", 16),
        ("@a>req:op{k:=" + r"\[" * LARGE + "}", 12),
        ("@a>req:op{k:=" + r"\{" * LARGE + r"\}" * 10 + "}", 12),
        ("@a>req:op{k:=" + r'"\\' * 200_000 + "}", 12),
        ("@a>req:op{k:=" + "9" * LARGE + "}", 12),
        ("@a>req:op{k:=1e" + "9" * LARGE + "}", 12),
        ("@a>req:op{k:[" + "1," * LARGE + "1]}", 20_011),
        ('@a>req:op{k:"' + "%C3" * 300_000 + '"}', 12),
        ('@a>req:op{k:"' + "a" * LARGE, LARGE + 13),
        ("@a>req:op{" + "_x" * LARGE + ":~x}", 1_000_012),
        ("@" + "a" * LARGE, LARGE + 1),
        (r"@a>req:op{k:" + r"\," * LARGE, 1_000_012),
    ],
    ids=lambda value: value[:24] if isinstance(value, str) else "",
)
def test_a_hostile_text_is_refused(text: str, position: int) -> None:
    assert refusal(text) == ("E1001", position)


# "to avoid precision loss" (ACCP 10.3): a decimal of 3.1.1 may have more digits than a float holds.
@pytest.mark.parametrize(
    "word",
    [
        "12345678901234.123456",
        "-0.123456789012345678",
        "=0.1234567890123456789012345678901",
        "=1.23456789e-320",
        "=1e-400",
    ],
)
def test_a_decimal_whose_digits_a_float_does_not_hold_comes_back_with_all_of_them(word: str) -> None:
    for text in (word, f"[{word}]", f"{{k:{word}}}"):
        found = read(text)
        while not isinstance(found, Decimal):
            (found,) = found.values() if isinstance(found, dict) else found
        assert found == Decimal(word.strip("="))
    frame = parse_frame(f"@a>req:op{{k:{word}}}")
    assert parse_frame(serialize_frame(frame)) == frame


@pytest.mark.parametrize(
    "word", ["0.1", "-99999999999999.5", "0.30000000000000004", "0.10000000000000000000", "=2.5e+10"]
)
def test_a_decimal_that_a_float_holds_is_a_float(word: str) -> None:
    found = read(word)
    assert (type(found), found) == (float, float(word.strip("=")))
