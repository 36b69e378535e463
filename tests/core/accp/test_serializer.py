"""Writing frames: what the vectors do not say, and every branch once."""

import sys
from collections import OrderedDict
from collections.abc import Iterator
from decimal import Decimal
from enum import IntEnum, StrEnum
from types import MappingProxyType
from typing import Any

import pytest

from accp_core import EncodeError, Envelope, Frame, parse_frame, serialize_frame
from accp_core.accp import GrammarLimits, LiteralKey


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


def test_an_unknown_intent_is_refused() -> None:
    assert refusal_of(frame(intent="REQ")) == "E1002"


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


@pytest.mark.parametrize("key", [1, None, ("a",), LiteralKey("d")])
def test_a_key_that_is_no_string_is_refused(key: object) -> None:
    assert refusal({"a": 1, key: 2}) == "E1004"
    assert refusal([[[[{key: 2}]]]]) == "E1004"
    assert refusal_of(frame(envelope=Envelope(extra={key: "x"}))) == "E1004"  # type: ignore[dict-item]


def test_a_parameter_key_that_is_no_string_is_refused() -> None:
    assert refusal_of(frame(params={1: 2})) == "E1004"


@pytest.mark.parametrize("value", ["\ud800\udc00", {"\udbff\udfff": 1}])
def test_two_surrogates_side_by_side_survive_where_no_json_joins_them(value: object) -> None:
    assert parse_frame(f"@a>req:op{{k:{write(value)}}}").params["k"] == value
    assert refusal([[[[[value]]]]]) == "E1004"


class TestLimits:
    def test_bytes_are_counted_and_not_characters(self) -> None:
        assert write("é", limits=GrammarLimits(frame_bytes=15)) == "é"
        assert refusal("é", limits=GrammarLimits(frame_bytes=14)) == "E2003"

    @pytest.mark.parametrize("value", [1234, -1234, 1.234, Decimal("1E+9"), Decimal("1E-9"), Decimal(1234)])
    def test_digits_are_counted(self, value: object) -> None:
        assert refusal(value, limits=GrammarLimits(digits=3)) == "E1001"

    def test_a_huge_integer_is_refused_without_converting_it(self) -> None:
        assert refusal(1 << 10_000_000) == "E1001"

    def test_an_exponent_is_refused_before_its_zeros_are_written(self) -> None:
        assert refusal(Decimal("1E+999999999")) == refusal(Decimal("1E-999999999")) == "E1001"
        assert refusal(Decimal("1E+999999999"), decimal="round6") == "E1001"

    assert refusal(Decimal("0.1234567"), decimal="refuse") == "E1004"

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
