"""The values that are the same in every workflow, as people write them: periods, dates, money, accounts, companies.

A reader finds where a value ends and what it is. It takes only what looks like such a value and like nothing else: a
date without a year, "last month", "4.200,00" and "¥" have no value here, a plain word is no account, a number without a
currency no amount. What no reader takes stays uncovered, so that the model is asked.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple, TypeAlias

from accp_core.aacp.patterns.english import ENGLISH_GRAMMAR, NO_NAMES
from accp_core.aacp.patterns.tokens import Sentence

__all__ = [
    "MONTHS",
    "READERS",
    "Found",
    "FoundValue",
    "Money",
    "Reader",
    "is_user",
    "read_date",
    "read_money",
    "read_period",
]

FoundValue: TypeAlias = "str | tuple[str, ...]"
Found: TypeAlias = "tuple[int, FoundValue] | None"
"""The token after a value, and the value."""
Reader: TypeAlias = "Callable[[Sentence, int], Found]"

_NAMES: Final = "january february march april may june july august september october november december"
MONTHS: Final = {name: number for number, full in enumerate(_NAMES.split(), 1) for name in (full, full[:3])} | {
    "sept": 9
}
"""Name of a month, in lower case, to its number."""
MAX_NAME_WORDS: Final = 6
"""Words of a name."""

_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_YEAR_MONTH: Final = re.compile(r"((?:19|20)\d\d)[-/](0[1-9]|1[0-2])")
_MONTH_YEAR: Final = re.compile(r"(0?[1-9]|1[0-2])/((?:19|20)\d\d)")
_QUARTER: Final = re.compile(r"(?:((?:19|20)\d\d)-)?q([1-4])")
_DAY: Final = re.compile(r"(0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?")
_DATE: Final = re.compile(r"((?:19|20)\d\d)-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])")
_NUMBER: Final = r"(\d{1,3}(?:,\d{3})+(?:\.\d\d)?|\d{1,15}(?:\.\d{1,2})?)"
_AMOUNT: Final = re.compile(_NUMBER)
_SIGNS: Final = {"£": "GBP", "€": "EUR", "$": "USD", "us$": "USD"}
_SIGNED: Final = re.compile(rf"(us\$|[£€$]){_NUMBER}")
_CURRENCIES: Final = "gbp eur usd chf jpy cad aud nzd sek nok dkk pln inr cny sgd hkd zar"
_CODES: Final = frozenset(_CURRENCIES.split())
_CODED: Final = re.compile(rf"(?:({'|'.join(sorted(_CODES))}){_NUMBER}|{_NUMBER}({'|'.join(sorted(_CODES))}))")
_UNITS: Final = {"pounds": "GBP", "euros": "EUR", "euro": "EUR", "dollars": "USD"}
_USER: Final = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[._-][A-Za-z0-9]+)+|[a-z]+\d+[a-z]*|[A-Z][A-Z][a-z]+")
_FILE_ENDS: Final = ("com", "org", "net", "pdf", "csv", "xlsx", "txt", "json", "doc", "docx", "e.g", "i.e")
_LOGIN: Final = re.compile(r"[A-Za-z][A-Za-z0-9._-]+")
_CODE: Final = re.compile(r"[A-Z][A-Z0-9]+(?:[-_][A-Za-z0-9]+)*")
_REFERENCE: Final = re.compile(r"[A-Za-z]{0,8}[-/_]?\d[A-Za-z0-9]*(?:[-/_][A-Za-z0-9]+)*")
_IDENTIFIER: Final = re.compile(r"[a-z]+(?:_[a-z0-9]+)+")
_COMPANY: Final = re.compile(r"[A-Z0-9]*[A-Z][A-Za-z\u00c0-\u024f'.-]*|&")
_LEGAL_FORMS: Final = frozenset({"ltd", "inc", "co", "corp"})


class Money(NamedTuple):
    """An amount and its currency."""

    amount: str
    """The digits, without separators of thousands."""
    currency: str
    """The code of ISO 4217."""


def read_period(sentence: Sentence, at: int) -> tuple[int, str] | None:
    """Return the end and the value of a month or a quarter, such as "August 2024" or "2024-08"."""
    word = sentence.word(at)
    if match := _YEAR_MONTH.fullmatch(word):
        return at + 1, f"{match[1]}-{match[2]}"
    if match := _MONTH_YEAR.fullmatch(word):
        return at + 1, f"{match[2]}-{int(match[1]):02}"
    match = _QUARTER.fullmatch(word)
    if match and match[1]:
        return at + 1, f"{match[1]}-Q{match[2]}"
    if match is None and word not in MONTHS:
        return None
    # "August, 2024" and "Aug. 2024"
    after = at + 2 if sentence.word(at + 1) in (",", ".") else at + 1
    if not _YEAR.fullmatch(year := sentence.word(after)):
        return None
    return after + 1, f"{year}-Q{match[2]}" if match else f"{year}-{MONTHS[word]:02}"


def read_month(sentence: Sentence, at: int) -> tuple[int, str] | None:
    """Return the end and the value of a month."""
    found = read_period(sentence, at)
    return found if found and "Q" not in found[1] else None


def read_date(sentence: Sentence, at: int) -> tuple[int, str] | None:
    """Return the end and the value of a day, such as "31 August 2024", "August 31, 2024" or "2024-08-31"."""
    word = sentence.word(at)
    if match := _DATE.fullmatch(word):
        return _checked(at + 1, match[1], int(match[2]), int(match[3]))
    if (day := _DAY.fullmatch(word)) and (month := MONTHS.get(sentence.word(at + 1))):
        end = at + 2
    elif (month := MONTHS.get(word)) and (day := _DAY.fullmatch(sentence.word(at + 1))):
        end = at + 3 if sentence.word(at + 2) == "," else at + 2
    else:
        return None
    year = sentence.word(end)
    return _checked(end + 1, year, month, int(day[1])) if _YEAR.fullmatch(year) else None


def _checked(end: int, year: str, month: int, day: int) -> tuple[int, str] | None:
    return (end, f"{year}-{month:02}-{day:02}") if day <= calendar.monthrange(int(year), month)[1] else None


def read_month_end(sentence: Sentence, at: int) -> tuple[int, str] | None:
    """Return the end and the month of the last day of a month."""
    if (found := read_date(sentence, at)) is None:
        return None
    end, date = found
    return (end, date[:7]) if int(date[8:]) == calendar.monthrange(int(date[:4]), int(date[5:7]))[1] else None


def read_money(sentence: Sentence, at: int) -> tuple[int, Money] | None:
    """Return the end and the value of an amount with its currency, such as "£4,200" or "GBP 4200.50"."""
    found = _read_signed(sentence, at)
    # "(500)" is a negative amount in a ledger
    if found and at and sentence.word(at - 1) == "(" and sentence.word(found[0]) == ")":
        return None
    return found


def _read_signed(sentence: Sentence, at: int) -> tuple[int, Money] | None:
    word, after = sentence.word(at), sentence.word(at + 1)
    if match := _SIGNED.fullmatch(word):
        # "£4,200 GBP"; "$500 CAD" are no US dollars
        same = after.upper() == _SIGNS[match[1]]
        return None if after in _CODES and not same else (at + 1 + same, Money(_plain(match[2]), _SIGNS[match[1]]))
    if match := _CODED.fullmatch(word):
        return at + 1, Money(_plain(match[2] or match[3]), (match[1] or match[4]).upper())
    currency = word.upper() if word in _CODES else _SIGNS.get(word, "")
    if currency and _AMOUNT.fullmatch(after):
        return at + 2, Money(_plain(after), currency)
    currency = after.upper() if after in _CODES else _UNITS.get(after, "")
    if currency and _AMOUNT.fullmatch(word):
        return at + 2 + (sentence.word(at + 2) == "sterling" and currency == "GBP"), Money(_plain(word), currency)
    return None


def _plain(number: str) -> str:
    return number.replace(",", "")


def is_user(word: str) -> bool:
    """Return whether a word looks like the name of an account and not like a plain word or a file."""
    return bool(_USER.fullmatch(word)) and not word.lower().endswith(_FILE_ENDS)


def read_quoted(sentence: Sentence, at: int) -> tuple[int, str] | None:
    """Return the end and the text of words in quotation marks at the token `at`."""
    tokens = sentence.tokens
    if (mark := sentence.word(at)) not in ("'", '"'):
        return None
    for end in range(at + 1, min(len(tokens), at + 2 + MAX_NAME_WORDS)):
        if tokens[end].source == mark:
            return (end + 1, sentence.between(at + 1, end)) if end > at + 1 else None
    return None


def _read_label(sentence: Sentence, at: int) -> Found:
    """Return words in quotation marks, with "_" for blanks."""
    quoted = read_quoted(sentence, at)
    return quoted and (quoted[0], quoted[1].replace(" ", "_"))


def _read_account(sentence: Sentence, at: int) -> Found:
    if quoted := read_quoted(sentence, at):
        return None if " " in quoted[1] or "@" in quoted[1] else quoted
    return (at + 1, sentence.source(at)) if is_user(sentence.source(at)) else None


def _read_login(sentence: Sentence, at: int) -> Found:
    """Return a name after a word such as "username", which may look like any other word."""
    source = sentence.source(at)
    return (at + 1, source) if _LOGIN.fullmatch(source) and source.lower() not in ENGLISH_GRAMMAR else None


def _read_reference(sentence: Sentence, at: int) -> Found:
    return None if read_period(sentence, at) or read_date(sentence, at) else _read_reference_word(sentence, at)


def read_name(sentence: Sentence, at: int) -> tuple[int, str] | None:
    """Return the end and the name of a company: words with a capital in a text that has others, or quoted words."""
    if quoted := read_quoted(sentence, at):
        return quoted
    # "REVIEW THE NDA WITH ACME NOW" and "Review The NDA" have no plain words, so that capitals say nothing
    if not any(word.isalpha() and word.islower() for word in sentence.text.split()):
        return None
    end = at
    while _is_part(sentence, at, end):
        end += 1
    if end == at or end - at > MAX_NAME_WORDS or sentence.word(end - 1) == "&":
        return None
    # the full stop of "Ltd.", unless it ends the text
    is_dot = end + 1 < len(sentence.tokens) and sentence.word(end) == "."
    return end + (is_dot and sentence.word(end - 1) in _LEGAL_FORMS), sentence.between(at, end)


def _is_part(sentence: Sentence, start: int, at: int) -> bool:
    source = sentence.source(at)
    is_company = source.lower() not in NO_NAMES and source.lower() not in MONTHS and _COMPANY.fullmatch(source)
    return bool(is_company) and (source != "&" or at > start)


def word_reader(pattern: re.Pattern[str], value: str = r"\g<0>") -> Reader:
    """Return a reader of one word of a form; `value` is what it stands for, as `re.Match.expand` takes it."""

    def read(sentence: Sentence, at: int) -> Found:
        match = pattern.fullmatch(sentence.source(at))
        return (at + 1, match.expand(value)) if match else None

    return read


_read_reference_word: Final = word_reader(_REFERENCE)
READERS: Final[Mapping[str, Reader]] = MappingProxyType(
    {
        "period": read_period,
        "month": read_month,
        "month_end": read_month_end,
        "date": read_date,
        "money": read_money,
        "account": _read_account,
        "login": _read_login,
        "code": word_reader(_CODE),
        "reference": _read_reference,
        "identifier": word_reader(_IDENTIFIER),
        "company": read_name,
        "label": _read_label,
    }
)
"""The kinds of values that every table may use."""
