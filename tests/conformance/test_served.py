"""What is served: its sessions take checkpoints, its frames are taken by a session of the core."""

import httpx2
import pytest
from a2a.helpers import new_text_part
from a2a.types import Artifact, TaskArtifactUpdateEvent

from accp_adapters.a2a import encode
from accp_adapters.a2a.walk import walk
from accp_core import parse_frame
from accp_core.accp import Event, FrameRefused, MessageReceived, Session, SessionOptions
from tests.adapters.bindings.accp.serving import serving
from tests.adapters.bindings.hosts.agents import CODEC
from tests.adapters.mcp.messages import Wire, rows, served


async def post_all(*frames: str) -> list[httpx2.Response]:
    """Return what a served session answers to one frame after the other."""
    async with serving() as address, httpx2.AsyncClient() as client:
        url, headers = f"http://{address}/accp/v1/frames", {"content-type": "application/accp"}
        return [await client.post(url, content=frame, headers=headers) for frame in frames]


def frame(body: str, number: int, mid: str = "") -> str:
    return f"@ann>{body}[mid:{mid or f'{number:012x}'},seq:{number},ts:1000,sid:s1]"


# 5.2: "A checkpoint MUST be triggered when: …"
@pytest.mark.requirement("5.2-1", "5.2-3", "5.2-4", "5.2-5")
@pytest.mark.parametrize("body", ["esc:add{n:1}", "comp:state{n:1}", "done:add{n:1}", "req:add{n:1}"])
async def test_a_served_session_takes_a_checkpoint_of_this(body: str) -> None:
    asked = frame("req:add{n:$warm.ckpt_1.n}", 2)
    first, second = await post_all(frame(body, 1), asked)
    assert first.status_code == 200
    assert (second.status_code, parse_frame(second.text.strip().splitlines()[0]).params["n"]) == (200, 1)


# 3.7.1: 'Frames with a previously seen "msg_id" MUST be rejected with error E3002 DUPLICATE.'
@pytest.mark.requirement("3.7-2")
async def test_a_served_session_refuses_a_repeated_id() -> None:
    asked = frame("req:add{n:7}", 1)
    first, *others = await post_all(asked, asked, frame("req:add{n:8}", 2, mid=f"{1:012x}"))
    assert first.status_code == 200
    for other in others:
        assert (other.status_code, parse_frame(other.text.strip()).params["code"]) == (400, "E3002")


# 3.5: "Every ACCP frame MUST include the following envelope fields in its metadata block"
@pytest.mark.requirement("3.5-1", "10.2-1", "11.3-2")
def test_a_session_takes_the_frame_of_an_mcp_result() -> None:
    wire = Wire()
    wire.begin()
    wire.call(served(rows()))
    text = wire.between[-1]["result"]["content"][0]["resource"]["text"]
    envelope = parse_frame(text).envelope
    assert envelope.msg_id and envelope.sequence and envelope.timestamp
    assert envelope.correlation_id == "1"
    assert any(isinstance(event, MessageReceived) for event in taken(text))


@pytest.mark.requirement("3.5-1", "10.4-1", "11.4-3")
def test_a_session_takes_the_chunks_of_an_a2a_artifact() -> None:
    artifact = Artifact(artifact_id="a1", parts=[new_text_part("a"), new_text_part("b")])
    chunk = TaskArtifactUpdateEvent(task_id="t", context_id="c", artifact=artifact, append=True)
    texts = [part.text for part, _ in walk(encode(chunk, never_larger=False))]
    envelopes = [parse_frame(text).envelope for text in texts]
    assert [each.sequence for each in envelopes] == [1, 2]
    assert all(each.timestamp and each.correlation_id for each in envelopes)
    assert not any(isinstance(event, FrameRefused) for event in taken(texts[0]))


def taken(text: str) -> list[Event]:
    """Return what a session of the core says of a frame that an adapter wrote."""
    session = Session("s1", "bob", codec=CODEC, new_id=lambda: "b", options=SessionOptions(first=None))
    return session.receive(text, parse_frame(text).envelope.timestamp or 0)
