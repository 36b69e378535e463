"""What a session tells its observer about a frame (ACCP section 9, item 1)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from accp_core.accp.frame import Frame
from accp_core.accp.profiles import BUILT_IN
from accp_core.accp.schema import SchemaRegistry

__all__ = ["Direction", "FrameSeen", "Observer"]


class Direction(StrEnum):
    """Whether a frame was sent or received."""

    SENT = "sent"
    RECEIVED = "received"


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameSeen:
    """One frame that was sent, received, refused or dropped."""

    direction: Direction
    """Whether it was sent or received."""
    session_id: str
    """Its session."""
    frame: Frame | None
    """The frame as on the wire; None for a text that is not a frame and for a message that came in chunks."""
    payload: Mapping[str, object] | None = None
    """The message's payload under full keys; None where the frame was not decoded."""
    kind: str = "a message of several frames"
    """What has the payload where there is no frame, such as an envelope of ACP."""
    defaulted: frozenset[str] = frozenset()
    """Keys of `payload` that the schema filled in."""
    registry: SchemaRegistry = BUILT_IN
    """The schemas by which the frame's keys are expanded."""
    tokens: int | None = None
    """Tokens of the frame's text; None where they were not counted, as for a refused frame."""
    notes: tuple[str, ...] = ()
    """Other remarks, such as "part 2 of 3", without values of the payload."""
    code: str | None = None
    """The error code with which it was refused; None where it was accepted."""
    reason: str = ""
    """Why it was refused or dropped."""


Observer: TypeAlias = Callable[[FrameSeen], None]
"""What a session calls with each frame; it must not raise."""
