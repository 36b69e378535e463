"""What the cells of a column are: each is read once, for previews and for queries alike.

    9.5  2,202.50  (1.204,50)  €84  Rp 5.000,00  5.3 km  12 %  1.2G  a number; of unlike units in the smallest named one
    2026-02-17T14:00+01:00  17/Feb/2026:14:05:32  02/17/2026       a moment: an ISO text, in UTC where it has a zone
    2026年2月17日  2026. 2. 17.  2026/2/7                           the same: what begins with the year has one order
    3h 20m  PT3H20M  11-02:00:00  20:10:05 beside 59:58  300:11    a duration in seconds; 14:05 alone has no unit
    true                                                           a boolean, as is the text of one
    -  N/A  none  an empty text                                    left out: null in a column of any of these
    01234  1.10 beside 1.8  03/04/2026 alone  anything else        a text

A column is of one kind, decided by all of its cells: of numbers only if all have the same unit, or units of one scale,
if no two spellings mean the same number, and if none has a leading zero. So versions, postcodes and ids stay texts.
A word before numbers is a unit if they are amounts: 1,204 or 9.50, not 12. Digits of all scripts are read.
A table has one writer: 1.022 is more than 1,000 where other numbers of it are written as 1,50; money is a text where
nothing tells whether it has three decimals.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from functools import cache
from itertools import takewhile
from typing import Any, Final, TypeAlias

from accp_core.documents.grids.cells import are_thousands, are_versions
from accp_core.markers import plain
from accp_core.tables.table import Table

__all__ = [
    "ABSENT", "CLOCK", "DATE", "INTEGERS", "MONTH", "TIME_TEXT", "Kind", "TypedColumn", "are_unordered_days",
    "convert", "is_left_out", "month_number", "read_date", "type_column",
]  # fmt: skip

ABSENT: Final = ...
"""A cell that a row does not have, which is not null."""
_LEFT_OUT: Final = frozenset(("", "-", "--", "null", "none", "nil", "n/a", "na", "nan", "<none>", "\u2013", "\u2014"))
"""Texts that say that there is nothing, without regard to case."""
_MAX_CHARS: Final = 48
"""Characters of a number or a moment at most."""
INTEGERS: Final = range(-(2**63), 2**63)
"""The integers that SQLite can keep."""

_DIGITS: Final = r"(?:0|[1-9]\d*)"
_EXPONENT: Final = r"(?:[eE][-+]?\d{1,3})?"
_SIGN: Final = "[-+\u2212]"
_CURRENCY: Final = "[$\u00a2-\u00a5\u0e3f\u20a0-\u20c0]"
_AROUND: Final = (
    rf"(?P<minus>{_SIGN})?(?P<before>~|{_CURRENCY}|[^\W\d_](?:[^\W\d_]|[./]|{_CURRENCY}){{0,4}}(?= ?{_SIGN}?\d))? ?"
    r"(?P<number>{})(?:[.,][-\u2013\u2014]|(?P<after>-))?"
    rf"(?: ?(?P<unit>[^\W\d_]+(?:/[^\W\d_]+|\.)?|[%‰]|°[A-Z]?|{_CURRENCY}))?"
    r"(?P<behind> ?/ ?[1-9]\d*| \([^()]*\))?"
)


def _notation(group: str, point: str) -> re.Pattern[str]:
    # India parts thousands, then hundreds of them: 12,34,567.
    further = rf"(?:(?:{group}\d{{3}})+|(?:,\d\d)+,\d{{3}})" if group == "," else rf"(?:{group}\d{{3}})+"
    grouped = rf"[1-9]\d{{0,2}}{further}(?:{point}\d+)?"
    number = rf"(?:{grouped}|{_DIGITS}?{point}\d+{_EXPONENT}|{_DIGITS}{_EXPONENT})"
    return re.compile(_AROUND.replace("{}", rf"{_SIGN}?{number}", 1))


_NOTATIONS: Final = (
    (_notation(",", r"\."), ".", re.compile(",")),
    (_notation(r"\.", ","), ",", re.compile(r"\.")),
    (_notation("['\u2019]", r"\."), ".", re.compile("['\u2019]")),
    (_notation(" ", "[.,]"), ",", re.compile(" ")),
)
"""The ways to write a number, with the sign before its fraction and those between its thousands."""
_SECONDS: Final = {
    unit: size
    for size, units in (
        ("1e-9", "ns"), ("1e-6", "us \u00b5s"), ("0.001", "ms"), ("1", "s sec secs second seconds"),
        ("60", "m min mins minute minutes"), ("3600", "h hr hour hours"), ("86400", "d day days"),
        ("604800", "w week weeks"), ("2592000", "month months"), ("31536000", "y year years"),
    )
    for unit in units.split()
}  # fmt: skip
_BYTES: Final = {"": "1", "bytes": "1", "b": "1"} | {
    f"{letter}{behind}": str(base**power)
    for base, ends in ((1024, ("", "i", "ib")), (1000, ("b",)))
    for power, letter in enumerate("kmgt", 1) for behind in ends
}  # fmt: skip
_BINARY: Final = {unit: _BYTES[unit[0]] if unit[1:] == "b" else size for unit, size in _BYTES.items()}
"""The same where 1 kB is 1024 bytes."""
_AMOUNTS: Final = {"": "1", "k": "1e3", "m": "1e6", "b": "1e9", "bn": "1e9", "t": "1e12"}
"""What stands behind an amount of money: `$1.2M`, `$900K`."""
_MONEY: Final = re.compile(rf"[^\W\d_]{{0,3}}{_CURRENCY}|\b[A-Z][A-Za-z]{{1,2}}\b")
_ONE_UNIT: Final = re.compile(r"\S*(?: [A-Z]{3})?")
"""A unit, or a sign of money with its code, as of `$5 USD`; of `$5 mln` nothing tells what it counts."""
_AMOUNT: Final = re.compile(r"\D\d\d")
_LOSS: Final = re.compile(r"\A(\D?)\(([^()]+)\)\Z")
"""An amount in parentheses, with the sign of its money before them or within."""
_UNSURE: Final = re.compile(r"[1-9]\d{0,2}\.\d{3}")
_THOUSAND: Final = 3
"""Digits before each sign between thousands."""
_SCALES: Final[tuple[Mapping[str, str], ...]] = (_SECONDS, _BYTES, {"m": "0.001", "km": "1"}, {"g": "0.001", "kg": "1"})
_DURATION: Final = re.compile(r"(?:\d+(?:\.\d+)?[a-z\u00b5]+ )+|(?:\d+(?:\.\d+)?[a-z\u00b5]+)+ ")
_STEP: Final = re.compile(r"(\d+(?:\.\d+)?)([a-z\u00b5]+)")
_ISO_DURATION: Final = re.compile(r"\AP((?:\d+[WD]){0,2})(?:T((?:\d+(?:\.\d+)?[HMS]){1,3}))?\Z")
"""ISO 8601, 5.5.2.2; months and years have no length."""
_ELAPSED: Final = re.compile(r"\A(?:(?:(\d{1,9})-)?(\d{1,9}):)?(\d{1,9}):([0-5]\d(?:\.\d{1,9})?)\Z")
"""A duration as ps and top write it, `[[days-]hours:]minutes:seconds`."""

_MONTHS: Final = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december")  # fmt: skip
MONTH: Final = rf"(?:{'|'.join(f'{month[:3]}(?:{month[3:]})?' for month in _MONTHS)})"
"""The name of a month, in a pattern that ignores case."""
_DATES: Final = (
    r"(?P<y1>\d{4})(?P<sign1>[-/.])(?P<m1>\d\d)(?:(?P=sign1)(?P<d1>\d\d))?(?!\d)",
    r"(?P<y2>(?:19|20)\d\d)(?P<m2>[01]\d)(?P<d2>[0-3]\d)(?=T)",
    rf"(?P<d3>\d\d?)(?:st|nd|rd|th)?(?: of)?[-/. ]+(?P<m3>{MONTH})(?!\w)(?:\.?,?[-/ ]+(?P<y3>\d{{4}}))?",
    rf"(?P<m4>{MONTH})\.? +(?P<d4>\d\d?)(?:st|nd|rd|th)?(?![\d:])(?:,? +(?P<y4>\d{{4}}))?",
    r"(?P<a5>\d\d?)(?P<sign5>[/.-])(?P<b5>\d\d?)(?P=sign5)(?P<y5>\d{4})",
    r"(?P<y0>(?:19|20)\d\d)_ ?(?P<m0>\d\d?)_ ?(?P<d0>\d\d?)_?(?!\d)".replace("_", r"(?:[-/.]|[^\W\d_a-z])"),
)
DATE: Final = "|".join(_DATES)
"""A date; `read_date` reads its groups."""
CLOCK: Final = r"(?P<h>\d\d?):(?P<min>\d\d)(?::(?P<s>\d\d)(?:[.,](?P<f>\d{1,12}))?)?"
"""A time of day."""
_COMPACT_CLOCK: Final = r"T(?P<h2>\d\d)(?P<min2>\d\d)(?P<s2>\d\d)"
_ZONE: Final = r"(?P<zone>Z|UTC|GMT|[+-]\d\d:?\d\d)(?: \([A-Z]+\))?"
TIME_TEXT: Final = (
    rf"(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\.?,? +)?(?:(?:{DATE})"
    rf"(?:(?:[T:,]| at)? *{CLOCK}(?: ?(?P<half>[ap]m))?|{_COMPACT_CLOCK})?(?: (?P<y6>\d{{4}}))?(?: ?{_ZONE})?"
    rf"|(?P<only>(?![6-9]\d|(?:2[4-9]|[3-5]\d):\d\d:){CLOCK.replace('?P<', '?P<o')}(?: ?(?P<ohalf>[ap]m))?))"
)
"""A moment as programs and people write it."""
_TIME: Final = re.compile(TIME_TEXT, re.IGNORECASE)
_YEAR: Final = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_PART: Final = re.compile(rf"\d|\b{MONTH}\b", re.IGNORECASE)
_SHORT_DATE: Final = re.compile(r"(?:\d\d?/\d\d?/\d\d|\d\d([.-])\d\d\1\d\d)(?!\S)")
"""A day whose year has two digits, and may be any of the three."""
_MOST_WORDS: Final = 3
_NO_YEAR: Final = "0000"
_BEGINNING: Final = re.compile(r"\d{4}(?:-(?:0[1-9]|1[0-2]))?")
"""A year or a month, with which moments in it begin."""


class Kind(StrEnum):
    """What all cells of a column are, but for null, absent and what is left out."""

    NOTHING = "nothing"
    BOOLEAN = "boolean"
    NUMBER = "number"
    MOMENT = "moment"
    DURATION = "duration"
    TEXT = "text"


_Read: TypeAlias = Callable[[str], Any]
"""Reads a text as the cells of a column are read; None: it cannot be read so."""


@dataclass(frozen=True, slots=True)
class TypedColumn:
    """The cells of a column as what they are."""

    kind: Kind
    values: Sequence[Any]
    """One for each cell: an integer or a float, the seconds of a duration, an ISO text, a boolean, or, in a column of
    texts, the cell as it is; None: null, absent or left out."""
    read: _Read
    """Reads a further text as those of the column: "$1,200" in one of dollars, "03/04/2026" where months come first."""
    unit: str = ""
    """The unit of the numbers, such as "km", "R$" or "%"; empty: none."""
    left_out: int = 0
    """How many cells say that there is nothing."""
    is_scaled: bool = False
    """Whether cells with unlike units, or times with unlike zones, were converted."""

    @property
    def is_ordered(self) -> bool:
        """Whether the cells are numbers or moments."""
        return self.kind in (Kind.NUMBER, Kind.DURATION, Kind.MOMENT)


def is_left_out(cell: Any) -> bool:
    """Return whether a cell says that there is nothing: null, absent, "-", "N/A", an empty text, array or object."""
    if type(cell) is str:
        return plain(cell).strip().casefold() in _LEFT_OUT
    return cell is None or cell is ABSENT or (isinstance(cell, (list, dict)) and not cell)


def type_column(cells: Sequence[Any], table: Table | None = None) -> TypedColumn:
    """Return the cells of a column as what they are; `ABSENT` and None are nothing.

    `1.022` is more than 1,000 where another number of its table is `1,50`.
    """
    present = [cell for cell in cells if cell is not None and cell is not ABSENT]
    kinds = set(map(type, present))
    if str not in kinds:
        return _of_json(cells, kinds)
    kept = [None if type(cell) is str and is_left_out(cell) else cell for cell in cells]
    told = [plain(cell) if type(cell) is str else cell for cell in kept if cell is not None and cell is not ABSENT]
    if told and str not in set(map(type, told)):
        typed = _of_json(kept, set(map(type, told)))
        return replace(typed, left_out=len(present) - len(told)) if typed.kind is not Kind.TEXT else _texts(cells)
    # Most columns of days repeat them.
    each = list(dict.fromkeys(told)) if set(map(type, told)) == {str} else told
    found = _booleans(each) or _numbers(each, table) or _moments(each) or _durations(each)
    if found is None:
        return _texts(cells)
    kind, values, read, unit, is_scaled = found
    waiting = iter(values) if each is told else map(dict(zip(each, values, strict=True)).__getitem__, told)
    read_cells = [None if cell is None or cell is ABSENT else next(waiting) for cell in kept]
    return TypedColumn(kind, read_cells, lambda text: read(plain(text)), unit, len(present) - len(told), is_scaled)


def _of_json(cells: Sequence[Any], kinds: set[type]) -> TypedColumn:
    values = [None if cell is ABSENT else cell for cell in cells]
    if not kinds:
        return TypedColumn(Kind.NOTHING, values, lambda text: text)
    if kinds == {bool}:
        return TypedColumn(Kind.BOOLEAN, values, _read_boolean)
    if all(issubclass(kind, (int, float)) and kind is not bool for kind in kinds):
        present = [value for value in values if value is not None]
        if len({Decimal(repr(value)) for value in present}) == len(set(map(_storable, present))):
            numbers = [None if value is None else _storable(value) for value in values]
            return TypedColumn(Kind.NUMBER, numbers, _Reader(_NOTATIONS[0]))
    return _texts(cells)


def _texts(cells: Sequence[Any]) -> TypedColumn:
    return TypedColumn(Kind.TEXT, [None if cell is ABSENT else cell for cell in cells], lambda text: text)


_Found: TypeAlias = "tuple[Kind, Sequence[Any], _Read, str, bool] | None"
_Notation: TypeAlias = "tuple[re.Pattern[str], str, re.Pattern[str]]"
_Written: TypeAlias = "Sequence[str]"
"""The groups of a match of `_AROUND`, those that match nothing empty."""


def _read_boolean(text: str) -> bool | None:
    return {"true": True, "false": False}.get(text.casefold())


def _booleans(cells: Sequence[Any]) -> _Found:
    is_told = all(type(cell) is str and _read_boolean(cell) is not None for cell in cells)
    read = list(map(_read_boolean, cells)) if is_told else []
    return (Kind.BOOLEAN, read, _read_boolean, "", False) if read and len(set(cells)) == len(set(read)) else None


def _storable(number: Decimal | float) -> int | float:
    """Return a number as an integer of 64 bits where it is one, else as a float."""
    is_whole = type(number) is int or (isinstance(number, Decimal) and _is_whole(number))
    return int(number) if is_whole and int(number) in INTEGERS else float(number)


def _is_whole(number: Decimal) -> bool:
    return number == number.to_integral_value()


def _numbers(cells: Sequence[Any], table: Table | None) -> _Found:
    """Return the numbers of cells that are all written in one notation and with units of one scale."""
    texts = [cell for cell in cells if type(cell) is str]
    others = [cell for cell in cells if type(cell) is not str]
    if not texts or any(type(cell) is bool or not isinstance(cell, (int, float)) for cell in others):
        return None
    texts = _with_signs(texts)
    readings = ((found, notation) for notation in _NOTATIONS if (found := _matches(texts, notation[0])))
    told = next(readings, None)
    if told and told[1] is _NOTATIONS[0] and not all(map(str.isdigit, texts)):
        told = next(readings, told) if are_thousands(texts) or (table and table.has_commas) else told
    return _measures(cells, [match.groups("") for match in told[0]], told[1]) if told else None


def _with_signs(texts: list[str]) -> list[str]:
    """Return texts with a minus in place of the parentheses around some of several amounts, as accounts have them."""
    signed = [_LOSS.sub(r"-\1\2", text) if text[-1:] == ")" else text for text in texts]
    return signed if signed != texts and any(map(_AMOUNT.search, {*texts} & {*signed})) else texts


def _matches(texts: Sequence[Any], pattern: re.Pattern[str]) -> list[re.Match[str]]:
    """Return the matches of cells that are all texts of a pattern, else none."""
    found = (pattern.fullmatch(text) if type(text) is str and len(text) <= _MAX_CHARS else None for text in texts)
    told = [match for match in takewhile(bool, found) if match]
    return told if len(told) == len(texts) else []


def _measures(cells: Sequence[Any], written: Sequence[_Written], notation: _Notation) -> _Found:
    if _are_codes(written, notation[1]):
        return None
    units = {(before, unit): _unit(before, unit) for _, before, _, _, unit, _ in written}
    of_texts = (
        (_number(minus, number, after, notation), units[before, unit], minus + number)
        for minus, before, number, after, unit, _ in written
    )
    found = [next(of_texts) if type(cell) is str else (Decimal(repr(cell)), "", repr(cell)) for cell in cells]
    texts = {(number, unit): text for number, unit, text in found}
    if len(set(found)) > len(texts):
        return None
    scale, unit = _scale([each for each in texts if each[0] or each[1]])
    rates = {behind for *_, behind in written if behind.strip().startswith("/")}
    if scale is None or len(rates) > 1:
        return None
    is_whole = all(_is_whole(number) and notation[1] not in text for (number, _), text in texts.items())
    read = _Reader(notation, unit, scale, is_whole)
    values = [read.of(number, own) for number, own, _ in found]
    if not scale and len(set(values)) < len({number for number, _ in texts}):
        return None
    return Kind.NUMBER, values, read, unit, bool(scale)


def _are_codes(found: Sequence[_Written], point: str) -> bool:
    """Return whether they are versions, words before them are no units, as of `LOT 12`, or 1.204 may be 1,204."""
    written = [number.lstrip("-+\u2212") for _, _, number, *_ in found]
    if are_versions(written, point) or any(after and number.isdecimal() for _, _, number, after, _, _ in found):
        return True
    around = {(before, unit) for _, before, _, _, unit, _ in found}
    words = [before for before, _ in around if before.strip("./").isalpha()]
    is_word = any(len(word) > 1 for word in words)
    if words and not any(_AMOUNT.search(number) and (is_word or number[-4:-3] in ",.'") for number in written):
        return True
    is_money = point == "." and any(_MONEY.search(f"{before} {unit}") for before, unit in around)
    pointed = [number for number in written if not number.isdecimal()]
    is_short = all(len(number) <= _THOUSAND for number in written if number.isdecimal())
    return is_money and is_short and bool(pointed) and all(map(_UNSURE.fullmatch, pointed))


def _unit(before: str, unit: str) -> str:
    return f"{before.strip('~')} {unit}".strip()


def _number(minus: str, number: str, after: str, notation: _Notation) -> Decimal:
    read = Decimal(notation[2].sub("", number).replace(notation[1], ".").replace("\u2212", "-"))
    return -read if (minus or after or "+") in "-\u2212" else read


def _scale(numbers: Sequence[tuple[Decimal, str]]) -> tuple[Mapping[str, str] | None, str]:
    """Return how unlike units are converted, and the unit of the result; None: they measure different things.

    No byte has a fraction, so that 1.5B are billions. What names no byte and has no G counts thousands, not KiB.
    """
    units = {unit for _, unit in numbers}
    only = min(units, default="")
    has_parted = any(unit in ("b", "B") and not _is_whole(number) for number, unit in numbers)
    if len(units) <= 1 and not has_parted and _ONE_UNIT.fullmatch(only):
        return {}, only
    folded = {unit.casefold() for unit in units}
    bare = max((abs(number) for number, unit in numbers if not unit), default=0)
    # Who writes 2048 beside 1.2g counts something larger than bytes; a letter alone may be one of another unit.
    is_vague = bare and not (bare < 1024 and any(unit[:1] == "k" and len(unit) + len(folded) > 3 for unit in folded))
    is_one = len(folded) == len(units) and not is_vague
    top = max(int(_BYTES.get(unit, 0)) for unit in folded)
    # `S` and `H` are the sides of an account; seconds and hours are small letters.
    scales = _SCALES[1:] if any(len(unit) == 1 and unit.isupper() for unit in units) else _SCALES
    if money := _MONEY.match(min(folded, default="")):
        scales = ({f"{money[0]} {behind}".strip(): size for behind, size in _AMOUNTS.items()},)
    elif folded <= _AMOUNTS.keys():
        scales = (_AMOUNTS,) * (has_parted or "b" not in folded)
    elif any(abs(number) > 1000 and int(_BYTES.get(unit.casefold(), top)) < top for number, unit in numbers):
        # Who writes 8192 bytes beside 16 kB counts 1024 of them.
        scales = (_BINARY, *scales)
    scale = next((scale for scale in scales if folded <= scale.keys()), None) if is_one else None
    one = next((unit for unit, size in (scale or {}).items() if size == "1" and unit), "")
    return scale, only[: len(one)] if money else next((unit for unit in units if unit.casefold() == one), one)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads numbers as those of a column."""

    notation: _Notation
    unit: str = ""
    scale: Mapping[str, str] = field(default_factory=dict)
    is_whole: bool = False
    """Whether all numbers of the column are whole; of others all are floats, so that a half of 7 is 3.5."""

    def __call__(self, text: str) -> int | float | None:
        match = self.notation[0].fullmatch(_LOSS.sub(r"-\1\2", text.strip())[:_MAX_CHARS])
        if match is None:
            return None
        minus, before, digits, after, unit, _ = match.groups("")
        number, own = _number(minus, digits, after, self.notation), _unit(before, unit)
        if own == self.unit or own.casefold() in self.scale:
            return self.of(number, own)
        # A column of bare numbers need not be of bytes: the memory that `ps` shows is of kilobytes.
        is_other = not (self.unit or self.scale) and len(own) > 1
        converted = None if is_other else convert(number, own.casefold(), self.unit.casefold()) if own else number
        return None if converted is None else _storable(converted)

    def of(self, number: Decimal, unit: str) -> int | float:
        scaled = number * Decimal(self.scale.get(unit.casefold(), "1")) if self.scale else number
        return _storable(scaled) if self.is_whole else float(scaled)


