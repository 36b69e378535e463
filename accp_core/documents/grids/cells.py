"""The cells of a grid of text: the types of its columns, their names, and the spelling of each value.

A column has a type where every cell agrees: numbers as JSON writes them, or booleans of one spelling. In doubt its
cells are text, so `007` and `1,234` stay what they are. An empty cell is null.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, zip_longest
from typing import Any, Final, TypeAlias

from accp_core.documents.writing import Kind, Pen, Spelling, as_is, find_writing, write_again
from accp_core.lazy_patterns import lazy_pattern
from accp_core.packing.expansion import Expansion
from accp_core.packing.values import read_float, read_int

__all__ = [
    "INDENT", "LOOKED_AT", "MAX_COLUMNS", "SAMPLE", "STRONG", "Grid", "LineForm", "Lines", "Rows", "Styles",
    "are_thousands", "are_versions", "cells_grid", "class_of", "distinct_names", "end_line", "has_numbers",
    "is_number", "is_row", "names_of", "note_of_loose", "read_number", "rows_of", "spell_cell",
    "spell_name", "text_width", "values_of", "writes_commas",
]  # fmt: skip


Rows: TypeAlias = list[dict[str, Any]]
"""The value of a grid: a map for each row; one that ends early has fewer members."""

_TRUTHS: Final = (("false", "true"), ("False", "True"), ("FALSE", "TRUE"))
"""How a boolean may be spelled."""
LOOKED_AT: Final = 500
"""Rows that show what the cells are."""
SAMPLE: Final = 200
"""The same where a table is inferred, of at most so many columns:"""
MAX_COLUMNS: Final = 400
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,30})(?:\.[0-9]{1,40})?(?:[eE][+-][0-9]{1,3})?")
_THOUSANDS: Final = re.compile(r"-?(?<![0-9.])[1-9][0-9]{0,2}(?:\.[0-9]{3})+(?![0-9.])")
_WITH_COMMA: Final = re.compile(r"[^0-9]*|[^0-9]{0,4}(?:[0-9]{1,3}(?:\.[0-9]{3})*|[0-9]+)(?:,[0-9]+)?[^0-9]{0,4}")
_COMMA: Final = re.compile(r"[^0-9]*(?:[0-9.]+\.[0-9]+,[0-9]+|[0-9]+,(?:[0-9]{1,2}|[0-9]{4,}))[^0-9]*")
"""A number whose comma, if it has one, stands before its fraction, and one where that is certain."""
_CLASS: Final = lazy_pattern(
    r"(?P<D>\d{4}[-/.]\d\d[-/.]\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?: ?Z| ?[+-]\d\d:?\d\d)?)?"
    r"|\d{1,2}[./-]\d{1,2}[./-]\d{2,4}|\[?\d{1,2}[/-][A-Z][a-z]{2}[/-]\d{2,4}\S*|\d{8}T\d{6}Z?)"
    r"|(?P<T>[+-]?\d{1,3}:\d\d(?::\d\d)?(?:[.,]\d+)?(?: ?[AaPp][Mm])?|\d+days|\d+:\d\d\.\d\d)"
    r"|(?P<I>(?:\d{1,3}\.){3}\d{1,3}(?:[:/]\S+)?|(?:[0-9a-fA-F]{2}[:-]){5}[0-9a-fA-F]{2}"
    r"|[0-9a-f]{0,4}(?:::?[0-9a-f]{1,4}){2,7}(?:/\d+)?)"
    r"|(?P<N>[-+(]?[$€£]?\d[\d,.']*(?:[eE][+-]?\d+)?(?:\)|%|[kKMGTPmgt]i?[Bb]?|[a-zµ]{1,3}|\*)?|[+-]?(?:Inf|NaN))"  # noqa: RUF001
    r"|(?P<H>0x[0-9a-fA-F]+|(?=[a-f-]*\d)[0-9a-f]{4,}(?:-[0-9a-f]{3,})*|[a-z-]{0,10}(?:[-r][-w][-xsStT]){3}[.+@]?)"
    r"|(?P<M>(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6},?)"
    r"|(?P<P>(?:[~.]{0,2}/|[A-Z]:\\)\S*)"
    r"|(?P<Z>[-–—*.?]{0,4}|[nN]/?[aA][nN]?|[nN]one|[nN]ull|NULL|<none>|\(null\))"  # noqa: RUF001
    r"|(?P<K>[A-Za-z_][\w.-]*[=:].+)|(?P<W>[A-Za-z_][\w.-]*)|(?P<X>\S+)|(?P<S>.+)",
    re.DOTALL,
)
STRONG: Final = frozenset("DTINHMP")
"""Classes that names of columns and words of prose hardly have."""
_LONG: Final = 200
"""A cell of this many characters or more is a text, even if it holds a number or a time."""
_RUN: Final = re.compile(r"([^\W\d]+)|\d+")


@lru_cache(maxsize=50_000)
def class_of(cell: str) -> str:
    """Return the letter of what a cell is, "Z" for a word for nothing."""
    found = _CLASS.fullmatch(cell.strip(" \"'[]()") if len(cell) < _LONG else "a b")
    return (found.lastgroup if found else None) or "S"


def _shape(cell: str) -> str:
    """Return the classes of the words of a cell that are no names, and the signs and digits of the others."""
    words = ((class_of(word), word) for word in cell.split())
    return " ".join(
        kind if kind in STRONG else _RUN.sub(lambda run: "a" if run[1] else "9", word) for kind, word in words
    )


def is_row(first: Sequence[str | None], rows: Sequence[Sequence[str | None]]) -> bool:
    """Return whether a line is one of the rows below it: it has numbers, paths or codes of one shape where they do."""
    alike = 0
    for cell, column in zip(first, zip(*rows[:LOOKED_AT], strict=False), strict=False):
        shapes = Counter(_shape(each) for each in column if each)
        shape, count = shapes.most_common(1)[0] if shapes else ("", 0)
        size = len(re.findall(r"[A-Z9]\S*", shape)) if count >= 0.8 * shapes.total() else 0
        if size and _shape(cell or "") != shape:
            return False
        alike += size
    return alike > 1


def note_of_loose(rows: Rows) -> str:
    """Return how many rows lack the first cell, and so may continue those above; empty: none, or it has no name."""
    name = next(iter(rows[0] if rows else ()), "c0")
    count = sum(row.get(name) in (None, "") for row in rows) if name != "c0" else 0
    return f"lines, {count} of them without {name!r}, which may continue the row above" if 0 < count < len(rows) else ""


def is_number(cell: str) -> bool:
    """Return whether a cell is a number as JSON writes it; an exponent has its sign, which a hash has not."""
    return _NUMBER.fullmatch(cell) is not None


def read_number(text: str) -> int | float:
    """Return a number as JSON writes it; ValueError: no float holds it."""
    return read_float(text) if "." in text or "e" in text.lower() else read_int(text)


def has_numbers(rows: list[list[str]]) -> bool:
    """Return whether a column has nothing but numbers."""
    columns = zip(*rows[:LOOKED_AT], strict=False)
    return any(any(column) and all(is_number(cell) for cell in column if cell) for column in columns)


def writes_commas(cells: Iterable[object]) -> bool:
    """Return whether numbers have a comma before their fraction, so that 1.022 beside them is more than 1,000."""
    told = [cell for cell in cells if type(cell) is str]
    return any(_COMMA.fullmatch(cell) for cell in told if "," in cell) and all(
        _WITH_COMMA.fullmatch(cell) for cell in told
    )


def are_thousands(texts: Collection[str]) -> bool:
    """Return whether the points of `37.357`, `990`, `1.058` part thousands: all fractions would have three digits."""
    pointed = [text for text in texts if "." in text]
    plain = [digits for text in texts if "." not in text and (digits := re.sub(r"\D", "", text)).strip("0")]
    return len(pointed) > 1 and all(map(_THOUSANDS.search, pointed)) and 0 < max(map(len, plain), default=0) <= 3


def are_versions(numbers: Iterable[str], point: str = ".") -> bool:
    """Return whether texts look like numbers that no program writes so: 1.8 beside 1.10."""
    parts = [number.partition(point)[::2] for number in numbers if point in number]
    suspects = {whole for whole, fraction in parts if fraction[-1:] == "0" and fraction[1:]}
    lengths = {(whole, len(fraction)) for whole, fraction in parts if whole in suspects}
    return len(lengths) > len(suspects)


def rows_of(names: Sequence[str], rows: Sequence[Sequence[str | None]], null: str = "") -> Rows:
    """Return a map for each row with the cells of each column in its type.

    Args:
        names: The distinct names of the columns, as many as the longest row has cells.
        rows: The texts of the cells.
        null: The text of a cell that is null.
    """
    found = list(zip_longest(*rows))
    has_commas = any(map(writes_commas, found))
    columns = [_typed(column, null, has_commas=has_commas) for column in found]
    whole = [dict(zip(names, cells, strict=True)) for cells in zip(*columns, strict=True)]
    if set(map(len, rows)) == {len(names)}:
        return whole
    return [dict(islice(cells.items(), len(row))) for row, cells in zip(rows, whole, strict=True)]


def _typed(cells: Sequence[str | None], null: str, *, has_commas: bool) -> list[Any]:
    """Return the cells of one column as values; None in `cells` is a cell that its row does not have."""
    there = {cell for cell in set(cells) if cell is not None and cell != null}
    is_text = (has_commas or are_thousands(there)) and any(_THOUSANDS.fullmatch(cell) for cell in there)
    values: Mapping[str | None, Any] = {cell: cell for cell in there} if is_text else values_of(there)
    return list(map(values.get, cells))


def values_of(cells: set[str]) -> Mapping[str | None, Any]:
    """Return the value of each of the cells of a column."""
    return _numbers(cells) or _truths(cells) or {cell: cell for cell in cells}


def _truths(cells: set[str]) -> dict[Any, Any] | None:
    return next(({no: False, yes: True} for no, yes in _TRUTHS if cells and cells <= {no, yes}), None)


def _numbers(cells: set[str]) -> dict[str | None, Any] | None:
    if not all(map(is_number, cells)) or are_versions(cells):
        return None
    try:
        return {cell: read_number(cell) for cell in cells}
    except ValueError:  # beyond all floats
        return None


def distinct_names(header: Sequence[str], size: int) -> list[str]:
    """Return the names of `size` columns: those of the header, `name_2` for one that is there again, `c3` for none."""
    names: dict[str, None] = {}
    taken, again = set(header), dict.fromkeys(header, 1)
    for number in range(size):
        written = header[number] if number < len(header) else ""
        name = base = written or f"c{number}"
        while name in names or (name != written and name in taken):
            again[base] = again.get(base, 1) + 1
            name = f"{base}_{again[base]}"
        names[name] = None
    return list(names)


def names_of(value: object) -> list[str]:
    """Return the names of the columns of a value that is a grid; ValueError: it is none."""
    if type(value) is not list or not value or not all(type(row) is dict for row in value):
        raise ValueError("expected an array of maps for a grid")
    longest: dict[str, Any] = max(value, key=len)
    names = list(longest)
    if any(list(row) != names[: len(row)] for row in value):
        raise ValueError("expected the same names in the same order in each row of a grid")
    return names


# How the cells of a grid are written.

Styles: TypeAlias = Mapping[str, Callable[[str], str | None]]
"""Writes the text of a cell in a style, by its code; None: the text cannot be written so."""
_NULLS: Final = {"p": "", "N": "NULL"}
_BOOLEANS: Final = tuple(dict(zip("pTU", words, strict=True)) for words in zip(*_TRUTHS, strict=True))


def spell_cell(value: object, column: Hashable, styles: Styles) -> Spelling:
    """Return how a cell may be written; ValueError: it is none."""
    if value is None:
        texts = _NULLS
    elif type(value) is bool:
        texts = _BOOLEANS[value]
    elif isinstance(value, (str, int, float)):
        texts = {"p": value if type(value) is str else repr(value)}
    else:
        raise ValueError(f"expected a text, a number, a boolean or null in a cell, found {type(value).__name__!r}")
    return _spell(texts, styles, (column, type(value).__name__))


def spell_name(names: Sequence[str], number: int, styles: Styles) -> Spelling:
    """Return how the name of a column may be written: as it is, empty, or as that of an earlier column is."""
    name = names[number]
    texts = {"p": name, "e": ""}
    texts |= {f"{at}.": names[at] for at in range(number) if name.startswith(f"{names[at]}_")}
    return _spell(texts, styles, (("name", number),))


def _spell(texts: Mapping[str, str], styles: Styles, kind: Kind) -> Spelling:
    if len(texts) == len(styles) == 1:
        return as_is(styles[""](texts["p"]) or "")
    forms = _forms(tuple(texts), tuple(styles))

    def write(form: str) -> str | None:
        text, style = (form[:-1], form[-1]) if form[-1:] in styles else (form, "")
        return styles[style](texts[text]) if text in texts and style in styles else None

    return Spelling(write, forms, kind, is_alone="q" in styles or texts is _NULLS)


@lru_cache(256)
def _forms(texts: tuple[str, ...], styles: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(text + style for style in styles for text in texts)


_LINE_ENDS: Final = Spelling({"": "\n", "r": "\r\n"}.get, ("", "r"), ("line end",))
_TEXT_END: Final = Spelling(lambda _: "")


def end_line(pen: Pen, *, is_last: bool, width: int = 0) -> None:
    """Write the blanks at the end of a line, which may fill it up to a width, and its end where another one follows."""
    pen.token(_TEXT_END if is_last else _LINE_ENDS, ("trail",), base=(width, width))


INDENT: Final = "[ \\t>]{0,40}+"
"""The pattern of what may precede each line of a table with rules: it stands in a list or a quotation."""
_INDENT: Final = re.compile(f"{INDENT}(?=[|+┌╭┏╔╒])")


class Lines:
    """The lines of a text without their ends, and without the indentation of a table in a list or a quotation."""

    def __init__(self, raw: Sequence[str], at: int = 0) -> None:
        """Take lines, which may end with carriage returns; the one at `at` has the indentation."""
        self.raw = raw
        found = _INDENT.match(raw[at])
        self.indent = found[0] if found else ""

    def __getitem__(self, at: int) -> str:
        """Return a line; "" behind the last one, and for one of another indentation."""
        if at >= len(self.raw) or not self.raw[at].startswith(self.indent):
            return ""
        return self.raw[at][len(self.indent) :].removesuffix("\r")


@dataclass(frozen=True, slots=True)
class Grid:
    """A grid that begins with a line of a text."""

    end: int
    """The number of the line behind it."""
    rows: Callable[[], Rows]
    """Returns a map for each row."""
    how: str = ""
    """What its form must know to write it, beside what `writing` tells."""


def cells_grid(header: Sequence[str], rows: Sequence[Sequence[str]], end: int, how: str, null: str = "") -> Grid:
    """Return the grid of the texts of cells below a header, which is empty where there is none."""
    return Grid(end, lambda: rows_of(distinct_names(header, max(map(len, rows))), rows, null), how)


@dataclass(eq=False, slots=True)
class LineForm:
    """A form of a grid; without `walk` it has no views."""

    CODE: str
    start: str
    """The pattern of how a grid begins, as far as it tells at a glance that none does."""
    parse: Callable[[Lines, int], Grid | None]
    """Returns the grid that begins with a line, or None."""
    walk: Callable[[Pen, Any, str], None] | None = None
    """Writes a value, told `Grid.how`."""
    IS_SEVERAL: bool = False

    def describe(self, text: str, value: object) -> str | None:
        """Return what `write` needs; None: the text cannot be written again."""
        walk = self.walk
        grid = self.parse(Lines(text.split("\n")), 0) if walk else None
        if grid is None or walk is None:
            return None
        # The columns of a text in ASCII are its characters.
        for code, measure in islice(_MEASURES.items(), 2 - text.isascii()):
            told = find_writing(text, lambda pen: walk(pen, value, grid.how), measure=measure)
            if told is not None:
                return f"{code}{grid.how}/{told}"
        return None

    def write(self, value: object, how: str, expansion: Expansion) -> str:
        """Return the lines of a value, whose characters are counted."""
        start, _, told = how.partition("/")
        walk, measure = self.walk, _MEASURES.get(start[:1])
        if measure is None or walk is None:
            raise ValueError(f"expected the layout of a form that has views, found {how!r}")
        return write_again(lambda pen: walk(pen, value, start[1:]), told, expansion, measure=measure)


def text_width(text: str) -> int:
    """Return the columns of a screen that a text takes."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(sign) in "WF" for sign in text)
    return len(text) + wide - sum(unicodedata.combining(sign) > 0 for sign in text)


_MEASURES: Final[dict[str, Callable[[str], int]]] = {"n": len, "w": text_width}
"""How the width of a text is measured: in characters, in columns of a screen."""
