"""The text blocks of one message as views or previews, where that saves tokens.

A process remembers what it made, by what it is made of; it may be lost at any time and is made again.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final

from accp_core.bounded import SizedCache
from accp_core.compression import (
    MIN_PREVIEW,
    Compressed,
    ResultLimits,
    Source,
    share_limits,
)
from accp_core.ports import TokenCounter

__all__ = ["ENTRY_BYTES", "as_abstract", "bytes_of", "compress_blocks", "compress_once", "count_once", "share_batch"]

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
    views = [source.view(limits.inline) if source else None for source in sources]
    shown = [view if view and view.is_smaller else None for view in views]
    rooms = share_limits([view.tokens_after if view else 0 for view in views], limits)
    if limits.inline is None:
        return tuple(shown)
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
    return tuple(preview or view for preview, view in zip(previews, shown, strict=True))


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
