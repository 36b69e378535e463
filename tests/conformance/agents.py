"""Two agents in one session, for the tests of the levels: what one sends is what the other receives."""

from collections.abc import Iterator
from itertools import count
from typing import Any

from accp_core import Envelope, parse_frame
from accp_core.accp import Frame, Intent
from accp_core.accp.codec import Codec
from accp_core.accp.frame import Message
from accp_core.accp.session.events import Event, FrameRefused
from accp_core.accp.session.session import Session

__all__ = ["NOW", "agent", "codes", "deliver", "frames", "message", "of", "wire"]

NOW = 1_714_000_000


def ids(agent_id: str) -> Iterator[str]:
    """Yield msg_ids as Table 4 wants them."""
    yield from (f"{number:06x}{sum(agent_id.encode()):06x}" for number in count(1))


def agent(agent_id: str, **options: Any) -> Session:
    """Return an agent's end of the session "s1"; a token is four characters."""
    codec = options.pop("codec", None) or Codec(counter=lambda text: len(text) // 4)
    new_id = ids(agent_id)
    return Session("s1", agent_id, codec=codec, new_id=lambda: next(new_id), **options)


def message(
    intent: str, operation: str = "op", /, *, schema: str | None = None, cid: str | None = None, **payload: Any
) -> Message:
    """Return a message; the session sets its sender and envelope, but for what it answers."""
    envelope = Envelope(correlation_id=cid)
    return Message(
        sender="x", intent=Intent(intent), operation=operation, payload=payload, schema=schema, envelope=envelope
    )


def wire(
    payload: str = "", *, mid: str | None = "m1", seq: int | None = 1, more: str = "", head: str = "@b>req:op"
) -> str:
    """Return the text of a frame of the peer."""
    fields = [f"mid:{mid}" if mid else "", f"seq:{seq}" if seq is not None else "", f"ts:{NOW}", more]
    return f"{head}{{{payload}}}[{','.join(filter(None, fields))}]"


def frames(texts: list[str]) -> list[Frame]:
    """Return what texts say."""
    return [parse_frame(text, strict=True) for text in texts]


def deliver(texts: list[str], to: Session, now: int = NOW) -> list[Event]:
    """Return what happens when `to` receives the texts."""
    return [event for text in texts for event in to.receive(text, now)]


def of(kind: type, events: list[Event]) -> list[Any]:
    """Return the events of one kind."""
    return [event for event in events if isinstance(event, kind)]


def codes(events: list[Event]) -> list[str]:
    """Return the codes of what was refused."""
    return [event.code for event in of(FrameRefused, events)]
