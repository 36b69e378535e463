"""The steps of a session: what was done to it, so that repeating the steps gives the same session.

A session is a function of what it was given (it has no clock and no randomness), so that a log of its inputs is a log
of its outputs as well: a worker that repeats the steps comes to the same frames, byte for byte.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from accp_core.accp.message import Message
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError
from accp_core.strict_json import compact_json, read_json

__all__ = ["SessionStep", "StepKind"]


class StepKind(StrEnum):
    """What was done to a session."""

    RECEIVE = "receive"
    """A frame of the peer was received."""
    SEND = "send"
    """A message of a handler was sent."""
    CONNECT = "connect"
    """A connection was attached."""
    DISCONNECT = "disconnect"
    """A connection was lost."""
    TIMER = "timer"
    """A time was reached."""
    TAKE_OVER = "take over"
    """A worker took over the requests of another one, which is gone."""
    GIVE_UP = "give up"
    """A request was closed without an answer, as none could be encoded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStep:
    """One input of a session."""

    kind: StepKind
    """What was done."""
    now: int
    """When, in seconds of the Unix epoch."""
    worker: str = ""
    """The worker that did it, which handles the requests that it begins."""
    text: str = ""
    """The frame: as received, or that of the sent message, without the metadata that the session sets."""
    name: str = ""
    """The msg_id of the received frame, or of the request that is answered or given up; the connection; the worker
    that is gone."""
    principal: str = ""
    """Whom the frame or the connection is of."""
    agents: tuple[str, ...] | None = None
    """The agents in whose names it may send; None: any."""
    literal: bool = False
    """Whether the peer has said nothing of resuming: it counts and repeats as the draft alone has it."""

    message: Message | None = field(default=None, compare=False)
    """The message of `text`, where it need not be read; it is not logged."""

    def to_text(self) -> str:
        """Return the step as it is logged."""
        fields: dict[str, Any] = {short: getattr(self, name) for name, short in _FIELDS.items()}
        return compact_json({short: value for short, value in fields.items() if value or short == "t"})

    @classmethod
    def from_text(cls, text: str) -> SessionStep:
        """Return the step that `to_text` wrote.

        Raises:
            ProtocolError: E9999, it is another text.
        """
        try:
            fields = {name: value for name, short in _FIELDS.items() if (value := read_json(text).get(short))}
            agents = fields.pop("agents", None)
            kind, now = StepKind(fields.pop("kind", "")), int(fields.pop("now", 0))
            return cls(kind=kind, now=now, agents=None if agents is None else tuple(agents), **fields)
        except (AttributeError, TypeError, ValueError) as error:
            reason = f"expected a step of a session, found {text!r:.80}"
            raise ProtocolError(reason, code=ErrorCode.INTERNAL_ERROR) from error


_FIELDS: Final = {
    "kind": "k",
    "now": "t",
    "worker": "w",
    "text": "x",
    "name": "n",
    "principal": "p",
    "agents": "a",
    "literal": "l",
}
"""Attribute to its name in the log."""
