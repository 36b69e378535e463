"""Two forms of a row in a line: cells between delimiters (CSV, TSV, semicolons; RFC 4180) and pairs (logfmt).

A first row of names is the header of delimited cells; without one the columns are `c0`, `c1`, … In logfmt each pair of
a line names its column.
"""

from __future__ import annotations

import csv
import re
from functools import partial
from json.decoder import scanstring  # type: ignore[attr-defined]  # the stubs miss it
from json.encoder import encode_basestring
from typing import Any, Final

from accp_core.documents.grids import cells as grid
from accp_core.documents.writing import Pen, Spelling

__all__ = ["DELIMITED", "LOGFMT"]


_DELIMITERS: Final = {"t": "\t", "s": ";", "c": ",", "b": ", "}
_MAX_LINE: Final = 65_536
"""Characters of a header."""
_MAX_NAME: Final = 64
_MAX_WORDS: Final = 6
"""Words of a name; more are a sentence."""
_MIN_CELLS: Final = 6
"""Cells beside the first column that make rows of texts a grid; a column of numbers shows it, too."""
_FEW: Final = 8
"""Of so many rows one may have more or fewer cells than the header, or begin a cell with a blank."""
_CODE: Final = re.compile(r"[{}=<>\\]|::|\([^)]*$|^[^(]*\)|\s\S*[.:]$|^\s|\S {2,}\S")
"""What a cell of code or a sentence has and a name has not."""
_PLAIN: Final = re.compile(r"[A-Za-z_][\w #%()/.-]*+")
"""A name where blanks follow the commas, as in prose."""
_DATA: Final = re.compile(r"[-+]?[0-9][0-9.,:/ -]*[A-Za-z%]{0,3}")
"""A number, a date, a time: no name."""


def _delimiter(lines: grid.Lines, at: int) -> str:
    if len(lines[at]) > _MAX_LINE:
        return ""
    first, second = lines[at], lines[at + 1]
    for sign in _DELIMITERS.values():
        is_apart = sign == "\t" or f"{sign} " not in first
        if sign in first and (sign in second or '"' in second) and is_apart:
            return sign if sign != ", " or first.count(",") == first.count(sign) else ""
    return ""


def _parse(lines: grid.Lines, at: int) -> grid.Grid | None:
    """Return the rows that begin with a line; None: there are none."""
    sign = _delimiter(lines, at)
    if not sign:
        return None
    rows, ends = _split(lines, at, sign)
    size = _rows_of_one_table(rows)
    del rows[size:], ends[size:]
    while rows and len(rows[-1]) != len(rows[0]):
        del rows[-1], ends[-1]
    if len(rows) < 2 or not _is_even(rows, sign):
        return None
    header = rows.pop(0) if _is_header(rows) else []
    is_prose = sign == ", " and not all(map(_PLAIN.fullmatch, header or [","]))
    if is_prose or not _is_data(header, rows):
        return None
    code = next(code for code, each in _DELIMITERS.items() if each == sign)
    return grid.cells_grid(header, rows, ends[-1], f"{code}{len(header)}")


def _split(lines: grid.Lines, at: int, sign: str) -> tuple[list[list[str]], list[int]]:
    """Return the rows from a line on, with the number of the line behind each.

    They end where a line has no two cells. Behind blank lines they go on with numbers and the like in the same places.
    """
    written = (f"{lines.raw[number]}\n" for number in range(at, len(lines.raw)))
    reader = csv.reader(written, delimiter=sign[0], skipinitialspace=len(sign) > 1, strict=True)
    rows, ends, above = list[list[str]](), list[int](), [""]
    try:
        for row in reader:
            if len(row) == 1 or (row and not above and not _is_alike(row, rows[-1])):
                break
            if row:
                rows.append([cell.strip(" ") for cell in row] if sign == "\t" else row)
                ends.append(at + reader.line_num)
            above = row
    except csv.Error:
        pass
    return rows, ends


def _is_alike(row: list[str], above: list[str]) -> bool:
    kinds = [(grid.class_of(cell), grid.class_of(other)) for cell, other in zip(row, above, strict=False)]
    return len(row) == len(above) and {one == two for one, two in kinds if {one, two} <= grid.STRONG} == {True}


def _rows_of_one_table(rows: list[list[str]]) -> int:
    """Return how many rows stand before the header of another table, or a line of words and commas."""
    numbers = {column for column, cell in enumerate(rows[1]) if grid.is_number(cell)} if len(rows) > 2 else set()
    for number, row in enumerate(rows[2:], 2):
        cells = {column: row[column] for column in numbers if column < len(row) and grid.class_of(row[column]) != "Z"}
        texts = {column for column, cell in cells.items() if not grid.is_number(cell)}
        below = rows[number : number + _FEW]
        is_wider = len(row) != len(rows[0]) and len(below) > 1 and len(below[1]) == len(row) and _is_header(below)
        if is_wider or (len(texts) > 1 and texts == numbers and number > 2):
            return number
        numbers -= texts
    return len(rows)


def _is_even(rows: list[list[str]], sign: str) -> bool:
    """Return whether nearly all rows have as many cells as the first one, and few cells begin with a blank."""
    size = len(rows[0])
    uneven = sum(len(row) != size for row in rows)
    blank = 0 if sign == "\t" else sum(any(cell[:1] == " " for cell in row) for row in rows[: grid.LOOKED_AT])
    if sign == ", ":  # prose has some such lines
        return uneven == 0 and grid.has_numbers(rows[1:])
    return (uneven == 0 or size > 2) and uneven * _FEW <= len(rows) and blank * _FEW <= len(rows)


