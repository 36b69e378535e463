"""Values that are alike, and values in a store."""

from decimal import Decimal
from typing import Any

import pytest

from accp_core.accp import REMOVED, Ref
from accp_core.accp.values import is_long, json_to_value, same, value_to_json
from accp_core.errors import ProtocolError


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 1), (True, True), (None, None), ("a", "a"), (1.5, Decimal("1.50")), ([], ()),
        ([1, {"a": 2}], [1, {"a": 2}]), ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        (Ref("warm.x"), Ref("warm.x")), (-0.0, Decimal("-0.0")),
    ],
)  # fmt: skip
def test_what_a_frame_writes_alike_is_the_same(one: Any, other: Any) -> None:
    assert same(one, other)
    assert same(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, True), (0, False), (1, 1.0), (1, "1"), (0.0, -0.0), (None, False), ([1], [1, 2]), ([1], [1.0]), ([], {}),
        ({"a": 1}, {"a": 1, "b": 2}), ({"a": 1}, {"a": True}), (float("nan"), float("nan")), ("a", Ref("a")),
        (Decimal("sNaN"), 1.0), (1.0, "1.0"),
    ],
)  # fmt: skip
def test_what_a_frame_writes_otherwise_is_not_the_same(one: Any, other: Any) -> None:
    assert not same(one, other)
    assert not same(other, one)


@pytest.mark.parametrize(("value", "long"), [("x" * 50, False), ("x" * 51, True), ([1] * 40, True), ([1], False)])
def test_over_fifty_characters_is_long(value: Any, long: bool) -> None:
    assert is_long(value) is long


def test_a_number_is_never_long() -> None:
    assert not is_long(10**60)


@pytest.mark.parametrize("value", ["x" * 60, [1, 1.0, True, None, "é\ud800"], {"k e": {"a": -0.0}}, 10**30])
def test_what_is_stored_is_read_type_for_type(value: Any) -> None:
    text = value_to_json(value)
    assert text is not None
    assert same(json_to_value(text), value)


@pytest.mark.parametrize(
    "value", [Ref("warm.x"), [Ref("warm.x")], {"a": REMOVED}, Decimal("1.5"), float("nan"), {1: 2}]
)
def test_what_json_would_change_is_not_stored(value: Any) -> None:
    assert value_to_json(value) is None


def test_two_surrogates_that_json_would_join_are_not_stored() -> None:
    assert value_to_json(chr(0xD83D) + chr(0xDE00)) is None


def test_a_stored_text_that_is_no_json_is_no_value_e2001() -> None:
    with pytest.raises(ProtocolError, match="E2001"):
        json_to_value("{")
