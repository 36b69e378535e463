"""Which values are the same JSON text."""

import pytest

from accp_core.packing.equality import is_same_json
from accp_core.packing.tree import EmbeddedJson, Repetition

DISTINCT = [
    None, True, False, 0, 1, 0.0, -0.0, 1.0, "", "1", "true", [], [1], [1.0], [1, 1], {}, {"a": 1}, {"a": True},
    {"a": 1, "b": 2}, {"b": 2, "a": 1}, {"a": {"a": 1}},
    EmbeddedJson([1], ""), EmbeddedJson([1], "0"), EmbeddedJson([1.0], ""),
    Repetition(1), Repetition(2), 10**40, 1e40,
]  # fmt: skip


def rebuilt(value: object) -> object:
    """Return an equal value that is another object."""
    match value:
        case dict():
            return {key: rebuilt(member) for key, member in value.items()}
        case list():
            return [rebuilt(member) for member in value]
        case EmbeddedJson():
            return EmbeddedJson(rebuilt(value.value), value.style)
        case Repetition():
            return Repetition(value.number)
    return value


@pytest.mark.parametrize("value", DISTINCT, ids=repr)
def test_a_value_is_the_same_as_itself(value: object) -> None:
    assert is_same_json(value, rebuilt(value))