def _is_header(rows: list[list[str]]) -> bool:
    first = rows[0]
    named = [cell for cell in first if cell]
    if len(named) < 2 or len(first) - len(named) > len(first) // 3 or not all(map(_is_name, named)):
        return False
    is_new = grid.has_numbers(rows[1:]) or not any(cell in below for cell, *below in zip(*rows, strict=False) if cell)
    return is_new and not grid.is_row(first, rows[1:])


def _is_name(cell: str) -> bool:
    is_short = len(cell) <= _MAX_NAME and len(cell.split()) <= _MAX_WORDS
    return is_short and _CODE.search(cell) is None and _DATA.fullmatch(cell) is None


def _is_data(header: list[str], rows: list[list[str]]) -> bool:
    """Return whether rows are more than a few sentences with commas: they have a column of numbers, or many cells."""
    size = min(map(len, rows))
    if header:
        return grid.has_numbers(rows) or len(rows) * (len(header) - 1) >= _MIN_CELLS
    is_even = all(len(row) == size for row in rows)
    return size > 2 and is_even and grid.has_numbers(rows) and not any(_CODE.search(cell) for cell in rows[0])


def _write(pen: Pen, value: Any, how: str) -> None:
    """Write rows of cells between the delimiter that `how` names, below as many names as it says."""
    names, sign = grid.names_of(value), _DELIMITERS.get(how[:1], "")
    if not sign or not how[1:].isdecimal() or int(how[1:]) > len(names):
        raise ValueError(f"expected how cells are delimited, found {how!r}")
    styles: grid.Styles = {"": partial(_plain, sign=sign[0]), "q": _quoted}
    if header := names[: int(how[1:])]:
        _write_row(pen, [grid.spell_name(header, number, styles) for number in range(len(header))], sign)
        grid.end_line(pen, is_last=False)
    for number, row in enumerate(value, 1):
        _write_row(pen, [grid.spell_cell(cell, column, styles) for column, cell in enumerate(row.values())], sign)
        grid.end_line(pen, is_last=number == len(value))


def _write_row(pen: Pen, cells: list[Spelling], sign: str) -> None:
    for number, cell in enumerate(cells):
        pen.token(cell, ("gap" if number else "start",), sign=sign[0] if number else "", default="s1" * (len(sign) > 1))


def _plain(text: str, sign: str) -> str | None:
    """Return a text that needs no quotes."""
    return None if sign in text or '"' in text or "\n" in text or "\r" in text else text


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


# A sign, and again in the next line, or a quote there.
_START: Final = "|".join(rf"[^\n{sign}]*+{sign}[^\n]*+\n[^\n]*?[{sign}\"]" for sign in "\t;,")
DELIMITED: Final = grid.LineForm("c", _START, _parse, _write)


# A form: lines of logfmt, `ts=2026-02-17T14:20:06Z level=info msg="request done" took=12`.

_MIN_LINES: Final = 3
_KEY: Final = r"[A-Za-z_@][A-Za-z0-9_.@/-]*+"
_CELL: Final = r'"(?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*+"|[^\s"=]*+'
_PAIR: Final = f"{_KEY}=(?:{_CELL})"
_EACH: Final = re.compile(f"({_KEY})=({_CELL})")
_LINE: Final = re.compile(f"{_PAIR}(?: {_PAIR})*+")
_FIRST: Final = re.compile(f"{_PAIR} {_PAIR}")
_TO_QUOTE: Final = re.compile(r'[\x00-\x20="]')


def _read(lines: grid.Lines, at: int) -> grid.Grid | None:
    """Return the lines of pairs that begin at a line; None: there are none."""
    end, rows = at, []
    while _LINE.fullmatch(line := lines[end]):
        pairs = _EACH.findall(line)
        row = dict(pairs)
        if len(row) < len(pairs):
            break
        rows.append(row)
        end += 1
    return grid.Grid(end, partial(_typed, rows)) if len(rows) >= _MIN_LINES else None


def _typed(rows: list[dict[str, str]]) -> grid.Rows:
    """Return the rows with values: numbers or booleans where all cells of a key are such without quotes, else texts."""
    written: dict[str, set[str]] = {}
    for row in rows:
        for key, cell in row.items():
            written.setdefault(key, set()).add(cell)
    values = {key: grid.values_of(cells) for key, cells in written.items()}
    return [{key: _text(values[key][cell]) for key, cell in row.items()} for row in rows]


def _text(value: Any) -> Any:
    return scanstring(value, 1)[0] if type(value) is str and value[:1] == '"' else value


_STYLES: Final[grid.Styles] = {"": lambda text: None if _TO_QUOTE.search(text) else text, "q": encode_basestring}


def _write_pairs(pen: Pen, value: Any, how: str) -> None:
    if how or type(value) is not list or not all(type(row) is dict and row for row in value):
        raise ValueError("expected an array of maps for logfmt, and nothing told")
    for number, row in enumerate(value, 1):
        for place, (key, cell) in enumerate(row.items()):
            pen.token(_spell_pair(key, cell), ("gap" if place else "start",), default="s1" * (place > 0))
        grid.end_line(pen, is_last=number == len(value))


def _spell_pair(key: str, cell: object) -> Spelling:
    write, forms, kind, _ = grid.spell_cell(cell, key, _STYLES)
    return Spelling(lambda form: None if (text := write(form)) is None else f"{key}={text}", forms, kind)


LOGFMT: Final = grid.LineForm("f", _FIRST.pattern, _read, _write_pairs)
