"""The answer to a query in SQL: its rows as a view, and what leads on where there are none or more of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from accp_adapters.fetching.page import (
    cut_row,
    largest_page,
    lines_around,
    may_fit,
    next_offset,
    note_few,
    numbered_line,
    remaining_rows,
    view_of,
)
from accp_adapters.fetching.request import FetchRequest
from accp_adapters.fetching.source_text import shown_source
from accp_adapters.fetching.sql.catalog import Catalog, NamedTable, find_name, quoted_name
from accp_adapters.fetching.sql.columns import describe_comparisons
from accp_adapters.fetching.sql.resolve import ResolvedQuery, resolve_condition, resolve_select
from accp_adapters.fetching.sql.run import QueryResult, run_query
from accp_adapters.fetching.sql.scope import quote
from accp_adapters.fetching.sql.tokens import SqlToken, refuse, tokenize
from accp_core.errors import ProtocolError
from accp_core.markers import escape_markers
from accp_core.ports import TokenCounter
from accp_core.strict_json import compact_json
from accp_core.tables import ParentLink

__all__ = ["answer_condition", "answer_select", "looks_like_condition"]

_MAX_ROWS: Final = 4_000
"""Rows of one answer; a row takes at least a token or two."""
_MAX_NOTES: Final = 3
"""Columns of which an answer says how many rows hold no number."""
_GROUPS: Final = re.compile(r"\b(?:GROUP\s+BY|DISTINCT|LIMIT)\b", re.IGNORECASE)
_SORTS: Final = re.compile(r"\bORDER\s+BY\b", re.IGNORECASE)
_WILDCARD: Final = re.compile(r"\bLIKE\s*'[^']*_", re.IGNORECASE)
_MIN_COUNTED: Final = 10
"""Lines that are counted for a reader."""
_LINE_COLUMNS: Final = (("n", "text"), ("text",))
_OPERATOR: Final = re.compile(
    r"[=<>]"
    r"|\bi?like\s*(?:['\"]|[^\s'\"]*%)|\bin\s*\(|\bbetween\s+\S+\s+and\b"
    r"|\bis\s+(?:not\s+)?(?:null|none|true|false)\b|\b(?:is|not)null\b",
    re.IGNORECASE,
)


def looks_like_condition(query: str) -> bool:
    """Return whether a query has an operator, so that it is a condition rather than words."""
    return _OPERATOR.search(query) is not None


def answer_select(query: str, catalog: Catalog, request: FetchRequest, limit: int, counter: TokenCounter) -> str:
    """Return the rows of a SELECT.

    Raises:
        ProtocolError: E1004, it is not understood, or the offset is behind its rows; E2003, it takes too much.
    """
    return _answer(resolve_select(query, catalog), catalog, request, limit, counter)


def answer_condition(query: str, catalog: Catalog, request: FetchRequest, limit: int, counter: TokenCounter) -> str:
    """Return the rows that meet a condition, or the columns that a list names: `status = late, id, total`.

    Raises:
        ProtocolError: As `answer_select`.
    """
    tokens = tokenize(query)
    parts = _split(query, tokens)
    return _answer(_resolve_parts(parts, catalog), catalog, request, limit, counter)


def _split(query: str, tokens: Sequence[SqlToken]) -> list[str]:
    """Return the parts of a query between the commas outside parentheses."""
    depth, start, parts = 0, 0, []
    for token in tokens:
        depth += (token.text == "(") - (token.text == ")")
        if token.text == "," and depth == 0:
            parts.append(query[start : token.start])
            start = token.end
    return [part.strip() for part in (*parts, query[start:].rstrip("; ")) if part.strip()]


def _resolve_parts(parts: Sequence[str], catalog: Catalog) -> ResolvedQuery:
    """Resolve conditions and columns in the table that is meant: the main one, else the only one that has them all."""
    main = catalog.main()
    tables = [table for table in catalog.tables if table.columns]
    first = [table for table in tables if main is not None and table == main]
    refusal: ProtocolError | None = None
    found: list[ResolvedQuery] = []
    called = [table for table in tables if parts == [table.name]]
    if called and not (main is not None and parts[0] in main.columns):
        first = called[:1] if len(called) == 1 else first
    for table in (*first, *(table for table in tables if table not in first)):
        try:
            resolved = _resolve_in(parts, table, catalog)
        except ProtocolError as error:
            refusal = refusal or error
            continue
        if table in first:
            return resolved
        found.append(resolved)
    if len(found) == 1:
        return found[0]
    if found:
        names = " or ".join(quoted_name(each.tables[0].name) for each in found)
        raise refuse(f"expected a SELECT, because the columns are in {names}; found {', '.join(parts)!r}")
    raise refusal or refuse(f"expected a table, found none for {', '.join(parts)!r}")


def _resolve_in(parts: Sequence[str], table: NamedTable, catalog: Catalog) -> ResolvedQuery:
    if len(parts) == 1 and parts[0].casefold() == table.name.casefold():
        return resolve_condition("", table, catalog)
    columns: list[str] = []
    conditions: list[str] = []
    for part in parts:
        names = find_name(part.strip('"`'), table.columns)
        if len(names) == 1:
            columns.append(names[0])
        elif looks_like_condition(part):
            conditions.append(part if len(parts) == 1 else f"({part})")
        else:
            raise catalog.unknown_column(part, [table], "a column or a condition")
    return resolve_condition(" AND ".join(conditions), table, catalog, columns)


def _answer(query: ResolvedQuery, catalog: Catalog, request: FetchRequest, limit: int, counter: TokenCounter) -> str:
    result = run_query(
        query.sql,
        catalog.databases,
        offset=request.offset,
        max_rows=_MAX_ROWS,
        is_scan=query.is_scan,
    )
    hint = ""
    if not result.total or _is_nothing(result):
        hint = escape_markers(describe_comparisons(query.comparisons, catalog.databases))
    if not result.total:
        of = f" of {query.tables[0].stored.row_count:,}" if len(query.tables) == 1 else ""
        numeric = [] if hint else _numeric_notes(query)
        return "; ".join(filter(None, (f"0{of} rows", hint, *numeric)))
    numeric = [f"… {note}" for note in _numeric_notes(query)]
    notes = [note for note in (hint and f"… {hint}", *numeric, _add_children(query, result, catalog)) if note]
    if shown := _lines(query, result, catalog, request, limit, counter):
        return shown
    few = _few(query, result, request)
    write = _as_lines if _holds_lines(query, result) else None
    is_counted = write and "n" in result.columns and result.total >= _MIN_COUNTED
    counted = f"\n… {result.total:,} lines" if is_counted else ""
    return _page(
        result, "".join(f"\n{note}" for note in notes), request, limit, counter, few=few, counted=counted, write=write
    )


def _lines(
    query: ResolvedQuery,
    result: QueryResult,
    catalog: Catalog,
    request: FetchRequest,
    limit: int,
    counter: TokenCounter,
) -> str:
    """Return few lines of a text that meet a condition with those around them; "" where they are something else.

    Who names the columns wants the lines that are found, no others.
    """
    is_part = request.is_part or _GROUPS.search(query.sql) or _SORTS.search(query.sql)
    of_text = any(each.column == "text" and each.table.stored.source.holds_lines for each in query.comparisons)
    around = lines_around(result.total)
    if (
        is_part
        or not query.shows_rows
        or not of_text
        or not around
        or len(query.tables) > 1
        or result.columns != ("n", "text")
    ):
        return ""
    found = {row["n"] for row in result.rows}
    near = sorted({at for number in found for at in range(number - around, number + around + 1)})
    lines = f"r{query.tables[0].number}.{quote(query.tables[0].name)}"
    sql = f"SELECT n, text FROM {lines} WHERE n IN ({', '.join(map(str, near))})"
    rows = run_query(sql, catalog.databases, max_rows=len(near), is_scan=True).rows
    shown = "".join(numbered_line(row["n"], row["text"], is_found=row["n"] in found) for row in rows)
    return shown_source(shown) if may_fit(shown, limit) and counter(shown) <= limit else ""


def _holds_lines(query: ResolvedQuery, result: QueryResult) -> bool:
    """Return whether the rows are lines of one text; they are shown unchanged, so that an editor can match them."""
    is_lines = [table.stored.source.holds_lines for table in query.tables] == [True]
    texts = (row["text"] for row in result.rows)
    return (
        is_lines and result.columns in _LINE_COLUMNS and all(type(each) is str and "\n" not in each for each in texts)
    )


def _as_lines(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return lines as they are, each after its number where it has one."""
    return "\n".join(f"{row['n']}: {row['text']}" if "n" in row else row["text"] for row in rows)


