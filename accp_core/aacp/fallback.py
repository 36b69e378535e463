"""An instruction in English encoded as a packet: by rule, from the registry, or by a model (AACP section 6.3).

    rule      it is a step of a workflow in other words                   tier 2, built in
    exact     the same instruction was encoded before                     tier 1
    pattern   another instruction of the same wording or shape was        tier 2, from the registry
    model     it is new: one model call, whose packet is checked and kept   tier 3

Rules come first because they are never out of date. A packet from the registry gets the agent and the priority of the
caller and is validated again, because a registry is a file that may have changed. An entry that fails is forgotten, and
the model is asked again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum

from accp_core.aacp import packet as packets
from accp_core.aacp.encoding import Guard, sensitive_values
from accp_core.aacp.instruction import Instruction, find_omissions, find_unusable, validate
from accp_core.aacp.registry import InstructionStore, Phrasebook, RegistryEntry
from accp_core.aacp.steps import Workflow
from accp_core.aacp.templates import SentenceShape, fill_template, make_template, read_shape
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
    packet: packets.Packet
    """Its packet."""
    tier: EncodingTier
    """How the packet was found."""
    times_seen: int
    """How often this wording was asked for, this time included; 1 by rule."""
    warnings: tuple[packets.Finding, ...]
    """The validator's warnings, and one for each part of the instruction that is not in the packet."""


def ignore(translation: Translation) -> None:
    """Do nothing."""


