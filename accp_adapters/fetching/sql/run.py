"""Runs one query in a connection of its own, which holds the texts that it may read and nothing else.

Nothing but reading is authorized: no writing, no other databases, no PRAGMA, no extensions, no recursion, only listed
functions, of which ours replace those whose time or result SQLite does not bound. Work, lengths and the number of rows
that are kept are bounded.
"""

from __future__ import annotations

import math
import os
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, Final

from accp_adapters.fetching.page import Room, quoted_lines
from accp_adapters.fetching.request import STEP_CHARS, WorkBudget, refuse, too_much
from accp_adapters.fetching.sql.operands import CHECKED, ResolvedQuery
from accp_adapters.fetching.sql.query import CALLS, TABLE_FUNCTIONS, resolve_condition, resolve_select
from accp_adapters.fetching.sql.tables import NUMERAL, Catalog, Database, NamedColumn, StoredColumn, quote, quoted_name
from accp_core.errors import ProtocolError
from accp_core.markers import escape_markers
from accp_core.strict_json import compact_json, is_utf8
from accp_core.tables.table import DistinctNames, Row
from accp_core.tables.values import Kind

__all__ = ["MAX_QUERY_STEPS", "QueryResult", "answer_condition", "answer_select", "open_connection", "run_query"]

_ALLOWED: Final = frozenset((*CALLS, *TABLE_FUNCTIONS, CHECKED, "->", "->>", "like", "glob"))
"""The functions that SQLite may call, those among them that are operators of a query."""

_NUMERAL: Final = re.compile(r"-?(?:0|[1-9]\d{0,17})(?:\.\d{1,17})?")

_CALL: Final = 10
"""Steps of a call."""

MAX_QUERY_STEPS: Final = 20_000_000
"""Instructions of SQLite's machine that a query may take; our own functions count theirs as such."""
_STEPS_OF_ROW: Final = 40
"""Further ones for each row of its texts."""
_STEPS_OF_TEXT: Final = 4
"""Fewer ones for each character that was read to make its tables."""
_MIN_STEPS: Final = 100_000
_LONG_CHARS: Final = 1_000
"""An instruction may take as many times longer as the longest cell has so many characters."""
MAX_COUNTED: Final = 1_000_000
"""Rows that a query may find."""
_FETCHED: Final = 100
"""Rows that are fetched together."""
_COUNTED: Final = 10_000
"""Instructions that are counted together."""
_MIN_LENGTH: Final = 100_000
"""Bytes that a value may have, in any case."""
_MAX_LENGTH: Final = 4_000_000
"""Characters, or bytes, of a value that a query makes of others."""
_MAX_BYTES: Final = 64_000_000
"""Bytes by which the memory of the process may grow while SQLite sorts, groups and joins; it writes no files."""
_UNCHECKED_BYTES: Final = 1_000_000_000
"""Bytes of values of the greatest length between two looks at the memory; an instruction makes far shorter ones."""
_LEAST_COUNTED: Final = 20
_KEPT_CHARS: Final = 2_000_000
"""Characters of the rows that are kept; more are never shown in one answer."""
_PATTERN_CHARS: Final = 100
"""Characters of a pattern of LIKE or GLOB."""
_MATCHED_CHARS: Final = 4
"""Characters that SQLite matches with a pattern in one step, in most texts."""
_LIMITS: Final = {
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 200, sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 20,
    sqlite3.SQLITE_LIMIT_VDBE_OP: 100_000, sqlite3.SQLITE_LIMIT_FUNCTION_ARG: 50,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: _PATTERN_CHARS,
}  # fmt: skip
_TOO_MUCH: Final = {
    "interrupted": f"a query of at most {_MAX_BYTES:,} bytes of memory, it was stopped; filter or group first",
    "too big": "shorter texts as the result of a function, found one that is too long",
    "too complex": f"a pattern of at most {_PATTERN_CHARS} bytes, found a longer one",
}
"""What was expected where SQLite stops, by what it says."""
_VIEW: Final = "accp_query"
_MAX_ROWS: Final = 4_000
"""Rows of one answer; a row takes at least a token or two."""
_MAX_NOTES: Final = 3
"""Columns of which an answer says how they were read, or what they have; tables beside those of a query."""
_PART: Final = re.compile(r"_\d+\Z")
"""The end of the name of a further table of a text: `rows_2`."""
_BESIDE: Final = ("arrays", "objects", "null", "absent")
"""Kinds of cells that are counted, not shown."""
_MAX_VALUES: Final = 8
"""Different values of a column that are all listed."""
_MAX_VALUE_CHARS: Final = 60
_HINT_STEPS: Final = 5_000_000
# A value that has one of them could pass for the end of the list, or for a line of ours.
_NOT_PLAIN: Final = re.compile(r"""[();"\[\]…\x00-\x1f\x7f-\x9f\u2028\u2029]""")


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryResult:
    """The rows that a query found."""

    columns: tuple[str, ...]
    """The names of the columns, each once."""
    rows: Sequence[Row]
    """The rows from the offset on, as many as are kept; cells that are those of a column are as the source has them."""
    total: int
    """How many rows there are."""
    note: str = ""
    """Which column has several spellings of one value, so that it is shown without them."""


