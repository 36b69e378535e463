"""What a frame says, exactly and unexpanded: keys and values as on the wire (ACCP sections 3.1 and 3.5)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TypeAlias

from accp_core.accp.vocabulary import Intent
from accp_core.packing.delta import REMOVED, Removed

__all__ = ["REMOVED", "Envelope", "Frame", "LiteralKey", "Ref", "Removed", "Value"]


@dataclass(frozen=True, slots=True)
class Ref:
    """A value that stands in the state and not in the frame: `$warm.ckpt_1.status` (section 5.1)."""

    key: str
    """The ref-key without its `$`, such as "warm.ckpt_1.status"."""


Value: TypeAlias = "bool | int | float | Decimal | str | Ref | Removed | Sequence[Value] | Mapping[str, Value] | None"
"""What may stand after a key; arrays are read as lists and maps as dicts."""


class LiteralKey(str):
    """A parameter's key that stands for itself, although it may spell an abbreviation (section 4.2).

    Under `LiteralKey("d")` stands the sender's own `d`, written `_x64_`; under "d" stands its `data`. The two
    are different keys and compare unequal. Only keys of the ABNF's alphabet need it: any other is escaped
    anyhow, is never an abbreviation and is read as a str.
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LiteralKey) and str.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((LiteralKey, str.__hash__(self)))

    def __repr__(self) -> str:
        return f"LiteralKey({str.__repr__(self)})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """The metadata block (Table 4); a field that is not in the frame is None.

    Parsing requires no field. That "frames missing mid or seq MUST be rejected" is for the receiving session.
    """

    msg_id: str | None = None
    """`mid`: unique in the session; 12 hex digits by Table 4, but the draft's own examples have fewer."""
    sequence: int | None = None
    """`seq`: one more than that of the frame before."""
    timestamp: int | None = None
    """`ts`: when it was sent, in seconds of the Unix epoch."""
    correlation_id: str | None = None
    """`cid`: what links a response to its request."""
    causation_id: str | None = None
    """`aid`: the message that caused this one."""
    session_id: str | None = None
    """`sid`: the session, where the transport does not name it."""
    ttl: int | None = None
    """`ttl`: seconds after `timestamp` at which the frame expires; 0 means never."""
    extra: Mapping[str, str] = field(default_factory=dict)
    """Fields that Table 4 does not know, as they stood."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """One frame; `parse_frame` reads it and `serialize_frame` writes it."""

    sender: str
    """The agent-id of the header: who sends, not who receives."""
    intent: Intent
    """What the frame is for."""
    operation: str
    """The verb; any name will do, section 4.3 only recommends some."""
    params: Mapping[str, Value] = field(default_factory=dict)
    """The payload in its own order, keys unescaped but not expanded."""
    envelope: Envelope = field(default_factory=Envelope)
    """The metadata; without any field there is no block."""
