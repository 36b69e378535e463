"""The values in a text, and whether another text holds one.

Two detectors say what counts as a value. `values_in` knows what a program would copy: identifiers, URLs, dates, long
numbers. `mentions_in` finds what a person would look up besides: names, titles in quotes, short numbers.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Final

__all__ = [
    "IDENTIFIER",
    "MONTH_NAMES",
    "VALUES",
    "WantedValue",
    "contains",
    "forget_texts",
    "has_words",
    "mentions_in",
    "number_in",
    "text_leaf",
    "unescaped_forms",
    "values_in",
]

WantedValue = str | Decimal
"""Text that must be found as it is, or a number in any spelling: `1,234.50` is `1234.5`."""

_TEXT_LENGTHS: Final = range(4, 2001)
"""Characters of a text that counts as a value."""
_MIN_DIGITS: Final = 3
"""A number with fewer digits is found everywhere and shows nothing."""
MONTH_NAMES: Final = "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec"
# The alternatives are tried in this order, so that the digits of a URL or a date are not numbers of their own.
# Repetitions are bounded, so that no text takes quadratic time.
VALUES: Final = re.compile(
    "|".join(
        (
            # Words that are none of the following, many at once: that takes most of the time.
            rf"(?P<plain>(?:(?<!\\)\b(?!{MONTH_NAMES})[A-Za-z][a-z]*+(?=[ ,;])[ ,;]++)++)",
            r"(?P<url>https?://[^\s<>\"'`\])}]+)",
            r"(?P<email>[\w.+-]{1,64}+@[\w-]+(?:\.[\w-]+)+)",
            r"(?P<date>\b(?:\d{4}[-/]\d\d?[-/]\d\d?|\d\d?[/.]\d\d?[/.]\d{4})(?!\w)"
            rf"|\b(?:{MONTH_NAMES})[a-z]*\.? \d\d?(?:, \d{{4}})?(?!\w))",
            r"(?P<time>\b\d\d?:\d\d(?::\d\d)?(?!\w))",
            # A path from a root, a relative one with a file name at its end, a file name.
            r"(?P<path>(?<![\w/])(?:~|\.{1,2})?(?:/[\w.-]*\w)+/?"
            r"|\b(?=[\w-]{0,99}+[./])[\w.-]{1,99}(?:/[\w.-]{1,99}){0,19}\.[A-Za-z]\w{0,4}\b)",
            r"(?P<number>(?<![\w.])\d[\d,]*(?:\.\d+)?(?!\w))",
            # Not the letter of an escape: "\u2019s" holds no name.
            r"(?P<name>(?<!\\)\b\w+(?:-\w+)*\b)",
        )
    )
)
_NUMBER: Final = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?!\w)")
IDENTIFIER: Final = re.compile(r"(?=.*[^\W\d_])(?=.*\d)...|[^\W\d_]\w*_\w|[^\W\d_]*[a-z][A-Z]")
# A run of capitalised words that does not begin a sentence, a line or a list item: "Mount Rainier", "Bank of England".
_CAPITALISED: Final = r"[A-Z][\w'\u2019-]*"
_PROPER_NAME: Final = re.compile(
    r"(?!\A)(?<![.!?:\"'*] )(?<![\w.#*\n-])"
    + _CAPITALISED
    + rf"(?:(?: (?:of|de|la|the|and|for|von|van|der))? {_CAPITALISED}){{0,5}}"
)
_QUOTED: Final = re.compile(r"`([^`\n]{3,80})`|\*\*([^*\n]{3,80})\*\*|\"([^\"\n]{3,80})\"|“([^”\n]{3,80})”")
_MIN_NAME_CHARS: Final = 4
_MIN_DIGITS_MENTIONED: Final = 2
_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.DOTALL)
_ESCAPED: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_MAX_FORMS: Final = 4
"""A text as it is and with up to three levels of escapes removed."""


def contains(value: WantedValue, text: str) -> bool:
    """Return whether `text`, as it is or with its escapes removed, contains `value` as whole words."""
    if isinstance(value, Decimal):
        return value in numbers_in(text)
    # Most texts do not hold most values: that is found out without a call for each.
    return any(has_words(form, value) for form in unescaped_forms(text) if value in form)


@functools.lru_cache(maxsize=4096)
def unescaped_forms(text: str) -> tuple[str, ...]:
    """Return `text` as it is and with one to three levels of backslash escapes removed, as far as it has any."""
    forms = [text]
    while len(forms) < _MAX_FORMS and "\\" in forms[-1]:
        forms.append(_ESCAPE.sub(_unescape, forms[-1]))
    return tuple(forms)


@functools.lru_cache(maxsize=4096)
def numbers_in(text: str) -> frozenset[Decimal]:
    """Return the numbers in `text`, as it is and with its escapes removed."""
    return frozenset(_decimal(number) for form in unescaped_forms(text) for number in _NUMBER.findall(form))


def forget_texts() -> None:
    """Give up what is remembered of texts that were searched."""
    unescaped_forms.cache_clear()
    numbers_in.cache_clear()
    values_in.cache_clear()


def mentions_in(text: str) -> Iterator[WantedValue]:
    """Yield the names, the quotations and the numbers of two digits and more of a text."""
    for number in _NUMBER.findall(text):
        yield from number_in(number, _MIN_DIGITS_MENTIONED)
    for name in _PROPER_NAME.findall(text):
        if len(name) >= _MIN_NAME_CHARS:
            yield name.rstrip("'\u2019-")
    for quoted in _QUOTED.findall(text):
        yield "".join(quoted).strip(" .,:;")


def text_leaf(text: str) -> Iterator[WantedValue]:
    """Yield the value that a whole text is, such as a string argument."""
    if _NUMBER.fullmatch(text):
        yield from number_in(text)
    elif len(text) in _TEXT_LENGTHS:
        yield text


@functools.lru_cache(maxsize=4096)
def values_in(text: str) -> frozenset[WantedValue]:
    """Return the identifiers, addresses, dates and long numbers of a text."""
    return frozenset(_in_text(text))


def _in_text(text: str) -> Iterator[WantedValue]:
    for match in VALUES.finditer(text):
        word = match.group()
        if match.lastgroup == "plain":
            continue
        if match.lastgroup == "number":
            yield from number_in(word)
        elif match.lastgroup == "url":
            yield word.rstrip(".,;:!?*")
        elif match.lastgroup != "name" or IDENTIFIER.match(word):
            yield word


def number_in(text: str, min_digits: int = _MIN_DIGITS) -> Iterator[WantedValue]:
    """Yield the number that a text is, if it has `min_digits` digits."""
    if sum(map(str.isdigit, text)) >= min_digits:
        yield _decimal(text)


def _decimal(text: str) -> Decimal:
    return Decimal(text.replace(",", "")).normalize()


def _unescape(escape: re.Match[str]) -> str:
    four, two, one = escape.groups()
    return chr(int(four or two, 16)) if four or two else _ESCAPED.get(one, one)


def has_words(text: str, value: str) -> bool:
    """Return whether `text` contains `value` as whole words."""
    start = text.find(value)
    while start >= 0:
        end = start + len(value)
        if not (_joined(text, start) or _joined(text, end)):
            return True
        start = text.find(value, start + 1)
    return False


def _joined(text: str, position: int) -> bool:
    """Return whether the characters on both sides of `position` belong to one word."""
    return 0 < position < len(text) and _is_word(text[position - 1]) and _is_word(text[position])


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"
