"""A form: the expanded display of psql, a line for each cell.

-[ RECORD 1 ]-------
id   | 1
name | Ann
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from accp_core.documents.grids.cells import Rows
from accp_core.documents.grids.frame import Cells, Lines, Spell, cell_form

__all__ = ["RECORDS"]

_START: Final = "-[ RECORD 1 "
_RULE: Final = re.compile(r"-\[ RECORD ([0-9]{1,9}) \][-+]*+")
_HOW: Final = re.compile(r"([0-9]{1,5}),([0-9]{1,5})")


def _parse(lines: Lines, at: int) -> Cells | None:
    """Return the records that begin with a line; None: there are none."""
    found = _records(lines, at)
    if not found:
        return None
    names = list(found[0][0])
    size = max(map(len, names))
    how = f"{size},{max(len(lines[at]) - size - 3, 0)}"
    return Cells(names, [list(record.values()) for record, _ in found], found[-1][1], lambda: [how])


def _records(lines: Lines, at: int) -> list[tuple[dict[str, str], int]]:
    """Return the records whose names are those of the first one, each with the number of the line behind it."""
    records: list[tuple[dict[str, str], int]] = []
    while _RULE.fullmatch(lines[at]):
        record, at = _record(lines, at + 1)
        if not record or (records and list(record) != list(records[0][0])):
            break
        records.append((record, at))
    return records


def _record(lines: Lines, at: int) -> tuple[dict[str, str], int]:
    """Return the cells of one record, and the number of the line behind it; none where a name is there twice."""
    record: dict[str, str] = {}
    name = ""
    while True:
        before, sign, text = lines[at].partition("|")
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


def _lines(header: list[str], rows: Rows, how: str, spell: Spell) -> Iterator[str]:
    found = _HOW.fullmatch(how)
    if found is None:
        raise ValueError(f"expected how records are written, found {how!r}")
    name_size, size = int(found[1]), int(found[2])
    rule = "-" * (name_size + 1) + "+" + "-" * (size + 1)
    for number, record in enumerate(rows, 1):
        label = f"-[ RECORD {number} ]"
        yield label + rule[len(label) :]
        for name, cell in zip(header, record.values(), strict=True):
            *above, last = spell(cell).split("\n")
            shown = name.ljust(name_size)
            for line in above:
                yield f"{shown} | {line.ljust(size)}+"
                shown = " " * name_size
            yield f"{shown} | {last}"


RECORDS: Final = cell_form("x", re.escape(_START), _parse, _lines)
