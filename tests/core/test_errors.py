"""What an exception carries besides its words."""

import pytest

from accp_core.errors import DecodeError, EncodeError, LocalProtocolError, ProtocolError, RemoteProtocolError


def test_a_refused_text_and_the_place_of_the_refusal_stand_in_the_error() -> None:
    error = DecodeError("expected a value", code="E1001", text="a ", position=2)
    assert (error.code, error.text, error.position) == ("E1001", "a ", 2)
    assert str(error) == "E1001: expected a value, at position 2"


def test_a_peer_that_broke_the_protocol_is_answered_or_met_with_silence() -> None:
    answered = RemoteProtocolError("seen before", code="E3002", reply="@me>fail:error{}")
    silent = RemoteProtocolError("expired", code="E3001", reply=None)
    assert (answered.code, answered.reply, silent.reply) == ("E3002", "@me>fail:error{}", None)


@pytest.mark.parametrize("kind", [EncodeError, LocalProtocolError])
def test_every_error_is_caught_as_one_of_the_protocol_and_says_its_code(kind: type[ProtocolError]) -> None:
    with pytest.raises(ProtocolError, match="E1004: expected text") as caught:
        raise kind("expected text", code="E1004")
    assert caught.value.reason == "expected text"
