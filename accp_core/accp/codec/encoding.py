"""From a message to frames, by the steps of the draft in its order (ACCP sections 3.3 and 7.2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from accp_core.accp.budget import FrameTokens, estimate_parts
from accp_core.accp.codec.chunking import is_frame_chunk, split_frame
from accp_core.accp.codec.settings import CodecSettings
from accp_core.accp.frame import Frame, Ref, Value
from accp_core.accp.keys import PLAIN_KEYS, SCHEMA_KEY
from accp_core.accp.message import Message
from accp_core.accp.profiles import check_fields
from accp_core.accp.schema import Schema
from accp_core.accp.values import MAX_INLINE_CHARS, is_long, value_to_json
from accp_core.accp.vocabulary import Intent
from accp_core.error_codes import ErrorCode
from accp_core.errors import EncodeError, ProtocolError
from accp_core.references import StoredText

__all__ = ["ENCODING", "Encoding"]

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
