"""Where what is served differs from what the core can do; each requirement that this shows has a divergence."""

from __future__ import annotations

import json

import httpx2
import pytest
from a2a.helpers import new_text_part
from a2a.types import Artifact, TaskArtifactUpdateEvent

from accp_adapters.a2a.wire.events import encode
from accp_adapters.a2a.wire.part_locations import located_parts
from accp_core import parse_frame
from accp_core.accp import FrameRefused, Session
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
@pytest.mark.parametrize("body", ["req:add{n:1}", "esc:add{n:1}", "comp:state{}"])
async def test_a_served_session_takes_no_checkpoint_of_this(body: str) -> None:
    asked = frame("req:add{n:$warm.ckpt_1.summary}", 2)
    first, second = await post_all(frame(body, 1), asked)
    assert first.status_code == 200
    assert (second.status_code, parse_frame(second.text.strip()).params["code"]) == (400, "E2001")


# 3.7.1: 'Frames with a previously seen "msg_id" MUST be rejected with error E3002 DUPLICATE.'
async def test_a_served_session_refuses_a_repeated_id() -> None:
    asked = frame("req:add{n:7}", 1)
    first, *others = await post_all(asked, asked, frame("req:add{n:8}", 2, mid=f"{1:012x}"))
    assert first.status_code == 200
    for other in others:
        assert (other.status_code, parse_frame(other.text.strip()).params["code"]) == (400, "E3002")


def test_the_frame_of_an_mcp_result_has_its_envelope_beside_it() -> None:
    wire = Wire()
    wire.begin()
    wire.call(served(rows()))
    result = wire.between[-1]["result"]
    text = result["content"][0]["resource"]["text"]
    assert (parse_frame(text).envelope.msg_id, parse_frame(text).envelope.correlation_id) == (None, None)
    assert "cid:1]" in json.dumps(result["_meta"])
    assert refused(text) == "E1001"


def test_the_chunks_of_an_a2a_artifact_have_neither_time_nor_correlation_id() -> None:
    artifact = Artifact(artifact_id="a1", parts=[new_text_part("a"), new_text_part("b")])
    chunk = TaskArtifactUpdateEvent(task_id="t", context_id="c", artifact=artifact, append=True)
    texts = [part.text for part, _ in located_parts(encode(chunk, never_larger=False))]
    envelopes = [parse_frame(text).envelope for text in texts]
    assert [(each.sequence, each.timestamp, each.correlation_id) for each in envelopes] == [
        (1, None, None),
        (2, None, None),
    ]
    assert refused(texts[0]) == "E1001"


def refused(text: str) -> str:
    """Return the code with which a session of the core refuses a frame that an adapter wrote."""
    (event,) = Session("s1", "bob", codec=CODEC, new_id=lambda: "b").receive(text, 1_000)
    assert isinstance(event, FrameRefused)
    return str(event.code)
