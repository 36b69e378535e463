"""Results that a process remembers by what they are made of; they may be lost at any time and are made again."""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterable
from functools import lru_cache
from typing import Final

from accp_core.bounded import SizedCache
from accp_core.compression import Compressed
from accp_core.ports import TokenCounter
from accp_core.projection.results import compress_blocks

__all__ = ["ENTRY_BYTES", "bytes_of", "compress_once", "count_once"]

_MAX_COMPRESSED: Final = 64 * 1024 * 1024
"""Bytes of the sources and results of `compress_once` that are remembered."""
ENTRY_BYTES: Final = 1_000
"""Bytes that an entry, a message or a call counts besides its texts: a million threads that say "hi" take room, too."""
_MAX_COUNTED: Final = 1_024
"""Texts whose tokens are remembered."""

_Blocks = tuple[str | None, ...]
_compressed: Final[SizedCache[Hashable, tuple[Compressed | None, ...]]] = SizedCache(_MAX_COMPRESSED)


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
