"""A form: tables with rules, as Markdown, psql, MySQL and programs with boxes of Unicode write them.

    | id | name |    id | name     +----+------+    ┌────┬──────┐
    |----|-----:|   ----+------    | id | name |    │ id │ name │
    |  1 | Ann  |     1 | Ann      +----+------+    ├────┼──────┤

The cells of a line are told apart by its signs where it has as many as the rule, else by the places of the rule. psql
ends a line of a cell that has further ones with `+`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate
from typing import Any, Final

from accp_core.documents.grids import cells as grid
from accp_core.documents.writing import Pen, Spelling, as_is

__all__ = ["RULED"]

_PSQL_RULE: Final = re.compile(r"-++(?:\+-++)++|─++(?:┼─++)++")
_BORDER: Final = re.compile(
    r"\+[-=]++(?:\+[-=]++)++\+|[┌╭┏╔╒├╞┡╠└╰┗╚╘][─━═]++(?:[┬┳╦╤┼╪╇╬┴┻╩╧][─━═]++)++[┐╮┓╗╕┤╡┩╣┘╯┛╝╛]"
)
_RULE_CELL: Final = r" ?:?-++:? ?"
_MARKDOWN_RULE: Final = re.compile(rf"\|{_RULE_CELL}(?:\|{_RULE_CELL})*+\||{_RULE_CELL}(?:\|{_RULE_CELL})++")
_PIPE: Final = re.compile(r"(?<!\\)\|")
_STARTS: Final = frozenset("-|:─+┌╭┏╔╒")
_SIGNS: Final = frozenset("|│┃║")
_HOW: Final = re.compile(r"([mpb])([^;]{1,14});([0-9,]*+);([lrcn]*+)")
_SIZES: Final = {"m": 2, "p": 3, "b": 14}
"""How many signs a layout has."""


@dataclass(slots=True)
class _Ruled:
    """The cells of a table and the layout of its text."""

    kind: str
    """m: Markdown, p: psql, b: with borders."""
    rule: list[str]
    """The cells of the rule below the header."""
    signs: str
    """The signs between cells and in rules: of rows, of the header, then of the rules; of Markdown its style."""
    header: list[str] = field(default_factory=list)
    """The cells of the header, with the blanks around them; so are those of the rows."""
    rows: list[list[str]] = field(default_factory=list)
    end: int = 0
    """The number of the line behind the table."""


def _parse(lines: grid.Lines, at: int) -> grid.Grid | None:
    table = _table(lines, at)
    if table is None:
        return None
    header, rows = [_text(cell, table.kind) for cell in table.header], list(_texts_of_rows(table))
    colons = "".join(map(_colons, table.rule)) * (table.kind == "m")
    how = f"{table.kind}{table.signs};{','.join(str(len(cell)) for cell in table.rule)};{colons}"
    null = "NULL" if table.kind == "b" and any("NULL" in row for row in rows) else ""
    return grid.cells_grid(header, rows, table.end, how, null)


def _text(cell: str, kind: str) -> str:
    text = cell.strip(" ")
    return text.replace("\\|", "|") if kind == "m" else text


def _table(lines: grid.Lines, at: int) -> _Ruled | None:
    if lines[at][:1] in _STARTS and _BORDER.fullmatch(lines[at]):
        return _parse_box(lines, at)
    rule = lines[at + 1]
    if rule[:1] not in _STARTS:
        return None
    if _PSQL_RULE.fullmatch(rule):
        return _parse_psql(lines, at, rule)
    return _parse_markdown(lines, at, rule) if _is_markdown_rule(rule) else None


def _is_markdown_rule(line: str) -> bool:
    return _MARKDOWN_RULE.fullmatch(line.strip(" ")) is not None


def _parse_markdown(lines: grid.Lines, at: int, rule: str) -> _Ruled | None:
    is_outer = rule.strip(" ").startswith("|")
    split = partial(_markdown_cells, is_outer=is_outer)
    table = _Ruled("m", split(rule), "", split(lines[at]), end=at + 2)
    if len(table.header) != len(table.rule):
        return None
    while "|" in (line := lines[table.end]) and not (table.rows and _is_markdown_rule(lines[table.end + 1])):
        table.rows.append(split(line))
        table.end += 1
    styles = (is_outer, table.rule[0][:1] == " ")
    table.signs = "".join("ny"[style] for style in styles)
    return table if table.rows else None


def _markdown_cells(line: str, *, is_outer: bool) -> list[str]:
    cells = line.split("|") if "\\" not in line else _PIPE.split(line)
    if not is_outer:
        return cells
    return cells[not cells[0].strip(" ") : len(cells) - (not cells[-1].strip(" "))]


def _parse_psql(lines: grid.Lines, at: int, rule: str) -> _Ruled | None:
    sign, cross = ("|", "+") if "+" in rule else ("│", "┼")
    table = _Ruled("p", rule.split(cross), sign + rule[0] + cross, end=at + 2)
    header = _cells(lines[at], table, sign)
    while (cells := _cells(lines[table.end], table, sign)) is not None:
        if table.rows and _PSQL_RULE.fullmatch(lines[table.end + 1]):
            break  # the header of the next table
        table.rows.append(cells)
        table.end += 1
    table.header = header or []
    return table if header and table.rows else None


def _parse_box(lines: grid.Lines, at: int) -> _Ruled | None:
    top, head = lines[at], lines[at + 1]
    table = _Ruled("b", _between(top), head[:1] * 2, end=at + 2)
    table.header = _box_cells(head, table) or []
    while _box_cells(lines[table.end], table):  # further lines of the header, such as types
        table.end += 1
    middle = lines[table.end]
    table.signs = f"{lines[table.end + 1][:1]}{head[:1]}{_corners(top)}{_corners(middle)}"
    while table.header and _is_rule(line := lines[table.end], table):
        table.end += 1
        before = len(table.rows)
        while cells := _box_cells(lines[table.end], table):
            table.rows.append(cells)
            table.end += 1
        if len(table.rows) == before or not _is_rule(lines[table.end], table):
            # Without a rule below its rows it was cut off, and is not written again.
            table.signs += _corners(line) if len(table.rows) == before else ""
            return table if table.rows else None
    return None


def _is_rule(line: str, table: _Ruled) -> bool:
    return _BORDER.fullmatch(line) is not None and len(_between(line)) == len(table.rule)


def _between(rule: str) -> list[str]:
    return re.split(r"[^-=─━═]", rule[1:-1])


def _corners(rule: str) -> str:
    """Return the signs of a border: the first one, those below a cell and between two, and the last one."""
    return rule[:1] + rule[1:2] + rule[1 + len(_between(rule)[0]) :][:1] + rule[-1:]


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
            row = [
                f"{above}\n{text}" if more else above for above, text, more in zip(row, texts, open_cells, strict=True)
            ]
        elif row:
            yield row
        row = texts if not any(open_cells) else row
        open_cells = goes_on
    yield row


def _goes_on(cell: str, rule: str) -> bool:
    return cell.endswith("+") and grid.text_width(cell) == len(rule)


def _colons(rule: str) -> str:
    """Return the side that a cell of a Markdown rule tells by its colons."""
    cell = rule.strip(" ")
    return {"": "n", "::": "c"}.get(cell[0].strip("-") + cell[-1].strip("-"), "l" if cell[0] == ":" else "r")


_STYLES: Final[dict[str, grid.Styles]] = {
    "m": {"": lambda text: None if "|" in text else text, "e": lambda text: text.replace("|", "\\|")},
    "p": {"": str},
    "b": {"": str},
}


def _write(pen: Pen, value: Any, how: str) -> None:
    """Write the rules that `how` tells of, and cells between their signs."""
    found, names = _HOW.fullmatch(how), grid.names_of(value)
    if found is None or len(found[2]) != _SIZES[found[1]] or (found[1] == "m" and len(found[4]) != len(names)):
        raise ValueError(f"expected how a table of {len(names)} columns is ruled, found {how!r}")
    kind, signs, lengths, colons = found.groups()
    widths, styles = grid.read_widths(lengths, len(names)), _STYLES[kind]
    top, middle, bottom = _rules(kind, signs, widths, colons)
    has_edges = kind == "b" or (kind == "m" and signs[0] == "y")
    line = partial(_write_line, pen, widths=widths, has_edges=has_edges)
    sign, head_sign = {"m": ("|", "|"), "p": (signs[0], signs[0]), "b": (signs[0], signs[1])}[kind]
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
    place = -1
    if has_edges:
        pen.token(as_is(sign), ("edge",))
        place = pen.start
    for number, ((cell, goes_on), width) in enumerate(zip(cells, widths, strict=False)):
        if number:
            pen.token(as_is(sign), ("sign",), base=(place, place + 1), default="l+0s")
        pen.token(cell, (number, "cell"), base=(place + 1, place + 1 + width), default="l+1s")
        place += width + 1
        if goes_on:
            pen.token(as_is("+"), ("more",), base=(place - 1, place), default="l+0s")
    if has_edges:
        pen.token(as_is(sign), ("sign",), base=(place, place + 1), default="l+0s")


def _rules(kind: str, signs: str, widths: Sequence[int], colons: str) -> tuple[str, str, str]:
    """Return the rules above the header, below it, and below the rows."""
    if kind == "p":
        return "", signs[2].join([signs[1] * width for width in widths]), ""
    if kind == "m":
        pad = " " * (signs[1] == "y")
        inner = [_dashes(width - 2 * len(pad), side) for width, side in zip(widths, colons, strict=True)]
        edge = "|" * (signs[0] == "y")
        return "", f"{edge}{'|'.join([f'{pad}{dashes}{pad}' for dashes in inner])}{edge}", ""
    corners = (tuple(signs[at : at + 4]) for at in range(2, 14, 4))
    top, middle, bottom = (
        f"{first}{cross.join([fill * width for width in widths])}{last}" for first, fill, cross, last in corners
    )
    return top, middle, bottom


def _dashes(width: int, side: str) -> str:
    left, right = ":" * (side in "lc"), ":" * (side in "rc")
    return left + "-" * (width - len(left) - len(right)) + right


# A border, or a line with a sign between cells above a rule.
_START: Final = rf"{grid.INDENT}[+┌╭┏╔╒][-=─━═]|[^\n|│]*+[|│][^\n]*+\n{grid.INDENT}[-|:─]"
RULED: Final = grid.LineForm("r", _START, _parse, _write)
