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
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final, TypeAlias

from accp_adapters.fetching.opening import WorkBudget
from accp_adapters.fetching.request import refuse, too_much
from accp_adapters.fetching.sql.tables import AS_NUMBER, ComparedColumn, Database, NamedTable, StoredColumn
from accp_core.errors import ProtocolError
from accp_core.strict_json import is_utf8
from accp_core.tables.table import DistinctNames, MadeRows, Row

__all__ = [
    "CALLS", "CHECKED", "MAX_QUERY_STEPS", "TABLE_FUNCTIONS", "QueryResult", "ResolvedQuery", "open_connection",
    "run_query",
]  # fmt: skip

_NAMES: Final = {
    "adds": "abs avg ceil ceiling floor mod pow power round sign sqrt sum total",
    "counts": """count cume_dist dense_rank instr json_array_length json_valid julianday length ntile percent_rank rank
        row_number unicode unixepoch""",
    "writes": """char group_concat json_type lower ltrim replace rtrim strftime substr substring trim typeof
        upper""",
    "chooses": "coalesce ifnull iif max min nullif",
    "looks": "first_value lag last_value lead nth_value",
    "dates": "date datetime time",
    "tests": "exists",
    "": "cast json_extract",
}
CALLS: Final = {name: group for group, names in _NAMES.items() for name in names.split()}
"""The functions that a query may call, in lower case, by what they do."""
TABLE_FUNCTIONS: Final = frozenset(("json_each", "json_tree"))
"""The functions that a query may call in place of a table."""
OPERATORS: Final = frozenset(("->", "->>", "like", "glob"))
"""The operators that SQLite treats as functions."""

CHECKED: Final = "accp_checked"
"""The function that checks a value which only its row tells, such as one of `json_extract`."""
_NUMERAL: Final = re.compile(r"-?(?:0|[1-9]\d{0,17})(?:\.\d{1,17})?")

_Function: TypeAlias = tuple[str, int, Callable[..., Any]]
"""The name of a function, how many arguments it has (-1: any number), and what is called."""
_CALL: Final = 10
"""Steps of a call."""

MAX_QUERY_STEPS: Final = 20_000_000
"""Instructions of SQLite's machine that a query may take; our own functions count theirs as such."""
_STEPS_OF_ROW: Final = 40
"""Further ones for each row of its texts."""
_STEPS_OF_TEXT: Final = 3
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
_TOLD: Final = "/proc/self/statm"
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
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 100_000,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 200,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 20,
    sqlite3.SQLITE_LIMIT_VDBE_OP: 100_000,
    sqlite3.SQLITE_LIMIT_FUNCTION_ARG: 50,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: _PATTERN_CHARS,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}
_TOO_MUCH: Final = {
    "interrupted": f"a query of at most {_MAX_BYTES:,} bytes of memory, it was stopped; filter or group first",
    "too big": "shorter texts as the result of a function, found one that is too long",
    "too complex": f"a pattern of at most {_PATTERN_CHARS} bytes, found a longer one",
}
"""What was expected where SQLite stops, by what it says."""
_VIEW: Final = "accp_query"
_MAX_SHOWN: Final = 100
"""Characters of a query that an error message shows."""


@dataclass(slots=True)
class ResolvedQuery:
    """A query as SQLite is given it."""

    sql: str = ""
    tables: list[NamedTable] = field(default_factory=list)
    """The tables in its FROM clauses, each once."""
    sources: int = 0
    """How many times a table stands there, or a function in place of one."""
    words: Sequence[str] = ("SELECT",)
    """Its words and signs, in upper case."""
    names: set[str] = field(default_factory=set)
    """The columns that it names."""
    comparisons: list[ComparedColumn] = field(default_factory=list)
    """The columns that its conditions compare."""
    used: list[ComparedColumn] = field(default_factory=list)
    """The columns that it compares, sorts or adds by their order."""
    shows_rows: bool = False
    """Whether it shows whole rows: `*`."""

    def has(self, *words: str) -> bool:
        """Return whether the query contains one of these words."""
        return any(word in words for word in self.words)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryResult:
    """The rows that a query found."""

    columns: tuple[str, ...]
    """The names of the columns, each once."""
    rows: Sequence[Row]
    """The rows from the offset on, as many as are kept; cells that are those of a column are as the source has them."""
    total: int
    """How many rows there are."""


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
        raise refuse(f"expected a query without halves of surrogate pairs, found {sql[:_MAX_SHOWN]!r}")
    with open_connection(databases, steps, query) as connection, _refusals(connection):
        columns = _columns_of(query, databases, connection)
        cursor = connection.execute(sql)
        names = DistinctNames()
        shown = [at for at, column in enumerate(columns) if column]
        named = {at: names.claim(_clean(cursor.description[at][0])) for at in shown}
        skipped = sum(1 for _ in islice(cursor, offset))
        kept = _kept(cursor, max_rows) if skipped == offset else []
        total = skipped + len(kept) + sum(1 for _ in islice(cursor, MAX_COUNTED))
        # A sort that ended too soon is no answer.
        connection.budget.spend(0)
    if total > MAX_COUNTED:
        raise too_much(f"expected at most {MAX_COUNTED:,} rows, found more; filter, group or write LIMIT")
    cells = list(zip(*kept, strict=True)) or [()] * len(columns)
    restored = zip(*(column.restore(cells[at]) for at in shown if (column := columns[at])), strict=True)
    rows = MadeRows(list(restored), lambda row: dict(zip(named.values(), row, strict=True)))
    return QueryResult(columns=tuple(named.values()), rows=rows, total=total)


