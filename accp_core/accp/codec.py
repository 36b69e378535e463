"""From a message to frames and back, by the steps of the draft in its order (ACCP sections 3.3 and 7)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from hashlib import sha256
from typing import Any, Final

from accp_core.accp.budget import DRAFT_LIMITS, FrameLimits, FrameTokens, estimate, with_stand_in
from accp_core.accp.frame import Envelope, Frame, Ref, Value
from accp_core.accp.grammar import DEFAULT_LIMITS, Limits
from accp_core.accp.keys import PLAIN_KEYS, SCHEMA_KEY
from accp_core.accp.message import Message
from accp_core.accp.parser import parse_frame
from accp_core.accp.profiles import BUILT_IN, check_fields
from accp_core.accp.schema import Schema, SchemaRegistry
from accp_core.accp.serializer import serialize_frame
from accp_core.accp.state.context_state import ColdWrite, cold_write
from accp_core.accp.stream import FRAME_OPERATION, chunk_frame, cut, is_piece, swap
from accp_core.accp.values import LONGEST_INLINE, is_long, write_cold
from accp_core.accp.vocabulary import Intent
from accp_core.error_codes import ErrorCode
from accp_core.errors import EncodeError, ProtocolError
from accp_core.ports import TokenCounter

__all__ = ["DECODING", "ENCODING", "Codec", "Encoded", "NeedsRefs"]

INLINE_INTENTS: Final = frozenset(
    {Intent.SYNCHRONIZE, Intent.FAILURE, Intent.STREAM, Intent.END_STREAM, Intent.PING, Intent.PONG}
)
"""What must be understood without a store: deltas, registries, errors, chunks, heartbeats."""
LARGEST_PLACE: Final = 999_999
"""Chunks are measured with this index and total, which they do not know yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoded:
    """What encoding gives."""

    frames: tuple[Frame, ...]
    """One frame, or the chunks of one that was too big, in their order."""
    cold: tuple[ColdWrite, ...] = ()
    """What must be stored before a frame leaves."""
    tokens: int
    """Of all frames, an envelope of the usual size counted in where there is none yet."""
    notes: tuple[str, ...] = ()
    """Sentences on soft limits that were passed and on long values that stayed; for a log."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NeedsRefs:
    """The frame cites what the codec was not given; nothing of it was decoded."""

    refs: tuple[Ref, ...]
    """Every reference that is missing, once, in reading order."""
    frame: Frame
    """The frame, to be decoded again with all of them."""


@dataclass(frozen=True, slots=True)
class Codec:
    """Makes frames of messages and messages of frames; keeps nothing between two calls and knows no session.

    Of the operations of section 7.1 these are Encode, Decode and RegisterSchema. Checkpoint and GetBudget change
    or read what a session has lived through, and are the session's.
    """

    registry: SchemaRegistry = BUILT_IN
    """The schemas that a message may name."""
    counter: TokenCounter = field(kw_only=True)
    """How a model would count a frame."""
    limits: FrameLimits = field(default=DRAFT_LIMITS, kw_only=True)
    """How many tokens a frame may have."""
    shared_store: bool = field(default=False, kw_only=True)
    """Whether both ends read one cold store; only then a long value may leave as a reference."""
    split: bool = field(default=True, kw_only=True)
    """Whether a frame over its limits is cut into chunks; else it is refused."""
    ascii_only: bool = field(default=False, kw_only=True)
    """Whether frames are written in the letters of the ABNF alone."""
    strict: bool = field(default=False, kw_only=True)
    """Whether a text is read without the errata of the draft's own examples."""
    decimal_type: type[float] | type[Decimal] = field(default=float, kw_only=True)
    """What decimals of a text become."""
    grammar: Limits = field(default=DEFAULT_LIMITS, kw_only=True)
    """How much one frame may hold."""

    # "Encode(message, session) -> Frame" (section 7.1)
    def encode(self, message: Message, *, session_id: str | None = None) -> Encoded:
        """Return the frames that say `message`, each within the limits; `session_id` owns what goes to a store.

        Raises: EncodeError: E1001 for two keys that a frame could not tell apart, E1004 for a field of the wrong
            type and for values that have no spelling, E2003 for a message that fits no frames; ProtocolError
            E1003 for an unknown schema.
        """
        work = Encoding(codec=self, message=message, session_id=session_id)
        for step in ENCODING:
            step(work)
        return Encoded(
            frames=work.frames,
            cold=tuple(work.cold.values()),
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
        frame = replace(read_text(self, swap("".join(texts))), envelope=last.envelope)
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

    def write(self, frame: Frame) -> str:
        """Return the text of a frame, in this codec's letters and limits.

        Raises: EncodeError as `serialize_frame`.
        """
        return serialize_frame(frame, ascii_only=self.ascii_only, limits=self.grammar)

    def count(self, frame: Frame) -> FrameTokens:
        """Return the tokens of a frame; an id, a sequence and a time that are not there yet are counted in.

        Raises: EncodeError as `serialize_frame`.
        """
        return estimate(self.write(with_stand_in(frame)), self.counter)


@dataclass(slots=True, kw_only=True)
class Encoding:
    """A message on its way to frames."""

    codec: Codec
    message: Message
    session_id: str | None
    schema: Schema | None = None
    wire_keys: dict[str, str] = field(default_factory=dict)
    """Full key to key of the frame, in the message's order."""
    values: dict[str, Value] = field(default_factory=dict)
    """Full key to value of the frame."""
    cold: dict[str, ColdWrite] = field(default_factory=dict)
    """Full key to what is stored instead of its value."""
    frames: tuple[Frame, ...] = ()
    tokens: tuple[FrameTokens, ...] = ()
    """One for each frame."""
    notes: list[str] = field(default_factory=list)


# "1. Schema resolution (expand or compact via registry)"
def resolve_schema(work: Encoding) -> None:
    """Find the schema, and refuse fields that are not what it wants."""
    if work.message.schema is None:
        return
    work.schema = work.codec.registry.get(work.message.schema)
    try:
        check_fields(work.message)
    except ProtocolError as error:
        raise EncodeError(error.reason, code=error.code) from None


# "2. Key abbreviation (full keys to abbreviated keys)"
def abbreviate_keys(work: Encoding) -> None:
    """Give every top-level parameter its key; a map's own keys are the caller's and stay."""
    keys = work.schema.keys if work.schema else PLAIN_KEYS
    work.wire_keys = {key: keys.to_wire(key) for key in work.message.payload}
    if len(set(work.wire_keys.values())) < len(work.wire_keys):
        raise EncodeError("two keys would be one in the frame", code=ErrorCode.PARSE_ERROR)


# "3. Value compression (inline values to references if large)"
# "If a value exceeds 50 characters, store in state and reference via $key." (section 3.3, item 4)
def compress_values(work: Encoding) -> None:
    """Take long values out, where both ends share a store; elsewhere a reference would open nothing."""
    work.values = dict(work.message.payload)
    if work.message.intent in INLINE_INTENTS:
        return
    for key, value in work.values.items():
        if not is_long(value):
            continue
        if not work.codec.shared_store or work.session_id is None:
            work.notes.append(f"{key}: over {LONGEST_INLINE} characters stay in the frame, no store is shared")
        elif (text := write_cold(value)) is not None:
            work.cold[key] = cold_write(work.session_id, text)
    work.values |= {key: Ref(write.key) for key, write in work.cold.items()}


# "4. Default omission (remove fields matching schema defaults)"
def omit_defaults(work: Encoding) -> None:
    """Leave out what the receiver fills in; a failure is never filled in."""
    if work.schema is None or work.message.intent is Intent.FAILURE:
        return
    for key, value in work.message.payload.items():
        if work.schema.is_default(key, value):
            del work.values[key]
            work.cold.pop(key, None)


# "5. Token estimation (count via BPE tokenizer)"
def estimate_tokens(work: Encoding) -> None:
    """Put the frame together and count it."""
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
    work.frames, work.tokens = (frame,), (work.codec.count(frame),)


# "6. Budget check (within frame limits): if YES, emit single frame; if NO, split into frame sequence or
# externalize to state"
def check_budget(work: Encoding) -> None:
    """Keep the frame, or cut it into chunks, or refuse it; externalising came before."""
    (tokens,), limits = work.tokens, work.codec.limits
    work.notes += limits.notes(tokens)
    if limits.fits(tokens):
        return
    if not work.codec.split or is_piece(work.message):
        raise EncodeError(f"the frame has {tokens.total} tokens", code=ErrorCode.BUDGET_EXCEEDED)
    work.frames = split_frame(work.frames[0], work.codec)
    work.tokens = tuple(map(work.codec.count, work.frames))


# "7. Emit ACCP Frame string"
def emit(work: Encoding) -> None:
    """Refuse any frame that is over its limits all the same; the session adds what only it knows and writes."""
    if not all(map(work.codec.limits.fits, work.tokens)):
        raise EncodeError("a chunk is over its limits", code=ErrorCode.BUDGET_EXCEEDED)


ENCODING: Final[tuple[Callable[[Encoding], None], ...]] = (
    resolve_schema,
    abbreviate_keys,
    compress_values,
    omit_defaults,
    estimate_tokens,
    check_budget,
    emit,
)
"""Section 7.2."""


# "Frames exceeding the hard limit SHOULD be split into a frame sequence" (section 3.4)
def split_frame(frame: Frame, codec: Codec) -> tuple[Frame, ...]:
    """Return chunks whose data is the swapped text of `frame`, without its envelope, which they all share.

    The correlation_id is that of the frame, else a digest of its text.
    """
    text = codec.write(replace(frame, envelope=Envelope()))
    envelope = frame.envelope
    if envelope.correlation_id is None:
        digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
        envelope = replace(envelope, correlation_id=digest)
    whole = replace(frame, envelope=envelope)
    keys = codec.registry.get("ST").keys

    def fits(piece: str) -> bool:
        chunk = chunk_frame(whole, keys, piece, LARGEST_PLACE, LARGEST_PLACE + 1)
        return codec.limits.fits(codec.count(chunk))

    pieces = cut(swap(text), fits, 2 * codec.limits.body_hard)
    return tuple(chunk_frame(whole, keys, piece, index, len(pieces)) for index, piece in enumerate(pieces))


@dataclass(slots=True, kw_only=True)
class Decoding:
    """A frame on its way to a message."""

    codec: Codec
    source: Frame | str
    resolved: Mapping[Ref, Value]
    keep_refs: bool
    frame: Frame = field(init=False)
    schema: Schema | None = None
    values: dict[str, Value] = field(default_factory=dict)
    """Key of the frame to value, references resolved; the schema's own key is gone."""
    missing: dict[Ref, None] = field(default_factory=dict)
    """References that nobody resolved, in reading order."""
    payload: dict[str, Value] = field(default_factory=dict)
    defaulted: frozenset[str] = frozenset()
    result: Message | NeedsRefs = field(init=False)


def read_text(codec: Codec, text: str) -> Frame:
    """Return the frame that a text says."""
    return parse_frame(text, strict=codec.strict, decimal_type=codec.decimal_type, limits=codec.grammar)


# "1. Parse grammar (header, body, metadata)"
def parse_grammar(work: Decoding) -> None:
    """Read the text, where it has not been read already."""
    work.frame = read_text(work.codec, work.source) if isinstance(work.source, str) else work.source


# "2. Resolve references ($warm.key, $cold.key, schema codes)"
def resolve_references(work: Decoding) -> None:
    """Find the schema and put values in the place of references; those that are missing are noted."""
    work.values = dict(work.frame.params)
    code = work.values.pop(SCHEMA_KEY, None)
    if SCHEMA_KEY in work.frame.params:
        if not isinstance(code, str):
            raise ProtocolError("a schema is named by its code", code=ErrorCode.INVALID_TYPE)
        work.schema = work.codec.registry.get(code)
    if not work.keep_refs:
        work.values = {key: resolve(value, work) for key, value in work.values.items()}


def resolve(value: Value, work: Decoding) -> Value:
    """Return `value` with what its references stand for."""
    if isinstance(value, Ref):
        if value in work.resolved:
            return work.resolved[value]
        work.missing[value] = None
    elif isinstance(value, Mapping):
        return {key: resolve(member, work) for key, member in value.items()}
    elif isinstance(value, (list, tuple)):
        return [resolve(item, work) for item in value]
    return value


# "3. Expand abbreviations (abbreviated keys to full keys)"
def expand_abbreviations(work: Decoding) -> None:
    """Give every top-level parameter its full key, whichever way it was written."""
    keys = work.schema.keys if work.schema else PLAIN_KEYS
    work.payload = {keys.to_full(key): value for key, value in work.values.items()}
    if len(work.payload) < len(work.values):
        raise ProtocolError("one key in two spellings", code=ErrorCode.PARSE_ERROR)


# "4. Apply schema defaults (fill omitted fields)"
def apply_defaults(work: Decoding) -> None:
    """Fill in what the sender left out; a failure says only what it says."""
    if work.schema is None or work.frame.intent is Intent.FAILURE:
        return
    missing = work.schema.missing(work.payload)
    work.payload |= missing
    work.defaulted = frozenset(missing)


# "5. Reconstruct structured message"
def reconstruct(work: Decoding) -> None:
    """Put the message together, unless a reference is missing, and look at the types of its fields."""
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
"""Section 7.3."""
