"""The values that a model wrote and had to have read before: how a replay measures what stayed readable.

A value counts as needed when a model output holds it, it stands in a tool result or another agent's message
of that call's prompt, and nowhere else in the prompt that the model could have it from.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Final

from accp_adapters.replay.recorded_run import Message

__all__ = ["Value", "numbers_of", "readings_of", "stands", "values_of"]

Value = str | Decimal
"""Text that must stand as it is, or a number in any of its spellings: `1,234.50` is `1234.5`."""

_TEXT_LENGTHS: Final = range(4, 2001)
_DIGITS: Final = 3
_MONTHS: Final = "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec"
# Tried in this order at each place, so that the digits of a URL or a date are no numbers of their own. What could
# run on is bounded, so that no text takes quadratic time.
_IN_TEXT: Final = re.compile(
    "|".join(
        (
            r"(?P<url>https?://[^\s<>\"'`\])}]+)",
            r"(?P<email>[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+)",
            r"(?P<date>\b(?:\d{4}[-/]\d\d?[-/]\d\d?|\d\d?[/.]\d\d?[/.]\d{4})(?!\w)"
            rf"|\b(?:{_MONTHS})[a-z]*\.? \d\d?(?:, \d{{4}})?(?!\w))",
            r"(?P<time>\b\d\d?:\d\d(?::\d\d)?(?!\w))",
            # A path from a root, a relative one with a file name at its end, a file name.
            r"(?P<path>(?<![\w/])(?:~|\.{1,2})?(?:/[\w.-]*\w)+/?"
            r"|\b[\w.-]{1,99}(?:/[\w.-]{1,99}){0,19}\.[A-Za-z]\w{0,4}\b)",
            r"(?P<number>(?<![\w.])\d[\d,]*(?:\.\d+)?(?!\w))",
            # Not the letter of an escape: "\u2019s" holds no name.
            r"(?P<name>(?<!\\)\b\w+(?:-\w+)*\b)",
        )
    )
)
_NUMBER: Final = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?!\w)")
_IDENTIFIER: Final = re.compile(r"(?=.*[^\W\d_])(?=.*\d)...|[^\W\d_]\w*_\w|[^\W\d_]*[a-z][A-Z]")
_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.DOTALL)
_ESCAPED: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_LEVELS: Final = 4


def values_of(messages: Sequence[Message]) -> frozenset[Value]:
    """Return the values that model outputs hold: leaves of JSON arguments, names and numbers of a text."""
    found: set[Value] = set()
    for message in messages:
        found.update(_in_text(message.text) if message.value is None else _leaves(message.value))
    return frozenset(found)


def stands(value: Value, text: str) -> bool:
    """Whether `value` stands in `text` as whole words, raw or with its escapes undone."""
    if isinstance(value, Decimal):
        return value in numbers_of(text)
    return any(_has_words(reading, value) for reading in readings_of(text))


@functools.lru_cache(maxsize=4096)
def readings_of(text: str) -> tuple[str, ...]:
    """Return `text`, and `text` with one, two, … levels of backslash escapes undone, as far as it has any."""
    readings = [text]
    while len(readings) < _LEVELS and "\\" in readings[-1]:
        readings.append(_ESCAPE.sub(_unescape, readings[-1]))
    return tuple(readings)


@functools.lru_cache(maxsize=4096)
def numbers_of(text: str) -> frozenset[Decimal]:
    """Return the numbers that stand in `text`, in any of its readings."""
    return frozenset(_decimal(n) for reading in readings_of(text) for n in _NUMBER.findall(reading))


def _leaves(value: object) -> Iterator[Value]:
    match value:
        case Mapping():
            for item in value.values():
                yield from _leaves(item)
        case list():
            for item in value:
                yield from _leaves(item)
        case str():
            yield from _text_leaf(value)
        case bool() | None:
            return
        case int() | float():
            yield from _number(str(abs(value)))


def _text_leaf(text: str) -> Iterator[Value]:
    if _NUMBER.fullmatch(text):
        yield from _number(text)
    elif len(text) in _TEXT_LENGTHS:
        yield text


def _in_text(text: str) -> Iterator[Value]:
    for match in _IN_TEXT.finditer(text):
        found = match.group()
        if match.lastgroup == "number":
            yield from _number(found)
        elif match.lastgroup == "url":
            yield found.rstrip(".,;:!?*")
        elif match.lastgroup != "name" or _IDENTIFIER.match(found):
            yield found


def _number(text: str) -> Iterator[Value]:
    if sum(map(str.isdigit, text)) >= _DIGITS:
        yield _decimal(text)


def _decimal(text: str) -> Decimal:
    return Decimal(text.replace(",", "")).normalize()


def _unescape(escape: re.Match[str]) -> str:
    four, two, one = escape.groups()
    return chr(int(four or two, 16)) if four or two else _ESCAPED.get(one, one)


def _has_words(text: str, value: str) -> bool:
    start = text.find(value)
    while start >= 0:
        end = start + len(value)
        if not (_joined(text, start) or _joined(text, end)):
            return True
        start = text.find(value, start + 1)
    return False


def _joined(text: str, position: int) -> bool:
    """Whether the characters on both sides of `position` are of one word."""
    return 0 < position < len(text) and _is_word(text[position - 1]) and _is_word(text[position])


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"
