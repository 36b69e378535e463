"""Which tables and names a query has, found before its columns are resolved."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from accp_adapters.fetching.sql.catalog import Catalog, NamedTable
from accp_adapters.fetching.sql.functions import TABLE_FUNCTIONS
from accp_adapters.fetching.sql.tokens import SqlToken, refuse
from accp_core.references import find_references

__all__ = ["BEGINS_QUERY", "KEYWORDS", "FromTable", "SqlScope", "chain_at", "find_scope", "is_keyword", "quote"]

_INDEX: Final = re.compile(r"\.[0-9]+|\[\s*-?[0-9]+\s*\]")
_MAX_SHOWN: Final = 60
_WORDS: Final = """
    ALL AND AS ASC BETWEEN BY CASE CAST COLLATE CROSS CURRENT DESC DISTINCT ELSE END ESCAPE EXCEPT EXISTS FILTER
    FIRST FOLLOWING FROM FULL GLOB GROUP HAVING ILIKE IN INNER INTERSECT IS ISNULL JOIN LAST LEFT LIKE LIMIT
    NATURAL NOT NOTNULL NULLS OFFSET ON OR ORDER OUTER OVER PARTITION PRECEDING RANGE REGEXP RIGHT SELECT
    THEN UNBOUNDED UNION USING VALUES WHEN WHERE WITH RECURSIVE MATERIALIZED ROW ROWS INTEGER REAL TEXT NUMERIC
    FLOAT NOCASE MATCH WINDOW
