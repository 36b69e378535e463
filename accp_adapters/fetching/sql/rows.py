"""The answer to a query in SQL: its rows as a view, and what leads on where there are none or more of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from accp_adapters.fetching.page import cut_row, largest_page, next_offset, note_few, remaining_rows, view_of
from accp_adapters.fetching.request import FetchRequest
from accp_adapters.fetching.source_text import shown_source
from accp_adapters.fetching.sql.catalog import Catalog, NamedTable, find_name, quoted_name
from accp_adapters.fetching.sql.columns import describe_comparisons
from accp_adapters.fetching.sql.resolve import ResolvedQuery, resolve_condition, resolve_select
from accp_adapters.fetching.sql.run import QueryResult, run_query
from accp_adapters.fetching.sql.tokens import SqlToken, refuse, tokenize
from accp_core.errors import ProtocolError
from accp_core.markers import escape_markers
from accp_core.ports import TokenCounter

__all__ = ["answer_condition", "answer_select", "looks_like_condition"]

_MAX_ROWS: Final = 4_000
"""Rows of one answer; a row takes at least a token or two."""
_MAX_NOTES: Final = 3
"""Columns of which an answer says how many rows hold no number."""
_GROUPS: Final = re.compile(r"\b(?:GROUP\s+BY|DISTINCT|LIMIT)\b", re.IGNORECASE)
_WILDCARD: Final = re.compile(r"\bLIKE\s*'[^']*_", re.IGNORECASE)
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
    notes = [note for note in (hint and f"… {hint}", *numeric, _children_note(query, catalog)) if note]
    few = _few(query, result, request)
    return _page(result, "".join(f"\n{note}" for note in notes), request, limit, counter, few=few)


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


def _children_note(query: ResolvedQuery, catalog: Catalog) -> str:
    """Return the line that says in which tables more of each row is."""
    if not query.shows_rows:
        return ""
    children = [child for table in query.tables for child in catalog.children(table)]
    shown = {(table.number, table.name) for table in query.tables}
    links = [
        f"{quoted_name(child.name)} ({quoted_name(link.column)} = {quoted_name(link.table)}.{quoted_name(link.key)})"
        for child in children
        if (child.number, child.name) not in shown and (link := child.stored.source.parent) is not None
    ]
    return escape_markers(f"… each row has more in {', '.join(dict.fromkeys(links))}") if links else ""


def _page(
    result: QueryResult, notes: str, request: FetchRequest, limit: int, counter: TokenCounter, *, few: str
) -> str:
    rows = result.rows

    def page(count: int) -> str:
        value: Any = rows[0] if result.total == 1 else rows[:count]
        text = view_of(value, limit, counter)
        part = _part(request.offset, count, result)
        return text and shown_source(text, part + (part and few) + notes)

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
