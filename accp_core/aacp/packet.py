"""A packet as a value and as text, its words, and what may be wrong with it (AACP sections 4, 5, 7, 13 and 14).

    packet = task "|" dom "|" named-fields
    named-fields = key ":" value *( "|" key ":" value )

A field is split at its first ":"; a value may hold more of them. There is no escape, so a value with a "|", a line
break or another control character is refused in both directions, because it could add a field. White space around a
word is not part of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from accp_core.error_codes import ErrorCode
from accp_core.errors import DecodeError, EncodeError

__all__ = [
    "DRAFT_VOCABULARY", "FIELD_TYPES", "MAX_PACKET_CHARS", "ORDER", "PRIORITIES", "PRIORITY", "RETURN",
    "TASK_FIELDS", "VERSION", "VERSION_KEY", "Finding", "FindingCode", "Packet", "PacketScan", "Vocabulary",
    "canonical", "check_packet", "parse_packet", "scan_packet", "serialize_packet", "with_fields",
]  # fmt: skip


# The findings of validators: a code for programs, a field and a reason for people (AACP section 7).


class FindingCode(StrEnum):
    """A kind of error or warning about a packet; the values are stable."""

    CONTROL = "control-character"
    LENGTH = "too-long"
    EMPTY = "empty"
    NAMED = "misplaced-field"
    NO_VALUE = "no-value"
    EMPTY_KEY = "empty-key"
    DUPLICATE = "duplicate-key"
    SPACE = "white-space"
    MISSING = "missing"
    UNKNOWN_TASK = "unknown-task"
    UNKNOWN_DOMAIN = "unknown-domain"
    UNKNOWN_KEY = "unknown-key"
    PRIORITY = "unknown-priority"
    VERSION = "other-version"
    VALUE = "unexpected-value"
    TONE = "sentiment-without-tone"
    CURRENCY = "ltv-without-ccy"
    PERSONAL = "personal-data"
    CREDENTIAL = "credential"
    OMITTED = "omitted"
    UNWRITABLE = "cannot-be-written"


@dataclass(frozen=True, slots=True)
class Finding:
    """One error or warning about a packet."""

    code: FindingCode
    """The kind."""
    field: str
    """The key, or "TASK", "DOM", "packet" (the whole text), or the number of a field such as "slot 3"."""
    reason: str
    """A phrase for people; it may quote the packet."""
    position: int = 0
    """Where in the text, in characters from 0; 0 where the packet was no text."""


# The words of a packet: version, TASK, DOM, priorities and keys (AACP sections 4, 5, 13 and 14).

# "aacp: The protocol version. REQUIRED. MUST be "1.1" for packets conforming to this specification." (section 4.2)
VERSION: Final = "1.1"
"""The version that we write; other versions are read with a warning (section 14)."""

RETURN: Final = "return"
"""The key of the agent that receives the result."""
PRIORITY: Final = "p"
"""The key of the priority."""
VERSION_KEY: Final = "aacp"
"""The key of the protocol version."""

PRIORITIES: Final = {"1": "critical", "2": "medium", "3": "low"}
"""Priority to its meaning (section 5.3)."""

_PERIOD: Final = re.compile(r"[0-9]{4}(?:-(?:0[1-9]|1[0-2]|Q[1-4]))?")
_CURRENCY: Final = re.compile(r"[A-Z]{3}")
_NUMBER: Final = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")


# "period: A time period, expressed as YYYY-MM or similar." (section 4.2)
def is_period(text: str) -> bool:
    """Return whether a text is a year, a quarter, a month or a day that exists."""
    if _PERIOD.fullmatch(text):
        return True
    try:
        return len(text) == 10 and date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


FIELD_TYPES: Final[Mapping[str, tuple[Callable[[str], object], str]]] = MappingProxyType(
    {
        "period": (is_period, "a month such as 2024-08 or a quarter such as 2024-Q3"),
        "ccy": (_CURRENCY.fullmatch, "a currency of three letters, such as GBP"),
        **dict.fromkeys(("amt", "ltv", "prog"), (_NUMBER.fullmatch, "a number such as 4200.50")),
    }
)
"""Key to the check of its values, and what it expects in words; the values of other keys are any text."""

_ORDER = """
return p aacp res period filter fields fmt src src_prev rules validate tmpl data_ptr amt ccy sup match terms type
party clause issue risk block flags flags_inherit req highlight status to subj att flag_msg sentiment tone prog
actor chain ltv loyalty urgency
"""
ORDER: Final = tuple(_ORDER.split())
"""The keys in the order in which we write them: that of the reference encoder; the draft defines none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """The words that a validator knows; it warns about others."""

    tasks: frozenset[str]
    """TASK values (section 5.1)."""
    domains: frozenset[str]
    """DOM values (section 5.2)."""
    keys: frozenset[str]
    """Keys of named fields (sections 4.2 and 4.3)."""

    # "Implementors MAY define organisation-private fields using a namespacing convention" (section 13)
    # "Implementors MAY define additional domain values." (section 5.2)
    def adding(self, *, tasks: Iterable[str] = (), domains: Iterable[str] = (), keys: Iterable[str] = ()) -> Vocabulary:
        """Return a vocabulary with an organisation's own words added, such as the key "org_ticket"."""
        return Vocabulary(
            tasks=self.tasks.union(tasks), domains=self.domains.union(domains), keys=self.keys.union(keys)
        )


