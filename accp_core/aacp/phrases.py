"""Instructions in English that a workflow knows: by rule, at no cost (AACP section 6.3, tier 2)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

from accp_core.aacp.instruction import Instruction, Word, is_identifier, read_words, wording
from accp_core.aacp.packet import Packet
from accp_core.aacp.steps import PLACE, Workflow, WorkflowStep, refuse

__all__ = ["Phrasebook"]

ANY: Final = "{}"
"""How a place is compared."""


class Phrasebook:
    """The phrases of workflows; an instruction of the same wording gives the packet of the step.

    A place takes one word of the instruction, as it stands there: one that is quoted or holds a digit, a sign or a
    capital within. Plain words ("nobody", "everyone", "it") may mean more than a name. Nothing else may differ.
    """

    def __init__(self, workflows: Iterable[Workflow]) -> None:
        """Take the phrases of all steps.

        Raises: ProtocolError E1004 when one wording means two steps.
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
        shape = tuple(PLACE.sub(ANY, word.spelling) for word in words)
        known = self._phrases[step.domain.upper(), len(words)].setdefault(shape, (words, step))
        if known[1] is not step:
            raise refuse(f"phrase {phrase!r} means two steps of {step.domain}")

    def match(self, instruction: Instruction) -> Packet | None:
        """Return the packet of the step that the instruction means, None where no phrase says it.

        Raises: EncodeError E1004 when a word in a place cannot stand in a packet.
        """
        words = instruction.wording
        for phrase, step in self._phrases.get((instruction.domain.upper(), len(words)), {}).values():
            if (arguments := bound(phrase, words)) is not None:
                return step.encode(arguments, return_agent=instruction.return_agent, priority=instruction.priority)
        return None


def bound(phrase: Sequence[Word], words: Sequence[Word]) -> dict[str, str] | None:
    """Return the words that stand in the places of `phrase`, None where another word differs."""
    arguments: dict[str, str] = {}
    for wanted, found in zip(phrase, words, strict=True):
        place = PLACE.fullmatch(wanted.source)
        if place is None:
            if wanted.spelling != found.spelling:
                return None
            continue
        value = found.source.strip("\"'").rstrip(",;:")
        if not value or is_plain(found.source) or arguments.setdefault(place[1], value) != value:
            return None
    return arguments


def is_plain(word: str) -> bool:
    """Return whether a word may be English and no name."""
    return word.rstrip(",;:").isalpha() and not is_identifier(word)
