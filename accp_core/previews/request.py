"""What a request asks, read by a few general words: what is named, bounds, dates, what is missing, an order.

Nothing here knows a table; `conditions` says which of its columns and rows are meant.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import Final

from accp_core.tables.values import CLOCK, DATE, MONTH, TIME_TEXT, month_number, read_date

__all__ = [
    "COMMON",
    "TIME_START",
    "Bound",
    "DatePart",
    "Order",
    "Request",
    "date_parts_of",
    "find_words",
    "has_error",
    "requested_words",
    "shape_of",
    "words_of_name",
    "worth_of",
]


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


# The dates that a request names: since 2026-02-17, on Aug 5, 2024, the 19th; cells are read by `tables.values`.

TIME_START: Final = re.compile(rf"\W{{0,2}}({TIME_TEXT})(?!\w)", re.IGNORECASE)
"""A line that begins with a time, which is its first group."""
_REQUESTED: Final = re.compile(
    rf"(?<![\w./-])(?:(?:the )?(?:{DATE})|(?P<m7>{MONTH})(?: (?P<y7>\d{{4}}))?|the (?P<d8>\d\d?)(?:st|nd|rd|th)"
    rf"|(?P<y9>20\d\d))(?:(?:[T:,]| at)? *{CLOCK})?(?![\w/-])",
    re.IGNORECASE,
)
_DATE_SIGN: Final = re.compile(
    r"(?:(?P<from>since|from|starting)|(?P<over>after|later than)|(?P<to>until|till|up to|by)|"
    r"(?P<under>before|earlier than))(?: the| on)?\s+$",
    re.IGNORECASE,
)
_DATE_SIGNS: Final = {"from": "≥", "over": ">", "to": "≤", "under": "<"}
_INTRODUCED: Final = re.compile(r"\b(?:in|since|from|of|during|before|after|until|till|by|late|early|mid)\s+$")
_NO_YEAR: Final = "0000"


@dataclass(frozen=True, slots=True)
class DatePart:
    """A date, a month, a year or a day of a month that a request names."""

    sign: str
    """One of < > ≤ ≥; empty: the time itself is asked for."""
    year: str
    """Four digits; empty: no year is named."""
    month: str
    """Two digits; empty: no month is named."""
    day: str
    """Two digits; empty: no day is named."""
    clock: str
    """The time of day; empty: none is named."""

    def prefix(self, keys: Sequence[str]) -> str | None:
        """Return how the keys of its times begin; None: what it does not name differs among `keys`."""
        year = self.year or _only({key[:4] for key in keys})
        month = self.month or (_only({key[5:7] for key in keys}) if self.day else "")
        date = "-".join(filter(None, (year, month, self.day)))
        return f"{date}T{self.clock}".rstrip("T") if year and (month or not self.day) else None

    @property
    def text(self) -> str:
        """What it names, with `?` for the rest."""
        return "-".join((self.year or "?", self.month or "?", self.day or "?"))

    def has(self, key: str) -> bool:
        """Return whether a time is in it."""
        parts = ((self.year, key[:4]), (self.month, key[5:7]), (self.day, key[8:10]), (self.clock, key[11:16]))
        return len(key) >= len("0000-00") and all(not asked or asked == own for asked, own in parts)


def _only(parts: set[str]) -> str:
    return parts.pop() if len(parts) == 1 else ""


def date_parts_of(request: str) -> tuple[tuple[DatePart, ...], str]:
    """Return the dates that a request names, and the request without them.

    A month alone or a year is a date where a word such as `in` stands before it.
    """
    found = [each for each in _REQUESTED.finditer(request) if _is_date(each, request[: each.start()])]
    rest = "".join(request[a.end() if a else 0 : b.start() if b else None] for a, b in pairwise([None, *found, None]))
    return tuple(_date_part(each, request[: each.start()]) for each in found), rest


def _is_date(found: re.Match[str], before: str) -> bool:
    is_bare = found["y9"] or (found["m7"] and not found["y7"])
    is_known = found["m7"] or found["d8"] or found["y9"] or read_date(found, is_day_first=True)
    return bool(is_known and (not is_bare or _INTRODUCED.search(before.lower())))


def _date_part(found: re.Match[str], before: str) -> DatePart:
    sign = _DATE_SIGN.search(before)
    year, month, day = read_date(found, is_day_first=True) or ("", "", "")
    clock = f"{found['h'].zfill(2)}:{found['min']}" if found["h"] else ""
    return DatePart(
        _DATE_SIGNS[sign.lastgroup] if sign and sign.lastgroup else "",
        (found["y7"] or found["y9"] or year).replace(_NO_YEAR, ""),
        month_number(found["m7"] or "") or month,
        (found["d8"] or day).zfill(2) if found["d8"] or day else "",
        clock,
    )


# What a request asks of a table, read by a few general words: what is named, bounds, dates, what is missing, an order.

_MAX_CHARS: Final = 4_000
"""Characters of a request that are read: a call may have a file as its argument."""
_HUMP: Final = re.compile(r"(?<=[^\W_A-Z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_PART: Final = re.compile(r"[^\W\d_]+|\d+")
COMMON: Final = frozenset((
    "which", "what", "when", "where", "that", "this", "there", "with", "from", "were", "have", "does", "many",
    "much", "more", "than", "most", "them", "they", "these", "those", "over", "under", "below", "above",
    "after", "before", "about", "into", "only", "also", "give", "list", "show", "find", "first", "last",
    "line", "lines", "been", "without", "please", "least", "time", "times", "the", "and", "for", "are", "was", "has",
    "had", "did", "who", "how", "our", "its", "you", "can", "all", "any", "but", "a", "an", "as", "at", "by", "do",
    "in", "is", "it", "of", "on", "or", "to", "get", "got",
))  # fmt: skip
"""Words that a sentence needs and that name nothing."""
_SENTENCE: Final = re.compile(r"(?<=[.!?;])\s+|\n+")
_REPLY: Final = r"(?:answers?|reply|replies|response)"
_OF_REPLY: Final = re.compile(
    rf"""\W*(?:(?:and|then|please|finally)\b\W*)*(?:
    (?:answer|reply|respond)\s+(?:only\s|just\s|briefly\s)?(?:with|in|as|by|using|only|briefly)\b
    |(?:begin|start|end|finish|close)\b.*\b(?:{_REPLY}|lines?(?!\s\d)|sentences?|words?)\b
    |separate\b.*\b(?:by|with)\b
    |(?:give|put|write|state|return|print|format|keep|mark|wrap|quote|use)\s+
     (?:(?:only\s)?(?:it|them|each|all)\b.*\b(?:as|in|on|by|with)\b|.*\b{_REPLY}\b)
    |(?:your|the)\s(?:final\s)?{_REPLY}\s(?:must|should|shall|has\sto|needs|may)\b
    |(?:return|print|output|use|write)\s(?:only\s|valid\s|plain\s)*(?:json|csv|yaml|markdown|prose)\s*(?:only|alone)?\W*$
    )""",
    re.IGNORECASE | re.VERBOSE,
)
"""The beginning of a sentence about the form of the reply: "Answer with …", "Write it as …", "End with one line …"."""
_STEM: Final = 4
"""Letters that two spellings of a word begin with, and at most so many may follow one of them."""
_CODE: Final = 3
"""Letters of a code such as EUR, which a word in the request begins with."""
_CODE_ENDING: Final = 2
_NUMBERS: Final = {
    "zero": Decimal(0), "a": Decimal(1), "an": Decimal(1), "half": Decimal("0.5"), "one": Decimal(1), "two": Decimal(2),
    "three": Decimal(3), "four": Decimal(4), "five": Decimal(5), "six": Decimal(6), "seven": Decimal(7),
    "eight": Decimal(8), "nine": Decimal(9), "ten": Decimal(10), "hundred": Decimal(100),
}  # fmt: skip
_SCALES: Final = {
    "k": (1000,), "kb": (1000, 1024), "mb": (10**6, 2**20), "gb": (10**9, 2**30), "thousand": (1000,),
    "million": (10**6,), "second": (1000,), "seconds": (1000,), "minute": (60, 60_000), "minutes": (60, 60_000),
    "hour": (60, 3600, 3_600_000), "hours": (60, 3600, 3_600_000), "kg": (1000,), "km": (1000,),
}  # fmt: skip
"""By how much a bound may have to be multiplied to be compared with the numbers of a column."""
_SIGNS: Final = {
    "≥": "at least|since|from|no less than",
    "≤": "at most|up to|until|no more than",
    ">": "over|above|more than|greater than|larger than|longer than|later than|exceeds?|after",
    "<": "under|below|less than|fewer than|smaller than|shorter than|earlier than|before",
}
_SIGN: Final = "|".join(f"(?P<s{number}>{words})" for number, words in enumerate(_SIGNS.values()))
_CLOCKS: Final = {"midnight": "00:00", "noon": "12:00", "midday": "12:00"}
_VALUE: Final = (
    rf"[€$£~]?(?P<value>\d[\d.,:-]*|(?:{'|'.join((*_NUMBERS, *_CLOCKS))})(?!\w))"
    rf"(?:\s?(?:an?\s)?(?P<unit>{'|'.join(_SCALES)})(?!\w))?"
)
_BOUNDS: Final = (
    re.compile(rf"(?<!\w)(?:{_SIGN})\s+{_VALUE}", re.IGNORECASE),
    re.compile(
        rf"(?<!\w){_VALUE}\s(?:(?P<noun>\w+)\s)?"
        r"(?:or|and) (?:(?P<s0>more|higher|later)|(?P<s1>less|fewer|earlier))(?!\w)",
        re.IGNORECASE,
    ),
    re.compile(rf"(?<!\w)at\s+{_VALUE}", re.IGNORECASE),
)
"""A sign and a value, a value with a sign behind it, and a time: "at least 3", "3 pieces or more", "at noon"."""
_BELOW_ZERO: Final = re.compile(r"\b(?:(negative)|positive)\b", re.IGNORECASE)
_UNIT: Final = re.compile(r"\d\s?([^\W\d_]+)")
_BEHIND: Final = re.compile(r"\s?([^\W\d_]*)")
_BETWEEN: Final = re.compile(r"\bbetween\s+(\S+)\s+and\s+(?=\S)", re.IGNORECASE)
_CLOCK: Final = re.compile(r"(\d\d?):(\d\d)")
_PLAIN: Final = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
_HALF_DAY: Final = re.compile(
    r"\s*(?:(?P<afternoon>pm\b|in the (?:afternoon|evening))|am\b|in the morning|o.clock)", re.IGNORECASE
)
_NOON: Final = 12
_NEAR: Final = 4
"""Words after a bound, a superlative or a negation that belong to it."""
_BEFORE: Final = 2
"""Words before a superlative that belong to it."""
_ABSENT: Final = re.compile(
    r"\b(?:no|none|nobody|nothing|never|not|without|missing|lacks?|empty|null)\b|n['\u2019]t\b", re.IGNORECASE
)
_KIND: Final = re.compile(
    r"\b(?:which|what|whose|many) (\w+) (?:have|has|are|is|were|was|do|does|did|can|with|without|that|who|came|got)\b",
    re.IGNORECASE,
)
_CLAUSE: Final = re.compile(r"[,;.?!](?=\s|$)|\b(?:but|and|or|which)\b", re.IGNORECASE)
_ORDERS: Final = {
    "greatest": r"most|largest|biggest|highest|greatest|max\w*|top|slowest|dearest|heaviest|warmest|busiest",
    "least": r"least|smallest|lowest|shortest|fewest|min(?:imum)?|cheapest|fastest|lightest|coldest",
    "latest": r"latest|newest|last|recent\w*|youngest",
    "earliest": r"earliest|oldest|first|next|soonest",
    "longest": r"longest",
    "best": r"best|happiest|worst",
}
_ORDER: Final = re.compile(
    "|".join(rf"(?P<{kind}>(?<!at )\b(?:{words})\b)" for kind, words in _ORDERS.items()), re.IGNORECASE
)
_ORDINALS: Final = ("second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_WHOLE: Final = re.compile(
    rf"(?<![\w.-])(?:(\d+)(?![\w-]|\.\d)|({'|'.join(_ORDINALS)})\b(?! (?:{'|'.join(_ORDERS.values())})))", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Bound:
    """A number or a time of day that what is asked for is over, under or at."""

    sign: str
    """One of < > ≤ ≥ =."""
    text: str
    """The bound as the request writes it."""
    values: tuple[Decimal, ...]
    """What the number may be in a smaller unit, then the number; empty: it is none."""
    unit: str
    """The unit of the last of them, without regard to case; empty: it has none."""
    clock: str
    """The time of day, such as "06:00"; empty: it is none."""
    near: frozenset[str]
    """Its unit and the words after it, without regard to case."""
    before: frozenset[str]
    """The two words before it, without regard to case."""


@dataclass(frozen=True, slots=True)
class Order:
    """A superlative."""

    kind: str
    """greatest, least, latest, earliest, longest, or best: one end of the order, which is not known."""
    word: str
    """It, without regard to case."""
    near: frozenset[str]
    """It and the words after it, without regard to case."""


class Request:
    """A request, to be asked whether it names something."""

    def __init__(self, text: str) -> None:
        """Read `text`: the user's words and the arguments of the call."""
        text = _without_form(text[:_MAX_CHARS])
        self.words: Final = requested_words(text)
        """Its words without regard to case, at most 64."""
        codes = (word.casefold() for word in find_words(text) if len(word) == 2 and _is_code(word))
        parts = {part for word in find_words(text) for part in words_of_name(word) if len(part) >= _CODE}
        self._named: Final = self.words | frozenset(codes) | parts | {word.replace("-", "") for word in self.words}
        self._ordered: Final = sorted(self._named)
        self._all: Final = frozenset((*words_of_name(text), *(word.casefold() for word in find_words(text))))
        self._pairs: Final = frozenset(pairwise(words_of_name(text)))
        self.match: Final = functools.cache(self._match)
        compound = (word for word in find_words(text) if not word.isalpha())
        self.capitals: Final = frozenset(
            (
                *(word.casefold() for word in find_words(text)[1:] if word[0].isupper()),
                *(part for word in compound for part in words_of_name(word)),
            )
        )
        """The words with a capital, but for the first one, and the parts of names such as labels.py."""
        self.dates, without_dates = date_parts_of(text)
        """The dates that it names."""
        self.bounds: Final = tuple(_bounds(without_dates))
        """What it bounds."""
        self.units: Final = frozenset(word.casefold() for word in _UNIT.findall(without_dates))
        """The words behind its numbers: they say what is counted."""
        bounded = frozenset(bound.text for bound in self.bounds)
        self.numbers: Final = _whole_numbers(without_dates, bounded)
        """The whole numbers that it names and does not bound, with the words before each, and the one behind it."""
        self.denied: Final = frozenset(_denied(text))
        """The words of what it asks to be without, or not so."""
        self.orders: Final = tuple(
            Order(found.lastgroup or "", found[0].casefold(), _around(text, found)) for found in _ORDER.finditer(text)
        )
        """Its superlatives."""

        self.kinds: Final = frozenset(word.casefold() for word in _KIND.findall(text))
        """What it calls the rows that it asks for: "which people have …"."""
        self.said: Final = frozenset(order.word for order in self.orders) | self.kinds
        """The words that say what is asked, not what it is like."""

    def has(self, word: str) -> bool:
        """Return whether a word stands in the request, perhaps with another ending."""
        return self.match(word) is not None

    def has_all(self, text: str) -> bool:
        """Return whether all words of a value stand in the request.

        A value with a common word, such as "on", stands there only with its words side by side.
        """
        words = [word.casefold() for word in find_words(text)]
        parts = words_of_name(text)
        if COMMON.isdisjoint(parts) and words and all(map(self.has, words)):
            return True
        parts = parts if not COMMON.issuperset(parts) else []
        return all(map(str.isalpha, parts)) and any(map(self.has, parts)) and self.says(" ".join(parts))

    def says(self, phrase: str) -> bool:
        """Return whether all words of a phrase stand in the request, each common one beside the same words as there."""
        parts = phrase.casefold().split()
        beside = (pair for pair in pairwise(parts) if not COMMON.isdisjoint(pair))
        return all(part in self._all or self.has(part) for part in parts) and all(
            (self.match(a) or a, self.match(b) or b) in self._pairs for a, b in beside
        )

    def names(self, name: str) -> frozenset[str]:
        """Return the words of the name of a column that stand in the request, without those that say nothing."""
        return frozenset(
            word
            for words in map(words_of_name, name.split("."))
            for word in words
            if len(word) >= _CODE and ("".join(words) in self._named or self.has(word))
        )

    def denies(self, text: str) -> bool:
        """Return whether the request asks for what a value or a name is not."""
        words = words_of_name(text)
        return "".join(words) in self.denied or any(self.match(word) in self.denied for word in words if self.has(word))

    def lacks(self, name: str) -> frozenset[str]:
        """Return the words of the name of a column that the request asks to be without, such as "unassigned"."""
        if self.denies(name):
            return self.names(name)
        return frozenset(word for word in words_of_name(name) if len(word) >= _CODE and self.has(f"un{word}"))

    def affirms(self, name: str) -> bool | None:
        """Return whether the request asks for what the last word of a name says, or denies it; None: neither."""
        word = words_of_name(name)[-1:]
        if not word or len(word[0]) < _CODE:
            return None
        if self.has(word[0]):
            return not self.denies(word[0])
        return False if self.has(f"un{word[0]}") else None

    def fits(self, name: str, near: frozenset[str]) -> int:
        """Return how well the name of a column fits some words of the request: 0 not at all, 2 best."""
        if any(self.match(word) in near for word in self.names(name)):
            return 2
        return 1 if self.names(name) else 0

    def _match(self, word: str) -> str | None:
        """Return the word of the request that `word` is, perhaps with another ending; None: it has none."""
        if word in self._named:
            return word
        return next((other for other in self._ordered if _are_alike(word, other)), None)


