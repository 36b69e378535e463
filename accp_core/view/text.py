"""The view of a text, such as a tool result: the JSON in it is rendered, and the text can be restored byte for byte."""

from __future__ import annotations

from dataclasses import dataclass, replace

from accp_core.packing.embedded_json import write_styled_json
from accp_core.packing.expansion import DEFAULT_EXPANSION, ExpansionLimits
from accp_core.ports import TokenCounter
from accp_core.strict_json import is_utf8
from accp_core.token_counts import RememberingCounter
from accp_core.view.documents import Document, find_documents
from accp_core.view.layout import AS_IS, CUT_LINE, LiteralSegment, Segment, restore, write_layout
from accp_core.view.render_value import DEFAULT_OPTIONS, Options, render_known

__all__ = ["View", "render_text"]


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

    JSON in any of the usual layouts, JSON Lines, Python literals and JSON inside other text are rendered; everything
    else, prose above all, stays as it is.

    Args:
        source: The text.
        counter: Counts the tokens of the model.
        options: The transforms that the view may use; None: all.
    """
    counter = RememberingCounter(counter)
    before = counter(source)
    documents = find_documents(source)
    if documents:
        limits = _limits_of(source)
        segments = _segments(source, documents, counter, options or DEFAULT_OPTIONS, limits)
        text = "".join([segment.text for segment in segments])
        after = counter(text)
        if after < before and len(source) <= limits.of(len(text)):
            layout = write_layout(segments)
            return View(text=text, layout=layout, tokens_before=before, tokens_after=after, limits=limits)
    return View(text=source, layout=AS_IS, tokens_before=before, tokens_after=before)


def _limits_of(source: str) -> ExpansionLimits:
    """Return the limits for the view of a source: the default ones, and no less than the size of the source.

    What reading a view adds is less than twice the value; the text that is written from it comes to that.
    """
    return replace(DEFAULT_EXPANSION, size=max(DEFAULT_EXPANSION.size, 3 * len(source)))


def _segments(
    source: str, documents: list[Document], counter: TokenCounter, options: Options, limits: ExpansionLimits
) -> list[Segment | LiteralSegment]:
    """Return the parts of a text: its documents, where that saves tokens, and the text around them."""
    segments: list[Segment | LiteralSegment] = []
    at = 0
    alone = len(documents) == 1 and not source[: documents[0].start].strip()
    for document in documents:
        written = source[document.start : document.end]
        segment = _segment(document, written, counter, options, limits)
        if not alone and counter(segment.text) >= counter(written):
            continue
        if document.start > at:
            segments.append(Segment("t", source[at : document.start]))
        segments.append(segment)
        at = document.end
    return segments + ([Segment("t", source[at:])] if at < len(source) else [])


def _segment(
    document: Document, written: str, counter: TokenCounter, options: Options, limits: ExpansionLimits
) -> Segment | LiteralSegment:
    literal = document.literal
    if literal is None:
        return Segment(document.form, _view(document, written, counter, options, limits), document.cut)
    parts = _segments(literal.text, literal.documents, counter, options, limits)
    return LiteralSegment(parts, literal.open_quote)


def _view(document: Document, written: str, counter: TokenCounter, options: Options, limits: ExpansionLimits) -> str:
    """Return the view of a document that is `written` so in the source."""
    compact = write_styled_json(document.value, "0u")
    if not is_utf8(compact):
        compact = write_styled_json(document.value, "0")
    # The blanks of the source come back, too.
    tighter = replace(limits, times=limits.times * len(compact) // max(len(written), len(compact)))
    # The source is counted in any case, and `counter` remembers it.
    tokens = counter(written) if compact == written else None
    view = render_known(document.value, compact, counter=counter, options=options, limits=tighter, tokens=tokens)
    return view if document.cut is None else view + CUT_LINE
