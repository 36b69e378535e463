"""A frame as it is on the wire, with keys and values that are not expanded (ACCP sections 3.1 and 3.5)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TypeAlias

from accp_core.accp.vocabulary import Intent
from accp_core.packing.delta import REMOVED, Removed

__all__ = ["REMOVED", "Envelope", "Frame", "LiteralKey", "Ref", "Removed", "Value"]


@dataclass(frozen=True, slots=True)
class Ref:
    """A reference to a value in the state: `$warm.ckpt_1.status` (section 5.1)."""

    key: str
    """The ref-key without its `$`, such as "warm.ckpt_1.status"."""


Value: TypeAlias = "bool | int | float | Decimal | str | Ref | Removed | Sequence[Value] | Mapping[str, Value] | None"
"""The value of a parameter; arrays are read as lists and maps as dicts."""


class LiteralKey(str):
    """The key of a parameter that must not be expanded, although it may look like an abbreviation (section 4.2).

    `LiteralKey("d")` is the sender's own key `d`, written `_x64_`, while "d" is the abbreviation of `data`: the two are
    different keys and compare unequal. Only keys in the ABNF's alphabet need it: any other key is escaped anyway, is
    never an abbreviation and is read as a str.
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

    Parsing requires no field; the session checks that "frames missing mid or seq MUST be rejected".
    """

    msg_id: str | None = None
    """`mid`: unique in the session; 12 hexadecimal digits by Table 4, but the draft's own examples have fewer."""
    sequence: int | None = None
    """`seq`: one more than that of the frame before."""
    timestamp: int | None = None
    """`ts`: the time of sending, in seconds of the Unix epoch."""
    correlation_id: str | None = None
    """`cid`: links a response to its request."""
    causation_id: str | None = None
    """`aid`: the message that caused this one."""
    session_id: str | None = None
    """`sid`: the session, for transports that do not name it."""
    ttl: int | None = None
    """`ttl`: seconds from `timestamp` until the frame expires; 0: never."""
    extra: Mapping[str, str] = field(default_factory=dict)
    """Fields that are not in Table 4, unchanged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """One frame, which `parse_frame` reads and `serialize_frame` writes."""

    sender: str
    """The agent-id in the header, which is that of the sending agent."""
    intent: Intent
    """The purpose of the frame."""
    operation: str
    """The verb; section 4.3 recommends some, and any other name is allowed."""
    params: Mapping[str, Value] = field(default_factory=dict)
    """The payload in its own order, with keys unescaped but not expanded."""
    envelope: Envelope = field(default_factory=Envelope)
    """The metadata; without a field no block is written."""
