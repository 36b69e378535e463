"""Messages in streams: cut anywhere, bounded, ended."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accp_core.acp import AcpError, AcpMessage, ByteLineReader, error_body, parse_envelope, serialize_envelope
from accp_core.errors import DecodeError
from tests.core.acp.test_envelope import MESSAGES


def pieces(stream: bytes, cuts: list[int]) -> list[bytes]:
    ends = sorted({cut % (len(stream) + 1) for cut in cuts})
    return [stream[start:end] for start, end in zip([0, *ends], [*ends, len(stream)], strict=True)]


CUTS = st.lists(st.integers(min_value=0), max_size=5)


@pytest.mark.requirement("acp:4.2-1")
@pytest.mark.slow
@given(st.lists(MESSAGES, max_size=4), CUTS)
def test_lines_come_back_however_the_stream_is_cut(messages: list[AcpMessage], cuts: list[int]) -> None:
    reader = ByteLineReader()
    stream = "".join(f"{serialize_envelope(message)}\n" for message in messages).encode()
    lines = [line for piece in pieces(stream, cuts) for line in reader.feed(piece)]
    assert [parse_envelope(line) for line in lines] == messages


@pytest.mark.requirement("acp:4.2-1")
def test_only_a_line_feed_ends_a_line() -> None:
    reader = ByteLineReader()
    assert reader.feed("a\u2028b\x0bc\r\n\n  \nd".encode()) == ["a\u2028b\x0bc"]


@pytest.mark.parametrize("stream", [[b"x" * 11], [b"x" * 11 + b"\n"], [b"x" * 6, b"x" * 5]])
def test_a_line_is_bounded_before_it_ends(stream: list[bytes]) -> None:
    reader = ByteLineReader(limit=10)
    with pytest.raises(DecodeError) as refusal:
        for piece in stream:
            reader.feed(piece)
    assert refusal.value.code == "ERR_MSG_TOO_LARGE"


def test_a_line_of_another_encoding_is_refused() -> None:
    with pytest.raises(DecodeError, match="expected UTF-8"):
        ByteLineReader().feed(b"\xff\n")


def test_an_answer_that_refuses_says_why_in_every_place() -> None:
    told = {"ok": False, "error_code": "ERR_NOT_FOUND", "error": "no peer", "message": "no peer"}
    when = {"ts": "1970-01-01T00:00:00Z"}
    assert json.loads(error_body(AcpError.NOT_FOUND, "no peer", now=0)) == told | when
    assert json.loads(error_body(AcpError.NOT_FOUND, "no peer", now=0, failed_message_id="m")) == (
        told | when | {"failed_message_id": "m"}
    )
