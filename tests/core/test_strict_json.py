"""The one strict JSON reader, and the one writer without blanks."""

import json
import sys
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accp_core import EncodeError
from accp_core.strict_json import compact_json, finite_float, is_utf8, read_json, strict_decoder
from tests.core.exactly import exactly
from tests.properties.json_values import documents, signs, values
from tests.properties.strategies import joins

# Reading


@given(documents(values))
def test_valid_json_is_read_as_python_reads_it(text: str) -> None:
    value_by_value = strict_decoder(lets_others_run=True)(text)
    assert exactly(read_json(text)) == exactly(value_by_value) == exactly(json.loads(text))


@given(st.text() | st.lists(signs, max_size=20).map("".join))
def test_any_text_is_read_as_python_reads_it_or_refused(text: str) -> None:
    try:
        value = read_json(text)
    except ValueError:
        return
    assert exactly(value) == exactly(json.loads(text))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"a": 1, "b": 2, "a": 1}', "expected each name once in an object, found 'a' again"),
        ('[{"x": {"": 1, "": 2}}]', "expected each name once in an object, found '' again"),
        (f'{{"{"n" * 99}": 1, "{"n" * 99}": 2}}', f"expected each name once in an object, found '{'n' * 40}' again"),
        ("NaN", "expected a JSON number, found 'NaN'"),
        ('{"a": [Infinity]}', "expected a JSON number, found 'Infinity'"),
        ("-Infinity", "expected a JSON number, found '-Infinity'"),
        ("1e999", "expected a number that a float can hold, found '1e999'"),
        ("[-1E400]", "expected a number that a float can hold, found '-1E400'"),
        (f"{'9' * 999}.0", f"expected a number that a float can hold, found '{'9' * 40}'"),
    ],
)
def test_what_is_not_json_is_refused(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match="expected") as refusal:
        read_json(text)
    assert str(refusal.value) == reason


@pytest.mark.parametrize(
    ("text", "position"),
    [("", 0), ("[1,]", 3), ('{"a" 1}', 5), ("1 2", 2), ("\ufeff1", 0), ("tru", 0), ("01", 1), ('"\n"', 1), ("[1", 2)],
)
def test_a_malformed_text_is_refused_at_a_place_in_it(text: str, position: int) -> None:
    with pytest.raises(json.JSONDecodeError) as refusal:
        read_json(text)
    assert refusal.value.pos == position


@pytest.mark.parametrize("bracket", ["[", '{"a":', '[{"a":'])
def test_a_text_that_is_nested_too_deep_is_refused(bracket: str) -> None:
    with pytest.raises(ValueError, match="expected JSON of fewer levels, found more than the interpreter can read"):
        read_json(bracket * 100_000)


def test_a_whole_number_has_as_many_digits_as_python_reads() -> None:
    digits = sys.get_int_max_str_digits()
    assert read_json("9" * digits) == 10**digits - 1
    with pytest.raises(ValueError, match="4300 digits"):
        read_json("9" * (digits + 1))


def test_a_decoder_reads_numbers_as_it_is_told() -> None:
    read = strict_decoder(read_float=Decimal, read_int=lambda digits: f"<{digits}>", read_constant=str)
    assert read("[1.50, 12, NaN, -Infinity]") == [Decimal("1.50"), "<12>", "NaN", "-Infinity"]
    assert str(read("1.50")) == "1.50"
    with pytest.raises(ValueError, match="each name once"):
        read('{"a": 1, "a": 1}')


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_float_is_read_from_its_own_text(number: float) -> None:
    assert repr(finite_float(repr(number))) == repr(number)


def test_a_number_beyond_all_floats_is_refused() -> None:
    with pytest.raises(ValueError, match="expected a number that a float can hold, found '1e309'"):
        finite_float("1e309")


# Writing


@given(values)
def test_a_value_comes_back_from_its_compact_json(value: Any) -> None:
    text = compact_json(value)
    assert exactly(read_json(text)) == exactly(value)
    assert is_utf8(text)


