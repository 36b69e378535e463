"""What an agent's words about one step mean: done, failed, or not understood (ACI section 5.2).

An undone step must never pass as done, whatever the wording, while a done step that is not recognised costs one more
question. So the rules are not symmetric:

1. "done: result" is done, unless the result takes it back.
2. "not done: why", or a first sentence that clearly says so, is a failure.
3. Words without either are a result only if they are data, such as "6 of 40", and nothing in them leaves a doubt:
   negation, regret, hedge, question, intention, another language. In whole sentences anything can be an excuse.
4. Everything else is not understood.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from accp_core.aci.checks import violation
from accp_core.aci.items import Outcome
from accp_core.aci.replies import words
from accp_core.error_codes import ErrorCode

__all__ = ["ItemAnswer", "is_neutral", "may_introduce", "plain", "read_outcome", "says_nothing", "takes_back"]

MAX_EXCERPT_CHARS: Final = 80
"""Characters of an answer that a remark about it quotes."""
_MAX_STATUS_WORDS: Final = 60
"""Words up to which the whole answer is about the step; a longer one is mostly a result, such as a letter."""
_STATES: Final = frozenset("01")
"""Answers that are the states of the draft as often as they are results."""
_MAX_FRAGMENT: Final = 6
"""Words between two commas that are no sentence."""
_MIN_RECORDS: Final = 5
"""Lines that are records, and no steps of a plan."""
_MIN_PROSE: Final = 4
"""Plain words in a row that are prose."""


@dataclass(frozen=True, slots=True)
class ItemAnswer:
    """What an agent answered about one item."""

    outcome: Outcome
    """Whether the item is done."""
    text: str = ""
    """The result, or why the item is not done, or the words that were not understood."""
    problem: str = ""
    """What was not understood; empty for the other outcomes, and where "done" came without a result."""

    def __post_init__(self) -> None:
        """Check the outcome (ProtocolError E1004)."""
        if not isinstance(self.outcome, Outcome):
            raise violation(ErrorCode.INVALID_TYPE, "an Outcome", self.outcome)


def read_outcome(text: str, *, is_value: bool = False) -> ItemAnswer:
    """Return what the words about one step mean.

    Args:
        text: The words.
        is_value: Whether they stand where only a result is expected, such as beside the item's name in a list, so that
            a bare noun is one.
    """
    shown = text.strip()
    done = words.DONE_MARK.match(shown)
    if done:
        return _read_marked(shown, done)
    failed = words.FAIL_MARK.match(shown)
    if failed:
        reason = shown[failed.end() :].strip("*_` \n")
        return ItemAnswer(Outcome.FAILED, shown if words.BARE_FAILURE.fullmatch(reason) else reason)
    return _read_unmarked(shown, is_value)


def _read_marked(shown: str, mark: re.Match[str]) -> ItemAnswer:
    """Return the answer after "done:" or a sign such as a check mark."""
    result = shown[mark.end() :].strip()
    if says_nothing(result):
        return ItemAnswer(Outcome.DONE)
    simple = plain(result)
    region = status_region(result)
    if words.CONTRADICTION.fullmatch(simple) or words.UNDONE.search(region) or words.FOREIGN_UNDONE.search(region):
        return _not_understood(shown, "says both that it is done and that it is not")
    if words.FAIL_MARK.match(result) or (mark["sure"] is None and words.DOUBT.search(region)):
        return _not_understood(shown, "leaves a doubt whether it is done")
    return ItemAnswer(Outcome.DONE, result)


def _read_unmarked(shown: str, is_value: bool) -> ItemAnswer:
    simple = plain(shown)
    if words.NO_RESULT.fullmatch(simple):
        return _not_understood(shown, "has no result")
    if simple in _STATES:
        return _not_understood(shown, "may be a state or a result")
    if words.UNDONE.search(next(iter(sentences(shown)), "")):
        return ItemAnswer(Outcome.FAILED, shown)
    doubt = words.DOUBT_IN_LONG if is_long(simple) else words.DOUBT
    if words.UNDONE.search(simple) or doubt.search(status_region(shown)):
        return _not_understood(shown, "leaves a doubt whether it is done")
    if is_foreign(shown):
        return _not_understood(shown, "is in words that were not recognised")
    if not is_data(shown, is_value):
        return _not_understood(shown, 'does not say "done:"')
    return ItemAnswer(Outcome.DONE, shown)


def is_data(text: str, is_value: bool) -> bool:
    """Return whether words that do not say "done" are data, not prose: in prose, anything can be an excuse.

    Data are records, one a line, or numbers and names with a few nouns; where only a result is expected, nouns alone.
    """
    if _are_records(text):
        return True
    simple = plain(text)
    parts = [part.split() for part in _SEGMENT.split(simple)]
    is_fragment = all(len(part) <= _MAX_FRAGMENT for part in parts) and not words.PROSE.search(simple)
    return is_fragment and (is_value or _has_evidence(text))


def _has_evidence(text: str) -> bool:
    """Return whether `text` has what only a result has: a number, a name, an address."""
    return bool(words.EVIDENCE.search(text)) or not words.NUMBER_WORDS.isdisjoint(_WORD.findall(text.casefold()))


def _are_records(text: str) -> bool:
    """Return whether `text` has several lines, each with a number: a list or a table that some tool gave."""
    lines = [line for line in text.splitlines() if line.strip()]
    return len(lines) >= _MIN_RECORDS and all(re.search(r"\d", line) for line in lines)


def _not_understood(text: str, problem: str) -> ItemAnswer:
    excerpt = " ".join(text.split())
    if len(excerpt) > MAX_EXCERPT_CHARS:
        excerpt = excerpt[: MAX_EXCERPT_CHARS - 1] + "…"
    quoted = f'"{excerpt}" {problem}' if excerpt else f"the answer {problem}"
    return ItemAnswer(Outcome.UNVERIFIED, text, f"not understood: {quoted}")


def says_nothing(text: str) -> bool:
    """Return whether `text` is no result: empty, or only another word for done."""
    return bool(words.NO_RESULT.fullmatch(plain(text)))


def takes_back(text: str) -> bool:
    """Return whether a text around answers says that work is not done."""
    return bool(words.UNDONE.search(plain(text)))


def is_neutral(text: str) -> bool:
    """Return whether a text around answers says nothing about the work: "Here are the results:"."""
    return words.NEUTRAL.issuperset(_WORD.findall(plain(text)))


def may_introduce(text: str, answers: Iterable[str]) -> bool:
    """Return whether a text may stand around answers: neutral, or without doubt where all answers are explicit."""
    if is_neutral(text):
        return True
    explicit = all(words.DONE_MARK.match(answer) or words.FAIL_MARK.match(answer) for answer in answers)
    simple = plain(text)
    doubtful = words.UNDONE.search(simple) or words.DOUBT.search(simple) or is_foreign(text)
    return explicit and not doubtful


# --- simplified text --------------------------------------------------------------------------------------------------

_QUOTES: Final = str.maketrans(
    {"\u2019": "'", "\u2018": "'", "\xb4": "'", "\u201c": '"', "\u201d": '"', "`": " ", "*": " ", "_": " "}
)
_TAG: Final = re.compile(
    r"</?(?:b|i|u|em|strong|p|br|span|div|code|h[1-6]|ul|ol|li|font|mark)\b[^<>]{0,100}>", re.IGNORECASE
)
_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_JOINED: Final = re.compile(r"(?<=\w)[-\u2010\u2011](?=\w)")


def _visible(text: str) -> str:
    """Return `text` in its compatibility form, without characters that nobody sees."""
    normal = unicodedata.normalize("NFKC", text)
    return "".join(char for char in normal if unicodedata.category(char) != "Cf" or char == "\ufe0f")


def plain(text: str) -> str:
    """Return `text` in lower case, without markup, with one blank between words."""
    shown = _TAG.sub(" ", _visible(text)).translate(_QUOTES)
    return " ".join(_JOINED.sub(" ", _CAMEL.sub(" ", shown)).casefold().split())


def sentences(text: str) -> list[str]:
    """Return the sentences and lines of a text, simplified, without empty ones."""
    parts = map(plain, re.split(r"(?<=[.!?;])\s|\n", text))
    return [part for part in parts if part.strip(" .!?;:-")]


def is_long(simple: str) -> bool:
    """Return whether a simplified answer has so many words that most of them must be its result."""
    return len(simple.split(maxsplit=_MAX_STATUS_WORDS)) > _MAX_STATUS_WORDS


def status_region(text: str) -> str:
    """Return the part of an answer that speaks of the step itself, simplified: all of it, or its beginning and end."""
    simple = plain(text)
    parts = sentences(text) if is_long(simple) else []
    return " ".join(dict.fromkeys((*parts[:2], *parts[-2:]))) or simple


# --- languages --------------------------------------------------------------------------------------------------------

_SEGMENT: Final = re.compile(r"[.,;:|/\n!()\[\]{}\"=]+")
_WORD: Final = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")


def is_foreign(text: str) -> bool:
    """Return whether `text` is prose of another language, or in letters in which no word is known."""
    shown = _visible(text).translate(_QUOTES)
    if _has_other_letters(shown):
        return True
    found = _WORD.findall(shown)
    lower = [word.casefold() for word in found]
    foreign, english = len(words.FOREIGN.intersection(lower)), len(words.ENGLISH.intersection(lower))
    return foreign > english or any(map(_is_unknown_prose, _SEGMENT.split(shown)))


def _has_other_letters(text: str) -> bool:
    """Return whether most letters of `text` are not Latin, or a word mixes Latin letters with others."""
    letters = [char for char in text if char.isalpha()]
    other = [char for char in letters if not _is_latin(char)]
    return bool(other) and (2 * len(other) > len(letters) or any(map(_is_mixed, _WORD.findall(text))))


def _is_mixed(word: str) -> bool:
    return len({_is_latin(char) for char in word if char.isalpha()}) > 1


def _is_latin(char: str) -> bool:
    return char.isascii() or unicodedata.name(char, "").startswith("LATIN")


def _is_unknown_prose(segment: str) -> bool:
    """Return whether a part of a sentence has several plain words and no common English one."""
    found = _WORD.findall(segment)
    prose = [word for word in found if word.islower()]
    return len(prose) >= _MIN_PROSE and not words.ENGLISH.intersection(word.casefold() for word in found)
