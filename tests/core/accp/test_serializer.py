"""Writing frames: what the vectors do not say, and every branch once."""

import sys
from collections import OrderedDict
from collections.abc import Iterator
from decimal import Decimal, localcontext
from enum import IntEnum, StrEnum
from types import MappingProxyType
from typing import Any

import pytest

from accp_core import EncodeError, Envelope, Frame, Ref, parse_frame, serialize_frame
from accp_core.accp import REMOVED, GrammarLimits, Intent, LiteralKey


def frame(intent: str = "req", operation: str = "op", sender: str = "a", **fields: Any) -> Frame:
    return Frame(sender=sender, intent=intent, operation=operation, **fields)  # type: ignore[arg-type]  # also wrong ones


def write(value: object, **options: Any) -> str:
    return serialize_frame(frame(params={"k": value}), **options)[len("@a>req:op{k:") : -1]


def refusal(value: object, **options: Any) -> str:
    return refusal_of(frame(params={"k": value}), **options)


def refusal_of(unwritable: Frame, **options: Any) -> str:
    with pytest.raises(EncodeError) as caught:
        serialize_frame(unwritable, **options)
    return caught.value.code


def test_a_whole_frame_is_written() -> None:
    whole = Frame(
        sender="a",
        intent=Intent.COMPLETE,
        operation="op",
        params={"b": [1, 1.5, None, Ref("x")], "a b": {"z": True, "y": "@c"}, LiteralKey("d"): "a b"},
        envelope=Envelope(ttl=0, msg_id="m:1", extra={"x": "y"}),
    )
    text = r'@a>done:op{b:[1,1.5,~,$x]|a_x20_b:{y:\@c,z:true}|_x64_:"a_b"}[mid:m\:1,ttl:0,x:y]'
    assert serialize_frame(whole) == text
    assert parse_frame(text, strict=True) == whole


def test_words_with_any_sign_of_ascii_between_them_are_read_as_they_were() -> None:
    texts = [f"one {chr(code)} two" for code in range(128)] + [f"one{chr(code)}two three" for code in range(128)]
    whole = frame(params={f"k{number}": text for number, text in enumerate(texts)})
    assert parse_frame(serialize_frame(whole)).params == whole.params


def test_a_frame_without_envelope_has_no_metadata_block() -> None:
    assert serialize_frame(frame()) == "@a>req:op{}"


@pytest.mark.parametrize(
    "wrong", [frame(sender="a.b"), frame(sender="a\n"), frame(operation="o-p"), frame(operation="")]
)
def test_a_name_outside_its_alphabet_is_refused(wrong: Frame) -> None:
    assert refusal_of(wrong) == "E1001"


def test_an_unknown_intent_is_refused() -> None:
    assert refusal_of(frame(intent="REQ")) == "E1002"


def test_an_intent_may_be_given_by_its_code() -> None:
    assert serialize_frame(frame(intent="done")) == "@a>done:op{}"


def test_strings_stand_raw_or_in_ascii() -> None:
    assert write("né e") == '"né_e"'
    assert write("né e", ascii_only=True) == '"n%C3%A9_e"'


def test_a_reference_keeps_to_its_alphabet() -> None:
    assert write(Ref("cold.x_1")) == "$cold.x_1"
    assert refusal(Ref("a b")) == "E1001"


class Colour(StrEnum):
    RED = "red"


class Size(IntEnum):
    BIG = 7


@pytest.mark.parametrize(
    ("value", "wire"),
    [
        (Colour.RED, "red"),
        (Size.BIG, "7"),
        ((1, 2), "[1,2]"),
        (OrderedDict(b=1, a=2), "{a:2,b:1}"),
        (MappingProxyType({"a": 1}), "{a:1}"),
        ({Colour.RED: 1}, "{red:1}"),
        (
            [[[[{Colour.RED: (Size.BIG, MappingProxyType({"b": Colour.RED}))}]]]],
            r'[[[[=\{"red"\:\[7\,\{"b"\:"red"\}\]\}]]]]',
        ),
    ],
)
def test_a_derived_type_is_written_as_the_type_it_derives_from(value: object, wire: str) -> None:
    assert write(value) == wire


