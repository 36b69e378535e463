"""A form: tables with rules, as Markdown, psql, MySQL and programs with boxes of Unicode write them.

    | id | name |    id | name     +----+------+    ┌────┬──────┐
    |----|-----:|   ----+------    | id | name |    │ id │ name │
    |  1 | Ann  |     1 | Ann      +----+------+    ├────┼──────┤

The cells of a line are told apart by its signs where it has as many as the rule, else by the places of the rule. psql
ends a line of a cell that has further ones with `+`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate, product, zip_longest
from typing import Final

from accp_core.documents.grids.cells import INDENT, Cells, Lines, Rows, Spell, cell_form, read_counts, write_counts

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
_HOW: Final = re.compile(r"([mpbe])([wn])([tn]);([^;]{3,14});([0-9,*]*+);([lrcn]*+);([lrcn]*+);([lrcn]*+)")
_NULLS: Final = {"m": "", "p": "", "b": "NULL", "e": ""}
_SIZES: Final = {"m": 3, "p": 3, "b": 14, "e": 14}
"""How many signs a layout has."""
_MAX_WIDTH: Final = 100_000
"""Characters of a line of a layout."""
_SIDED: Final = 200
"""Cells of a column that show on which side of it they stand."""


@dataclass(slots=True)
class _Ruled:
    """The cells of a table and the layout of its text."""

    kind: str
    """m: Markdown, p: psql, b: with borders, where null is NULL as MySQL writes it, e: the same, where it is empty."""
    rule: list[str]
    """The cells of the rule below the header."""
    signs: str
    """The signs between cells and in rules: of rows, of the header, then of the rules; of Markdown its style."""
    header: list[str] = field(default_factory=list)
    """The cells of the header, with the blanks around them; so are those of the rows."""
    rows: list[list[str]] = field(default_factory=list)
    end: int = 0
    """The number of the line behind the table."""


def _parse(lines: Lines, at: int) -> Cells | None:
    table = _table(lines, at)
    if table is None:
        return None
    header = [_text(cell, table.kind) for cell in table.header]
    return Cells(header, list(_texts_of_rows(table)), table.end, partial(_layouts, table), _NULLS[table.kind])


def _text(cell: str, kind: str) -> str:
    text = cell.strip(" ")
    return text.replace("\\|", "|") if kind == "m" else text


def _table(lines: Lines, at: int) -> _Ruled | None:
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


def _parse_markdown(lines: Lines, at: int, rule: str) -> _Ruled | None:
    is_outer = rule.strip(" ").startswith("|")
    split = partial(_markdown_cells, is_outer=is_outer)
    table = _Ruled("m", split(rule), "", split(lines[at]), end=at + 2)
    if len(table.header) != len(table.rule):
        return None
    while "|" in (line := lines[table.end]) and not (table.rows and _is_markdown_rule(lines[table.end + 1])):
        table.rows.append(split(line))
        table.end += 1
    styles = (is_outer, table.header[0][:1] == " ", table.rule[0][:1] == " ")
    table.signs = "".join("ny"[style] for style in styles)
    return table if table.rows else None


def _markdown_cells(line: str, *, is_outer: bool) -> list[str]:
    cells = line.split("|") if "\\" not in line else _PIPE.split(line)
    if not is_outer:
        return cells
    return cells[not cells[0].strip(" ") : len(cells) - (not cells[-1].strip(" "))]


def _parse_psql(lines: Lines, at: int, rule: str) -> _Ruled | None:
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


def _parse_box(lines: Lines, at: int) -> _Ruled | None:
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
            table.kind = "b" if any(" NULL " in cells for cells in map(" ".join, table.rows)) else "e"
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
    return cell.endswith("+") and _width(cell) == len(rule)


def _width(text: str) -> int:
    """Return the columns of a screen that a text takes."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(sign) in "WF" for sign in text)
    return len(text) + wide - sum(unicodedata.combining(sign) > 0 for sign in text)


_MEASURES: Final[dict[str, Callable[[str], int]]] = {"n": len, "w": _width}
"""How the width of a text is measured: in characters, in columns of a screen."""


def _layouts(table: _Ruled) -> Iterator[str]:
    """Yield the signs, the widths, and on which side of its column each text stands."""
    lengths, colons = write_counts(map(len, table.rule)), "".join(map(_colons, table.rule)) * (table.kind == "m")
    for wide, trim in product(_MEASURES, "nt"):
        head, body = _sides([table.header], table, _MEASURES[wide]), _sides(table.rows, table, _MEASURES[wide])
        yield f"{table.kind}{wide}{trim};{table.signs};{lengths};{colons};{head};{body}"


def _colons(rule: str) -> str:
    """Return the side that a cell of a Markdown rule tells by its colons."""
    cell = rule.strip(" ")
    return {"": "n", "::": "c"}.get(cell[0].strip("-") + cell[-1].strip("-"), "l" if cell[0] == ":" else "r")


def _sides(rows: Sequence[Sequence[str]], table: _Ruled, measure: Callable[[str], int]) -> str:
    """Return the side of each column on which its cells stand; n: there are no more blanks than one."""
    columns = zip_longest(*rows[:_SIDED])
    return "".join(_side(cells, rule, table, measure) for cells, rule in zip(columns, table.rule, strict=False))


