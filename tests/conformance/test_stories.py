"""The vectors that are stories: what one session reports and answers, step by step."""

from collections.abc import Mapping
from itertools import count
from typing import Any

import pytest

from accp_core import Frame, parse_frame
from accp_core.accp.budget import PRACTICAL_LIMITS
from accp_core.accp.codec import Codec
from accp_core.accp.frame import Message
from accp_core.accp.profiles import ToolSignature
from accp_core.accp.session.delivery import SequenceScope
from accp_core.accp.session.events import CheckpointTaken, Event, SessionOptions
from accp_core.accp.session.session import Session
from accp_core.accp.state.checkpoint import Checkpoint
from accp_core.accp.state.context_state import ColdKey, ContextState, Entry
from tests.conformance.vectors import build_message, build_value, exact, load
from tests.core.accp.session.handover import hand_over

CODEC = Codec(counter=len, limits=PRACTICAL_LIMITS)


def begin(story: Mapping[str, Any]) -> Session:
    options = dict(story.get("options", {}))
    if "scope" in options:
        options["scope"] = SequenceScope(options["scope"])
    numbers = count(1)
    state = ContextState(session_id="s1", lifetimes=story.get("lifetimes", {}))
    for key, entry in story.get("hot", {}).items():
        state = state.put_hot(key, Entry(value=build_value(entry["value"]), tokens=1, expires_at=entry["expires_at"]))
    tools = {name: ToolSignature(required=frozenset(needed)) for name, needed in story.get("tools", {}).items()}
    return Session(
        "s1",
        "me",
        codec=CODEC,
        new_id=lambda: f"{next(numbers):012x}",
        state=state,
        options=SessionOptions(**options),
        grants=[ColdKey(*grant) for grant in story.get("grants", ())],
        tools=tools if "tools" in story else None,
    )


def take(session: Session, step: Mapping[str, Any]) -> tuple[list[Event], list[str]]:
    """Return what a step reports and what leaves by it."""
    now = step["at"]
    if "send" in step:
        return [], session.send(build_message(step["send"]), now)
    if "timer" in step and step["timer"] is True:
        events = session.handle_timer(now)
    elif "resolve" in step:
        owner = step.get("of", session.session_id)
        events = session.resolve({ColdKey(owner, key): text for key, text in step["resolve"].items()}, now)
    else:
        events = session.receive(step["receive"], now)
    return events, session.frames_to_send()


def told(event: Event) -> dict[str, Any]:
    """Return the fields of an event, those of its message or checkpoint among them."""
    fields = {"event": type(event).__name__}
    for subject in (event, getattr(event, "message", None), getattr(event, "checkpoint", None)):
        if subject is not None:
            fields |= {name: getattr(subject, name) for name in subject.__slots__}
    return fields


def written(text: str) -> dict[str, Any]:
    """Return the fields of an answer, those of its payload and its envelope among them."""
    frame: Frame = parse_frame(text, strict=True)
    message = CODEC.decode(frame)
    assert isinstance(message, Message)
    envelope = frame.envelope
    known = {"mid": envelope.msg_id, "sequence": envelope.sequence, "cid": envelope.correlation_id}
    head = {"intent": frame.intent, "operation": frame.operation, "payload": message.payload}
    return {**message.payload, **known, **head}


def plain(value: Any) -> Any:
    """Return a value as a vector says it."""
    if isinstance(value, tuple):
        return [plain(item) for item in value]
    return [value.session_id, value.key] if isinstance(value, ColdKey) else value


def compare(found: list[dict[str, Any]], wanted: list[dict[str, Any]]) -> None:
    names = [each.get("event", each.get("intent")) for each in found]
    assert len(found) == len(wanted), names
    for one, other in zip(found, wanted, strict=True):
        for name, value in other.items():
            said = plain(one[name])
            assert exact(said) == exact(build_value(value)) or said == value, (name, one)


@pytest.mark.requirement("3.5-4", "3.5-7", "3.7-2", "3.7-3", "3.7-4", "3.7-6", "3.7-7", "8.3-4", cases="3.7-delivery")
@pytest.mark.requirement("3.5-5", "6.4-1", "8.1-1", cases="3.6-errors")
@pytest.mark.requirement("5.2-1", "8.2-1", "8.3-1", "9-4", cases="5-state")
@pytest.mark.parametrize("is_restored", [False, True], ids=["stays", "restored"])
@pytest.mark.parametrize("story", load("accp", "stories"))
def test_a_session_reports_and_answers_this_at_each_step(story: dict[str, Any], is_restored: bool) -> None:
    session = begin(story)
    for step in story["steps"]:
        session = hand_over(session) if is_restored else session
        events, texts = take(session, step)
        assert all(getattr(event, "cause", None) is None for event in events), events
        compare([told(event) for event in events], step["events"])
        compare([written(text) for text in texts], step.get("reply", []))
        if "context" in step:
            assert exact(session.state.context) == exact(build_value(step["context"]))
        if "timer" in step and step["timer"] is not True:
            assert session.get_timer() == step["timer"]


def test_a_checkpoint_of_a_story_has_its_own_fields() -> None:
    session = begin({})
    session.send(build_message({"sender": "me", "intent": "comp", "operation": "op", "payload": {}}), 0)
    (taken,) = session.handle_timer(0)
    assert isinstance(taken, CheckpointTaken)
    assert isinstance(taken.checkpoint, Checkpoint)
    assert told(taken)["id"] == "ckpt_1"
