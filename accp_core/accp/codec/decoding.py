"""From a frame to a message, by the steps of the draft in its order (ACCP section 7.3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from accp_core.accp.codec.settings import CodecSettings
from accp_core.accp.frame import Frame, Ref, Value
from accp_core.accp.keys import PLAIN_KEYS, SCHEMA_KEY
from accp_core.accp.message import Message
from accp_core.accp.profiles import check_fields
from accp_core.accp.schema import Schema
from accp_core.accp.vocabulary import Intent
from accp_core.error_codes import ErrorCode
from accp_core.errors import DecodeError, ProtocolError
from accp_core.packing.expansion import Expansion, ExpansionError, size_of

__all__ = ["DECODING", "Decoding", "NeedsRefs"]

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
