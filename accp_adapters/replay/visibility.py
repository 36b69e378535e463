"""The values that a model call needed, and where they are: in its prompt, one fetch away, or out of reach.

A value is needed when a model output holds it, a tool result or another agent's message in the prompt of that call
holds it, too, and nothing else does that the model could have it from.

`values_of` says what counts as a value: what a program would copy, so arguments, identifiers, URLs, dates and long
numbers.
"""

from __future__ import annotations

import contextlib
import functools
import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from itertools import islice
from typing import Final

from accp_adapters.replay.prompts import SentMessage
from accp_adapters.replay.recorded_run import RecordedCall, RecordedMessage, Run, is_foreign
from accp_core.tables.values import DATE, MONTH, read_date

__all__ = [
    "NeededValue", "OneFetch", "ValueIndex", "VisibilityCheck", "WantedValue", "contains", "forget_texts", "has_moved",
    "values_of",
]  # fmt: skip


WantedValue = str | Decimal | date
"""Text that must be found as it is, or a number or a date in any spelling: `1.234,50` is `1,234.5`."""

_TEXT_LENGTHS: Final = range(4, 2001)
"""Characters of a text that counts as a value."""
_MIN_DIGITS: Final = 3
"""A number with fewer digits is found everywhere and shows nothing."""
_DATE_TEXT: Final = rf"(?<![\w.])(?i:{DATE})(?![^\WT])"
_NUMBER_TEXT: Final = r"(?<![\w.])\d+(?:[.,]\d+)*(?!\w)"
# The alternatives are tried in this order, so that the digits of a URL or a date are not numbers of their own.
# Repetitions are bounded, so that no text takes quadratic time.
_VALUES: Final = re.compile(
    "|".join(
        (
            # Words that are none of the following, many at once: that takes most of the time.
            rf"(?P<plain>(?:(?<!\\)\b(?!(?i:{MONTH})(?!\w))[A-Za-z][a-z]*+(?=[ ,;])[ ,;]++)++)",
            r"(?P<url>https?://[^\s<>\"'`\])}]+)",
            r"(?P<email>[\w.+-]{1,64}+@[\w-]+(?:\.[\w-]+)+)",
            rf"(?P<date>{_DATE_TEXT}(?:T\d\d:?\d\d[\d:.]*+(?:Z|[+-]\d\d:?\d\d)?)?)",
            r"(?P<time>\b\d\d?:\d\d(?::\d\d)?(?!\w))",
            # A path from a root, a relative one with a file name at its end, a file name.
            r"(?P<path>(?<![\w/])(?:~|\.{1,2})?(?:/[\w.-]*\w)+/?"
            r"|\b(?=[\w-]{0,99}+[./])[\w.-]{1,99}(?:/[\w.-]{1,99}){0,19}\.[A-Za-z]\w{0,4}\b)",
            rf"(?P<number>{_NUMBER_TEXT})",
            # Not the letter of an escape: "\u2019s" holds no name.
            r"(?P<name>(?<!\\)\b\w+(?:-\w+)*\b)",
        )
    )
)
_OPTION: Final = re.compile(r"(?<=\w )-\d+\b")
"""A number that is an option of a command, as in `git log -130`."""
_DATE: Final = re.compile(_DATE_TEXT)
_NUMBER: Final = re.compile(_NUMBER_TEXT)
_POINT: Final = re.compile(r"\d+(?:\.\d+)?|[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?")
_COMMA: Final = re.compile(r"\d+,\d+|[1-9]\d{0,2}(?:\.\d{3})+(?:,\d+)?")
"""A number whose fraction stands behind a point, and behind a comma."""
_GROUPS: Final = re.compile(r"\b(?=[A-Z]+\d)[A-Z\d]{4}(?: [A-Z\d]{4}){2,}(?: [A-Z\d]{1,3})?\b")
"""A code that is written in groups of four, such as an IBAN."""
_WORD: Final = re.compile(r"\w+")
_IDENTIFIER: Final = re.compile(r"(?=.*[^\W\d_])(?=.*\d)...|[^\W\d_]\w*_\w|[^\W\d_]*[a-z][A-Z]")
_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.DOTALL)
_ESCAPED: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_MAX_FORMS: Final = 4
"""A text as it is and with up to three levels of escapes removed."""


