"""The search for personal data and credentials in the values of a packet (AACP section 15)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final, Protocol

from accp_core.aacp.findings import Finding, FindingCode
from accp_core.aacp.packet import Packet

__all__ = ["Guard", "sensitive_values"]


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