def _kept(cursor: sqlite3.Cursor, most: int) -> list[tuple[Any, ...]]:
    """Return the next rows, of long ones fewer than `most`."""
    rows: list[tuple[Any, ...]] = []
    chars = 0
    while chars <= _KEPT_CHARS and (some := cursor.fetchmany(min(_FETCHED, most - len(rows)))):
        rows += some
        chars += sum(len(cell) for row in some for cell in row if type(cell) is str)
    return rows


def _clean(name: str) -> str:
    """Return the name of a result column as the model knows it."""
    return name.replace("`", "")


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
        budget = connection.budget = _budget(databases, steps, query)
        longest = max((database.longest for database in databases), default=0)
        add_functions(connection)
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
    if not os.path.exists(_TOLD):
        yield lambda: 0
        return
    told = os.open(_TOLD, os.O_RDONLY)
    try:
        yield lambda: int(os.pread(told, 100, 0).split()[1]) * os.sysconf("SC_PAGE_SIZE")
    finally:
        os.close(told)


def _budget(databases: Sequence[Database], steps: int, query: ResolvedQuery | None) -> WorkBudget:
    of_rows = _STEPS_OF_ROW * sum(table.row_count for database in databases for table in database.tables)
    work = sum(database.work for database in databases)
    longest = max((database.longest for database in databases), default=0)
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
    match action:
        case sqlite3.SQLITE_SELECT:
            is_allowed = True
        case sqlite3.SQLITE_READ:
            is_allowed = not (first or "").startswith(("sqlite_", "pragma_"))
        case sqlite3.SQLITE_FUNCTION:
            is_allowed = second in {*CALLS, *OPERATORS, *TABLE_FUNCTIONS, CHECKED}
        case _:
            is_allowed = False
    return sqlite3.SQLITE_OK if is_allowed else sqlite3.SQLITE_DENY


def _columns_of(
    query: ResolvedQuery, databases: Sequence[Database], connection: sqlite3.Connection
) -> list[StoredColumn | None]:
    """Return the column of a text that each column of the result is; None: `*` leaves it out.

    SQLite tells it by the declared types of a view's columns, and each column of a text has a type of its own.
    """
    types = {kind: column for database in databases for kind, column in database.types.items()}
    connection.set_authorizer(None)
    connection.execute(f"CREATE TEMP VIEW {_VIEW} AS {query.sql}")
    described = connection.execute(f"PRAGMA temp.table_info({_VIEW})").fetchall()
    connection.set_authorizer(_authorize)
    found = [types.get(kind) or StoredColumn() for _, _, kind, *_ in described]
    # Which of its parts a row of a compound query comes from is not known.
    is_compound = query.has("UNION", "UNION ALL", "EXCEPT", "INTERSECT")
    return [
        None
        if column.is_extra and query.shows_rows and column.name not in query.names
        else StoredColumn()
        if is_compound
        else column
        for column in found
    ]


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
        reason = _clean(str(error))
        if "interrupted" in reason:
            connection.budget.spend(0)
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


def add_functions(connection: QueryConnection) -> None:
    """Replace the functions of SQLite that a hostile text makes slow, and add what some builds of it lack."""
    for name, arguments, function in _REPLACED:
        connection.create_function(name, arguments, _guard(connection, function), deterministic=True)


def _guard(connection: QueryConnection, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function whose work is counted; null is its answer where an argument fits it not, as in SQL."""
    budget = connection.budget

    def guarded(*arguments: Any) -> Any:
        try:
            budget.spend(_CALL)
            budget.look_at(chars := sum(len(each) for each in arguments if type(each) is str))
            _check_length(chars)
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
    if value is None or isinstance(value, str) == (wanted == "text"):
        return value
    if wanted == "text" and is_exact:
        return repr(value)
    if wanted == "number" and _NUMERAL.fullmatch(value):
        return float(value) if "." in value else int(value)
    if wanted == "number" and is_exact and not AS_NUMBER.fullmatch(value):
        return value
    found = f"found {value!r:.40}; write CAST({shown} AS {'REAL' if wanted == 'number' else 'TEXT'})"
    raise refuse(f"expected {wanted}s from {shown}, {found}")


def _replace(text: Any, old: Any, new: Any) -> Any:
    if None in (text, old, new) or old == "":
        return text
    text, old, new = str(text), str(old), str(new)
    _check_length(len(text) + text.count(old) * (len(new) - len(old)))
    return text.replace(old, new)


def _check_length(chars: int) -> None:
    """Refuse to make a value that is too long, before it is made (E2003)."""
    if chars > _MAX_LENGTH:
        raise too_much(f"expected texts of at most {_MAX_LENGTH:,} characters in a function, found {chars:,}")


def _instr(text: Any, part: Any) -> int | None:
    return None if None in (text, part) else str(text).find(str(part)) + 1


_REPLACED: Final[Sequence[_Function]] = (
    (CHECKED, 4, _checked), ("replace", 3, _replace), ("instr", 2, _instr),
    ("lower", 1, lambda value: None if value is None else str(value).lower()),
    ("upper", 1, lambda value: None if value is None else str(value).upper()),
)  # fmt: skip
