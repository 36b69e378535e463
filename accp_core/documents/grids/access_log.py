"""A form: the lines of access logs, `host - - [time] "GET / HTTP/1.1" 200 512`, with two more cells in combined ones.

A cell that is `-` is null. A request that is not a method, a path and a protocol is one cell, `request`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from accp_core.documents.grids.cells import Rows, spell
from accp_core.documents.grids.frame import LineForm, Lines

__all__ = ["ACCESS_LOG"]

_MIN_LINES: Final = 2
_TEXT: Final = r'(?:[^"\\]|\\.)*+'
_LINE: Final = re.compile(
    r"(?P<host>\S++) (?P<ident>\S++) (?P<user>[^\s\[]++) "
    r"\[(?P<time>[0-9]{2}/[A-Z][a-z]{2}/[0-9]{4}:[^\]]{8,20})\] "
    rf'"(?:(?P<method>[A-Z]{{3,10}}) (?P<path>[^\s"]++) (?P<protocol>HTTP/[0-9.]++)|(?P<request>{_TEXT}))" '
    rf'(?P<status>[1-9][0-9]{{2}}) (?P<bytes>-|0|[1-9][0-9]{{0,15}})(?: "(?P<referer>{_TEXT})" "(?P<agent>{_TEXT})")?'
)
_NUMBERS: Final = frozenset(("status", "bytes"))
_START: Final = ("host", "ident", "user", "time")
_REQUEST: Final = ("method", "path", "protocol")
_SIZE: Final = ("status", "bytes")
_END: Final = ("referer", "agent")
_COLUMNS: Final = {(*_START, *request, *_SIZE, *end) for request in (_REQUEST, ("request",)) for end in ((), _END)}
"""The names of the cells of a line."""


def _read(lines: Lines, at: int) -> tuple[Rows, int] | None:
    """Return a row for each line, and the number of the line behind them; None: there are none."""
    end, rows = at, []
    while found := _LINE.fullmatch(lines[end]):
        rows.append({name: _value(name, cell) for name, cell in found.groupdict().items() if cell is not None})
        end += 1
    return (rows, end) if len(rows) >= _MIN_LINES else None


def _value(name: str, cell: str) -> Any:
    return None if cell == "-" else int(cell) if name in _NUMBERS else cell


def _lines(value: object, how: str) -> Iterator[str]:
    if how or type(value) is not list:
        raise ValueError(f"expected the lines of an access log, found {how!r}")
    for row in value:
        if type(row) is not dict or tuple(row) not in _COLUMNS:
            raise ValueError(f"expected the cells of an access log, found {row!r}")
        yield _line({name: spell(cell, "-") for name, cell in row.items()})


def _line(cells: dict[str, str]) -> str:
    start = "{} {} {} [{}]".format(*(cells[name] for name in _START))
    request = " ".join([cells[name] for name in (_REQUEST if "method" in cells else ("request",))])
    end = "".join([f' "{cells[name]}"' for name in _END if name in cells])
    return f'{start} "{request}" {cells["status"]} {cells["bytes"]}{end}'


ACCESS_LOG: Final = LineForm("g", r"\S++ \S++ [^\s\[]++ \[[0-9]{2}/", _read, lambda text, value: ("",), _lines)
