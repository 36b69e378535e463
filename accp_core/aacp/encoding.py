"""A packet made of arguments by rule, and the guard that searches its values for secrets (AACP sections 6.1 and 15).

The same arguments give the same bytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from types import MappingProxyType
from typing import Final, Protocol, TypeAlias

from accp_core.aacp.packet import (
    DRAFT_VOCABULARY,
    FIELD_TYPES,
    ORDER,
    PRIORITIES,
    PRIORITY,
    RETURN,
    VERSION,
    VERSION_KEY,
    Finding,
    FindingCode,
    Packet,
    Vocabulary,
    canonical,
    check_packet,
)
from accp_core.error_codes import ErrorCode
from accp_core.errors import EncodeError

__all__ = [
    "ARGUMENT_NAMES", "Argument", "Guard", "encode_packet", "is_blank", "is_key", "sensitive_values",
    "write_scalar", "write_value",
]  # fmt: skip


# The search for personal data and credentials in the values of a packet (AACP section 15).


class Guard(Protocol):
    """A function that checks the values of a packet before it is sent."""

    def __call__(self, packet: Packet, /) -> Iterator[Finding]:
        """Yield one finding for each value that should be the address of data instead."""
        ...


def luhn(digits: str) -> bool:
    """Return whether the last digit is the check digit of the others (Luhn, ISO/IEC 7812)."""
    doubled = [int(digit) * (1 + place % 2) for place, digit in enumerate(reversed(digits))]
    return sum(number - 9 if number > 9 else number for number in doubled) % 10 == 0


def is_card(found: str) -> bool:
    """Return whether `found`, digits with separators, is a payment card number."""
    digits = re.sub(r"\D", "", found)
    return 13 <= len(digits) <= 19 and len(set(digits)) > 1 and luhn(digits)


def is_iban(found: str) -> bool:
    """Return whether the check digits of `found` are those of an account number (ISO 13616)."""
    account = found.replace(" ", "").upper()
    return int("".join(str(int(letter, 36)) for letter in account[4:] + account[:4])) % 97 == 1


def always(found: str) -> bool:
    """Return True, for patterns that need no second check."""
    return True


# Every repetition is bounded or possessive, because a peer chooses the value.
_PATTERNS: Final[tuple[tuple[FindingCode, str, re.Pattern[str], Callable[[str], bool]], ...]] = (
    (FindingCode.PERSONAL, "an e-mail address", re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}"), always),
    (FindingCode.PERSONAL, "a payment card number", re.compile(r"(?<![\w.-])\d(?:[ -]?\d){12,18}(?![\w-])"), is_card),
    (
        FindingCode.PERSONAL,
        "an account number (IBAN)",
        re.compile(r"(?<!\w)[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?!\w)", re.ASCII),
        is_iban,
    ),
    (
        FindingCode.PERSONAL,
        "a phone number",
        re.compile(r"(?<![\w+])\+[1-9]\d{0,2}[ .-]?(?:\(?\d{1,4}\)?[ .-]?){2,5}\d(?!\w)"),
        always,
    ),
    (FindingCode.PERSONAL, "a social security number", re.compile(r"(?<![\w-])\d{3}-\d{2}-\d{4}(?![\w-])"), always),
    (
        FindingCode.PERSONAL,
        "a national insurance number",
        re.compile(r"(?<!\w)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{2} ?\d{2} ?\d{2} ?[A-D](?!\w)"),
        always,
    ),
    (
        FindingCode.CREDENTIAL,
        "a secret under its name",
        re.compile(r"(?i)(?:(?:passw(?:or)?d|pwd|secret|token|api[_-]?key)\s{0,3}[=:]|bearer)\s{0,3}[^\s,;]{6}"),
        always,
    ),
    (
        FindingCode.CREDENTIAL,
        "an access key",
        re.compile(
            r"(?<!\w)(?:sk-[\w-]{16}|gh[pousr]_\w{20}|github_pat_\w{20}|glpat-[\w-]{16}|xox[abprs]-[\w-]{10}"
            r"|A[KS]IA[A-Z0-9]{16}|AIza[\w-]{30}|eyJ[\w-]{8,2048}\.eyJ[\w-]{8})"
        ),
        always,
    ),
    (FindingCode.CREDENTIAL, "a private key", re.compile(r"-----BEGIN [A-Z ]{0,24}PRIVATE KEY"), always),
    (
        FindingCode.CREDENTIAL,
        "a password in an address",
        re.compile(r"\w{1,16}://[^\s/:@]{0,64}:[^\s/@]{1,128}@"),
        always,
    ),
)


# "PII, financial records, and credentials MUST NOT be embedded in AACP field values. Use authenticated data access
# layers referenced by pointer instead." (section 15)
def sensitive_values(packet: Packet, /) -> Iterator[Finding]:
    """Yield a finding for each part of a packet and each kind of personal data or credential in it, without the value.

    It looks at shapes and check digits only. Names of people look like any other word, so it cannot find all.
    """
    # Most packets hold none: one search over everything comes first, the field is looked up only where it matches.
    parts = {"TASK": packet.task, "DOM": packet.domain}
    parts |= {key: f"{key}:{value}" for key, value in packet.fields.items()}
    everything = "\n".join(parts.values())
    suspects = [row for row in _PATTERNS if row[2].search(everything)]
    for field, value in parts.items():
        for code, kind, pattern, confirm in suspects:
            if any(confirm(found[0]) for found in pattern.finditer(value)):
                yield Finding(code, field, f"holds {kind}; send the address of the data instead")


Argument: TypeAlias = "str | int | float | Decimal | Sequence[str | int | float | Decimal] | None"
"""The value of a field; a sequence becomes a list; None and an empty or blank value leave the field out."""

ARGUMENT_NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {"doc_type": "type", "supplier": "sup", "filter_expr": "filter", "template": "tmpl"}
)
"""Argument to key, where the two differ; the key is accepted as well."""

PRIVATE_PREFIX: Final = "org_"
"""The beginning of an organisation's own keys."""

_MAX_DIGITS: Final = 1_000
"""Digits of a number, which is written without an exponent."""

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
        number = Decimal(value) if isinstance(value, int) else Decimal(str(value))
        if number.is_finite():
            if abs(number.adjusted()) > _MAX_DIGITS:
                reason = f"{key}: expected a number of at most {_MAX_DIGITS:,} digits, found {number:.3e}"
                raise EncodeError(reason, code=ErrorCode.INVALID_TYPE)
            return f"{number:f}"
    raise EncodeError(f"{key}: expected text or a number, found {value!r}", code=ErrorCode.INVALID_TYPE)