def contains(value: WantedValue, text: str) -> bool:
    """Return whether `text`, as it is or with its escapes removed, contains `value` as whole words."""
    if not isinstance(value, str):
        return value in spelled_in(text)
    # Most texts do not hold most values: that is found out without a call for each.
    return any(has_words(form, value) for form in unescaped_forms(text) if value in form)


class ValueIndex:
    """Finds which of many texts another text contains as whole words, in one pass over its words."""

    def __init__(self, values: Iterable[str]) -> None:
        """Index `values` by the rarest word of each: 30,000 paths may begin with the same one."""
        self._values: Final = frozenset(values)
        counts = Counter(word for value in self._values for word in {*_WORD.findall(value)})
        self._places: Final[defaultdict[str, set[tuple[int, int]]]] = defaultdict(set)
        """By that word: its place in each of its values, and the length of the value."""
        for value in self._values:
            words = _WORD.finditer(value)
            if word := min(words, key=lambda word: counts[word[0]], default=None):
                self._places[word[0]].add((word.start(), len(value)))
        self._wordless: Final = [value for value in self._values if not _WORD.search(value)]

    def found_in(self, text: str) -> Iterator[str]:
        """Yield the values that `contains` finds in `text`, some of them several times."""
        for form in unescaped_forms(text):
            yield from (value for value in self._wordless if has_words(form, value))
            for word in _WORD.finditer(form):
                for before, size in self._places.get(word[0], ()):
                    start = max(word.start() - before, 0)
                    value = form[start : start + size]
                    if value in self._values and not (_joined(form, start) or _joined(form, start + size)):
                        yield value


def has_moved(value: WantedValue, recorded: str, sent: str) -> bool:
    """Return whether each line of `sent` with `value` is another row's: it has cells of others, and none of its own."""
    return sent != recorded and str(value) in _moved_cells(recorded, sent)


@functools.lru_cache(maxsize=256)
def _moved_cells(recorded: str, sent: str) -> frozenset[str]:
    rows_with: defaultdict[str, list[frozenset[str]]] = defaultdict(list)
    for row in rows_in(recorded):
        for cell in row:
            rows_with[cell].append(row)
    index, moved, at_home = ValueIndex(rows_with), set[str](), set[str]()
    for line in sent.split("\n") if rows_with else ():
        cells = {*index.found_in(line)}
        for cell in cells - at_home:
            own = [row for row in rows_with[cell] if len(row) > 1]
            strange = own and len(cells) > 1 and all(len(row & cells) == 1 for row in own)
            (moved if strange else at_home).add(cell)
    return frozenset(moved - at_home)


def rows_in(text: str) -> list[frozenset[str]]:
    """Return the cells of each map of a JSON text, those of maps in it included; none of another text."""
    rows: list[frozenset[str]] = []

    def add(row: Mapping[str, object]) -> frozenset[str]:
        cells = {str(cell) for cell in row.values() if isinstance(cell, str | int)}
        rows.append(frozenset(cells).union(*(cell for cell in row.values() if isinstance(cell, frozenset))))
        return rows[-1]

    with contextlib.suppress(ValueError, RecursionError):
        json.loads(text, object_hook=add)
    return [frozenset(cell for cell in row if len(cell) >= _MIN_DIGITS) for row in rows]


@functools.lru_cache(maxsize=16)
def unescaped_forms(text: str) -> tuple[str, ...]:
    """Return `text` as it is and with up to three levels of backslash escapes removed, then with its groups joined."""
    forms = [text]
    while len(forms) < _MAX_FORMS and "\\" in forms[-1]:
        forms.append(_ESCAPE.sub(_unescape, forms[-1]))
    joined = _join_groups(forms[-1])
    return (*forms, joined) if joined != forms[-1] else tuple(forms)


def _join_groups(text: str) -> str:
    return _GROUPS.sub(lambda code: code[0].replace(" ", ""), text)


