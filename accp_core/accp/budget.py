"""The tokens of a frame and their limits (ACCP section 3.4, Table 3)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from accp_core.accp.frame import Envelope, Frame
from accp_core.ports import TokenCounter

__all__ = [
    "DRAFT_LIMITS", "PRACTICAL_LIMITS", "FrameLimits", "FrameTokens", "TokenBudget", "estimate_parts",
]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameTokens:
    """The tokens of one frame: of each part and of the whole."""

    header: int
    """`@sender>intent`."""
    body: int
    """`:operation{…}`."""
    metadata: int
    """`[…]`; 0 where there is none."""
    total: int
    """The whole text; adjacent parts may share a token."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameLimits:
    """Table 3, in tokens: a frame over a soft limit is reported, one over a hard limit is not sent.

    The limits of header and metadata are only reported, as no encoder could keep them: `[mid,seq,ts]` has 18 to 25
    tokens and the soft limit is 10; with correlation and session ids it has 33 to 48, and the hard limit is 30.
    """

    header_soft: int = 5
    header_hard: int = 10
    body_soft: int = 50
    body_hard: int = 200
    metadata_soft: int = 10
    metadata_hard: int = 30
    total_soft: int = 65
    total_hard: int = 240

    def fits(self, tokens: FrameTokens) -> bool:
        """Return whether body and total are within their hard limits."""
        return tokens.body <= self.body_hard and tokens.total <= self.total_hard

    def notes(self, tokens: FrameTokens) -> tuple[str, ...]:
        """Return a sentence for each exceeded limit, the hard one where both are exceeded."""
        if (
            tokens.header <= self.header_soft
            and tokens.body <= self.body_soft
            and tokens.metadata <= self.metadata_soft
            and tokens.total <= self.total_soft
        ):
            return ()
        notes = []
        for part in ("header", "body", "metadata", "total"):
            used = getattr(tokens, part)
            for level in ("hard", "soft"):
                limit = getattr(self, f"{part}_{level}")
                if used > limit:
                    notes.append(f"{part}: {used} tokens, {level} limit {limit}")
                    break
        return tuple(notes)


DRAFT_LIMITS: Final = FrameLimits()
"""The limits of Table 3."""

PRACTICAL_LIMITS: Final = FrameLimits(
    header_soft=10, body_soft=200, body_hard=100_000, metadata_soft=50, metadata_hard=100, total_hard=100_000
)
"""Limits for frames that only programs read: splitting would cost an envelope of 30 tokens for every 210."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenBudget:
    """The tokens that a session has used (sections 5.1 and 7.1)."""

    hot_used: int
    """Tokens of the hot tier."""
    hot_limit: int
    """The limit of the hot tier."""
    warm_used: int
    """Tokens of all warm entries."""
    warm_limit: int
    """The limit of each warm entry."""
    frames: int
    """Number of frames sent."""
    tokens: int
    """Tokens of those frames."""


# Letters and digits alternate, because a run of digits would take fewer tokens than most ids do.
PLACEHOLDER_ENVELOPE: Final = Envelope(msg_id="1a2b3c4d5e6f", sequence=1_000_000, timestamp=1_714_000_000)
"""What a session adds to an envelope, at about its largest; a codec counts it before it is known."""


def with_placeholders(frame: Frame) -> Frame:
    """Return `frame` with a placeholder for each of msg_id, sequence and timestamp that it lacks."""
    envelope = frame.envelope
    if envelope.msg_id is not None and envelope.sequence is not None and envelope.timestamp is not None:
        return frame
    missing = {
        name: getattr(PLACEHOLDER_ENVELOPE, name)
        for name in ("msg_id", "sequence", "timestamp")
        if getattr(envelope, name) is None
    }
    return replace(frame, envelope=replace(envelope, **missing))


def estimate_parts(body: str, metadata: str, counter: TokenCounter) -> FrameTokens:
    """Return the tokens of a frame whose metadata is a text of its own; the total is the sum of the parts.

    Args:
        body: Header and body: `@sender>intent:operation{…}`.
        metadata: `[…]`, "" for none.
        counter: Counts tokens.
    """
    header, _, _ = body.partition(":")
    tokens = counter(header), counter(body[len(header) :]), counter(metadata) if metadata else 0
    return FrameTokens(header=tokens[0], body=tokens[1], metadata=tokens[2], total=sum(tokens))
