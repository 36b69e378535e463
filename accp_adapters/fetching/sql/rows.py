"""The answer to a query in SQL: its rows as a view, and what leads on where there are none or more of them."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from accp_adapters.fetching.page import Room, one_line
from accp_adapters.fetching.request import refuse
from accp_adapters.fetching.sql.query import resolve_condition, resolve_select
from accp_adapters.fetching.sql.run import QueryResult, ResolvedQuery, open_connection, run_query
from accp_adapters.fetching.sql.tables import Catalog, ComparedColumn, Database, NamedTable, quote, quoted_name
from accp_core.errors import ProtocolError
from accp_core.markers import escape_markers
from accp_core.strict_json import compact_json
from accp_core.tables.values import Kind

__all__ = ["answer_condition", "answer_select"]

_Write: TypeAlias = Callable[[Sequence[Mapping[str, Any]]], str]
"""Writes rows in another way than as a view."""
_MAX_ROWS: Final = 4_000
"""Rows of one answer; a row takes at least a token or two."""
_MAX_NOTES: Final = 3
"""Columns of which an answer says how they were read, or what they have."""
_LINE_COLUMNS: Final = (("n", "text"), ("text",))
_BESIDE: Final = ("arrays", "objects", "null", "absent")
"""Kinds of cells that are counted, not shown."""
_MAX_VALUES: Final = 8
"""Different values of a column that are all listed."""
_MAX_CHARS: Final = 60
_MAX_STEPS: Final = 5_000_000
# A value that has one of them could pass for the end of the list, or for a line of ours.
_NOT_PLAIN: Final = re.compile(r"""[();"\[\]…\x00-\x1f\x7f-\x9f\u2028\u2029]""")


def answer_select(query: str, catalog: Catalog, room: Room) -> str:
    """Return the rows of a SELECT.

    Raises:
        ProtocolError: E1004, it is not understood, or the offset is behind its rows; E2003, it takes too much.
    """
    return _answer(resolve_select(query, catalog), catalog, room)


def answer_condition(query: str, catalog: Catalog, room: Room) -> str:
    """Return the rows of the main table that meet a condition, else those of the only one that has its columns.

    If the main table has none, but another one with such columns has, those of that one.

    Raises:
        ProtocolError: As `answer_select`.
    """
    main, refusal = catalog.main(), None
    found: list[ResolvedQuery] = []
    called = [table for table in catalog.tables if table.columns and query.casefold() == table.name.casefold()]
    if len(called) == 1 and not (main and query in main.columns):
        return _answer(resolve_condition("", called[0], catalog), catalog, room)
    for table in sorted(catalog.tables, key=lambda table: (table != main, table.stored.source.holds_lines)):
        try:
            if table.columns and not (found and table.stored.source.holds_lines):
                found.append(resolve_condition(query, table, catalog))
        except ProtocolError as error:
            refusal = refusal or error
    if not found:
        raise refusal or refuse(f"expected a table, found none for {query!r}")
    tables = [each.tables[0] for each in found]
    if len(found) > 1 and tables[0] != main:
        names = " or ".join(map(catalog.name_of, tables))
        reason = f"expected a SELECT, because the columns are in {names}{catalog.union_of(tables)}"
        raise refuse(f"{reason}; found {query!r}")
    if len(found) == 1 or room.request.offset or not (other := _first_with_rows(found, catalog)):
        return _answer(found[0], catalog, room)
    before = f"in {quoted_name(other.tables[0].name)}:\n" * (other is not found[0])
    return before + _answer(other, catalog, room.below(before))


def _first_with_rows(queries: Sequence[ResolvedQuery], catalog: Catalog) -> ResolvedQuery | None:
    return next((each for each in queries if run_query(each, catalog.databases, max_rows=1).total), None)


def _answer(query: ResolvedQuery, catalog: Catalog, room: Room) -> str:
    result = run_query(query, catalog.databases, offset=room.request.offset, max_rows=_MAX_ROWS)
    # An aggregate of no rows is one row of zeros and nulls.
    is_nothing = result.total == 1 and bool(result.rows) and not any(result.rows[0].values())
    hint = _describe_compared(query.comparisons, catalog.databases) if is_nothing or not result.total else ""
    notes = [hint, *(() if hint and not result.total else _notes_of_values(query)), *_outside(query, catalog)]
    if not result.total:
        of = f" of {query.tables[0].stored.row_count:,}" if len(query.tables) == 1 else ""
        return "; ".join(filter(None, (f"0{of} rows", *notes)))
    notes.append(_children(query, catalog))
    write = _as_lines if _holds_lines(query, result) else None
    return _page(result, "".join(f"\n… {note}" for note in notes if note), room, write)


def _outside(query: ResolvedQuery, catalog: Catalog) -> Iterable[str]:
    """Return which lines of its texts are in no table, so that no count passes for one of the whole text."""
    numbers = dict.fromkeys(table.number for table in query.tables if not table.stored.source.holds_lines)
    return (catalog.databases[number].outside for number in numbers)


def _holds_lines(query: ResolvedQuery, result: QueryResult) -> bool:
    """Return whether the rows are lines of one text; they are shown unchanged, so that an editor can match them."""
    is_lines = [table.stored.source.holds_lines for table in query.tables] == [True]
    texts = (row["text"] for row in result.rows)
    return (
        is_lines and result.columns in _LINE_COLUMNS and all(type(each) is str and "\n" not in each for each in texts)
    )


