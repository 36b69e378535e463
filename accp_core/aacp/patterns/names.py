"""Names of companies: words with a capital in a text that has other words, or words in quotation marks."""

from __future__ import annotations

import re
from typing import Final

from accp_core.aacp.patterns.tokens import Sentence
from accp_core.aacp.patterns.words import NO_NAMES

__all__ = ["read_name", "read_quoted"]

MAX_NAME_WORDS: Final = 6
"""Words of a name."""
_NAME: Final = re.compile(r"[A-Z0-9]*[A-Z][A-Za-z\u00c0-\u024f'.-]*|&")
_LEGAL_FORMS: Final = frozenset({"ltd", "inc", "co", "corp"})


def read_name(sentence: Sentence, at: int) -> tuple[int, str] | None:
    """Return the end and the name of a company at the token `at`, None where there is none."""
    if quoted := read_quoted(sentence, at):
        return quoted
    if not _has_plain_words(sentence):
        return None
    end = at
    while end < len(sentence.tokens) and _is_part(sentence, at, end):
        end += 1
    if end == at or end - at > MAX_NAME_WORDS or sentence.tokens[end - 1].source == "&":
        return None
    name = sentence.between(at, end)
    return _after_abbreviation(sentence, end), name


def read_quoted(sentence: Sentence, at: int) -> tuple[int, str] | None:
    """Return the end and the text of words in quotation marks at the token `at`."""
    tokens = sentence.tokens
    if at >= len(tokens) or tokens[at].source not in ("'", '"'):
        return None
    mark = tokens[at].source
    for end in range(at + 1, min(len(tokens), at + 2 + MAX_NAME_WORDS)):
        if tokens[end].source == mark:
            return (end + 1, sentence.between(at + 1, end)) if end > at + 1 else None
    return None


def _is_part(sentence: Sentence, start: int, at: int) -> bool:
    token = sentence.tokens[at]
    if token.word in NO_NAMES or not _NAME.fullmatch(token.source):
        return False
    return token.source != "&" or at > start


def _after_abbreviation(sentence: Sentence, end: int) -> int:
    """Return the place after the full stop of "Ltd.", unless it ends the text."""
    is_dot = end + 1 < len(sentence.tokens) and sentence.tokens[end].source == "."
    return end + 1 if is_dot and sentence.tokens[end - 1].word in _LEGAL_FORMS else end


def _has_plain_words(sentence: Sentence) -> bool:
    """Return whether capitals mark names: "REVIEW THE NDA WITH ACME NOW" and "Review The NDA" have no plain words."""
    return any(word.isalpha() and word.islower() for word in sentence.text.split())
