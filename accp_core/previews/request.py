"""What a request asks, read by a few general words: what it names, numbers and moments, what is missing, an order.

    since 2026-02-17     a moment, with its sign: one text with `?` for what is not said, as "????-02-19T06:00"
    more than 1.5 GB     a number, with its sign, its unit and the words beside it, which name its column
    a 5xx                numbers of as many digits that begin with these
    the slowest ones     a superlative, and the words beside it

Nothing here knows a table; `conditions` says which of its columns and rows are meant.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain
from typing import Final

from accp_core.tables.values import CLOCK, DATE, MONTH, month_number, read_date

__all__ = ["COMMON", "NO_DATE", "Asked", "Order", "Request", "find_words", "requested_words", "words_of_name"]

_WORD: Final = re.compile(r"[^\W_]+(?:[._@/:+-][^\W_]+)*")
# Chinese and Japanese have no blanks between words, Korean has particles behind them: `서울의`, of Seoul.
_CJK: Final = (
    "\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff"
)
_PAIR: Final = re.compile(f"(?=([{_CJK}]{{2}}))|([^{_CJK}]+)")
_JOINERS: Final = "._@/:+-"
_MAX_REQUESTED: Final = 64
_MIN_REQUESTED_CHARS: Final = 3
_MAX_CHARS: Final = 4_000
"""Characters of a request that are read: a call may have a file as its argument."""
_WHOLE: Final = r"(?<!\w)(?<!\w\.){}(?!\.?\w)"
"""A word of several parts, not in a longer one: `203.0.113.4`, but not of `203.0.113.45` or `1.203.0.113.4`."""
_HUMP: Final = re.compile(r"(?<=[^\W_A-Z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_PART: Final = re.compile(r"[^\W\d_]+|\d+")
_STEM: Final = 4
"""Letters that two spellings of a word begin with, and at most so many may follow one of them."""
_CODE: Final = 3
"""Letters of a code such as EUR, which a word in the request begins with."""
_CODE_ENDING: Final = 2
_COMMON: Final = (
    "which what when where that this there with from were have does many much more than most them they these "
    "those over under below above after before about into only also give list show find first last line lines "
    "been without please least time times the and for are was has had did who how our its you can all any but a "
    "an as at by do in is it of on or to get got e.g i.e"
)
COMMON: Final = frozenset(_COMMON.split())
"""Words that a sentence needs and that name nothing."""


def find_words(text: str) -> list[str]:
    """Return the words of a text in their order; of Chinese, Japanese and Korean, any two characters in a row."""
    words = _WORD.findall(text)
    if text.isascii():
        return words
    pairs = ([pair or rest.strip(_JOINERS) for pair, rest in _PAIR.findall(word)] or [word] for word in words)
    return [part for parts in pairs for part in parts if part]


def requested_words(request: str) -> frozenset[str]:
    """Return the words of a request without regard to case, at most 64: codes first, then long ones."""
    words = {word.casefold() for word in find_words(request) if _is_telling(word)}
    return frozenset(sorted(words, key=lambda word: (word.isalpha(), -len(word), word))[:_MAX_REQUESTED])


def _is_telling(word: str) -> bool:
    # "000" is what is left of 150,000.
    return (len(word) >= _MIN_REQUESTED_CHARS or (len(word) > 1 and not word.isascii())) and bool(word.strip("0"))


def words_of_name(name: str) -> list[str]:
    """Return the words of a name, such as that of a column, without regard to case."""
    return [word.casefold() for word in _PART.findall(_HUMP.sub(" ", name))]


# The numbers and the moments of a request.

_DIGITS: Final = "zero one two three four five six seven eight nine ten"
_ORDINALS: Final = "third fourth fifth sixth seventh eighth ninth tenth"
_SAID: Final = (
    ("half an?", "0.5"), ("an?(?= (?:second|minute|hour|day|week)s?\\b)", "1"), ("negative", "below 0"),
    ("positive", "over 0"), ("midnight", "00:00"), ("noon", "12:00"),
    *((word, f"{number}") for number, word in enumerate(_DIGITS.split())),
    *((word, f"{number}") for number, word in enumerate(_ORDINALS.split(), 3)),
)  # fmt: skip
"""Words for numbers, times and signs, and how they are read."""
_WHEN: Final = {"": "in|of|on|at|during", "≥": "since|from", ">": "after", "≤": "until|till", "<": "before"}
"""The words before a time; before a month or a year alone there is one of them."""
_ANY: Final = "|".join(sorted(COMMON))
_PLAIN: Final = rf"(?:\d+(?:\.\d+)?|{MONTH})(?![\w%]|[.,:/-]\d)"
"""A number or a month, as in "zone 3, 4 or 5"; no part of a date, a time or a word."""
_IN_WORDS: Final = re.compile("|".join(rf"\b({word})\b" for word, _ in _SAID), re.IGNORECASE)
_RANGE: Final = re.compile(
    rf"(?i)\b(not )?(?:(between )|from |(?=(?:\d+ )?{MONTH} |\d{{4}}-\d))"
    rf"((?:\S+ ){{1,3}}?)(?(2)and|(?:to|-)) (?=\S*\d|{MONTH}\b)"
)
"""The beginning of a range with the word behind it: "between 5 and", "from 5 March to", "March to"."""
_LIST: Final = re.compile(
    rf"(?i)\b(((?:{_WHEN['']}) |(?!(?:between|{_ANY})\b)[^\W\d_]+(?: (?!from )(?:{_ANY})\b)?[ =:#]+){_PLAIN})"
    rf"((?:,? or {_PLAIN}|(?:,(?! 20\d\d\b)|,? and) {_PLAIN}(?! (?!(?:{_ANY})\b)[^\W\d_]))+)"
)
"""Numbers after one word that is meant for each of them: "zone 3, 4 or 5", but not "zone 3, 4 hosts"."""
_SIGNS: Final = {
    "≥": "at least|no less than|>=|≥",
    "≤": "at most|up to|no more than|<=|≤",
    "<": "<|under|below|(?:less|fewer|smaller|shorter|earlier|lower|younger|cheaper) than",
    ">": r">|over|above|exceeds?|(?:more|\w+er) than",
}
_BEHIND: Final = {"≥": "more|higher|later", "≤": "less|fewer|earlier"}
"""The words behind a value: "3 pieces or more"."""
_OPPOSITE: Final = {"<": "≥", "≥": "<", ">": "≤", "≤": ">"}
_ALL_SIGNS: Final = {word: sign for signs in (_WHEN, _SIGNS, _BEHIND) for sign, word in signs.items()}
_HOUR: Final = (
    rf"(?:{CLOCK}|(?P<h9>\d\d?)(?=\s?[ap]m\b| o.clock| in the))"
    r"(?:\s?(?P<half>[ap])m\b| o.clock| in the (?P<part>morning|afternoon|evening))?"
)
_DAY: Final = (
    rf"(?:(?:the )?(?:{DATE})|the (?P<d8>\d\d?)(?:st|nd|rd|th)|(?P<m7>{MONTH}) (?P<y7>\d{{4}})"
    rf"|(?(when)(?:(?P<m8>{MONTH})|(?P<y9>20\d\d))|(?!)))"
)
_MOMENT: Final = rf"{_DAY}(?:(?:[T:,]| at)? *{_HOUR})?|{_HOUR.replace('?P<', '?P<o')}"
_NUMBER: Final = (
    r"[€$£~]?(?P<number>\d+(?:,\d{3})*(?:\.\d+)?)(?![\d-]|[.,:/]\d)(?:\s?(?P<power>k|thousand|million)\b)?"
    r"(?:\s?(?P<unit>%|(?!(?:or|and)\b)[^\W\d_]+(?:/[a-z]+)?))?"
)
_VALUE: Final = re.compile(
    rf"(?:(?<!\w)|(?=[<>≤≥]))(?:(?P<denied>not\s+)?(?:(?P<when>{'|'.join(_WHEN.values())})|(?P<sign>{'|'.join(_SIGNS.values())}))\s*['\"\\\\]*)?"
    rf"(?:(?:on|the(?! \d+(?:st|nd|rd|th)))\s+)?(?<![\w./-])(?:(?P<moment>{_MOMENT})(?![\w/-])|{_NUMBER})"
    rf"(?:\s(?:or|and)\s(?P<behind>{'|'.join(_BEHIND.values())})\b(?! than))?",
    re.IGNORECASE,
)
"""A number or a moment with the words before and behind it; a bare month or year only behind a word for a time."""
_POWERS: Final = {"k": 10**3, "thousand": 10**3, "million": 10**6}
_MARKS: Final = 0xF0000
"""The first of the signs that stand for numbers and moments; no word has one."""
_NO_YEAR: Final = "0000"
NO_DATE: Final = "????-??-??T"
"""The beginning of a moment that is a time of any day."""
_HALF_DAY: Final = 12
_NEAR: Final = 4
"""Words after a value, a superlative or a negation that belong to it."""
_MAX_RUN: Final = 8
"""Words of a value that are looked for side by side."""
_BEFORE: Final = 2
"""Words before it that belong to it."""
_CLAUSE: Final = re.compile(r"([()]|[,;.?!](?=\s|$)|\b(?:but|and|or|which)\b)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Asked:
    """A number or a moment that a request names."""

    sign: str
    """One of < > ≤ ≥; empty: it is asked for itself."""
    number: Decimal
    """The number; of a moment 0."""
    unit: str
    """The word behind the number without regard to case; empty: there is none."""
    moment: str
    """The moment with `?` for what is not said, such as "????-02-19" or "????-??-??T06:00"; empty: it is a number."""
    near: frozenset[str]
    """Its unit and the words after it, without regard to case."""
    before: frozenset[str]
    """The two words before it, without regard to case."""
    text: str
    """The words of the request for it and its sign, in lower case."""
    mark: str
    """What stands for it in `Request.alternatives`."""


def _spelled(text: str) -> str:
    """Return a request with digits for words, a sign at each end of a range, and its word at each number of a list."""
    text = _IN_WORDS.sub(lambda found: _SAID[(found.lastindex or 1) - 1][1], text)
    return _spread(_RANGE.sub(_range, text))


def _range(found: re.Match[str]) -> str:
    """Return the beginning of a range with a sign for each end; 2000 may be a year, but not behind 100."""
    denied, first = found[1] or "", found[3]
    signs = ("at least", "at most") if re.fullmatch(r"(?!20\d\d )[\d,.]+ ", first) else ("from", "until")
    return f"{denied}{signs[0]} {first}{' or ' if denied else '; '}{denied}{signs[1]} "


def _spread(text: str) -> str:
    """Return a request with its word at each number of a list: "zone 3 or zone 4"."""
    return _LIST.sub(lambda found: found[1] + re.sub(rf"(?i)(?<= ){_PLAIN}", f"{found[2]}\\g<0>", found[3]), text)


def _alternatives(text: str) -> Iterator[tuple[frozenset[str], frozenset[str], frozenset[str]]]:
    """Yield the words of the clauses before and behind each "or" of a request, and those of its sentence."""
    text = _VALUE.sub(lambda found: f" {chr(_MARKS + found.start())} {_CLAUSE.sub(' ', found[0])}", text)
    text = re.sub(rf";(?=\s*[{chr(_MARKS)}-\U000fffff])", "", text)
    for sentence in re.split(r"[.?!](?=\s)|\n", text):
        before, is_or = frozenset[str](), False
        for clause in _CLAUSE.split(sentence):
            is_or = is_or or clause.casefold() == "or"
            if not _CLAUSE.fullmatch(clause) and (words := _words(clause)):
                if is_or:
                    yield before, words, _words(sentence)
                before, is_or = words, False


def _asked(text: str) -> Iterator[Asked]:
    """Yield the numbers and the moments that a request names, of a text that `_spelled` gives."""
    for found in _VALUE.finditer(text):
        sign = _sign(found)
        unit = (found["unit"] or "").casefold()
        number = Decimal((found["number"] or "0").replace(",", "")) * _POWERS.get((found["power"] or "").casefold(), 1)
        near = _near(f"{unit} {text[found.end() :]}")
        moment = _moment(found) if found["moment"] else ""
        if found["number"] or (moment and not (found["denied"] and not sign)):
            before, words = _words_before(text, found), found[0].casefold()
            yield Asked(sign, number, unit, moment, near, before, words, chr(_MARKS + found.start()))


def _sign(found: re.Match[str]) -> str:
    word = found["sign"] or found["behind"] or found["when"] or ""
    sign = next((sign for words, sign in _ALL_SIGNS.items() if re.fullmatch(words, word, re.IGNORECASE)), "")
    return _OPPOSITE.get(sign, "") if found["denied"] else sign


def _moment(found: re.Match[str]) -> str:
    """Return a moment with `?` for what is not said; empty: there is no such date."""
    clock = _clock(found, "") or _clock(found, "o")
    year, month, day = read_date(found, is_day_first=True) or ("", "", "")
    year = (found["y7"] or found["y9"] or year).replace(_NO_YEAR, "") or "????"
    month = month_number(found["m7"] or found["m8"] or "") or month or "??"
    day = (found["d8"] or day).zfill(2) if found["d8"] or day else "??"
    date = f"{year}-{month}-{day}"
    return f"{date}T{clock}" if clock else date.replace("????-??-??", "")


def _clock(found: re.Match[str], o: str) -> str:
    """Return the time of day in the groups whose names begin so."""
    if not (hour := found[f"{o}h"] or found[f"{o}h9"]):
        return ""
    half = (found[f"{o}half"] or found[f"{o}part"] or "").casefold()
    number = int(hour) % _HALF_DAY + _HALF_DAY * (half not in ("a", "morning")) if half else int(hour)
    return f"{number:02}:{found[f'{o}min'] or '00'}"


def _near(behind: str) -> frozenset[str]:
    """Return the words that a text begins with, up to the end of a clause."""
    return _words(" ".join(find_words(_CLAUSE.split(behind, maxsplit=1)[0])[:_NEAR]))


def _words(text: str) -> frozenset[str]:
    """Return the words of a text and their parts, without regard to case, and its marks."""
    words = find_words(text)
    parts = (part for word in words for part in (word.replace("-", "").casefold(), *words_of_name(word)))
    marks = (char for char in text if char >= chr(_MARKS))
    return frozenset((*(word.casefold() for word in words), *parts, *marks))


def _words_before(text: str, found: re.Match[str]) -> frozenset[str]:
    return _words(_CLAUSE.split(" ".join(find_words(text[: found.start()])[-_BEFORE:]))[-1])


# Superlatives, negations, and what else a request says of rows.

_ORDERS: Final = {
    "greatest": r"most|largest|biggest|highest|longest|greatest|max\w*|top|slowest|dearest|heaviest|warmest|busiest",
    "least": r"least|smallest|lowest|shortest|fewest|min(?:imum)?|cheapest|fastest|lightest|coldest",
    "latest": r"latest|newest|last|recent\w*|youngest",
    "earliest": r"earliest|oldest|first|next|soonest",
}
_ORDER: Final = re.compile(
    "|".join(rf"(?P<{kind}>(?<!at )\b(?:{words})\b)" for kind, words in _ORDERS.items()), re.IGNORECASE
)
_ABSENT: Final = re.compile(
    r"(?i)\b(?:no(?! (?:more|less|fewer|later)\b)|none|nobody|nothing|without|missing|lacks?|empty|null)\b"
)
"""Words that say that there is nothing."""
_EXCLUDED: Final = re.compile(r"!=|<>|\u2260|\b(?:except(?: for)?|excluding|other than|without)\b", re.IGNORECASE)
"""Words that say which rows are not asked for."""
_UNLIKE: Final = re.compile(rf"(?i)\w*n['\u2019]t\b|\b(?:never|neither|nor|unless)\b|(?!without){_EXCLUDED.pattern}")
"""What says that it is not so, and is read as "not"."""
_DENIED: Final = re.compile(r"\bnot\b", re.IGNORECASE)
_DENIAL_END: Final = re.compile(r"(?<=\w) (?:that|who|whose|where|with|have|has|is|are|was|were)\b", re.IGNORECASE)
"""The words that end what is denied or absent, but for the first one behind the negation."""
_OF_FLAG: Final = (
    r"(?:\b(?P<said>is|are|was|were|be|been|has|have|that|which|who|the|all|with|list|show|find)\b[^,;.?!()]*?)?"
    r"{}\w*\s*(?:=+|:|is|are|was|were)?\s*(?P<denied>not\s+)?['\"]?(?P<value>true|yes|false|no)?\b"
)
"""The name of a flag with a word that says that it is set, and its value."""
_KIND: Final = re.compile(
    r"\b(?:which|what|whose|many) (\w+) (?:have|has|are|is|were|was|do|does|did|can|with|without|that|who|came|got)\b",
    re.IGNORECASE,
)
_OF_REPLY: Final = re.compile(r"(?<=[.!?;\n])\s*(?:please )?(?:answer|reply|respond)\b[^.!?;\n]*+(?!\?)", re.IGNORECASE)
"""A sentence behind another one about the form of the reply: "Answer with …"."""


@dataclass(frozen=True, slots=True)
class Order:
    """A superlative."""

    kind: str
    """greatest or least of numbers, latest or earliest of moments."""
    word: str
    """It, without regard to case."""
    near: frozenset[str]
    """It, the words after it and the two words before it, without regard to case: "which added the most lines"."""


class Request:
    """A request, to be asked whether it names something."""

    def __init__(self, text: str) -> None:
        """Read `text`: the user's words and the arguments of the call."""
        text = _spread(_OF_REPLY.sub("", text[:_MAX_CHARS]))
        self.words: Final = requested_words(text)
        """Its words without regard to case, at most 64."""
        self.excluded: Final = frozenset[str]().union(*_denied(_EXCLUDED, text))
        """The words of what it asks to leave out."""
        text = _UNLIKE.sub(" not ", text)
        self._text: Final = text
        words = find_words(text)
        codes = (word.casefold() for word in words if len(word) == 2 and (word.isupper() or not word.isalpha()))
        parts = {
            word: [part for part in words_of_name(word) if len(part) >= _CODE and part.strip("0")] for word in words
        }
        self._parts: Final = frozenset(chain.from_iterable(parts.values()))
        plain = (part for word in words if not _is_compound(word) for part in parts[word])
        self._named: Final = self.words.union(codes, plain, (word.replace("-", "") for word in self.words))
        self._ordered: Final = sorted(self._named)
        self._runs: Final = frozenset(_runs(text))
        self.match: Final = functools.cache(self._match)
        spelled = _spelled(text)
        self.asked: Final = tuple(_asked(spelled))
        """The numbers and the moments that it names."""
        self.alternatives: Final = tuple(_alternatives(spelled))
        """The words before and behind each "or", and of its sentence; a number or a moment is its mark there."""
        compared = [asked.text for asked in self.asked if asked.sign or asked.moment]
        compounds = (word for word in self.words if _is_compound(word) and not any(word in text for text in compared))
        self._wholes: Final = {word: re.compile(_WHOLE.format(re.escape(word))) for word in sorted(compounds)}
        self.absent: Final = frozenset[str]().union(*_denied(_ABSENT, text))
        """The words of what it asks to be without."""
        self.denied: Final = self.absent.union(*_denied(_DENIED, text))
        """The words of that, and of what is not so."""
        self.orders: Final = tuple(_order(text, found) for found in _ORDER.finditer(text))
        """Its superlatives."""
        self.kinds: Final = frozenset(word.casefold() for word in _KIND.findall(text))
        """What it calls the rows that it asks for: "which people have …"."""
        self.said: Final = COMMON | self.kinds.union(order.word for order in self.orders)
        """The words that say what is asked, not what it is like."""

    def has(self, word: str) -> bool:
        """Return whether a word stands in the request, perhaps with another ending."""
        return self.match(word) is not None

    def has_all(self, text: str) -> bool:
        """Return whether the request has the words of a value side by side and in order, in any case."""
        parts = words_of_name(text)
        is_said = not COMMON.issuperset(parts) and (len(parts) > 1 or self.has(parts[0]))
        return is_said and _joined([self.match(part) or part for part in parts]) in self._runs

    def words_in(self, text: str) -> Iterator[tuple[str, str]]:
        """Yield each word of the request that a text contains, and the form that it has there, in lower case.

        A word of several parts, such as an address, a path or a version, is found only as a whole.
        """
        folded = text.casefold()
        yield from ((word, word) for word, whole in self._wholes.items() if word in folded and whole.search(folded))
        yield from ((asked, word) for word in dict.fromkeys(words_of_name(text)) if (asked := self.match(word)))

    def names(self, name: str) -> frozenset[str]:
        """Return the words of the name of a column that stand in the request, without those that say nothing."""
        known = ((word, "".join(words)) for words in map(words_of_name, name.split(".")) for word in words)
        found = ((word, whole in self._named or word in self._parts or self.has(word)) for word, whole in known)
        return frozenset(word for word, is_named in found if is_named and len(word) >= _CODE)

    def denies(self, text: str, *, is_absent: bool = False) -> bool:
        """Return whether the request asks for what a value or a name is not, or to be without what it names."""
        words, denied = words_of_name(text), self.absent if is_absent else self.denied
        is_denied = "".join(words) in denied or any(self.match(word) in denied for word in words if self.has(word))
        return is_denied and denied.issuperset(word for word in words if word.isdigit())

    def affirms(self, word: str) -> bool | None:
        """Return whether the request says that a flag is set, or is not; None: it says neither in words of English."""
        found = re.search(_OF_FLAG.format(re.escape(self.match(word) or word)), self._text, re.IGNORECASE)
        if found and found["value"]:
            return (found["value"].casefold() in ("true", "yes")) is not bool(found["denied"])
        return False if self.denies(word) else True if found and found["said"] else None

    def fits(self, name: str, near: frozenset[str]) -> int:
        """Return how well the name of a column fits some words of the request: 0 not at all, 2 best."""
        names = self.names(name)
        return 2 if any((self.match(word) or word) in near for word in names) else bool(names)

    def _match(self, word: str) -> str | None:
        """Return the word of the request that `word` is, perhaps with another ending; None: it has none."""
        if word in self._named:
            return word
        return next((other for other in self._ordered if _are_alike(word, other)), None)


