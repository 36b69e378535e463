"""Long objects are encoded and decoded in a thread, with the same results."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from a2a.helpers import new_data_part, new_text_part
from a2a.types import Artifact, Message, Part, Task, TaskStatus
from google.protobuf.timestamp_pb2 import Timestamp

from accp_adapters.a2a.wire import events, large_objects
from accp_adapters.a2a.wire.events import decode, encode
from accp_adapters.a2a.wire.large_objects import decode_aside, encode_aside
from accp_core.errors import ProtocolError

ROWS = [{"id": n, "name": f"row {n}", "late": n % 3 == 0} for n in range(300)]
"""More than the event loop encodes by itself."""


def a_task(*parts: Part) -> Task:
    """Return a task with one artifact, whose frames have the time of its state."""
    status = TaskStatus(timestamp=Timestamp(seconds=1_714_000_000))
    return Task(id="t", context_id="c", status=status, artifacts=[Artifact(artifact_id="a", parts=parts)])


def broken() -> Message:
    """Return a large message that says it holds frames, one of which another one wrote badly."""
    sent = encode(Message(message_id="m", parts=[new_data_part(ROWS), new_data_part(ROWS[:40])]))
    text = sent.parts[1].text
    sent.parts[1].text = text.replace("view", "mt", 1) if "view" in text else text.replace("d:", "mt:", 1)
    return sent


@pytest.mark.parametrize(
    ("part", "is_in_loop"),
    [
        (new_text_part("word " * 800), True),
        (new_text_part("word " * 1_000), False),
        (new_data_part([1] * 5_000), False),
        (new_data_part({"k" * 5_000: 1}), False),
        (Part(raw=b"x" * 10_000), True),
    ],
)
async def test_what_is_long_is_encoded_in_another_thread(
    part: Part, is_in_loop: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads = []

    def located(*arguments: Any, located: Any = events.located_parts) -> Any:
        threads.append(threading.get_ident())
        return located(*arguments)

    monkeypatch.setattr(events, "located_parts", located)
    await encode_aside(a_task(part))
    assert set(threads) == {threading.get_ident()} if is_in_loop else threading.get_ident() not in threads


async def test_the_event_loop_looks_at_few_of_many_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = 0

    def located(event: Any) -> Iterator[Any]:
        nonlocal seen
        for each in events.located_parts(event):
            seen += 1
            yield each

    monkeypatch.setattr(large_objects, "located_parts", located)
    message = Message(message_id="m", parts=[Part(raw=b"")] * 50_000)
    message.metadata["accp"] = True
    assert await decode_aside(message) is message
    assert seen <= 4_096


async def test_a_thread_gives_the_same() -> None:
    plain = a_task(new_data_part(ROWS), new_text_part("x"))
    framed = await encode_aside(plain)
    assert framed == encode(plain) != plain
    assert await decode_aside(framed) == plain
    as_it_is = a_task(new_text_part("word " * 2_000))
    copy = await encode_aside(as_it_is)
    assert copy == as_it_is and copy is not as_it_is
    message = Message(message_id="m", parts=as_it_is.artifacts[0].parts)
    assert await encode_aside(message) is message
    with pytest.raises(ProtocolError) as here:
        decode(broken())
    with pytest.raises(ProtocolError) as there:
        await decode_aside(broken())
    assert (there.value.code, there.value.reason) == (here.value.code, here.value.reason)