@given(values)
def test_compact_json_is_what_python_writes_in_raw_unicode_without_blanks(value: Any) -> None:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if is_utf8(text):
        assert compact_json(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": [1, 2.5, None, True], "a": "é 😀\n"}, '{"b":[1,2.5,null,true],"a":"é 😀\\n"}'),
        (["é\ud800", "\udc00 中"], '["é\\ud800","\\udc00 中"]'),
        ({"\udfff": "\\\ud83d"}, '{"\\udfff":"\\\\\\ud83d"}'),
        (["\udc00\ud800"], '["\\udc00\\ud800"]'),
        ((1, 2), "[1,2]"),
        ({1: True, None: False}, '{"1":true,"null":false}'),
    ],
)
def test_a_value_is_written_like_this(value: object, text: str) -> None:
    assert compact_json(value) == text


def test_names_are_sorted_on_request() -> None:
    assert compact_json({"b": 1, "a": {"d": 2, "c": 3}}, sort_keys=True) == '{"a":{"c":3,"d":2},"b":1}'


def test_other_objects_are_written_as_the_default_says() -> None:
    assert compact_json({"a": Decimal("1.50")}, default=str) == '{"a":"1.50"}'
    assert compact_json({"b": "\ud800", "a": {1}}, sort_keys=True, default=list) == '{"a":[1],"b":"\\ud800"}'


CIRCLE: list[object] = []
CIRCLE.append(CIRCLE)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (float("nan"), "expected a JSON value: Out of range float values are not JSON compliant"),
        ([float("inf")], "expected a JSON value: Out of range float values are not JSON compliant"),
        ({1, 2}, "expected a JSON value: Object of type set is not JSON serializable"),
        ({b"a": 1}, "expected a JSON value: keys must be str, int, float, bool or None, not bytes"),
        (CIRCLE, "expected a JSON value: Circular reference detected"),
        (
            "\ud83d\ude00",
            r"expected no surrogate pair as two characters, found '\ud83d\ude00', which JSON reads as one",
        ),
        ({"a\ud800\udc00": 1}, r"expected no surrogate pair as two characters, found '\ud800\udc00', which JSON"),
    ],
    ids=["NaN", "infinity", "set", "name of bytes", "circle", "pair", "pair in a name"],
)
def test_what_json_cannot_say_is_refused(value: object, reason: str) -> None:
    with pytest.raises(EncodeError) as refusal:
        compact_json(value)
    assert refusal.value.code == "E1004"
    assert refusal.value.reason.startswith(reason)


def test_a_value_that_is_nested_too_deep_is_refused() -> None:
    value: list[object] = []
    for _ in range(100_000):
        value = [value]
    with pytest.raises(EncodeError, match="E1004: expected a JSON value: maximum recursion depth exceeded"):
        compact_json(value)


@given(st.text(st.characters(categories=["Cs"]), max_size=4))
def test_halves_are_written_unless_they_would_become_one_character(text: str) -> None:
    if joins(text):
        with pytest.raises(EncodeError, match="surrogate pair"):
            compact_json(text)
    else:
        assert json.loads(compact_json(text)) == text


@given(st.text(st.characters(exclude_categories=[])))
def test_utf8_carries_a_text_that_can_be_encoded(text: str) -> None:
    assert is_utf8(text) == (text.encode(errors="replace").decode() == text)


@pytest.mark.parametrize(
    "wrap",
    [
        lambda items: items,
        lambda items: {"a": 1, "b": {"c": items, "d": [1]}},
        lambda items: {"a": {"b": {"c": {"d": items}}}},
        lambda items: {"items": items, 'a"b': {"c": items}, "d": 1},
        lambda items: {1: items, None: items},
        lambda items: [items, items],
    ],
)
@pytest.mark.parametrize("count", [999, 1_000, 1_001, 2_500])
def test_a_long_array_is_written_piece_by_piece_as_in_one(wrap: Callable[[list[Any]], Any], count: int) -> None:
    value = wrap([{"number": number, "text": f"a, {number}]"} for number in range(count)])
    assert compact_json(value) == json.dumps(value, separators=(",", ":"))


def test_an_array_that_contains_itself_is_refused_however_long() -> None:
    items: list[Any] = [0] * 2_000
    items.append(items)
    with pytest.raises(EncodeError, match="expected a JSON value") as refused:
        compact_json({"items": items})
    assert refused.value.code == "E1004"
