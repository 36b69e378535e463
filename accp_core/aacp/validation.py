"""What must be right about a packet before it is sent or acted on (AACP sections 7, 13, 14 and 15)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from accp_core.aacp.findings import Finding, FindingCode
from accp_core.aacp.guard import Guard, sensitive_values
from accp_core.aacp.packet import Packet, PacketScan, scan_packet, serialize_packet
from accp_core.aacp.vocabulary import DRAFT_VOCABULARY, PRIORITIES, PRIORITY, RETURN, VERSION, VERSION_KEY, Vocabulary
from accp_core.error_codes import ErrorCode
from accp_core.errors import EncodeError

__all__ = ["ValidationReport", "validate"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationReport:
    """What a validator found."""

    errors: tuple[Finding, ...] = ()
    """Why the packet must not be sent or acted on, in reading order."""
    warnings: tuple[Finding, ...] = ()
    """What to log; never a reason not to send."""
    packet: Packet | None = None
    """The packet, where there is no error."""

    @property
    def valid(self) -> bool:
        """Whether the packet may be sent."""
        return not self.errors

    def check(self) -> Packet:
        """Return the packet.

        Raises: EncodeError E1001 with every error, when there are some.
        """
        if self.packet is None:
            reasons = "; ".join(f"{finding.field}: {finding.reason}" for finding in self.errors)
            raise EncodeError(f"not a valid packet: {reasons}", code=ErrorCode.PARSE_ERROR)
        return self.packet


# "Validation errors MUST be reported before transmission.
# Warnings SHOULD be logged but MUST NOT prevent transmission." (section 7)
def validate(
    packet: str | Packet,
    *,
    vocabulary: Vocabulary = DRAFT_VOCABULARY,
    guard: Guard | None = sensitive_values,
    forbid: bool = False,
    escaped: bool = False,
) -> ValidationReport:
    """Return everything that is wrong or doubtful with a packet, or with the text of one; never raises for either.

    `guard` looks for what must not stand in values (section 15): warnings, with `forbid` errors. `escaped` says
    that values of the text are in the percent form.
    """
    found = _scanned(packet, escaped) if isinstance(packet, Packet) else scan_packet(packet, escaped=escaped)
    said = Packet(task=found.task, domain=found.domain, fields=found.fields)
    guarded = tuple(guard(said)) if guard else ()
    errors = (*found.faults, *_missing(found), *(guarded if forbid else ()))
    warnings = (*_doubts(found, vocabulary), *(() if forbid else guarded))
    return ValidationReport(errors=errors, warnings=warnings, packet=None if errors else said)


def _scanned(packet: Packet, escaped: bool) -> PacketScan:
    """Return what a packet says; that no text could say it is a fault."""
    try:
        serialize_packet(packet, escaped=escaped)
    except EncodeError as error:
        return PacketScan("", "", {}, (Finding(FindingCode.UNWRITABLE, "packet", error.reason),), ())
    return PacketScan(packet.task, packet.domain, packet.fields, (), ())


# "AACP validators MUST check: [...] A return: named field is present and non-empty. An aacp: named field is present"
def _missing(found: PacketScan) -> Iterator[Finding]:
    """Yield the required fields that are not there, unless nothing could be read at all."""
    if found.faults and not found.task and not found.fields:
        return
    for key in (RETURN, VERSION_KEY):
        if key not in found.fields:
            yield Finding(FindingCode.MISSING, key, "is missing")
        elif not found.fields[key]:
            yield Finding(FindingCode.EMPTY, key, "is empty")


# "AACP validators SHOULD warn on: Unrecognised TASK or DOM values; Missing p: field; AACP version mismatch;
# sentiment: present without tone:; ltv: present without ccy:; Unknown extended field keys" (section 7)
def _doubts(found: PacketScan, vocabulary: Vocabulary) -> Iterator[Finding]:
    """Yield what a later version or an organisation's own words may explain."""
    if found.task and found.task not in vocabulary.tasks:
        yield Finding(FindingCode.UNKNOWN_TASK, "TASK", f"unknown value {found.task!r}")
    if found.domain and found.domain not in vocabulary.domains:
        yield Finding(FindingCode.UNKNOWN_DOMAIN, "DOM", f"unknown value {found.domain!r}")
    for name in found.padded:
        yield Finding(FindingCode.SPACE, name, "white space around it is not part of it")
    for key, value in found.fields.items():
        yield from _doubt(key, value, vocabulary)
    yield from _absent(found)


def _doubt(key: str, value: str, vocabulary: Vocabulary) -> Iterator[Finding]:
    """Yield what is doubtful about one field."""
    if key not in vocabulary.keys:
        yield Finding(FindingCode.UNKNOWN_KEY, key, f"unknown key {key!r}")
    if key == PRIORITY and value not in PRIORITIES:
        yield Finding(FindingCode.PRIORITY, key, f"expected one of {', '.join(PRIORITIES)}, found {value!r}")
    # "Implementations SHOULD warn on version mismatch but MUST NOT reject packets on version mismatch alone."
    elif key == VERSION_KEY and value not in ("", VERSION):
        yield Finding(FindingCode.VERSION, key, f"expected {VERSION}, found {value!r}")
    elif not value and key not in (RETURN, VERSION_KEY):
        yield Finding(FindingCode.EMPTY, key, "is empty")


COMPANIONS: Final = (
    ("sentiment", "tone", FindingCode.TONE, "sentiment stands without tone"),
    ("ltv", "ccy", FindingCode.CURRENCY, "ltv stands without ccy"),
)
"""Field, the field that should stand beside it, what to say where it does not."""


def _absent(found: PacketScan) -> Iterator[Finding]:
    """Yield fields that should be there."""
    if found.fields and PRIORITY not in found.fields:
        yield Finding(FindingCode.MISSING, PRIORITY, "is missing; 2 (medium) is the default")
    for field, companion, code, reason in COMPANIONS:
        if field in found.fields and companion not in found.fields:
            yield Finding(code, field, reason)
