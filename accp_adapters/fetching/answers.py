"""The answer to a fetch: what a query finds in stored texts, as a view within a token limit."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar

from accp_adapters.fetching.opening import LongText, open_bounded, too_long
from accp_adapters.fetching.page import Room, line_page, row_page, text_page
from accp_adapters.fetching.paths import NO_VALUE, POINTER, find_rows, follow, follow_pointer
from accp_adapters.fetching.request import FetchRequest, refuse, too_much
from accp_adapters.fetching.source_text import shown_source
from accp_adapters.fetching.sql.query import resolve_select
from accp_adapters.fetching.sql.rows import answer_condition, answer_select
from accp_adapters.fetching.sql.run import QueryResult, run_query
from accp_adapters.fetching.sql.tables import Catalog, Database, DatabaseCache, UnbuiltColumn
from accp_adapters.fetching.words import answer_words, has_phrase
from accp_core.documents.json_styles import write_styled_json
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError
from accp_core.markers import MarkerStart, escape_markers
from accp_core.ports import TokenCounter
from accp_core.references import key_of, parse_reference
from accp_core.tables import LINES, OpenedText, lines_of
from accp_core.view import render_text

__all__ = ["DATABASES", "GRAMMAR", "answer", "answer_program", "open_and_answer", "value_at", "value_in"]

GRAMMAR: Final = "query: a SELECT, a condition such as status = 'late', a path such as items.0, or words"
"""What a query may be, in one line; a refusal ends with it."""

_Answer = TypeVar("_Answer")

_FENCE: Final = re.compile(r"\A```(?:sql)?\s*(.*?)\s*```\Z", re.DOTALL | re.IGNORECASE)
_PREFIX: Final = re.compile(r"\A(?:(?:sql|query)\s*:|where\b)\s*", re.IGNORECASE)
# Not a path through a key of that name, such as `select.from`, `with[0]` or `select`.
_SELECT: Final = re.compile(r"""\(*\s*(?:select|with)\b(?!\s*(?:\.|\[\s*[0-9"']|$))""", re.IGNORECASE)
_EXPRESSION: Final = re.compile(
    r"[|*(){}\[\]<>=\\^~]|\A/.+/\Z|&&"
    r"|\bi?like\s*(?:['\"]|[^\s'\"]*%)|\bbetween\s+\S+\s+and\b"
    r"|\bis\s+(?:not\s+)?(?:null|none|true|false)\b|\b(?:is|not)null\b",
    re.IGNORECASE,
)
"""Signs of an expression, not of words that are searched for."""
_BEGINS: Final = re.compile(
    r"\A(?:sel\w+|from|order\s+by|group\s+by|limit|having|distinct|count)\b|\b(?:group|order)\s+by\b|\bcontains\s+['\"]"
    r"|\A(?:attach\s+database|pragma\s+\w+\s*[(=]|delete\s+from|(?:insert|vacuum)\s+into|drop\s+table)\b",
    re.IGNORECASE,
)
_INDEX: Final = re.compile(r"\S+?(?:\.[0-9]+(?:\.\S*)?|\[[0-9]+\]\S*)")
_LINES: Final = re.compile(r"lines?\s+([0-9]{1,9})\s*(?:-|to|\.\.)\s*([0-9]{1,9})", re.IGNORECASE)
"""The lines that a mark of a preview names: `lines 41-97`."""
_ROWS: Final = re.compile(r"(?:(?:\$\.)?rows(?=[.\[])|(#/)rows/)")
_MAX_SHOWN: Final = 100
_MAX_VALUES: Final = 1_000
"""Rows that a SELECT gives to a program."""
DATABASES: Final = DatabaseCache()
"""The databases of the texts that were queried last."""
_JSON: Final = ("{", "[")
_CUT: Final = f"{MarkerStart.CUT_SOURCE}; of what was returned:]\n"
"""The first line of an answer from a source that a tool cut, so that no count passes for that of the whole."""


def open_and_answer(
    request: FetchRequest, open_text: Callable[[str], str], *, limit: int, counter: TokenCounter
) -> str:
    """Return the answer to a request, after each reference that it names is opened.

    Args:
        request: What the model asks for.
        open_text: Checks the grant of one reference and returns its text, such as `references.open_reference`.
        limit: Tokens of the answer.
        counter: Counts the tokens of the model.

    Raises:
        ProtocolError: The codes of `open_text` and of `answer`.
    """
    texts = {parse_reference(reference): open_text(reference) for reference in request.references}
    return answer(texts, request, limit=limit, counter=counter)


def answer(texts: Mapping[str, str], request: FetchRequest, *, limit: int, counter: TokenCounter) -> str:
    """Return the part of stored texts that `request` asks for, as a view, and the offset of the next part.

    It opens JSON, builds a database and runs a query, so that an asynchronous caller calls it in a thread.

    Args:
        texts: The stored texts that the request names, by key in the order of `request.references`, at least one; each
            was opened by the caller, who checked its grant.
        request: What the model asks for.
        limit: Tokens of the answer. One row, line or part of a text is shown whatever the limit is, so that
            every answer leads on.
        counter: Counts the tokens of the model.

    Raises:
        ProtocolError: E1004, the query is not understood or nothing is found by its words, or the offset is behind the
            end; E2003, it takes too much time or memory.
    """
    query = _PREFIX.sub("", _FENCE.sub(r"\1", request.query.strip()))
    if not query:
        return _whole(texts, Room(request, limit, counter))
    try:
        if _SELECT.match(query):

            def select(catalog: Catalog) -> str:
                before = _before(catalog.databases)
                return before + answer_select(query, catalog, Room(request, limit, counter).below(before))

            return _ask(texts, request, select)
        return _other(query, texts, Room(request, limit, counter))
    except ProtocolError as error:
        if error.code != ErrorCode.INVALID_TYPE or error.reason.startswith("expected an offset"):
            raise
        raise ProtocolError(f"{escape_markers(error.reason)}. {GRAMMAR}", code=error.code) from error


def answer_program(texts: Mapping[str, str], request: FetchRequest) -> str:
    """Return what a program that called the tool reads: the value that its query finds, as JSON, never cut.

    Args:
        texts: As in `answer`.
        request: Its query is a path or a SELECT, or empty for the whole value. With an offset or a limit, those rows,
            items or lines: an array, empty behind the last one, or the lines of a text.

    Raises:
        ProtocolError: E1004, nothing is found, the query is not understood, or an offset or a limit is given for an
            object or a single value; E2003, there are over 1,000 rows.
    """
    return write_styled_json(value_in(texts, request), "0u")


def value_at(text: str, query: str) -> Any:
    """Return the value that a path or a SELECT finds in a text, for a program.

    Args:
        text: A JSON document, or any text that `answer` reads.
        query: A path `a.0.b` (empty: the whole value) or a SELECT over its tables. One column gives the list of its
            cells, one row of one column the cell alone, anything else a list of objects.

    Raises:
        ProtocolError: E1004, nothing is found, or the query is not understood; E2003, it takes too much.
    """
    return value_in({"1": text}, FetchRequest(query=query))


def value_in(texts: Mapping[str, str], request: FetchRequest, *, max_rows: int = _MAX_VALUES) -> Any:
    """Return the value that a request finds, as `value_at`, in the texts that it names by their keys.

    Raises:
        ProtocolError: E1004, nothing is found, or the query is not understood; E2003, it takes too much, or finds more
            rows than `max_rows`.
    """
    query = request.query.strip()
    if _SELECT.match(query):

        def select(catalog: Catalog) -> QueryResult:
            rows = min(max_rows, request.limit or max_rows)
            return run_query(resolve_select(query, catalog), catalog.databases, offset=request.offset, max_rows=rows)

        result = _ask(texts, request, select)
        found_rows = max(0, result.total - request.offset)
        if len(result.rows) < min(found_rows, request.limit or found_rows):
            raise too_much(f"expected at most {max_rows:,} rows, found more: write LIMIT and OFFSET")
        rows = [dict(row) for row in result.rows]
        cells = [cell for row in rows for cell in row.values()]
        one_column = all(len(row) == 1 for row in rows)
        return (cells[0] if len(cells) == 1 and not request.is_part else cells) if one_column else rows
    opened = [open_bounded(text) for text in texts.values()]
    found = _at_path(query, opened) if query else opened[0].value
    if found is NO_VALUE:
        _refuse_pointer(query, opened[0])
        raise refuse(f"expected a path to a value, or a SELECT, found {query[:_MAX_SHOWN]!r}")
    return _part_of(found, request) if request.is_part else found


def _refuse_pointer(query: str, opened: OpenedText) -> None:
    """Refuse a JSON Pointer that leads to no value, with what it may lead to."""
    if not query.startswith(POINTER):
        return
    if isinstance(opened, LongText):
        raise too_long(opened.value)
    try:
        follow_pointer(opened.value, query)
    except LookupError as error:
        raise refuse(str(error)) from error


def _part_of(value: Any, request: FetchRequest) -> Any:
    part = slice(request.offset, request.offset + request.limit if request.limit else None)
    if isinstance(value, str):
        return "".join(lines_of(value)[part])
    if not isinstance(value, list):
        raise refuse(
            f"expected a path to a list or a text where an offset or a limit is given, found {request.query!r:.100}"
        )
    return value[part]


def _before(sources: Iterable[OpenedText | Database]) -> str:
    """Return the line that stands before an answer that knows only a part of what there is; "" before any other."""
    return _CUT if any(source.is_cut for source in sources) else ""


def _ask(texts: Mapping[str, str], request: FetchRequest, query: Callable[[Catalog], _Answer]) -> _Answer:
    """Return the answer of a query; where it names an object that has columns of its own, its JSON is read, too."""

    def catalog(*, whole: bool) -> Catalog:
        return Catalog([DATABASES.get(text, whole=whole) for text in texts.values()], list(texts), request.named)

    try:
        return query(catalog(whole=False))
    except UnbuiltColumn:
        return query(catalog(whole=True))


def _whole(texts: Mapping[str, str], room: Room) -> str:
    """Return a whole text, or a page of it."""
    source = next(iter(texts.values()))
    if len(texts) > 1:
        reason = f"expected one reference, or a SELECT that joins them, found {len(texts)} without a query. {GRAMMAR}"
        raise refuse(reason)
    if not room.request.is_part and room.may_fit(source):
        view = render_text(source, counter=room.counter)
        shown = shown_source(view.text, layout=view.layout)
        if room.counter(shown) <= room.limit:
            return shown
    opened = open_bounded(source)
    before = _before([opened])
    return before + _page(opened.value if opened.prose is None else opened.prose, "", room.below(before))


def _page(value: object, path: str, room: Room) -> str:
    if selection := find_rows(value, path):
        return row_page(selection, room)
    return line_page(room.view(value) or write_styled_json(value, "2u"), room)


def _other(query: str, texts: Mapping[str, str], room: Room) -> str:
    """Answer a path, a condition, names of columns, or words, whichever the query is first."""
    opened = [open_bounded(text) for text in texts.values()]
    if any(isinstance(each, LongText) for each in opened):
        return _of_long(query, opened, room)
    found = _at_path(query, opened)
    before = _before(opened)
    if found is not NO_VALUE:
        before += _place(query, opened) if isinstance(found, dict | list) else ""
        return before + _page(found, query, room.below(before))
    room = room.below(before)
    if sql := _sql_of_lines(query, opened[0]):
        return answer(texts, replace(room.request, query=sql), limit=room.limit, counter=room.counter)
    opened = _for_words(opened, texts, room.request)
    is_text = all(isinstance(each.value, str) for each in opened)
    stands_there = has_phrase(query, opened)
    if is_text and stands_there:
        return before + (answer_words(query, opened, room) or "")
    met = _if_condition(query, texts, room, stands_there=stands_there)
    if met is not None:
        return before + met
    found_rows = answer_words(query, opened, room)
    if found_rows is None and is_text and query.isdecimal():
        return _ask(texts, room.request, lambda catalog: answer_condition(f"n = {query}", catalog, room))
    if found_rows is None and not is_text and not _INDEX.fullmatch(query):
        found_rows = _in_source(query, texts, room)
    if found_rows is None:
        found_rows = _nothing(query, opened, lambda: _ask(texts, room.request, Catalog.describe))
    return before + found_rows


def _of_long(query: str, opened: Sequence[OpenedText], room: Room) -> str:
    """Answer words, or the numbers of lines, where a text is too long for conditions and paths."""
    long = next(each for each in opened if isinstance(each, LongText))
    before = f"{_before(opened)}words in lines; no tables of a text of {len(long.value):,} characters:\n"
    room = room.below(before)
    if lines := _LINES.fullmatch(query):
        first, last, asked = int(lines[1]), int(lines[2]), room.request
        part = replace(asked, offset=first - 1 + asked.offset, limit=asked.limit or max(1, last - first + 1))
        return before + text_page("lines", long.lines, replace(room, request=part))
    if any(each.search(query) for each in (_EXPRESSION, _BEGINS, _INDEX)) and not long.has(query):
        raise too_long(long.value)
    found = answer_words(query, opened, room)
    return before + (found or f"0 of {sum(len(table.rows) for each in opened for table in each.tables()):,} lines")


def _if_condition(query: str, texts: Mapping[str, str], room: Room, *, stands_there: bool) -> str | None:
    """Return the rows that meet a condition; None: the query is words, which may look like one: "what is late"."""
    try:
        return _ask(texts, room.request, lambda catalog: answer_condition(query, catalog, room))
    except ProtocolError as refusal:
        # What SQLite ran was understood.
        is_run = isinstance(refusal.__cause__, sqlite3.Error)
        if is_run or refusal.code != ErrorCode.INVALID_TYPE or refusal.reason.startswith("expected an offset"):
            raise
        if not stands_there and any(each.search(query) for each in (_EXPRESSION, _BEGINS)):
            raise
    return None


def _for_words(opened: list[OpenedText], texts: Mapping[str, str], request: FetchRequest) -> list[OpenedText]:
    """Return the texts, of a file that was shown as it is its lines: words find these, as an editor matches them."""
    return [
        OpenedText(value=text, prose=text, is_cut=each.is_cut) if key_of(text) in request.verbatim else each
        for each, text in zip(opened, texts.values(), strict=True)
    ]


def _in_source(query: str, texts: Mapping[str, str], room: Room) -> str | None:
    """Return the lines with words that no row has, such as a comment's, or None; of JSON the tables name the keys."""
    sources = [OpenedText(value=text, prose=text) for text in texts.values() if not text.lstrip().startswith(_JSON)]
    if not has_phrase(query, sources):
        return None
    before = "in no row, but in the text:\n"
    return before + (answer_words(query, sources, room.below(before)) or "")


def _sql_of_lines(query: str, opened: OpenedText) -> str:
    """Return the SELECT that `lines 41-97` is; "" for anything else, and where an array has that name."""
    lines = _LINES.fullmatch(query)
    is_array = opened.prose is None and any(table.name == LINES for table in opened.tables())
    return f"SELECT n, text FROM lines WHERE n BETWEEN {lines[1]} AND {lines[2]}" if lines and not is_array else ""


def _nothing(query: str, opened: Sequence[OpenedText], describe: Callable[[], str]) -> str:
    """Return the answer to words that occur nowhere: how many rows there are, and the tables for another query.

    Raises:
        ProtocolError: E1004, the query is a path.
    """
    tables = [table for each in opened for table in each.tables()]
    rows = [table for table in tables if not table.holds_lines]
    if not rows:
        return f"0 of {sum(len(table.rows) for table in tables):,} lines"
    _refuse_pointer(query, opened[0])
    described = describe()
    if _INDEX.fullmatch(query):
        raise refuse(f"expected a path that leads to a value, or words, of {described}; found {query[:_MAX_SHOWN]!r}")
    return f"0 of {sum(len(table.rows) for table in rows):,} rows; tables: {escape_markers(described)}"


def _at_path(query: str, opened: list[OpenedText]) -> object:
    values = (_follow(each, query) for each in opened)
    return next((value for value in values if value is not NO_VALUE), NO_VALUE)


def _place(query: str, opened: Sequence[OpenedText]) -> str:
    """Return the line that says that a number alone was taken for the place of a row; "" for any other path."""
    if not query.isdecimal() or not isinstance(opened[0].value, list):
        return ""
    return f"row {int(query)} of {len(opened[0].value):,}, counted from 0 (no value of a cell):\n"


def _follow(opened: OpenedText, path: str) -> Any:
    """Return what is at a path, which may begin with the name of the table that a list is: `rows[0].title`."""
    if isinstance(opened.value, str):
        return NO_VALUE
    found = follow(opened.value, path)
    in_rows = _ROWS.match(path)
    if found is not NO_VALUE or in_rows is None or not isinstance(opened.value, list):
        return found
    return follow(opened.records, (in_rows[1] or "") + path[in_rows.end() :])