def _durations(cells: Sequence[Any]) -> _Found:
    colons = {str(cell).count(":") for cell in cells}
    read = _seconds if 0 in colons else _elapsed
    told = (read(cell) if type(cell) is str else None for cell in cells)
    values = list(takewhile(lambda value: value is not None, told))
    # Beside hours, minutes and seconds alone, `14:05` may be hours and minutes.
    alike = read if colons != {2} else lambda text: None if text.count(":") == 1 else _elapsed(text)
    return (Kind.DURATION, values, alike, "s", True) if values and len(values) == len(cells) else None


def _elapsed(text: str) -> int | float | None:
    return _seconds(_ELAPSED.sub(r"0\1d0\2h\3m\4s", text))


def _seconds(text: str) -> int | float | None:
    text = _ISO_DURATION.sub(lambda iso: iso.expand(r"\1\2").lower(), text)
    steps = _STEP.findall(text) if len(text) <= _MAX_CHARS and _DURATION.fullmatch(f"{text} ") else []
    if not steps or any(unit not in _SECONDS for _, unit in steps):
        return None
    return _storable(sum((Decimal(count) * Decimal(_SECONDS[unit]) for count, unit in steps), Decimal(0)))


def convert(number: Decimal, unit: str, other: str) -> Decimal | None:
    """Return a number in another unit; None: they measure different things, or one is no unit."""
    scale = next((scale for scale in _SCALES if unit in scale and other in scale), None)
    return None if scale is None else number * Decimal(scale[unit]) / Decimal(scale[other])