@functools.lru_cache(maxsize=16)
def spelled_in(text: str) -> frozenset[Decimal | date]:
    """Return the dates and numbers in `text` and its forms; those of "203,777" are 203777, 203.777, and 203 beside 777.

    A comma stands between thousands, before a fraction, or between the cells of a row.
    """
    days = {found[0]: found for form in unescaped_forms(text) for found in _DATE.finditer(form)}
    found = {number for form in unescaped_forms(text) for number in _NUMBER.findall(form)}
    cells = {cell for number in found if "," in number for cell in number.split(",")}
    numbers = (reading for number in found | cells for reading in _readings(number))
    return frozenset((*numbers, *(day for spelled in days.values() for day in _days(spelled))))


def forget_texts() -> None:
    """Give up what is remembered of texts that were searched."""
    for remembered in (_moved_cells, unescaped_forms, spelled_in, values_in):
        remembered.cache_clear()


def text_leaf(text: str) -> Iterator[WantedValue]:
    """Yield the value that a whole text is, such as a string argument."""
    if _NUMBER.fullmatch(text):
        yield from number_in(text)
    elif len(text) in _TEXT_LENGTHS:
        yield text


@functools.lru_cache(maxsize=4096)
def values_in(text: str) -> frozenset[WantedValue]:
    """Return the identifiers, addresses, dates and long numbers of a text."""
    return frozenset(_in_text(_join_groups(text)))


def _in_text(text: str) -> Iterator[WantedValue]:
    for match in _VALUES.finditer(text):
        word = match.group()
        if match.lastgroup == "number":
            yield from number_in(word)
        elif match.lastgroup == "date":
            days = _days(match)
            yield from days if _DATE.fullmatch(word) and days else {*days, *text_leaf(word)}
        elif match.lastgroup == "url":
            yield word.rstrip(".,;:!?*")
        elif match.lastgroup != "plain" and (match.lastgroup != "name" or _IDENTIFIER.match(word)):
            yield word


def number_in(text: str) -> Iterator[WantedValue]:
    """Yield the number that a text is, or else its parts; only what has enough digits."""
    for part in [text] if _readings(text) else text.split(","):
        if sum(map(str.isdigit, part)) >= _MIN_DIGITS:
            # An address or a version has more than one point.
            yield next(iter(_readings(part)), part)


def _readings(text: str) -> list[Decimal]:
    """Return the number that a text is: "1,234" and "1.234" are read in two ways, the more usual one first."""
    english = [text.replace(",", "")] if _POINT.fullmatch(text) else []
    others = [text.replace(".", "").replace(",", ".")] if _COMMA.fullmatch(text) else []
    return [Decimal(number).normalize() for number in english + others]


def _days(match: re.Match[str]) -> set[date]:
    """Return the day that is written, both of them where day and month may be exchanged; none without a year."""
    days: set[date] = set()
    for is_day_first in (True, False):
        with contextlib.suppress(ValueError, TypeError):
            days.add(date(*map(int, read_date(match, is_day_first=is_day_first) or ())))
    return days


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


Detector = Callable[[Sequence[RecordedMessage]], frozenset[WantedValue]]
"""Returns the values in the output of a model call."""


def values_of(messages: Sequence[RecordedMessage]) -> frozenset[WantedValue]:
    """Return the values in model outputs: the leaves of JSON arguments, the names and numbers of a text."""
    values: set[WantedValue] = set()
    for message in messages:
        values.update(values_in(message.text) if (value := message.value) is None else _leaves(value))
    return frozenset(values)


def _leaves(value: object) -> Iterator[WantedValue]:
    match value:
        case Mapping():
            for item in value.values():
                yield from _leaves(item)
        case list():
            for item in value:
                yield from _leaves(item)
        case str():
            yield from {*text_leaf(value), *values_in(_OPTION.sub("", value))}
        case bool() | None:
            return
        case int() | float():
            yield from number_in(str(abs(value)))


