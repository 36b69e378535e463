"""The values that a frame is made of."""

from accp_core.accp import REMOVED, LiteralKey, Removed


def test_a_literal_key_is_not_the_key_that_it_spells() -> None:
    assert LiteralKey("d") == LiteralKey("d")
    assert LiteralKey("d") != "d"
    assert "d" != LiteralKey("d")  # noqa: SIM300 - the reflected comparison is a rule of its own
    assert LiteralKey("d") != LiteralKey("e")
    assert len({LiteralKey("d"): 1, "d": 2}) == 2


def test_a_literal_key_shows_what_it_is() -> None:
    assert repr(LiteralKey("d")) == "LiteralKey('d')"


def test_removal_is_one_value_and_not_null() -> None:
    assert Removed("~") is REMOVED
    assert REMOVED is not None
