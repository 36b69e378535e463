"""The values that a frame is made of."""

from dataclasses import FrozenInstanceError, replace

import pytest

from accp_core.accp import REMOVED, Envelope, Frame, Intent, LiteralKey, Ref, Removed


def test_a_literal_key_is_not_the_key_that_it_spells() -> None:
    assert LiteralKey("d") == LiteralKey("d")
    assert LiteralKey("d") != "d"
    assert "d" != LiteralKey("d")  # noqa: SIM300 - the reflected comparison is a rule of its own
    assert LiteralKey("d") != LiteralKey("e")
    assert len({LiteralKey("d"): 1, "d": 2}) == 2


def test_a_literal_key_is_found_again() -> None:
    assert {LiteralKey("d"): 1, "d": 2}[LiteralKey("d")] == 1


def test_a_literal_key_shows_what_it_is() -> None:
    assert repr(LiteralKey("d")) == "LiteralKey('d')"


def test_removal_is_one_value_and_not_null() -> None:
    assert Removed("~") is REMOVED
    assert REMOVED is not None


def test_a_frame_needs_neither_payload_nor_envelope() -> None:
    frame = Frame(sender="a", intent=Intent.REQUEST, operation="op")
    assert (frame.params, frame.envelope) == ({}, Envelope())


def test_two_frames_share_nothing() -> None:
    one, other = (Frame(sender="a", intent=Intent.REQUEST, operation="op") for _ in range(2))
    assert one.params is not other.params
    assert one.envelope.extra is not other.envelope.extra


def test_a_frame_is_changed_by_replacing() -> None:
    frame = Frame(sender="a", intent=Intent.REQUEST, operation="op")
    with pytest.raises(FrozenInstanceError):
        frame.sender = "b"  # type: ignore[misc]  # the type checker knows it too
    assert replace(frame, envelope=Envelope(sequence=1)).envelope.sequence == 1


def test_references_to_one_key_are_equal() -> None:
    assert Ref("warm.x") == Ref("warm.x") != Ref("cold.x")
