"""The checks of a packet before it is sent or acted on (AACP sections 7, 13, 14 and 15)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from accp_core.aacp.findings import Finding, FindingCode
from accp_core.aacp.guard import Guard, sensitive_values
from accp_core.aacp.packet import Packet, PacketScan, scan_packet, serialize_packet
from accp_core.aacp.vocabulary import (
    DRAFT_VOCABULARY,
    FIELD_TYPES,
    ORDER,
    PRIORITIES,
    PRIORITY,
    RETURN,
    TASK_FIELDS,
    VERSION,
    VERSION_KEY,
    Vocabulary,
)
from accp_core.error_codes import ErrorCode
from accp_core.errors import EncodeError

__all__ = ["ValidationReport", "find_unusable", "validate"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationReport:
    """The findings of a validator."""

    errors: tuple[Finding, ...] = ()
    """Why the packet must not be sent or acted on, in the order of the text."""
    warnings: tuple[Finding, ...] = ()
    """Findings to log, which never prevent sending."""
    packet: Packet | None = None
    """The packet, None where there is an error."""

    @property
    def valid(self) -> bool:
        """Whether the packet may be sent."""
        return not self.errors

    def check(self) -> Packet:
        """Return the packet.

        Raises:
            EncodeError: E1001, with all errors of the report.
        """
        if self.packet is None:
            reasons = "; ".join(f"{finding.field}: {finding.reason}" for finding in self.errors)
            raise EncodeError(f"expected a valid packet: {reasons}", code=ErrorCode.PARSE_ERROR)
        return self.packet


# "Validation errors MUST be reported before transmission.
# Warnings SHOULD be logged but MUST NOT prevent transmission." (section 7)
def validate(
    packet: str | Packet,
    *,
    vocabulary: Vocabulary = DRAFT_VOCABULARY,
    guard: Guard | None = sensitive_values,
    forbid: bool = False,
) -> ValidationReport:
    """Return all errors and warnings about a packet or the text of one; raises for neither.

    Args:
        packet: The packet, or its text.
        vocabulary: The words that are known.
        guard: Searches the values for what must not be in them (section 15); None: nothing is searched.
        forbid: Whether the findings of `guard` are errors instead of warnings.
    """
    scan = _scan(packet) if isinstance(packet, Packet) else scan_packet(packet)
    scanned = Packet(task=scan.task, domain=scan.domain, fields=scan.fields)
    sensitive = tuple(guard(scanned)) if guard else ()
    errors = (*scan.faults, *_missing_fields(scan), *(sensitive if forbid else ()))
    warnings = (*_warnings(scan, vocabulary), *(() if forbid else sensitive))
    return ValidationReport(errors=errors, warnings=warnings, packet=None if errors else scanned)


def find_unusable(packet: Packet, *, vocabulary: Vocabulary = DRAFT_VOCABULARY) -> Iterator[Finding]:
    """Yield an error for each reason why nobody can act on a valid packet.

    The draft accepts any TASK and asks for no field besides "return" and "aacp", so `validate` does, too. A packet that
    is made of an instruction must be of use: its TASK is known, and it has the fields that its TASK needs.
    """
    if packet.task not in vocabulary.tasks:
        yield Finding(FindingCode.UNKNOWN_TASK, "TASK", f"expected a known TASK, found {packet.task!r}")
    for keys in TASK_FIELDS.get(packet.task, ()):
        if not any(packet.fields.get(key) for key in keys):
            reason = f"{packet.task} needs one of {', '.join(key for key in ORDER if key in keys)}"
            yield Finding(FindingCode.MISSING, "packet", reason)


def _scan(packet: Packet) -> PacketScan:
    """Return the content of a packet; one that cannot be written as text has a fault."""
    try:
        serialize_packet(packet)
    except EncodeError as error:
        return PacketScan("", "", {}, (Finding(FindingCode.UNWRITABLE, "packet", error.reason),), ())
    return PacketScan(packet.task, packet.domain, packet.fields, (), ())


# "AACP validators MUST check: [...] A return: named field is present and non-empty. An aacp: named field is present"
def _missing_fields(scan: PacketScan) -> Iterator[Finding]:
    """Yield an error for each required field that is missing or empty, unless the text could not be read at all."""
    if scan.faults and not scan.task and not scan.fields:
        return
    for key in (RETURN, VERSION_KEY):
        if key not in scan.fields:
            yield Finding(FindingCode.MISSING, key, "is missing")
        elif not scan.fields[key]:
            yield Finding(FindingCode.EMPTY, key, "is empty")


# "AACP validators SHOULD warn on: Unrecognised TASK or DOM values; Missing p: field; AACP version mismatch;
# sentiment: present without tone:; ltv: present without ccy:; Unknown extended field keys" (section 7)
def _warnings(scan: PacketScan, vocabulary: Vocabulary) -> Iterator[Finding]:
    """Yield what is unusual, but may be of a later version or of an organisation's own vocabulary."""
    if scan.task and scan.task not in vocabulary.tasks:
        yield Finding(FindingCode.UNKNOWN_TASK, "TASK", f"unknown value {scan.task!r}")
    if scan.domain and scan.domain not in vocabulary.domains:
        yield Finding(FindingCode.UNKNOWN_DOMAIN, "DOM", f"unknown value {scan.domain!r}")
    for name in scan.padded:
        yield Finding(FindingCode.SPACE, name, "white space around it is not part of it")
    for key, value in scan.fields.items():
        yield from _field_warnings(key, value, vocabulary)
    yield from _missing_optional_fields(scan)


def _field_warnings(key: str, value: str, vocabulary: Vocabulary) -> Iterator[Finding]:
    """Yield the warnings about one field."""
    if key not in vocabulary.keys:
        yield Finding(FindingCode.UNKNOWN_KEY, key, f"unknown key {key!r}")
    if key == PRIORITY and value not in PRIORITIES:
        yield Finding(FindingCode.PRIORITY, key, f"expected one of {', '.join(PRIORITIES)}, found {value!r}")
    # "Implementations SHOULD warn on version mismatch but MUST NOT reject packets on version mismatch alone."
    elif key == VERSION_KEY and value not in ("", VERSION):
        yield Finding(FindingCode.VERSION, key, f"expected {VERSION}, found {value!r}")
    elif not value and key not in (RETURN, VERSION_KEY):
        yield Finding(FindingCode.EMPTY, key, "is empty")
    elif key in FIELD_TYPES and not FIELD_TYPES[key][0](value):
        yield Finding(FindingCode.VALUE, key, f"expected {FIELD_TYPES[key][1]}, found {value!r}")


_COMPANIONS: Final = (
    ("sentiment", "tone", FindingCode.TONE, "sentiment without tone"),
    ("ltv", "ccy", FindingCode.CURRENCY, "ltv without ccy"),
)
"""Field, the field that belongs to it, and the finding where that is missing."""


def _missing_optional_fields(scan: PacketScan) -> Iterator[Finding]:
    """Yield a warning for each optional field that a packet should have."""
    if scan.fields and PRIORITY not in scan.fields:
        yield Finding(FindingCode.MISSING, PRIORITY, "is missing; 2 (medium) is the default")
    for field, companion, code, reason in _COMPANIONS:
        if field in scan.fields and companion not in scan.fields:
            yield Finding(code, field, reason)
