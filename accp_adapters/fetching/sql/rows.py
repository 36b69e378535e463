"""The answer to a query in SQL: its rows as a view, and what leads on where there are none or more of them."""

from __future__ import annotations

import difflib
import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import groupby
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
from accp_adapters.fetching.source_text import one_line, shown_source
from accp_adapters.fetching.sql.resolve import ComparedColumn, ResolvedQuery, resolve_condition, resolve_select
from accp_adapters.fetching.sql.run import QueryResult, open_connection, run_query
from accp_adapters.fetching.sql.tables import Catalog, Database, NamedTable, quote, quoted_name, refuse
from accp_core.errors import ProtocolError
from accp_core.markers import escape_markers
from accp_core.ports import TokenCounter
from accp_core.strict_json import compact_json
from accp_core.tables import ParentLink
from accp_core.tables.values import Kind

__all__ = ["answer_condition", "answer_select", "looks_like_condition", "nearest_form"]

_MAX_ROWS: Final = 4_000
"""Rows of one answer; a row takes at least a token or two."""
_MAX_NOTES: Final = 3
"""Columns of which an answer says how they were read."""
_WILDCARD: Final = re.compile(r"\bLIKE\s*'[^']*_", re.IGNORECASE)
_MIN_COUNTED: Final = 10
"""Lines that are counted for a reader."""
_LINE_COLUMNS: Final = (("n", "text"), ("text",))
_OPERATOR: Final = re.compile(
    r"[=<>]|&&|\|\|"
    r"|\bi?like\s*(?:['\"]|[^\s'\"]*%)|\bin\s*\(|\bbetween\s+\S+\s+and\b"
    r"|\bis\s+(?:not\s+)?(?:null|none|true|false)\b|\b(?:is|not)null\b",
    re.IGNORECASE,
)
_COUNTED: Final = re.compile(r"(?:len|count|size|length)\(\s*([\w.]+)\s*\)|([\w.]+)\s*\|\s*(?:length|len|count|wc\b.*)")
_SLICED: Final = re.compile(r"([\w.]+?)(?:\[[^\]]*\]|\.\*)(?:\.([\w.]+))?")
_CLAUSE: Final = re.compile(r"(?=\s(?:where|group\s+by|order\s+by|limit)\b)|$", re.IGNORECASE)
_CONTAINS: Final = re.compile(r"\bcontains\s+['\"]([^'\"]*)['\"]", re.IGNORECASE)
_BESIDE: Final = ("arrays", "objects", "null", "absent")
"""Kinds of cells that are counted, not shown."""
_PARTS: Final = ("DISTINCT", "GROUP", "LIMIT")
"""Words of a query that shows a part of what it finds, or less."""
_MAX_COMPARISONS: Final = 3
_MAX_VALUES: Final = 8
"""Different values of a column that are all listed."""
_MAX_COMPARED: Final = 2_000
_MAX_CHARS: Final = 60
_MAX_STEPS: Final = 5_000_000
# A value that has one of them could pass for the end of the list, or for a line of ours.
_NOT_PLAIN: Final = re.compile(r"""[();"\[\]…\x00-\x1f\x7f-\x9f\u2028\u2029]""")


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
    resolved = _resolve_parts(query, catalog)
    if not request.offset and not _has_rows(resolved, catalog):
        # A text may have several tables with such a column.
        others = [each for each in catalog.tables if each != resolved.tables[0] and not each.stored.source.holds_lines]
        for table in others:
            with suppress(ProtocolError):
                other = resolve_condition(query, table, catalog)
                if _has_rows(other, catalog):
                    before = f"in {quoted_name(table.name)}:\n"
                    return before + _answer(other, catalog, request, max(1, limit - counter(before)), counter)
    return _answer(resolved, catalog, request, limit, counter)


def _has_rows(query: ResolvedQuery, catalog: Catalog) -> bool:
    return run_query(query, catalog.databases, max_rows=1).total > 0


