"""The o200k_base vocabulary in the package, and its rule to split text (tiktoken, MIT; LICENSE.o200k_base)."""

from __future__ import annotations

import base64
import hashlib
import lzma
import re
from importlib import resources
from typing import Final

import tiktoken

__all__ = ["O200K_BASE_SHA256", "has_simple_blanks", "load_o200k_base", "read_o200k_base"]

O200K_BASE_SHA256: Final = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
"""Of the vocabulary file as published."""

# The alternatives: a word with its leading character, up to three digits, punctuation, white space.
_WORDS: Final = "|".join(
    (
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    )
)
# White space before a word, without its last character. This alternative needs a backtracking engine, which has two
# thirds of the speed, and it matters only for two blanks in a row.
_BLANKS: Final = r"|\s+(?!\S)"
_OTHER_BLANK: Final = re.compile("[\t\x0b\x0c\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]")
_SPECIAL: Final = {"<|endoftext|>": 199999, "<|endofprompt|>": 200018}


def read_o200k_base() -> bytes:
    """Return the vocabulary file as published: lines of a base64 token, a space and a rank.

    Raises:
        ValueError: the packaged file is not the published one.
    """
    packed = resources.files("accp_adapters.tokens").joinpath("o200k_base.tiktoken.xz").read_bytes()
    published = lzma.decompress(packed)
    found = hashlib.sha256(published).hexdigest()
    if found != O200K_BASE_SHA256:
        raise ValueError(f"expected the o200k_base vocabulary with sha256 {O200K_BASE_SHA256!r}, found {found!r}")
    return published


def load_o200k_base(*, simple: bool = False) -> tiktoken.Encoding:
    """Return the o200k_base encoding.

    Args:
        simple: Return a faster encoding, which gives the same tokens only for a text with `has_simple_blanks`.

    Raises:
        ValueError: the packaged vocabulary is not the published one.
    """
    pairs = (line.split() for line in read_o200k_base().splitlines())
    ranks = {base64.b64decode(token): int(rank) for token, rank in pairs}
    words = _WORDS.replace(_BLANKS, "") if simple else _WORDS
    return tiktoken.Encoding("o200k_base", pat_str=words, mergeable_ranks=ranks, special_tokens=_SPECIAL)


def has_simple_blanks(text: str) -> bool:
    """Return whether `text` has no two characters of white space in a row, line breaks not counted."""
    return "  " not in text and _OTHER_BLANK.search(text) is None
