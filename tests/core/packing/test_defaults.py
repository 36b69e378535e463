"""Fields that equal their default are left out."""

import pytest

from accp_core.packing.defaults import common_value, pack_defaults, same, unpack_defaults
from accp_core.packing.tree import ABSENT, Alias, Anchor, Opened
from tests.core.exactly import exactly

DISTINCT = [
    None, True, False, 0, 1, 0.0, -0.0, 1.0, "", "1", "true", [], [1], [1.0], [1, 1], {}, {"a": 1}, {"a": True},
    {"a": 1, "b": 2}, {"b": 2, "a": 1}, {"a": {"a": 1}}, Opened([1], ""), Opened([1], "0"), Opened([1.0], ""), Alias(1),
    Alias(2), 10**40, 1e40,
]  # fmt: skip


def rebuilt(value: object) -> object:
    """Return an equal value that is another object."""
    match value:
        case dict():
            return {key: rebuilt(member) for key, member in value.items()}
        case list():
            return [rebuilt(member) for member in value]
        case Opened():
            return Opened(rebuilt(value.value), value.style)
        case Alias():
            return Alias(value.number)
    return value


@pytest.mark.parametrize("value", DISTINCT, ids=repr)
def test_a_value_is_the_same_as_itself(value: object) -> None:
    assert same(value, rebuilt(value))


@pytest.mark.parametrize("one", DISTINCT, ids=repr)
def test_values_of_other_type_order_or_sign_are_not_the_same(one: object) -> None:
    assert [other for other in DISTINCT if same(one, other)] == [one]


@pytest.mark.parametrize("value", DISTINCT, ids=repr)
def test_a_value_that_all_share_is_common(value: object) -> None:
    assert repr(common_value([value, rebuilt(value), rebuilt(value)])) == repr(value)


@pytest.mark.parametrize("one", DISTINCT, ids=repr)
def test_values_that_differ_have_nothing_in_common(one: object) -> None:
    assert [other for other in DISTINCT if common_value([one, other]) is not ABSENT] == [one]


@pytest.mark.parametrize("value", [ABSENT, Anchor(1, "x")])
def test_neither_an_absent_value_nor_an_anchor_is_common(value: object) -> None:
    assert common_value([value, value]) is ABSENT


DEFAULTS = {"lang": "en", "count": 1, "deep": {"a": [1], "b": None}}


@pytest.mark.parametrize(
    ("fields", "packed"),
    [
        ({"x": 1, "lang": "en", "count": 1, "deep": {"a": [1], "b": None}}, {"x": 1}),
        ({"lang": "de", "count": 1.0, "deep": {"a": [1.0], "b": None}}, None),
        ({"lang": None, "count": True, "deep": {"b": None, "a": [1]}}, None),
        ({"lang": "en", "count": 2, "deep": {"a": [1]}}, {"count": 2, "deep": {"a": [1]}}),
    ],
)
def test_only_fields_that_equal_their_default_are_left_out(
    fields: dict[str, object], packed: dict[str, object] | None
) -> None:
    expected = fields if packed is None else packed
    assert exactly(pack_defaults(fields, DEFAULTS)) == exactly(expected)


@pytest.mark.parametrize("fields", [{"x": 1}, {}, {"lang": "en", "x": 1}, {"count": 1.0}])
def test_what_was_left_out_comes_back_at_the_end(fields: dict[str, object]) -> None:
    whole = unpack_defaults(fields, DEFAULTS)
    assert list(whole)[: len(fields)] == list(fields)
    assert exactly(unpack_defaults(pack_defaults(whole, DEFAULTS), DEFAULTS)["deep"]) == exactly(whole["deep"])
    assert {**DEFAULTS, **fields} == whole