def nearest_form(query: str, catalog: Catalog) -> str:
    """Return a query that works and may be meant by one that is not understood; "": none is known."""
    main = catalog.main()
    for candidate in _candidates(query.strip(), quoted_name(main.name) if main else "rows"):
        try:
            if candidate.startswith("SELECT"):
                resolve_select(candidate, catalog)
            else:
                _resolve_parts(candidate, catalog)
        except ProtocolError:
            continue
        return candidate
    return ""


def _candidates(query: str, table: str) -> Iterator[str]:
    first, _, rest = query.partition(" ")
    if rest and difflib.get_close_matches(first.upper(), ["SELECT"], 1, 0.7):
        yield f"SELECT {rest}"
    if counted := _COUNTED.fullmatch(query):
        yield f"SELECT count(*) FROM {counted[1] or counted[2]}"
    if sliced := _SLICED.fullmatch(query):
        yield f"SELECT {sliced[2] or '*'} FROM {sliced[1]}"
    if " from " not in f" {query.lower()}":
        yield f"SELECT {_CLAUSE.sub(f' FROM {table}', query, count=1).strip()}"
    yield f"SELECT * FROM {table} {query}"
    yield f"SELECT * {query}"
    if table == "lines":
        words = [part for part in re.split(r"\.\*|[|/^$\\()*]+", query) if part.strip()]
        patterns = [f"text LIKE '%{part.strip()}%'" for part in words] if "|" in query else []
        yield " OR ".join(patterns or [f"text LIKE '%{'%'.join(map(str.strip, words))}%'"])
    yield _CONTAINS.sub(r"LIKE '%\1%'", re.sub(r"\[([^\[\]]*)\]", r"(\1)", query))


def _resolve_parts(query: str, catalog: Catalog) -> ResolvedQuery:
    """Resolve conditions and columns in the table that is meant: the main one, else the only one that has them all."""
    main = catalog.main()
    tables = [table for table in catalog.tables if table.columns]
    first = [table for table in tables if main is not None and table == main]
    refusal: ProtocolError | None = None
    found: list[ResolvedQuery] = []
    called = [table for table in tables if query == table.name]
    if called and not (main is not None and query in main.columns):
        first = called[:1] if len(called) == 1 else first
    for table in (*first, *(table for table in tables if table not in first)):
        catalog.tells = refusal is None
        try:
            is_called = query.casefold() == table.name.casefold()
            resolved = resolve_condition("" if is_called else query, table, catalog)
        except ProtocolError as error:
            refusal = refusal or error
            continue
        if table in first:
            return resolved
        found.append(resolved)
    catalog.tells = True
    if len(found) == 1:
        return found[0]
    if found:
        names = " or ".join(quoted_name(each.tables[0].name) for each in found)
        raise refuse(f"expected a SELECT, because the columns are in {names}; found {query!r}")
    raise refusal or refuse(f"expected a table, found none for {query!r}")


def _answer(query: ResolvedQuery, catalog: Catalog, request: FetchRequest, limit: int, counter: TokenCounter) -> str:
    result = run_query(query, catalog.databases, offset=request.offset, max_rows=_MAX_ROWS)
    hint = ""
    if not result.total or _is_nothing(result):
        hint = escape_markers(describe_comparisons(query.comparisons, catalog.databases))
    if not result.total:
        of = f" of {query.tables[0].stored.row_count:,}" if len(query.tables) == 1 else ""
        numeric = [] if hint else _notes_of_values(query)
        return "; ".join(filter(None, (f"0{of} rows", hint, *numeric, *_outside(query, catalog))))
    numeric = [f"… {note}" for note in _notes_of_values(query)]
    outside = [f"… {note}" for note in _outside(query, catalog)]
    notes = [note for note in (hint and f"… {hint}", *numeric, *outside, _add_children(query, result, catalog)) if note]
    if shown := _lines(query, result, catalog, request, limit, counter):
        return shown
    few = _few(query, result, request)
    write = _as_lines if _holds_lines(query, result) else None
    is_counted = write and "n" in result.columns and result.total >= _MIN_COUNTED
    counted = f"\n… {result.total:,} lines, all shown" if is_counted else ""
    return _page(
        result, "".join(f"\n{note}" for note in notes), request, limit, counter, few=few, counted=counted, write=write
    )


