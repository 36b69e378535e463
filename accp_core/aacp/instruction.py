"""An instruction in English, by what it is found again, and the checks of its packet (AACP sections 6.3, 7, 13 to 15).

The draft compares keywords and accepts a sufficient overlap. Two texts that differ in one word ("active", "inactive"),
one number or one "not" overlap almost completely and mean opposite things. So nothing is compared by degree here: two
instructions have the same wording if they have the same words in the same order, except for politeness, articles, case
and white space. Any other difference makes another instruction, which costs a model call, but never gives a wrong
packet.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Final

from accp_core.aacp import packet as packets
from accp_core.aacp.encoding import Guard, sensitive_values
from accp_core.error_codes import ErrorCode
from accp_core.errors import EncodeError

__all__ = [
    "MAX_INSTRUCTION_CHARS", "Instruction", "ValidationReport", "Word", "digest", "find_omissions", "find_unusable",
    "is_identifier", "read_words", "spellings", "validate", "wording",
]  # fmt: skip


# The checks of a packet before it is sent or acted on (AACP sections 7, 13, 14 and 15).


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationReport:
    """The findings of a validator."""

    errors: tuple[packets.Finding, ...] = ()
    """Why the packet must not be sent or acted on, in the order of the text."""
    warnings: tuple[packets.Finding, ...] = ()
    """Findings to log, which never prevent sending."""
    packet: packets.Packet | None = None
    """The packet, None where there is an error."""

    @property
    def valid(self) -> bool:
        """Whether the packet may be sent."""
        return not self.errors

    def check(self) -> packets.Packet:
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
    packet: str | packets.Packet,
    *,
    vocabulary: packets.Vocabulary = packets.DRAFT_VOCABULARY,
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
    scan = _scan(packet) if isinstance(packet, packets.Packet) else packets.scan_packet(packet)
    scanned = packets.Packet(task=scan.task, domain=scan.domain, fields=scan.fields)
    sensitive = tuple(guard(scanned)) if guard else ()
    errors = (*scan.faults, *_missing_fields(scan), *(sensitive if forbid else ()))
    warnings = (*_warnings(scan, vocabulary), *(() if forbid else sensitive))
    return ValidationReport(errors=errors, warnings=warnings, packet=None if errors else scanned)


def find_unusable(
    packet: packets.Packet, *, vocabulary: packets.Vocabulary = packets.DRAFT_VOCABULARY
) -> Iterator[packets.Finding]:
    """Yield an error for each reason why nobody can act on a valid packet.

    The draft accepts any TASK and asks for no field besides "return" and "aacp", so `validate` does, too. A packet that
    is made of an instruction must be of use: its TASK is known, and it has the fields that its TASK needs.
    """
    if packet.task not in vocabulary.tasks:
        yield packets.Finding(packets.FindingCode.UNKNOWN_TASK, "TASK", f"expected a known TASK, found {packet.task!r}")
    for keys in packets.TASK_FIELDS.get(packet.task, ()):
        if not any(packet.fields.get(key) for key in keys):
            reason = f"{packet.task} needs one of {', '.join(key for key in packets.ORDER if key in keys)}"
            yield packets.Finding(packets.FindingCode.MISSING, "packet", reason)


def _scan(packet: packets.Packet) -> packets.PacketScan:
    """Return the content of a packet; one that cannot be written as text has a fault."""
    try:
        packets.serialize_packet(packet)
    except EncodeError as error:
        return packets.PacketScan(
            "", "", {}, (packets.Finding(packets.FindingCode.UNWRITABLE, "packet", error.reason),), ()
        )
    return packets.PacketScan(packet.task, packet.domain, packet.fields, (), ())


# "AACP validators MUST check: [...] A return: named field is present and non-empty. An aacp: named field is present"
def _missing_fields(scan: packets.PacketScan) -> Iterator[packets.Finding]:
    """Yield an error for each required field that is missing or empty, unless the text could not be read at all."""
    if scan.faults and not scan.task and not scan.fields:
        return
    for key in (packets.RETURN, packets.VERSION_KEY):
        if key not in scan.fields:
            yield packets.Finding(packets.FindingCode.MISSING, key, "is missing")
        elif not scan.fields[key]:
            yield packets.Finding(packets.FindingCode.EMPTY, key, "is empty")


# "AACP validators SHOULD warn on: Unrecognised TASK or DOM values; Missing p: field; AACP version mismatch;
# sentiment: present without tone:; ltv: present without ccy:; Unknown extended field keys" (section 7)
def _warnings(scan: packets.PacketScan, vocabulary: packets.Vocabulary) -> Iterator[packets.Finding]:
    """Yield what is unusual, but may be of a later version or of an organisation's own vocabulary."""
    if scan.task and scan.task not in vocabulary.tasks:
        yield packets.Finding(packets.FindingCode.UNKNOWN_TASK, "TASK", f"unknown value {scan.task!r}")
    if scan.domain and scan.domain not in vocabulary.domains:
        yield packets.Finding(packets.FindingCode.UNKNOWN_DOMAIN, "DOM", f"unknown value {scan.domain!r}")
    for name in scan.padded:
        yield packets.Finding(packets.FindingCode.SPACE, name, "white space around it is not part of it")
    for key, value in scan.fields.items():
        yield from _field_warnings(key, value, vocabulary)
    yield from _missing_optional_fields(scan)


