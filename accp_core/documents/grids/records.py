"""A form: the expanded display of psql, a line for each cell.

-[ RECORD 1 ]-------
id   | 1
name | Ann
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from accp_core.documents.grids.cells import (
    LINE_ENDS,
    Rows,
    distinct_names,
    grid_of,
    is_written,
    join,
    line_at,
    rows_of,
    spell,
)
from accp_core.packing.expansion import Expansion

__all__ = ["CODE", "IS_SEVERAL", "describe", "read_lines", "write"]

CODE: Final = "x"
IS_SEVERAL: Final = False

_START: Final = "-[ RECORD 1 "
_RULE: Final = re.compile(r"-\[ RECORD ([0-9]{1,9}) \][-+]*+")
_HOW: Final = re.compile(r"([nr])([0-9]{1,5}),([0-9]{1,5})")


def read_lines(lines: Sequence[str], at: int) -> tuple[Rows, int] | None:
    """Return the records that begin with a line, and the number of the line behind them; None: there are none."""
    found = _parse(lines, at) if lines[at].startswith(_START) else []
    if not found:
        return None
    names = distinct_names(list(found[0][0]), len(found[0][0]))
    return rows_of(names, [list(record.values()) for record, _ in found]), found[-1][1]


def _parse(lines: Sequence[str], at: int) -> list[tuple[dict[str, str], int]]:
    """Return the records whose names are those of the first one, each with the number of the line behind it."""
    records: list[tuple[dict[str, str], int]] = []
    while at < len(lines) and _RULE.fullmatch(line_at(lines, at)):
        record, at = _record(lines, at + 1)
        if not record or (records and list(record) != list(records[0][0])):
            break
        records.append((record, at))
    return records


def _record(lines: Sequence[str], at: int) -> tuple[dict[str, str], int]:
    """Return the cells of one record, and the number of the line behind it; none where a name is there twice."""
    record: dict[str, str] = {}
    name = ""
    while at < len(lines):
        before, sign, text = line_at(lines, at).partition("|")
        if not sign or not before.endswith(" ") or text[:1] not in ("", " "):
            break
        if not before.isspace():
            name = before.rstrip(" ")
            if name in record:
                return {}, at
            record[name] = text[1:]
        elif name and record[name].endswith("+"):
            record[name] = f"{record[name][:-1].rstrip(' ')}\n{text[1:]}"
        else:
            break
        at += 1
    return record, at


def describe(text: str, value: object) -> str | None:
    """Return the line ends, and how many characters names and values have."""
    first = text.split("\n", 1)[0]
    rule, end = first.removesuffix("\r"), "r" if first.endswith("\r") else "n"
    size = max(map(len, grid_of(value)[0]))
    how = f"{end}{size},{max(len(rule) - size - 3, 0)}"
    return how if is_written(_parts(value, how), text) else None


def write(value: object, how: str, expansion: Expansion) -> str:
    """Return the records."""
    return join(_parts(value, how), expansion)


def _parts(value: object, how: str) -> Iterator[str]:
    found = _HOW.fullmatch(how)
    if found is None:
        raise ValueError(f"expected how records are written, found {how!r}")
    end, name_size, size = LINE_ENDS[found[1]], int(found[2]), int(found[3])
    _, records = grid_of(value)
    rule = "-" * (name_size + 1) + "+" + "-" * (size + 1)
    for number, record in enumerate(records, 1):
        label = f"-[ RECORD {number} ]"
        yield (end if number > 1 else "") + label + rule[len(label) :]
        for name, cell in record.items():
            *above, last = spell(cell).split("\n")
            shown = name.ljust(name_size)
            for line in above:
                yield f"{end}{shown} | {line.ljust(size)}+"
                shown = " " * name_size
            yield f"{end}{shown} | {last}"
