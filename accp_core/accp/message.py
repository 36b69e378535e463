"""A message: the decoded frame, with full keys and JSON values (ACCP sections 2.2 and 7.3, item 5)."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from accp_core.accp.frame import Envelope, Value
from accp_core.accp.vocabulary import Intent

__all__ = ["Message"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message between agents, which the codec encodes as a frame."""

    sender: str
    """The agent-id of the sending agent."""
    intent: Intent
    """The purpose of the message."""
    operation: str
    """The verb; any name is allowed."""
    payload: Mapping[str, Value] = field(default_factory=dict)
    """Full key to JSON value; a `Ref` is a value in the state, REMOVED marks a key that a delta removes.

    In a decoded message the keys of maps are in ascending order (section 3.1.1), and a decimal is a float, or a Decimal
    where a float does not hold its digits (`CodecSettings.decimal_type`)."""
    schema: str | None = None
    """The code of the schema whose aliases and defaults apply, such as "TA"."""
    defaulted: frozenset[str] = frozenset()
    """Keys of a decoded payload that the schema's defaults filled in; encoding ignores them."""
    envelope: Envelope = field(default_factory=Envelope)
    """The metadata; a session sets msg_id, sequence and timestamp."""
