"""The o200k_base tokens of texts that a process counts again and again, in bounded memory."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Final

from accp_adapters.tokens.counters import count_o200k, encode_o200k
from accp_core.bounded import SizedCache

__all__ = ["MAX_REMEMBERED_BYTES", "count_remembered", "remembered_ids"]

MAX_REMEMBERED_BYTES: Final = 64 << 20
"""Bytes of the texts and tokens that are remembered."""

_known: Final[SizedCache[str, Sequence[int]]] = SizedCache(MAX_REMEMBERED_BYTES)


def remembered_ids(text: str, /) -> Sequence[int]:
    """Return the o200k_base token ids of `text`, which the process remembers as long as there is room."""
    ids = _known.get(text)
    if ids is None:
        ids = encode_o200k(text)
        _known.put(text, ids, sys.getsizeof(text) + sys.getsizeof(ids))
    return ids


def count_remembered(text: str, /) -> int:
    """Return the number of o200k_base tokens of `text`: what `count_o200k` returns, without work for a known text."""
    ids = _known.get(text)
    return count_o200k(text) if ids is None else len(ids)
