"""Stacked bars of tokens by what a prompt holds, as numbers for inline SVG; `bars.html.jinja` draws them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Final

from accp_adapters.replay.contents.kinds import Contents

__all__ = ["SEGMENT_KINDS", "WIDTH", "Bar", "BarSegment", "add_contents", "make_bar", "tokens_of"]

WIDTH: Final = 1000
"""Units of the longest bar."""
SEGMENT_KINDS: Final = {
    "instructions": "instructions",
    "tools": "tool definitions",
    "user": "user",
    "own": "own words",
    "results": "results",
    "others": "other agents",
}
"""What a prompt holds, and how pages call it, in the order of the bars."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BarSegment:
    """A part of a bar."""

    kind: str
    """What it holds, a key of `SEGMENT_KINDS`."""
    tokens: int
    """Its tokens."""
    x: float
    """Where it begins."""
    width: float
    """How long it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One prompt, or the sum of several."""

    segments: tuple[BarSegment, ...]
    """Its parts, those of no tokens left out."""
    cached: float
    """How long the line of its cached part is."""
    words: str
    """The same in words."""


def make_bar(contents: Contents, cached: int, longest: int) -> Bar:
    """Return the bar of a prompt.

    Args:
        contents: Its tokens.
        cached: Tokens that are read from the provider's cache.
        longest: Tokens of the longest bar beside it.
    """
    scale = WIDTH / max(longest, 1)
    parts = {kind: tokens for kind in SEGMENT_KINDS if (tokens := getattr(contents, kind))}
    words = ", ".join(f"{SEGMENT_KINDS[kind]} {tokens:,}" for kind, tokens in parts.items())
    return Bar(
        segments=tuple(_segments(parts, scale)),
        cached=round(cached * scale, 1),
        words=f"{words or 'nothing'}; cached {cached:,}",
    )


def tokens_of(contents: Contents) -> int:
    """Return all tokens of a prompt."""
    return sum(getattr(contents, kind) for kind in SEGMENT_KINDS)


def add_contents(one: Contents, other: Contents) -> Contents:
    """Return the sums of both."""
    return Contents(**{each.name: getattr(one, each.name) + getattr(other, each.name) for each in fields(Contents)})


def _segments(parts: dict[str, int], scale: float) -> Iterator[BarSegment]:
    x = 0.0
    for kind, tokens in parts.items():
        yield BarSegment(kind=kind, tokens=tokens, x=round(x, 1), width=round(tokens * scale, 1))
        x += tokens * scale
