"""Long messages and the registry, as frames that a peer with the draft alone reads (sections 3.4, 6.4 and 10.4)."""

from typing import Any

import pytest

from tests.foreign.grammar import read_payload, write_string
from tests.foreign.wire import Frame, WebSocket, open_web_socket, post, read_frame

NOW = 1714000000
REGISTRY = f"@orchestrator>sync:registry{{v:3|hash:a7f2c1}}[mid:r1,seq:1,ts:{NOW}]"
ROWS = ",".join(f"{{id:{number},name:row\\:{number},price:{number}.25}}" for number in range(60))
LONG = f"req:add{{rows:[{ROWS}]|note:a\\|b}}"


def joined(frames: list[Frame]) -> Frame:
    """Return the frame whose text is the data of the chunks of one stream, "reordered by chunk_index"."""
    chunks = sorted((read_payload(frame.body) for frame in frames), key=lambda chunk: chunk["idx"])
    assert {frame.intent for frame in frames} == {"stream"} and len({frame.meta["cid"] for frame in frames}) == 1
    assert [chunk["idx"] for chunk in chunks] == list(range(chunks[0]["tot"])) == list(range(len(frames)))
    assert [chunk.get("done", False) for chunk in chunks] == [False] * (len(chunks) - 1) + [True]
    assert {chunk["schema"] for chunk in chunks} == {"ST"}
    return read_frame("".join(chunk["d"] for chunk in chunks) + "[mid:whole,seq:0]")


def received(socket: WebSocket, cid: str) -> list[Frame]:
    """Return the frames of the stream that answers a message."""
    frames: list[Frame] = []
    while not (frames and "|done:true" in frames[-1].body):
        frame = socket.frame()
        frames += [frame] if frame.intent == "stream" and frame.meta["cid"] == cid else []
    return frames


def check_registry(frame: Frame) -> None:
    offer: dict[str, Any] = read_payload(frame.body)
    assert (frame.intent, frame.operation) == ("sync", "registry")
    assert offer["schemas"]["tool_call"]["fields"] == ["tool_name", "arguments", "result", "status", "error_code"]


@pytest.mark.requirement("6.4-1")
def test_the_registry_is_read_over_http(server: tuple[str, int]) -> None:
    status, frames = post(server, REGISTRY)
    assert status == 200
    check_registry(joined(frames))


@pytest.mark.requirement("6.4-1")
def test_the_registry_is_read_over_a_web_socket(server: tuple[str, int]) -> None:
    with open_web_socket(server) as socket:
        socket.send(REGISTRY)
        frames = [socket.frame()]
        while "|done:true" not in frames[-1].body:
            frames.append(socket.frame())
    check_registry(joined(frames))


@pytest.mark.requirement("3.4-1", "8.3-3")
def test_a_long_answer_is_read_over_http(server: tuple[str, int]) -> None:
    status, frames = post(server, f"@ann>{LONG}[mid:long1,seq:1,ts:{NOW}]")
    assert status == 200 and {frame.meta["cid"] for frame in frames} == {"long1"}
    answer = joined(frames)
    assert (answer.sender, answer.intent, answer.operation) == ("agent", "done", "add")
    assert read_payload(answer.body) == read_payload(LONG.partition("{")[2][:-1])


def test_a_long_answer_is_read_over_a_web_socket(server: tuple[str, int]) -> None:
    with open_web_socket(server) as socket:
        socket.send(f"@ben>sync:registry{{v:1|hash:a7f2c1}}[mid:b0,seq:1,ts:{NOW}]")
        first = socket.frame()
        while "|done:true" not in first.body:
            first = socket.frame()
        socket.send(f"@ben>{LONG}[mid:b1,seq:{first.seq + 1},ts:{NOW}]")
        answer = joined(received(socket, "b1"))
    assert read_payload(answer.body) == read_payload(LONG.partition("{")[2][:-1])


def test_a_long_question_may_come_as_one_frame_or_as_the_chunks_of_one(server: tuple[str, int]) -> None:
    status, frames = post(server, f"@cat>{LONG}[mid:c1,seq:1,ts:{NOW}]")
    whole = joined(frames)
    text = f"@dog>{LONG}"
    pieces = [text[at : at + 400] for at in range(0, len(text), 400)]
    for index, piece in enumerate(pieces):
        done = "|done:true" if index + 1 == len(pieces) else ""
        data = f"idx:{index}|tot:{len(pieces)}|d:{write_string(piece)}{done}"
        status, frames = post(server, f"@dog>stream:frame{{{data}|schema:ST}}[mid:d{index},seq:{index + 1},cid:d0]")
    assert status == 200
    assert joined(frames).body == whole.body