def _without_form(text: str) -> str:
    """Return a request without the sentences that say how to reply: they name nothing; all of it where none is left."""
    left = [sentence for sentence in _SENTENCE.split(text) if not _OF_REPLY.match(sentence)]
    return "\n".join(left) if any(map(str.strip, left)) else text


def _is_code(word: str) -> bool:
    return word.isupper() or any(map(str.isdigit, word))


def words_of_name(name: str) -> list[str]:
    """Return the words of a name, such as that of a column, without regard to case."""
    return [word.casefold() for word in _PART.findall(_HUMP.sub(" ", name))]


def _are_alike(word: str, other: str) -> bool:
    if word[:_CODE] != other[:_CODE] or not (word.isalpha() and other.isalpha()):
        return False
    if len(word) == _CODE:
        return len(other) <= _CODE + _CODE_ENDING
    same = next((at for at, (a, b) in enumerate(zip(word, other, strict=False)) if a != b), min(len(word), len(other)))
    return same >= _STEM and max(len(word), len(other)) - same <= min(_STEM, same // 2 + 1)


def _whole_numbers(text: str, bounded: frozenset[str]) -> dict[str, tuple[frozenset[str], str]]:
    """Return the whole numbers in `text` that are not `bounded`: the words before each, and the one behind it."""
    return {
        number: (_near(" ".join(find_words(text[: found.start()])[-_BEFORE:])), behind[1].casefold())
        for found in _WHOLE.finditer(text)
        if (number := found[1] or f"{_ORDINALS.index(found[2].lower()) + 2}") not in bounded
        and (behind := _BEHIND.match(text, found.end()))
    }


def _bounds(text: str) -> Iterator[Bound]:
    text = _BETWEEN.sub(r"from \1; until ", text)
    for found in _BELOW_ZERO.finditer(text):
        yield Bound(
            "<" if found[1] else ">",
            found[0].casefold(),
            (Decimal(0),),
            "",
            "",
            _near(text[found.end() :]),
            frozenset(),
        )
    for found in (found for pattern in _BOUNDS for found in pattern.finditer(text)):
        value, unit = found["value"].rstrip(".,:-").casefold(), (found["unit"] or "").casefold()
        number = _NUMBERS.get(value) or (Decimal(value.replace(",", "")) if _PLAIN.fullmatch(value) else None)
        behind = text[found.end() :]
        clock = _clock(value, number, behind)
        noun = found.groupdict().get("noun") or ""
        sign = next((sign for at, sign in enumerate(_SIGNS) if found.groupdict().get(f"s{at}")), "=")
        if (value not in ("a", "an") or unit) and (sign != "=" or clock):
            scales = (*_SCALES.get(unit, ()), 1)
            values = () if number is None else tuple(number * scale for scale in scales)
            before = _near(" ".join(find_words(text[: found.start()])[-_BEFORE:]))
            yield Bound(sign, value, values, unit, clock, _near(f"{unit} {noun} {behind}"), before)


def _clock(value: str, number: Decimal | None, behind: str) -> str:
    """Return the time of day that a value is, perhaps by the words behind it."""
    if value in _CLOCKS:
        return _CLOCKS[value]
    if found := _CLOCK.fullmatch(value):
        return f"{int(found[1]):02}:{found[2]}"
    half = _HALF_DAY.match(behind)
    if half is None or number is None or number > _NOON:
        return ""
    return f"{int(number) % _NOON + _NOON * bool(half['afternoon']):02}:00"


def _near(behind: str) -> frozenset[str]:
    """Return the words that a text begins with, up to the end of a clause."""
    clause = _CLAUSE.split(behind, maxsplit=1)[0]
    words = find_words(clause)[:_NEAR]
    parts = (part for word in words for part in (word.replace("-", "").casefold(), *words_of_name(word)))
    return frozenset((*(word.casefold() for word in words), *parts))


def _around(text: str, found: re.Match[str]) -> frozenset[str]:
    """Return a superlative, the words after it and the two words before it: "which added the most lines"."""
    before = find_words(text[: found.start()])[-_BEFORE:]
    return _near(text[found.end() :]) | {found[0].casefold(), *map(str.casefold, before)}


def _denied(text: str) -> Iterator[str]:
    for found in _ABSENT.finditer(text):
        yield from _near(text[found.end() :])
