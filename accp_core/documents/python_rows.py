"""A form: the `repr` of rows of a database, a list of tuples, as LangChain's SQL tools return them.

    [(1, 'AC/DC', Decimal('9.90'), datetime.date(2026, 2, 22)), (2, 'Accept', None, None)]

A row is a map with the columns `c0`, `c1`, …; a Decimal is a number, a date or time is text as SQL writes it.
"""

from __future__ import annotations

import ast
import datetime
import math
import re
from collections.abc import Iterator
from typing import Any, Final

from accp_core.documents.grids.cells import grid_of, is_written, join, rows_of
from accp_core.documents.python_literal import STRING
from accp_core.lazy_patterns import lazy_pattern
from accp_core.packing.expansion import Expansion
from accp_core.strict_json import is_utf8

__all__ = ["CODE", "IS_SEVERAL", "describe", "read", "recognise", "write"]

CODE: Final = "u"
IS_SEVERAL: Final = False

_MAX_SHOWN: Final = 40
"""Characters of a value that an error shows."""
_DECIMAL: Final = "Decimal('"
_VALUE: Final = re.compile(
    rf"{STRING}|None|True|False|-?[0-9][0-9.]*+(?:e[+-][0-9]++)?|Decimal\('[^'\\\n]*+'\)"
    r"|datetime\.(?:datetime|date)\([0-9, ]++\)"
)
_ROW: Final = lazy_pattern(rf"\((?:{_VALUE.pattern})(?:,|(?:, (?:{_VALUE.pattern}))++)\)")
_WORDS: Final = {"None": None, "True": True, "False": False}


def recognise(text: str) -> bool:
    """Return whether `text` begins like a list of tuples."""
    return text.startswith("[(")


def read(text: str) -> list[dict[str, Any]]:
    """Return a map for each tuple; all have as many members."""
    rows = _tokens(text)
    try:
        return [{f"c{number}": _value(cell) for number, cell in enumerate(row)} for row in rows]
    except (SyntaxError, TypeError, OverflowError) as error:  # 01, a date of one number, of a large one
        raise ValueError("expected values that can be read") from error


def _tokens(text: str) -> list[list[str]]:
    rows: list[list[str]] = []
    at = 1
    while row := _ROW.match(text, at):
        rows.append(_VALUE.findall(row[0]))
        at = row.end() + 2
    if not rows or at != len(text) + 1 or not text.endswith(")]") or len(set(map(len, rows))) > 1:
        raise ValueError("expected the repr of tuples of one length")
    return rows


def _value(cell: str) -> Any:
    if cell in _WORDS:
        return _WORDS[cell]
    if cell.startswith("datetime"):
        return str(_date(cell))
    if cell.startswith(_DECIMAL):
        spelled = cell[len(_DECIMAL) : -2]
        return rows_of(["n"], [[spelled]])[0]["n"]
    value = ast.literal_eval(cell)
    if (type(value) is str and not is_utf8(value)) or (type(value) is float and not math.isfinite(value)):
        raise ValueError(f"expected a value that JSON has, found {cell[:_MAX_SHOWN]!r}")
    return value


def _date(cell: str) -> datetime.date:
    name, _, numbers = cell.partition("(")
    parts = [int(number) for number in numbers[:-1].split(", ")]
    return datetime.date(*parts) if name.endswith(".date") else datetime.datetime(*parts)  # type: ignore[arg-type]


def describe(text: str, value: object) -> str | None:
    """Return a letter for each column: p, as `repr` writes it; D, a Decimal; d, a date; t, a date with a time."""
    rows = _tokens(text)
    how = "".join(_kind(column) for column in zip(*rows, strict=True))
    return how if is_written(_parts(value, how), text) else None


def _kind(cells: tuple[str, ...]) -> str:
    first = next((cell for cell in cells if cell != "None"), "")
    if first.startswith(_DECIMAL):
        return "D"
    return "t" if first.startswith("datetime.datetime") else "d" if first.startswith("datetime") else "p"


def write(value: object, how: str, expansion: Expansion) -> str:
    """Return the list."""
    return join(_parts(value, how), expansion)


def _parts(value: object, how: str) -> Iterator[str]:
    names, rows = grid_of(value)
    if len(how) != len(names) or not set(how) <= set("pDdt"):
        raise ValueError(f"expected a letter for each of {len(names)} columns, found {how!r}")
    before = "["
    for row in rows:
        cells = [_written(cell, kind) for cell, kind in zip(row.values(), how, strict=True)]
        yield f"{before}({', '.join(cells)}{',' * (len(cells) == 1)})"
        before = ", "
    yield "]"


def _written(cell: Any, kind: str) -> str:
    if cell is None or kind == "p":
        return repr(cell)
    if kind == "D":
        return f"Decimal('{cell}')" if type(cell) is str else f"Decimal('{cell!r}')"
    if type(cell) is not str:
        raise ValueError(f"expected a date as text, found {cell!r}")
    return repr(datetime.datetime.fromisoformat(cell) if kind == "t" else datetime.date.fromisoformat(cell))