def _outside(query: ResolvedQuery, catalog: Catalog) -> list[str]:
    """Return which lines of its texts are in no table, so that no count passes for one of the whole text."""
    numbers = dict.fromkeys(table.number for table in query.tables if not table.stored.source.holds_lines)
    return list(filter(None, (catalog.databases[number].outside for number in numbers)))


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
    is_part = request.is_part or query.has("ORDER", *_PARTS)
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
    rows = run_query(ResolvedQuery(sql, query.tables), catalog.databases, max_rows=len(near)).rows
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
    """Return lines as they are, each after its number where it has one; of empty ones in a row, their numbers."""
    if rows and "n" not in rows[0]:
        return "\n".join(row["text"] for row in rows)
    shown: list[str] = []
    for is_empty, run in groupby(rows, key=lambda row: not row["text"].strip()):
        found = list(run)
        numbers = [row["n"] for row in found]
        if is_empty and len(found) > 1 and numbers[-1] - numbers[0] == len(found) - 1:
            shown.append(f"{numbers[0]}-{numbers[-1]}: ")
        else:
            shown += (f"{row['n']}: {one_line(row['text'])}" for row in found)
    return "\n".join(shown)


def _few(query: ResolvedQuery, result: QueryResult, request: FetchRequest) -> str:
    """Return what an answer says whose condition nearly all rows of a table meet, with the usual cause."""
    if len(query.tables) != 1 or not query.comparisons or query.has(*_PARTS):
        return ""
    few = note_few(request, result.total, query.tables[0].stored.row_count)
    return f"{few} (in LIKE, _ is any character)" if few and _WILDCARD.search(query.sql) else few


def _is_nothing(result: QueryResult) -> bool:
    """Return whether the result is one row of zeros and nulls, as an aggregate of no rows is."""
    return result.total == 1 and bool(result.rows) and not any(result.rows[0].values())


def _notes_of_values(query: ResolvedQuery) -> list[str]:
    """Return how the columns were read that are compared, sorted or added: what is no number, in which unit."""
    by_column = {(each.table.number, each.table.name, each.column): each for each in query.used}
    notes = list(filter(None, map(_note_of_values, by_column.values())))
    return list(map(escape_markers, notes[:_MAX_NOTES]))


def _note_of_values(used: ComparedColumn) -> str:
    stored, total = used.stored, used.table.stored.row_count
    typed, noun = stored.typed, "time" if stored.kind is Kind.MOMENT else "number"
    if stored.kind is Kind.TEXT:
        return f"{quoted_name(used.column)}: compared as texts" if stored.looks_numeric else ""
    told = [f"{stored.empty:,} of {total:,} rows hold no {noun}"] if typed.left_out else []
    told += ["in UTC"] if stored.kind is Kind.MOMENT and typed.is_scaled else []
    told += [f"in {typed.unit}"] if typed.unit else []
    return f"{quoted_name(used.column)}: {', '.join(told)}" if told else ""


def describe_comparisons(comparisons: Sequence[ComparedColumn], databases: Sequence[Database]) -> str:
    """Return what each compared column holds, where no row was found: `status has: late (12), paid (588)`."""
    by_column = {(each.table.number, each.table.name, each.column): each for each in comparisons}
    described = [_describe(each, databases) for each in list(by_column.values())[:_MAX_COMPARISONS]]
    return "; ".join(filter(None, described))


def _describe(comparison: ComparedColumn, databases: Sequence[Database]) -> str:
    try:
        with open_connection([databases[comparison.table.number]], _MAX_STEPS) as connection:
            return f"{quoted_name(comparison.column)} has{_values(comparison, connection)}"
    except sqlite3.Error:
        # It was too much work; the answer does without.
        return ""


