"""Frames and messages that can be read and not written again: they are delivered, and not refused as well."""

import pytest

from accp_core.accp.codec import Codec
from accp_core.accp.session.events import FrameRefused, MessageReceived
from accp_core.accp.session.session import Session
from accp_core.accp.state.context_state import ColdKey
from tests.conformance.agents import NOW, agent, deliver, of, wire


def receive(session: Session, payload: str) -> None:
    """Receive a second frame with that payload; it must be delivered, and nothing else."""
    events = deliver([wire("k:1"), wire(payload, mid="m2", seq=2)], session)
    assert len(of(MessageReceived, events)) == 2
    assert of(FrameRefused, events) == []
    assert session.frames_to_send() == []
    assert session.state.hot_tokens > 0


def test_a_reference_at_the_fifth_level_is_delivered() -> None:
    receive(agent("a"), "k:[[[[[$hot.m1]]]]]")


@pytest.mark.parametrize("word", ["é", "x"])
def test_a_frame_that_would_grow_too_long_is_delivered(word: str) -> None:
    codec = Codec(counter=lambda text: len(text) // 4, ascii_only=True)
    receive(agent("a", codec=codec), f"k:{word * 500_000}")


def test_a_message_whose_references_lead_to_what_no_frame_holds_is_delivered() -> None:
    session = agent("a")
    session.receive(wire("k:$cold.abc"), NOW)
    events = session.resolve({ColdKey("s1", "cold.abc"): "[" * 200 + "]" * 200}, NOW)
    assert len(of(MessageReceived, events)) == 1
    assert of(FrameRefused, events) == []
