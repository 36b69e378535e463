"""From a message to frames and back: settings, chunks, both directions, the codec (ACCP sections 3.1, 3.3 and 7)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from hashlib import sha256
from typing import Any, Final

from accp_core.accp.budget import DRAFT_LIMITS, FrameLimits, FrameTokens, estimate_parts, with_placeholders
from accp_core.accp.frame import (
    FRAME_OPERATION,
    MAX_INLINE_CHARS,
    PLAIN_KEYS,
    SCHEMA_KEY,
    Envelope,
    Frame,
    Intent,
    KeyTable,
    Message,
    Ref,
    Value,
    is_long,
    value_to_json,
)
from accp_core.accp.grammar import DEFAULT_LIMITS, GrammarLimits
from accp_core.accp.parser import parse_frame
from accp_core.accp.profiles import BUILT_IN, check_fields
from accp_core.accp.schema import Schema, SchemaRegistry
from accp_core.accp.serializer import DecimalRule, check_size, serialize_envelope, serialize_parts
from accp_core.error_codes import ErrorCode
from accp_core.errors import DecodeError, EncodeError, ProtocolError
from accp_core.packing.expansion import DEFAULT_EXPANSION, Expansion, ExpansionError, ExpansionLimits, size_of
from accp_core.ports import TokenCounter
from accp_core.references import StoredText

__all__ = [
    "DECODING", "ENCODING", "Codec", "CodecSettings", "Decoding", "Encoded", "Encoding", "NeedsRefs", "cut_text",
    "is_frame_chunk", "join_chunks", "split_frame",
]  # fmt: skip


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
    """How decimals of more than six places are written: "exact", by section 3.1.1 rounded, or refused."""
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
            text, strict=self.strict, decimal_type=self.decimal_type, limits=self.grammar, ascii_ids=self.ascii_only
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


# How a frame over its limits is cut into the chunks of a stream (ACCP sections 3.4 and 10.4).

_QUOTED_STARTS: Final = frozenset('"=')
_MAX_INDEX: Final = 999_999
"""Chunks are counted with this index before their number is known."""


def is_frame_chunk(message: Message) -> bool:
    """Return whether `message` is a chunk of a frame that was cut, and not of a stream of the sender's own data."""
    return message.schema == "ST" and message.intent is Intent.STREAM and message.operation == FRAME_OPERATION


# "Frames exceeding the hard limit SHOULD be split into a frame sequence" (section 3.4)
def split_frame(frame: Frame, settings: CodecSettings) -> tuple[Frame, ...]:
    """Return the chunks of `frame`, which share its envelope and whose data is its text without the envelope.

    Their correlation_id is that of the frame, or else a digest of its text.

    Raises:
        EncodeError: E2003, the limits have no room for a chunk of one character.
    """
    text = settings.write(replace(frame, envelope=Envelope()))
    envelope = frame.envelope
    if envelope.correlation_id is None:
        digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
        envelope = replace(envelope, correlation_id=digest)
    whole = replace(frame, envelope=envelope)
    keys = settings.registry.get("ST").keys

    def fits(data: str) -> bool:
        chunk = _make_chunk(whole, keys, data, _MAX_INDEX, _MAX_INDEX + 1)
        return settings.limits.fits(settings.count(chunk))

    pieces = cut_text(text, fits, 2 * settings.limits.body_hard)
    return tuple(_make_chunk(whole, keys, data, index, len(pieces)) for index, data in enumerate(pieces))


def join_chunks(chunks: Sequence[Message]) -> str:
    """Return the text of the frame that was cut into `chunks`, without metadata.

    Raises:
        ProtocolError: E1001, the data of a chunk is not text.
    """
    data = [chunk.payload.get("data") for chunk in chunks]
    texts = [text for text in data if isinstance(text, str)]
    if not texts or len(texts) < len(data):
        raise ProtocolError("expected text as the data of each chunk", code=ErrorCode.PARSE_ERROR)
    return "".join(texts)


def _make_chunk(frame: Frame, keys: KeyTable, data: str, index: int, total: int) -> Frame:
    payload: dict[str, Value] = {"chunk_index": index, "total_chunks": total, "data": data}
    if index + 1 == total:
        payload["is_final"] = True
    params = {keys.to_wire(key): value for key, value in payload.items()}
    return replace(frame, intent=Intent.STREAM, operation=FRAME_OPERATION, params={**params, SCHEMA_KEY: "ST"})