@pytest.mark.parametrize("value", [object(), b"x", {1}, 1j, REMOVED, ..., {"a": [b"x"]}, [[[[[b"x"]]]]]])
def test_a_value_of_another_type_is_refused(value: object) -> None:
    assert refusal(value) == "E1004"


@pytest.mark.parametrize("key", [1, None, ("a",), LiteralKey("d")])
def test_a_key_that_is_no_string_is_refused(key: object) -> None:
    assert refusal({"a": 1, key: 2}) == "E1004"
    assert refusal([[[[{key: 2}]]]]) == "E1004"
    assert refusal_of(frame(envelope=Envelope(extra={key: "x"}))) == "E1004"  # type: ignore[dict-item]


def test_a_parameter_key_that_is_no_string_is_refused() -> None:
    assert refusal_of(frame(params={1: 2})) == "E1004"


def test_a_literal_key_that_had_to_be_escaped_is_not_escaped_twice() -> None:
    params = {LiteralKey("a b"): 1, LiteralKey(""): 2, LiteralKey("_"): 3}
    assert serialize_frame(frame(params=params)) == "@a>req:op{a_x20_b:1|_x_:2|_x5f_:3}"


def test_null_and_removal_differ_in_a_delta() -> None:
    delta = {"b": None, "a": REMOVED, "c": 1}
    text = serialize_frame(frame("sync", "state", params={"delta": delta}))
    assert text == "@a>sync:state{delta:{a:~,b:=null,c:1}}"


def test_a_delta_that_is_no_map_is_a_value() -> None:
    assert serialize_frame(frame("sync", "state", params={"delta": None})) == "@a>sync:state{delta:~}"


@pytest.mark.parametrize(
    ("value", "wire"),
    [
        (142.0, "142.0"),
        (-0.0, "-0.0"),
        (1e16, "10000000000000000.0"),
        (1e-6, "0.000001"),
        (1e-7, "=0.0000001"),
        (5e-324, "=0." + "0" * 323 + "5"),
        (Decimal("142.500"), "142.5"),
        (Decimal("1E+3"), "1000.0"),
        (Decimal("0E+5"), "0.0"),
        (Decimal("-0.000"), "-0.0"),
        (Decimal("0.12345670"), "=0.1234567"),
    ],
)
def test_a_decimal_is_written_without_exponent_and_spare_zeros(value: object, wire: str) -> None:
    assert write(value) == wire


def test_rounding_does_not_depend_on_the_callers_context() -> None:
    with localcontext() as context:
        context.prec = 3
        assert write(Decimal("123456.7654321"), decimal="round6") == "123456.765432"
        assert write(Decimal("123456.7654321")) == "=123456.7654321"


@pytest.mark.parametrize("value", [float("nan"), float("-inf"), Decimal("NaN"), Decimal("sNaN"), Decimal("Infinity")])
def test_a_number_that_is_not_finite_is_refused(value: object) -> None:
    assert refusal(value) == "E1004"
    assert refusal([[[[[value]]]]]) == "E1004"


@pytest.mark.parametrize("value", ["\ud800\udc00", {"\udbff\udfff": 1}])
def test_two_surrogates_side_by_side_survive_where_no_json_joins_them(value: object) -> None:
    assert parse_frame(f"@a>req:op{{k:{write(value)}}}").params["k"] == value
    assert refusal([[[[[value]]]]]) == "E1004"


@pytest.mark.parametrize("value", ["", "a b", "a\n", "é\u2028", 7, None])
def test_a_field_that_cannot_stand_in_the_envelope_is_refused(value: Any) -> None:
    assert refusal_of(frame(envelope=Envelope(extra={"x": value}))) == "E1004"


@pytest.mark.parametrize("value", [-1, True, 1.0, "1"])
def test_a_sequence_is_a_whole_number(value: Any) -> None:
    assert refusal_of(frame(envelope=Envelope(sequence=value))) == "E1004"


