"""The options of a codec: how it reads, writes and counts one frame (ACCP sections 3.1 and 3.4)."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal

from accp_core.accp.budget import DRAFT_LIMITS, FrameLimits, FrameTokens, estimate_parts, with_placeholders
from accp_core.accp.frame import Envelope, Frame
from accp_core.accp.grammar import DEFAULT_LIMITS, GrammarLimits
from accp_core.accp.parser import parse_frame
from accp_core.accp.profiles import BUILT_IN
from accp_core.accp.schema import SchemaRegistry
from accp_core.accp.serializer import DecimalRule, check_size, serialize_envelope, serialize_parts
from accp_core.packing.expansion import DEFAULT_EXPANSION, ExpansionLimits
from accp_core.ports import TokenCounter

__all__ = ["CodecSettings"]


@dataclass(frozen=True, slots=True)
class CodecSettings:
    """The options of a codec, and what they alone decide."""

    registry: SchemaRegistry = BUILT_IN
    """The schemas that a message may name."""
    counter: TokenCounter = field(kw_only=True)
    """Counts the tokens of a frame."""
    limits: FrameLimits = field(default=DRAFT_LIMITS, kw_only=True)
    """The tokens that a frame may have."""
    shared_store: bool = field(default=False, kw_only=True)
    """Whether both ends read the same store; only then a long value is sent as a reference."""
    split: bool = field(default=True, kw_only=True)
    """Whether a frame over its limits is cut into chunks; False: it is refused."""
    ascii_only: bool = field(default=False, kw_only=True)
    """Whether frames are written in the characters of the ABNF alone."""
    decimal: DecimalRule = field(default="exact", kw_only=True)
    """How decimals of more than six places are written: all places, or by section 3.1.1 rounded: "round6"."""
    strict: bool = field(default=False, kw_only=True)
    """Whether the errata of the draft's own examples are refused."""
    decimal_type: type[float] | type[Decimal] = field(default=float, kw_only=True)
    """The type of the decimals that are read. With float, one whose digits a float does not hold is a Decimal."""
    grammar: GrammarLimits = field(default=DEFAULT_LIMITS, kw_only=True)
    """How much one frame may hold."""
    expansion: ExpansionLimits = field(default=DEFAULT_EXPANSION, kw_only=True)
    """How large a message may become where a reference stands in several places."""

    def read(self, text: str) -> Frame:
        """Return the frame that `text` spells.

        Raises:
            DecodeError: as `parse_frame`.
        """
        return parse_frame(
            text,
            strict=self.strict,
            decimal_type=self.decimal_type,
            limits=self.grammar,
            ascii_ids=self.ascii_only,
        )

    def write(self, frame: Frame) -> str:
        """Return the text of a frame.

        Raises:
            EncodeError: as `serialize_frame`.
        """
        return "".join(self._parts(frame))

    def write_parts(self, frame: Frame) -> tuple[str, str]:
        """Return header and body of a frame, and its metadata with a placeholder for what a session adds to it.

        Raises:
            EncodeError: as `serialize_frame`.
        """
        return self._parts(with_placeholders(frame))

    def _parts(self, frame: Frame) -> tuple[str, str]:
        return serialize_parts(frame, ascii_only=self.ascii_only, decimal=self.decimal, limits=self.grammar)

    def complete(self, body: str, envelope: Envelope) -> str:
        """Return the text of a frame whose header and body are written already.

        Raises:
            EncodeError: as `serialize_frame`.
        """
        metadata = serialize_envelope(envelope, ascii_only=self.ascii_only, limits=self.grammar)
        check_size(body, metadata, self.grammar)
        return body + metadata

    def count(self, frame: Frame) -> FrameTokens:
        """Return the tokens of a frame, with placeholders for a missing msg_id, sequence and timestamp.

        Raises:
            EncodeError: as `serialize_frame`.
        """
        return estimate_parts(*self.write_parts(frame), self.counter)
