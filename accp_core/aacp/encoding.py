"""A packet made of arguments by rule: the same arguments give the same bytes (AACP section 6.1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from types import MappingProxyType
from typing import Final, TypeAlias

from accp_core.aacp.guard import Guard, sensitive_values
from accp_core.aacp.packet import Packet, canonical, check_packet
from accp_core.aacp.vocabulary import (
    DRAFT_VOCABULARY,
    FIELD_TYPES,
    ORDER,
    PRIORITIES,
    PRIORITY,
    RETURN,
    VERSION,
    VERSION_KEY,
    Vocabulary,
)
from accp_core.error_codes import ErrorCode
from accp_core.errors import EncodeError

__all__ = ["ARGUMENT_NAMES", "Argument", "encode_packet", "is_blank", "is_key", "write_scalar", "write_value"]

Argument: TypeAlias = "str | int | float | Decimal | Sequence[str | int | float | Decimal] | None"
"""The value of a field; a sequence becomes a list; None and an empty or blank value leave the field out."""

ARGUMENT_NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {"doc_type": "type", "supplier": "sup", "filter_expr": "filter", "template": "tmpl"}
)
"""Argument to key, where the two differ; the key is accepted as well."""

PRIVATE_PREFIX: Final = "org_"
"""The beginning of an organisation's own keys."""

LIST_KEYS: Final = frozenset({"fields", "src", "flags", "flags_inherit", "req", "to", "chain", "fmt"})
"""Keys whose value may be a list."""


def two_decimals(text: str) -> str:
    """Return a number with two decimals, as progress from 0 to 1 is written."""
    try:
        return f"{Decimal(text):.2f}"
    except (InvalidOperation, ValueError):
        raise EncodeError(f"prog: expected a number, found {text!r}", code=ErrorCode.INVALID_TYPE) from None


TRANSFORMS: Final[Mapping[str, Callable[[str], str]]] = MappingProxyType(
    {
        "ccy": str.upper,
        "type": str.upper,
        "risk": str.lower,
        "sentiment": str.lower,
        "tone": str.lower,
        "issue": lambda text: text.replace(" ", "_").lower(),
        "sup": lambda text: text.replace(" ", "-"),
        "party": lambda text: text.replace(" ", "-"),
        "subj": lambda text: text.replace(" ", "_"),
        "flag_msg": lambda text: text.replace(" ", "_"),
        "prog": two_decimals,
    }
)
"""Key to the conversion of its values, as the reference encoder does it; all other values are unchanged."""


def encode_packet(
    task: str,
    domain: str,
    *,
    return_agent: str,
    priority: str | int = "2",
    vocabulary: Vocabulary = DRAFT_VOCABULARY,
    guard: Guard | None = sensitive_values,
    **arguments: Argument,
) -> Packet:
    """Return the packet of these arguments.

    Args:
        task: The TASK, in any case.
        domain: The DOM, in any case.
        return_agent: The agent that receives the result.
        priority: "1" (critical), "2" (medium) or "3" (low).
        vocabulary: The words that may be used as keys besides the draft's.
        guard: Searches the packet for what must not be in it (section 15); None: nothing is searched.
        arguments: The values by key, or by name in `ARGUMENT_NAMES`.

    Raises:
        EncodeError: E1004, a packet cannot carry a value, the value of a typed key is none, the agent is empty, an
            argument comes twice or is no key, or `guard` has found something, which is not quoted.
    """
    packet = make_packet(
        task, domain, return_agent=return_agent, priority=priority, vocabulary=vocabulary, arguments=arguments
    )
    check_values(packet, guard)
    return packet