def are_unordered_days(texts: Sequence[str]) -> bool:
    """Return whether texts are days or other parts of a year, in any language, whose order is not that of texts.

    It is that where they are alike up to the year, and differ in digits only behind it: `2026-W05`, `01/03/2026 08:05`.
    """
    parts = (_YEAR.split(text, maxsplit=1) for text in texts)
    forms = ((before, re.sub(r"\d", "0", "".join(after))) for before, *after in parts)
    return all(map(_is_dated, texts)) and len({*forms}) > 1


def _is_dated(text: str) -> bool:
    """Return whether a text is a moment, or a year with numbers of two digits at most, or a month, and few words.

    Behind a word, a year with what follows it belongs to a name, as in `orders-2026-06-01.csv`.
    """
    shown = plain(text)
    before, *after = _YEAR.split(shown, maxsplit=1)
    is_part = after and _PART.search(before or after[0]) and not re.search(r"\d{3}", before + after[0])
    is_short = len(text) <= _MAX_CHARS and len(re.findall(r"[^\W\d_]{2,}", shown)) <= _MOST_WORDS
    return is_short and bool(is_part or _TIME.fullmatch(shown) or _SHORT_DATE.match(shown))


def _moments(cells: Sequence[Any]) -> _Found:
    """Return moments whose order is known: not where day and month may be exchanged, or some have a zone only."""
    times = _matches(cells, _TIME)
    is_day_first = _is_day_first(times)
    # `20:10:05` beside `59:58` are hours, minutes and seconds that have passed.
    is_passed = len({time["os"] is None for time in times if time["only"]}) > 1
    if not times or is_passed or (is_day_first is None and any(time["a5"] for time in times)):
        return None
    read = _moment_reader(times, is_day_first=is_day_first)
    values = list(map(read, cells, times))
    years = {value[:4] for value in values if value}
    if None in values or (_NO_YEAR in years and (len(years) > 1 or {"01", "12"} <= {each[5:7] for each in values})):
        return None

    def read_alike(text: str) -> str | None:
        value = read(text)
        # Of a date without a year nobody knows whether it is before one with a year.
        return value if value and (value[:4] == _NO_YEAR) == (years == {_NO_YEAR}) else None

    return Kind.MOMENT, values, read_alike, "", any(map(_offset, (each["zone"] for each in times)))


