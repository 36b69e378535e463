"""An instruction in English encoded as a packet: by rule, from the registry, or by a model (AACP section 6.3).

    rule      it is a phrase of a workflow
    exact     the same instruction was encoded before                     tier 1
    pattern   another instruction of the same wording was                 tier 2
    model     it is new: one model call, whose packet is checked and kept   tier 3

Rules come first because they are never out of date. A packet from the registry gets the agent and the priority of the
caller and is validated again, because a registry is a file that may have changed.
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
    """How a packet was found."""

    RULE = "rule"
    EXACT = "exact"
    PATTERN = "pattern"
    MODEL = "model"


@dataclass(frozen=True, slots=True, kw_only=True)
class Translation:
    """One instruction and its packet."""

    instruction: Instruction
    """The instruction."""
    packet: Packet
    """Its packet."""
    tier: EncodingTier
    """How the packet was found."""
    times_seen: int
    """How often this wording was asked for, this time included; 1 by rule."""
    warnings: tuple[Finding, ...]
    """The validator's warnings, and one for each part of the instruction that is not in the packet."""


def ignore(translation: Translation) -> None:
    """Do nothing."""


class FallbackEncoder:
    """Encodes instructions in English; a model is called at most once per wording.

    It is an `InstructionEncoder`, so it can be used wherever a model can.
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
        """Encode by the rules of `workflows`, by `registry` and by `model`.

        Args:
            registry: Where entries are found and new ones are kept.
            model: Encodes new instructions; None: new instructions are refused.
            workflows: The workflows whose phrases are known.
            vocabulary: The words that a packet may have without a warning.
            guard: Warns of sensitive values (section 15); None: nothing is searched.
            keep_english: Whether new entries hold the text of the instruction, not only its digest.
            observe: Called with every translation, for counters and logs.
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
        """Return the packet of an instruction, and how it was found; exceptions of the model are raised unchanged.

        Raises:
            EncodeError: E1004, the text is no instruction; E4001, it is new and there is no model; E4002, the answer of
                the model or of the registry is no packet for it.
        """
        instruction = Instruction(
            english=english, domain=domain.upper(), return_agent=return_agent, priority=str(priority)
        )
        packet = self._phrases.match(instruction)
        translation = self._by_rule(instruction, packet) if packet else self._by_registry(instruction)
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
            made.append(self._encode_by_model(instruction))
            return made[0]

        entry = self._registry.get_or_create(instruction.pattern, make)
        packet, warnings = self._checked(instruction, entry.packet, f"the registry ({entry.source})")
        known = EncodingTier.EXACT if entry.key == instruction.key else EncodingTier.PATTERN
        return Translation(
            instruction=instruction,
            packet=packet,
            tier=EncodingTier.MODEL if made else known,
            times_seen=entry.times_seen,
            warnings=warnings,
        )

    # "Novel instructions with no match are encoded via LLM. The result is logged to the registry" (section 6.3)
    def _encode_by_model(self, instruction: Instruction) -> RegistryEntry:
        if self._model is None:
            raise EncodeError(
                f"expected a rule, an entry or a model for {instruction.english[:80]!r}, found none",
                code=ErrorCode.TOOL_NOT_FOUND,
            )
        answer = self._model(
            instruction.english,
            domain=instruction.domain,
            return_agent=instruction.return_agent,
            priority=instruction.priority,
        )
        packet, _ = self._checked(instruction, answer, "the model")
        return RegistryEntry(
            pattern=instruction.pattern,
            key=instruction.key,
            packet=serialize_packet(packet),
            source="model",
            english=instruction.english if self._keep_english else "",
        )

    # "Implementations MUST NOT execute actions based on unvalidated packets." (section 15)
    def _checked(self, instruction: Instruction, text: str, source: str) -> tuple[Packet, tuple[Finding, ...]]:
        """Return the packet for the caller and the warnings about it (EncodeError E4002 where it is none)."""
        own = {RETURN: instruction.return_agent, PRIORITY: instruction.priority, VERSION_KEY: VERSION}
        try:
            packet = with_fields(parse_packet(text), **own)
            report = validate(packet, vocabulary=self._vocabulary, guard=self._guard)
            report.check()
        except (DecodeError, EncodeError) as error:
            reason = f"expected a packet from {source}, found {text[:200]!r}: {error.reason}"
            raise EncodeError(reason, code=ErrorCode.TOOL_EXEC_FAILED) from None
        if packet.domain != instruction.domain or packet.task not in self._vocabulary.tasks:
            expected = f"a packet of {instruction.domain} with a known TASK from {source}"
            raise EncodeError(f"expected {expected}, found {text[:200]!r}", code=ErrorCode.TOOL_EXEC_FAILED)
        return packet, (*report.warnings, *find_omissions(instruction, packet))
