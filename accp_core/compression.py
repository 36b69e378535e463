"""How a text is compressed for a model: as a view, or as a preview and the reference to the whole.

Every adapter calls `compress`, so that a result looks the same in a LangGraph state, an MCP result and an A2A task.
What is shown never takes more tokens than the text. Nothing is stored here: an adapter puts `Compressed.stored` into
the store of its session before it shows a preview, and passes as `open_with` how a model opens a reference.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Final

from accp_core import documents, previews, tables
from accp_core import view as views
from accp_core.bounded import SizedCache, share
from accp_core.packing.expansion import OWN_EXPANSION
from accp_core.ports import TokenCounter
from accp_core.references import StoredText, short_reference
from accp_core.view.layout import APART, put_below
from accp_core.view.text import render_document

__all__ = [
    "ENTRY_BYTES", "MIN_PREVIEW", "Compressed", "ResultLimits", "Source", "abridge", "as_abstract", "bytes_of",
    "compress", "compress_blocks", "compress_once", "count_once", "part_blocks", "share_batch", "share_limits",
]  # fmt: skip


MIN_PREVIEW: Final = 60
"""Tokens; a smaller preview has room for hardly more than its reference."""
_SAMPLES: Final = 8
_SAMPLE_CHARS: Final = 4_000
"""Of a long text so many parts of so many characters are counted."""
_CUT_TOKENS: Final = 1
"""Tokens that a cut in a text adds to its count: it may split the last one."""
_VERBATIM: Final = views.Options(embedded_json=False, repeated_values=False, derived=False)
"""What leaves the texts in a value as they are."""
_GROWTH: Final = 4
"""How many times longer each beginning of a text is, until one has enough tokens."""
_MAX_VALUES: Final = 1_000_000
"""Values of a JSON text that is read whole."""
_BEGINNING: Final = 1_000_000
"""Characters that are read of a JSON text with more values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultLimits:
    """What results may take of what a model reads, in tokens; ValueError where a limit leaves no room for anything."""

    inline: int | None = 2_500
    """A view of more tokens becomes a preview; None: never."""
    preview: int = 1_000
    """Tokens of a preview, at least 60."""
    fetch: int = 4_000
    """Tokens of one answer to the query of a reference."""
    abstract: int = 200
    """Tokens of the result of one item in an AgentContext, at least 60; a longer result is stored and cited."""
    previewed_chars: int | None = None
    """Characters of a text that its preview is made of, which bounds the time; None: all."""
    verbatim: bool = False
    """Whether a text is shown in its own lines, whole or an excerpt of them: who edits a file must match them."""

    def __post_init__(self) -> None:
        minima = {"inline": 1, "preview": MIN_PREVIEW, "fetch": 1, "abstract": MIN_PREVIEW, "previewed_chars": 1}
        for name, minimum in minima.items():
            value = getattr(self, name)
            if value is not None and value < minimum:
                raise ValueError(f"expected the limit {name!r} to be at least {minimum}, found {value!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Compressed:
    """A text as a model is shown it; either `layout` or `stored` leads back to the source."""

    text: str
    """The text that is shown."""
    layout: str | None
    """The layout of a view (see `View.layout`); None: `text` is a preview."""
    stored: StoredText | None
    """The source of a preview, to be put into the store before `text` is shown; None: `text` is a view."""
    tokens_before: int
    """Tokens of the source."""
    tokens_after: int
    """Tokens of `text`."""
    is_estimated: bool = False
    """Whether `tokens_before` is an estimate, because only parts of a long source were counted; where `layout` is set,
    so is `tokens_after`."""

    @property
    def reference(self) -> str | None:
        """The reference "$cold.…" to the source of a preview; None for a view."""
        return self.stored.reference if self.stored else None

    @property
    def is_smaller(self) -> bool:
        """Whether `text` has fewer tokens than the source."""
        return self.tokens_after < self.tokens_before

    def restore(self) -> str:
        """Return the source, byte for byte."""
        if self.layout is not None:
            return views.restore(self.text, self.layout, limits=OWN_EXPANSION)
        assert self.stored is not None
        return self.stored.text


def compress(
    text: str, *, limits: ResultLimits, counter: TokenCounter, request: str = "", open_with: str = ""
) -> Compressed:
    """Return `text` as a model is to read it: unchanged, as a view, or as a preview with a reference.

    It never has more tokens than `text`. The same arguments give the same result in every process.

    Args:
        text: The result of a tool or the message of another agent.
        limits: When a view becomes a preview, and how many tokens that may have.
        counter: Counts the tokens of the model.
        request: The reader's task (the user's words, the arguments of the call); it ranks what a preview keeps.
        open_with: The name of the tool that opens a reference, such as "accp_fetch"; empty: no tool is named.
    """
    source = Source(text, counter=counter, open_with=open_with, verbatim=limits.verbatim)
    view = source.view(limits.inline)
    if limits.inline is None:
        return view
    if view.tokens_after <= limits.inline:
        return source.without_blobs() or view
    return source.preview(limits.preview, chars=limits.previewed_chars, request=request) or view


class Source:
    """A text for a model, which is read, rendered and counted once for its view and its preview."""

    def __init__(self, text: str, *, counter: TokenCounter, open_with: str = "", verbatim: bool = False) -> None:
        """Read nothing yet.

        Args:
            text: The whole text.
            counter: Counts the tokens of the model.
            open_with: As in `compress`.
            verbatim: As in `ResultLimits`.
        """
        self.text: Final = text
        self._counter: Final = counter
        self._open_with: Final = open_with
        self._verbatim: Final = verbatim
        self._rendered: views.View | None = None
        self._shown: Compressed | None = None

    @functools.cached_property
    def document(self) -> documents.Document:
        """What the text holds."""
        return documents.read_verbatim(self.text) if self._verbatim else documents.read(self.text)

    @functools.cached_property
    def _is_dense(self) -> bool:
        """Whether the text is JSON of so many values that it takes far over 100 MB of memory to read."""
        return self.text[:_SAMPLE_CHARS].lstrip()[:1] in ("[", "{") and sum(map(self.text.count, "[,{")) > _MAX_VALUES

    def view(self, limit: int | None = None) -> Compressed:
        """Return the view of the text, or the text unchanged where a view has no fewer tokens.

        Args:
            limit: Tokens above which a preview is shown instead: a text so long that no view of it could fit stays
                unchanged, and its tokens are estimated; None: none is too long.
        """
        if not self._is_dense and (limit is None or previews.is_rendered(self.text, limit)):
            options = _VERBATIM if self._verbatim else None
            view = self._rendered = render_document(self.document, counter=self._counter, options=options)
        else:
            tokens = _estimate_tokens(self.text, self._counter)
            view = views.View(text=self.text, layout=views.AS_IS, tokens_before=tokens, tokens_after=tokens)
        self._shown = Compressed(
            text=view.text,
            layout=view.layout,
            stored=None,
            tokens_before=view.tokens_before,
            tokens_after=view.tokens_after,
            is_estimated=view is not self._rendered,
        )
        return self._shown

    def preview(
        self, limit: int, *, chars: int | None = None, request: str = "", is_brief: bool = False
    ) -> Compressed | None:
        """Return a preview of the text, or None where its view is to be shown instead.

        That is where a preview would have no fewer tokens, or `limit` has no room for the reference.

        Args:
            limit: Tokens of the preview, at least MIN_PREVIEW.
            chars: Characters of the text that are looked at, which bounds the time; None: all.
            request: As in `compress`.
            is_brief: As in `previews.preview`; the first line names no tool, either.
        """
        stored = StoredText.of(self.text)
        chars = min(chars or _BEGINNING, _BEGINNING) if self._is_dense else chars
        is_part = chars is not None and chars < len(self.text)
        view = self._shown if is_part else self._shown or self.view(limit)
        try:
            shown = self._preview(stored, limit, chars if is_part else None, request, is_brief)
        except ValueError:  # a counter of many tokens, such as `len`, leaves no room in a small limit
            return None
        after = self._counter(shown)
        if not _has_more_tokens(view.text if view else self.text, after, self._counter):
            return None
        return Compressed(
            text=shown,
            layout=None,
            stored=stored,
            tokens_before=view.tokens_before if view else _estimate_tokens(self.text, self._counter),
            tokens_after=after,
            is_estimated=view.is_estimated if view else _is_sampled(self.text),
        )

    def _preview(self, stored: StoredText, limit: int, chars: int | None, request: str, is_brief: bool) -> str:
        open_with = "" if is_brief else self._open_with
        make = partial(
            previews.preview,
            limit=limit,
            opening=_opening(stored, open_with),
            counter=self._counter,
            request=request,
            is_queried=bool(open_with),
            is_brief=is_brief,
            verbatim=self._verbatim,
        )
        if chars is not None:
            return make(self.text[:chars], is_part=True, cut=documents.looks_cut(self.text))
        document = self.document if len(self.text) <= tables.MAX_WHOLE else None
        return make(self.text, document=document, view=self._rendered)

    def without_blobs(self, *, is_brief: bool = False) -> Compressed | None:
        """Return the view of the text with the size of each large blob (base64, hex) in its place, and the reference.

        `is_brief` is as in `preview`.

        None where that has no fewer tokens than the view, such as where there is no large blob, and for a text that is
        shown verbatim.
        """
        if self._verbatim:
            return None
        stored, view = StoredText.of(self.text), self._shown or self.view()
        opening = _opening(stored, "" if is_brief else self._open_with)
        layout = view.layout or views.AS_IS
        cut = self.document.cut
        shown = previews.preview_without_blobs(
            self.text, view.text, layout=layout, opening=opening, cut=cut, is_brief=is_brief
        )
        if shown is None or (after := self._counter(shown)) >= view.tokens_after:
            return None
        return Compressed(text=shown, layout=None, stored=stored, tokens_before=view.tokens_before, tokens_after=after)


def _is_sampled(text: str) -> bool:
    return len(text) > _SAMPLES * _SAMPLE_CHARS


def _estimate_tokens(text: str, counter: TokenCounter) -> int:
    """Return about how many tokens `text` has, counted in parts from its beginning to its end; all of a short one."""
    if not _is_sampled(text):
        return counter(text)
    step = (len(text) - _SAMPLE_CHARS) // (_SAMPLES - 1)
    counted = sum(counter(text[at * step : at * step + _SAMPLE_CHARS]) for at in range(_SAMPLES))
    return counted * len(text) // (_SAMPLES * _SAMPLE_CHARS)


def _has_more_tokens(text: str, tokens: int, counter: TokenCounter) -> bool:
    """Return whether `text` has more than `tokens`, counting only as much of it as is needed."""
    chars = _SAMPLE_CHARS
    while chars < len(text):
        if counter(text[:chars]) > tokens + _CUT_TOKENS:
            return True
        chars *= _GROWTH
    return counter(text) > tokens


def abridge(text: str, *, limit: int, max_chars: int, counter: TokenCounter, open_with: str = "") -> Compressed:
    """Return the abstract of a result: the text itself where it fits both limits, else a preview that does.

    An abstract of a text that has too many characters, but not too many tokens, may have more tokens than the text.

    Args:
        text: The whole result.
        limit: Tokens of the abstract, at least MIN_PREVIEW.
        max_chars: Characters of the abstract, enough for the reference.
        counter: Counts the tokens of the model.
        open_with: As in `compress`.

    Raises:
        ValueError: `limit` has no room for the reference.
    """
    before = counter(text) if previews.is_rendered(text, limit) else _estimate_tokens(text, counter)
    if before <= limit and len(text) <= max_chars:
        return Compressed(text=text, layout=views.AS_IS, stored=None, tokens_before=before, tokens_after=before)
    stored = StoredText.of(text)
    opening = _opening(stored, open_with)
    shown = previews.preview(text, limit=limit, opening=opening, counter=counter, is_queried=bool(open_with))
    if len(shown) > max_chars:
        shown = _cut(shown if opening in shown else f"{opening} {shown}", limit, max_chars, counter)
    return Compressed(
        text=shown,
        layout=None,
        stored=stored,
        tokens_before=before,
        tokens_after=counter(shown),
        is_estimated=not previews.is_rendered(text, limit),
    )


def _opening(stored: StoredText, open_with: str) -> str:
    """Return what a model writes to open a stored text: "accp_fetch $cold.…", or the reference alone."""
    return f"{open_with} {short_reference(stored.key)}".strip()


def _cut(text: str, limit: int, max_chars: int, counter: TokenCounter) -> str:
    """Return the beginning of a text of few but long tokens (a hundred blanks are one) that fits both limits."""
    chars = max_chars
    while counter(text[:chars]) > limit:
        chars = chars * 3 // 4
    return text[:chars]


def share_limits(sizes: Sequence[int], limits: ResultLimits) -> list[int | None]:
    """Return how many tokens the preview of each block of a result may have, None for a block shown as its view.

    The blocks share `limits.inline`: small blocks keep their size, large ones get equal parts. A part is never smaller
    than an equal part of `limits.preview`, nor than MIN_PREVIEW, so that many large blocks together may pass the limit.

    Args:
        sizes: Tokens of the view of each block.
        limits: The limits of the whole result.
    """
    if limits.inline is None:
        return [None] * len(sizes)
    parts = [int(part) for part in share(sizes, limits.inline)]
    is_large = [size > part for size, part in zip(sizes, parts, strict=True)]
    minimum = max(limits.preview // max(sum(is_large), 1), MIN_PREVIEW)
    return [
        min(limits.preview, max(part, minimum)) if large else None for part, large in zip(parts, is_large, strict=True)
    ]


# The text blocks of one message as views or previews, where that saves tokens.

_MAX_COMPRESSED: Final = 64 * 1024 * 1024
"""Bytes of the sources and results of `compress_once` that are remembered."""
ENTRY_BYTES: Final = 1_000
"""Bytes that an entry, a message or a call counts besides its texts: a million threads that say "hi" take room, too."""
_MAX_COUNTED: Final = 1_024
"""Texts whose tokens are remembered."""

_Blocks = tuple[str | None, ...]
_compressed: Final[SizedCache[Hashable, tuple[Compressed | None, ...]]] = SizedCache(_MAX_COMPRESSED)


def compress_blocks(
    blocks: Sequence[str | None],
    *,
    limits: ResultLimits,
    counter: TokenCounter,
    request: str = "",
    open_with: str = "",
    is_brief: bool = False,
) -> tuple[Compressed | None, ...]:
    """Return how each block of one message is shown, None for a block that stays as it is.

    Args:
        blocks: The text of each block, None for one that is not text.
        limits: Those of the whole message; its blocks share them.
        counter: Counts the tokens of the model.
        request: What the reader works on (the user's words, the arguments of the call); ranks what a preview keeps.
        open_with: The name of the tool that opens a reference, such as "accp_fetch"; empty: no tool is named.
        is_brief: Whether the reader was shown a preview before, as in `Source.preview`; of several blocks those behind
            the first preview are brief anyway.
    """
    sources = [
        Source(text, counter=counter, open_with=open_with, verbatim=limits.verbatim) if text else None
        for text in blocks
    ]
    shown = [source.view(limits.inline) if source else None for source in sources]
    rooms = share_limits([view.tokens_after if view else 0 for view in shown], limits)
    for at, (source, room) in enumerate(zip(sources, rooms, strict=True)):
        if source is None or limits.inline is None:
            continue
        if room is None:
            preview = source.without_blobs(is_brief=is_brief)
        else:
            preview = source.preview(room, chars=limits.previewed_chars, request=request, is_brief=is_brief)
        shown[at], is_brief = preview or shown[at], is_brief or preview is not None
    shown = part_blocks(shown, counter)
    gains = sum(block.tokens_before - block.tokens_after for block in shown if block) > 0
    return tuple(block if block and gains and block.layout != views.AS_IS else None for block in shown)


def part_blocks(blocks: Sequence[Compressed | None], counter: TokenCounter) -> list[Compressed | None]:
    """Return the blocks of one message so that a text behind rows of another block does not look like more of them.

    None is a block that is no text; a preview says what it is, as does any block without a layout.
    """
    parted, is_open = list(blocks), False
    for at, block in enumerate(blocks):
        if block is None:
            continue
        if is_open and block.layout is not None and not APART.match(block.text):
            text, layout = put_below(block.text, block.layout)
            parted[at] = replace(block, text=text, layout=layout, tokens_after=counter(text))
        is_open = block.layout != views.AS_IS and "\n" in block.text
    return parted


def share_batch(limits: ResultLimits, *, results: int, batch: int) -> ResultLimits:
    """Return the limits of each of the `results` of one model turn, whose sizes are not known in advance.

    Args:
        limits: Those of a single result.
        results: How many results the turn has.
        batch: Tokens that all of them may take together; each gets an equal part.
    """
    share = max(batch // max(results, 1), 1)
    return replace(
        limits,
        inline=None if limits.inline is None else min(limits.inline, share),
        preview=min(limits.preview, max(share, MIN_PREVIEW)),
        fetch=min(limits.fetch, share),
    )


def as_abstract(limits: ResultLimits) -> ResultLimits:
    """Return the limits of a result as those of an abstract; what is never a preview stays whole."""
    if limits.inline is None:
        return limits
    return replace(limits, inline=min(limits.inline, limits.abstract), preview=min(limits.preview, limits.abstract))


def compress_once(blocks: _Blocks, *, counter: TokenCounter, **options: Hashable) -> tuple[Compressed | None, ...]:
    """Return `compress_blocks(blocks, counter=counter, **options)`, remembered where the counter can be a key."""
    compress: Callable[..., tuple[Compressed | None, ...]] = compress_blocks
    if not isinstance(counter, Hashable):
        return compress(blocks, counter=counter, **options)
    key = (blocks, counter, *options.values())
    known = _compressed.get(key)
    if known is None:
        known = compress(blocks, counter=counter, **options)
        _compressed.put(key, known, ENTRY_BYTES + bytes_of((*blocks, *(block.text for block in known if block))))
    return known


def bytes_of(texts: Iterable[str | None]) -> int:
    """Return the memory of texts: a character takes one byte, two or four."""
    return sum(sys.getsizeof(text) for text in texts if text)


def count_once(counter: TokenCounter) -> TokenCounter:
    """Return `counter` with a memory, where it can be a key."""
    return _remembering(counter) if isinstance(counter, Hashable) else counter


@lru_cache(maxsize=8)
def _remembering(counter: Callable[[str], int]) -> Callable[[str], int]:
    return lru_cache(maxsize=_MAX_COUNTED)(counter)
