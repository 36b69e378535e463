"""A form: lines of logfmt, `ts=2026-02-17T14:20:06Z level=info msg="request done" took=12`.

A row is a map with the keys of its line. A text with blanks, quotes or `=` stands in quotes; a layout names the keys
all of whose texts do.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from json.decoder import scanstring  # type: ignore[attr-defined]  # the stubs miss it
from json.encoder import encode_basestring
from typing import Any, Final

from accp_core.documents.grids.cells import Rows, is_number, spell
from accp_core.documents.grids.frame import LineForm, Lines
from accp_core.packing.number import read_float, read_int

__all__ = ["LOGFMT"]

_MIN_LINES: Final = 3
_KEY: Final = r"[A-Za-z_@][A-Za-z0-9_.@/-]*+"
_CELL: Final = r'"(?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*+"|[^\s"=]*+'
_PAIR: Final = f"{_KEY}=(?:{_CELL})"
_EACH: Final = re.compile(f"({_KEY})=({_CELL})")
_LINE: Final = re.compile(f"{_PAIR}(?: {_PAIR})*+")
_FIRST: Final = re.compile(f"{_PAIR} {_PAIR}")
_TO_QUOTE: Final = re.compile(r'[\x00-\x20="]')
_BOOLEANS: Final = {"true": True, "false": False}


def _read(lines: Lines, at: int) -> tuple[Rows, int] | None:
    """Return a row for each line, and the number of the line behind them; None: there are none."""
    end, rows = at, []
    while _LINE.fullmatch(line := lines[end]):
        pairs = _EACH.findall(line)
        row = dict(pairs)
        if len(row) < len(pairs):
            break
        rows.append(row)
        end += 1
    return (_typed(rows), end) if len(rows) >= _MIN_LINES else None


def _typed(rows: list[dict[str, str]]) -> Rows:
    """Return the rows with values: numbers or booleans where all cells of a key are such without quotes, else texts."""
    written: dict[str, set[str]] = {}
    for row in rows:
        for key, cell in row.items():
            written.setdefault(key, set()).add(cell)
    readers = {key: _reader(cells) for key, cells in written.items()}
    return [{key: readers[key](cell) for key, cell in row.items()} for row in rows]


def _reader(cells: set[str]) -> Callable[[str], Any]:
    if all(map(is_number, cells)):
        return _number
    return _BOOLEANS.__getitem__ if cells.issubset(_BOOLEANS) else _text


def _number(written: str) -> int | float:
    return read_float(written) if "." in written or "e" in written.lower() else read_int(written)


def _text(written: str) -> str:
    return str(scanstring(written, 1)[0]) if written[:1] == '"' else written


def _layouts(text: str, value: Any) -> Iterator[str]:
    """Yield the indices of the keys whose texts are all in quotes."""
    quotes: dict[str, set[bool]] = {}
    for line in text.split("\n"):
        for key, written in _EACH.findall(line):
            quotes.setdefault(key, set()).add(written[:1] == '"')
    yield ",".join(str(number) for number, key in enumerate(_keys(value)) if quotes.get(key) == {True})


def _keys(rows: Rows) -> list[str]:
    return list(dict.fromkeys(key for row in rows for key in row))


def _lines(value: object, how: str) -> Iterator[str]:
    if type(value) is not list or not all(type(row) is dict and row for row in value):
        raise ValueError("expected an array of maps for logfmt")
    keys = _keys(value)
    always = [keys[int(number)] for number in filter(None, how.split(",")) if number in map(str, range(len(keys)))]
    if how.count(",") + bool(how) != len(always):
        raise ValueError(f"expected the indices of {len(keys)} keys, found {how!r}")
    for row in value:
        yield " ".join([f"{key}={_written(cell, key in always)}" for key, cell in row.items()])


def _written(cell: object, is_quoted: bool) -> str:
    text = spell(cell)
    if type(cell) is str and (is_quoted or _TO_QUOTE.search(text)):
        return encode_basestring(text)
    return text


LOGFMT: Final = LineForm("f", _FIRST.pattern, _read, _layouts, _lines)
