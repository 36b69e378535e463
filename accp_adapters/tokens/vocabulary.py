"""The o200k_base vocabulary in the package, and its rule to split text (tiktoken, MIT; LICENSE.o200k_base)."""

from __future__ import annotations

import functools
import hashlib
import re
from importlib import resources
from itertools import accumulate, pairwise
from typing import Final

import tiktoken

__all__ = ["O200K_BASE_SHA256", "has_simple_blanks", "load_o200k_base", "o200k_base_ranks"]

O200K_BASE_SHA256: Final = "440741350e7cfa1c0f4869ce742d1b043550adbda5187adcac9e787edac6fba9"
"""Of the packaged tokens."""
_TOKENS: Final = 199_998

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


@functools.cache
def o200k_base_ranks() -> dict[bytes, int]:
    """Return the rank of each token; every encoding takes the same dictionary, which is not to be changed.

    The packaged file holds the tokens in the order of their ranks, behind a byte for the length of each. It is read in
    a third of the time that base64 takes.

    Raises:
        ValueError: the packaged file is not the one that was made of the published vocabulary.
    """
    packed = resources.files("accp_adapters.tokens").joinpath("o200k_base.tokens").read_bytes()
    found = hashlib.sha256(packed).hexdigest()
    if found != O200K_BASE_SHA256:
        raise ValueError(f"expected the o200k_base tokens with sha256 {O200K_BASE_SHA256!r}, found {found!r}")
    ends = accumulate(packed[:_TOKENS], initial=_TOKENS)
    return {packed[start:end]: rank for rank, (start, end) in enumerate(pairwise(ends))}


def load_o200k_base(*, simple: bool = False) -> tiktoken.Encoding:
    """Return the o200k_base encoding.

    Args:
        simple: Return a faster encoding, which gives the same tokens only for a text with `has_simple_blanks`.

    Raises:
        ValueError: as `o200k_base_ranks`.
    """
    words = _WORDS.replace(_BLANKS, "") if simple else _WORDS
    return tiktoken.Encoding("o200k_base", pat_str=words, mergeable_ranks=o200k_base_ranks(), special_tokens=_SPECIAL)


def has_simple_blanks(text: str) -> bool:
    """Return whether `text` has no two characters of white space in a row, line breaks not counted."""
    return "  " not in text and _OTHER_BLANK.search(text) is None
