"""Chunks in order again, and frames in pieces."""

from typing import Any

import pytest

from accp_core.accp import Envelope, Intent
from accp_core.accp.frame import Message
from accp_core.accp.session.exchanges import FrameJoiner, StreamBuffer, StreamLimits, Streams
from accp_core.errors import ProtocolError
from tests.core.accp.refusals import code_of


def chunk(index: Any, *, cid: str = "s", sender: str = "a", data: Any = "x", **fields: Any) -> Message:
    return Message(
        sender=sender,
        intent=Intent.STREAM,
        operation="frame",
        payload={"chunk_index": index, "data": data, **fields},
        schema="ST",
        envelope=Envelope(correlation_id=cid),
    )


def indices(chunks: tuple[Message, ...] | None) -> list[Any]:
    assert chunks is not None
    return [each.payload["chunk_index"] for each in chunks]


@pytest.mark.requirement("8.3-4", "10.4-3")
def test_chunks_are_given_out_in_the_order_of_their_indices() -> None:
    buffer = StreamBuffer()
    assert indices(buffer.add(chunk(2, is_final=True))) == []
    assert buffer.missing() == (0, 1)
    assert indices(buffer.add(chunk(0))) == [0]
    assert not buffer.complete
    assert indices(buffer.add(chunk(1))) == [1, 2]
    assert buffer.complete
    assert buffer.missing() == ()
    buffer.close()


@pytest.mark.requirement("10.4-2")
def test_the_total_ends_a_stream_as_well() -> None:
    buffer = StreamBuffer()
    buffer.add(chunk(0, total_chunks=2))
    buffer.add(chunk(1))
    assert buffer.complete


@pytest.mark.requirement("10.4-2")
def test_closing_ends_a_stream_that_nobody_called_final() -> None:
    buffer = StreamBuffer()
    buffer.add(chunk(0))
    assert not buffer.complete
    buffer.close()
    assert buffer.complete
    assert code_of(buffer.add, chunk(1)) == "E1004"


@pytest.mark.parametrize("arrived", [chunk(1), chunk(0, total_chunks=2)])
def test_closing_a_stream_with_a_missing_chunk_is_refused_e3003(arrived: Message) -> None:
    buffer = StreamBuffer()
    buffer.add(arrived)
    assert code_of(buffer.close) == "E3003"
    assert not buffer.complete


@pytest.mark.parametrize("index", [0, 2])
def test_a_chunk_that_came_before_is_refused_e3002(index: int) -> None:
    buffer = StreamBuffer()
    buffer.add(chunk(0))
    buffer.add(chunk(2))
    assert code_of(buffer.add, chunk(index)) == "E3002"


@pytest.mark.parametrize(
    "wrong",
    [
        chunk(None),
        chunk("1"),
        chunk(True),
        chunk(-1),
        chunk(1, total_chunks="2"),
        chunk(1, total_chunks=9),
        chunk(7),
        chunk(1, is_final=True),
        chunk(1, is_final=True, total_chunks=3),
    ],
)
def test_a_chunk_that_is_not_of_the_stream_is_refused_e1004(wrong: Message) -> None:
    buffer = StreamBuffer()
    buffer.add(chunk(0, total_chunks=3))
    assert code_of(buffer.add, wrong) == "E1004"


def test_the_final_chunk_is_behind_all_that_wait_e1004() -> None:
    buffer = StreamBuffer()
    buffer.add(chunk(3))
    assert code_of(buffer.add, chunk(1, is_final=True)) == "E1004"


@pytest.mark.requirement("10.4-3")
def test_too_many_waiting_chunks_are_refused_e2003_but_not_the_next_one() -> None:
    buffer = StreamBuffer(StreamLimits(ahead=2))
    for index in (1, 2):
        buffer.add(chunk(index))
    assert code_of(buffer.add, chunk(3)) == "E2003"
    assert indices(buffer.add(chunk(0))) == [0, 1, 2]


def test_too_many_waiting_characters_are_refused_e2003() -> None:
    buffer = StreamBuffer(StreamLimits(characters=10))
    buffer.add(chunk(1, data="x" * 10))
    assert code_of(buffer.add, chunk(2)) == "E2003"


def test_missing_chunks_are_named_as_far_as_one_may_wait() -> None:
    buffer = StreamBuffer(StreamLimits(ahead=3))
    buffer.add(chunk(10**9))
    assert buffer.missing() == (0, 1, 2)
    assert StreamBuffer().missing() == ()


def test_a_piece_that_comes_twice_harms_nothing_e3002() -> None:
    joiner = FrameJoiner()
    joiner.add(chunk(0))
    assert code_of(joiner.add, chunk(0)) == "E3002"
    assert indices(joiner.add(chunk(1, is_final=True))) == [0, 1]


def test_a_wrong_piece_spoils_its_frame_e1004() -> None:
    joiner = FrameJoiner()
    joiner.add(chunk(0, total_chunks=2))
    assert code_of(joiner.add, chunk(5)) == "E1004"
    assert joiner.add(chunk(0, total_chunks=2)) is None


def test_too_many_frames_at_a_time_are_refused_e2003() -> None:
    joiner = FrameJoiner(StreamLimits(streams=1))
    joiner.add(chunk(0))
    assert code_of(joiner.add, chunk(0, cid="t")) == "E2003"
    joiner.drop("a", "s")
    assert joiner.add(chunk(0, cid="t")) is None


@pytest.mark.parametrize("limits", [StreamLimits(characters=3), StreamLimits(pieces=1)])
def test_a_frame_too_long_is_refused_e2003_and_forgotten(limits: StreamLimits) -> None:
    joiner = FrameJoiner(limits)
    joiner.add(chunk(0, data="xy"))
    assert code_of(joiner.add, chunk(1, data="zz")) == "E2003"
    assert joiner.add(chunk(0, data="xy")) is None


def stream_chunk(index: int, *, final: bool = False) -> Message:
    payload = {"chunk_index": index, "data": "x", "is_final": final}
    return Message(sender="b", intent=Intent.STREAM, operation="infer", schema="ST", payload=payload)


@pytest.mark.requirement("8.3-4")
def test_streams_do_not_mix_and_are_forgotten_when_they_end() -> None:
    streams = Streams(StreamLimits(streams=2))
    assert streams.add("c", stream_chunk(1, final=True)) == ((), False)
    assert streams.add("d", stream_chunk(0)) == ((stream_chunk(0),), False)
    with pytest.raises(ProtocolError, match="E2003"):
        streams.add("e", stream_chunk(0))
    assert streams.add("c", stream_chunk(0)) == ((stream_chunk(0), stream_chunk(1, final=True)), True)
    assert len(streams) == 1
    assert streams.close("d")
    assert not streams.close("d")
    assert len(streams) == 0


def test_a_stream_that_ends_with_a_gap_is_refused_with_e3003_and_stays() -> None:
    streams = Streams(StreamLimits())
    streams.add("c", stream_chunk(1))
    with pytest.raises(ProtocolError, match="E3003"):
        streams.close("c")
    assert len(streams) == 1
    streams.drop("c")
    assert len(streams) == 0


def test_a_first_chunk_that_is_refused_begins_no_stream() -> None:
    streams = Streams(StreamLimits())
    with pytest.raises(ProtocolError, match="E1004"):
        streams.add("c", Message(sender="b", intent=Intent.STREAM, operation="infer", schema="ST"))
    assert len(streams) == 0
