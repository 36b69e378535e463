"""What an observer is told of a frame (ACCP section 9, item 1)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from accp_core.accp.frame import Frame
from accp_core.accp.profiles import BUILT_IN
from accp_core.accp.schema import SchemaRegistry

__all__ = ["Direction", "FrameSeen", "Observer"]


class Direction(StrEnum):
    """Which way a frame went."""

    SENT = "sent"
    RECEIVED = "received"


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameSeen:
    """One frame as it passed: what an observer is told."""

    direction: Direction
    """Which way it went."""
    session_id: str
    """The session that it passed through."""
    frame: Frame | None
    """The frame as on the wire; None for a text that is none and for a message that came in several frames."""
    payload: Mapping[str, object] | None = None
    """The message's payload under full keys; None where decoding did not come so far."""
    defaulted: frozenset[str] = frozenset()
    """Keys of `payload` that the schema filled in."""
    registry: SchemaRegistry = BUILT_IN
    """Whose schemas the frame's abbreviations are of."""
    tokens: int | None = None
    """Of the frame's canonical text; None where there is none, or nobody counted."""
    notes: tuple[str, ...] = ()
    """What else happened to it, such as "part 2 of 3"; in words, without values."""
    code: str | None = None
    """The error code with which it was refused; None when it was accepted."""
    reason: str = ""
    """Why it was refused, or dropped without a word to the sender."""


Observer: TypeAlias = Callable[[FrameSeen], None]
"""What a session calls with each frame; it must not raise."""
