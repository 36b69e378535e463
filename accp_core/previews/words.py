"""Which words of a text the next step is likely to need: those of the request, identifiers, names, errors."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["find_words", "has_error", "requested_words", "shape_of", "worth_of"]

_WORD: Final = re.compile(r"[^\W_]+(?:[._@/:+-][^\W_]+)*")
# Chinese and Japanese have no blanks between words, Korean has particles behind them: `서울의`, of Seoul.
_CJK: Final = (
    "\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff"
)
_HAS_CJK: Final = re.compile(f"[{_CJK}]")
_PAIR: Final = re.compile(f"(?=([{_CJK}]{{2}}))|([^{_CJK}]+)")
_JOINERS: Final = "._@/:+-"
_IDENTIFIER: Final = re.compile(r"[0-9_@/]|[a-z][A-Z]|\w[-.]\w")
_NAME: Final = re.compile(r"[A-Z]")
_NAME_WORTH: Final = 0.1
"""Words that may be names count less than identifiers, because every sentence begins with a capital."""
_ERROR: Final = re.compile(
    r"error|exception|traceback|fail(?:ed|ure|s|\b)|fatal|critical|panic|time[sd]? ?-?out|denied|refused|abort|crash|"
    r"unreachable|unavailable|invalid|warn",
    re.IGNORECASE,
)
_WITH_DIGIT: Final = re.compile(r"\w*\d[\w.:+-]*")
_MAX_REQUESTED: Final = 64
_MIN_REQUESTED_CHARS: Final = 3
_MAX_SHAPED: Final = 80
"""Characters that the shape of a text is made of."""


def find_words(text: str) -> list[str]:
    """Return the words of a text in their order; of Chinese, Japanese and Korean, any two characters in a row."""
    words = _WORD.findall(text)
    if text.isascii() or _HAS_CJK.search(text) is None:
        return words
    return [part for word in words for part in _parts(word)]


def _parts(word: str) -> list[str]:
    if len(word) == 1 or _HAS_CJK.search(word) is None:
        return [word]
    parts = (pair or rest.strip(_JOINERS) for pair, rest in _PAIR.findall(word))
    return [part for part in parts if part]


def worth_of(word: str) -> float:
    """Return the worth of a word: 1.0 for an identifier, 0.1 for a possible name, 0.0 for any other."""
    if _IDENTIFIER.search(word):
        return 1.0
    return _NAME_WORTH if _NAME.match(word) else 0.0


def has_error(text: str) -> bool:
    """Return whether `text` names an error, a warning or something that did not work."""
    return _ERROR.search(text) is not None


def shape_of(text: str) -> str:
    """Return `text` with `#` for each word that has a digit: lines of one kind have one shape."""
    return _WITH_DIGIT.sub("#", text[:_MAX_SHAPED])


def _is_telling(word: str) -> bool:
    return len(word) >= _MIN_REQUESTED_CHARS or (len(word) == 2 and _HAS_CJK.match(word) is not None)


def requested_words(request: str) -> frozenset[str]:
    """Return the words of a request without regard to case, at most 64: identifiers first, then long ones."""
    words = {word.casefold(): worth_of(word) for word in find_words(request) if _is_telling(word)}
    ranked = sorted(words, key=lambda word: (-words[word], -len(word), word))
    return frozenset(ranked[:_MAX_REQUESTED])
