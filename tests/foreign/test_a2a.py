"""What a client of A2A sees that was written from the two specifications alone: sections 3.5, 3.7, 10.4, 11.4."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.foreign.a2a import EXTENSION, call, parts_in, serving
from tests.foreign.grammar import read_payload
from tests.foreign.wire import Frame, read_frame

BEHAVIOURS = ("tck-complete-task", "tck-artifact-data", "tck-stream-artifact-chunked", "several", "fail", "words")
"""What the agent does; it looks at how the id of a message begins."""
METHODS = ("SendMessage", "SendStreamingMessage")


@pytest.fixture(scope="module")
def agent() -> Iterator[tuple[str, int]]:
    with serving() as address:
        yield address


def frames_in(results: list[Any]) -> list[Frame]:
    """Return the frames, and check that they stand as text under their media type."""
    found = [part for part in parts_in(results) if "text" in part or "data" in part]
    assert all(part["mediaType"] == "application/accp" for part in found)
    return [read_frame(part["text"]) for part in found]


@pytest.mark.requirement("11.4-1")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_each_frame_has_its_envelope_and_holds_types_of_the_draft(
    behaviour: str, method: str, agent: tuple[str, int]
) -> None:
    frames = frames_in(call(agent, method, f"{behaviour}-1-{method}", EXTENSION))
    assert frames
    for frame in frames:
        assert re.fullmatch("[0-9a-f]{12}", frame.meta["mid"]) and re.fullmatch("[0-9a-f]{12}", frame.meta["cid"])
        assert re.fullmatch("[0-9]{10}", frame.meta["ts"])
        known = {"d", "msg", "value", "code", "retry", "idx", "tot", "done", "schema", "mt"}
        assert set(read_payload(frame.body)) <= known
    # A task shows its status before its history; the numbers are those of the conversation.
    numbers = [frame.seq for frame in frames]
    assert sorted(numbers) == list(range(1, len(numbers) + 1))
    assert method == "SendMessage" or numbers == sorted(numbers)
    assert len({frame.meta["mid"] for frame in frames}) == len(frames)


@pytest.mark.requirement("11.4-2")
@pytest.mark.parametrize("method", METHODS)
def test_a_task_is_made_by_req_and_completed_by_done(method: str, agent: tuple[str, int]) -> None:
    frames = frames_in(call(agent, method, f"tck-complete-task-2-{method}", EXTENSION))
    first, last = sorted(frames, key=lambda frame: frame.seq)
    assert (first.sender, first.intent, last.sender, last.intent) == ("user", "req", "agent", "done")
    assert first.meta["cid"] == last.meta["cid"]


def test_a_task_that_fails_says_fail_with_a_code(agent: tuple[str, int]) -> None:
    frames = frames_in(call(agent, "SendMessage", "fail-3", EXTENSION))
    (failed,) = [frame for frame in frames if frame.intent == "fail"]
    body = read_payload(failed.body)
    assert body["schema"] == "ER" and re.fullmatch("E[0-9]{4}", body["code"])


@pytest.mark.requirement("11.4-3")
def test_the_parts_of_a_streamed_artifact_are_chunks_with_one_cid(agent: tuple[str, int]) -> None:
    results = call(agent, "SendStreamingMessage", "tck-stream-artifact-chunked-4", EXTENSION)
    chunks = frames_in([each for each in results if "artifactUpdate" in each])
    bodies = [read_payload(chunk.body) for chunk in chunks]
    assert [(chunk.intent, body["schema"]) for chunk, body in zip(chunks, bodies, strict=True)] == [
        ("stream", "ST"),
        ("stream", "ST"),
    ]
    assert len({chunk.meta["cid"] for chunk in chunks}) == 1
    assert [(body["idx"], body.get("done")) for body in bodies] == [(0, None), (1, True)]


@pytest.mark.parametrize("method", METHODS)
def test_who_asked_for_nothing_gets_no_frame(method: str, agent: tuple[str, int]) -> None:
    results = call(agent, method, f"tck-artifact-data-5-{method}")
    parts = list(parts_in(results))
    assert all(part.get("mediaType") != "application/accp" for part in parts)
    assert {"key": "value", "count": 42} in [part.get("data") for part in parts]
    assert "accp" not in str(results)