def _field_warnings(key: str, value: str, vocabulary: packets.Vocabulary) -> Iterator[packets.Finding]:
    """Yield the warnings about one field."""
    if key not in vocabulary.keys:
        yield packets.Finding(packets.FindingCode.UNKNOWN_KEY, key, f"unknown key {key!r}")
    if key == packets.PRIORITY and value not in packets.PRIORITIES:
        yield packets.Finding(
            packets.FindingCode.PRIORITY, key, f"expected one of {', '.join(packets.PRIORITIES)}, found {value!r}"
        )
    # "Implementations SHOULD warn on version mismatch but MUST NOT reject packets on version mismatch alone."
    elif key == packets.VERSION_KEY and value not in ("", packets.VERSION):
        yield packets.Finding(packets.FindingCode.VERSION, key, f"expected {packets.VERSION}, found {value!r}")
    elif not value and key not in (packets.RETURN, packets.VERSION_KEY):
        yield packets.Finding(packets.FindingCode.EMPTY, key, "is empty")
    elif key in packets.FIELD_TYPES and not packets.FIELD_TYPES[key][0](value):
        yield packets.Finding(
            packets.FindingCode.VALUE, key, f"expected {packets.FIELD_TYPES[key][1]}, found {value!r}"
        )


_COMPANIONS: Final = (
    ("sentiment", "tone", packets.FindingCode.TONE, "sentiment without tone"),
    ("ltv", "ccy", packets.FindingCode.CURRENCY, "ltv without ccy"),
)
"""Field, the field that belongs to it, and the finding where that is missing."""


def _missing_optional_fields(scan: packets.PacketScan) -> Iterator[packets.Finding]:
    """Yield a warning for each optional field that a packet should have."""
    if scan.fields and packets.PRIORITY not in scan.fields:
        yield packets.Finding(packets.FindingCode.MISSING, packets.PRIORITY, "is missing; 2 (medium) is the default")
    for name, companion, code, reason in _COMPANIONS:
        if name in scan.fields and companion not in scan.fields:
            yield packets.Finding(code, name, reason)


MAX_INSTRUCTION_CHARS: Final = 10_000
"""Characters of an instruction."""

DROPPED: Final = frozenset({"a", "an", "the", "please", "please,", "kindly"})
"""Words without influence on the meaning."""
LEADS: Final = tuple(
    lead.split()
    for lead in (
        "could you",
        "would you",
        "I need you to",
        "we need you to",
        "I want you to",
        "I would like you to",
        "i'd like you to",
    )
)
"""Polite beginnings of a request."""
CLOSINGS: Final = (["thanks"], ["thank", "you"], ["many", "thanks"])
"""Polite endings of a request."""
FETCHING: Final = frozenset({"retrieve", "get", "obtain", "fetch"})
"""First words that mean FETCH."""
CONTRACTIONS: Final = {"can't": "can", "won't": "will", "shan't": "shall", "cannot": "can"}
NEGATIONS: Final = frozenset(
    {
        "not",
        "no",
        "never",
        "none",
        "nobody",
        "nothing",
        "neither",
        "nor",
        "without",
        "except",
        "exclude",
        "excluding",
        "unless",
    }
)


@dataclass(frozen=True, slots=True)
class Word:
    """One word of an instruction."""

    spelling: str
    """The word as it is compared: in lower case, unless its case may matter."""
    source: str
    """The word as it is written in the text."""


def is_identifier(word: str) -> bool:
    """Return whether the case of `word` may matter: it has a digit or an inner capital, or is a single capital."""
    inner = word[1:] or word
    return inner != inner.lower() or (not word.isalpha() and any(map(str.isnumeric, word)))


def read_words(english: str) -> list[Word]:
    """Return the words of a text; a typographic apostrophe becomes a plain one."""
    sources = english.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").split()
    return [Word(source if is_identifier(source) else source.lower(), source) for source in sources]


def wording(text: Iterable[Word]) -> list[Word]:
    """Return the words without politeness and articles, with "do not" for "don't"."""
    words = [part for word in text for part in expand(word) if part.spelling not in DROPPED]
    words = without_end(words, ".!")
    for closing in CLOSINGS:
        words = without_tail(words, closing)
    for lead in LEADS:
        if spellings(words[: len(lead)]) == lead:
            words = without_end(words[len(lead) :], "?.!")
    if words and words[0].spelling in FETCHING:
        words[0] = replace(words[0], spelling="fetch")
    return words


