"""Patterns learned from a model's answers: an instruction and its packet with slots for the values (AACP 6.3).

    Fetch absence records of E-17       FETCH|HR|…|res:absence|filter:emp=E-17
    fetch absence records of {E-9}      FETCH|HR|…|res:absence|filter:emp={1}

One answer makes a pattern only where every value of the text (a period, a date, an amount with its currency, a number
with or without letters, a user) stands in the packet exactly as it is written in the text or in its canonical form,
and the packet has no other number and no name of a month. All other words, a "not" and an "if" as well, must be the
same in the next instruction, and so must the letters of an identifier, the currency and the number of values.

A reader takes only what looks like a value and like nothing else: a date without a year, "last month", "4.200,00" and
"¥" have no value here, a plain word is no account, and a number without a currency is no amount.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from accp_core.aacp.instruction import Instruction, digest, spellings
from accp_core.aacp.packet import PRIORITY, RETURN, VERSION_KEY, Packet
from accp_core.error_codes import ErrorCode
from accp_core.errors import EncodeError

__all__ = [
    "MAX_TOKENS", "Money", "SentenceShape", "fill_template", "is_user", "make_template", "read_money",
    "read_period", "read_sentence", "read_shape",
]  # fmt: skip

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


_NAMES: Final = "january february march april may june july august september october november december"
MONTHS: Final = {name: number for number, full in enumerate(_NAMES.split(), 1) for name in (full, full[:3])} | {
    "sept": 9
}
"""Name of a month, in lower case, to its number."""
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


_NUMBERED: Final = re.compile(r"[A-Za-z]{0,8}(?:[-/_]?\d{1,15})+")
"""A number, or letters and numbers: "17", "E-17", "INV-2024-03"."""
_SLOT: Final = re.compile(r"\{(\d{1,3})\}")
_STAMPED: Final = frozenset({RETURN, PRIORITY, VERSION_KEY})
"""Fields that every packet gets from its caller."""


@dataclass(frozen=True, slots=True)
class SentenceShape:
    """An instruction without its values."""

    key: str
    """Identifies all instructions of this domain and this shape; empty where there are no values."""
    values: tuple[str, ...] = ()
    """The values, in the order of the text, as a packet has them."""


@dataclass(frozen=True, slots=True)
class _Found:
    """A value in a text."""

    end: int
    """The token after it."""
    kind: str
    """What must be the same in another instruction of the shape."""
    value: str
    """The value as a packet has it."""


def read_shape(instruction: Instruction) -> SentenceShape:
    """Return the shape of an instruction; politeness and articles are no part of it."""
    sentence = read_sentence(" ".join(spellings(instruction.wording)))
    if sentence is None:
        return SentenceShape("")
    words: list[str] = []
    values: list[str] = []
    at = 0
    while at < len(sentence.tokens):
        if found := _find_value(sentence, at):
            words.append(f"{{{found.kind}}}")
            values.append(found.value)
            at = found.end
        else:
            words.append(sentence.tokens[at].source)
            at += 1
    return SentenceShape(digest("shape", instruction.domain, *words), tuple(values)) if values else SentenceShape("")


def _find_value(sentence: Sentence, at: int) -> _Found | None:
    """Return the value at the token `at`, None where there is none."""
    if date := read_date(sentence, at):
        return _Found(date[0], "date", date[1])
    if period := read_period(sentence, at):
        return _Found(period[0], "period", period[1])
    if money := read_money(sentence, at):
        return _Found(money[0], f"money {money[1].currency}", money[1].amount)
    source = sentence.tokens[at].source
    if _NUMBERED.fullmatch(source):
        return _Found(at + 1, re.sub(r"\d+", "9", source), source)
    return _Found(at + 1, "user", source) if "." in source and is_user(source) else None


def make_template(instruction: Instruction, shape: SentenceShape, packet: Packet) -> Packet | None:
    """Return `packet` with slots "{1}", "{2}" for the values of the text; None where that is not safe."""
    own = {key: value for key, value in packet.fields.items() if key not in _STAMPED}
    if len(set(shape.values)) < len(shape.values) or any(set("{}") & set(value) for value in own.values()):
        return None
    fields = dict(own)
    for number, value in sorted(enumerate(shape.values, 1), key=lambda row: -len(row[1])):
        bounded = re.compile(rf"(?<![\w.{{-]){re.escape(value)}(?![\w}}-]|\.\w)")
        replaced = {key: bounded.sub(f"{{{number}}}", text) for key, text in fields.items()}
        if replaced == fields:
            return None
        fields = replaced
    literals = [_SLOT.sub(" ", text) for text in fields.values()]
    if any(_may_vary(literal, instruction) for literal in literals):
        return None
    return Packet(task=packet.task, domain=packet.domain, fields={**packet.fields, **fields})


def _may_vary(literal: str, instruction: Instruction) -> bool:
    """Return whether text of a packet may come from a value: a number that the text does not have, or a month."""
    words = {word.strip(".,;:!?") for word in instruction.english.split()}
    numbers = re.findall(r"[\w.-]*\d[\w.-]*", literal)
    return any(number not in words for number in numbers) or not MONTHS.keys().isdisjoint(_letters(literal))


def _letters(text: str) -> Iterator[str]:
    yield from re.findall("[a-z]+", text.lower())


def fill_template(template: Packet, values: tuple[str, ...]) -> Packet:
    """Return the packet of a template for other values of the same shape.

    Raises:
        EncodeError: E1004, the template has a slot that the shape has not.
    """

    def fill(slot: re.Match[str]) -> str:
        number = int(slot[1])
        if not 0 < number <= len(values):
            reason = f"expected slots for {len(values)} values, found {slot[0]!r}"
            raise EncodeError(reason, code=ErrorCode.INVALID_TYPE)
        return values[number - 1]

    fields = {key: text if key in _STAMPED else _SLOT.sub(fill, text) for key, text in template.fields.items()}
    return Packet(task=template.task, domain=template.domain, fields=fields)
