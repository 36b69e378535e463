"""The text blocks of one message as views or previews, as far as that saves money."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from accp_core.compression import (
    MIN_PREVIEW,
    Compressed,
    ResultLimits,
    Source,
    share_limits,
)
from accp_core.ports import TokenCounter
from accp_core.projection.cache_cost import PriorPrompt, first_reference_pays, saving_pays

__all__ = ["as_abstract", "compress_blocks", "share_batch"]

_EVERY_SAVING_COUNTS: Final = PriorPrompt(has_references=True)


def compress_blocks(
    blocks: Sequence[str | None],
    *,
    limits: ResultLimits,
    counter: TokenCounter,
    request: str = "",
    prompt: PriorPrompt | None = None,
    open_with: str = "",
    is_brief: bool = False,
) -> tuple[Compressed | None, ...]:
    """Return how each block of one message is shown, None for a block that stays as it is.

    Args:
        blocks: The text of each block, None for one that is not text.
        limits: Those of the whole message; its blocks share them.
        counter: Counts the tokens of the model.
        request: What the reader works on (the user's words, the arguments of the call); ranks what a preview keeps.
        prompt: The prompt before the message, where the provider caches it; None: every token saved counts.
        open_with: The name of the tool that opens a reference, such as "accp_fetch"; empty: no tool is named.
        is_brief: Whether the reader was shown a preview before, as in `Source.preview`; of several blocks those behind
            the first preview are brief anyway.
    """
    known = prompt or _EVERY_SAVING_COUNTS
    sources = [
        Source(text, counter=counter, open_with=open_with, verbatim=limits.verbatim) if text else None
        for text in blocks
    ]
    views = [source.view(limits.inline) if source else None for source in sources]
    shown = [view if view and view.is_smaller else None for view in views]
    rooms = share_limits([view.tokens_after if view else 0 for view in views], limits)
    if limits.inline is None:
        return _if_it_pays(shown, known)
    chars = limits.previewed_chars
    previews: list[Compressed | None] = []
    for source, room in zip(sources, rooms, strict=True):
        brief = is_brief or any(previews)
        if source is None:
            previews.append(None)
        elif room is None:
            previews.append(source.without_blobs(is_brief=brief))
        else:
            previews.append(source.preview(room, chars=chars, request=request, is_brief=brief))
    pairs = [(view, preview) for view, preview in zip(views, previews, strict=True) if view and preview]
    saved = sum(view.tokens_after - preview.tokens_after for view, preview in pairs)
    whole = _if_it_pays(shown, known)
    if not first_reference_pays(saved, known):
        return whole
    hidden = _if_it_pays([preview or view for preview, view in zip(previews, shown, strict=True)], known)
    return hidden if any(hidden) else whole


def _if_it_pays(shown: Sequence[Compressed | None], prompt: PriorPrompt) -> tuple[Compressed | None, ...]:
    """Return `shown`, or None for each block where that saves no money."""
    before = sum(block.tokens_before for block in shown if block)
    after = sum(block.tokens_after for block in shown if block)
    return tuple(shown) if saving_pays(before, after, prompt) else (None,) * len(shown)


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