"""
KEYWORDS: Final = frozenset(_WORDS.split())
"""Words of SQL that no model means as a name, where `is_keyword` says so."""
BEGINS_QUERY: Final = frozenset(("SELECT", "WITH", "VALUES"))
"""Words with which a query in parentheses begins."""
_JOINS_SELECTS: Final = frozenset(("UNION", "EXCEPT", "INTERSECT"))
_ENDS_FROM: Final = frozenset(("WHERE", "GROUP", "ORDER", "HAVING", "LIMIT", "SELECT")) | _JOINS_SELECTS
# A word of these is a keyword only before one of the words on the right; otherwise it is a column of that name.
_KEYWORD_BEFORE: Final = {
    "ORDER": ("BY",), "GROUP": ("BY",), "PARTITION": ("BY",), "LEFT": ("JOIN", "OUTER"), "RIGHT": ("JOIN", "OUTER"),
    "FULL": ("JOIN", "OUTER"), "CROSS": ("JOIN",), "INNER": ("JOIN",), "OUTER": ("JOIN",), "OVER": ("(",), "IN": ("(",),
    "FILTER": ("(",), "NATURAL": ("JOIN", "LEFT", "INNER"), "VALUES": ("(",), "RECURSIVE": (), "MATCH": (),
    "WINDOW": (), "RANGE": ("BETWEEN", "UNBOUNDED"), "ROWS": ("BETWEEN", "UNBOUNDED", "CURRENT"),
    "CURRENT": ("ROW",), "UNBOUNDED": ("PRECEDING", "FOLLOWING"), "MATERIALIZED": ("(",),
}  # fmt: skip
# A word of these is a keyword only behind one of the words on the right.
_KEYWORD_AFTER: Final = {
    "FIRST": ("NULLS",), "LAST": ("NULLS",), "INTEGER": ("AS",), "REAL": ("AS",), "TEXT": ("AS",),
    "NUMERIC": ("AS",), "FLOAT": ("AS",), "NOCASE": ("COLLATE",), "ROW": ("CURRENT",),
}  # fmt: skip
_OPERATORS: Final = frozenset(
    ("=", "==", "===", "!=", "<>", "<", ">", "<=", ">=", ",", "(", "LIKE", "AND", "OR", "NOT")
)


def quote(name: str) -> str:
    """Return a name in backticks: unlike one in double quotes, SQLite never takes it for a text."""
    doubled = name.replace("`", "``")
    return f"`{doubled}`"


@dataclass(slots=True)
class FromTable:
    """A table in a FROM clause."""

    alias: str
    table: NamedTable
    start: int = 0
    """The index of the first token of the SELECT that it belongs to."""
    end: int = sys.maxsize
    """The index behind the last one."""


@dataclass(slots=True)
class SqlScope:
    """The tables and the other names of a query."""

    sources: list[FromTable] = field(default_factory=list)
    derived: set[str] = field(default_factory=set)
    """Names that the query itself gives, in lower case: of columns, of subqueries, of WITH."""
    calls_table: bool = False
    """Whether the source is a table-valued function, such as `json_each`, instead of a table."""
    has_parents: bool = False
    """Whether the table is joined with those whose rows hold its rows."""
    reads_query: bool = False
    """Whether a FROM clause has a query in parentheses, or the name of one."""

    def visible(self, at: int) -> list[FromTable]:
        """Return the tables that the token at `at` may mean."""
        return [source for source in self.sources if source.start <= at < source.end]

    def all_from(self, at: int) -> list[FromTable]:
        """Return the visible tables, those of the innermost SELECT first, then the others.

        An ORDER BY behind a UNION may name a column of its first part.
        """
        return sorted(
            self.sources, key=lambda source: -source.start if source.start <= at < source.end else sys.maxsize
        )


def is_keyword(tokens: Sequence[SqlToken], at: int) -> bool:
    """Return whether the word at `at` is a keyword there and not the name of a column."""
    word = tokens[at].upper
    if tokens[at].kind != "word" or word not in KEYWORDS:
        return False
    following = tokens[at + 1].upper if at + 1 < len(tokens) else ""
    previous = tokens[at - 1].upper if at else ""
    if following == "." or previous == ".":
        return False
    if word in ("DESC", "ASC"):
        return at > 0 and previous not in _OPERATORS and not is_keyword(tokens, at - 1)
    if word in _KEYWORD_BEFORE or word in _KEYWORD_AFTER:
        return following in _KEYWORD_BEFORE.get(word, ()) or previous in _KEYWORD_AFTER.get(word, ())
    return True


def chain_at(tokens: Sequence[SqlToken], at: int) -> int:
    """Return the index behind the names at `at` that dots join, such as `data.orders`."""
    end = at + 1
    while end + 1 < len(tokens) and tokens[end].text == "." and (tokens[end + 1].is_name):
        end += 2
    return end


def find_scope(tokens: list[SqlToken], catalog: Catalog) -> SqlScope:
    """Return the scope of a query, and write the tables in it as SQLite has them: `r0.`orders` AS `orders``.

    Raises:
        ProtocolError: E1004, a table is unknown or ambiguous.
    """
    scope = SqlScope()
    _find_with(tokens, scope)
    _Tables(tokens, catalog, scope).find()
    _find_aliases(tokens, scope)
    return scope


def _find_with(tokens: list[SqlToken], scope: SqlScope) -> None:
    """Collect the names of WITH, and their columns."""
    if not tokens or tokens[0].upper != "WITH":
        return
    if len(tokens) > 1 and tokens[1].upper == "RECURSIVE":
        raise refuse("expected a WITH that does not recur, found 'RECURSIVE'")
    for at, token in enumerate(tokens):
        if token.upper == "AS" and at + 1 < len(tokens) and tokens[at + 1].text in ("(",):
            before = at - 1
            if tokens[before].text == ")":
                start = before
                while start > 0 and tokens[start].text != "(":
                    start -= 1
                for column in tokens[start + 1 : before]:
                    _derive(column, scope)
                before = start - 1
            _derive(tokens[before], scope)


def _derive(token: SqlToken, scope: SqlScope) -> None:
    if token.is_name or token.kind == "string":
        scope.derived.add(token.name.casefold())
        token.out = quote(token.name)


@dataclass(slots=True)
class _Level:
    """One level of parentheses."""

    in_from: bool = False
    expects: bool = False
    """Whether a table comes next."""
    start: int = 0
    """The index of the first token of its SELECT."""
    clause: list[FromTable] = field(default_factory=list)
    """The tables of its FROM clause so far."""


class _Tables:
    """One walk through a query that finds the tables behind FROM, JOIN and commas."""

    def __init__(self, tokens: list[SqlToken], catalog: Catalog, scope: SqlScope) -> None:
        self._tokens = tokens
        self._catalog = catalog
        self._scope = scope
        self._levels = [_Level()]
        self._arguments = -1
        """The index of the parenthesis that begins the arguments of a function in place of a table."""

    def find(self) -> None:
        """Find all tables."""
        at = 0
        while at < len(self._tokens):
            at = self._step(at)

    def _step(self, at: int) -> int:
        token, level = self._tokens[at], self._levels[-1]
        if token.text == "(":
            self._levels.append(self._inner(at))
        elif token.text == ")":
            return self._close(at)
        elif (
            level.expects
            and (token.is_name or token.kind in ("reference", "string"))
            and not is_keyword(self._tokens, at)
        ):
            level.expects = False
            return self._table(at)
        elif token.upper in ("FROM", "JOIN") and is_keyword(self._tokens, at):
            # `IS DISTINCT FROM` compares.
            is_clause = token.upper == "JOIN" or not at or self._tokens[at - 1].upper != "DISTINCT"
            level.in_from, level.expects = level.in_from or is_clause, level.expects or is_clause
        elif token.upper in _ENDS_FROM and is_keyword(self._tokens, at):
            level.in_from = level.expects = False
            if token.upper in _JOINS_SELECTS:
                self._end_select(at)
        elif token.text == "," and level.in_from:
            level.expects = True
        return at + 1

    def _inner(self, at: int) -> _Level:
        following = self._tokens[at + 1].upper if at + 1 < len(self._tokens) else ""
        outer = self._levels[-1]
        if at == self._arguments or not outer.expects or following in BEGINS_QUERY:
            return _Level(start=at)
        return _Level(in_from=True, expects=True, start=outer.start, clause=outer.clause)

    def _end_select(self, at: int) -> None:
        """End what the tables of the current SELECT are visible in; another SELECT may begin there."""
        level = self._levels[-1]
        for source in level.clause:
            source.end = at
        level.start, level.clause = at, []

    def _close(self, at: int) -> int:
        if len(self._levels) > 1:
            if self._levels[-1].clause is not self._levels[-2].clause:
                self._end_select(at)
            self._levels.pop()
        level = self._levels[-1]
        if not level.expects:
            return at + 1
        level.expects = False
        self._scope.reads_query = True
        alias, end = self._alias(at + 1)
        if alias is not None:
            _derive(alias, self._scope)
        return end

    def _table(self, at: int) -> int:
        tokens, end = self._tokens, chain_at(self._tokens, at)
        first = tokens[at]
        _refuse_path(tokens, at, end)
        if end < len(tokens) and tokens[end].text == "(" and first.text.lower() in TABLE_FUNCTIONS:
            self._scope.derived |= {"key", "value", "type", "atom", "fullkey", "path", first.text.lower()}
            first.out = first.text.lower()
            self._levels[-1].expects = True
            self._arguments = end
            self._scope.calls_table = True
            return end
        alias, after = self._alias(end)
        if end == at + 1 and first.name.casefold() in self._scope.derived:
            first.out = quote(first.name)
            self._scope.reads_query = True
            if alias is not None:
                _derive(alias, self._scope)
            return after
        table = self._named(
            "".join(token.text if token.kind == "reference" else token.name for token in tokens[at:end])
        )
        name = self._free_name(table) if alias is None else alias.name
        level = self._levels[-1]
        level.clause.append(FromTable(name, table, level.start))
        self._scope.sources.append(level.clause[-1])
        first.out = f"r{table.number}.{quote(table.name)} AS {quote(name)}"
        for token in tokens[at + 1 : after]:
            token.out = ""
        return after

    def _free_name(self, table: NamedTable) -> str:
        """Return the name of a table without an alias, with a number where another table has it already.

        The same table in another FROM clause keeps it: there, as in SQL, it means the table of the innermost query.
        """
        clause = self._levels[-1].clause
        for source in self._scope.sources:
            is_other = source.table.stored is not table.stored or any(source is each for each in clause)
            if is_other and source.alias.casefold() == table.name.casefold():
                return f"{table.name}_{len(self._scope.sources) + 1}"
        return table.name

    def _named(self, written: str) -> NamedTable:
        """Return the table that `orders`, `$cold.…`, or `$cold.….orders` is; an array may have such a name itself."""
        if any(table.name == written for table in self._catalog.tables):
            return self._catalog.find(written)
        keys = find_references(written)
        if keys:
            return self._catalog.find(written.partition(keys[0])[2].strip("./ "), keys[0])
        if written.startswith("$"):
            return self._catalog.find("", written[1:])
        return self._catalog.find(written)

    def _alias(self, at: int) -> tuple[SqlToken | None, int]:
        """Return the alias at `at`, if there is one, and the index behind it."""
        tokens = self._tokens
        if at < len(tokens) and tokens[at].upper == "AS":
            at += 1
            if at == len(tokens):
                raise refuse("expected a name behind AS, found the end")
        elif at < len(tokens) and is_keyword(tokens, at):
            return None, at
        if at < len(tokens) and (tokens[at].is_name or tokens[at].kind == "string"):
            return tokens[at], at + 1
        return None, at


def _refuse_path(tokens: Sequence[SqlToken], at: int, end: int) -> None:
    """Refuse the names up to `end` where an index follows them: `orders.0.items`, `orders[0]`."""
    stop = end
    while (
        stop < len(tokens) and tokens[stop].start == tokens[stop - 1].end and tokens[stop].text not in (",", ")", "(")
    ):
        stop += 1
    if stop > end and _INDEX.fullmatch(tokens[end].text):
        path = "".join(token.text for token in tokens[at:stop])
        reason = "a query that is a path alone shows what is at one"
        raise refuse(f"expected a table behind FROM or JOIN, found the path {path[:_MAX_SHOWN]!r}; {reason}")


def _find_aliases(tokens: list[SqlToken], scope: SqlScope) -> None:
    """Collect the names that the query gives to columns: behind AS, and behind an operand of a SELECT without it."""
    in_select = [False]
    for at, token in enumerate(tokens):
        if token.text == "(":
            in_select.append(False)
        elif token.text == ")" and len(in_select) > 1:
            in_select.pop()
        elif is_keyword(tokens, at) and token.upper in _ENDS_FROM | {"FROM"}:
            in_select[-1] = token.upper == "SELECT"
        elif in_select[-1] and at and token.out is None and _is_alias(tokens, at):
            _derive(token, scope)


def _is_alias(tokens: list[SqlToken], at: int) -> bool:
    token, previous = tokens[at], tokens[at - 1]
    if previous.upper == "AS":
        return token.is_name or token.kind == "string"
    return token.is_name and not is_keyword(tokens, at) and _ends_operand(tokens, at - 1)


def _ends_operand(tokens: list[SqlToken], at: int) -> bool:
    token = tokens[at]
    if token.kind in ("string", "number", "quoted") or token.text == ")":
        return True
    return token.upper == "END" or (token.kind == "word" and not is_keyword(tokens, at))
