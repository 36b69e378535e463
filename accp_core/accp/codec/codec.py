"""The codec: from a message to frames and back (ACCP section 7.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from accp_core.accp.codec.chunking import join_chunks
from accp_core.accp.codec.decoding import DECODING, Decoding, NeedsRefs
from accp_core.accp.codec.encoding import ENCODING, Encoding
from accp_core.accp.codec.settings import CodecSettings
from accp_core.accp.frame import Frame, Ref, Value
from accp_core.accp.message import Message
from accp_core.accp.schema import Schema
from accp_core.accp.vocabulary import FRAME_OPERATION, Intent
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError
from accp_core.references import StoredText

__all__ = ["Codec", "Encoded"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoded:
    """The frames of a message."""

    frames: tuple[Frame, ...]
    """One frame, or the chunks of a frame over its limits, in order."""
    parts: tuple[tuple[str, str], ...]
    """Each frame, serialized: header and body, and its metadata, with placeholders for a missing msg_id, sequence and
    timestamp; `Codec.complete` writes other metadata."""
    stored: tuple[StoredText, ...] = ()
    """Texts that must be in the shared store before a frame is sent."""
    tokens: int
    """Tokens of all frames, part by part, with placeholders for what a session adds to their envelopes."""
    whole: tuple[str, int]
    """Header and body of the message in one frame, serialized, and their tokens."""
    notes: tuple[str, ...] = ()
    """Sentences about exceeded soft limits and long values in the frame, for a log."""


@dataclass(frozen=True, slots=True)
class Codec(CodecSettings):
    """Encodes messages and decodes frames; it has no state and does not know sessions.

    Of the operations of section 7.1 it has Encode, Decode and RegisterSchema. Checkpoint and GetBudget need the history
    of a session, which has them.
    """

    # "String: Raw printable ASCII", "Decimal: Canonical 6dp" (section 3.1.1)
    def literal(self) -> Codec:
        """Return a codec that writes what peers read that know the draft alone: ASCII, and six places of a decimal."""
        return replace(self, ascii_only=True, decimal="round6")

    # "Encode(message, session) -> Frame" (section 7.1)
    def encode(self, message: Message) -> Encoded:
        """Return the frames of `message`, each within the limits.

        Raises:
            EncodeError: E1001, two keys have the same abbreviation; E1004, a field has the wrong type, or a value
                cannot be written; E2003, the message does not fit into frames.
            ProtocolError: E1003, the schema is unknown.
        """
        work = Encoding(codec=self, message=message)
        for step in ENCODING:
            step(work)
        return Encoded(
            frames=work.frames,
            parts=work.parts,
            stored=tuple(work.stored.values()),
            tokens=sum(tokens.total for tokens in work.tokens),
            whole=work.whole,
            notes=tuple(work.notes),
        )

    # "Decode(frame, session) -> Message" (section 7.1)
    def decode(
        self, frame: Frame | str, resolved: Mapping[Ref, Value] | None = None, *, keep_refs: bool = False
    ) -> Message | NeedsRefs:
        """Return the message of a frame, or the references whose values are needed first.

        Args:
            frame: The frame or its text.
            resolved: Values of references.
            keep_refs: Whether references stay in the message as they are.

        Raises:
            DecodeError: as `parse_frame`; E2003, the values of references in several places pass `expansion`.
            ProtocolError: E1001, a key stands in two spellings; E1003, the schema is unknown; E1004, a field has the
                wrong type.
        """
        work = Decoding(codec=self, source=frame, resolved=resolved or {}, keep_refs=keep_refs)
        for step in DECODING:
            step(work)
        return work.result

    def join(
        self, chunks: Sequence[Message], resolved: Mapping[Ref, Value] | None = None, *, keep_refs: bool = False
    ) -> Message | NeedsRefs:
        """Return the message of a frame that was cut into chunks; its envelope is that of the last chunk.

        Args:
            chunks: All chunks, in order.
            resolved: As in `decode`.
            keep_refs: As in `decode`.

        Raises:
            DecodeError: as `decode`.
            ProtocolError: E1001, the data of a chunk is not text, or the chunks hold a frame of another sender or a
                chunk; or as `decode`.
        """
        text, last = join_chunks(chunks), chunks[-1]
        frame = replace(self.read(text), envelope=last.envelope)
        if frame.sender != last.sender or (frame.intent, frame.operation) == (Intent.STREAM, FRAME_OPERATION):
            raise ProtocolError("expected the chunks of a whole frame of their own sender", code=ErrorCode.PARSE_ERROR)
        return self.decode(frame, resolved, keep_refs=keep_refs)

    # "RegisterSchema(name, schema)  Register a custom schema" (section 7.1)
    def register_schema(self, name: str, schema: Schema | Mapping[str, Any]) -> Codec:
        """Return a codec that knows one more schema.

        Args:
            name: The name of the schema.
            schema: The schema, or its JSON (section 6.2).

        Raises:
            ProtocolError: E1004, it is not a schema of that name; E5001, it conflicts with a known one.
        """
        known = schema if isinstance(schema, Schema) else Schema.from_json(name, schema)
        if known.name != name:
            raise ProtocolError(f"expected the schema {name!r}, found {known.name!r}", code=ErrorCode.INVALID_TYPE)
        return replace(self, registry=self.registry.register(known))