def _joined(words: Sequence[str]) -> str:
    """Return words as one, with a blank only between two numbers."""
    return re.sub(r"(?<!\d) | (?!\d)", "", " ".join(words))


def _runs(text: str) -> Iterator[str]:
    """Yield the runs of at most so many words as a value has, each as `_joined` writes it.

    A comparison is one word: "4 days" does not stand in "fewer than 4 days".
    """
    text = _VALUE.sub(_comparison, re.sub(r" to (?=\d)", ".to.", text))
    parts = [words_of_name(word) for word in find_words(text)]
    for start in range(len(parts)):
        yield from (_joined([*chain(*parts[start:end])]) for end in range(start + 1, start + 1 + _MAX_RUN))


def _comparison(found: re.Match[str]) -> str:
    """Return a comparison as one word that is in no value, but for one with its sign in words: "over 65"."""
    return re.sub(r"\W+(?=.*\d)|(?<=\d) ", "-", re.sub(r"^(?=\W)", "x", found[0])) if _sign(found) else found[0]


def _is_compound(word: str) -> bool:
    """Return whether a word has signs within, such as an address, a path, a version or an id."""
    return not word.replace("_", "").isalnum()


def _order(text: str, found: re.Match[str]) -> Order:
    word = found[0].casefold()
    return Order(found.lastgroup or "", word, _near(text[found.end() :]) | {word} | _words_before(text, found))


def _denied(negation: re.Pattern[str], text: str) -> Iterator[frozenset[str]]:
    """Yield the words behind each negation of a kind that it is about."""
    for found in negation.finditer(text):
        yield _near(_DENIAL_END.split(text[found.end() :], maxsplit=1)[0])


def _are_alike(word: str, other: str) -> bool:
    if word[:_CODE] != other[:_CODE] or not (word.isalpha() and other.isalpha()):
        return False
    if len(word) == _CODE:
        return len(other) <= _CODE + _CODE_ENDING
    same = next((at for at, (a, b) in enumerate(zip(word, other, strict=False)) if a != b), min(len(word), len(other)))
    return same >= _STEM and max(len(word), len(other)) - same <= min(_STEM, same // 2 + 1)
