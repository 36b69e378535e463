"""A client's end of a session, for tests of the host."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any, Final

from accp_adapters.serving.principals import Principal
from accp_core.accp import Codec, Envelope, Event, Message, MessageReceived, Session, SessionOptions
from accp_core.accp.frame import Intent

__all__ = ["ANN", "BOB", "CODEC", "Client", "count_characters"]

ANN: Final = Principal("ann's company")
BOB: Final = Principal("bob's company")


def count_characters(text: str) -> int:
    """Return about the tokens of a text, without a vocabulary."""
    return len(text) // 4 + 1


CODEC: Final = Codec(counter=count_characters)


class Client:
    """A session of the agent `ann`, whose msg_ids count."""

    def __init__(self, session_id: str = "s1", agent: str = "ann", **options: Any) -> None:
        numbers = count(1)
        chosen = SessionOptions(name_session=True, checkpoints=frozenset(), **options)
        self.session = Session(session_id, agent, codec=CODEC, new_id=lambda: f"{agent}{next(numbers)}", options=chosen)

    def ask(self, operation: str, intent: Intent = Intent.REQUEST, **payload: Any) -> str:
        """Return the frame of a request."""
        envelope = payload.pop("envelope", Envelope())
        message = Message(sender="", intent=intent, operation=operation, payload=payload, envelope=envelope)
        (frame,) = self.session.send(message, 1_000)
        return frame

    def take(self, frames: Sequence[str]) -> list[Event]:
        """Return the events of received frames."""
        return [event for frame in frames for event in self.session.receive(frame, 1_000)]

    def messages(self, frames: Sequence[str]) -> list[Message]:
        """Return the messages of received frames."""
        return [event.message for event in self.take(frames) if isinstance(event, MessageReceived)]