def _few(query: ResolvedQuery, result: QueryResult, request: FetchRequest) -> str:
    """Return what an answer says whose condition nearly all rows of a table meet, with the usual cause."""
    if len(query.tables) != 1 or not query.comparisons or _GROUPS.search(query.sql):
        return ""
    few = note_few(request, result.total, query.tables[0].stored.row_count)
    return f"{few} (in LIKE, _ is any character)" if few and _WILDCARD.search(query.sql) else few


def _is_nothing(result: QueryResult) -> bool:
    """Return whether the result is one row of zeros and nulls, as an aggregate of no rows is."""
    return result.total == 1 and bool(result.rows) and not any(result.rows[0].values())


def _numeric_notes(query: ResolvedQuery) -> list[str]:
    """Return how many rows each column leaves out that is compared, sorted or added as numbers."""
    notes = []
    for each in query.numeric[:_MAX_NOTES]:
        stored, total = each.table.stored.columns[each.column], each.table.stored.row_count
        if stored.numbers < total:
            notes.append(f"{quoted_name(each.column)}: {total - stored.numbers:,} of {total:,} rows hold no number")
    return list(map(escape_markers, notes))


def _add_children(query: ResolvedQuery, result: QueryResult, catalog: Catalog) -> str:
    """Return the line that says in which tables more of each row is; one row shows a child row shorter than that."""
    if not query.shows_rows:
        return ""
    shown = {(table.number, table.name) for table in query.tables}
    links: dict[str, None] = {}
    for child in (child for table in query.tables for child in catalog.children(table)):
        link = child.stored.source.parent
        if (child.number, child.name) in shown or link is None:
            continue
        where = f"{quoted_name(link.column)} = {quoted_name(link.table)}.{quoted_name(link.key)}"
        hint = f"{quoted_name(child.name)} ({where})"
        rows = _child_rows(child, link, result, catalog) if len(query.tables) == 1 else None
        if rows is not None and len(compact_json(rows)) <= len(hint):
            result.rows[0].setdefault(child.name, rows)
        else:
            links[hint] = None
    return escape_markers(f"… each row has more in {', '.join(links)}") if links else ""