def run_query(
    query: ResolvedQuery, databases: Sequence[Database], *, offset: int = 0, max_rows: int, steps: int = MAX_QUERY_STEPS
) -> QueryResult:
    """Return the rows of a query that was resolved.

    Args:
        query: The query.
        databases: The texts that it may read.
        offset: Rows that are not kept.
        max_rows: Rows that are kept at most.
        steps: The work that it may take beside that for each row, in instructions of SQLite's machine.

    Raises:
        ProtocolError: E1004, SQLite does not understand the query; E2003, it takes too much work, or makes a value too
            long.
    """
    sql = query.sql
    if not is_utf8(sql):
        raise refuse(f"expected a query without halves of surrogate pairs, found {sql!r:.100}")
    with open_connection(databases, steps, query) as connection, _refusals(connection):
        columns = _columns_of(query, databases, connection)
        cursor = connection.execute(sql)
        names = DistinctNames()
        shown = [at for at, column in enumerate(columns) if column]
        named = {at: names.claim(cursor.description[at][0].replace("`", "")) for at in shown}
        skipped = sum(1 for _ in islice(cursor, offset))
        kept = _kept(cursor, max_rows) if skipped == offset else []
        total = skipped + len(kept) + sum(1 for _ in islice(cursor, MAX_COUNTED))
        # A sort that ended too soon is no answer.
        connection.budget.spend(0)
    if total > MAX_COUNTED:
        raise too_much(f"expected at most {MAX_COUNTED:,} rows, found more; filter, group or write LIMIT")
    cells = list(zip(*kept, strict=True)) or [()] * len(columns)
    restored = zip(*(column.restore(cells[at]) for at in shown if (column := columns[at])), strict=True)
    rows = [dict(zip(named.values(), row, strict=True)) for row in restored]
    note = next((column.note for column in columns if column and column.shared), "")
    return QueryResult(columns=tuple(named.values()), rows=rows, total=total, note=note)


def _kept(cursor: sqlite3.Cursor, most: int) -> list[tuple[Any, ...]]:
    """Return the next rows, of long ones fewer than `most`."""
    rows, chars = list[tuple[Any, ...]](), 0
    # fetchmany(0) returns all rows.
    while chars <= _KEPT_CHARS and len(rows) < most and (some := cursor.fetchmany(min(_FETCHED, most - len(rows)))):
        rows += some
        chars += sum(len(cell) for row in some for cell in row if type(cell) is str)
    return rows


