"""Counters of the tokens of a text; each factory returns a cached `accp_core.ports.TokenCounter`."""

from __future__ import annotations

import functools
import re
import sys
import threading
from array import array
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import tiktoken

from accp_adapters.tokens.vocabulary import load_o200k_base, simple_parts
from accp_core.bounded import SizedCache
from accp_core.ports import BoundedCounter, TokenCounter

__all__ = [
    "MAX_REMEMBERED_BYTES", "OTHER_CHARACTERS", "at_least_o200k", "by_name", "count_o200k", "count_remembered",
    "encode_o200k", "fast_count", "hugging_face", "o200k_base", "o200k_base_encoding", "remembered_ids",
    "tiktoken_encoding",
]  # fmt: skip


# A faster counter of o200k_base, where the extra `fast` is installed (quicktok, MIT).

OTHER_CHARACTERS: Final = re.compile("[^\x00-\xff\u2010-\u2027\u2030-\u205e]")
"""All but Latin-1 and typographic punctuation.

Over others the two differ in places, since each has the classes of characters of its own version of Unicode; these are
the same in all. Where a text has none of the others, quicktok 0.4 gave the tokens of tiktoken for each pair of
characters in six surroundings, and for a million random texts."""

_PROBE: Final = 'don\'t WE\'LL 12345 {"id":7,"ok":true}  \n\tcamelCase HTTPServer «naïve» “so” …'
_PROBE_TOKENS: Final = [
    91418, 26919, 6, 7454, 220, 7633, 2548, 10494, 315, 1243, 22, 3532, 525, 1243, 3309, 92, 4066, 2736, 23870, 6187,
    21929, 6444, 2415, 1503, 9954, 737, 1924, 966, 786, 693, 3762,
]  # fmt: skip


@functools.cache
def fast_count() -> Callable[[str], int] | None:
    """Return the count of the tokens of a text without `OTHER_CHARACTERS`; None where the extra is not installed.

    The first call takes half a second, during which no other thread runs, and 80 MB for a vocabulary. Another version
    or package of the name `quicktok`, which does not give the tokens of a known text, counts as not installed.
    """
    try:
        import quicktok  # noqa: PLC0415  optional: the extra `fast`

        encoding = quicktok.get_encoding("o200k_base")
        if encoding.encode_ordinary(_PROBE) != _PROBE_TOKENS:
            return None
        count: Callable[[str], int] = encoding.count
    except (ImportError, AttributeError, OSError, RuntimeError, TypeError, ValueError):
        return None
    return count


# A number of o200k_base tokens that a text has at least, in a sixth of the time that counting takes.

# Rules by which a cut stands between two characters: the bits of the one before, and the one bit of the one behind.
_BEFORE_SIGN: Final = 1
_BEFORE_BLANK: Final = 2
_BEFORE_DIGIT: Final = 4
_BEFORE_LETTER: Final = 8
# These make the kinds of characters different from each other; nothing behind has them.
_IS_SIGN: Final = 16
_IS_BLANK: Final = 32


def _first(char: str) -> int:
    """Return the rules for a character that another one follows."""
    if char.isalpha():
        return _BEFORE_SIGN | _BEFORE_BLANK | _BEFORE_DIGIT
    if char.isdecimal():
        return _BEFORE_SIGN | _BEFORE_BLANK | _BEFORE_LETTER
    if char.isspace():
        return _BEFORE_DIGIT | _IS_BLANK
    # `'s` is part of the word before it.
    return _BEFORE_BLANK | _BEFORE_DIGIT | (0 if char == "'" else _IS_SIGN)


def _second(char: str) -> int:
    """Return the rule for a character behind another one."""
    if char.isalpha():
        return _BEFORE_LETTER
    if char.isdecimal():
        return _BEFORE_DIGIT
    return _BEFORE_BLANK if char == " " else 0 if char.isspace() or char == "'" else _BEFORE_SIGN


_ASCII: Final = [chr(code) for code in range(128)]
# Of a character outside ASCII nothing is sure.
_FIRST: Final = bytes(map(_first, _ASCII)).ljust(256, b"\0")
_SECOND: Final = bytes(map(_second, _ASCII)).ljust(256, b"\0")
_DIGITS: Final = 4 * b"0".translate(_FIRST)
"""Of four digits in a row, three at most are one piece."""
_WORD_BEHIND_SIGNS: Final = b'""a'.translate(_FIRST)
"""A word takes one sign before it; where there are two, there is a cut between any two of the three."""


def at_least_o200k(text: str, /) -> int:
    """Return a number of tokens that `count_o200k(text)` is never below; of JSON mostly 85 to 99 % of the tokens."""
    data = text.encode("utf-8", "surrogatepass")
    kinds = data.translate(_FIRST)
    cuts = int.from_bytes(kinds, "little") & int.from_bytes(data.translate(_SECOND), "little") >> 8
    return cuts.bit_count() + kinds.count(_DIGITS) + kinds.count(_WORD_BEHIND_SIGNS) + bool(data)


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


# The o200k_base tokens of texts that a process counts again and again, in bounded memory.

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