def make_packet(
    task: str,
    domain: str,
    *,
    return_agent: str,
    priority: str | int,
    vocabulary: Vocabulary,
    arguments: Mapping[str, Argument],
) -> Packet:
    """Return the packet of these arguments, whose values are not checked; raises as `encode_packet`."""
    fields = {RETURN: return_agent, PRIORITY: str(priority), VERSION_KEY: VERSION}
    if not return_agent.strip():
        raise EncodeError(f"return_agent: expected an agent, found {return_agent!r}", code=ErrorCode.INVALID_TYPE)
    for name, value in arguments.items():
        key = ARGUMENT_NAMES.get(name, name)
        if key in fields or not is_key(key, vocabulary):
            raise EncodeError(f"expected each argument once and known, found {name!r}", code=ErrorCode.INVALID_TYPE)
        fields[key] = write_value(key, value)
    packet = Packet(
        task=task.upper(), domain=domain.upper(), fields={key: value for key, value in fields.items() if value}
    )
    check_packet(packet)
    return canonical(packet)


# "PII, financial records, and credentials MUST NOT be embedded in AACP field values." (section 15)
def check_values(packet: Packet, guard: Guard | None) -> None:
    """Check the values of typed fields (EncodeError E1004), and that `guard` finds nothing, without a quotation."""
    if packet.fields[PRIORITY] not in PRIORITIES:
        reason = f"priority: expected one of {', '.join(PRIORITIES)}, found {packet.fields[PRIORITY]!r}"
        raise EncodeError(reason, code=ErrorCode.INVALID_TYPE)
    for key, value in packet.fields.items():
        if key in FIELD_TYPES and not FIELD_TYPES[key][0](value):
            reason = f"{key}: expected {FIELD_TYPES[key][1]}, found {value!r}"
            raise EncodeError(reason, code=ErrorCode.INVALID_TYPE)
    for found in guard(packet) if guard else ():
        raise EncodeError(f"{found.field}: {found.reason}", code=ErrorCode.INVALID_TYPE)


# "organisation-private fields using a namespacing convention [...] (e.g. org_fieldname:)" (section 13)
def is_key(key: str, vocabulary: Vocabulary) -> bool:
    """Return whether an encoder writes `key`: one of the draft, of the reference encoder or of an organisation."""
    return key in ORDER or key in vocabulary.keys or key.startswith(PRIVATE_PREFIX)


def is_blank(value: Argument) -> bool:
    """Return whether `value` is empty, so that its field is left out."""
    return value is None or (isinstance(value, str) and not value.strip()) or value in ((), [])


def write_value(key: str, value: Argument) -> str:
    """Return the text of a value under `key`, empty where the field is left out.

    Raises:
        EncodeError: E1004, the value has no text, is a list although the key takes none, or an item holds a comma.
    """
    if is_blank(value):
        return ""
    if isinstance(value, (list, tuple)):
        return _join(key, value)
    return TRANSFORMS.get(key, str)(write_scalar(key, value))


def _join(key: str, items: Sequence[object]) -> str:
    if key not in LIST_KEYS and not key.startswith(PRIVATE_PREFIX):
        raise EncodeError(f"{key}: expected one value, found {items!r}", code=ErrorCode.INVALID_TYPE)
    texts = [write_scalar(key, item) for item in items]
    for text in texts:
        if "," in text or text != text.strip() or not text:
            reason = f"{key}: expected an item without ',' and outer blanks, found {text!r}"
            raise EncodeError(reason, code=ErrorCode.INVALID_TYPE)
    return ",".join(texts)


def write_scalar(key: str, value: object) -> str:
    """Return the text of a single value; `key` names it in an error.

    Raises:
        EncodeError: E1004, the value is neither text nor a finite number.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, (int, float, Decimal)) and not isinstance(value, bool):
        try:
            if (text := str(value)) and Decimal(text).is_finite():
                return text
        except ValueError:
            reason = f"{key}: expected a number of fewer digits"
            raise EncodeError(reason, code=ErrorCode.INVALID_TYPE) from None
    raise EncodeError(f"{key}: expected text or a number, found {value!r}", code=ErrorCode.INVALID_TYPE)