def _is_day_first(times: Sequence[re.Match[str]]) -> bool | None:
    """Return whether the day is before the month in such dates as 23/04/2026 and 03.04.2026; None: nothing tells it."""
    days = [(int(time["a5"]), int(time["b5"])) for time in times if time["a5"]]
    is_first = any(time["sign5"] == "." for time in times) or any(a > 12 for a, _ in days)
    return None if is_first == any(b > 12 for _, b in days) else is_first


def _moment_reader(times: Sequence[re.Match[str]], *, is_day_first: bool | None) -> Callable[..., Any]:
    """Return what reads moments of a column in one form, so that their texts are ordered as they are."""
    is_clock = {bool(time["only"]) for time in times}
    has_zones = {time["zone"] is not None for time in times}
    has_clock = any(_clock(time) for time in times)
    has_seconds = any(time["os"] for time in times)
    places = max(len(time["f"] or time["of"] or "") for time in times)

    def read(text: str, time: re.Match[str] | None = None) -> str | None:
        time = time or (_TIME.fullmatch(text.strip()) if len(text) <= _MAX_CHARS else None)
        if time is None or len(is_clock) > 1 or len(has_zones) > 1 or bool(time["only"]) not in is_clock:
            return text if is_clock == {False} and _BEGINNING.fullmatch(text) else None
        if time["only"]:
            # `14:05` alone may be minutes and seconds: it gets no `:00`, and has no order beside `14:05:00`.
            clock = _with_places(_clock(time), places) if has_seconds else _clock(time).removesuffix(":00")
            return clock if has_seconds or not time["os"] else None
        # Beside days of another form, a text tells its own order, or none: 03/04/2026 beside 2026-04-03.
        order = is_day_first if time["sign5"] != "." and is_day_first is not None else _is_day_first([time])
        date = read_date(time, is_day_first=bool(order)) if order is not None or not time["a5"] else None
        return _iso(date, time, has_clock, places, has_zones == {True}) if date else None

    return read