def _side(cells: Sequence[str | None], rule: str, table: _Ruled, measure: Callable[[str], int]) -> str:
    is_markdown, length = table.kind == "m", len(rule)
    pad = _pad_of(table.kind, table.signs)
    there = [cell for cell in cells if cell is not None]
    found = [cell[:-1] if table.kind == "p" and _goes_on(cell, rule) else cell for cell in there]
    for side in "nlrc"[not is_markdown :]:
        placed = [_place(cell.strip(" "), side, length, pad, measure) for cell in found]
        if (
            placed == found
            if is_markdown
            else [one.rstrip(" ") for one in placed] == [one.rstrip(" ") for one in found]
        ):
            return side
    return "l"


def _pad_of(kind: str, signs: str) -> str:
    return "" if kind == "m" and signs[1] == "n" else " "


def _place(text: str, side: str, length: int, pad: str, measure: Callable[[str], int]) -> str:
    """Return a text with the blanks that a cell of so many characters has on each side of it."""
    free = 0 if side == "n" else max(length - 2 * len(pad) - measure(text), 0)
    left = {"r": free, "c": free // 2}.get(side, 0)
    return pad + " " * left + text + " " * (free - left) + pad


def _lines(names: list[str], rows: Rows, how: str, spell: Spell) -> Iterator[str]:
    found = _HOW.fullmatch(how)
    if found is None:
        raise ValueError(f"expected how a table is ruled, found {how!r}")
    kind, wide, trim, signs, lengths, colons, head, body = found.groups()
    widths = read_counts(lengths)
    fits = len(signs) == _SIZES[kind] and len(head) == len(widths) == len(colons or head) == len(names)
    if not fits or sum(widths) > _MAX_WIDTH:
        raise ValueError(f"expected a layout of {len(names)} columns, found {how!r}")
    pad, measure = _pad_of(kind, signs), _MEASURES[wide]
    top, middle, bottom = _rules(kind, signs, widths, colons)
    line = partial(_joined, kind=kind, signs=signs)
    header = [_written(text, kind) for text in names]
    if top:
        yield top
    yield line([_place(*each, pad, measure) for each in zip(header, head, widths, strict=True)], 1)
    yield middle
    for row in rows:
        texts = [_written(spell(cell, _NULLS[kind]), kind) for cell in row.values()]
        for cells in _lines_of(texts, kind, body, widths, pad, measure, is_trimmed=trim == "t"):
            yield line(cells, 0)
    if bottom:
        yield bottom


def _joined(cells: Sequence[str], line: int, *, kind: str, signs: str) -> str:
    """Return the line of the rows (0) or the header (1) that has these cells."""
    sign = "|" if kind == "m" else signs[0] if kind == "p" else signs[line]
    edge = sign if kind in "be" or (kind == "m" and signs[0] == "y") else ""
    return f"{edge}{sign.join(cells)}{edge}"


def _rules(kind: str, signs: str, widths: Sequence[int], colons: str) -> tuple[str, str, str]:
    """Return the rules above the header, below it, and below the rows."""
    if kind == "p":
        return "", signs[2].join([signs[1] * width for width in widths]), ""
    if kind == "m":
        pad = " " * (signs[2] == "y")
        inner = [_dashes(width - 2 * len(pad), side) for width, side in zip(widths, colons, strict=True)]
        return "", _joined([f"{pad}{dashes}{pad}" for dashes in inner], 0, kind=kind, signs=signs), ""
    corners = (tuple(signs[at : at + 4]) for at in range(2, 14, 4))
    top, middle, bottom = (
        f"{first}{cross.join([fill * width for width in widths])}{last}" for first, fill, cross, last in corners
    )
    return top, middle, bottom


def _dashes(width: int, side: str) -> str:
    left, right = ":" * (side in "lc"), ":" * (side in "rc")
    return left + "-" * (width - len(left) - len(right)) + right


def _written(text: str, kind: str) -> str:
    return text.replace("|", "\\|") if kind == "m" else text


def _lines_of(
    texts: Sequence[str],
    kind: str,
    body: str,
    widths: Sequence[int],
    pad: str,
    measure: Callable[[str], int],
    *,
    is_trimmed: bool,
) -> Iterator[list[str]]:
    """Yield the cells of each line that a row takes."""
    parts = [text.split("\n") if kind == "p" else [text] for text in texts]
    sides, sizes = body.ljust(len(parts), "n"), [*widths, *[0] * (len(parts) - len(widths))]
    for number in range(max(map(len, parts))):
        cells = []
        for lines, side, size in zip(parts, sides, sizes, strict=False):
            text = lines[number] if number < len(lines) else ""
            cell = _place(text, side, size, pad, measure)
            cells.append(f"{cell[:-1]}+" if number + 1 < len(lines) else cell)
        if is_trimmed and not cells[-1].endswith("+"):
            cells[-1] = pad + cells[-1][len(pad) :].rstrip(" ")
        yield cells


# A border, or a line with a sign between cells above a rule.
_START: Final = rf"{INDENT}[+┌╭┏╔╒][-=─━═]|[^\n|│]*+[|│][^\n]*+\n{INDENT}[-|:─]"
RULED: Final = cell_form("r", _START, _parse, _lines)
