"""The largest messages as recorded and as shown, with each repeat marker linked to what it names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from accp_adapters.inspector.page.plain_text import shorten
from accp_adapters.inspector.report.runs import run_name
from accp_adapters.replay.contents.largest_texts import ShownText

__all__ = ["Named", "ReportPart", "TextRow", "text_rows"]

_MAX_NAME: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportPart:
    """A part of a text as shown."""

    text: str
    """The part."""
    anchor: str = ""
    """The id of what it names; empty: it is no repeat marker."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """What a repeat marker names."""

    anchor: str
    """Its id in the page."""
    position: int
    """The message that holds it."""
    message: str
    """The id of that message in the page; empty: it is not among the largest."""
    text: str
    """What is named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextRow:
    """One of the largest messages."""

    anchor: str
    """Its id in the page."""
    shown: ShownText
    """Its texts."""
    sender: str
    """Who sent it, shortened."""
    run: str
    """The name of its run, shortened."""
    parts: tuple[ReportPart, ...]
    """Its text as shown."""
    named: tuple[Named, ...]
    """What its repeat markers name."""


def text_rows(texts: Sequence[ShownText]) -> list[TextRow]:
    """Return the largest messages, the largest first."""
    anchors = {(text.run, text.position): f"text-{number}" for number, text in enumerate(texts, 1)}
    return [_row(text, f"text-{number}", anchors) for number, text in enumerate(texts, 1)]


def _row(text: ShownText, anchor: str, anchors: dict[tuple[str, int], str]) -> TextRow:
    named = (
        Named(
            anchor=f"{anchor}-named-{number}",
            position=each.position,
            message=anchors.get((text.run, each.position), ""),
            text=each.text,
        )
        for number, each in enumerate(text.named, 1)
    )
    return TextRow(
        anchor=anchor,
        shown=text,
        sender=shorten(text.sender, _MAX_NAME),
        run=shorten(run_name(text.run), _MAX_NAME),
        parts=tuple(_parts(text, anchor)),
        named=tuple(named),
    )


def _parts(text: ShownText, anchor: str) -> Iterator[ReportPart]:
    done = 0
    for number, each in enumerate(text.named, 1):
        yield ReportPart(text=text.sent[done : each.start])
        yield ReportPart(text=text.sent[each.start : each.end], anchor=f"{anchor}-named-{number}")
        done = each.end
    yield ReportPart(text=text.sent[done:])