_TASKS = "FETCH PROC FLAG RESOLVE LOG SEND BUILD MERGE CALC REPORT ACK SYNC"
_DOMAINS = "HR FIN SALES LEGAL IT CS MKT"
DRAFT_VOCABULARY: Final = Vocabulary(
    tasks=frozenset(_TASKS.split()),
    domains=frozenset(_DOMAINS.split()),
    # Section 4.3 does not list flags_inherit, which the reference encoder writes.
    keys=frozenset(ORDER) - {"flags_inherit"},
)
"""The words that the draft defines."""


def _keys(*groups: str) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(group.split()) for group in groups)


TASK_FIELDS: Final[Mapping[str, tuple[frozenset[str], ...]]] = MappingProxyType(
    {
        "FETCH": _keys("res src data_ptr"),
        "PROC": _keys("res src data_ptr match"),
        "FLAG": _keys("res data_ptr type party clause issue flags match"),
        "RESOLVE": _keys("res data_ptr issue match flags"),
        "LOG": _keys("res data_ptr filter type status actor chain match"),
        "SEND": _keys("to", "res src data_ptr att subj tmpl flag_msg"),
        "BUILD": _keys("res type tmpl"),
        "MERGE": _keys("res src data_ptr rules"),
        "CALC": _keys("res src data_ptr rules amt"),
        "REPORT": _keys("res src data_ptr tmpl fmt period status"),
        "SYNC": _keys("res src data_ptr"),
    }
)
"""TASK to the fields without which nobody can act on it: one of each group. The draft names none; its own packets and
those of its encoder have them. ACK and tasks of an organisation need none."""


MAX_PACKET_CHARS: Final = 1 << 16
"""Characters of a packet: it names an action and the addresses of data, and carries no data (section 9)."""
MAX_FIELDS: Final = 256
"""Named fields of a packet."""

_FORBIDDEN: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Packet:
    """One instruction from an agent to another; `str(packet)` is its text."""

    task: str
    """The action, such as "FETCH"."""
    domain: str
    """The business domain, such as "HR"."""
    fields: Mapping[str, str]
    """Key to value of every named field; the order does not matter for equality."""

    @property
    def return_agent(self) -> str:
        """The agent that receives the result; empty where the packet names none."""
        return self.fields.get(RETURN, "")

    @property
    def priority(self) -> str:
        """The priority; "2" where the packet has none (section 5.3)."""
        return self.fields.get(PRIORITY, "2")

    @property
    def version(self) -> str:
        """The protocol version; empty where the packet has none."""
        return self.fields.get(VERSION_KEY, "")

    def __str__(self) -> str:
        """Return the text; raises as `serialize_packet`."""
        return serialize_packet(self)