@contextmanager
def open_connection(
    databases: Sequence[Database], steps: int = MAX_QUERY_STEPS, query: ResolvedQuery | None = None
) -> Iterator[QueryConnection]:
    """Open a connection that may read the tables of `databases`, as `r0`, `r1` …; the rest is as for `run_query`."""
    with closing(sqlite3.connect(":memory:", isolation_level=None, factory=QueryConnection)) as connection:
        for number, database in enumerate(databases):
            connection.execute(f"ATTACH ':memory:' AS r{number}")
            if database.content:
                connection.deserialize(database.content, name=f"r{number}")
        connection.execute("PRAGMA temp_store=MEMORY")
        longest = max((database.longest for database in databases), default=0)
        budget = connection.budget = _budget(databases, steps, query, longest)
        for name, arguments, function in _REPLACED:
            connection.create_function(name, arguments, _guard(connection, function), deterministic=True)
        for limit, value in _LIMITS.items():
            connection.setlimit(limit, value)
        length = max(_MIN_LENGTH, longest, min(4 * longest, _MAX_LENGTH))
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, length)
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, len(databases))
        connection.set_authorizer(_authorize)
        counted = max(_LEAST_COUNTED, min(_COUNTED, _UNCHECKED_BYTES // length))
        with _memory() as memory:
            most = memory() + _MAX_BYTES
            connection.set_progress_handler(lambda: budget.use(counted) or memory() > most, counted)
            yield connection


@contextmanager
def _memory() -> Iterator[Callable[[], int]]:
    """Give a function that returns the bytes of memory of this process; 0 where the system does not tell them cheaply.

    SQLite has a limit of its own for its heap, but one for all connections of a process, which cannot be raised again.
    """
    with suppress(OSError), open("/proc/self/statm", "rb", buffering=0) as told:
        yield lambda: int(os.pread(told.fileno(), 100, 0).split()[1]) * os.sysconf("SC_PAGE_SIZE")
        return
    yield lambda: 0


def _budget(databases: Sequence[Database], steps: int, query: ResolvedQuery | None, longest: int) -> WorkBudget:
    of_rows = _STEPS_OF_ROW * sum(table.row_count for database in databases for table in database.tables)
    work = sum(database.work for database in databases)
    patterns = sum(word.endswith(("LIKE", "GLOB")) for word in query.words) if query else 0
    # One budget from the text to the answer; a text that was read before costs as much, so that all processes agree.
    left = max(min(_MIN_STEPS, steps), steps + of_rows - _STEPS_OF_TEXT * work)
    if query and query.sources == 1:
        # It looks at each row once.
        left = max(0, left - patterns * work // _MATCHED_CHARS)
    else:
        left //= 1 + longest // _LONG_CHARS + patterns * longest // _MATCHED_CHARS
    return WorkBudget(left, f"expected a query of at most {left:,} steps, it was stopped; join by keys or filter first")


def _authorize(action: int, first: str | None, second: str | None, schema: str | None, _source: str | None) -> int:
    """Return whether SQLite may do something: reading the tables of texts, and calling listed functions."""
    is_allowed = (
        action == sqlite3.SQLITE_SELECT
        or (action == sqlite3.SQLITE_READ and not (first or "").startswith(("sqlite_", "pragma_")))
        or (action == sqlite3.SQLITE_FUNCTION and second in _ALLOWED)
    )
    return sqlite3.SQLITE_OK if is_allowed else sqlite3.SQLITE_DENY


def _columns_of(
    query: ResolvedQuery, databases: Sequence[Database], connection: sqlite3.Connection
) -> list[StoredColumn | None]:
    """Return the column of a text that each column of the result is; None: `*` leaves it out.

    SQLite tells it by the declared types of a view's columns, and each column of a text has a type of its own.
    """
    # Which part of several a row comes from is not known.
    of_one = [] if query.has("UNION", "UNION ALL", "EXCEPT", "INTERSECT") else databases
    types = {kind: column for database in of_one for kind, column in database.types.items()}
    connection.set_authorizer(None)
    connection.execute(f"CREATE TEMP VIEW {_VIEW} AS {query.sql}")
    described = connection.execute(f"PRAGMA temp.table_info({_VIEW})").fetchall()
    connection.set_authorizer(_authorize)
    found = [types.get(kind) or StoredColumn() for _, _, kind, *_ in described]
    is_hidden = [column.is_extra and query.shows_rows and column.name not in query.names for column in found]
    return [None if hidden else column for column, hidden in zip(found, is_hidden, strict=True)]


@contextmanager
def _refusals(connection: QueryConnection) -> Iterator[None]:
    """Turn the errors of SQLite into refusals with a code."""
    try:
        yield
    except (sqlite3.Error, sqlite3.Warning) as error:
        # SQLite only says that a function or a handler of ours raised something.
        connection.budget.use(0)
        if connection.failure is not None:
            raise connection.failure from error
        connection.budget.spend(0)
        reason = str(error).replace("`", "")
        for part, expected in _TOO_MUCH.items():
            if part in reason:
                raise too_much(f"expected {expected}") from error
        if "not authorized" in reason:
            reason = "expected a SELECT that only reads tables and does not recur"
        raise refuse(f"SQLite: {reason}") from error


# Functions whose time or result SQLite does not bound are replaced by ones that are, and those that some builds lack.


class QueryConnection(sqlite3.Connection):
    """A connection of one query."""

    failure: ProtocolError | None = None
    """Why one of our functions refused its arguments; SQLite only says that one did."""
    budget: WorkBudget = WorkBudget(math.inf, "")
    """The work that is left for the query, that of our functions among it."""


def _guard(connection: QueryConnection, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function whose work is counted; null is its answer to null and to what fits it not, as in SQL."""
    budget = connection.budget

    def guarded(*arguments: Any) -> Any:
        if None in arguments:
            return None
        try:
            budget.spend(_CALL)
            budget.spend(sum(len(each) for each in arguments if type(each) is str) // STEP_CHARS)
            return function(*arguments)
        except ProtocolError as error:
            connection.failure = error
            raise
        except (ArithmeticError, AttributeError, TypeError, ValueError):
            return None

    return guarded


def _checked(value: Any, wanted: str, sign: str, shown: str) -> Any:
    """Return a value that only its row tells, such as one of JSON, as what stands beside it: a number or a text.

    Raises:
        ProtocolError: E1004, it is neither, and SQLite would compare it by its type alone, or add it as zero.
    """
    is_exact = sign in ("=", "!=", "IS")
    if isinstance(value, str) == (wanted == "text"):
        return value
    if wanted == "numeral":
        return _cast(value, shown)
    if wanted == "text" and is_exact:
        return repr(value)
    if wanted == "number" and _NUMERAL.fullmatch(value):
        return float(value) if "." in value else int(value)
    if wanted == "number" and is_exact and not NUMERAL.fullmatch(value):
        return value
    found = f"found {value!r:.40}; write CAST({shown} AS {'REAL' if wanted == 'number' else 'TEXT'})"
    raise refuse(f"expected {wanted}s from {shown}, {found}")


def _cast(text: str, shown: str) -> str | None:
    """Return a text that CAST reads whole; None: it holds no number. CAST reads a beginning, or 0, of any other one."""
    if NUMERAL.fullmatch(text) or not any(map(str.isdecimal, text)):
        return text if NUMERAL.fullmatch(text) else None
    way = f"write CAST(replace({shown}, …) AS REAL), or leave such rows out"
    raise refuse(f"expected numbers such as '1234.5' from {shown}, found {text!r:.40}, which CAST does not read; {way}")


def _replace(text: Any, old: Any, new: Any) -> str:
    text, old, new = str(text), str(old), str(new)
    chars = len(text) + text.count(old) * (len(new) - len(old)) if old else 0
    if chars > _MAX_LENGTH:
        raise too_much(f"expected texts of at most {_MAX_LENGTH:,} characters in a function, found {chars:,}")
    return str(text.replace(old, new) if old else text)


_REPLACED: Final[Sequence[tuple[str, int, Callable[..., Any]]]] = (
    (CHECKED, 4, _checked), ("replace", 3, _replace), ("instr", 2, lambda text, part: str(text).find(str(part)) + 1),
    ("lower", 1, lambda text: str(text).lower()), ("upper", 1, lambda text: str(text).upper()),
)  # fmt: skip


# The answer: rows as a view, and what leads on where there are none or more of them.


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
    for table in sorted(catalog.tables, key=lambda table: (table != main, table.stored.source.holds_lines)):
        try:
            if table.stored.columns and not (found and table.stored.source.holds_lines):
                found.append(resolve_condition(query, table, catalog))
        except ProtocolError as error:
            # That of a table which has the column says more.
            refusal = refusal if refusal and error.reason.startswith("expected a column of") else error
    if not found:
        raise refusal or refuse(f"expected a table, found none for {query!r}")
    tables = [each.tables[0] for each in found]
    if len(found) > 1 and tables[0] != main:
        places = " or ".join(map(catalog.name_of, tables)) + catalog.union_of(tables)
        raise refuse(f"expected a SELECT, because the columns are in {places}; found {query!r}")
    others = (each for each in found if run_query(each, catalog.databases, max_rows=1).total)
    if len(found) == 1 or room.request.offset or not (other := next(others, None)):
        return _answer(found[0], catalog, room)
    before = f"… in {quoted_name(other.tables[0].name)}:\n" * (other is not found[0])
    return before + _answer(other, catalog, room.below(before))


def _answer(query: ResolvedQuery, catalog: Catalog, room: Room) -> str:
    result = run_query(query, catalog.databases, offset=room.request.offset, max_rows=_MAX_ROWS)
    # An aggregate of no rows is one row of zeros and nulls.
    is_nothing = result.total == 1 and bool(result.rows) and not any(result.rows[0].values())
    described = (_describe(each, catalog, _place(each, query, catalog)) for each in _by_column(query.comparisons))
    hint = "; ".join(filter(None, described)) if is_nothing or not result.total else ""
    found = result.total or not hint
    used = (each for each in _by_column(query.used) if found or each.stored.kind is Kind.TEXT or each.stored.typed.unit)
    read = filter(None, (_note_of_values(each, _place(each, query, catalog)) for each in used))
    thinks_of_null = any("NULL" in word or word == "COALESCE" for word in query.words)
    denied = [] if hint or thinks_of_null else _by_column(query.denied)
    left_out = filter(None, (_note_of_nulls(each, _place(each, query, catalog)) for each in denied))
    told = (hint, result.note * bool(result.total), *islice(chain(left_out, read), _MAX_NOTES), _namesakes(query))
    notes = [*map(escape_markers, told), *_outside(query, catalog)]
    if not result.total:
        of = f" of {query.tables[0].stored.row_count:,}" if len(query.tables) == 1 else ""
        return "; ".join(filter(None, (f"0{of} rows", *notes)))
    notes.append(_children(query, catalog))
    write = _as_lines if _holds_lines(query, result) else None
    return _page(result, "".join(f"\n… {note}" for note in notes if note), room, write)


def _namesakes(query: ResolvedQuery) -> str:
    """Return the note of columns that have a name of the query in the source, but are called otherwise here."""
    columns = (each for table in query.tables for each in table.stored.columns.values())
    again = (each for each in columns if each.again and each.again in query.names)
    others = [quoted_name(each.name) for each in again if each.name not in query.names]
    return f"the same name in the source: {', '.join(others)}" if others else ""


def _outside(query: ResolvedQuery, catalog: Catalog) -> Iterable[str]:
    """Return which lines of its texts are in no table, and which further tables it leaves out.

    A count of its rows would pass for one of the whole text.
    """
    # Rows that have all of their lines, such as those of `records`, are read in another way.
    rows = [each for each in catalog.tables if not {"n", "text"} <= {*each.stored.columns}]
    asked = [table for table in query.tables if table in rows]
    yield from (catalog.databases[number].outside for number in dict.fromkeys(table.number for table in asked))
    parts = {(each.number, _PART.sub("", each.name)) for each in asked}
    others = (each for each in rows if each not in asked and (each.number, _PART.sub("", each.name)) in parts)
    shown = [f"{quoted_name(each.name)}, {each.stored.row_count:,} rows" for each in islice(others, _MAX_NOTES)]
    yield f"not counted: {'; '.join(shown)}" * bool(shown)


def _holds_lines(query: ResolvedQuery, result: QueryResult) -> bool:
    """Return whether the rows are lines of one text; they are shown unchanged, so that an editor can match them."""
    if [each.stored.source.holds_lines for each in query.tables] != [True] or result.columns[-1:] != ("text",):
        return False
    texts = (row["text"] for row in result.rows)
    return result.columns[:-1] in ((), ("n",)) and all(type(each) is str and "\n" not in each for each in texts)


def _as_lines(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return lines as they are but for `quoted_lines`, each after its number where it has one."""
    numbers = (f"{row['n']}: " if "n" in row else "" for row in rows)
    return "\n".join(number + quoted_lines(row["text"]) for number, row in zip(numbers, rows, strict=True))


def _by_column(columns: Sequence[NamedColumn]) -> Iterable[NamedColumn]:
    """Return columns, each once."""
    return {(each.table.number, each.table.name, each.column): each for each in columns}.values()


def _place(column: NamedColumn, query: ResolvedQuery, catalog: Catalog) -> str:
    """Return how a note names a column: with its table where the query has several, and that with its reference."""
    table = catalog.name_of(column.table) if len(catalog.databases) > 1 else quoted_name(column.table.name)
    return f"{table}." * (len(query.tables) > 1) + quoted_name(column.column)


def _note_of_values(used: NamedColumn, place: str) -> str:
    """Return how the query read a column: how many cells are no numbers, and in which unit the others are."""
    stored, total = used.stored, used.table.stored.row_count
    typed, noun = stored.typed, "time" if stored.kind is Kind.MOMENT else "number"
    is_told = bool(stored.empty if stored.looks_numeric else typed.left_out)
    told = [
        "compared as texts" * stored.looks_numeric, f"{stored.empty:,} of {total:,} rows hold no {noun}" * is_told,
        "in UTC" * (stored.kind is Kind.MOMENT and typed.is_scaled), f"in {typed.unit}" * bool(typed.unit),
        *(f"{each} is {typed.read(each):,}" for each in ("1K", "1kB") if typed.is_scaled and typed.read(each)),
    ]  # fmt: skip
    return f"{place}: {', '.join(filter(None, told))}" if any(told) else ""


def _note_of_nulls(denied: NamedColumn, place: str) -> str:
    """Return how many rows a condition such as `!=` leaves out because they hold nothing."""
    stored, total = denied.stored, denied.table.stored.row_count
    nulls = stored.kinds.get("null", 0) + stored.kinds.get("absent", 0) + stored.typed.left_out
    return f"{place}: {nulls:,} of {total:,} rows hold nothing; OR {place} IS NULL finds them" if nulls else ""


def _describe(compared: NamedColumn, catalog: Catalog, place: str) -> str:
    """Return what a compared column holds, where no row was found: `status has: late (12), paid (588)`."""
    stored = compared.stored
    told = []
    if set(stored.kinds) - set(_BESIDE):
        try:
            with open_connection([catalog.databases[compared.table.number]], _HINT_STEPS) as connection:
                told = _scalars(compared, connection)
        except sqlite3.Error:
            # It was too much work; the answer does without.
            return ""
    told += [f"{kind} ({count:,})" for kind in _BESIDE if (count := stored.kinds.get(kind))]
    told += [f"no {stored.kind} ({stored.typed.left_out:,})"] if stored.typed.left_out else []
    inside = f"; see {compared.inside}" if stored.holds_json else ""
    return f"{place} has: {', '.join(told) or 'no values'}{inside}"


def _scalars(compared: NamedColumn, connection: sqlite3.Connection) -> list[str]:
    """Return the values of a column that are no arrays or objects: each with its number, their range, or some."""
    stored, name = compared.stored, quote(compared.column)
    source = f"FROM r0.{compared.table.stored.place} WHERE {name} IS NOT NULL"
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
    cut = value[:_MAX_VALUE_CHARS]
    shown = compact_json(cut) if not cut or _NOT_PLAIN.search(cut) else cut
    return shown if len(value) <= _MAX_VALUE_CHARS else f"{shown}…"


def _children(query: ResolvedQuery, catalog: Catalog) -> str:
    """Return the note that says in which tables more of each row is."""
    children = [child for table in query.tables for child in catalog.children(table)] if query.shows_rows else []
    links = {
        f"{quoted_name(child.name)} ({quoted_name(link.column)} = {quoted_name(link.table)}.{quoted_name(link.key)})"
        for child in children
        if (link := child.stored.source.parent) and child not in query.tables
    }
    return escape_markers(f"each row has more in {', '.join(sorted(links))}") if links else ""


def _page(result: QueryResult, notes: str, room: Room, write: Callable[[Sequence[Row]], str] | None) -> str:
    rows = result.rows

    def written(count: int) -> str:
        shown = rows[:count]
        is_all, value = len(shown) == count, rows[0] if result.total == 1 else shown
        return (write(shown) if write else room.view(value)) if is_all else ""

    way = ", cut: select fewer columns, or substr(column, 1, 1000)"
    return room.page("rows", result.total, written, notes=notes, row=lambda: rows[0], way=way)
