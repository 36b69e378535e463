"""Two forms of markup without a view: the tables of web pages, and the repeated elements of XML.

The names of the columns of a table are the cells of the rows that begin it and have nothing but `th`, those of several
such rows joined. A cell is its text without markup; one of several columns or rows stands in each of them. The module
itself is the form of a whole text of XML.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple, NoReturn
from xml.etree.ElementTree import Element, ParseError, fromstring

from accp_core.documents.document import Value
from accp_core.documents.grids.cells import LineForm, Rows, distinct_names, is_number, read_number, rows_of
from accp_core.packing.expansion import Expansion

__all__ = ["CODE", "HTML_TABLE", "IS_SEVERAL", "describe", "read", "read_tables", "recognise", "write"]


_MAX_SPAN: Final = 1_000
"""Columns or rows of one cell."""
_MAX_COPIES: Final = 8
"""Cells of a table for each one that is written."""
_MIN_ROWS: Final = 2
_MAX_TAGS: Final = 130_000
"""Tags of a text; of more, reading takes seconds and hundreds of megabytes."""
# A table that holds another one lays out a page.
_TABLE: Final = re.compile(r"<table\b[^<>]*+>((?:[^<]|<(?!/?table\b))*+)</table\b[^<>]*+>", re.IGNORECASE)
_ROW: Final = re.compile(r"<tr\b[^<>]*+>", re.IGNORECASE)
_CELL: Final = re.compile(r"<(t[dh])\b([^<>]*+)>", re.IGNORECASE)
_CELL_END: Final = re.compile(r"</t[dhr]\b", re.IGNORECASE)
_HIDDEN: Final = re.compile(
    r"<!--.*?(?:-->|\Z)|<(script|style|template)\b.*?(?:</\1[^<>]*+>|\Z)", re.IGNORECASE | re.DOTALL
)
"""Comments, scripts, styles and templates: a browser does not show them."""
_BREAK: Final = re.compile(r"<br\b[^<>]*+>", re.IGNORECASE)
_MARKUP: Final = re.compile(r"</?[a-zA-Z][^<>]*+>")
_SPAN: Final = re.compile(r"""(?i:\b(col|row)span\s*=\s*["']?([0-9]{1,6}))""")


def read_tables(source: str) -> list[Value]:
    """Return the tables of a text that begins like a page; no character is read more than a few times."""
    if not source.lstrip().startswith("<") or source.count("<") > _MAX_TAGS:
        return []
    page = _HIDDEN.sub(lambda part: " " * len(part[0]), source)
    found = ((*table.span(), _rows_of_table(table[1])) for table in _TABLE.finditer(page))
    return [Value(start, end, rows, HTML_TABLE, source[start:end]) for start, end, rows in found if rows is not None]


class _Cell(NamedTuple):
    is_header: bool
    columns: int
    rows: int
    text: str


def _cells(row: str) -> Iterator[_Cell]:
    """Yield the cells of a row."""
    _, *parts = _CELL.split(row)
    for tag, attributes, content in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        spans = {kind.lower(): min(int(count), _MAX_SPAN) or 1 for kind, count in _SPAN.findall(attributes)}
        text = _text(_CELL_END.split(content, maxsplit=1)[0])
        yield _Cell(tag in ("th", "TH"), spans.get("col", 1), spans.get("row", 1), text)


def _rows_of_table(body: str) -> Rows | None:
    """Return a map for each row; None: there are no two rows of two columns, or too many copies."""
    rows = [cells for row in _ROW.split(body)[1:] if (cells := list(_cells(row)))]
    headers = 0
    while headers < len(rows) and all(cell.is_header for cell in rows[headers]):
        headers += 1
    texts = _spread(rows)
    if texts is None or len(texts) - headers < _MIN_ROWS or max(map(len, texts)) < 2:
        return None
    size = max(map(len, texts))
    header = [
        " ".join(dict.fromkeys(row[column] for row in texts[:headers] if column < len(row) and row[column]))
        for column in range(size)
    ]
    return rows_of(distinct_names(header, size), texts[headers:])


def _spread(rows: list[list[_Cell]]) -> list[list[str]] | None:
    """Return the texts of the cells, those of several columns or rows in each of them; None: they are too many."""
    most = _MAX_COPIES * sum(map(len, rows)) + _MAX_SPAN
    spread: list[dict[int, str]] = [{} for _ in rows]
    for number, row in enumerate(rows):
        at = 0
        for cell in row:
            while at in spread[number]:
                at += 1
            for below in spread[number : number + cell.rows]:
                below |= dict.fromkeys(range(at, at + cell.columns), cell.text)
                most -= cell.columns
            if most < 0:
                return None
    return [[texts.get(at, "") for at in range(max(texts) + 1)] for texts in spread]


def _text(markup: str) -> str:
    if "<" in markup:
        markup = _MARKUP.sub("", _BREAK.sub(" ", markup))
    return " ".join(html.unescape(markup).split())


HTML_TABLE: Final = LineForm("h", "<", lambda lines, at: None)


# A form: an XML document with repeated elements, which are rows for queries; the text itself stays as it is.

CODE: Final = "X"
IS_SEVERAL: Final = False

_MAX_DEPTH: Final = 60
"""Levels of nested elements."""
_START: Final = re.compile(r"<\?xml[\s?]|<([A-Za-z_][\w.-]*+)[^<]*+<[A-Za-z_]")
_NIL: Final = "{http://www.w3.org/2001/XMLSchema-instance}nil"
"""The attribute of an element that stands for null; an empty element is an empty text."""
_WORDS: Final = {"true": True, "false": False}
_PAGE: Final = frozenset(
    ("html", "head", "body", "table", "div", "ul", "ol", "dl", "p", "section", "main", "span", "svg")
)
"""The names of elements with which a web page, or a part of one, begins."""


def recognise(text: str) -> bool:
    """Return whether `text` begins with an element in another one, and ends with one; a web page does not."""
    found = _START.match(text) if text.startswith("<") and text.endswith(">") else None
    return found is not None and found[1] not in _PAGE


def read(text: str) -> dict[str, Any]:
    """Return the map of the outermost element; ValueError: it is no such XML."""
    # Entities, which a document type declares, could stand for gigabytes.
    if "<!DOCTYPE" in text or "<!ENTITY" in text or text.count("<") > _MAX_TAGS:
        raise ValueError(f"expected XML of at most {_MAX_TAGS:,} tags without a document type")
    try:
        value, has_records = _element(fromstring(text), 1)
    except ParseError as error:
        raise ValueError("expected XML") from error
    if not has_records or not isinstance(value, dict):
        raise ValueError("expected elements with members that are repeated")
    return value


def _element(node: Element, depth: int) -> tuple[Any, bool]:
    """Return the value of an element, and whether elements with members are repeated in it."""
    if depth > _MAX_DEPTH:
        raise ValueError(f"expected at most {_MAX_DEPTH} levels of elements")
    is_nil = node.attrib.get(_NIL) == "true"
    members = {} if is_nil else {_local(name): _value(text) for name, text in node.attrib.items()}
    has_records = False
    for child in node:
        value, inner = _element(child, depth + 1)
        has_records |= (_add(members, _local(child.tag), value) and isinstance(value, dict)) or inner
    text = "".join([node.text or "", *(child.tail or "" for child in node)]).strip()
    if members and text:
        _add(members, "text", _value(text))
    return members or (None if is_nil else _value(text)), has_records


def _add(members: dict[str, Any], name: str, value: Any) -> bool:
    """Add a member; return whether there was one of that name, so that all of them are an array."""
    if name not in members:
        members[name] = value
        return False
    if type(members[name]) is not list:
        members[name] = [members[name]]
    members[name].append(value)
    return True


def _local(name: str) -> str:
    return name.rpartition("}")[2]


def _value(text: str) -> Any:
    return read_number(text) if is_number(text) else _WORDS.get(text, text)


def describe(text: str, value: object) -> str | None:
    """Return None: XML has tables, and no view."""
    return None


def write(value: object, how: str, expansion: Expansion) -> NoReturn:
    """Refuse to write XML, which has no view."""
    raise ValueError(f"expected no layout of XML, found {how!r}")
