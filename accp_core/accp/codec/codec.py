"""From a message to frames and back (ACCP section 7.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from accp_core.accp.codec.chunking import swap
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
    """What encoding gives."""

    frames: tuple[Frame, ...]
    """One frame, or the chunks of one that was too big, in their order."""
    stored: tuple[StoredText, ...] = ()
    """What must be stored before a frame leaves."""
    tokens: int
    """Of all frames, an envelope of the usual size counted in where there is none yet."""
    notes: tuple[str, ...] = ()
    """Sentences on soft limits that were passed and on long values that stayed; for a log."""


@dataclass(frozen=True, slots=True)
class Codec(CodecSettings):
    """Makes frames of messages and messages of frames; keeps nothing between two calls and knows no session.

    Of the operations of section 7.1 these are Encode, Decode and RegisterSchema. Checkpoint and GetBudget change
    or read what a session has lived through, and are the session's.
    """

    # "Encode(message, session) -> Frame" (section 7.1)
    def encode(self, message: Message) -> Encoded:
        """Return the frames that say `message`, each within the limits.

        Raises: EncodeError: E1001 for two keys that a frame could not tell apart, E1004 for a field of the wrong
            type and for values that have no spelling, E2003 for a message that fits no frames; ProtocolError
            E1003 for an unknown schema.
        """
        work = Encoding(codec=self, message=message)
        for step in ENCODING:
            step(work)
        return Encoded(
            frames=work.frames,
            stored=tuple(work.stored.values()),
            tokens=sum(tokens.total for tokens in work.tokens),
            notes=tuple(work.notes),
        )

    # "Decode(frame, session) -> Message" (section 7.1)
    def decode(
        self, frame: Frame | str, resolved: Mapping[Ref, Value] | None = None, *, keep_refs: bool = False
    ) -> Message | NeedsRefs:
        """Return the message that a frame, or its text, says; or which references it needs beyond `resolved`.

        With `keep_refs` references stay in the message as they are.

        Raises: DecodeError as `parse_frame`; ProtocolError: E1003 for an unknown schema, E1001 for two spellings
            of one key, E1004 for a field of the wrong type.
        """
        work = Decoding(codec=self, source=frame, resolved=resolved or {}, keep_refs=keep_refs)
        for step in DECODING:
            step(work)
        return work.result

    def join(
        self, pieces: Sequence[Message], resolved: Mapping[Ref, Value] | None = None, *, keep_refs: bool = False
    ) -> Message | NeedsRefs:
        """Return the message whose frame was cut into `pieces`, all of them in order; the last one's envelope is its.

        Raises: as `decode`; ProtocolError E1001 also for pieces that are no text, or a frame of somebody else,
            or of pieces again.
        """
        data = [piece.payload.get("data") for piece in pieces]
        texts = [text for text in data if isinstance(text, str)]
        if not texts or len(texts) < len(data):
            raise ProtocolError("the pieces of a frame are text", code=ErrorCode.PARSE_ERROR)
        last = pieces[-1]
        frame = replace(self.read(swap("".join(texts))), envelope=last.envelope)
        if frame.sender != last.sender or (frame.intent, frame.operation) == (Intent.STREAM, FRAME_OPERATION):
            raise ProtocolError("a frame in pieces is its sender's and whole", code=ErrorCode.PARSE_ERROR)
        return self.decode(frame, resolved, keep_refs=keep_refs)

    # "RegisterSchema(name, schema)  Register a custom schema" (section 7.1)
    def register_schema(self, name: str, schema: Schema | Mapping[str, Any]) -> Codec:
        """Return a codec that knows `schema`, or the JSON of one (section 6.2), as well.

        Raises: ProtocolError E1004 when it is no schema of that name, E5001 when it conflicts with a known one.
        """
        known = schema if isinstance(schema, Schema) else Schema.from_json(name, schema)
        if known.name != name:
            raise ProtocolError(f"{known.name} is not {name}", code=ErrorCode.INVALID_TYPE)
        return replace(self, registry=self.registry.register(known))