@dataclass(frozen=True, slots=True)
class PacketScan:
    """The content of a text, with all of its faults."""

    task: str
    """The first word; empty where there is none."""
    domain: str
    """The second word; empty where there is none."""
    fields: Mapping[str, str]
    """The named fields; the first one where a key comes twice."""
    faults: tuple[Finding, ...]
    """The errors, in the order of the text."""
    padded: tuple[str, ...]
    """The fields that had white space around them, which is not part of them."""


def parse_packet(text: str) -> Packet:
    """Return the packet of a text; `validate` checks what a packet must hold besides.

    Raises:
        DecodeError: E1001, with the position of the first fault.
    """
    scan = scan_packet(text)
    if scan.faults:
        fault = scan.faults[0]
        raise DecodeError(
            f"{fault.field}: {fault.reason}", code=ErrorCode.PARSE_ERROR, text=text, position=fault.position
        )
    return Packet(task=scan.task, domain=scan.domain, fields=scan.fields)


def serialize_packet(packet: Packet) -> str:
    """Return the text of `packet`: known keys in the order of `ORDER`, then all others in alphabetical order.

    Equal packets have equal texts.

    Raises:
        EncodeError: E1004, the text of a word or a value would be read differently; E1001, the packet is too long.
    """
    check_packet(packet)
    slots = [f"{key}:{value}" for key, value in canonical(packet).fields.items()]
    text = "|".join([packet.task, packet.domain, *slots])
    if len(text) > MAX_PACKET_CHARS or len(slots) > MAX_FIELDS:
        reason = f"expected at most {MAX_PACKET_CHARS} characters and {MAX_FIELDS} fields"
        raise EncodeError(f"{reason}, found {len(text)} and {len(slots)}", code=ErrorCode.PARSE_ERROR)
    return text


def canonical(packet: Packet) -> Packet:
    """Return the packet with its fields in the order of its text."""
    fields = packet.fields
    known = [key for key in ORDER if key in fields]
    own = sorted(fields.keys() - set(known))
    return replace(packet, fields={key: fields[key] for key in (*known, *own)})


def with_fields(packet: Packet, /, **fields: str) -> Packet:
    """Return the packet with `fields` added or replaced, in the order of its text."""
    return canonical(replace(packet, fields={**packet.fields, **fields}))


def check_packet(packet: Packet) -> None:
    """Check that the text of a packet is read as the same packet.

    Raises:
        EncodeError: E1004, with the first field that is not.
    """
    for name, word in (("TASK", packet.task), ("DOM", packet.domain)):
        _check_word(name, word)
    for key, value in packet.fields.items():
        _check_word(f"the key {key!r}", key)
        if not isinstance(value, str):
            raise EncodeError(f"{key}: expected text, found {value!r}", code=ErrorCode.INVALID_TYPE)
        _check_text(key, value)


def _check_word(name: str, word: object) -> None:
    if not isinstance(word, str) or not word or ":" in word:
        raise EncodeError(f"{name}: expected a word without ':', found {word!r}", code=ErrorCode.INVALID_TYPE)
    _check_text(name, word)


def _check_text(name: str, text: str) -> None:
    if "|" in text or _FORBIDDEN.search(text):
        reason = f"{name}: expected no '|', line break or control character, found {text!r}"
        raise EncodeError(reason, code=ErrorCode.INVALID_TYPE)
    if text != text.strip():
        raise EncodeError(f"{name}: expected no outer white space, found {text!r}", code=ErrorCode.INVALID_TYPE)


