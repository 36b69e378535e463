"""Events on bytes: cut anywhere, nothing lost, and only the data of a changed event changes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accp_adapters.serving.sse import EventSplitter, event_data, event_field, with_data

streams = st.lists(
    st.sampled_from([b"data: {}", b"data:x", b"id: 7", b": ping", b"retry: 100", b"\n", b"\r\n", b"\r", b"\n\n"])
).map(b"".join)


def cut(stream: bytes, size: int, limit: int = 1000) -> list[tuple[bytes, bool]]:
    events = EventSplitter(limit)
    found = [event for at in range(0, len(stream), size) for event in events.feed(stream[at : at + size])]
    return [*found, (events.close(), False)]


@given(streams, st.integers(1, 9), st.integers(1, 40))
def test_the_events_are_the_stream_whatever_the_chunks(stream: bytes, size: int, limit: int) -> None:
    assert b"".join(event for event, _ in cut(stream, size, limit)) == stream


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("size", [1, 2, 3, 5, 100])
def test_an_event_ends_with_an_empty_line(end: bytes, size: int) -> None:
    stream = b"id: 1" + end + b"data: a" + end + end + b": ping" + end + end + b"data: b" + end
    events = [event.strip() for event, is_complete in cut(stream, size) if is_complete]
    assert events == [b"id: 1" + end + b"data: a", b": ping"]


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_an_event_beyond_the_limit_comes_in_pieces_and_the_next_one_whole(size: int) -> None:
    stream = b"data: " + b"x" * 50 + b"\n\ndata: y\n\n"
    events = cut(stream, size, limit=20)
    assert [event for event, is_complete in events if is_complete] == [b"data: y\n\n"]
    assert max(len(event) for event, _ in events) <= max(20 + size, 58)


def test_a_field_is_the_last_of_its_name() -> None:
    assert event_field(b"id: 1\nid:2\n\n", b"id") == b"2"
    assert event_field(b"idle: 1\n: id\n\n", b"id") is None


def test_data_of_several_lines_are_one_text() -> None:
    assert event_data(b'data: {\rdata:  "a"\r\ndata\ndata:: 1}\n\n') == b'{\n "a"\n\n: 1}'


def test_only_the_data_of_an_event_change() -> None:
    event = b"id: 7\r\n: kept\r\ndata: {\r\nretry: 100\r\ndata: }\r\nevent: message\r\n\r\n"
    assert with_data(event, b"[]") == b"id: 7\r\n: kept\r\ndata: []\nretry: 100\r\nevent: message\r\n\r\n"
