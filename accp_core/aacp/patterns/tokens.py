"""An instruction in English as tokens: words, punctuation, possessives, each with its place in the text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

__all__ = ["Sentence", "WordToken", "read_sentence"]

MAX_TOKENS: Final = 120
"""Words and marks of a text that patterns are tried on; a longer one says more than a step of a workflow."""
QUOTES: Final = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u00a0": " "})
OPENING: Final = "([\"'"
CLOSING: Final = ")],;:.!?\"'"
POSSESSIVE: Final = "'s"
DROPPED: Final = frozenset({"a", "an", "the", "please", "kindly"})
"""Words without influence on the meaning, unless a capital within a sentence makes them a part of a name."""
MARKS: Final = frozenset({".", "!", "?", ":"})
"""Marks after which a word has a capital anyway."""
_COMPOUND: Final = re.compile(r"[A-Za-z]+(?:-[a-z]+)+")
"""Words joined by hyphens, which are read as separate words: "year-to-date"."""


@dataclass(frozen=True, slots=True)
class WordToken:
    """One word or mark."""

    word: str
    """In lower case, as it is compared."""
    source: str
    """As it is written."""
    start: int
    """Its first character in `Sentence.text`."""

    @property
    def end(self) -> int:
        """The character after it."""
        return self.start + len(self.source)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A text and its tokens; it may hold several grammatical sentences."""

    text: str
    """The text, with plain quotes."""
    tokens: tuple[WordToken, ...]
    """Its tokens, in order."""

    def word(self, at: int) -> str:
        """Return the word of a token, "" after the end."""
        return self.tokens[at].word if at < len(self.tokens) else ""

    def source(self, at: int) -> str:
        """Return a token as it is written, "" after the end."""
        return self.tokens[at].source if at < len(self.tokens) else ""

    def between(self, start: int, end: int) -> str:
        """Return the text of the tokens from `start` up to `end`, with single blanks."""
        return " ".join(self.text[self.tokens[start].start : self.tokens[end - 1].end].split())


def read_sentence(english: str) -> Sentence | None:
    """Return the tokens of a text; None where there are too many."""
    text = english.translate(QUOTES)
    tokens: list[WordToken] = []
    for chunk in re.finditer(r"\S+", text):
        for token in _read_chunk(chunk[0], chunk.start(), quoted=_has_open_quote(tokens)):
            starts = not tokens or tokens[-1].word in MARKS
            if token.word not in DROPPED or not (starts or token.source.islower()):
                tokens.append(token)
        if len(tokens) > MAX_TOKENS:
            return None
    return Sentence(text, tuple(tokens))


def _has_open_quote(tokens: list[WordToken]) -> bool:
    return sum(token.source == "'" for token in tokens) % 2 == 1


def _read_chunk(chunk: str, start: int, *, quoted: bool) -> list[WordToken]:
    """Return the tokens of a text without blanks; `quoted`: a single quotation mark is still open."""
    before, after = [], []
    while chunk and chunk[0] in OPENING:
        before.append(_token(chunk[0], start))
        quoted = quoted or chunk[0] == "'"
        chunk, start = chunk[1:], start + 1
    end = start + len(chunk)
    while chunk and chunk[-1] in CLOSING and (quoted or not chunk.endswith("s'")):
        end -= 1
        after.append(_token(chunk[-1], end))
        chunk = chunk[:-1]
    return [*before, *_read_word(chunk, start), *reversed(after)]


def _read_word(chunk: str, start: int) -> list[WordToken]:
    if not chunk:
        return []
    if chunk.lower().endswith(("'s", "s'")):
        cut = len(chunk) - (2 if chunk.lower().endswith("'s") else 1)
        return [*_read_word(chunk[:cut], start), WordToken(POSSESSIVE, chunk[cut:], start + cut)]
    if _COMPOUND.fullmatch(chunk):
        return [_token(match[0], start + match.start()) for match in re.finditer("[A-Za-z]+", chunk)]
    return [_token(chunk, start)]


def _token(source: str, start: int) -> WordToken:
    return WordToken(source.lower(), source, start)
