"""A form: tables with rules, as Markdown, psql, MySQL and programs with boxes of Unicode write them.

    | id | name |    id | name     +----+------+    ┌────┬──────┐
    |----|-----:|   ----+------    | id | name |    │ id │ name │
    |  1 | Ann  |     1 | Ann      +----+------+    ├────┼──────┤

The cells of a line are told apart by its signs where it has as many as the rule, else by the places of the rule. psql
ends a line of a cell that has further ones with `+`; lines between two rules may be one row (`_joined`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate, pairwise
from typing import Any, Final

from accp_core.documents.grids import cells as grid
from accp_core.documents.writing import Pen, Spelling, as_is

__all__ = ["RULED"]

_PSQL_RULE: Final = re.compile(r"-++(?:\+-++)++|─++(?:┼─++)++")
_BORDER: Final = re.compile(r"[+┌-╋╒-╰](?:[-=:─━═]++[+┌-╋╒-╰]){2,}")
_RULE_CELL: Final = r" ?:?-++:? ?"
_MARKDOWN_RULE: Final = re.compile(rf" *(?:\|{_RULE_CELL}(?:\|{_RULE_CELL})*+\||{_RULE_CELL}(?:\|{_RULE_CELL})++) *")
_PIPE: Final = re.compile(r"(?<!\\)\|")
_SIGNS: Final = frozenset("|│┃║")
_HOW: Final = re.compile(r"([mpb])(.)(.);([^;]*+);([^;]++);([^;]*+)")
_CODED: Final = str.maketrans(": ", "cs")
_DECODED: Final = str.maketrans("cs", ": ")
"""A layout has no blanks and no colons."""
_CROSS: Final = re.compile(r"[^-=─━═: ]")


@dataclass(slots=True)
class _Ruled:
    """The cells of a table and the layout of its text."""

    kind: str
    """m: Markdown, p: psql, b: with borders."""
    rule: list[str]
    """The cells of the rule below the header."""
    signs: str
    """The sign between the cells of a row, and that between those of the header."""
    rules: list[str]
    """The rule above the header, the one below it, and the one below the rows; "" for one that is not there."""
    header: list[str] = field(default_factory=list)
    """The cells of the header, with the blanks around them; so are those of the rows."""
    rows: list[list[str]] = field(default_factory=list)
    breaks: list[int] = field(default_factory=list)
    """The indices in `rows` of the lines that stand directly below a rule."""
    end: int = 0
    """The number of the line behind the table."""


def _parse(lines: grid.Lines, at: int) -> grid.Grid | None:
    table = _table(lines, at)
    if table is None:
        return None
    header = [_text(cell, table.kind) for cell in table.header]
    rows = _joined(list(_texts_of_rows(table)), table.breaks)
    how = f"{table.kind}{table.signs};{';'.join(table.rules).translate(_CODED)}"
    null = "NULL" if table.kind == "b" and any("NULL" in row for row in rows) else ""
    return grid.cells_grid(header, rows, table.end, how, null)


def _joined(rows: list[list[str]], breaks: Sequence[int]) -> list[list[str]]:
    """Return a row for each run of lines between rules, before which `breaks` stand, if the lines go on from the first.

    Most lack a cell that the first one has, and hardly one has a number below a number, as the rows of a section have.
    """
    groups = [rows[start:end] for start, end in pairwise([0, *breaks, len(rows)]) if start < end]
    below = [list(zip(top, line, strict=False)) for top, *lines in groups for line in lines]
    lacking = sum(any(cell and not other for cell, other in pairs) for pairs in below)
    apart = sum(any(grid.class_of(cell) == grid.class_of(other) == "N" for cell, other in pairs) for pairs in below)
    if len(groups) < 2 or 2 * lacking <= len(below) + 20 * apart:
        groups = [[row] for row in rows]
    return [[" ".join(filter(None, cells)) for cells in zip(*group, strict=True)] for group in groups]


def _text(cell: str, kind: str) -> str:
    text = cell.strip(" ")
    return text.replace("\\|", "|") if kind == "m" else text


def _table(lines: grid.Lines, at: int) -> _Ruled | None:
    if _BORDER.fullmatch(lines[at]):
        return _parse_box(lines, at)
    rule = lines[at + 1]
    parse = _parse_psql if _PSQL_RULE.fullmatch(rule) else _parse_markdown if _MARKDOWN_RULE.fullmatch(rule) else None
    return parse(lines, at, rule) if parse else None


def _parse_markdown(lines: grid.Lines, at: int, rule: str) -> _Ruled | None:
    split = partial(_markdown_cells, is_outer=rule.strip(" ").startswith("|"))
    table = _Ruled("m", split(rule), "||", ["", rule, ""], split(lines[at]), end=at + 2)
    if len(table.header) != len(table.rule):
        return None
    while "|" in (line := lines[table.end]) and not (table.rows and _MARKDOWN_RULE.fullmatch(lines[table.end + 1])):
        table.rows.append(split(line))
        table.end += 1
    return table if table.rows else None


def _markdown_cells(line: str, *, is_outer: bool) -> list[str]:
    cells = line.split("|") if "\\" not in line else _PIPE.split(line)
    return cells[not cells[0].strip(" ") : len(cells) - (not cells[-1].strip(" "))] if is_outer else cells


def _parse_psql(lines: grid.Lines, at: int, rule: str) -> _Ruled | None:
    sign, cross = ("|", "+") if "+" in rule else ("│", "┼")
    table = _Ruled("p", rule.split(cross), sign * 2, ["", rule, ""], end=at + 2)
    table.header = _cells(lines[at], table, sign) or []
    while (cells := _cells(lines[table.end], table, sign)) is not None:
        if table.rows and _PSQL_RULE.fullmatch(lines[table.end + 1]):
            break  # the header of the next table
        table.rows.append(cells)
        table.end += 1
    return table if table.header and table.rows else None


def _parse_box(lines: grid.Lines, at: int) -> _Ruled | None:
    top, head = lines[at], lines[at + 1]
    table = _Ruled("b", _CROSS.split(top[1:-1]), head[:1], [top, "", ""], end=at + 2)
    table.header = _box_cells(head, table) or []
    while _box_cells(lines[table.end], table):  # further lines of the header, such as types
        table.end += 1
    table.rules[1], table.signs = lines[table.end], lines[table.end + 1][:1] + head[:1]
    while table.header and _is_rule(line := lines[table.end], table):
        table.end += 1
        table.breaks.append(len(table.rows))
        while cells := _box_cells(lines[table.end], table):
            table.rows.append(cells)
            table.end += 1
        if (is_last := len(table.rows) == table.breaks[-1]) or not _is_rule(lines[table.end], table):
            table.rules[2] = line if is_last else ""
            return table if table.rows else None
    return None


def _is_rule(line: str, table: _Ruled) -> bool:
    return _BORDER.fullmatch(line) is not None and len(_CROSS.split(line[1:-1])) == len(table.rule)


def _box_cells(line: str, table: _Ruled) -> list[str] | None:
    is_row = len(line) > 2 and line[0] == line[-1] and line[0] in _SIGNS
    return _cells(line[1:-1], table, line[0]) if is_row else None


def _cells(line: str, table: _Ruled, sign: str) -> list[str] | None:
    """Return the cells of a line with the blanks around them, by its signs or by their places; None: it has others."""
    cells = line.split(sign)
    if len(cells) <= len(table.rule):
        return cells if len(cells) == len(table.rule) else None
    ends = [*accumulate(len(cell) + 1 for cell in table.rule[:-1]), len(line) + 1]
    if any(line[end - 1 : end] != sign for end in ends[:-1]):
        return None
    return [line[start : end - 1] for start, end in zip([0, *ends[:-1]], ends, strict=True)]


def _texts_of_rows(table: _Ruled) -> Iterator[list[str]]:
    """Yield the texts of the cells of each row; psql writes one on several lines."""
    row: list[str] = []
    open_cells: list[bool] = []
    for cells in table.rows:
        texts = [_text(cell, table.kind) for cell in cells]
        goes_on = [table.kind == "p" and _goes_on(cell, rule) for cell, rule in zip(cells, table.rule, strict=False)]
        if any(goes_on):
            texts = [text[:-1].rstrip(" ") if more else text for text, more in zip(texts, goes_on, strict=True)]
        if any(open_cells):
            parts = zip(row, texts, open_cells, strict=True)
            row = [f"{above}\n{text}" if more else above for above, text, more in parts]
        elif row:
            yield row
        row = texts if not any(open_cells) else row
        open_cells = goes_on
    yield row


def _goes_on(cell: str, rule: str) -> bool:
    return cell.endswith("+") and grid.text_width(cell) == len(rule)


_MARKDOWN: Final[grid.Styles] = {
    "": lambda text: None if "|" in text else text,
    "e": lambda text: text.replace("|", "\\|"),
}


def _write(pen: Pen, value: Any, how: str) -> None:
    """Write the rules that `how` tells of, and cells between the signs that it names."""
    found, names = _HOW.fullmatch(how), grid.names_of(value)
    if found is None:
        raise ValueError(f"expected how a table is ruled, found {how!r}")
    kind, sign, head_sign, *rules = found.groups()
    top, middle, bottom = (rule.translate(_DECODED) for rule in rules)
    has_edges = _CROSS.match(middle) is not None
    widths = list(map(len, _CROSS.split(middle[1:-1] if has_edges else middle)))
    styles: grid.Styles = _MARKDOWN if kind == "m" else {"": str}
    if len(widths) != len(names):
        raise ValueError(f"expected a rule of {len(names)} columns, found {middle!r}")
    line = partial(_write_line, pen, widths=widths, has_edges=has_edges)
    if top:
        _write_rule(pen, top, is_last=False)
    line([(grid.spell_name(names, number, styles), False) for number in range(len(names))], sign=head_sign)
    grid.end_line(pen, is_last=False, width=pen.column)
    _write_rule(pen, middle, is_last=False)
    lines = list(_lines_of(value, kind))
    for number, cells in enumerate(lines, 1):
        line([(grid.spell_cell(cell, at, styles), goes_on) for at, (cell, goes_on) in enumerate(cells)], sign=sign)
        grid.end_line(pen, is_last=number == len(lines) and not bottom, width=len(middle))
    if bottom:
        _write_rule(pen, bottom, is_last=True)


def _lines_of(rows: grid.Rows, kind: str) -> Iterator[list[tuple[object, bool]]]:
    """Yield the cells of each line, and whether each goes on in the next line, as in psql."""
    for row in rows:
        parts = [cell.split("\n") if kind == "p" and type(cell) is str else [cell] for cell in row.values()]
        for at in range(max(map(len, parts))):
            yield [(part[at] if at < len(part) else "", at + 1 < len(part)) for part in parts]


def _write_rule(pen: Pen, rule: str, *, is_last: bool) -> None:
    pen.token(as_is(rule), ("edge",))
    grid.end_line(pen, is_last=is_last)


def _write_line(
    pen: Pen, cells: Sequence[tuple[Spelling, bool]], *, sign: str, widths: Sequence[int], has_edges: bool
) -> None:
    """Write cells, which are expected between the places of the rule; one that goes on has a sign at its end."""
    place, mark = -1, as_is(sign)
    if has_edges:
        pen.token(mark, ("edge",))
        place = pen.start
    for number, ((cell, goes_on), width) in enumerate(zip(cells, widths, strict=False)):
        if number:
            pen.token(mark, ("sign",), base=(place, place + 1), default="l+0s")
        pen.token(cell, (number, "cell"), base=(place + 1, place + 1 + width), default="l+1s")
        place += width + 1
        if goes_on:
            pen.token(as_is("+"), ("more",), base=(place - 1, place), default="l+0s")
    if has_edges:
        pen.token(mark, ("sign",), base=(place, place + 1), default="l+0s")


# A border, or a line with a sign between cells above a rule.
_START: Final = rf"{grid.INDENT}[+┌╭┏╔╒][-=─━═]|[^\n|│]*+[|│][^\n]*+\n{grid.INDENT}[-|:─]"
RULED: Final = grid.LineForm("r", _START, _parse, _write)