def cut_text(text: str, fits: Callable[[str], bool], guess: int) -> list[str]:
    """Return `text` in pieces that fit, each nearly as long as possible.

    Args:
        text: The text to cut.
        fits: Returns whether a piece fits.
        guess: About how many characters a piece may have.

    Raises:
        EncodeError: E2003, not even one character fits.
    """
    pieces, position = [], 0
    while position < len(text):
        guess = _fitting_length(text, position, guess, fits)
        # A piece that begins so would be written in the quoted form, which the draft alone does not have.
        guess -= guess > 1 and text[position + guess : position + guess + 1] in _QUOTED_STARTS
        pieces.append(text[position : position + guess])
        position += guess
    return pieces


def _fitting_length(text: str, position: int, guess: int, fits: Callable[[str], bool]) -> int:
    """Return how many characters from `position` on fit; up to one in 32 fewer, because `fits` is expensive."""
    rest = len(text) - position
    low, high, length = 0, rest, min(guess, rest)
    while high - low > low // 32:
        if fits(text[position : position + length]):
            low = length
        else:
            high = length - 1
        length = min(high, low * 5 // 4 + 1) if high == rest else (low + high + 1) // 2
    if low == 0:
        raise EncodeError("expected limits with room for a chunk, found none", code=ErrorCode.BUDGET_EXCEEDED)
    return low


# From a message to frames, by the steps of the draft in its order (ACCP sections 3.3 and 7.2).

INLINE_INTENTS: Final = frozenset(
    {Intent.SYNCHRONIZE, Intent.FAILURE, Intent.STREAM, Intent.END_STREAM, Intent.PING, Intent.PONG}
)
"""Messages that must be readable without a store: deltas, registries, errors, chunks, heartbeats."""


@dataclass(slots=True, kw_only=True)
class Encoding:
    """The intermediate results of encoding one message."""

    codec: CodecSettings
    message: Message
    schema: Schema | None = None
    wire_keys: dict[str, str] = field(default_factory=dict)
    """Full key to key of the frame, in the message's order."""
    values: dict[str, Value] = field(default_factory=dict)
    """Full key to value of the frame."""
    stored: dict[str, StoredText] = field(default_factory=dict)
    """Full key to the text that is stored instead of its value."""
    frames: tuple[Frame, ...] = ()
    parts: tuple[tuple[str, str], ...] = ()
    """Each frame, serialized: header and body, and the metadata with placeholders for what is missing in it."""
    whole: tuple[str, int] = ("", 0)
    """Header and body of the frame before it is cut, and their tokens."""
    tokens: tuple[FrameTokens, ...] = ()
    """Those of each frame."""
    notes: list[str] = field(default_factory=list)


# "1. Schema resolution (expand or compact via registry)"
def resolve_schema(work: Encoding) -> None:
    """Find the schema, and check the types of its fields."""
    if work.message.schema is None:
        return
    work.schema = work.codec.registry.get(work.message.schema)
    try:
        check_fields(work.message)
    except ProtocolError as error:
        raise EncodeError(error.reason, code=error.code) from None


# "2. Key abbreviation (full keys to abbreviated keys)"
def abbreviate_keys(work: Encoding) -> None:
    """Abbreviate the keys of the payload; the keys within its values are the caller's own and stay."""
    keys = work.schema.keys if work.schema else PLAIN_KEYS
    work.wire_keys = {key: keys.to_wire(key) for key in work.message.payload}
    if len(set(work.wire_keys.values())) < len(work.wire_keys):
        raise EncodeError(
            "expected keys with different abbreviations, found two with the same", code=ErrorCode.PARSE_ERROR
        )


# "3. Value compression (inline values to references if large)"
# "If a value exceeds 50 characters, store in state and reference via $key." (section 3.3, item 4)
def compress_values(work: Encoding) -> None:
    """Replace long values by references where both ends share a store; elsewhere a reference would open nothing."""
    work.values = dict(work.message.payload)
    if work.message.intent in INLINE_INTENTS:
        return
    for key, value in work.values.items():
        if not is_long(value):
            continue
        if not work.codec.shared_store:
            work.notes.append(f"{key}: over {MAX_INLINE_CHARS} characters stay in the frame, no store is shared")
        elif (text := value_to_json(value)) is not None:
            work.stored[key] = StoredText.of(text)
    work.values |= {key: Ref(stored.key) for key, stored in work.stored.items()}


# "4. Default omission (remove fields matching schema defaults)"
def omit_defaults(work: Encoding) -> None:
    """Remove the fields that the receiver fills in; it fills in nothing in a failure."""
    if work.schema is None or work.message.intent is Intent.FAILURE:
        return
    for key, value in work.message.payload.items():
        if work.schema.is_default(key, value):
            del work.values[key]
            work.stored.pop(key, None)


# "5. Token estimation (count via BPE tokenizer)"
def estimate_tokens(work: Encoding) -> None:
    """Build the frame and count its tokens."""
    params = {work.wire_keys[key]: value for key, value in work.values.items()}
    if work.schema:
        params[SCHEMA_KEY] = work.schema.code
    message = work.message
    frame = Frame(
        sender=message.sender,
        intent=message.intent,
        operation=message.operation,
        params=params,
        envelope=message.envelope,
    )
    measure(work, (frame,))
    work.whole = work.parts[0][0], work.tokens[0].header + work.tokens[0].body


def measure(work: Encoding, frames: tuple[Frame, ...]) -> None:
    """Serialize and count frames, each once."""
    parts = [work.codec.write_parts(frame) for frame in frames]
    work.frames, work.parts = frames, tuple(parts)
    work.tokens = tuple(estimate_parts(*part, work.codec.counter) for part in parts)


# "6. Budget check (within frame limits): if YES, emit single frame; if NO, split into frame sequence or
# externalize to state"
def check_budget(work: Encoding) -> None:
    """Cut a frame over its limits into chunks, or refuse it; step 3 has externalized already."""
    (tokens,), limits = work.tokens, work.codec.limits
    work.notes += limits.notes(tokens)
    if limits.fits(tokens):
        return
    if not work.codec.split or is_frame_chunk(work.message):
        raise EncodeError(
            f"expected at most {limits.total_hard} tokens, {limits.body_hard} of them in the body, "
            f"found {tokens.total} and {tokens.body}",
            code=ErrorCode.BUDGET_EXCEEDED,
        )
    measure(work, split_frame(work.frames[0], work.codec))


# "7. Emit ACCP Frame string"
def emit(work: Encoding) -> None:
    """Check that every frame is within its limits; the session completes the envelope and writes the text."""
    if not all(map(work.codec.limits.fits, work.tokens)):
        raise EncodeError("expected chunks within the limits, found a larger one", code=ErrorCode.BUDGET_EXCEEDED)


ENCODING: Final[tuple[Callable[[Encoding], None], ...]] = (
    resolve_schema,
    abbreviate_keys,
    compress_values,
    omit_defaults,
    estimate_tokens,
    check_budget,
    emit,
)
"""The steps of section 7.2."""


# From a frame to a message, by the steps of the draft in its order (ACCP section 7.3).

_SCALARS: Final = (str, int, float)


@dataclass(frozen=True, slots=True, kw_only=True)
class NeedsRefs:
    """The values of references are missing; nothing of the frame was decoded."""

    refs: tuple[Ref, ...]
    """Every missing reference, once, in the order of the frame."""
    frame: Frame
    """The frame, to be decoded again with their values."""


@dataclass(slots=True, kw_only=True)
class Decoding:
    """The intermediate results of decoding one frame."""

    codec: CodecSettings
    source: Frame | str
    resolved: Mapping[Ref, Value]
    keep_refs: bool
    frame: Frame = field(init=False)
    schema: Schema | None = None
    values: dict[str, Value] = field(default_factory=dict)
    """Key of the frame to value, with references resolved and without the key that names the schema."""
    missing: dict[Ref, None] = field(default_factory=dict)
    """References without a value, in the order of the frame."""
    sizes: dict[Ref, int] = field(default_factory=dict)
    """Members and characters of the value of each reference that was resolved."""
    expansion: Expansion | None = None
    """What more places of references may add; None: each has one place so far."""
    payload: dict[str, Value] = field(default_factory=dict)
    defaulted: frozenset[str] = frozenset()
    result: Message | NeedsRefs = field(init=False)


# "1. Parse grammar (header, body, metadata)"
def parse_grammar(work: Decoding) -> None:
    """Parse the text, where the source is one."""
    work.frame = work.codec.read(work.source) if isinstance(work.source, str) else work.source


# "2. Resolve references ($warm.key, $cold.key, schema codes)"
def resolve_references(work: Decoding) -> None:
    """Find the schema and replace references by their values; those without one are collected."""
    work.values = dict(work.frame.params)
    code = work.values.pop(SCHEMA_KEY, None)
    if SCHEMA_KEY in work.frame.params:
        if not isinstance(code, str):
            raise ProtocolError(
                f"expected the code of a schema, found {type(code).__name__}", code=ErrorCode.INVALID_TYPE
            )
        work.schema = work.codec.registry.get(code)
    if not work.keep_refs:
        work.values = {key: _resolve(value, work) for key, value in work.values.items()}


def _resolve(value: Value, work: Decoding) -> Value:
    """Return `value` with the values of the references in it."""
    if isinstance(value, _SCALARS):
        return value
    if isinstance(value, Ref):
        if value in work.resolved:
            _count(value, work)
            return work.resolved[value]
        work.missing[value] = None
    elif isinstance(value, (dict, Mapping)):
        return {key: _resolve(member, work) for key, member in value.items()}
    elif isinstance(value, (list, tuple)):
        return [_resolve(item, work) for item in value]
    return value


def _count(ref: Ref, work: Decoding) -> None:
    """Count a place of a reference; its first place is free, for the value is stored in that size.

    Raises:
        DecodeError: E2003, the message would become too large.
    """
    if ref not in work.sizes:
        work.sizes[ref] = size_of(work.resolved[ref])
        return
    if work.expansion is None:
        size = size_of(dict(work.frame.params)) + sum(map(size_of, work.resolved.values()))
        work.expansion = Expansion(work.codec.expansion.of(size) - size)
    try:
        work.expansion.add(work.sizes[ref], f"${ref.key}")
    except ExpansionError as error:
        text = work.source if isinstance(work.source, str) else error.sign
        position = max(text.find(error.sign), 0)
        raise DecodeError(str(error), code=ErrorCode.BUDGET_EXCEEDED, text=text, position=position) from None


# "3. Expand abbreviations (abbreviated keys to full keys)"
def expand_abbreviations(work: Decoding) -> None:
    """Expand the keys of the payload."""
    keys = work.schema.keys if work.schema else PLAIN_KEYS
    work.payload = {keys.to_full(key): value for key, value in work.values.items()}
    if len(work.payload) < len(work.values):
        raise ProtocolError("expected each key once, found one in two spellings", code=ErrorCode.PARSE_ERROR)


# "4. Apply schema defaults (fill omitted fields)"
def apply_defaults(work: Decoding) -> None:
    """Fill in the fields that the sender omitted; a failure has only its own fields."""
    if work.schema is None or work.frame.intent is Intent.FAILURE:
        return
    missing = work.schema.missing(work.payload)
    work.payload |= missing
    work.defaulted = frozenset(missing)


# "5. Reconstruct structured message"
def reconstruct(work: Decoding) -> None:
    """Build the message and check the types of its fields, unless a reference is missing."""
    frame = work.frame
    if work.missing:
        work.result = NeedsRefs(refs=tuple(work.missing), frame=frame)
        return
    work.result = Message(
        sender=frame.sender,
        intent=frame.intent,
        operation=frame.operation,
        payload=work.payload,
        schema=work.schema.code if work.schema else None,
        defaulted=work.defaulted,
        envelope=frame.envelope,
    )
    check_fields(work.result)


# "6. Return structured message for LLM context injection" is `Codec.decode` itself.
DECODING: Final[tuple[Callable[[Decoding], None], ...]] = (
    parse_grammar,
    resolve_references,
    expand_abbreviations,
    apply_defaults,
    reconstruct,
)
"""The steps of section 7.3."""


# The codec: from a message to frames and back (ACCP section 7.1).


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