_MAX_ASKED: Final = 20_000_000
"""Characters of stored texts that the queries of one run look through."""
_MAX_SOURCES: Final = 8
"""References that are asked for a value; one fetch names at most so many."""
_ADDRESSES: Final = re.compile(r"=([^\s$()]*)\$\{[^}\n]+\}([^\s$()]*)")
"""An address of a view that is written with the name of another value: `issues_url=${url}/issues`."""
_MAX_WORDS: Final = 12
"""Words of a long value that a model would ask for."""
_NOTHING_FOUND: Final = re.compile(r"0 of [\d,]+ ")
"""How an answer begins that names what it was asked for and has not found it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """The answer to a fetch."""

    answer: str
    """What the model reads."""
    found: bool
    """Whether the value is in it."""


class OneFetch:
    """Asks the stored texts of one run for values. Each fetch brings one page: the next page is not asked for."""

    def __init__(self, fetch: Callable[[str, str], str] | None) -> None:
        """Ask by `fetch`, see `Strategy.fetch`; None: each fetch brings the whole text."""
        self._fetch: Final = fetch
        self._left = _MAX_ASKED
        self.ask: Final = functools.cache(self._ask)
        """`ask(text, value)` tries the queries that a model might write, and returns the answer to the first that finds
        the value, else the last answer that is not empty. None: the run has asked for too much already."""

    def _ask(self, text: str, value: WantedValue) -> Fetched | None:
        if self._fetch is None:
            return Fetched(answer=text, found=True)
        answers = [""]
        for query in _queries(value, text):
            if self._left <= 0:
                return None
            self._left -= len(text)
            answers.append(self._fetch(text, query))
            if not _NOTHING_FOUND.match(answers[-1]) and contains(value, answers[-1]):
                return Fetched(answer=answers[-1], found=True)
        shown = next(filter(None, reversed(answers)), "") or self._fetch(text, "")
        return Fetched(answer=shown, found=False)


def _queries(value: WantedValue, text: str) -> Iterator[str]:
    """Yield the value as a model may write it; then as `text` spells it, or the words of a text."""
    if not isinstance(value, str):
        yield (plain := f"{value:f}" if isinstance(value, Decimal) else str(value))
        numbers = (number[0] for number in _NUMBER.finditer(text) if value in _readings(number[0]))
        spelled = numbers if isinstance(value, Decimal) else (d[0] for d in _DATE.finditer(text) if value in _days(d))
        yield from islice((each for each in spelled if each != plain), 1)
        return
    yield value
    words = " ".join(_WORD.findall(value)[:_MAX_WORDS])
    if words and words != value:
        yield words


@dataclass(frozen=True, slots=True)
class NeededValue:
    """One value that the output of one call needed."""

    value: WantedValue
    """The value."""
    visible: bool
    """Whether it is in the prompt that was sent."""
    fetched: Fetched | None = None
    """What one fetch that asks for it brings; None: it is visible, no reference leads to a text that holds it, or no
    fetch was made."""
    unasked: bool = False
    """Whether a reference leads to a text that holds it, and no fetch was made: the run had asked for too much."""
    in_parts: bool = False
    """Whether it is in a view, but in parts: an address with the name of another (`${url}/issues`)."""

    @property
    def reachable(self) -> bool:
        """Whether the model reads the value, can put it together, or finds it with one fetch that asks for it."""
        return self.visible or self.in_parts or (self.fetched is not None and self.fetched.found)


@dataclass(slots=True, kw_only=True)
class HeldValues:
    """Where the values of a run's outputs are in a prompt; a later one that goes on from there adds to it."""

    recorded: defaultdict[WantedValue, list[int]] = field(default_factory=lambda: defaultdict(list))
    """The positions of the messages of tools and other agents that hold each value, as recorded."""
    sent: defaultdict[WantedValue, list[int]] = field(default_factory=lambda: defaultdict(list))
    """Those that hold it as they are sent."""
    others: set[WantedValue] = field(default_factory=set)
    """The values in all other messages."""
    size: int = 0
    """The number of messages."""


def _look_up(value: WantedValue, sources: Sequence[str], one_fetch: OneFetch, *, in_parts: bool) -> NeededValue:
    """Return a value that is not visible, with what one fetch brings of it from the texts that references open."""
    if not sources:
        return NeededValue(value, visible=False, in_parts=in_parts)
    answers = (one_fetch.ask(text, value) for text in sources[:_MAX_SOURCES])
    fetched = next((each for each in answers if each is None or each.found), one_fetch.ask(sources[0], value))
    return NeededValue(value, visible=False, fetched=fetched, unasked=fetched is None)


