"""Instructions in English that are phrases of a workflow, encoded without a model (AACP section 6.3, tier 2)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

from accp_core.aacp.instruction import Instruction, Word, is_identifier, read_words, wording
from accp_core.aacp.packet import Packet
from accp_core.aacp.steps import PLACEHOLDER, Workflow, WorkflowStep, invalid_table

__all__ = ["Phrasebook"]

ANY_WORD: Final = "{}"
"""What a placeholder becomes where phrases are compared."""


class Phrasebook:
    """The phrases of workflows; an instruction of the same wording gives the packet of its step.

    A placeholder matches one word of the instruction, and only a word that is quoted or has a digit, a sign or an inner
    capital: a plain word ("nobody", "everyone", "it") may mean more than a name. All other words must be the same.
    """

    def __init__(self, workflows: Iterable[Workflow]) -> None:
        """Take the phrases of all steps.

        Raises:
            ProtocolError: E1004, two steps have a phrase of the same wording.
        """
        self._phrases: Final[dict[tuple[str, int], dict[tuple[str, ...], tuple[list[Word], WorkflowStep]]]] = (
            defaultdict(dict)
        )
        for workflow in workflows:
            for step in workflow.steps.values():
                for phrase in step.phrases:
                    self._take(phrase, step)

    def _take(self, phrase: str, step: WorkflowStep) -> None:
        words = wording(read_words(phrase))
        shape = tuple(PLACEHOLDER.sub(ANY_WORD, word.spelling) for word in words)
        known = self._phrases[step.domain.upper(), len(words)].setdefault(shape, (words, step))
        if known[1] is not step:
            raise invalid_table(f"phrase {phrase!r}: expected one step of {step.domain}, found two")

    def match(self, instruction: Instruction) -> Packet | None:
        """Return the packet of the step that the instruction means, None where no phrase matches.

        Raises:
            EncodeError: E1004, a packet cannot carry a word that a placeholder matched.
        """
        words = instruction.wording
        for phrase, step in self._phrases.get((instruction.domain.upper(), len(words)), {}).values():
            if (arguments := match_words(phrase, words)) is not None:
                return step.encode(arguments, return_agent=instruction.return_agent, priority=instruction.priority)
        return None


def match_words(phrase: Sequence[Word], words: Sequence[Word]) -> dict[str, str] | None:
    """Return the words that the placeholders of `phrase` match, by name; None where another word differs."""
    arguments: dict[str, str] = {}
    for expected, word in zip(phrase, words, strict=True):
        placeholder = PLACEHOLDER.fullmatch(expected.source)
        if placeholder is None:
            if expected.spelling != word.spelling:
                return None
            continue
        value = word.source.strip("\"'").rstrip(",;:")
        if not value or is_plain(word.source) or arguments.setdefault(placeholder[1], value) != value:
            return None
    return arguments


def is_plain(word: str) -> bool:
    """Return whether `word` may be a plain English word instead of a name."""
    return word.rstrip(",;:").isalpha() and not is_identifier(word)
