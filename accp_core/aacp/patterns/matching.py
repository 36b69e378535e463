"""Instructions in English that say a step of a workflow in other words (AACP section 6.3, tier 2).

Between the phrases of a way to say a step (see `sayings`) only punctuation, "and" and politeness may stand. So a
number, a date, a "not", an "if", a quotation or a second action that no phrase has is left over, and then nothing
matches. Two readings with different packets match nothing, too. And no packet has a filter that nobody said.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from math import ceil
from typing import Final, TypeAlias

from accp_core.aacp.instruction import Instruction
from accp_core.aacp.packet import Packet
from accp_core.aacp.patterns.english import BETWEEN, ENDS, GUARDS, POLITE, REQUESTS
from accp_core.aacp.patterns.notation import Captures, merge, read_phrase
from accp_core.aacp.patterns.sayings import Saying, read_sayings
from accp_core.aacp.patterns.tokens import Sentence, WordToken, read_sentence
from accp_core.aacp.steps import PLACEHOLDER, Workflow, WorkflowStep
from accp_core.errors import EncodeError

__all__ = ["PatternBook"]

MAX_STATES: Final = 4_000
"""Places of a text that are tried for one way to say a step; with more, it does not match."""
FILTER: Final = "filter"
"""The field whose defaults no rule uses."""
_REQUESTS: Final = read_phrase(f"({REQUESTS})", {})
_POLITE: Final = read_phrase(f"({REQUESTS}|{POLITE})", {})
_Known: TypeAlias = "tuple[WorkflowStep, Saying]"


@dataclass(frozen=True, slots=True)
class _State:
    """A place in a text up to which a saying covers it."""

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
    """The sayings of workflows by domain."""

    def __init__(self, workflows: Iterable[Workflow], *, threshold: float = 1.0) -> None:
        """Take the sayings of all steps.

        Args:
            workflows: The workflows.
            threshold: The share of an instruction's words that must be covered. Below 1, plain words may be left over:
                no word of `GUARDS`, no number, name or sign, and no action.

        Raises:
            ProtocolError: E1004, a table has a part without meaning.
            ValueError: The threshold is not above 0 and at most 1.
        """
        if not 0 < threshold <= 1:
            raise ValueError(f"threshold: expected a share above 0 and at most 1, found {threshold!r}")
        self._threshold = threshold
        self._known: Final[dict[str, list[_Known]]] = {}
        actions: set[str] = set()
        for workflow in workflows:
            parameters = {name: step.parameters for name, step in workflow.steps.items()}
            for saying in read_sayings(workflow.sayings, parameters):
                step = workflow.steps[saying.step]
                self._known.setdefault(step.domain.upper(), []).append((step, saying))
                actions |= saying.groups[0].words
        self._kept = GUARDS | actions

    def match(self, instruction: Instruction) -> Packet | None:
        """Return the packet of the step that the instruction means, None where it means none or may mean two."""
        known = self._known.get(instruction.domain.upper())
        sentence = read_sentence(instruction.english) if known else None
        if not known or sentence is None or not is_request(sentence):
            return None
        count = len(sentence.tokens)
        for spare in range(count - ceil(round(count * self._threshold, 6)) + 1):
            packets = {str(packet): packet for packet in self._packets(instruction, known, sentence, spare)}
            if packets:
                return next(iter(packets.values())) if len(packets) == 1 else None
        return None

    def _packets(
        self, instruction: Instruction, known: list[_Known], sentence: Sentence, spare: int
    ) -> Iterator[Packet]:
        """Yield the packet of each reading with at most `spare` words left over."""
        for step, saying in known:
            for captures in self._readings(saying, sentence, spare):
                packet = encode(step, captures, instruction)
                if packet is not None:
                    yield packet

    def _readings(self, saying: Saying, sentence: Sentence, spare: int) -> Iterator[Captures]:
        """Yield what the slots of a saying hold, for each way in which its phrases cover the text."""
        needed = (1 << saying.needed) - 1
        states = [_State(0, 0, {}, spare)]
        seen: set[tuple[object, ...]] = set()
        while states:
            state = states.pop()
            if state.key() in seen or len(seen) >= MAX_STATES:
                continue
            seen.add(state.key())
            if state.at < len(sentence.tokens):
                states += self._next(saying, sentence, state)
            elif state.used & needed == needed:
                yield state.captures

    def _next(self, saying: Saying, sentence: Sentence, state: _State) -> Iterator[_State]:
        """Yield what may come at a place: nothing of the saying, or a phrase of a group that has not been used."""
        for end in between(sentence, state.at):
            yield replace(state, at=end)
        if state.spare and self._is_spare(sentence.tokens[state.at]):
            yield replace(state, at=state.at + 1, spare=state.spare - 1)
        for number, group in enumerate(saying.groups):
            if not state.used >> number & 1:
                for end, more in group.find(sentence, state.at):
                    if (both := merge(state.captures, more)) is not None:
                        yield _State(end, state.used | 1 << number, both, state.spare)

    def _is_spare(self, token: WordToken) -> bool:
        """Return whether a word may be left over below a threshold of 1."""
        return token.source.isalpha() and token.source.islower() and token.word not in self._kept


def encode(step: WorkflowStep, captures: Captures, instruction: Instruction) -> Packet | None:
    """Return the packet of a reading; None where an argument is missing or a packet cannot carry a value.

    An argument of the filter that was not said has no value, whatever its default is.
    """
    if not set(step.required) <= set(captures):
        return None
    unsaid = {name: "" for name, _ in PLACEHOLDER.findall(step.fields.get(FILTER, "")) if name in step.defaults}
    try:
        return step.encode({**unsaid, **captures}, return_agent=instruction.return_agent, priority=instruction.priority)
    except EncodeError:
        return None


def is_request(sentence: Sentence) -> bool:
    """Return whether the text asks for an action: it has no question mark, or begins as such a question does."""
    if all(token.word != "?" for token in sentence.tokens):
        return True
    places = (at for at in range(len(sentence.tokens)) if begins(sentence, at))
    return any(True for at in places for _ in _REQUESTS.find(sentence, at))


def between(sentence: Sentence, at: int) -> Iterator[int]:
    """Yield where a mark, an "and" or a polite phrase at the token `at` ends."""
    if sentence.word(at) in BETWEEN:
        yield at + 1
    if begins(sentence, at):
        for end, _ in _POLITE.find(sentence, at):
            yield end


def begins(sentence: Sentence, at: int) -> bool:
    """Return whether a polite phrase may come at the token `at`: at the beginning, after a mark, at the end."""
    return at == 0 or sentence.word(at - 1) in ENDS or sentence.word(at).startswith("thank")
