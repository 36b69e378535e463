"""An instruction in English, and which others mean the same packet (AACP section 6.3, tiers 1 and 2).

The draft compares keywords and takes what overlaps enough. Two texts that differ in one word ("active", "inactive"),
one number or one "not" overlap almost wholly and mean opposite things, so here nothing is compared by degree: two
instructions have one wording if they are the same words in the same order, but for politeness, articles, case and
white space. Whatever else differs is another instruction, which costs a call of the model and never a wrong packet.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Final

from accp_core.aacp.findings import Finding, FindingCode
from accp_core.aacp.packet import Packet
from accp_core.aacp.vocabulary import PRIORITIES, VERSION
from accp_core.error_codes import ErrorCode
from accp_core.errors import EncodeError

__all__ = ["MAX_INSTRUCTION_CHARS", "Instruction", "Word", "find_omissions", "is_identifier", "read_words", "wording"]

MAX_INSTRUCTION_CHARS: Final = 10_000
"""Characters of an instruction."""

DROPPED: Final = frozenset({"a", "an", "the", "please", "please,", "kindly"})
"""Words that change nothing; as names they would be written otherwise."""
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
"""What a request may begin with instead of "please"."""
CLOSINGS: Final = (["thanks"], ["thank", "you"], ["many", "thanks"])
"""What it may end with."""
FETCHING: Final = frozenset({"retrieve", "get", "obtain", "fetch"})
"""First words that all mean FETCH."""
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
    """What is compared: lower case, unless case may matter."""
    source: str
    """As it stands in the text."""


def is_identifier(word: str) -> bool:
    """Return whether case may matter: a digit, a capital that does not begin the word, or a single capital."""
    inner = word[1:] or word
    return inner != inner.lower() or (not word.isalpha() and any(map(str.isnumeric, word)))


def read_words(english: str) -> list[Word]:
    """Return the words of a text; the typographic apostrophe is the plain one."""
    sources = english.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").split()
    return [Word(source if is_identifier(source) else source.lower(), source) for source in sources]


def wording(text: Iterable[Word]) -> list[Word]:
    """Return the words that say what is to be done: no politeness, no articles, "do not" for "don't"."""
    words = [part for word in text for part in expanded(word) if part.spelling not in DROPPED]
    words = without_end(words, ".!")
    for closing in CLOSINGS:
        words = without_tail(words, closing)
    for lead in LEADS:
        if spelled(words[: len(lead)]) == lead:
            words = without_end(words[len(lead) :], "?.!")
    if words and words[0].spelling in FETCHING:
        words[0] = replace(words[0], spelling="fetch")
    return words


def spelled(words: Iterable[Word]) -> list[str]:
    """Return what is compared."""
    return [word.spelling for word in words]


def expanded(word: Word) -> tuple[Word, ...]:
    """Return a word, or the two of a contraction with "not"."""
    stem = CONTRACTIONS.get(word.spelling, word.spelling.removesuffix("n't"))
    return (word,) if stem in ("", word.spelling) else (replace(word, spelling=stem), Word("not", "not"))


def without_end(words: list[Word], marks: str) -> list[Word]:
    """Return the words without these marks at the end of the last one."""
    if not words or words[-1].spelling[-1] not in marks:
        return words
    last = Word(words[-1].spelling.rstrip(marks), words[-1].source.rstrip(marks))
    return [*words[:-1], last] if last.spelling else words[:-1]


def without_tail(words: list[Word], tail: list[str]) -> list[Word]:
    """Return the words without `tail`, and without the full stop before it."""
    if spelled(words[-len(tail) :]) != tail:
        return words
    return without_end(words[: -len(tail)], ".!,")


@dataclass(frozen=True, slots=True, kw_only=True)
class Instruction:
    """What one agent wants of another, in English.

    Raises: EncodeError E1004 for an empty or too long text and for what no packet could have as its fields.
    """

    english: str
    domain: str
    """The DOM of the packet."""
    return_agent: str
    """Who receives the result."""
    priority: str = "2"
    words: tuple[Word, ...] = field(init=False, repr=False)
    """All of the text, in words."""
    wording: tuple[Word, ...] = field(init=False, repr=False)
    """The words that say what is to be done."""
    key: str = field(init=False)
    """What only the same instruction to the same agent has (tier 1)."""
    pattern: str = field(init=False)
    """What all instructions of one wording in one domain have (tier 2)."""

    def __post_init__(self) -> None:
        if not self.english.strip() or len(self.english) > MAX_INSTRUCTION_CHARS:
            raise EncodeError(
                f"expected 1 to {MAX_INSTRUCTION_CHARS} characters of English, found {self.english[:80]!r}",
                code=ErrorCode.INVALID_TYPE,
            )
        if self.priority not in PRIORITIES:
            raise EncodeError(
                f"priority: expected {', '.join(PRIORITIES)}, found {self.priority!r}", code=ErrorCode.INVALID_TYPE
            )
        for name, word in (("domain", self.domain), ("return_agent", self.return_agent)):
            if not word.strip():
                raise EncodeError(f"{name}: expected a word, found {word!r}", code=ErrorCode.INVALID_TYPE)
        words = read_words(self.english)
        meant = wording(words)
        agent = (self.domain, self.return_agent, self.priority)
        object.__setattr__(self, "words", tuple(words))
        object.__setattr__(self, "wording", tuple(meant))
        object.__setattr__(self, "key", digest("key", *agent, *spelled(words)))
        object.__setattr__(self, "pattern", digest("pattern", self.domain, *spelled(meant)))


# "Tier 1 -- Hash cache lookup: The SHA-256 hash of the normalised English instruction" (section 6.3). The reference
# hashes nothing else, so that one domain got the packet of another.
def digest(*words: str) -> str:
    """Return the SHA-256 of words and protocol version, in hex."""
    return sha256(json.dumps([VERSION, *words]).encode()).hexdigest()


def find_omissions(instruction: Instruction, packet: Packet) -> Iterator[Finding]:
    """Yield what the text says and the packet does not: numbers, dates, identifiers, negations.

    A packet for which a model found no field still is a packet; whoever sends it should know.
    """
    carried = plain(" ".join((packet.task, *packet.fields.values())))
    for word in instruction.words:
        if word.source != "I" and is_identifier(word.source) and plain(word.source) not in carried:
            yield Finding(
                FindingCode.OMITTED, "packet", f"{word.source.strip('.,;:!?')!r} of the instruction is not in it"
            )
    said = NEGATIONS.intersection(spelled(part for word in instruction.words for part in expanded(word)))
    values = " ".join(packet.fields.values()).lower()
    if said and "!" not in values and not NEGATIONS.intersection(re.split(r"[^a-z]+", values)):
        yield Finding(FindingCode.OMITTED, "packet", f"{min(said)!r} of the instruction is not in it")


def plain(text: str) -> str:
    """Return the letters and digits of a text, in lower case."""
    return "".join(letter for letter in text.lower() if letter.isalnum())
