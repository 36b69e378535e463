"""The lines of a text that a request asks for: those that have most of its words, and how many have each of them.

"checkout" and "error": 4 lines, all shown; "checkout": 31 lines
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from accp_core.previews.request import Request, words_of_name

__all__ = ["RequestedLines", "find_named_lines"]

_MAX_CHARS: Final = 400_000
"""Characters of a text whose lines are looked at."""
_MIN_LINES: Final = 20
_MAX_SHARE: Final = 0.5
"""The share of lines that have a word up to which the word says something."""
_MAX_SHOWN: Final = 24
"""Lines that come first in the preview."""
_MAX_WORDS: Final = 4
"""Words whose lines are counted."""
_MIN_CHARS: Final = 4
_COMMON: Final = frozenset((
    "which", "what", "when", "where", "that", "this", "there", "with", "from", "were", "have", "does", "many",
    "much", "more", "than", "most", "them", "they", "these", "those", "over", "under", "below", "above",
    "after", "before", "about", "into", "only", "also", "give", "list", "show", "find", "first", "last",
    "line", "lines",
))  # fmt: skip
"""Words that a sentence needs and that name nothing."""


@dataclass(frozen=True, slots=True)
class RequestedLines:
    """Lines that have the same words of a request."""

    words: tuple[str, ...]
    """The words, each in the forms that the text has of it: "fail|failed"."""
    lines: tuple[str, ...]
    """The lines, from the first to the last of the text."""

    def describe(self, body: str) -> str:
        """Return what a preview says of them above `body`, its text."""
        shown = Counter(body.split("\n"))
        are_shown = all(shown[line] >= count for line, count in Counter(self.lines).items())
        words = " and ".join(f'"{word}"' for word in self.words)
        return f"{words}: {len(self.lines):,} line{'s'[: len(self.lines) != 1]}{', all shown' * are_shown}"

    @property
    def come_first(self) -> bool:
        """Whether they are few enough to be shown before all others."""
        return len(self.lines) <= _MAX_SHOWN


def find_named_lines(text: str, request: Request) -> tuple[RequestedLines, ...]:
    """Return the lines that have the most words of a request together, then those that have each of them.

    Words are the same in any case and with other endings; a word that most lines have says nothing.
    """
    lines = text.split("\n") if len(text) <= _MAX_CHARS else []
    if not request.words or len(lines) < _MIN_LINES:
        return ()
    holders: defaultdict[str, list[int]] = defaultdict(list)
    forms: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for number, line in enumerate(lines):
        asked = {form: word for form in words_of_name(line) if (word := request.match(form))}
        for form, word in asked.items():
            forms[word][form] = None
        for word in dict.fromkeys(asked.values()):
            holders[word].append(number)
    most = _MAX_SHARE * len(lines)
    telling = {word: held for word, held in holders.items() if _tells(word) and len(held) <= most}
    return tuple(
        RequestedLines(tuple("|".join(forms[word]) for word in words), tuple(map(lines.__getitem__, held)))
        for words, held in _together(telling)
    )


def _tells(word: str) -> bool:
    return len(word) >= _MIN_CHARS and word not in _COMMON


def _together(holders: Mapping[str, Sequence[int]]) -> Iterator[tuple[tuple[str, ...], Sequence[int]]]:
    words_of: defaultdict[int, list[str]] = defaultdict(list)
    for word in sorted(holders):
        for number in holders[word]:
            words_of[number].append(word)
    sets = Counter(map(tuple, words_of.values()))
    best = max(sorted(sets), key=lambda words: (len(words), -sets[words]), default=())
    if len(best) > 1:
        yield best, sorted(number for number, words in words_of.items() if set(words).issuperset(best))
    ranked = sorted(holders, key=lambda word: (len(holders[word]), word))
    yield from (((word,), holders[word]) for word in ranked[:_MAX_WORDS])