def _iso(date: tuple[str, str, str], time: re.Match[str], has_clock: bool, places: int, is_utc: bool) -> str | None:
    year, month, day = date
    clock = _clock(time)
    if not day or year == _NO_YEAR:
        text = "-".join(filter(None, (year, month, day)))
        return f"{text}T{_with_places(clock or '00:00:00', places)}" if has_clock and day else text
    try:
        moment = datetime.fromisoformat(f"{year}-{month}-{day}T{clock[:8] or '00:00:00'}") - _offset(time["zone"])
    except (ValueError, OverflowError):
        return None
    if not has_clock:
        return moment.isoformat() if clock.strip("0:.") else f"{moment.date()}"
    return f"{_with_places(moment.isoformat() + clock[8:], places)}{'Z' * is_utc}"


def _offset(zone: str | None) -> timedelta:
    if not zone or zone[0] not in "+-":
        return timedelta()
    return timedelta(hours=int(zone[1:3]), minutes=int(zone[-2:])) * (-1 if zone[0] == "-" else 1)


def _with_places(clock: str, places: int) -> str:
    """Return a time with as many digits behind the second as the column has."""
    whole, _, fraction = clock.partition(".")
    return f"{whole}.{fraction.ljust(places, '0')}" if places or fraction else whole


def _clock(time: re.Match[str]) -> str:
    """Return the time of day with its seconds; empty: none is named."""
    if time["h2"]:
        return f"{time['h2']}:{time['min2']}:{time['s2']}"
    o = "o" if time["only"] else ""
    if not time[f"{o}h"]:
        return ""
    hour = int(time[f"{o}h"])
    if half := time[f"{o}half"]:
        hour = hour % 12 + 12 * (half.lower() == "pm")
    fraction = time[f"{o}f"]
    return f"{hour:02}:{time[f'{o}min']}:{time[f'{o}s'] or '00'}{f'.{fraction}' if fraction else ''}"


@cache
def _date_groups(pattern: re.Pattern[str]) -> Sequence[str]:
    return [name for name in pattern.groupindex if re.fullmatch(r"[ymdab]\d", name)]


def read_date(found: re.Match[str], *, is_day_first: bool) -> tuple[str, str, str] | None:
    """Return the year ("0000": none), the month and the day (empty: none) of a match; None: there is no such date."""
    names = _date_groups(found.re)
    parts = {name[:-1]: text for name, text in zip(names, found.group(*names), strict=True) if text}
    if "a" in parts:
        parts |= dict(zip("dm" if is_day_first else "md", (parts["a"], parts["b"]), strict=True))
    day, month = parts.get("d", ""), month_number(parts.get("m", ""))
    if not month or not 1 <= int(month) <= 12 or (day and not 1 <= int(day) <= 31):
        return None
    return parts.get("y", _NO_YEAR), month, day and day.zfill(2)


def month_number(text: str) -> str:
    """Return the two digits of a month that is written in digits or letters; empty for an empty text."""
    if not text or text.isdigit():
        return text and text.zfill(2)
    return f"{[month[:3] for month in _MONTHS].index(text[:3].lower()) + 1:02}"
