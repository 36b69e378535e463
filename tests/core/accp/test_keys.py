"""Keys of messages and keys of frames."""

import pytest

from accp_core.accp import LiteralKey
from accp_core.accp.keys import PLAIN_KEYS, KeyTable


@pytest.mark.parametrize(
    ("full", "wire"), [("data", "d"), ("next_action", "nx"), ("who", "who"), ("dataset", "dataset")]
)
def test_table_8_shortens_and_expands(full: str, wire: str) -> None:
    assert PLAIN_KEYS.to_wire(full) == wire
    assert PLAIN_KEYS.to_full(wire) == full


@pytest.mark.parametrize("key", ["d", "q", "schema"])
def test_a_key_that_spells_an_abbreviation_stands_for_itself(key: str) -> None:
    wire = PLAIN_KEYS.to_wire(key)
    assert wire == LiteralKey(key)
    assert PLAIN_KEYS.to_full(wire) == key
    assert type(PLAIN_KEYS.to_full(wire)) is str


def test_an_alias_goes_before_table_8() -> None:
    keys = KeyTable({"d": "document", "dat": "findings"})
    assert [keys.to_wire(key) for key in ("document", "data", "findings")] == ["d", "data", "dat"]
    assert [keys.to_full(key) for key in ("d", "f", "dat")] == ["document", "findings", "findings"]


def test_an_alias_may_be_the_name_of_another_field() -> None:
    keys = KeyTable({"a": "b", "b": "c"})
    for key in ("a", "b", "c"):
        assert keys.to_full(keys.to_wire(key)) == key
    assert len({keys.to_wire(key) for key in ("a", "b", "c")}) == 3
