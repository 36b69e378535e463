"""From English to a packet: by rule, by what is known, by a model, in this order (AACP section 6.3).

    rule      a phrase of a workflow says it
    exact     this very instruction was encoded before           tier 1
    pattern   another one of the same wording was                tier 2
    model     nobody knows it: one call, checked and kept        tier 3

Rules come first because they cannot be out of date. A packet from the registry gets the agent and the priority of who
asks, and is validated again: a registry is a file, and files change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum

from accp_core.aacp.findings import Finding
from accp_core.aacp.guard import Guard, sensitive_values
from accp_core.aacp.instruction import Instruction, find_omissions
from accp_core.aacp.packet import Packet, parse_packet, serialize_packet, with_fields
from accp_core.aacp.phrases import Phrasebook
from accp_core.aacp.registry import InstructionStore, RegistryEntry
from accp_core.aacp.steps import Workflow
from accp_core.aacp.validation import validate
from accp_core.aacp.vocabulary import DRAFT_VOCABULARY, PRIORITY, RETURN, VERSION, VERSION_KEY, Vocabulary
from accp_core.aacp.workflows import WORKFLOWS
from accp_core.error_codes import ErrorCode
from accp_core.errors import DecodeError, EncodeError
from accp_core.ports import InstructionEncoder

__all__ = ["EncodingTier", "FallbackEncoder", "Translation"]


class EncodingTier(StrEnum):
    """Where a packet came from."""

    RULE = "rule"
    EXACT = "exact"
    PATTERN = "pattern"
    MODEL = "model"


@dataclass(frozen=True, slots=True, kw_only=True)
class Translation:
    """One instruction and its packet."""

    instruction: Instruction
    packet: Packet
    tier: EncodingTier
    times_seen: int
    """How often this wording was asked for, this time included; 1 by rule."""
    warnings: tuple[Finding, ...]
    """What a validator warns of, and what of the instruction is not in the packet."""


def ignore(translation: Translation) -> None:
    """Do nothing."""


class FallbackEncoder:
    """Encodes instructions in English; a model is asked at most once for a wording.

    It is an `InstructionEncoder` itself, so one can stand where a model can.
    """

    def __init__(
        self,
        registry: InstructionStore,
        model: InstructionEncoder | None = None,
        *,
        workflows: Iterable[Workflow] = WORKFLOWS,
        vocabulary: Vocabulary = DRAFT_VOCABULARY,
        guard: Guard | None = sensitive_values,
        keep_english: bool = False,
        observe: Callable[[Translation], None] = ignore,
    ) -> None:
        """Take where entries are kept and who encodes what is new.

        Without `model` an instruction that nobody knows is refused. `guard` warns of sensitive values (section 15).
        With `keep_english` new entries hold the instruction, not only its digest. `observe` is called with every
        translation, for counting and for logs.
        """
        self._registry = registry
        self._model = model
        self._phrases = Phrasebook(workflows)
        self._vocabulary = vocabulary
        self._guard = guard
        self._keep_english = keep_english
        self._observe = observe

    def __call__(self, instruction: str, /, *, domain: str, return_agent: str, priority: str = "2") -> str:
        """Return the text of the packet; see `encode`."""
        translation = self.encode(instruction, domain=domain, return_agent=return_agent, priority=priority)
        return serialize_packet(translation.packet)

    def encode(self, english: str, *, domain: str, return_agent: str, priority: str = "2") -> Translation:
        """Return the packet that `english` means, and where it came from.

        Raises: EncodeError: E1004 for what can be no instruction, E4001 when nobody knows it and there is no model,
            E4002 when what the model or the registry says is no packet for it; whatever the model raises.
        """
        instruction = Instruction(
            english=english, domain=domain.upper(), return_agent=return_agent, priority=str(priority)
        )
        ruled = self._phrases.match(instruction)
        translation = self._by_rule(instruction, ruled) if ruled else self._by_registry(instruction)
        self._observe(translation)
        return translation

    def _by_rule(self, instruction: Instruction, packet: Packet) -> Translation:
        warnings = validate(packet, vocabulary=self._vocabulary, guard=self._guard).warnings
        return Translation(
            instruction=instruction, packet=packet, tier=EncodingTier.RULE, times_seen=1, warnings=warnings
        )

    def _by_registry(self, instruction: Instruction) -> Translation:
        made: list[RegistryEntry] = []

        def make() -> RegistryEntry:
            made.append(self._ask(instruction))
            return made[0]

        entry = self._registry.get_or_create(instruction.pattern, make)
        packet, warnings = self._checked(instruction, entry.packet, f"the registry's packet ({entry.source})")
        tier = (
            EncodingTier.MODEL if made else EncodingTier.EXACT if entry.key == instruction.key else EncodingTier.PATTERN
        )
        return Translation(
            instruction=instruction, packet=packet, tier=tier, times_seen=entry.times_seen, warnings=warnings
        )

    # "Novel instructions with no match are encoded via LLM. The result is logged to the registry" (section 6.3)
    def _ask(self, instruction: Instruction) -> RegistryEntry:
        if self._model is None:
            raise EncodeError(
                f"no rule and no entry for {instruction.english[:80]!r}, and no model to ask",
                code=ErrorCode.TOOL_NOT_FOUND,
            )
        answer = self._model(
            instruction.english,
            domain=instruction.domain,
            return_agent=instruction.return_agent,
            priority=instruction.priority,
        )
        packet, _ = self._checked(instruction, answer, "the model's answer")
        return RegistryEntry(
            pattern=instruction.pattern,
            key=instruction.key,
            packet=serialize_packet(packet),
            source="model",
            english=instruction.english if self._keep_english else "",
        )

    # "Implementations MUST NOT execute actions based on unvalidated packets." (section 15)
    def _checked(self, instruction: Instruction, text: str, what: str) -> tuple[Packet, tuple[Finding, ...]]:
        """Return the packet, stamped for who asks, and warnings; refuse what is no packet for the instruction."""
        own = {RETURN: instruction.return_agent, PRIORITY: instruction.priority, VERSION_KEY: VERSION}
        try:
            packet = with_fields(parse_packet(text), **own)
            report = validate(packet, vocabulary=self._vocabulary, guard=self._guard)
            report.check()
        except (DecodeError, EncodeError) as error:
            raise EncodeError(
                f"{what} is no packet: {text[:200]!r}: {error.reason}", code=ErrorCode.TOOL_EXEC_FAILED
            ) from None
        if packet.domain != instruction.domain or packet.task not in self._vocabulary.tasks:
            raise EncodeError(
                f"{what} is no packet of {instruction.domain} with a known TASK: {text[:200]!r}",
                code=ErrorCode.TOOL_EXEC_FAILED,
            )
        return packet, (*report.warnings, *find_omissions(instruction, packet))
