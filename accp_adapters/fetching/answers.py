"""The answer to a fetch: what a query finds in stored texts, as a view within a token limit."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cached_property, partial
from itertools import chain
from typing import Any, Final, TypeVar
from urllib.parse import unquote

from accp_adapters.fetching import page
from accp_adapters.fetching.page import Room
from accp_adapters.fetching.request import FetchRequest, LongText, open_bounded, refuse, too_long, too_much
from accp_adapters.fetching.sql.query import in_quotes, resolve_select
from accp_adapters.fetching.sql.run import answer_condition, answer_select, run_query
from accp_adapters.fetching.sql.tables import Catalog, DatabaseCache, UnbuiltColumn, read_json_text
from accp_adapters.fetching.words import WordSearch
from accp_core.documents.json_styles import write_styled_json
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError
from accp_core.markers import MarkerStart, escape_markers
from accp_core.ports import TokenCounter
from accp_core.projection import Resolve
from accp_core.references import key_of, parse_reference, split_reference
from accp_core.tables import FIELDS, FIRST_LINE, LINES, TEXT_RECORDS, OpenedText, count_lines
from accp_core.view import render_text
from accp_core.view.notation import visible

__all__ = [
    "DATABASES", "GRAMMAR", "answer", "answer_program", "open_and_answer", "passed_requests",
    "passed_text", "value_at", "with_references",
]  # fmt: skip

GRAMMAR: Final = "query: a SELECT, a condition such as status = 'late', a path such as items.0, or words"
"""What a query may be, in one line; a refusal ends with it."""

_Answer = TypeVar("_Answer")

NO_VALUE: Final = object()
"""Nothing is at a path."""

_POINTER: Final = "#/"
"""How a JSON Pointer begins in a URI (RFC 6901, section 6): `#/orders/3`."""
_POINTER_INDEX: Final = re.compile("0|[1-9][0-9]{0,8}")
_MAX_KEYS: Final = 8
"""Keys of an object that a refusal names."""
_IN_BRACKETS: Final = re.compile(r"\[\s*(?:(-?\d+)|\"([^\"]*)\"|'([^']*)')\s*\]|\.\"([^\"]*)\"")

_FENCE: Final = re.compile(r"\A```(?:sql)?\s*(.*?)\s*```\Z", re.DOTALL | re.IGNORECASE)
_PREFIX: Final = re.compile(r"\A(?:(?:sql|query)\s*:|where\b)\s*", re.IGNORECASE)
# Not a path through a key of that name, such as `select.from`, `with[0]` or `select`.
_SELECT: Final = re.compile(r"""\(*\s*(?:select|with)\b(?!\s*(?:\.|\[\s*[0-9"']|$))""", re.IGNORECASE)
_EXPRESSION: Final = re.compile(
    r"[|*(){}\[\]<>=\\^~]|\A/.+/\Z|&&"
    r"|\bi?like\s*(?:['\"]|[^\s'\"]*%)|\bbetween\s+\S+\s+and\b"
    r"|\bis\s+(?:not\s+)?(?:null|none|true|false)\b|\b(?:is|not)null\b"
    r"|\A(?:sel\w+|from|order\s+by|group\s+by|limit|having|distinct|count)\b|\b(?:group|order)\s+by\b"
    r"|\bcontains\s+['\"]"
    r"|\A(?:attach\s+database|pragma\s+\w+\s*[(=]|delete\s+from|(?:insert|vacuum)\s+into|drop\s+table)\b",
    re.IGNORECASE,
)
"""Signs and beginnings of an expression, not of words that are searched for."""
_JSON_START: Final = re.compile(r'\ufeff?\s*[\[{]\s*(?:["\[{\]}]|-?[\d.]+\s*,)')
"""How a text begins that may be JSON."""
_INDEX: Final = re.compile(r"\S+?(?:\.[0-9]+(?:\.\S*)?|\[[0-9]+\]\S*)")
_KEY: Final = re.compile(r"[^.$\[\]\"']+")
"""A key or an index of a path."""
_LINES: Final = re.compile(r"lines?\s+([0-9]{1,9})\s*(?:-|to|\.\.)\s*([0-9]{1,9})", re.IGNORECASE)
"""The lines that a mark of a preview names: `lines 41-97`."""
_ROWS: Final = "rows"
_OF_TEXT: Final = re.compile(rf"(?:{_ROWS}|{LINES}|{FIELDS}|{TEXT_RECORDS})[.\[]")
"""How a path begins that would lead into a table of a text."""
_OFFSET: Final = "expected an offset"
"""How the refusal of a page begins."""
_MAX_LINES: Final = 500_000
"""Lines of a text that is searched for words."""
_MAX_VALUES: Final = 1_000
"""Rows that a SELECT gives to a program."""
DATABASES: Final = DatabaseCache()
"""The databases of the texts that were queried last."""
_HINT: Final = "Or $cold.… with #/a/0 or SELECT … behind it: its text."
"""What a model reads of such an argument."""
_SCHEMAS: Final = ("parameters", "input_schema", "inputSchema")
"""Where providers and MCP have the JSON Schema of a tool's arguments."""
_MAX_PASSED: Final = 10_000
"""Rows of a SELECT."""


class Sources:
    """The texts that a request names. Each is opened once at most, and only if that is needed."""

    def __init__(self, texts: Mapping[str, str], request: FetchRequest) -> None:
        """Begin with texts by their keys."""
        self.texts: Final = texts
        self._request: Final = request

    @cached_property
    def opened(self) -> list[OpenedText]:
        """What they hold."""
        return [open_bounded(text) for text in self.texts.values()]

    @property
    def cut(self) -> str:
        """What is said of a tool that cut one of them; empty: nothing."""
        return max(each.cut for each in self.opened)

    def ask(self, query: Callable[[Catalog], _Answer]) -> _Answer:
        """Return the answer of a query over their tables.

        Where it names an object that has columns of its own, the JSON of that is read, too.
        """
        try:
            return query(self._catalog(whole=False))
        except UnbuiltColumn:
            return query(self._catalog(whole=True))

    def _catalog(self, *, whole: bool) -> Catalog:
        texts = enumerate(self.texts.values())
        databases = [DATABASES.get(text, lambda at=at: self.opened[at], whole=whole) for at, text in texts]  # type: ignore[misc]
        return Catalog(databases, list(self.texts), self._request.named)

    def search(self, words: str) -> WordSearch:
        """Return a search for words; of a file that was shown as it is they find lines, as an editor matches these."""
        texts, verbatim = zip(self.opened, self.texts.values(), strict=True), self._request.verbatim
        plain = (OpenedText(value=text, prose=text) if key_of(text) in verbatim else each for each, text in texts)
        return WordSearch(words, list(plain))

    def search_in_source(self, words: str) -> WordSearch:
        """Return a search in the lines of the texts that are no JSON, such as those with comments."""
        texts = [text for text in self.texts.values() if not text.lstrip().startswith(("{", "["))]
        return WordSearch(words, [OpenedText(value=text, prose=text) for text in texts])

    def at_path(self, path: str) -> Any:
        """Return the value at a path in the first text that has one, else NO_VALUE."""
        values = (follow(each.value, path) for each in self.opened if not isinstance(each.value, str))
        # A path may begin with the name of the table that a list is: `rows[0].title`.
        lists = (each for each in self.opened if isinstance(each.value, list) and path != _ROWS)
        rows = (follow({_ROWS: each.records}, path) for each in lists)
        return next((value for value in chain(values, rows) if value is not NO_VALUE), NO_VALUE)


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
    return visible(_answered(query, Sources(texts, request), Room(request, limit, counter)))


def _answered(query: str, sources: Sources, room: Room) -> str:
    if not query:
        return _whole(sources, room)
    try:
        if _SELECT.match(query):
            return sources.ask(lambda own: _below(_told(own.cut), room, partial(answer_select, query, own)))
        is_long = any(isinstance(each, LongText) for each in sources.opened)
        kind = _numbered if _LINES.fullmatch(query) else _of_long if is_long else _other
        return _below(_told(sources.cut), room, partial(kind, query, sources))
    except ProtocolError as error:
        if error.code != ErrorCode.INVALID_TYPE or error.reason.startswith(_OFFSET):
            raise
        quotes = sources.ask(partial(in_quotes, query)) if _SELECT.match(query) else ""
        reason = visible(f"{escape_markers(error.reason)}{quotes}. {GRAMMAR}")
        raise ProtocolError(reason, code=error.code) from error


def answer_program(texts: Mapping[str, str], request: FetchRequest) -> str:
    """Return what a program that called the tool reads: the value that its query finds, as JSON, never cut.

    Args:
        texts: As in `answer`.
        request: Its query is a path or a SELECT, or empty for the whole value. With an offset or a limit, those rows,
            items: an array, empty behind the last one.

    Raises:
        ProtocolError: E1004, nothing is found, the query is not understood, or an offset or a limit is given for an
            object or a single value; E2003, there are over 1,000 rows.
    """
    return write_styled_json(value_in(Sources(texts, request), request), "0u")


def value_at(text: str, query: str) -> Any:
    """Return the value that a path or a SELECT finds in a text, for a program.

    Args:
        text: A JSON document, or any text that `answer` reads.
        query: A path `a.0.b` (empty: the whole value) or a SELECT over its tables. One column gives the list of its
            cells, one row of one column the cell alone, anything else a list of objects.

    Raises:
        ProtocolError: E1004, nothing is found, or the query is not understood; E2003, it takes too much.
    """
    request = FetchRequest(query=query)
    return value_in(Sources({"1": text}, request), request)


def value_in(sources: Sources, request: FetchRequest, *, max_rows: int = _MAX_VALUES) -> Any:
    """Return the value that a request finds, as `value_at`, in the texts that it names.

    Raises:
        ProtocolError: E1004, nothing is found, or the query is not understood; E2003, it takes too much, or finds more
            rows than `max_rows`.
    """
    query = request.query.strip()
    if _SELECT.match(query):
        return _selected(query, sources, request, max_rows)
    found = sources.at_path(query) if query else sources.opened[0].value
    if isinstance(sources.opened[0], LongText) and (query or request.is_part or _JSON_START.match(found)):
        raise too_long(sources.opened[0].value)
    if found is NO_VALUE:
        _refuse_pointer(query, sources.opened[0])
        raise refuse(f"expected a path to a value, or a SELECT, found {query!r:.100}")
    if not request.is_part:
        return found
    if not isinstance(found, list):
        raise refuse(f"expected a path to a list where an offset or a limit is given, found {query!r:.100}")
    return found[request.offset : request.offset + (request.limit or len(found))]


def _selected(query: str, sources: Sources, request: FetchRequest, max_rows: int) -> Any:
    offset, most = request.offset, min(max_rows, request.limit or max_rows)
    result = sources.ask(lambda own: run_query(resolve_select(query, own), own.databases, offset=offset, max_rows=most))
    found = max(0, result.total - request.offset)
    if len(result.rows) < min(found, request.limit or found):
        raise too_much(f"expected at most {max_rows:,} rows, found more: write LIMIT and OFFSET")
    if len(result.columns) > 1:
        return list(result.rows)
    cells = [cell for row in result.rows for cell in row.values()]
    return cells[0] if len(cells) == 1 and not request.is_part else cells


def _refuse_pointer(query: str, opened: OpenedText) -> None:
    """Refuse a JSON Pointer that leads to no value, with what it may lead to."""
    if not query.startswith(_POINTER):
        return
    is_of_rows = isinstance(opened.value, list) and query.startswith(f"#/{_ROWS}/")
    try:
        follow_pointer({_ROWS: opened.records} if is_of_rows else opened.value, query)
    except LookupError as error:
        raise refuse(str(error)) from error


def _told(cut: str) -> str:
    """Return the first line of an answer from a source that a tool cut: no count passes for that of the whole."""
    return f"{MarkerStart.CUT_SOURCE}{cut}; of what was returned:]\n" if cut else ""


def _below(line: str, room: Room, answered: Callable[[Room], str]) -> str:
    """Return a line, and below it what is shown in the room that is left."""
    return line + answered(room.below(line))


def _whole(sources: Sources, room: Room) -> str:
    """Return a whole text, or a page of it."""
    source = next(iter(sources.texts.values()))
    if len(sources.texts) > 1:
        raise refuse(f"expected one reference, or a SELECT that joins them, found {len(sources.texts)}. {GRAMMAR}")
    # A view takes long, and a longer text hardly ever has one that fits.
    is_short = not room.request.is_part and 2 * len(source) <= room.chars
    # A view does not tell a line of a text that is quoted from one that looks so.
    if is_short and (page.quoted_lines(source) == source or sources.opened[0].prose is None):
        view = render_text(source, counter=room.counter)
        shown = page.shown_source(view.text, layout=view.layout)
        if room.counter(shown) <= room.limit:
            return shown
    (opened,) = sources.opened
    value = opened.value if opened.prose is None else opened.prose
    return _below(_told(opened.cut), room, partial(_page, value, ""))


def _page(value: object, path: str, room: Room) -> str:
    if found := find_rows(value, path):
        return page.row_page(*found, room)
    return page.line_page(value, room)


def _other(query: str, sources: Sources, room: Room) -> str:
    """Answer a path, a condition, or words, whichever the query is first."""
    opened, search = sources.opened, sources.search(query)
    is_text = all(isinstance(each.value, str) for each in opened)
    # A number alone in a list is searched for, as any other word: it may be an id.
    found = NO_VALUE if query.isdecimal() and isinstance(opened[0].value, list) else sources.at_path(query)
    if found is not NO_VALUE:
        return _page(found, query, room)
    if _INDEX.fullmatch(query) and "[" in query and "(" not in query and not (is_text or search.has_phrase):
        return _nothing(query, sources)
    met = None if is_text and search.has_phrase else _if_condition(query, sources, search, room)
    if met is not None:
        return met
    if found_rows := search.answer(room):
        return found_rows
    in_source = sources.search_in_source(query)
    if not is_text and not _INDEX.fullmatch(query) and in_source.has_phrase:
        return _below("… in no row, but in the text:\n", room, lambda left: in_source.answer(left) or "")
    return _nothing(query, sources)


def _of_long(query: str, sources: Sources, room: Room) -> str:
    """Answer words where a text is too long for conditions and paths."""
    text = next(each.value for each in sources.opened if isinstance(each, LongText))
    search = sources.search(query)
    looks_other = _EXPRESSION.search(query) or _INDEX.search(query) or query.startswith((_POINTER, "$."))
    if text.count("\n") > _MAX_LINES:
        raise too_much(f"expected at most {_MAX_LINES:,} lines for a search of words, found more; use lines 41-97")
    # Of JSON, a word with signs may be a path, and one of a text with escapes be written in another way.
    is_plain = "\\" not in text and re.fullmatch(r"[\w\s]+", query)
    if (looks_other or (_JSON_START.match(text) and not is_plain)) and not search.has_phrase:
        raise too_long(text)
    before = f"… words in lines; no tables of a text of {len(text):,} characters:\n"
    return _below(before, room, lambda left: search.answer(left) or _nothing(query, sources))


def _numbered(query: str, sources: Sources, room: Room) -> str:
    """Return the lines of a text that a query numbers."""
    first, last = map(int, _LINES.findall(query)[0])
    (opened, *_), (source, *_) = sources.opened, sources.texts.values()
    text = source if opened.prose is None else opened.prose
    start = max(first - FIRST_LINE, 0)
    begin = start + room.request.offset
    found = page.lines_from(text, begin, room.chars)
    numbered = enumerate(found, begin + FIRST_LINE)
    cells = [page.numbered_line(at, each.rstrip("\r\n"), is_found=True).rstrip("\n") for at, each in numbered]
    count = min(last, count_lines(text)) - start
    if count <= 0:
        return f"0 of {count_lines(text):,} lines"
    offset = text.find("".join(found[:1])) // page.PART_CHARS
    way = ", cut; a path finds its values" if opened.prose is None else f", cut; all of it: no query, offset={offset}"
    return room.page("rows", count, lambda n: "\n".join(cells[:n]) * (n <= len(cells)), row=lambda: cells[0], way=way)


def _if_condition(query: str, sources: Sources, search: WordSearch, room: Room) -> str | None:
    """Return the rows that meet a condition; None: the query is words, which may look like one: "what is late"."""
    try:
        return sources.ask(lambda catalog: answer_condition(query, catalog, room))
    except ProtocolError as refusal:
        # What SQLite ran was understood.
        is_run = isinstance(refusal.__cause__, sqlite3.Error)
        if is_run or refusal.code != ErrorCode.INVALID_TYPE or refusal.reason.startswith(_OFFSET):
            raise
        if _EXPRESSION.search(query) and not search.has_phrase:
            raise
    return None


def _nothing(query: str, sources: Sources) -> str:
    """Return the answer to words that occur nowhere: how many rows there are, and the tables for another query.

    Raises:
        ProtocolError: E1004, the query is a path.
    """
    tables = [table for each in sources.opened for table in each.own_tables]
    rows = [table for table in tables if not table.holds_lines]
    opened = sources.opened[0]
    is_path = _INDEX.fullmatch(query) and not isinstance(opened.value, str)
    _refuse_pointer(f"#/{'/'.join(_KEY.findall(query))}" if is_path else query, opened)
    if not rows and not (_INDEX.fullmatch(query) and _OF_TEXT.match(query)):
        return f"0 of {sum(len(table.rows) for table in tables):,} lines"
    described = sources.ask(Catalog.describe)
    if _INDEX.fullmatch(query):
        raise refuse(f"expected a path that leads to a value, or words, of {described}; found {query!r:.100}")
    return f"0 of {sum(len(table.rows) for table in rows):,} rows; tables: {escape_markers(described)}"


# References as arguments of other tools: what a result holds is passed on without the model writing it.
#
#     write_file(path="report.html", content="$cold.414775181990#/page/body")
#
# The tool is given the text, the state keeps the call as the model wrote it. It is a way out for data: only tools and
# arguments that the user named, only texts that the agent may open anyway, and each is told.


def passed_requests(arguments: object, resolved: Resolve | None) -> Iterator[tuple[str, FetchRequest]]:
    """Yield the name of each argument that is a reference and may be one, and what it asks for."""
    for name in resolved.arguments if resolved and isinstance(arguments, Mapping) else ():
        written = arguments.get(name) if isinstance(arguments, Mapping) else None
        if isinstance(written, str) and (found := split_reference(written)):
            query = found[1].strip().removeprefix(".")
            yield name, FetchRequest(ref=found[0], query="" if query == "#" else query)


def passed_text(request: FetchRequest, open_one: Callable[[str], str], *, max_chars: int) -> str:
    """Return the text that a tool is given in place of a reference: exactly what the tool returned, or a part of it.

    A text at a path stands as it is, the texts of one column of a SELECT one a line, any other value as compact JSON.

    Args:
        request: What is asked for; an empty query is the whole text.
        open_one: Checks the grant of one reference and returns its text.
        max_chars: Characters of the answer.

    Raises:
        ProtocolError: E1004, nothing is found (a pointer is told what it may lead to), the query is neither a path, a
            JSON Pointer (RFC 6901) nor a SELECT, or a tool cut its source off;
            E2003, the text is too long; the codes of `open_one`.
    """
    texts = {parse_reference(each): open_one(each) for each in request.references}
    text = _passed_part(texts, request) if request.query else next(iter(texts.values()))
    if len(text) > max_chars:
        raise too_much(f"expected at most {max_chars:,} characters of {request.ref!r}, found {len(text):,}")
    return text


def _passed_part(texts: Mapping[str, str], request: FetchRequest) -> str:
    sources = Sources(texts, request)
    if sources.cut:
        raise refuse(f"expected a whole source of {request.query[:100]!r}, found a truncated one: pass it on whole")
    value = value_in(sources, request, max_rows=_MAX_PASSED)
    is_select = _SELECT.match(request.query) is not None
    if is_select and value in ([], None):
        raise refuse(f"expected a value to pass on, found none by {request.query[:100]!r}")
    if isinstance(value, list) and is_select:
        value = "\n".join(value) if all(isinstance(each, str) for each in value) else value
    return value if isinstance(value, str) else write_styled_json(value, "0u")


def with_references(tool: Mapping[str, Any], resolved: Resolve) -> Mapping[str, Any]:
    """Return the definition of a tool, in the layout of a provider or of MCP, whose arguments say so."""
    if isinstance(function := tool.get("function"), Mapping):
        return {**tool, "function": with_references(function, resolved)}
    name, schema = _schema_of(tool)
    known = schema.get("properties") or {}
    hinted = {
        each: {**known[each], "description": f"{known[each].get('description', '')} {_HINT}".strip()}
        for each in resolved.arguments
        if isinstance(known.get(each), Mapping)
    }
    return {**tool, name: {**schema, "properties": {**known, **hinted}}} if hinted else tool


def _schema_of(tool: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """Return the key and the schema of the arguments in a definition; ("", {}): it has none."""
    found = ((name, tool[name]) for name in _SCHEMAS if isinstance(tool.get(name), Mapping))
    return next(found, ("", {}))


# Paths.


def find_rows(value: Any, path: str = "") -> tuple[list[Any], str, Callable[[list[Any]], Any]] | None:
    """Return the rows of a value: its items, or those of the only list in it; None: it has none.

    Args:
        value: A list or an object; other values have no rows.
        path: The path to it in the whole stored value.

    Returns:
        The rows, the path to them, and what returns the value with some rows in place of all.
    """
    if isinstance(value, list):
        return value, path, lambda rows: rows
    names = [name for name in value if isinstance(value[name], list)] if isinstance(value, dict) else []
    if len(names) != 1:
        return None
    (key,) = names
    return value[key], f"{path}.{key}".removeprefix("."), lambda rows: {**value, key: rows}


def follow(value: Any, path: str) -> Any:
    """Return the value at `path`, or NO_VALUE; a key that contains dots comes before a path through keys.

    A path is `a.0.b`, and, as it is written elsewhere, `$.a[0].b`, `a["b"]`, `a."b"` or `#/a/0/b`. Where no key is
    empty, a dot at the end means nothing.
    """
    if not path:
        return value
    found = _walk(value, path)
    if found is not NO_VALUE:
        return found
    with suppress(LookupError):
        return follow_pointer(value, path)
    dotted = _IN_BRACKETS.sub(lambda key: "." + next(filter(None, key.groups()), ""), path)
    rest = (dotted[1:] if dotted.startswith("$.") else dotted).removeprefix(".")
    return _walk(value, rest) if rest != path else NO_VALUE


def follow_pointer(value: Any, pointer: str) -> Any:
    """Return the value at a JSON Pointer as a URI holds it (RFC 6901): `#/orders/3`.

    Raises:
        LookupError: Nothing is there, or it is no such pointer; it says what was expected, and where.
    """
    if not pointer.startswith(_POINTER):
        raise LookupError(f"expected a pointer such as '#/orders/3', found {pointer[:100]!r}")
    at = "#"
    for token in unquote(pointer).split("/")[1:]:
        value = read_json_text(value)
        # "first transforming any occurrence of the sequence '~1' to '/', and then … '~0' to '~'" (section 4)
        key = token.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict) and key in value:
            value = value[key]
        elif isinstance(value, list) and _POINTER_INDEX.fullmatch(key) and int(key) < len(value):
            value = value[int(key)]
        else:
            raise LookupError(f"expected {_parts_of(value)} at {at[:100]!r}, found {key[:100]!r}")
        at += f"/{token}"
    return value


def _parts_of(value: Any) -> str:
    """Return what may stand behind a pointer to a value."""
    if isinstance(value, dict) and value:
        keys = ", ".join(repr(key[:100]) for key in list(value)[:_MAX_KEYS])
        return f"one of the {len(value):,} keys ({keys}{', …' * (len(value) > _MAX_KEYS)})"
    if isinstance(value, list) and value:
        return f"an index from 0 to {len(value) - 1}"
    return "the pointer to end"


def _walk(value: Any, path: str) -> Any:
    # A loop: a tool may nest its result as deep as it likes, and a path may have as many keys.
    waiting = [(value, path)]
    while waiting:
        value, path = waiting.pop()
        value = read_json_text(value) if path else value
        if isinstance(value, dict) and path in value:
            return value[path]
        if not path:
            return value
        if isinstance(value, dict):
            names = [name for name in value if path.startswith(f"{name}.")]
            waiting += [(value[name], path[len(name) + 1 :]) for name in reversed(names)]
        elif isinstance(value, list):
            index, dot, rest = path.partition(".")
            if index.isdecimal() and len(index) < 10 and int(index) < len(value):
                if not dot:
                    return value[int(index)]
                waiting.append((value[int(index)], rest))
    return NO_VALUE