def scan_packet(text: str) -> PacketScan:
    """Return the content of `text` and all of its faults; never raises."""
    if fault := _check_whole(text):
        return PacketScan("", "", {}, (fault,), ())
    reader = _SlotReader()
    if text != text.strip():
        reader.padded.append("packet")
    for number, (position, slot) in enumerate(_slots(text)):
        reader.read(number, position, slot)
    return reader.result(len(text))


def _check_whole(text: str) -> Finding | None:
    """Return the fault of the text as a whole, for which its fields are not read."""
    if len(text) > MAX_PACKET_CHARS:
        return Finding(
            FindingCode.LENGTH, "packet", f"expected at most {MAX_PACKET_CHARS} characters, found {len(text)}", 0
        )
    if not text.strip():
        return Finding(FindingCode.EMPTY, "packet", f"expected TASK|DOM|key:value, found {text!r}", 0)
    if text.count("|") > MAX_FIELDS + 1:
        return Finding(FindingCode.LENGTH, "packet", f"expected at most {MAX_FIELDS} named fields", 0)
    return None


def _slots(text: str) -> Iterator[tuple[int, str]]:
    """Yield position and text of each slot between the pipes, without white space around the packet."""
    start = len(text) - len(text.lstrip())
    for slot in text.strip().split("|"):
        yield start, slot
        start += len(slot) + 1


class _SlotReader:
    """Reads slots one after the other and collects their content and faults."""

    def __init__(self) -> None:
        self.padded: list[str] = []
        self._words = ["", ""]
        self._seen = 0
        self._fields: dict[str, str] = {}
        self._faults: list[Finding] = []

    def read(self, number: int, position: int, slot: str) -> None:
        """Read the slot of this number, counted from 0."""
        self._seen = number + 1
        name = ("TASK", "DOM")[number] if number < 2 else f"slot {number + 1}"
        if control := _FORBIDDEN.search(slot):
            reason = f"control character {control[0]!r} in {slot!r}"
            self._refuse(
                FindingCode.CONTROL, slot.partition(":")[0].strip() or name, reason, position + control.start()
            )
        if not slot.strip():
            self._refuse(FindingCode.EMPTY, name, "an empty slot", position)
        elif number < 2:
            self._positional(number, name, position, slot)
        else:
            self._named(name, position, slot)

    def _positional(self, number: int, name: str, position: int, slot: str) -> None:
        if ":" in slot:
            self._refuse(FindingCode.NAMED, name, f"expected {name}, found the named field {slot!r}", position)
        self._words[number] = self._strip(name, slot)

    def _named(self, name: str, position: int, slot: str) -> None:
        key, colon, value = slot.partition(":")
        key = key.strip()
        if not colon:
            self._refuse(FindingCode.NO_VALUE, name, f"expected key:value, found {slot!r}", position)
        elif not key:
            self._refuse(FindingCode.EMPTY_KEY, name, f"expected a key before ':', found {slot!r}", position)
        elif key in self._fields:
            self._refuse(FindingCode.DUPLICATE, key, f"comes twice, the second time as {slot!r}", position)
        else:
            self._strip(key, slot.partition(":")[0])
            self._fields[key] = self._strip(key, value)

    def _strip(self, name: str, word: str) -> str:
        stripped = word.strip()
        if stripped != word:
            self.padded.append(name)
        return stripped

    def _refuse(self, code: FindingCode, field: str, reason: str, position: int) -> None:
        self._faults.append(Finding(code, field, reason, position))

    def result(self, end: int) -> PacketScan:
        """Return what was read; `end` is the position for a missing word."""
        for name in ("TASK", "DOM")[self._seen :]:
            self._refuse(FindingCode.MISSING, name, "is missing", end)
        task, domain = self._words
        padded = tuple(dict.fromkeys(self.padded))
        return PacketScan(task, domain, self._fields, tuple(self._faults), padded)