class FallbackEncoder:
    """Encodes instructions in English; a model is called at most once per wording or shape.

    It is an `InstructionEncoder`, so it can be used wherever a model can.
    """

    def __init__(
        self,
        registry: InstructionStore,
        model: InstructionEncoder | None = None,
        *,
        workflows: Iterable[Workflow] = WORKFLOWS,
        vocabulary: packets.Vocabulary = packets.DRAFT_VOCABULARY,
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
            guard: Searches for sensitive values, which a packet of a rule is warned about and no other packet may have
                (section 15); None: nothing is searched.
            keep_english: Whether new entries hold the text of the instruction, not only its digest.
            observe: Called with every translation, for counters and logs.

        Raises:
            ProtocolError: E1004, a phrase has a part without meaning.
        """
        known = tuple(workflows)
        self._registry = registry
        self._model = model
        self._phrases = Phrasebook(known)
        self._vocabulary = vocabulary
        self._guard = guard
        self._keep_english = keep_english
        self._observe = observe

    def __call__(self, instruction: str, /, *, domain: str, return_agent: str, priority: str = "2") -> str:
        """Return the text of the packet; see `encode`."""
        translation = self.encode(instruction, domain=domain, return_agent=return_agent, priority=priority)
        return packets.serialize_packet(translation.packet)

    def encode(self, english: str, *, domain: str, return_agent: str, priority: str = "2") -> Translation:
        """Return the packet of an instruction, and how it was found; exceptions of the model are raised unchanged.

        Raises:
            EncodeError: E1004, the text is no instruction; E4001, it is new and there is no model; E4002, the answer of
                the model or of the registry is no packet for it.
        """
        instruction = read_instruction(english, domain=domain, return_agent=return_agent, priority=priority)
        translation = self._by_rule(instruction) or self._by_registry(instruction)
        self._observe(translation)
        return translation

    def find(self, instruction: Instruction) -> Translation | None:
        """Return what is known without a model: by rule or from the registry; None where nothing is.

        Raises:
            EncodeError: E1004, a packet cannot carry a value of a phrase.
        """
        translation = self._by_rule(instruction)
        if translation is None:
            shape = read_shape(instruction)
            entry = self._registry.find(instruction.pattern, shape.key)
            translation = self._serve(instruction, shape, entry) if entry else None
        if translation:
            self._observe(translation)
        return translation

    def keep(self, instruction: Instruction, answer: str) -> Translation:
        """Check a model's answer, store it, and return its packet.

        Raises:
            EncodeError: E4002, the answer is no packet for the instruction; nothing is stored.
        """
        shape = read_shape(instruction)
        entry = self._entry(instruction, shape, answer)
        self._registry.add([entry])
        translation = self._translation(instruction, shape, entry, EncodingTier.MODEL)
        self._observe(translation)
        return translation

    def _by_rule(self, instruction: Instruction) -> Translation | None:
        packet = self._phrases.match(instruction)
        if packet is None:
            return None
        warnings = validate(packet, vocabulary=self._vocabulary, guard=self._guard).warnings
        return Translation(
            instruction=instruction, packet=packet, tier=EncodingTier.RULE, times_seen=1, warnings=warnings
        )

    def _by_registry(self, instruction: Instruction) -> Translation:
        made: list[RegistryEntry] = []
        shape = read_shape(instruction)

        def make() -> RegistryEntry:
            made.append(self._entry(instruction, shape, self._ask(instruction)))
            return made[0]

        entry = self._registry.get_or_create(instruction.pattern, make, shape=shape.key)
        if not made:
            if known := self._serve(instruction, shape, entry, forget=self._model is not None):
                return known
            entry = self._registry.get_or_create(instruction.pattern, make, shape=shape.key)
        return self._translation(instruction, shape, entry, EncodingTier.MODEL if made else EncodingTier.PATTERN)

    def _serve(
        self, instruction: Instruction, shape: SentenceShape, entry: RegistryEntry, *, forget: bool = True
    ) -> Translation | None:
        """Return the packet of a stored entry; one that is no packet for the instruction is forgotten or refused."""
        tier = EncodingTier.EXACT if entry.key == instruction.key else EncodingTier.PATTERN
        try:
            return self._translation(instruction, shape, entry, tier)
        except EncodeError:
            if not forget:
                raise
            self._registry.forget(entry.pattern)
            return None

    # "Novel instructions with no match are encoded via LLM. The result is logged to the registry" (section 6.3)
    def _ask(self, instruction: Instruction) -> str:
        if self._model is None:
            raise EncodeError(
                f"expected a rule, an entry or a model for {instruction.english[:80]!r}, found none",
                code=ErrorCode.TOOL_NOT_FOUND,
            )
        return self._model(
            instruction.english,
            domain=instruction.domain,
            return_agent=instruction.return_agent,
            priority=instruction.priority,
        )

    def _entry(self, instruction: Instruction, shape: SentenceShape, answer: str) -> RegistryEntry:
        """Return the entry of a model's answer: a template where one can be made, else the packet."""
        packet = self._checked(instruction, answer, "the model")
        omitted = any(find_omissions(instruction, packet))
        template = make_template(instruction, shape, packet) if shape.key and not omitted else None
        return RegistryEntry(
            pattern=shape.key if template else instruction.pattern,
            key=instruction.key,
            packet=packets.serialize_packet(template or packet),
            source="model",
            english=instruction.english if self._keep_english else "",
        )

    def _translation(
        self, instruction: Instruction, shape: SentenceShape, entry: RegistryEntry, tier: EncodingTier
    ) -> Translation:
        source = f"the registry ({entry.source})"
        values = shape.values if entry.pattern == shape.key else None
        packet = self._checked(instruction, entry.packet, source, values)
        report = validate(packet, vocabulary=self._vocabulary, guard=None)
        return Translation(
            instruction=instruction,
            packet=packet,
            tier=tier,
            times_seen=entry.times_seen,
            warnings=(*report.warnings, *find_omissions(instruction, packet)),
        )

    # "Implementations MUST NOT execute actions based on unvalidated packets." (section 15)
    def _checked(
        self, instruction: Instruction, text: str, source: str, values: tuple[str, ...] | None = None
    ) -> packets.Packet:
        """Return the packet of a text, or of a template and its values, for the caller (EncodeError E4002)."""
        own = {
            packets.RETURN: instruction.return_agent,
            packets.PRIORITY: instruction.priority,
            packets.VERSION_KEY: packets.VERSION,
        }
        try:
            packet = packets.parse_packet(text)
            packet = packets.with_fields(packet if values is None else fill_template(packet, values), **own)
            validate(packet, vocabulary=self._vocabulary, guard=None).check()
            check_use(packet, instruction, self._vocabulary)
        except (DecodeError, EncodeError) as error:
            expected = f"expected a packet of {instruction.domain} from {source}"
            reason = f"{expected}, found {text[:200]!r}: {error.reason}"
            raise EncodeError(reason, code=ErrorCode.TOOL_EXEC_FAILED) from None
        # the packet is not quoted here, because an error is logged
        for found in self._guard(packet) if self._guard else ():
            reason = (
                f"expected a packet of {instruction.domain} from {source}, found one whose {found.field} {found.reason}"
            )
            raise EncodeError(reason, code=ErrorCode.TOOL_EXEC_FAILED)
        return packet


def read_instruction(english: str, *, domain: str, return_agent: str, priority: str = "2") -> Instruction:
    """Return the instruction of these arguments (EncodeError E1004)."""
    return Instruction(english=english, domain=domain.upper(), return_agent=return_agent, priority=str(priority))


def check_use(packet: packets.Packet, instruction: Instruction, vocabulary: packets.Vocabulary) -> None:
    """Check that a packet is for the domain of an instruction and that somebody can act on it (EncodeError E1004)."""
    if packet.domain != instruction.domain:
        reason = f"DOM: expected {instruction.domain}, found {packet.domain!r}"
        raise EncodeError(reason, code=ErrorCode.INVALID_TYPE)
    for finding in find_unusable(packet, vocabulary=vocabulary):
        raise EncodeError(finding.reason, code=ErrorCode.INVALID_TYPE)