def _child_rows(child: NamedTable, link: ParentLink, result: QueryResult, catalog: Catalog) -> list[Any] | None:
    """Return the rows of a child table that a result of one row has, where they are at most one without children."""
    key = result.rows[0].get(link.key) if result.total == 1 and result.rows else None
    columns = [quote(name) for name in child.stored.own_columns if name != link.column]
    is_written = type(key) is int or (type(key) is str and key.isprintable())
    if not is_written or not columns or catalog.children(child):
        return None
    doubled = str(key).replace("'", "''")
    is_it = f"{quote(link.column)} = " + (f"'{doubled}'" if type(key) is str else doubled)
    sql = f"SELECT {', '.join(columns)} FROM r{child.number}.{quote(child.name)} WHERE {is_it}"
    found = run_query(sql, catalog.databases, max_rows=1, is_scan=True)
    return found.rows if found.total <= 1 else None


def _page(
    result: QueryResult,
    notes: str,
    request: FetchRequest,
    limit: int,
    counter: TokenCounter,
    *,
    few: str,
    counted: str,
    write: Callable[[Sequence[Mapping[str, Any]]], str] | None = None,
) -> str:
    rows = result.rows

    def page(count: int) -> str:
        value: Any = rows[0] if result.total == 1 else rows[:count]
        text = write(rows[:count]) if write else view_of(value, limit, counter)
        part = _part(request.offset, count, result)
        return text and shown_source(text, (part + few if part else counted) + notes)

    remaining = min(remaining_rows("rows", request, result.total), len(rows))
    shown = largest_page(page, remaining, limit, counter, few=few)
    if shown:
        return shown
    cut = "; this row is cut: select fewer columns, or substr(column, 1, 1000)"
    return cut_row(rows[0], (_part(request.offset, 1, result) or "\n… row 0 of 1") + cut + notes, limit, counter)


def _part(offset: int, count: int, result: QueryResult) -> str:
    """Return the line that says which rows these are; nothing where they are all."""
    if count == result.total:
        return ""
    total = f"{result.total}" if result.is_complete else f"more than {result.total}"
    return f"\n… rows {offset}-{offset + count - 1} of {total}{next_offset(offset + count, result.total)}"
