"""A part that a peer says is a frame of ours cannot ask for more memory than it takes."""

from __future__ import annotations

import tracemalloc

import pytest
from a2a.types import Part

from accp_adapters.a2a.wire.parts import PartLocation, codec, frame_to_part
from accp_core import DecodeError
from accp_core.accp import Message, serialize_frame
from accp_core.accp.vocabulary import MEDIA_TYPE
from tests.core.view.bombs import BOMBS


@pytest.mark.parametrize("text", BOMBS.values(), ids=BOMBS)
def test_a_frame_with_a_view_that_expands_is_refused_e2003(text: str) -> None:
    location = PartLocation(owner_id="1", index=0)
    message = Message(
        sender=location.sender,
        intent=location.intent,
        operation=location.operation,
        payload={"view": text},
        envelope=location.envelope,
    )
    (frame,) = codec().encode(message).frames
    part = Part(text=serialize_frame(frame), media_type=MEDIA_TYPE)
    tracemalloc.start()
    with pytest.raises(DecodeError) as refusal:
        frame_to_part(part, location)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert refusal.value.code == "E2003"
    assert peak < 2_000_000 + 60 * len(text)
