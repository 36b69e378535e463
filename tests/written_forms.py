"""One table in each form in which programs write one: for tests, fuzzers and figures.

A row is a map of scalars; all rows have the same keys, which are words.
"""

import csv
import html
import io
import json
from collections.abc import Callable, Mapping, Sequence
from pprint import pformat
from typing import Any, Final, TypeAlias
from xml.sax.saxutils import escape

__all__ = ["BLOCKS", "OTHER_VALUES", "TABLES_ONLY", "WRITERS", "Row"]

Row: TypeAlias = Mapping[str, Any]
Writer: TypeAlias = Callable[[Sequence[Row]], str]


def _text(cell: Any) -> str:
    return "" if cell is None else json.dumps(cell) if isinstance(cell, bool) else str(cell)


def _cells(rows: Sequence[Row]) -> list[list[str]]:
    return [list(rows[0]), *([_text(cell) for cell in row.values()] for row in rows)]


def _separated(sign: str, end: str = "\n", quoting: Any = csv.QUOTE_MINIMAL) -> Writer:
    def write(rows: Sequence[Row]) -> str:
        written = io.StringIO(newline="")
        writer = csv.writer(written, delimiter=sign, lineterminator=end, quoting=quoting)
        writer.writerow(rows[0])
        writer.writerows(
            [
                cell if isinstance(cell, (int, float)) and not isinstance(cell, bool) else _text(cell)
                for cell in row.values()
            ]
            for row in rows
        )
        return written.getvalue()

    return write


def _commas_and_blanks(rows: Sequence[Row]) -> str:
    quoted = [[f'"{cell}"' if "," in cell else cell for cell in cells] for cells in _cells(rows)]
    return "\n".join(map(", ".join, quoted))