def _values(comparison: ComparedColumn, connection: sqlite3.Connection) -> str:
    stored = comparison.stored
    beside = [f"{kind} ({count:,})" for kind in _BESIDE if (count := stored.kinds.get(kind))]
    beside += [f"no {stored.kind} ({stored.typed.left_out:,})"] if stored.typed.left_out else []
    shown = _scalars(comparison, connection) if set(stored.kinds) - set(_BESIDE) else []
    if not shown and not beside:
        return " no values"
    text = ", ".join([*shown, *beside])
    return f"{'' if shown and shown[0].startswith(' ') else ': '}{text}{_inside(comparison)}"


def _scalars(comparison: ComparedColumn, connection: sqlite3.Connection) -> list[str]:
    """Return the values of a column that are no arrays or objects: each with its number, their range, or some."""
    stored, name = comparison.stored, quote(comparison.column)
    source = f"FROM r0.{quote(comparison.table.name)} WHERE {name} IS NOT NULL"
    source += f" AND {name} NOT GLOB '[[{{]*'" if stored.holds_json else ""
    (different,) = connection.execute(f"SELECT count(DISTINCT {name}) {source}").fetchone()
    if different <= _MAX_VALUES:
        counted = connection.execute(f"SELECT {name}, count(*) {source} GROUP BY {name} ORDER BY {name}")
        return [f"{_shown(stored.restore(value))} ({count})" for value, count in counted]
    if stored.typed.is_ordered:
        ends = connection.execute(f"SELECT min({name}), max({name}) {source}").fetchone()
        return [" to ".join(_shown(stored.restore(end)) for end in ends)]
    values = [str(value) for (value,) in connection.execute(f"SELECT DISTINCT {name} {source} LIMIT {_MAX_COMPARED}")]
    nearest = ", ".join(map(_shown, _nearest(comparison.text or "", values)))
    return [f" {different} values, such as {nearest}"]


def _inside(comparison: ComparedColumn) -> str:
    """Return how to query what is in the arrays and objects of a column."""
    table, column, stored = comparison.table, comparison.column, comparison.stored
    name = quoted_name(column)
    if not (stored.kinds.get("arrays") or stored.kinds.get("objects")):
        return ""
    repeated = table.stored.source.repeated
    nested = [each for each in table.columns if each.startswith(f"{column}.") and each not in repeated]
    if nested:
        return f"; see {', '.join(map(quoted_name, nested[:_MAX_COMPARISONS]))}"
    if column in repeated:
        return f"; see the table of {name}"
    item = "[0]" if stored.kinds.get("arrays") else ".name"
    return f"; see json_extract({name}, '${item}') or json_each({name})"


def _nearest(text: str, values: list[str]) -> list[str]:
    """Return the values that are most like `text`: those that contain it, those that are spelled alike, else any."""
    folded = text.casefold()
    containing = [value for value in values if folded and folded in value.casefold()]
    short = [value for value in values if len(value) <= _MAX_CHARS]
    return (containing or difflib.get_close_matches(text[:_MAX_CHARS], short, 3, 0.6) or values)[:3]


def _shown(value: Any) -> str:
    if not isinstance(value, str):
        return compact_json(value) if isinstance(value, bool) else repr(value)
    cut = value[:_MAX_CHARS]
    shown = compact_json(cut) if not cut or _NOT_PLAIN.search(cut) else cut
    return shown if len(value) <= _MAX_CHARS else f"{shown}…"


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
    found = run_query(ResolvedQuery(sql, [child]), catalog.databases, max_rows=1)
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
        return text and shown_source(text, notes + (part + few if part else counted))

    remaining = min(remaining_rows("rows", request, result.total), len(rows))
    shown = largest_page(page, remaining, limit, counter, few=few)
    if shown:
        return shown
    cut = "; this row is cut: select fewer columns, or substr(column, 1, 1000)"
    return cut_row(rows[0], notes + (_part(request.offset, 1, result) or "\n… row 0 of 1") + cut, limit, counter)


def _part(offset: int, count: int, result: QueryResult) -> str:
    """Return the line that says which rows these are; nothing where they are all."""
    if count == result.total:
        return ""
    total = f"{result.total}" if result.is_complete else f"more than {result.total}"
    return f"\n… rows {offset}-{offset + count - 1} of {total}{next_offset(offset + count, result.total)}"