class VisibilityCheck:
    """Finds the needed values of a run's calls in what was sent; each text is looked through once for all of them."""

    def __init__(self, run: Run, detector: Detector = values_of) -> None:
        """Check the calls of `run`; `detector` says what counts as a value."""
        self._run = run
        self._said = {call.output: detector([run.messages[i] for i in call.output]) for call in run.calls}
        self._wanted = frozenset[WantedValue]().union(*self._said.values())
        self._index = ValueIndex(value for value in self._wanted if isinstance(value, str))
        self._held: Callable[[str], frozenset[WantedValue]] = functools.cache(self._find)

    def _find(self, text: str) -> frozenset[WantedValue]:
        """Return the values of all outputs that `text` contains."""
        return frozenset((*self._index.found_in(text), *(self._wanted & spelled_in(text))))

    def needed_values(
        self, call: RecordedCall, sent: Mapping[int, SentMessage], one_fetch: OneFetch, held: HeldValues | None = None
    ) -> list[NeededValue]:
        """Return the values that the output of `call` needed from tools and other agents.

        Args:
            call: One call of the run.
            sent: What the model was sent, by the position of each message of its prompt.
            one_fetch: Asks for values that are hidden.
            held: What is in the prompt of an earlier call from which this one's goes on; it is added to.
        """
        held, messages = held or HeldValues(), self._run.messages
        self._add(call, sent, held)
        sources = self._sources(call, held)
        visible = {
            value
            for value in sources
            # The last messages first: they mostly have all.
            if any(not has_moved(value, messages[i].text, sent[i].text) for i in reversed(held.sent.get(value, ())))
        }
        hidden = {value: sorted(holders) for value, holders in sources.items() if value not in visible}
        in_parts, needed = self._in_parts(hidden, sent), [NeededValue(value, visible=True) for value in visible]
        for value, holders in hidden.items():
            texts = [messages[i].text for i in holders if sent[i].reference]
            needed.append(_look_up(value, texts, one_fetch, in_parts=value in in_parts))
        return needed

    def _add(self, call: RecordedCall, sent: Mapping[int, SentMessage], held: HeldValues) -> None:
        """Add the next messages of a prompt to what it holds."""
        for i in call.prompt[held.size :]:
            message = self._run.messages[i]
            if is_foreign(message, call.agent):
                for found, text in ((held.recorded, message.text), (held.sent, sent[i].text)):
                    for value in self._held(text):
                        found[value].append(i)
            else:
                held.others |= self._held(message.text)
        held.size = len(call.prompt)

    def _sources(self, call: RecordedCall, held: HeldValues) -> Mapping[WantedValue, list[int]]:
        """Return each value that the output of `call` needed, and the positions of the messages that held it."""
        said = self._said[call.output]
        holders = {value: held.recorded[value] for value in (said & held.recorded.keys()) - held.others}
        for value in holders.keys() & self._held(call.tools):
            del holders[value]
        # The words of a needed argument are no further values.
        words = {word for value in holders if isinstance(value, str) for word in self._held(value) - {value}}
        return {value: holders[value] for value in sorted(holders, key=str) if value not in words}

    def _in_parts(
        self, hidden: Mapping[WantedValue, Iterable[int]], sent: Mapping[int, SentMessage]
    ) -> set[WantedValue]:
        """Return the hidden addresses that a text shows in parts, such as `${url}/issues` beside what `url` is."""
        by_text: defaultdict[str, list[str]] = defaultdict(list)
        for value, holders in hidden.items():
            if isinstance(value, str) and not any(sent[i].reference for i in holders):
                for text in {sent[i].text for i in holders}:
                    by_text[text].append(value)
        found: set[WantedValue] = set()
        for text, values in by_text.items():
            values_with: defaultdict[str, list[str]] = defaultdict(list)
            for before, behind in set(_ADDRESSES.findall(text)):
                for value in values:
                    if value.startswith(before) and value.endswith(behind):
                        values_with[value[len(before) : len(value) - len(behind)]].append(value)
            found.update(value for part in ValueIndex(values_with).found_in(text) for value in values_with[part])
        return found
