"""From a message to frames, by the steps of the draft in its order (ACCP sections 3.3 and 7.2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Final

from accp_core.accp.budget import FrameTokens
from accp_core.accp.codec.chunking import chunk_frame, cut, is_piece, swap
from accp_core.accp.codec.settings import CodecSettings
from accp_core.accp.frame import Envelope, Frame, Ref, Value
from accp_core.accp.keys import PLAIN_KEYS, SCHEMA_KEY
from accp_core.accp.message import Message
from accp_core.accp.profiles import check_fields
from accp_core.accp.schema import Schema
from accp_core.accp.values import LONGEST_INLINE, is_long, write_cold
from accp_core.accp.vocabulary import Intent
from accp_core.error_codes import ErrorCode
from accp_core.errors import EncodeError, ProtocolError
from accp_core.references import StoredText

__all__ = ["ENCODING", "Encoding"]

INLINE_INTENTS: Final = frozenset(
    {Intent.SYNCHRONIZE, Intent.FAILURE, Intent.STREAM, Intent.END_STREAM, Intent.PING, Intent.PONG}
)
"""What must be understood without a store: deltas, registries, errors, chunks, heartbeats."""
LARGEST_PLACE: Final = 999_999
"""Chunks are measured with this index and total, which they do not know yet."""


@dataclass(slots=True, kw_only=True)
class Encoding:
    """A message on its way to frames."""

    codec: CodecSettings
    message: Message
    schema: Schema | None = None
    wire_keys: dict[str, str] = field(default_factory=dict)
    """Full key to key of the frame, in the message's order."""
    values: dict[str, Value] = field(default_factory=dict)
    """Full key to value of the frame."""
    stored: dict[str, StoredText] = field(default_factory=dict)
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
        if not work.codec.shared_store:
            work.notes.append(f"{key}: over {LONGEST_INLINE} characters stay in the frame, no store is shared")
        elif (text := write_cold(value)) is not None:
            work.stored[key] = StoredText.of(text)
    work.values |= {key: Ref(stored.key) for key, stored in work.stored.items()}


# "4. Default omission (remove fields matching schema defaults)"
def omit_defaults(work: Encoding) -> None:
    """Leave out what the receiver fills in; a failure is never filled in."""
    if work.schema is None or work.message.intent is Intent.FAILURE:
        return
    for key, value in work.message.payload.items():
        if work.schema.is_default(key, value):
            del work.values[key]
            work.stored.pop(key, None)


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
def split_frame(frame: Frame, codec: CodecSettings) -> tuple[Frame, ...]:
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