@pytest.mark.parametrize("name", ["mid", "msg_id", "ttl"])
def test_a_known_field_is_not_an_unknown_one(name: str) -> None:
    assert refusal_of(frame(envelope=Envelope(extra={name: "1"}))) == "E1004"


def test_an_envelope_beyond_ascii_is_refused_in_ascii() -> None:
    foreign = frame(envelope=Envelope(session_id="é"))
    assert serialize_frame(foreign) == "@a>req:op{}[sid:é]"
    assert refusal_of(foreign, ascii_only=True) == "E1004"


class TestLimits:
    def test_bytes_are_counted_and_not_characters(self) -> None:
        assert write("é", limits=GrammarLimits(frame_bytes=15)) == "é"
        assert refusal("é", limits=GrammarLimits(frame_bytes=14)) == "E1001"

    @pytest.mark.parametrize("value", [1234, -1234, 1.234, Decimal("1E+9"), Decimal("1E-9"), Decimal(1234)])
    def test_digits_are_counted(self, value: object) -> None:
        assert refusal(value, limits=GrammarLimits(digits=3)) == "E1001"

    def test_a_huge_integer_is_refused_without_converting_it(self) -> None:
        assert refusal(1 << 10_000_000) == "E1001"

    def test_an_exponent_is_refused_before_its_zeros_are_written(self) -> None:
        assert refusal(Decimal("1E+999999999")) == refusal(Decimal("1E-999999999")) == "E1001"
        assert refusal(Decimal("1E+999999999"), decimal="round6") == "E1001"

    def test_what_is_deeper_than_the_limit_is_a_json_literal(self) -> None:
        assert write([[1], {}, []], limits=GrammarLimits(depth=2)) == r"[=\[1\],{},[]]"
        assert write([None, True], limits=GrammarLimits(depth=1)) == r"=\[null\,true\]"
        assert write({"a": {"b": 1}}, limits=GrammarLimits(depth=1)) == r'=\{"a"\:\{"b"\:1\}\}'

    def test_json_depth_is_counted(self) -> None:
        assert write([[1]], limits=GrammarLimits(depth=1, json_depth=2)) == r"=\[\[1\]\]"
        assert refusal([[1]], limits=GrammarLimits(depth=1, json_depth=1)) == "E1001"
        assert refusal({"a": {}}, limits=GrammarLimits(depth=1, json_depth=1)) == "E1001"

    def test_a_value_inside_itself_is_refused(self) -> None:
        loop: list[object] = []
        loop.append(loop)
        assert refusal(loop) == "E1001"

    def test_members_are_counted_wherever_they_stand(self) -> None:
        many = frame(params={"k": [1, 2], "l": {"a": 1}}, envelope=Envelope(msg_id="m"))
        assert serialize_frame(many, limits=GrammarLimits(members=6))
        assert refusal_of(many, limits=GrammarLimits(members=5)) == "E1001"

    def test_the_characters_of_a_msg_id_are_counted(self) -> None:
        named = frame(envelope=Envelope(msg_id="a:b"))
        assert serialize_frame(named, limits=GrammarLimits(msg_id_chars=3))
        assert refusal_of(named, limits=GrammarLimits(msg_id_chars=2)) == "E1001"


@pytest.fixture
def few_digits() -> Iterator[None]:
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(640)
    yield
    sys.set_int_max_str_digits(before)


@pytest.mark.usefixtures("few_digits")
def test_an_interpreter_that_converts_fewer_digits_refuses_them() -> None:
    assert refusal(10**640) == "E1001"


def test_maps_with_the_same_keys_are_each_written_with_their_own_values() -> None:
    rows = [{"b": 1, "a c": 2}, {"b": 3, "a c": 4}, {"a c": 5, "b": 6}]
    frame = Frame(sender="a", intent=Intent.REQUEST, operation="op", params={"rows": rows})
    text = "@a>req:op{rows:[{a_x20_c:2,b:1},{a_x20_c:4,b:3},{a_x20_c:5,b:6}]}"
    assert serialize_frame(frame) == text
    assert parse_frame(text) == frame
