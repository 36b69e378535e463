r"""One packet, as a value and as text (AACP section 4).

    packet = task "|" dom "|" named-fields
    named-fields = key ":" value *( "|" key ":" value )

A field is split at its first ":"; a value may hold more of them. There is no escape, so no value may hold a "|", a
line break or another control character: what would add a field is refused, in both directions. White space around a
word is no part of it. Both ends of a link may agree on the percent form (`escaped=True`), in which any text travels.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from accp_core.aacp.findings import Finding, FindingCode
from accp_core.aacp.vocabulary import ORDER, PRIORITY, RETURN, VERSION_KEY
from accp_core.error_codes import ErrorCode
from accp_core.errors import DecodeError, EncodeError

__all__ = [
    "MAX_PACKET_CHARS",
    "Packet",
    "PacketScan",
    "canonical",
    "check_packet",
    "parse_packet",
    "scan_packet",
    "serialize_packet",
    "with_fields",
]

MAX_PACKET_CHARS: Final = 1 << 16
"""Characters of a packet: it says what to do and points at data, it does not carry them (section 9)."""
MAX_FIELDS: Final = 256
"""Named fields of a packet."""

_FORBIDDEN: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_HIDDEN: Final = re.compile(r"[%|\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_PERCENT: Final = re.compile(r"(?:%[0-9A-F]{2})+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Packet:
    """One instruction from an agent to another; `str(packet)` is its text."""

    task: str
    """The action, such as "FETCH"."""
    domain: str
    """The business domain, such as "HR"."""
    fields: Mapping[str, str]
    """Key to value of every named field; packets are equal whatever the order."""

    @property
    def return_agent(self) -> str:
        """The agent that receives the result; empty where the packet does not say."""
        return self.fields.get(RETURN, "")

    @property
    def priority(self) -> str:
        """The priority, "2" where the packet does not say (section 5.3)."""
        return self.fields.get(PRIORITY, "2")

    @property
    def version(self) -> str:
        """The protocol version; empty where the packet does not say."""
        return self.fields.get(VERSION_KEY, "")

    def __str__(self) -> str:
        """Return the text; raises what `serialize_packet` raises."""
        return serialize_packet(self)


@dataclass(frozen=True, slots=True)
class PacketScan:
    """All that a text says, faults included."""

    task: str
    domain: str
    fields: Mapping[str, str]
    """The named fields; of a key that stands twice the first."""
    faults: tuple[Finding, ...]
    """In reading order."""
    padded: tuple[str, ...]
    """Which fields had white space around them, which is not part of them."""


def parse_packet(text: str, *, escaped: bool = False) -> Packet:
    """Return the packet that `text` says; `escaped` says that values are in the percent form.

    What a packet must say besides is for `validate`.

    Raises: DecodeError E1001 with the place of the first fault.
    """
    found = scan_packet(text, escaped=escaped)
    if found.faults:
        fault = found.faults[0]
        raise DecodeError(
            f"{fault.field}: {fault.reason}", code=ErrorCode.PARSE_ERROR, text=text, position=fault.position
        )
    return Packet(task=found.task, domain=found.domain, fields=found.fields)


def serialize_packet(packet: Packet, *, escaped: bool = False) -> str:
    """Return the text of `packet`, known keys in the order of `ORDER`, all others after them in that of the alphabet.

    Equal packets have equal texts. `escaped` writes values in the percent form.

    Raises: EncodeError E1004 for a word or a value that the text would say differently, E1001 when it is too long.
    """
    check_packet(packet, escaped=escaped)
    write = _escape if escaped else str
    slots = [f"{key}:{write(value)}" for key, value in canonical(packet).fields.items()]
    text = "|".join([packet.task, packet.domain, *slots])
    if len(text) > MAX_PACKET_CHARS or len(slots) > MAX_FIELDS:
        raise EncodeError(
            f"a packet has at most {MAX_PACKET_CHARS} characters and {MAX_FIELDS} fields", code=ErrorCode.PARSE_ERROR
        )
    return text


def canonical(packet: Packet) -> Packet:
    """Return the packet with its fields in the order in which they are written."""
    fields = packet.fields
    known = [key for key in ORDER if key in fields]
    own = sorted(fields.keys() - set(known))
    return replace(packet, fields={key: fields[key] for key in (*known, *own)})


def with_fields(packet: Packet, /, **fields: str) -> Packet:
    """Return the packet with these fields instead of its own, in the order in which they are written."""
    return canonical(replace(packet, fields={**packet.fields, **fields}))


def check_packet(packet: Packet, *, escaped: bool = False) -> None:
    """Refuse a packet whose text would say something else.

    Raises: EncodeError E1004 with the field and its value.
    """
    for name, word in (("TASK", packet.task), ("DOM", packet.domain)):
        _check_word(name, word)
    for key, value in packet.fields.items():
        _check_word(f"the key {key!r}", key)
        if not isinstance(value, str):
            raise EncodeError(f"{key}: expected text, found {value!r}", code=ErrorCode.INVALID_TYPE)
        if not escaped:
            _check_text(key, value)


def _check_word(name: str, word: object) -> None:
    if not isinstance(word, str) or not word or ":" in word:
        raise EncodeError(f"{name}: expected a word without ':', found {word!r}", code=ErrorCode.INVALID_TYPE)
    _check_text(name, word)


def _check_text(name: str, text: str) -> None:
    if "|" in text or _FORBIDDEN.search(text):
        raise EncodeError(
            f"{name}: '|', line breaks and control characters are not allowed: {text!r}", code=ErrorCode.INVALID_TYPE
        )
    if text != text.strip():
        raise EncodeError(f"{name}: white space around it would be lost: {text!r}", code=ErrorCode.INVALID_TYPE)


def scan_packet(text: str, *, escaped: bool = False) -> PacketScan:
    """Return all that `text` says and everything that is wrong with it; never raises."""
    if fault := _whole(text):
        return PacketScan("", "", {}, (fault,), ())
    reader = _Reader(escaped)
    if text != text.strip():
        reader.padded.append("packet")
    for number, (position, slot) in enumerate(_slots(text)):
        reader.read(number, position, slot)
    return reader.result(len(text))


def _whole(text: str) -> Finding | None:
    """Return what is wrong with the text as a whole, before its fields are looked at."""
    if len(text) > MAX_PACKET_CHARS:
        return Finding(FindingCode.LENGTH, "packet", f"at most {MAX_PACKET_CHARS} characters, found {len(text)}", 0)
    if not text.strip():
        return Finding(FindingCode.EMPTY, "packet", f"expected TASK|DOM|key:value, found {text!r}", 0)
    if text.count("|") > MAX_FIELDS + 1:
        return Finding(FindingCode.LENGTH, "packet", f"at most {MAX_FIELDS} named fields", 0)
    return None


def _slots(text: str) -> Iterator[tuple[int, str]]:
    """Yield position and text of what stands between the pipes; white space around the packet is not in it."""
    start = len(text) - len(text.lstrip())
    for slot in text.strip().split("|"):
        yield start, slot
        start += len(slot) + 1


class _Reader:
    """Collects what slots say."""

    def __init__(self, escaped: bool) -> None:
        self.padded: list[str] = []
        self._escaped = escaped
        self._words = ["", ""]
        self._seen = 0
        self._fields: dict[str, str] = {}
        self._faults: list[Finding] = []

    def read(self, number: int, position: int, slot: str) -> None:
        """Take the slot of that number, from 0."""
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
            self._refuse(FindingCode.NAMED, name, f"a named field stands where {name} is expected: {slot!r}", position)
        self._words[number] = self._strip(name, slot)

    def _named(self, name: str, position: int, slot: str) -> None:
        key, colon, value = slot.partition(":")
        key = key.strip()
        if not colon:
            self._refuse(FindingCode.NO_VALUE, name, f"expected key:value, found {slot!r}", position)
        elif not key:
            self._refuse(FindingCode.EMPTY_KEY, name, f"no key before ':' in {slot!r}", position)
        elif key in self._fields:
            self._refuse(FindingCode.DUPLICATE, key, f"stands twice, the second time as {slot!r}", position)
        else:
            self._strip(key, slot.partition(":")[0])
            self._fields[key] = self._value(key, position + len(slot) - len(value), value)

    def _value(self, key: str, position: int, value: str) -> str:
        stripped = self._strip(key, value)
        if not self._escaped:
            return stripped
        try:
            return _unescape(stripped)
        except ValueError:
            self._refuse(FindingCode.ESCAPE, key, f"not in the percent form: {value!r}", position)
            return stripped

    def _strip(self, name: str, word: str) -> str:
        stripped = word.strip()
        if stripped != word:
            self.padded.append(name)
        return stripped

    def _refuse(self, code: FindingCode, field: str, reason: str, position: int) -> None:
        self._faults.append(Finding(code, field, reason, position))

    def result(self, end: int) -> PacketScan:
        """Return what was read; `end` is where a word that is missing would have stood."""
        for name in ("TASK", "DOM")[self._seen :]:
            self._refuse(FindingCode.MISSING, name, "is missing", end)
        task, domain = self._words
        padded = tuple(dict.fromkeys(self.padded))
        return PacketScan(task, domain, self._fields, tuple(self._faults), padded)


def _escape(value: str) -> str:
    """Return the percent form of a value: "%", "|", controls and outer white space as the bytes of their UTF-8."""
    inner = value.lstrip()
    start = len(value) - len(inner)
    end = start + len(inner.rstrip())
    try:
        shown = _HIDDEN.sub(lambda found: _percent(found[0]), value[start:end])
        return _percent(value[:start]) + shown + _percent(value[end:])
    except UnicodeEncodeError:
        raise EncodeError(f"half a surrogate pair is no text: {value!r}", code=ErrorCode.INVALID_TYPE) from None


def _percent(text: str) -> str:
    return "".join(f"%{byte:02X}" for byte in text.encode())


def _unescape(value: str) -> str:
    """Undo `_escape`; raises ValueError for what it never writes."""
    text = _PERCENT.sub(lambda found: bytes.fromhex(found[0].replace("%", "")).decode(), value)
    if _escape(text) != value:
        raise ValueError(value)
    return text
