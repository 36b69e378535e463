"""Counters of the tokens of a text; each factory returns a cached `accp_core.ports.TokenCounter`."""

from __future__ import annotations

import functools
import threading
from array import array
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import tiktoken

from accp_adapters.tokens.bounds import at_least_o200k
from accp_adapters.tokens.fast import OTHER_CHARACTERS, fast_count
from accp_adapters.tokens.vocabulary import load_o200k_base, simple_parts
from accp_core.ports import BoundedCounter, TokenCounter

__all__ = [
    "by_name",
    "count_o200k",
    "encode_o200k",
    "hugging_face",
    "o200k_base",
    "o200k_base_encoding",
    "tiktoken_encoding",
]

_LOADING: Final = threading.Lock()
CHARS_BEFORE_FAST: Final = 4_000_000
"""Characters counted by tiktoken before quicktok is loaded: a short process ends sooner without it."""
_MAX_BLANKS: Final = 100_000
"""Characters of white space in a row that are counted in one piece."""
_BLOCK: Final = _MAX_BLANKS // 2
"""Each longer row of white space holds a whole block."""


@functools.cache
def o200k_base(fast_after: float = CHARS_BEFORE_FAST) -> BoundedCounter:
    """Return the counter of o200k_base (GPT-4o and later); its vocabulary is in the package, no network is used.

    The vocabulary is loaded for the first text that is counted (see `make bench`). With the extra `fast`, quicktok
    takes over after `fast_after` characters; the counts are the same. To load it takes half a second, during which no
    other thread runs: with 0 this call does, for a server that is not to wait later; with `math.inf` nothing does.
    """
    return _O200kCounter(fast_after)


class _O200kCounter:
    """Counts with tiktoken, and with the extra `fast` once that has paid for its vocabulary."""

    def __init__(self, fast_after: float) -> None:
        self._left = fast_after
        self._fast: Callable[[str], int] | None = None if fast_after > 0 else fast_count()

    def at_least(self, text: str, /) -> int:
        """Return a number that the tokens of `text`, and of any text that begins with it, are never below."""
        return at_least_o200k(text)

    def __call__(self, text: str, /) -> int:
        """Return the number of tokens of `text`."""
        return sum(map(self._count_piece, _pieces(text)))

    def _count_piece(self, text: str) -> int:
        if self._fast is not None and (text.isascii() or OTHER_CHARACTERS.search(text) is None):
            return self._fast(text)
        if self._left > 0:
            self._left -= len(text)
            if self._left <= 0:
                self._fast = fast_count()
        encode = _fast_encoding().encode_ordinary
        return sum(map(len, map(encode, simple_parts(text))))


def count_o200k(text: str, /) -> int:
    """Return the number of o200k_base tokens of `text`: `o200k_base()` as a function that can be pickled."""
    return o200k_base()(text)


def encode_o200k(text: str, /) -> Sequence[int]:
    """Return the o200k_base token ids of `text`, in four bytes each; they are as many as `count_o200k` says."""
    encode = _fast_encoding().encode_ordinary
    ids = array("I")
    for piece in _pieces(text):
        for part in simple_parts(piece):
            ids.extend(encode(part))
    return ids


@functools.cache
def o200k_base_encoding() -> tiktoken.Encoding:
    """Return the o200k_base encoding itself, for callers that need token ids."""
    return _load(simple=False)


@functools.cache
def _fast_encoding() -> tiktoken.Encoding:
    return _load(simple=True)


def _load(*, simple: bool) -> tiktoken.Encoding:
    # Threads that need it at once wait for the first one: together they would take as many times as long.
    with _LOADING:
        return _load_once(simple)


@functools.cache
def _load_once(simple: bool) -> tiktoken.Encoding:
    return load_o200k_base(simple=simple)


@functools.cache
def tiktoken_encoding(name: str) -> TokenCounter:
    """Return the counter of the tiktoken encoding `name`, for example "cl100k_base".

    Encodings other than o200k_base are loaded by tiktoken itself, which uses the network unless its cache folder
    (`TIKTOKEN_CACHE_DIR`) holds them.

    Raises:
        ValueError: tiktoken does not know the name, or can neither find nor load its vocabulary.
    """
    try:
        return o200k_base() if name == "o200k_base" else _counter(tiktoken.get_encoding(name))
    except OSError as error:
        raise ValueError(
            f"expected the vocabulary of {name!r} in the folder TIKTOKEN_CACHE_DIR or from the network, found neither; "
            "o200k_base is in the package"
        ) from error


@functools.cache
def hugging_face(path: str) -> TokenCounter:
    """Return the counter of a Hugging Face `tokenizer.json` file at `path`; needs the extra `tokenizers`.

    Raises:
        ImportError: the package `tokenizers` is not installed.
        FileNotFoundError: there is no such file.
    """
    from tokenizers import Tokenizer  # noqa: PLC0415  optional: the extra `tokenizers`

    if not Path(path).is_file():
        raise FileNotFoundError(f"expected a tokenizer.json file, found none at {path!r}")
    tokenizer = Tokenizer.from_file(path)
    # The special tokens around a whole prompt are not part of a text in it.
    tokenizer.encode_special_tokens = True
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)


def by_name(name: str) -> TokenCounter:
    """Return the counter for `name`: a path that ends in `.json` (Hugging Face), else a tiktoken encoding.

    Raises:
        FileNotFoundError, ImportError, ValueError: as `hugging_face` and `tiktoken_encoding`.
    """
    return hugging_face(name) if name.endswith(".json") else tiktoken_encoding(name)


def _counter(encoding: tiktoken.Encoding) -> TokenCounter:
    return lambda text: count_tokens(encoding, text)


def count_tokens(encoding: tiktoken.Encoding, text: str) -> int:
    """Return the number of tokens of `text`; what looks like a special token is ordinary text."""
    return sum(len(encoding.encode_ordinary(piece)) for piece in _pieces(text))


def _pieces(text: str) -> list[str]:
    """Return `text` in the pieces that are counted.

    tiktoken panics at about a million characters of white space in a row. A text of more than 100,000 characters is cut
    where a block of it is nothing but white space, which may change the count by a token for each cut.
    """
    if len(text) <= _MAX_BLANKS:
        return [text]
    # Not a pattern: it would look at each character of each long text, and no other thread would run meanwhile.
    cuts = [at for at in range(_BLOCK, len(text) - _BLOCK + 1, _BLOCK) if text[at : at + _BLOCK].isspace()]
    return [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
