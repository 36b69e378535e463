"""Repetitions stand once and are referred to."""

from copy import deepcopy

import pytest

from accp_core.packing.expansion import Expansion, ExpansionError
from accp_core.packing.repeated_values import (
    MIN_STRING_CHARS,
    pack_repeated_values,
    unpack_repeated_values,
)
from accp_core.packing.tree import EmbeddedJson, RepeatedValue, Repetition

LONG = "a text that is long enough"
TREE = {
    "name": "Ana Haas",
    "mail": "ana@example.org",
    "about": "writes about tables and views",
    "roles": ["admin", "author"],
}


def always(text: str, uses: int) -> bool:
    return True


def never(text: str, uses: int) -> bool:
    return False


@pytest.mark.parametrize(
    ("value", "packed"),
    [
        ([LONG, LONG, LONG], [RepeatedValue(1, LONG), Repetition(1), Repetition(1)]),
        ({"a": TREE, "b": deepcopy(TREE), "c": 1}, {"a": RepeatedValue(1, TREE), "b": Repetition(1), "c": 1}),
        (
            [TREE, [deepcopy(TREE)], LONG, {"x": LONG}],
            [RepeatedValue(1, TREE), [Repetition(1)], RepeatedValue(2, LONG), {"x": Repetition(2)}],
        ),
        (
            [EmbeddedJson(TREE, "2"), EmbeddedJson(deepcopy(TREE), "2")],
            [RepeatedValue(1, EmbeddedJson(TREE, "2")), Repetition(1)],
        ),
        (
            [{**TREE, "text": LONG}, LONG, {**TREE, "text": LONG}],
            [
                RepeatedValue(1, {**TREE, "roles": ["admin", "author"], "text": RepeatedValue(2, LONG)}),
                Repetition(2),
                Repetition(1),
            ],
        ),
    ],
)
def test_what_repeats_stands_once(value: object, packed: object) -> None:
    assert pack_repeated_values(value, always) == packed
    assert unpack_repeated_values(packed) == value


@pytest.mark.parametrize(
    "value",
    [
        LONG,
        [LONG],
        [
            {"a": "four", "b": "short", "c": "cells", "d": "stay"},
            1,
            {"a": "four", "b": "short", "c": "cells", "d": "stay"},
        ],
        [["four", "short", "cells", "stay"], 1, ["four", "short", "cells", "stay"]],
        [],
        {},
        ["x" * (MIN_STRING_CHARS - 1)] * 5,
        [["short"], ["short"]],
        [1, 1, 1.0, True, None, None],
        [{"some name": LONG + "1", "n": 1}, {"some name": LONG + "1", "n": 1.0}],
        [{"some name": LONG + "1", "n": 0.0}, {"some name": LONG + "1", "n": -0.0}],
        [{"some name": LONG + "1", "n": 1}, {"some name": LONG + "1", "n": True}],
        [{"first name": LONG[1:], "a second name": 1}, {"a second name": 1, "first name": LONG[1:]}],
        [EmbeddedJson(TREE["roles"], ""), EmbeddedJson(TREE["roles"], "0"), TREE["mail"]],
        {LONG: 1, "x": {LONG: 2}},
    ],
    ids=repr,
)
def test_what_differs_or_is_small_stays(value: object) -> None:
    assert pack_repeated_values(value, never) is value


def test_a_value_that_stands_once_in_each_copy_of_a_tree_is_not_counted_twice() -> None:
    assert pack_repeated_values([TREE, deepcopy(TREE), 1], always) == [RepeatedValue(1, TREE), Repetition(1), 1]


def test_strings_are_written_once_where_that_saves_tokens() -> None:
    asked: list[tuple[str, int]] = []

    def worth(text: str, uses: int) -> bool:
        asked.append((text, uses))
        return text != LONG

    packed = pack_repeated_values([LONG, LONG, LONG[::-1], LONG[::-1], LONG], worth)
    assert packed == [LONG, LONG, RepeatedValue(1, LONG[::-1]), Repetition(1), LONG]
    assert sorted(asked) == sorted([(LONG, 3), (LONG[::-1], 2)])