def spellings(words: Iterable[Word]) -> list[str]:
    """Return the spellings by which words are compared."""
    return [word.spelling for word in words]


def expand(word: Word) -> tuple[Word, ...]:
    """Return the word, or both words of a contraction with "not"."""
    stem = CONTRACTIONS.get(word.spelling, word.spelling.removesuffix("n't"))
    return (word,) if stem in ("", word.spelling) else (replace(word, spelling=stem), Word("not", "not"))


def without_end(words: list[Word], marks: str) -> list[Word]:
    """Return the words without these characters at the end of the last word."""
    if not words or words[-1].spelling[-1] not in marks:
        return words
    last = Word(words[-1].spelling.rstrip(marks), words[-1].source.rstrip(marks))
    return [*words[:-1], last] if last.spelling else words[:-1]


def without_tail(words: list[Word], tail: list[str]) -> list[Word]:
    """Return the words without `tail` at their end, and without the punctuation before it."""
    if spellings(words[-len(tail) :]) != tail:
        return words
    return without_end(words[: -len(tail)], ".!,")


@dataclass(frozen=True, slots=True, kw_only=True)
class Instruction:
    """What one agent asks of another, in English.

    Raises:
        EncodeError: E1004, the text is empty or too long, or a packet cannot have such a domain, agent or priority.
    """

    english: str
    """The text."""
    domain: str
    """The DOM of the packet."""
    return_agent: str
    """The agent that receives the result."""
    priority: str = "2"
    """"1" (critical), "2" (medium) or "3" (low)."""
    words: tuple[Word, ...] = field(init=False, repr=False)
    """All words of the text."""
    wording: tuple[Word, ...] = field(init=False, repr=False)
    """The words without politeness and articles."""
    key: str = field(init=False)
    """Identifies this instruction to this agent (tier 1)."""
    pattern: str = field(init=False)
    """Identifies all instructions of the same wording in the same domain (tier 2)."""

    def __post_init__(self) -> None:
        if not self.english.strip() or len(self.english) > MAX_INSTRUCTION_CHARS:
            raise EncodeError(
                f"expected 1 to {MAX_INSTRUCTION_CHARS} characters of English, found {self.english[:80]!r}",
                code=ErrorCode.INVALID_TYPE,
            )
        if self.priority not in packets.PRIORITIES:
            raise EncodeError(
                f"priority: expected {', '.join(packets.PRIORITIES)}, found {self.priority!r}",
                code=ErrorCode.INVALID_TYPE,
            )
        for name, word in (("domain", self.domain), ("return_agent", self.return_agent)):
            if not word.strip():
                raise EncodeError(f"{name}: expected a word, found {word!r}", code=ErrorCode.INVALID_TYPE)
        words = read_words(self.english)
        meant = wording(words)
        agent = (self.domain, self.return_agent, self.priority)
        object.__setattr__(self, "words", tuple(words))
        object.__setattr__(self, "wording", tuple(meant))
        object.__setattr__(self, "key", digest("key", *agent, *spellings(words)))
        object.__setattr__(self, "pattern", digest("pattern", self.domain, *spellings(meant)))


# "Tier 1 -- Hash cache lookup: The SHA-256 hash of the normalised English instruction" (section 6.3). The reference
# hashes nothing else, so one domain could get the packet of another. Stored registries depend on these very bytes.
def digest(*words: str) -> str:
    """Return the SHA-256 of the protocol version and `words`, in hexadecimal digits."""
    return sha256(json.dumps([packets.VERSION, *words]).encode()).hexdigest()


def find_omissions(instruction: Instruction, packet: packets.Packet) -> Iterator[packets.Finding]:
    """Yield a warning for each number, date, identifier or negation of the text that the packet does not have.

    A packet without them is still valid, so the sender is warned.
    """
    carried = plain(" ".join((packet.task, *packet.fields.values())))
    for word in instruction.words:
        if word.source != "I" and is_identifier(word.source) and plain(word.source) not in carried:
            yield packets.Finding(
                packets.FindingCode.OMITTED,
                "packet",
                f"{word.source.strip('.,;:!?')!r} of the instruction is not in it",
            )
    negations = NEGATIONS.intersection(spellings(part for word in instruction.words for part in expand(word)))
    values = " ".join(packet.fields.values()).lower()
    if negations and "!" not in values and not NEGATIONS.intersection(re.split(r"[^a-z]+", values)):
        yield packets.Finding(
            packets.FindingCode.OMITTED, "packet", f"{min(negations)!r} of the instruction is not in it"
        )


def plain(text: str) -> str:
    """Return the letters and digits of `text`, in lower case."""
    return "".join(letter for letter in text.lower() if letter.isalnum())
