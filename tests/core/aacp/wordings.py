"""The natural wordings and the near-misses of the vectors, and what becomes of them without a model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from accp_core.aacp import WORKFLOWS, FallbackEncoder, InstructionRegistry, Packet, WorkflowStep, parse_packet
from accp_core.errors import EncodeError
from tests.conformance.vectors import ROOT

__all__ = ["FILE", "FRESH", "HALVES", "STEPS", "Outcome", "encode", "expected", "load_wordings", "outcome"]

HALVES: Final = ("tuned", "held_out")
STEPS: Final[dict[str, WorkflowStep]] = {
    f"{workflow.name}.{name}": step for workflow in WORKFLOWS for name, step in workflow.steps.items()
}
FILE: Final = ROOT / "aacp" / "6.3-wordings.json"
FRESH: Final = "fresh"
"""The wordings that were written after the first rules; they stand in a file of their own."""
FRESH_FILE: Final = ROOT / "aacp" / "6.3-fresh-wordings.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What becomes of one half of the wordings at one threshold."""

    wordings: int
    """The natural wordings."""
    served: int
    """Those that got their packet without a model."""
    wrong: tuple[str, ...]
    """Those that got another one."""
    missed: tuple[str, ...]
    """Those for which the model is asked."""
    near_misses: int
    """The near-misses."""
    taken: tuple[str, ...]
    """The near-misses that got a packet without a model."""


def load_wordings(kind: str, half: str) -> list[Mapping[str, Any]]:
    """Return the "wordings" or the "near_misses" of a half."""
    data = json.loads((FRESH_FILE if half == FRESH else FILE).read_text(encoding="utf-8"))
    return [vector for vector in data[kind] if vector["half"] == half]


def expected(vector: Mapping[str, Any]) -> Packet:
    """Return the packet that a wording means: its text, or what the rule-based encoder gives for its arguments."""
    if "packet" in vector:
        return parse_packet(vector["packet"])
    return STEPS[vector["step"]].encode(vector["arguments"])


def encode(encoder: FallbackEncoder, vector: Mapping[str, Any]) -> Packet | None:
    """Return the packet of an instruction, None where a model would be asked."""
    step = STEPS[vector["step"]]
    try:
        found = encoder.encode(
            vector["text"], domain=step.domain, return_agent=step.return_agent, priority=step.priority
        )
    except EncodeError as error:
        assert error.code == "E4001"
        return None
    return found.packet


@cache
def outcome(half: str, threshold: float = 1.0) -> Outcome:
    """Return what becomes of a half of the wordings and near-misses without a model."""
    encoder = FallbackEncoder(InstructionRegistry(), threshold=threshold)
    wordings, near_misses = load_wordings("wordings", half), load_wordings("near_misses", half)
    found = [(vector["text"], encode(encoder, vector), expected(vector)) for vector in wordings]
    return Outcome(
        wordings=len(wordings),
        served=sum(packet == right for _, packet, right in found),
        wrong=tuple(text for text, packet, right in found if packet not in (None, right)),
        missed=tuple(text for text, packet, _ in found if packet is None),
        near_misses=len(near_misses),
        taken=tuple(vector["text"] for vector in near_misses if encode(encoder, vector)),
    )
