"""Instructions in English that say a step of a workflow in other words (AACP section 6.3, tier 2).

A pattern has groups of phrases. An instruction means its step if all of its words are phrases of the pattern, in any
order: one of each group that is needed, at most one of each other group. Between phrases only punctuation, "and" and
politeness may stand. So a number, a date, a "not", an "if", a quotation or a second action that no phrase has is left
over, and then nothing matches. Two readings with different packets match nothing, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil
from typing import Final

from accp_core.aacp.instruction import Instruction
from accp_core.aacp.packet import Packet
from accp_core.aacp.patterns.notation import Phrase, merge, read_phrase
from accp_core.aacp.patterns.slots import Captures
from accp_core.aacp.patterns.tokens import Sentence, Token, read_sentence
from accp_core.aacp.patterns.words import GUARD_WORDS
from accp_core.aacp.steps import WorkflowStep
from accp_core.errors import EncodeError

__all__ = ["Pattern", "PatternBook"]

MAX_STATES: Final = 4_000
"""Places of a text that are tried for one pattern; with more, the pattern does not match."""
BETWEEN: Final = frozenset({",", ";", ":", ".", "!", "(", ")", "-", "\u2013", "\u2014", "and", "this", "our"})
"""Words and marks between phrases."""
ENDS: Final = frozenset({".", "!", "?", ",", ":", ";"})
"""Marks after which a polite beginning or ending may stand."""
REQUESTS: Final = read_phrase(
    "((could|can|would|will) you [be able to]|would you mind|(can|could|may) (we|i)|is it possible to)"
)
"""Beginnings of a question that asks for an action."""
POLITE: Final = tuple(
    map(
        read_phrase,
        (
            "(hi|hello|hey) [there|team|all]",
            "(i|we) (need|want) you to",
            "(i|we) would like you to",
            "(i'd|we'd) like you to",
            "go ahead",
            "next",
            "(many thanks|cheers)",
            "thanks [in advance|a lot|so much]",
            "thank you [very much|in advance]",
        ),
    )
)
"""Beginnings and endings that say nothing about the action."""


@dataclass(frozen=True, kw_only=True)
class Pattern:
    """How people say one step of a workflow."""

    step: WorkflowStep
    """The step."""
    needs: tuple[tuple[str, ...], ...]
    """Groups of phrases of which one each must stand in the text; the first one holds the actions."""
    may: tuple[tuple[str, ...], ...] = ()
    """Groups of phrases of which one each may stand in it."""

    # read on first use, so that an import does not pay for it
    @cached_property
    def groups(self) -> tuple[tuple[Phrase, ...], ...]:
        """The phrases of all groups, those that are needed first.

        Raises:
            ProtocolError: E1004, a phrase has a notation without meaning.
        """
        return tuple(tuple(map(read_phrase, group)) for group in (*self.needs, *self.may))


@dataclass(frozen=True, slots=True)
class _State:
    """A place in a text up to which a pattern covers it."""

    at: int
    """The next token."""
    used: int
    """The groups that were used, as bits."""
    captures: Captures
    """What their slots hold."""
    spare: int
    """How many words may still be left over."""

    def key(self) -> tuple[object, ...]:
        """Return what tells this state from others."""
        return (self.at, self.used, self.spare, tuple(sorted(self.captures.items())))


class PatternBook:
    """Patterns by domain."""

    def __init__(self, patterns: Iterable[Pattern], *, threshold: float = 1.0) -> None:
        """Take the patterns.

        Args:
            patterns: The patterns.
            threshold: The share of an instruction's words that a pattern must have. Below 1, plain words may be left
                over: no word of `GUARD_WORDS`, no number, name or sign, and no action.

        Raises:
            ProtocolError: E1004, a phrase has a notation without meaning.
            ValueError: The threshold is not above 0 and at most 1.
        """
        if not 0 < threshold <= 1:
            raise ValueError(f"threshold: expected a share above 0 and at most 1, found {threshold!r}")
        self._threshold = threshold
        self._patterns: Final[dict[str, list[Pattern]]] = {}
        actions: set[str] = set()
        for pattern in patterns:
            self._patterns.setdefault(pattern.step.domain.upper(), []).append(pattern)
            actions.update(word for phrase in pattern.groups[0] for word in phrase.words)
        self._kept = GUARD_WORDS | actions

    def match(self, instruction: Instruction) -> Packet | None:
        """Return the packet of the step that the instruction means, None where it means none or may mean two."""
        patterns = self._patterns.get(instruction.domain.upper())
        sentence = read_sentence(instruction.english) if patterns else None
        if not patterns or sentence is None or not is_request(sentence):
            return None
        count = len(sentence.tokens)
        for spare in range(count - ceil(round(count * self._threshold, 6)) + 1):
            packets = {str(packet): packet for packet in self._packets(instruction, patterns, sentence, spare)}
            if packets:
                return next(iter(packets.values())) if len(packets) == 1 else None
        return None

    def _packets(
        self, instruction: Instruction, patterns: list[Pattern], sentence: Sentence, spare: int
    ) -> Iterator[Packet]:
        """Yield the packet of each reading with at most `spare` words left over."""
        for pattern in patterns:
            for captures in self._readings(pattern, sentence, spare):
                packet = encode(pattern.step, captures, instruction)
                if packet is not None:
                    yield packet

    def _readings(self, pattern: Pattern, sentence: Sentence, spare: int) -> Iterator[Captures]:
        """Yield what the slots of a pattern hold, for each way in which its phrases cover the text."""
        needed = (1 << len(pattern.needs)) - 1
        states = [_State(0, 0, {}, spare)]
        seen: set[tuple[object, ...]] = set()
        while states:
            state = states.pop()
            if state.key() in seen or len(seen) >= MAX_STATES:
                continue
            seen.add(state.key())
            if state.at < len(sentence.tokens):
                states += self._next(pattern, sentence, state)
            elif state.used & needed == needed:
                yield state.captures

    def _next(self, pattern: Pattern, sentence: Sentence, state: _State) -> Iterator[_State]:
        """Yield what may stand at a place: nothing of the pattern, or a phrase of a group that has not been used."""
        for end in between(sentence, state.at):
            yield replace(state, at=end)
        if state.spare and self._is_spare(sentence.tokens[state.at]):
            yield replace(state, at=state.at + 1, spare=state.spare - 1)
        for number, group in enumerate(pattern.groups):
            if not state.used >> number & 1:
                for end, more in (found for phrase in group for found in phrase.find(sentence, state.at)):
                    if (both := merge(state.captures, more)) is not None:
                        yield _State(end, state.used | 1 << number, both, state.spare)

    def _is_spare(self, token: Token) -> bool:
        """Return whether a word may be left over below a threshold of 1."""
        return token.source.isalpha() and token.source.islower() and token.word not in self._kept


def encode(step: WorkflowStep, captures: Captures, instruction: Instruction) -> Packet | None:
    """Return the packet of a reading; None where an argument is missing or a packet cannot carry a value."""
    if not set(step.required) <= set(captures):
        return None
    try:
        return step.encode(captures, return_agent=instruction.return_agent, priority=instruction.priority)
    except EncodeError:
        return None


def is_request(sentence: Sentence) -> bool:
    """Return whether the text asks for an action: it has no question mark, or begins as such a question does."""
    if all(token.word != "?" for token in sentence.tokens):
        return True
    places = (at for at in range(len(sentence.tokens)) if begins(sentence, at))
    return any(True for at in places for _ in REQUESTS.find(sentence, at))


def between(sentence: Sentence, at: int) -> Iterator[int]:
    """Yield where a mark, an "and" or a polite phrase at the token `at` ends."""
    word = sentence.tokens[at].word
    if word in BETWEEN or word == "?":
        yield at + 1
    if begins(sentence, at):
        for phrase in (REQUESTS, *POLITE):
            for end, _ in phrase.find(sentence, at):
                yield end


def begins(sentence: Sentence, at: int) -> bool:
    """Return whether a polite phrase may stand at the token `at`: at the beginning, after a mark, at the end."""
    return at == 0 or sentence.tokens[at - 1].word in ENDS or sentence.tokens[at].word.startswith("thank")
