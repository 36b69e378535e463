"""What a frame means: full keys, JSON values, the schema named (ACCP sections 2.2 and 7.3, item 5)."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from accp_core.accp.frame import Envelope, Value
from accp_core.accp.vocabulary import Intent

__all__ = ["Message"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message between agents; the codec makes a frame of it, and one of a frame."""

    sender: str
    """The agent-id of who sends."""
    intent: Intent
    """What the message is for."""
    operation: str
    """The verb; any name will do."""
    payload: Mapping[str, Value] = field(default_factory=dict)
    """Full key to JSON value; a `Ref` is a value that stands in the state, REMOVED a key that a delta removes."""
    schema: str | None = None
    """The code of the schema whose aliases and defaults hold, such as "TA"."""
    defaulted: frozenset[str] = frozenset()
    """Keys of the payload that the frame did not hold: the schema's defaults; what one encodes is not asked."""
    envelope: Envelope = field(default_factory=Envelope)
    """The metadata; the session sets id, sequence and time."""
