"""The view of a text, such as a tool result: the JSON in it is rendered, and the text can be restored byte for byte."""

from __future__ import annotations

from dataclasses import dataclass

from accp_core.packing.embedded_json import write_styled_json
from accp_core.ports import TokenCounter
from accp_core.strict_json import is_utf8
from accp_core.view.layout import AS_IS, Document, Segment, fence, find_documents, restore, write_layout
from accp_core.view.render import DEFAULT_OPTIONS, Options, render_known

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

    def restore(self) -> str:
        """Return the source, byte for byte.

        Raises:
            DecodeError: E1001, `text` and `layout` do not belong together.
        """
        return restore(self.text, self.layout)


def render_text(source: str, *, counter: TokenCounter, options: Options | None = None) -> View:
    """Return the view of a text, which never has more tokens than the text itself.

    JSON in any of the usual layouts, JSON Lines, Python literals and JSON inside other text are rendered; everything
    else, prose above all, stays as it is.

    Args:
        source: The text.
        counter: Counts the tokens of the model.
        options: The transforms that the view may use; None: all.
    """
    before = counter(source)
    documents = find_documents(source)
    if documents:
        segments = _segments(source, documents, counter, options or DEFAULT_OPTIONS)
        text = "".join([segment.text for segment in segments])
        after = counter(text)
        if after < before:
            return View(text=text, layout=write_layout(segments), tokens_before=before, tokens_after=after)
    return View(text=source, layout=AS_IS, tokens_before=before, tokens_after=before)


def _segments(source: str, documents: list[Document], counter: TokenCounter, options: Options) -> list[Segment]:
    segments, at = [], 0
    alone = len(documents) == 1 and not source[: documents[0].start].strip()
    for document in documents:
        written = source[document.start : document.end]
        view = _view(document, counter, options)
        if not alone and counter(view) >= counter(written):
            continue
        if document.start > at:
            segments.append(Segment("t", source[at : document.start]))
        segments.append(Segment(document.form, view))
        at = document.end
    return segments + ([Segment("t", source[at:])] if at < len(source) else [])


def _view(document: Document, counter: TokenCounter, options: Options) -> str:
    if type(document.value) is str:
        return fence(document.value)
    compact = write_styled_json(document.value, "0u")
    if not is_utf8(compact):
        compact = write_styled_json(document.value, "0")
    view = render_known(document.value, compact, counter=counter, options=options)
    return fence(view) if document.form.startswith("q") else view
