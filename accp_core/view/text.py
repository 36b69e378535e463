"""The view of a text, such as a tool result: the JSON in it is rendered, and the text can be restored byte for byte."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from accp_core.documents import Document, Value
from accp_core.documents import read as read_document
from accp_core.documents.json_forms import pack_embedded_json
from accp_core.documents.json_styles import write_styled_json
from accp_core.packing.expansion import DEFAULT_EXPANSION, ExpansionLimits
from accp_core.ports import TokenCounter
from accp_core.strict_json import has_surrogate_pair, is_utf8
from accp_core.token_counts import RememberingCounter
from accp_core.view.layout import APART, AS_IS, BELOW, CUT_LINE, Segment, layout_of_string, restore, write_layout
from accp_core.view.render_value import DEFAULT_OPTIONS, Options, render_known

__all__ = ["View", "render_document", "render_text"]


_MIN_SAVED: Final = 6
"""Tokens that the view of a text in a string must save: the mark and what a reader must know of it cost as much."""

_MAX_END: Final = 4
"""Characters of the line ends behind such a text, which stand in its layout alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A text as a model reads it, with the layout that restores the source."""

    text: str
    """The text that a model reads."""
    layout: str
    """How the source was written; `text` and `layout` together restore it."""
    tokens_before: int
    """Tokens of the source."""
    tokens_after: int
    """Tokens of `text`, never more than `tokens_before`."""
    limits: ExpansionLimits = DEFAULT_EXPANSION
    """How large the source may be: as large as it was, where the view was made here; else the limits for others."""

    def restore(self) -> str:
        """Return the source, byte for byte.

        Raises:
            DecodeError: E1001, `text` and `layout` do not belong together; E2003, the source would pass the limits.
        """
        return restore(self.text, self.layout, limits=self.limits)


def render_text(source: str, *, counter: TokenCounter, options: Options | None = None) -> View:
    """Return the view of a text, which never has more tokens than the text itself.

    Values in any of the forms of `accp_core.documents`, alone or inside other text, are rendered; everything else,
    prose above all, stays as it is.

    Args:
        source: The text.
        counter: Counts the tokens of the model.
        options: The transforms that the view may use; None: all.
    """
    return render_document(read_document(source), counter=counter, options=options)


def render_document(document: Document, *, counter: TokenCounter, options: Options | None = None) -> View:
    """Return the view of a text that was read; see `render_text`."""
    counter = RememberingCounter(counter)
    source = document.source
    before = counter(source)
    if any(map(_is_rendered, document.values())) and not has_surrogate_pair(source):
        # What reading a view adds is less than twice the value; the text that is written from it comes to that.
        limits = replace(DEFAULT_EXPANSION, size=max(DEFAULT_EXPANSION.size, 3 * len(source)))
        segments = _segments(document, counter, options or DEFAULT_OPTIONS, limits)
        text = "".join([segment.text for segment in segments])
        after = counter(text)
        if after < before and len(source) <= limits.of(len(text)):
            layout = write_layout(segments)
            return View(text=text, layout=layout, tokens_before=before, tokens_after=after, limits=limits)
    return View(text=source, layout=AS_IS, tokens_before=before, tokens_after=before)


def _is_rendered(part: Value) -> bool:
    """Return whether a part has a view: a text, or members, that can be written again."""
    return isinstance(part.value, (dict, list, str)) and bool(part.value) and part.how is not None


def _segments(document: Document, counter: TokenCounter, options: Options, limits: ExpansionLimits) -> list[Segment]:
    """Return the parts of a text: its values, where that saves tokens, and the text around them."""
    segments: list[Segment] = []
    source, at, is_open = document.source, 0, False
    parts = list(filter(_is_rendered, document.values()))
    alone = len(parts) == 1 and not source[: parts[0].start].strip()
    for part in parts:
        segment = _segment(part, counter, options, limits)
        if not alone and counter(segment.text) >= counter(source[part.start : part.end]):
            continue
        segments += [*_prose(source, at, part.start, is_open), segment]
        at, is_open = part.end, part.cut is None and not isinstance(part.value, str) and "\n" in segment.text
    return [*segments, *_prose(source, at, len(source), is_open)]


def _prose(source: str, start: int, end: int, is_open: bool) -> list[Segment]:
    """Return the text between values; below a view of several lines a line says so, unless a blank line parts them."""
    below = BELOW * (is_open and not APART.match(source, start))
    return [Segment(f"t{'+' * bool(below)}", below + source[start:end])] if start < end else []


def _segment(part: Value, counter: TokenCounter, options: Options, limits: ExpansionLimits) -> Segment:
    layouts: list[str] = []
    view = _view(part, counter, options, limits, layouts)
    return Segment(f"{part.form.CODE}{part.how}", view, part.cut, layouts)


def _view(part: Value, counter: TokenCounter, options: Options, limits: ExpansionLimits, layouts: list[str]) -> str:
    """Return the view of a value; `layouts` takes the layouts of the documents in its strings."""
    compact = write_styled_json(part.value, "0u")
    if not is_utf8(compact):
        compact = write_styled_json(part.value, "0")
    chars = part.end - part.start
    # The blanks of the source come back, too.
    tighter = replace(limits, times=limits.times * len(compact) // max(chars, len(compact)))
    # The source is counted in any case, and `counter` remembers it.
    tokens = counter(compact) if compact == part.written else None
    value = part.value
    if options.embedded_json and (type(value) is str or '"[' in compact or '"{' in compact or "\\n" in compact):
        value = pack_embedded_json(value, layouts, partial(_view_of_string, counter=counter, options=options))
    view = render_known(
        value, compact, counter=counter, options=options, limits=tighter, tokens=tokens, layouts=layouts
    )
    return view if part.cut is None else view + CUT_LINE


def _view_of_string(text: str, *, counter: TokenCounter, options: Options) -> tuple[str, str] | None:
    """Return the view of a text in a string and its layout; None: it has none that saves tokens and is whole."""
    # A carriage return at the end would make all of it a string with escapes.
    body = text.rstrip("\r\n")
    body = body if len(text) - len(body) <= _MAX_END else text
    view = render_text(body, counter=counter, options=options)
    is_shown = view.tokens_before - view.tokens_after >= _MIN_SAVED and "<" not in view.layout
    return (view.text, layout_of_string(view.layout, text[len(body) :])) if is_shown else None
