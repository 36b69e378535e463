"""From arguments to a packet, by rule: the same arguments give the same bytes (AACP section 6.1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from types import MappingProxyType
from typing import Final, TypeAlias

from accp_core.aacp.packet import Packet, canonical, check_packet
from accp_core.aacp.vocabulary import DRAFT_VOCABULARY, ORDER, PRIORITY, RETURN, VERSION, VERSION_KEY, Vocabulary
from accp_core.error_codes import ErrorCode
from accp_core.errors import EncodeError

__all__ = ["ARGUMENT_NAMES", "Argument", "encode_packet", "is_blank", "is_key", "write_scalar", "write_value"]

Argument: TypeAlias = "str | int | float | Decimal | Sequence[str | int | float | Decimal] | None"
"""What a field is made of; a sequence becomes a list, None and what is empty or blank leave the field out."""

ARGUMENT_NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {"doc_type": "type", "supplier": "sup", "filter_expr": "filter", "template": "tmpl"}
)
"""Argument to key, where the two differ; the key itself will do as well."""

OWN: Final = "org_"
"""What an organisation's own keys begin with."""

LISTS: Final = frozenset({"fields", "src", "flags", "flags_inherit", "req", "to", "chain", "fmt"})
"""Fields that may be made of several values."""


def two_decimals(text: str) -> str:
    """Return a share of 1 with two decimals, as progress is written."""
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
"""Key to the spelling of its values, as the reference encoder has it; all others stay as they are."""


def encode_packet(
    task: str,
    domain: str,
    *,
    return_agent: str,
    priority: str | int = "2",
    vocabulary: Vocabulary = DRAFT_VOCABULARY,
    **arguments: Argument,
) -> Packet:
    """Return the packet of these arguments, each under its key or its name in `ARGUMENT_NAMES`.

    Raises: EncodeError E1004 for a value that no packet can carry as it is, an empty agent, an argument that stands
        twice or is no key.
    """
    fields = {RETURN: return_agent, PRIORITY: str(priority), VERSION_KEY: VERSION}
    if not return_agent.strip():
        raise EncodeError(f"return_agent: expected an agent, found {return_agent!r}", code=ErrorCode.INVALID_TYPE)
    for name, value in arguments.items():
        key = ARGUMENT_NAMES.get(name, name)
        if key in fields or not is_key(key, vocabulary):
            raise EncodeError(f"not an argument, or twice: {name!r}", code=ErrorCode.INVALID_TYPE)
        fields[key] = write_value(key, value)
    packet = Packet(
        task=task.upper(), domain=domain.upper(), fields={key: value for key, value in fields.items() if value}
    )
    check_packet(packet)
    return canonical(packet)


# "organisation-private fields using a namespacing convention [...] (e.g. org_fieldname:)" (section 13)
def is_key(key: str, vocabulary: Vocabulary) -> bool:
    """Return whether an encoder writes this key: one of the draft's or the reference's, or an organisation's own."""
    return key in ORDER or key in vocabulary.keys or key.startswith(OWN)


def is_blank(value: Argument) -> bool:
    """Return whether a value leaves its field out."""
    return value is None or (isinstance(value, str) and not value.strip()) or value in ((), [])


def write_value(key: str, value: Argument) -> str:
    """Return the text of a value under `key`, empty where the field is left out.

    Raises: EncodeError E1004 for what has no text, and for a list where none is known or with a comma in an item.
    """
    if is_blank(value):
        return ""
    if isinstance(value, (list, tuple)):
        return _join(key, value)
    return TRANSFORMS.get(key, str)(write_scalar(key, value))


def _join(key: str, items: Sequence[object]) -> str:
    if key not in LISTS and not key.startswith(OWN):
        raise EncodeError(f"{key}: expected one value, found {items!r}", code=ErrorCode.INVALID_TYPE)
    texts = [write_scalar(key, item) for item in items]
    for text in texts:
        if "," in text or text != text.strip() or not text:
            raise EncodeError(
                f"{key}: an item is not empty, holds no ',' and no outer blanks: {text!r}", code=ErrorCode.INVALID_TYPE
            )
    return ",".join(texts)


def write_scalar(key: str, value: object) -> str:
    """Return the text of one value; `key` is for the reason.

    Raises: EncodeError E1004 for what is neither text nor a finite number.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, (int, float, Decimal)) and not isinstance(value, bool):
        try:
            if (text := str(value)) and Decimal(text).is_finite():
                return text
        except ValueError:
            raise EncodeError(f"{key}: the number has too many digits", code=ErrorCode.INVALID_TYPE) from None
    raise EncodeError(f"{key}: expected text or a number, found {value!r}", code=ErrorCode.INVALID_TYPE)
