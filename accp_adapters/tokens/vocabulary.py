"""The o200k_base vocabulary in the package, and its rule to split text (tiktoken, MIT; LICENSE.o200k_base)."""

from __future__ import annotations

import functools
import hashlib
import re
import struct
from importlib import resources
from typing import Final

import tiktoken

__all__ = ["O200K_BASE_SHA256", "load_o200k_base", "o200k_base_ranks", "simple_parts"]

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
# thirds of the speed, and it matters only for two blanks in a row (`simple_parts`).
_BLANKS: Final = r"|\s+(?!\S)"
_OTHER_BLANKS: Final = "\t\x0b\x0c\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_OTHER_BLANK: Final = re.compile(f"[{_OTHER_BLANKS}]")
_IN_BLANKS: Final = re.compile(f"(?<=[ {_OTHER_BLANKS}])(?=[ {_OTHER_BLANKS}][^ {_OTHER_BLANKS}\r\n])")
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
    # One format for all tokens (`1s2s5s…`) cuts them in half the time of as many slices.
    formats = [f"{length}s" for length in range(256)]
    tokens = struct.Struct("".join([formats[length] for length in packed[:_TOKENS]])).unpack_from(packed, _TOKENS)
    return dict(zip(tokens, range(_TOKENS), strict=True))


def load_o200k_base(*, simple: bool = False) -> tiktoken.Encoding:
    """Return the o200k_base encoding.

    Args:
        simple: Return a faster encoding, which gives the same tokens only for each of `simple_parts`.

    Raises:
        ValueError: as `o200k_base_ranks`.
    """
    words = _WORDS.replace(_BLANKS, "") if simple else _WORDS
    return tiktoken.Encoding("o200k_base", pat_str=words, mergeable_ranks=o200k_base_ranks(), special_tokens=_SPECIAL)


def simple_parts(text: str) -> list[str]:
    """Return `text` in parts whose tokens, by the faster encoding, are those of `text` by the whole rule.

    In a row of blanks before a word all but the last one are one piece. The faster rule has no way to say so: each part
    but the last one ends there.
    """
    return _IN_BLANKS.split(text) if "  " in text or _OTHER_BLANK.search(text) else [text]