def _as_lines(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return lines as they are, each after its number where it has one."""
    return "\n".join(f"{row['n']}: {one_line(row['text'])}" if "n" in row else row["text"] for row in rows)


def _by_column(columns: Sequence[ComparedColumn]) -> Iterable[ComparedColumn]:
    return {(each.table.number, each.table.name, each.column): each for each in columns}.values()


def _notes_of_values(query: ResolvedQuery) -> list[str]:
    """Return how the columns were read that are compared, sorted or added: what is no number, in which unit."""
    notes = filter(None, map(_note_of_values, _by_column(query.used)))
    return list(map(escape_markers, notes))[:_MAX_NOTES]


def _note_of_values(used: ComparedColumn) -> str:
    stored, total = used.stored, used.table.stored.row_count
    typed, noun = stored.typed, "time" if stored.kind is Kind.MOMENT else "number"
    if stored.kind is Kind.TEXT:
        cut = f"; CAST reads only the beginning of {stored.misread!r:.60}" if stored.misread else ""
        return f"{quoted_name(used.column)}: compared as texts{cut}" if stored.looks_numeric else ""
    told = [f"{stored.empty:,} of {total:,} rows hold no {noun}"] if typed.left_out else []
    told += ["in UTC"] if stored.kind is Kind.MOMENT and typed.is_scaled else []
    told += [f"in {typed.unit}"] if typed.unit else []
    return f"{quoted_name(used.column)}: {', '.join(told)}" if told else ""


def _describe_compared(comparisons: Sequence[ComparedColumn], databases: Sequence[Database]) -> str:
    """Return what each compared column holds, where no row was found: `status has: late (12), paid (588)`."""
    described = [_describe(each, databases) for each in list(_by_column(comparisons))[:_MAX_NOTES]]
    return escape_markers("; ".join(filter(None, described)))


def _describe(compared: ComparedColumn, databases: Sequence[Database]) -> str:
    stored = compared.stored
    told = []
    if set(stored.kinds) - set(_BESIDE):
        try:
            with open_connection([databases[compared.table.number]], _MAX_STEPS) as connection:
                told = _scalars(compared, connection)
        except sqlite3.Error:
            # It was too much work; the answer does without.
            return ""
    told += [f"{kind} ({count:,})" for kind in _BESIDE if (count := stored.kinds.get(kind))]
    told += [f"no {stored.kind} ({stored.typed.left_out:,})"] if stored.typed.left_out else []
    inside = f"; see {compared.inside}" if stored.holds_json else ""
    return f"{quoted_name(compared.column)} has: {', '.join(told) or 'no values'}{inside}"


def _scalars(compared: ComparedColumn, connection: sqlite3.Connection) -> list[str]:
    """Return the values of a column that are no arrays or objects: each with its number, their range, or some."""
    stored, name = compared.stored, quote(compared.column)
    source = f"FROM r0.{quote(compared.table.name)} WHERE {name} IS NOT NULL"
    source += f" AND {name} NOT GLOB '[[{{]*'" if stored.holds_json else ""
    (different,) = connection.execute(f"SELECT count(DISTINCT {name}) {source}").fetchone()
    if different <= _MAX_VALUES:
        counted = connection.execute(f"SELECT {name}, count(*) {source} GROUP BY {name} ORDER BY {name}").fetchall()
        values = stored.restore([value for value, _ in counted])
        return [f"{_shown(value)} ({count})" for value, (_, count) in zip(values, counted, strict=True)]
    if stored.typed.is_ordered:
        ends = connection.execute(f"SELECT min({name}), max({name}) {source}").fetchone()
        return [" to ".join(map(_shown, stored.restore(ends)))]
    # Those that contain the text first.
    some = f"SELECT DISTINCT {name} {source} ORDER BY instr(lower({name}), ?) = 0 LIMIT 3"
    nearest = [_shown(value) for (value,) in connection.execute(some, ((compared.text or "").casefold(),))]
    return [f"{different} values, such as {', '.join(nearest)}"]


def _shown(value: Any) -> str:
    if not isinstance(value, str):
        return compact_json(value) if isinstance(value, bool) else repr(value)
    cut = value[:_MAX_CHARS]
    shown = compact_json(cut) if not cut or _NOT_PLAIN.search(cut) else cut
    return shown if len(value) <= _MAX_CHARS else f"{shown}…"


def _children(query: ResolvedQuery, catalog: Catalog) -> str:
    """Return the note that says in which tables more of each row is."""
    shown = {(table.number, table.name) for table in query.tables}
    children = [child for table in query.tables for child in catalog.children(table)] if query.shows_rows else []
    links = dict.fromkeys(_link(child) for child in children if (child.number, child.name) not in shown)
    return escape_markers(f"each row has more in {', '.join(links)}") if links else ""


def _link(child: NamedTable) -> str:
    link = child.stored.source.parent
    assert link is not None
    where = f"{quoted_name(link.column)} = {quoted_name(link.table)}.{quoted_name(link.key)}"
    return f"{quoted_name(child.name)} ({where})"


def _page(result: QueryResult, notes: str, room: Room, write: _Write | None) -> str:
    rows = result.rows

    def written(first: int, behind: int) -> str:
        shown = rows[: behind - first]
        if len(shown) < behind - first:
            return ""
        return write(shown) if write else room.view(rows[0] if result.total == 1 else shown)

    way = ", cut: select fewer columns, or substr(column, 1, 1000)"
    return room.page("rows", result.total, written, notes=notes, row=lambda: rows[0], way=way)