def test_one_object_in_two_places_is_packed_like_two_equal_ones() -> None:
    assert pack_repeated_values([TREE, TREE], always) == pack_repeated_values([TREE, deepcopy(TREE)], always)


def test_a_repetition_may_come_before_the_repeated_value() -> None:
    tree = {
        "a": Repetition(1),
        "b": [{"c": EmbeddedJson([RepeatedValue(1, [1, Repetition(2)])], "")}],
        "d": RepeatedValue(2, "x"),
    }
    assert unpack_repeated_values(tree) == {"a": [1, "x"], "b": [{"c": EmbeddedJson([[1, "x"]], "")}], "d": "x"}


def test_a_repeated_value_may_be_in_a_document_in_another() -> None:
    document = RepeatedValue(1, EmbeddedJson(RepeatedValue(2, [1]), "0"))
    assert unpack_repeated_values([Repetition(2), document]) == [[1], EmbeddedJson([1], "0")]


def test_each_reference_is_a_copy_of_its_own() -> None:
    first, second, third = unpack_repeated_values([RepeatedValue(1, {"a": [1]}), Repetition(1), Repetition(1)])  # type: ignore[misc]
    second["a"].append(2)
    assert (first, third) == ({"a": [1]}, {"a": [1]})


def test_a_document_that_is_referred_to_is_a_copy_too() -> None:
    first, second = unpack_repeated_values([RepeatedValue(1, EmbeddedJson([1], "2")), Repetition(1)])  # type: ignore[misc]
    assert first == second
    assert first.value is not second.value


@pytest.mark.parametrize(
    ("tree", "reason"),
    [
        (Repetition(1), r"expected a value &1 for \*1, found none"),
        ([RepeatedValue(2, "x"), Repetition(1)], r"expected a value &1 for \*1, found none"),
        ([RepeatedValue(1, "x"), RepeatedValue(1, "x")], "expected &1 once, found it again"),
        ([Repetition(1), RepeatedValue(1, "x"), [RepeatedValue(1, "y")]], "expected &1 once, found it again"),
        (RepeatedValue(1, Repetition(1)), r"expected \*1 outside the value &1, found"),
        (
            [RepeatedValue(1, [Repetition(2)]), RepeatedValue(2, {"a": Repetition(1)})],
            r"expected \*1 outside the value &1, found it inside",
        ),
        (
            [Repetition(1), RepeatedValue(1, EmbeddedJson(Repetition(1), ""))],
            r"expected \*1 outside the value &1, found it inside",
        ),
    ],
)
def test_repetitions_that_mean_nothing_are_refused(tree: object, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        unpack_repeated_values(tree)


def test_references_to_references_copy_within_a_limit() -> None:
    tree: list[object] = [RepeatedValue(1, ["x"] * 10)]
    tree += [RepeatedValue(number, [Repetition(number - 1)] * 10) for number in range(2, 30)]
    with pytest.raises(ExpansionError) as refusal:
        unpack_repeated_values(tree, Expansion(10_000))
    assert refusal.value.sign == "*3"


def test_as_many_copies_as_the_limit_are_made() -> None:
    tree = [RepeatedValue(1, [1, "ab"]), Repetition(1), Repetition(1)]
    assert unpack_repeated_values(tree, Expansion(12)) == [[1, "ab"]] * 3
    with pytest.raises(ExpansionError, match="expected a result within the limits") as refusal:
        unpack_repeated_values(tree, Expansion(11))
    assert refusal.value.sign == "*1"


def test_a_repeated_value_with_too_many_places_is_written_again() -> None:
    value = [TREE] * 5 + [LONG] * 5
    packed = pack_repeated_values(value, always, max_uses=2)
    assert type(packed) is list
    kinds = [f"{'&' if type(item) is RepeatedValue else '*'}{item.number}" for item in packed]
    assert kinds == ["&1", "*1", "*1", "&2", "*2", "&3", "*3", "*3", "&4", "*4"]
    assert unpack_repeated_values(packed) == value


def test_a_tree_without_repetitions_stays_as_it_is() -> None:
    tree = {"a": [1, EmbeddedJson([2], "")]}
    assert unpack_repeated_values(tree) is tree
