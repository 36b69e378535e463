"""Where the text is that a repeat marker names: in a message above, or above in the same one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from accp_core.markers import MarkerStart
from accp_core.projection.repeats.marker import LineMarker, Marker, PassageMarker, parse_marker

__all__ = ["NamedLines", "find_named_lines"]

_END: Final = '"]'
_MAX_MARKERS: Final = 40
"""Markers of one text that are followed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedLines:
    """One repeat marker of a text and what it names."""

    start: int
    """Its first character in the text."""
    end: int
    """The character after its last."""
    position: int
    """The position in the run of the message that holds what it names."""
    text: str
    """What it names."""


def find_named_lines(text: str, position: int, above: Sequence[tuple[int, str]]) -> Iterator[NamedLines]:
    """Yield the repeat markers of `text` whose text is found; at most 40 are looked at.

    Args:
        text: A message as a model is sent it.
        position: Its position in the run.
        above: Position and text of each message before it in the prompt, as sent.
    """
    for start, end, marker in _markers(text):
        for where, candidate in ((position, text[:start]), *reversed(above)):
            if named := _named(marker, candidate):
                yield NamedLines(start=start, end=end, position=where, text=named)
                break


def _markers(text: str) -> Iterator[tuple[int, int, Marker]]:
    start = text.find(MarkerStart.REPEAT)
    for _ in range(_MAX_MARKERS):
        end = text.find(_END, start) + len(_END)
        if start < 0 or end < start:
            return
        if marker := parse_marker(text[start:end]):
            yield start, end, marker
        start = text.find(MarkerStart.REPEAT, end)


def _named(marker: Marker, text: str) -> str:
    return _named_lines(marker, text) if isinstance(marker, LineMarker) else _named_passage(marker, text)


def _named_lines(marker: LineMarker, text: str) -> str:
    start = f"\n{text}".rfind(f"\n{marker.quote}")
    if start < 0:
        return ""
    end = start - 1
    for _ in range(marker.count):
        end = text.find("\n", end + 1)
        if end < 0:
            return text[start:]
    return text[start:end]


def _named_passage(marker: PassageMarker, text: str) -> str:
    start = text.rfind(marker.first)
    last = text.find(marker.last, start + len(marker.first)) if start >= 0 else -1
    return text[start : last + len(marker.last)] if last >= 0 else ""
