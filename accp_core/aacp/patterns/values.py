"""Periods, dates and amounts of money as people write them (AACP section 4.2: "expressed as YYYY-MM or similar").

Nothing is guessed: a date without a year, "last month", "4.200,00" and "¥" have no value here.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from accp_core.aacp.patterns.tokens import Sentence

__all__ = ["MONTHS", "Money", "read_date", "read_money", "read_month_end", "read_period"]

_NAMES: Final = "january february march april may june july august september october november december"
MONTHS: Final = {name: number for number, full in enumerate(_NAMES.split(), 1) for name in (full, full[:3])} | {
    "sept": 9
}
"""Name of a month, in lower case, to its number."""
_LENGTHS: Final = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)

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


class Money(NamedTuple):
    """An amount and its currency."""

    amount: str
    """The digits, without separators of thousands."""
    currency: str
    """The code of ISO 4217."""


def word_at(sentence: Sentence, at: int) -> str:
    """Return the word of a token, "" after the end."""
    return sentence.tokens[at].word if at < len(sentence.tokens) else ""


def read_period(sentence: Sentence, at: int) -> tuple[int, str] | None:
    """Return the end and the value of a month or a quarter, such as "August 2024" or "2024-08"."""
    word = word_at(sentence, at)
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
    after = at + 2 if word_at(sentence, at + 1) in (",", ".") else at + 1
    if not _YEAR.fullmatch(year := word_at(sentence, after)):
        return None
    return after + 1, f"{year}-Q{match[2]}" if match else f"{year}-{MONTHS[word]:02}"


def read_date(sentence: Sentence, at: int) -> tuple[int, str] | None:
    """Return the end and the value of a day, such as "31 August 2024", "August 31, 2024" or "2024-08-31"."""
    word = word_at(sentence, at)
    if match := _DATE.fullmatch(word):
        return _checked(at + 1, match[1], int(match[2]), int(match[3]))
    if (day := _DAY.fullmatch(word)) and (month := MONTHS.get(word_at(sentence, at + 1))):
        end = at + 2
    elif (month := MONTHS.get(word)) and (day := _DAY.fullmatch(word_at(sentence, at + 1))):
        end = at + 3 if word_at(sentence, at + 2) == "," else at + 2
    else:
        return None
    year = word_at(sentence, end)
    return _checked(end + 1, year, month, int(day[1])) if _YEAR.fullmatch(year) else None


def _checked(end: int, year: str, month: int, day: int) -> tuple[int, str] | None:
    return (end, f"{year}-{month:02}-{day:02}") if day <= _length(int(year), month) else None


def _length(year: int, month: int) -> int:
    """Return the number of days of a month."""
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return 29 if month == 2 and leap else _LENGTHS[month - 1]


def read_month_end(sentence: Sentence, at: int) -> tuple[int, str] | None:
    """Return the end and the month of the last day of a month."""
    if (found := read_date(sentence, at)) is None:
        return None
    end, date = found
    return (end, date[:7]) if int(date[8:]) == _length(int(date[:4]), int(date[5:7])) else None


def read_money(sentence: Sentence, at: int) -> tuple[int, Money] | None:
    """Return the end and the value of an amount with its currency, such as "£4,200" or "GBP 4200.50"."""
    found = _read_signed(sentence, at)
    # "(500)" is a negative amount in a ledger
    if found and at and word_at(sentence, at - 1) == "(" and word_at(sentence, found[0]) == ")":
        return None
    return found


def _read_signed(sentence: Sentence, at: int) -> tuple[int, Money] | None:
    word, after = word_at(sentence, at), word_at(sentence, at + 1)
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
        return at + 2 + (word_at(sentence, at + 2) == "sterling" and currency == "GBP"), Money(_plain(word), currency)
    return None


def _plain(number: str) -> str:
    return number.replace(",", "")