def _padded(rows: Sequence[Row], between: str, null: str = "") -> tuple[list[str], list[int]]:
    """Return lines of cells of one width, numbers to the right, and the widths."""
    cells = [[cell or null for cell in line] for line in _cells(rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    right = [
        all(isinstance(row[name], (int, float)) and not isinstance(row[name], bool) for row in rows) for name in rows[0]
    ]
    lines = [
        between.join(
            cell.rjust(width) if is_right else cell.ljust(width)
            for cell, width, is_right in zip(line, widths, right, strict=True)
        )
        for line in cells
    ]
    return lines, widths


def _markdown(before: str = "", end: str = "\n") -> Writer:
    def write(rows: Sequence[Row]) -> str:
        lines, widths = _padded(rows, " | ")
        rule = "|".join("-" * (width + 2) for width in widths)
        return end.join(
            f"{before}{line}" for line in (f"| {lines[0]} |", f"|{rule}|", *(f"| {line} |" for line in lines[1:]))
        )

    return write


def _tight_markdown(rows: Sequence[Row]) -> str:
    head, *lines = (f"|{'|'.join(cells)}|" for cells in _cells(rows))
    return "\n".join([head, "|" + "---|" * len(rows[0]), *lines])


def _psql(rows: Sequence[Row]) -> str:
    lines, widths = _padded(rows, " | ")
    rule = "+".join("-" * (width + 2) for width in widths)
    return "\n".join(
        [
            f" {lines[0]} ",
            rule,
            *(f" {line}".rstrip().removesuffix(" |") + " | " * line.rstrip().endswith(" |") for line in lines[1:]),
        ]
    )


def _box(signs: str, null: str = "") -> Writer:
    """Return the writer of a box: `signs` are those of its three rules, then that between cells."""

    def write(rows: Sequence[Row]) -> str:
        (head, *lines), widths = _padded(rows, f" {signs[12]} ", null)
        top, middle, bottom = (
            rule[0] + rule[2].join(rule[1] * (width + 2) for width in widths) + rule[3]
            for rule in (signs[0:4], signs[4:8], signs[8:12])
        )
        edge = signs[12]
        return "\n".join([top, f"{edge} {head} {edge}", middle, *(f"{edge} {line} {edge}" for line in lines), bottom])

    return write


def _columns(gap: str, *, is_upper: bool, rule: bool = False) -> Writer:
    def write(rows: Sequence[Row]) -> str:
        named = [{name.upper() if is_upper else name: cell for name, cell in row.items()} for row in rows]
        lines, widths = _padded(named, gap)
        ruled = [gap.join("-" * width for width in widths)] if rule else []
        return "\n".join([lines[0].rstrip(), *ruled, *(line.rstrip() for line in lines[1:])])

    return write


def _logfmt(rows: Sequence[Row]) -> str:
    def cell(value: Any) -> str:
        text = _text(value)
        return json.dumps(text, ensure_ascii=False) if set(text) & set(' ="\\\n\t') else text

    return "\n".join(
        " ".join(f"{name}={cell(value)}" for name, value in row.items() if value is not None) for row in rows
    )


def _yaml(indent: str, head: str = "") -> Writer:
    def scalar(value: Any) -> str:
        return (
            json.dumps(value, ensure_ascii=False)
            if isinstance(value, str) and not value.isalpha()
            else json.dumps(value)
        )

    def plain(value: Any) -> str:
        text = scalar(value)
        is_word = isinstance(value, str) and value.isalpha() and value.lower() not in _YAML_WORDS
        return str(value) if is_word else text

    def write(rows: Sequence[Row]) -> str:
        lines = []
        for row in rows:
            pairs = [f"{name}: {plain(value)}" for name, value in row.items()]
            lines += [f"{indent}- {pairs[0]}", *(f"{indent}  {pair}" for pair in pairs[1:])]
        return head + "\n".join(lines) + "\n"

    return write


_YAML_WORDS: Final = frozenset(("true", "false", "null", "yes", "no", "on", "off", "y", "n"))


def _page(rows: Sequence[Row]) -> str:
    header, *lines = (
        "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells)
        for tag, cells in zip(("th", *["td"] * len(rows)), _cells(rows), strict=True)
    )
    return "\n".join(["<html><table>", *(f"<tr>{line}</tr>" for line in (header, *lines)), "</table></html>"])


def _xml(rows: Sequence[Row]) -> str:
    def element(name: str, cell: object) -> str:
        return f'<{name} i:nil="true"/>' if cell is None else f"<{name}>{escape(_text(cell))}</{name}>"

    lines = ("".join(element(name, cell) for name, cell in row.items()) for row in rows)
    instance = "http://www.w3.org/2001/XMLSchema-instance"
    return "\n".join([f'<result xmlns:i="{instance}">', *(f"  <rows>{line}</rows>" for line in lines), "</result>"])


def _beside(rows: Sequence[Row]) -> str:
    return json.dumps({name: [row[name] for row in rows] for name in rows[0]})


WRITERS: Final[dict[str, Writer]] = {
    "json.dumps": lambda rows: json.dumps(list(rows)),
    "JSON.stringify": lambda rows: json.dumps(list(rows), separators=(",", ":"), ensure_ascii=False),
    "JSON, indented": lambda rows: json.dumps(list(rows), indent=2),
    "JSON, a row per line": lambda rows: "[\n  " + ",\n  ".join(map(json.dumps, rows)) + "\n]\n",
    "JSON Lines": lambda rows: "\n".join(map(json.dumps, rows)),
    "JSON in a JSON string": lambda rows: json.dumps(json.dumps(list(rows), indent=2)),
    "JSON under a key": lambda rows: json.dumps({"rows": list(rows)}, indent="\t"),
    "columns and rows": lambda rows: json.dumps(
        {"columns": list(rows[0]), "rows": [list(row.values()) for row in rows]}
    ),
    "arrays side by side": _beside,
    "MCP blocks": lambda rows: json.dumps([{"type": "text", "text": json.dumps(list(rows))}], indent=2),
    "TextContent": lambda rows: (
        f"[TextContent(type='text', text={json.dumps(list(rows))!r}, annotations=None, meta=None)]"
    ),
    "CallToolResult": lambda rows: (
        f"meta=None content=[TextContent(type='text', text={json.dumps(list(rows), indent=2)!r}, annotations=None)]"
    ),
    "repr": lambda rows: repr(list(rows)),
    "pprint": lambda rows: pformat(list(rows), sort_dicts=False),
    "repr behind words": lambda rows: f"Result: {list(rows)}",
    "YAML of PyYAML": _yaml(""),
    "YAML of js-yaml": _yaml("  ", "rows:\n"),
    "CSV": _separated(","),
    "CSV of Windows": _separated(",", "\r\n"),
    "CSV, all quoted": _separated(",", quoting=csv.QUOTE_ALL),
    "CSV, texts quoted": _separated(",", quoting=csv.QUOTE_NONNUMERIC),
    "CSV with blanks": _commas_and_blanks,
    "TSV": _separated("\t"),
    "semicolons": _separated(";"),
    "Markdown": _markdown(),
    "tight Markdown": _tight_markdown,
    "Markdown in a list": _markdown("  "),
    "a quoted table": _markdown("> ", "\r\n"),
    "psql": _psql,
    "MySQL": _box("+-+++-+++-++|", "NULL"),
    "a box": _box("┌─┬┐├─┼┤└─┴┘│"),
    "columns in capitals": _columns("   ", is_upper=True),
    "columns in lower case": _columns("  ", is_upper=False),
    "columns with a rule": _columns(" ", is_upper=False, rule=True),
    "logfmt": _logfmt,
    "a web page": _page,
    "XML": _xml,
}
"""Writers by the names of the forms."""
OTHER_VALUES: Final = frozenset(("columns and rows", "arrays side by side"))
"""Forms whose value is no array of rows."""
TABLES_ONLY: Final = frozenset(("a web page", "XML", "a quoted table"))
"""Forms that have tables and no views."""
BLOCKS: Final = frozenset(("MCP blocks", "TextContent", "CallToolResult"))
"""Forms in which the table is a part of a larger value."""
