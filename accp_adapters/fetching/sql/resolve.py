"""Read a query as models write it, and give SQLite its words: names as the tables have them, texts in quotes.

SQLite takes a name in double quotes that it does not know for a text, has every text above every number, and knows
neither `customer.name` as one column nor `status = returned`. So each name is resolved; a text beside a column is read
as its cells are ("03/04/2026" is a day, "$1,200" a number); and what can only be answered wrongly is refused with the
way out: a column of texts beside a number, or added; a moment beside a text that is none. The words that need it are
changed where they stand. All others are SQLite's to read, and mean what its documentation says.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from accp_adapters.fetching.sql.functions import CALLS, TABLE_FUNCTIONS
from accp_adapters.fetching.sql.names import (
    ComparedColumn,
    Expr,
    Names,
    Output,
    ResolvedQuery,
    Scope,
    Source,
    join_parents,
    merged,
    name_of_kind,
    place,
    row_number,
    spelling_of,
)
from accp_adapters.fetching.sql.tables import Catalog, NamedTable, StoredColumn, find_name, quote, quoted_name, refuse
from accp_adapters.fetching.sql.tokens import MAX_SHOWN
from accp_core.errors import ProtocolError
from accp_core.references import find_references
from accp_core.tables.values import Kind

__all__ = ["ComparedColumn", "ResolvedQuery", "resolve_condition", "resolve_select"]

_JOINS: Final = frozenset(["JOIN", "LEFT", "RIGHT", "FULL", "INNER", "OUTER", "CROSS", "NATURAL"])
_COMPOUND: Final = ("UNION", "EXCEPT", "INTERSECT")
_BEGINNINGS: Final = ("SELECT", "WITH", "VALUES")
_CLAUSES: Final = {
    "FROM": (), "WHERE": (), "GROUP": ("BY",), "ORDER": ("BY",), "HAVING": (), "LIMIT": (), "OFFSET": (),
    **dict.fromkeys(_COMPOUND, ("SELECT", "ALL", "VALUES", "(")),
}  # fmt: skip
"""The words that begin a clause, some only before one of those on the right."""
_EQUALS: Final = ("=", "!=", "IS")
_ORDERS: Final = ("<", ">", "<=", ">=")
_PATTERNS: Final = ("LIKE", "GLOB")
_NULL_TESTS: Final = ("ISNULL", "NOTNULL", "NULL")
_ENDLESS: Final = ("REGEXP", "MATCH", "RLIKE")
_COMPARES: Final = (*_EQUALS, *_ORDERS, *_PATTERNS, *_NULL_TESTS, *_ENDLESS, "IN", "BETWEEN")
_ENDS_SIDE: Final = frozenset(["AND", "OR", "||", ",", *_CLAUSES, "ON", "WHEN", "THEN", "ELSE", "END", ""])
_NEGATED: Final = ("IN", "LIKE", "GLOB", "BETWEEN", "NULL")
_LEVELS: Final = (
    ("OR",), ("AND",), (), (*_EQUALS, *_PATTERNS, *_NULL_TESTS, *_ENDLESS, "IN", "BETWEEN"), _ORDERS,
    ("&", "|", "<<", ">>", "+", "-"), ("*", "/", "%"), ("||", "->", "->>"), ("COLLATE",), (),
)  # fmt: skip
_BINDS: Final = {word: level for level, words in enumerate(_LEVELS) for word in words}
"""How tightly each operator binds."""
_NEGATION, _EQUALITY, _ADDITION, _CONCATENATION, _UNARY = 2, 3, 5, 7, 9
_DATES: Final = frozenset(("date", "datetime", "time", "julianday", "strftime", "unixepoch"))
_PRESENT: Final = frozenset(("CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP"))
_SOME: Final = "count, sum, avg, min, max, total, round, substr, instr, lower, coalesce, json_extract, strftime"
_KINDS: Final = {"adds": Kind.NUMBER, "counts": Kind.NUMBER, "writes": Kind.TEXT, "tests": Kind.BOOLEAN}
"""What calls give."""
_NUMBERS: Final = ("INTEGER", "INT", "REAL", "NUMERIC", "FLOAT", "DOUBLE", "DECIMAL", "BIGINT")
_TEXTS: Final = ("TEXT", "VARCHAR", "CHAR", "BLOB")
_CASTS: Final = dict.fromkeys(_NUMBERS, Kind.NUMBER) | dict.fromkeys(_TEXTS, Kind.TEXT)
_OF_JSON: Final = ("key", "value", "type", "atom", "fullkey", "path")
"""The columns of json_each and json_tree."""


def resolve_select(query: str, catalog: Catalog) -> ResolvedQuery:
    """Return a SELECT as SQLite is to run it.

    Raises:
        ProtocolError: E1004, it is not understood, or a table, column or function is unknown or ambiguous; E2003, the
            query is too long.
    """
    return _Parser(query, catalog).whole_select()


def resolve_condition(query: str, table: NamedTable, catalog: Catalog) -> ResolvedQuery:
    """Return the SELECT of the rows of `table` that meet conditions, or of some columns of them.

    Args:
        query: Conditions, and names of columns to show, between commas; no name: all.
        table: The table.
        catalog: The tables of the query.

    Raises:
        ProtocolError: E1004, a part is neither; E2003, it is too long.
    """
    return _Parser(query, catalog, condition=table).whole_condition(table)


class _Parser(Names):
    """One walk through a query, which changes its words where they stand."""

    def whole_select(self) -> ResolvedQuery:
        """Return the whole query."""
        last = len(self._tokens) - 2
        while self._token.text == "(" and self._closing[self._at] == last - self._at:
            self._token.sql = self._tokens[last - self._at].sql = ""
            self._at += 1
        around = self._at
        self._select(is_top=True)
        self._at += around
        if self._token.kind != "end":
            raise self._unexpected("the end of the query")
        self.query.sql = self._sql(0, len(self._tokens))
        return self.query

    def whole_condition(self, table: NamedTable) -> ResolvedQuery:
        """Return the rows of a table that meet all conditions."""
        columns: list[str] = []
        conditions: list[str] = []
        while self._token.kind != "end":
            start, behind = self._at, self._next(",")
            part = self._written(start, behind).strip('"`') if behind > start else ""
            names = find_name(part, table.columns)
            if len(names) == 1:
                columns += names
                self._at = behind
            elif part and self._expression().kind is not Kind.BOOLEAN and self._at == behind:
                raise self._unknown(part, "a column or a condition")
            elif part:
                conditions.append(f"({self._sql(start, self._at)})")
            if not self._take(",") and self._token.kind != "end":
                raise self._unexpected("AND, OR or the end of the condition")
        joins, of_parents = ("", "") if columns else join_parents(table, self._catalog, table.name)
        shown = [f"{quote(table.name)}.{quote(name)}" for name in columns or table.stored.own_columns]
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        sql = f"SELECT {', '.join(shown)}{of_parents} FROM {place(table)} AS {quote(table.name)}{joins}{where}"
        self.query.sql, self.query.tables, self.query.shows_rows = sql, [table, *self.query.tables], not columns
        self.query.words = ["SELECT", *self.query.words]
        return self.query

    # Statements.

    def _next(self, *words: str) -> int:
        """Return where one of some words stands next, or the beginning of a clause, outside of parentheses."""
        at = self._at
        while self._tokens[at].text not in (*words, ")", "") and not (at > self._at and self._begins_clause(at)):
            at = self._closing.get(at, at) + 1
        return at

    def _begins_clause(self, at: int) -> bool:
        token, behind = self._tokens[at], self._tokens[min(at + 1, len(self._tokens) - 1)].upper
        words = _CLAUSES.get(token.upper) if token.kind == "word" else None
        is_distinct_from = token.upper == "FROM" and self._tokens[at - 1].upper == "DISTINCT"
        return words is not None and not is_distinct_from and (not words or behind in words)

    def _select(self, *, is_top: bool = False) -> list[Output]:
        """Take a SELECT with what stands before and behind it; return its columns."""
        self._within()
        is_with = bool(self._take("WITH"))
        if is_with:
            self._named.append({})
            self._separated(self._with)
        outer, self._scope = self._scope, Scope(self._scope)
        first = self._scope
        self._core(is_top=is_top)
        outputs = list(first.outputs.values())
        while self._take(*_COMPOUND):
            first.is_compound = True
            self._take("ALL")
            self._scope = Scope(outer)
            self._core(is_top=False)
            others = self._scope.outputs.values()
            outputs = [(name, merged((a, b))) for (name, a), (_, b) in zip(outputs, others, strict=False)]
        self._scope = first
        first.in_order = True
        has_order = bool(self._take("ORDER"))
        self._use(*(self._expressions() if has_order else ()))
        if is_top and self._token.kind in ("end", "word"):
            numbers = ", ".join(self._row_numbers())
            self._last.sql += f"{',' if has_order else ' ORDER BY'} {numbers}" if numbers else ""
        while self._take("LIMIT", "OFFSET"):
            self._expressions()
        if is_with:
            self._named.pop()
        self._scope = outer
        self._depth -= 1
        return outputs

    def _subquery(self) -> list[Output]:
        """Take a SELECT in parentheses; return its columns."""
        self._need("(")
        outputs = self._select()
        self._need(")")
        return outputs

    def _with(self) -> None:
        if not self._token.is_name or self._ahead() not in ("AS", "("):
            raise self._unexpected("a name and AS (SELECT …) behind WITH; a query does not recur")
        name = self._name()
        columns = self._parenthesized(self._name) if self._token.text == "(" else []
        self._need("AS")
        while self._take("NOT", "MATERIALIZED"):
            pass
        outputs = self._subquery()
        self._named[-1][name.casefold()] = [
            (new, expr) for new, (_, expr) in zip(columns, outputs, strict=False)
        ] or outputs

    def _core(self, *, is_top: bool) -> None:
        if self._token.text == "(" and self._ahead() in _BEGINNINGS:
            self._token.sql = "SELECT * FROM ("
            self._scope.outputs = {name.casefold(): (name, expr) for name, expr in self._subquery()}
            return
        if self._take("VALUES"):
            self._separated(lambda: self._parenthesized(self._result))
            return
        self._need("SELECT")
        self._take("DISTINCT", "ALL")
        # Names are resolved by the tables, which stand behind them.
        start, self._at = self._at, self._next()
        end = self._at
        if end == start:
            raise self._unexpected("columns behind SELECT")
        if has_from := bool(self._take("FROM")):
            self._tables()
        main = "" if has_from or not is_top or len(self._named) > 1 else self._main_table(start)
        behind, self._at = self._at, start
        joins = self._items(end, is_top=is_top)
        self._at = behind
        self._enclose(end, behind, main + joins * (not has_from), joins * has_from)
        while self._take("WHERE", "GROUP", "HAVING"):
            self._expressions()

    def _main_table(self, start: int) -> str:
        """Return the FROM clause that the model left out, where only one table can be meant."""
        table = self._catalog.main()
        words = [token for token in self._tokens[start:] if token.is_name or token.text == "*"]
        if table and any(token.text == "*" or find_name(token.name, table.columns) for token in words):
            return f"FROM {self._of_table(table, table.name)} "
        return ""

    def _of_table(self, table: NamedTable, alias: str) -> str:
        self._scope.sources.append(Source(alias, table))
        self.query.tables.append(table)
        return f"{place(table)} AS {quote(alias)}"

    def _expressions(self) -> list[Expr]:
        """Take expressions between commas, and the words around them that SQLite alone needs."""
        found = []
        while True:
            self._take("BY")
            found.append(self._expression())
            while self._take("ASC", "DESC", "NULLS", "FIRST", "LAST"):
                pass
            if not self._take(","):
                return found

    def _tables(self) -> None:
        self._table()
        while self._take(",", *_JOINS):
            while self._take(*_JOINS):
                pass
            self._table()
            if self._take("ON"):
                self._expression()
            elif self._take("USING"):
                self._parenthesized(self._shared)

    def _shared(self) -> None:
        """Take the name of a column of the last two tables, which must be of one kind."""
        written = self._name()
        found = [self._find_column(source, written, exact=False) for source in self._scope.sources]
        known = [each for each in found if each]
        if len(known) > 1:
            self._check_pair(known[0], known[-1], "=")
        if known and known[0].column:
            self._last.sql = quote(known[0].column.column)

    def _table(self) -> None:
        token, start = self._token, self._at
        if token.text == "(" and self._ahead() in _BEGINNINGS:
            outer, self._scope = self._scope, Scope(self._scope.outer)
            outputs = self._subquery()
            self._scope = outer
            self._derived(outputs, self._alias())
        elif self._take("("):
            self._scope.is_compound = True
            self._tables()
            self._need(")")
        elif token.text.lower() in TABLE_FUNCTIONS and self._ahead() == "(":
            self._at += 1
            self._parenthesized(self._result)
            self._derived([(name, Expr()) for name in _OF_JSON], self._alias() or token.text.lower())
        else:
            names = self._chain()
            written = ".".join(each.text if each.kind == "reference" else each.name for each in names)
            self._refuse_path(start)
            of_with = next((each[written.casefold()] for each in self._named[::-1] if written.casefold() in each), None)
            if of_with is not None:
                self._derived(of_with, self._alias() or written)
                return
            table, behind = self._find_table(written), self._at
            alias = self._alias()
            taken = [source.alias.casefold() for source in self._scope.sources]
            free = table.name if table.name.casefold() not in taken else f"{table.name}_{len(taken) + 1}"
            sql = self._of_table(table, alias or free)
            self._at, alias_behind = behind, self._at
            self._replace(start, place(table) if alias else sql)
            self._at = alias_behind

    def _refuse_path(self, start: int) -> None:
        """Refuse names behind which an index stands: `orders.0.items`, `orders[0]`."""
        before, token = self._last, self._token
        is_index = token.start == before.end and re.fullmatch(r"\.?[0-9][\w.]*|\[\s*-?[0-9]+\s*\]|\.", token.text)
        if is_index or (self._at - start > 1 and re.fullmatch(r"\[\s*-?[0-9]+\s*\]", before.text)):
            path = re.match(r"(?:\[[^\]]*\]|[^\s,()\[])+", self._source[self._tokens[start].start :])
            found, reason = path[0] if path else "", "a query that is a path alone shows what is at one"
            raise refuse(f"expected a table behind FROM or JOIN, found the path {found[:MAX_SHOWN]!r}; {reason}")

    def _derived(self, outputs: Sequence[Output], alias: str) -> None:
        columns = {name.casefold(): (name, replace(expr, text=None, literal=None)) for name, expr in outputs}
        self._scope.sources.append(Source(alias, None, columns))

    def _find_table(self, written: str) -> NamedTable:
        """Return the table that `orders`, `$cold.…`, or `$cold.….orders` is; an array may have such a name itself."""
        catalog = self._catalog
        if any(table.name == written for table in catalog.tables):
            return catalog.find(written)
        if keys := find_references(written):
            return catalog.find(written.partition(keys[0])[2].strip("./ "), keys[0])
        return catalog.find("", written[1:]) if written.startswith("$") else catalog.find(written)

    def _alias(self) -> str:
        if self._take("AS"):
            return self._name()
        is_word = self._token.upper in _JOINS | {"ON", "USING"} or self._begins_clause(self._at)
        return "" if is_word or not self._token.is_name else self._name()

    def _items(self, end: int, *, is_top: bool) -> str:
        """Take the items of a SELECT; of a child table `*` names the rows that hold its rows: return those joins."""
        joins = ""
        while True:
            if (sources := self._star()) is None:
                self._item(end, is_top=is_top)
            elif is_top:
                self.query.shows_rows = True
                table = sources[0].table if len(self._scope.sources) == 1 else None
                if table and not self.query.has(*_COMPOUND, "GROUP", "DISTINCT"):
                    joins, of_parents = join_parents(table, self._catalog, sources[0].alias)
                    self._last.sql += of_parents
            if not self._take(","):
                break
        if self._at != end:
            raise self._unexpected("a comma or FROM")
        return joins

    def _star(self) -> list[Source] | None:
        """Take `*` or `orders.*`; the columns that it shows do not say again what others or child tables say."""
        start, sources = self._at, self._scope.sources
        if self._token.is_name or self._token.kind == "reference":
            written = ".".join(token.name for token in self._chain())
            if not (self._take(".") and self._token.text == "*"):
                self._at = start
                return None
            sources = [each for each in sources if self._means(each, written)][:1]
            if not sources:
                raise self._unknown(written)
        if not self._take("*"):
            return None
        if not sources:
            raise refuse("expected FROM with a table behind *, found none")
        items = [item for source in sources for item in self._columns_of_star(source, is_alone=len(sources) == 1)]
        self._replace(start, ", ".join(items))
        return sources

    def _columns_of_star(self, source: Source, *, is_alone: bool) -> list[str]:
        names = source.table.stored.own_columns if source.table else [name for name, _ in source.columns.values()]
        items = []
        for name in names:
            expr = self._find_column(source, name, exact=True) if source.table is None else None
            expr = expr or self._column_of(source, name)
            items.append(f"{expr.sql} AS {quote(name)}" if is_alone else expr.sql)
            self._scope.outputs.setdefault(name.casefold(), (name, expr))
        return items if source.table else [f"{quote(source.alias)}.*" if source.alias else "*"]

    def _item(self, end: int, *, is_top: bool) -> None:
        start, expr = self._at, self._expression()
        written = self._written(start, self._at).replace("`", "").replace('"', "")
        name = expr.column.column if expr.sql and expr.column else written
        if self._take("AS") or (self._at < end and self._token.is_name):
            name = self._name()
        else:
            self._last.sql += f" AS {quote(name)}"
        if is_top and expr.is_extreme and expr.column:
            self.query.shown[name] = expr.column.stored
        self._scope.outputs.setdefault(name.casefold(), (name, expr))

    def _row_numbers(self) -> list[str]:
        """Return the order of the tables, also where ORDER BY has ties: SQLite chooses which table is read first."""
        sources, query = self._scope.sources, self.query
        is_rows = all(source.table for source in sources) and not self._scope.is_compound
        rowids = [] if query.has(*_COMPOUND, "GROUP", "DISTINCT") else [row_number(source) for source in sources]
        return rowids if is_rows and all(rowids) and (len(sources) > 1 or query.has("OVER")) else []

    # Expressions, by how tightly their operators bind.

    def _expression(self, level: int = 0) -> Expr:
        """Take an expression that is no value beside another."""
        return self._beside(None, level)

    def _beside(self, left: Expr | None, level: int = _ADDITION) -> Expr:
        """Take what is compared with `left`, which may be a text without quotes."""
        before, self._left = self._left, left
        found = self._operators(level)
        self._left = before
        return found

    def _result(self) -> Expr:
        """Take a value where a name in double quotes that is none is a text."""
        return self._beside(Expr(kind=Kind.TEXT) if self._token.text[:1] == '"' else None, 0)

    def _operators(self, level: int) -> Expr:
        """Take an expression of operators that bind at least as `level` does."""
        self._within()
        start = self._at
        found = replace(self._prefix(level), first=start, behind=self._at)
        while True:
            is_not = self._token.upper == "NOT" and self._ahead() in _NEGATED
            word = self._ahead() if is_not else self._token.upper
            if word == "||" and self._means_or(found):
                word = "OR"
            is_list = word != "IN" or self._ahead(1 + is_not) == "("
            if self._token.kind not in ("word", "sign") or _BINDS.get(word, -1) < level or not is_list:
                break
            self._at += 1 + is_not
            found = replace(self._operator(found, word), first=start, behind=self._at)
        self._depth -= 1
        return found

    def _means_or(self, left: Expr) -> bool:
        """Return whether `||` stands between conditions; between texts it joins them, as in SQL."""
        at = self._at + 1
        while self._tokens[at].upper not in _ENDS_SIDE and self._tokens[at].text != ")":
            behind = self._closing.get(at, at) + 1
            if any(token.upper in _COMPARES for token in self._tokens[at:behind]):
                return self._left is not None or left.kind is Kind.BOOLEAN
            at = behind
        return False

    def _prefix(self, level: int) -> Expr:
        word = self._token.upper
        if word == "NOT" and level <= _NEGATION and self._ahead() != ".":
            self._at += 1
            self._operators(_NEGATION)
            return Expr(kind=Kind.BOOLEAN)
        if self._token.kind == "sign" and self._take("-", "+", "~"):
            inner = self._operators(_UNARY)
            self._check_number(inner, word)
            return Expr(kind=Kind.NUMBER, literal=inner.literal)
        return self._primary()

    def _operator(self, left: Expr, word: str) -> Expr:
        """Take the other operand of an operator, which was taken."""
        level = _BINDS[word]
        if level < _NEGATION:
            self._last.sql = word
            self._expression(level + 1)
            return Expr(kind=Kind.BOOLEAN)
        if word == "COLLATE":
            self._name()
            return replace(left, sql="")
        if level >= _CONCATENATION:
            right = self._beside(left if self._token.text[:1] == '"' else None, level + 1)
            if word == "||" and Kind.BOOLEAN in (left.kind, right.kind):
                raise refuse("expected OR between conditions, found '||', which joins texts")
            return Expr(kind=Kind.TEXT if word == "||" else None)
        if level >= _ADDITION:
            self._check_number(left, word)
            self._check_number(self._expression(level + 1), word)
            return Expr(kind=Kind.NUMBER)
        self._compare(left, word)
        return Expr(kind=Kind.BOOLEAN)

    def _compare(self, left: Expr, word: str) -> None:
        self._compared(left)
        if word in _ENDLESS:
            # An expression may take time without end.
            raise refuse(f"expected LIKE '%a%', GLOB '*a[0-9]*', OR or words, found {word!r}")
        if word in _ORDERS:
            self._order(left)
        elif word == "BETWEEN":
            self._check_pair(left, self._beside(left), "<=")
            self._need("AND", " of BETWEEN")
            self._check_pair(left, self._beside(left), "<=")
            self._use(left)
        elif word == "IN" and self._ahead() in _BEGINNINGS:
            outputs = self._subquery()
            if len(outputs) == 1:
                self._check_pair(left, replace(outputs[0][1], text=None, literal=None), "=")
        elif word == "IN":
            members = self._parenthesized(lambda: self._beside(left))
            is_mixed = left.kind is None and len({member.kind for member in members}) > 1
            for member in () if is_mixed else members:
                self._check_pair(left, member, "=")
        elif word in _PATTERNS:
            self._like(left, word)
        elif word in _EQUALS:
            self._equal(left, word)

    def _compared(self, expr: Expr, text: str | None = None) -> None:
        if expr.column is not None and expr.sql:
            self.query.comparisons.append(replace(expr.column, text=text))

    def _equal(self, left: Expr, word: str) -> None:
        start = self._at - 1
        is_not = (word == "!=") != bool(word == "IS" and self._take("NOT"))
        if word == "IS" and self._take("DISTINCT"):
            self._need("FROM")
            is_not = not is_not
        behind = self._at
        right = self._beside(left, _EQUALITY + 1)
        if word == "IS" or self._sql(right.first, right.behind) == "NULL":
            self._at, at = behind, self._at
            self._replace(start, f"IS{' NOT' * is_not}")
            self._at = at
        self._check_pair(left, right, word)
        self._compared(left, right.text if word == "=" else None)
        self._compared(right)

    def _order(self, left: Expr) -> None:
        start, has_two = left.first, False
        while True:
            right = self._beside(left)
            self._check_pair(left, right, self._tokens[right.first - 1].text)
            self._compared(left)
            self._compared(right)
            self._use(left, right)
            if not self._take(*_ORDERS):
                break
            # `1 <= id <= 3` is both.
            self._last.sql = f"AND {self._sql(right.first, right.behind)} {self._last.text}"
            left, has_two = right, True
        if has_two:
            self._enclose(start, self._at, "(", ")")

    def _like(self, left: Expr, word: str) -> None:
        right = self._beside(left)
        has_escape = bool(self._take("ESCAPE"))
        if has_escape:
            self._expression(_ADDITION)
        self.query.patterns.append("" if has_escape else right.text or "")
        column = left.column if left.sql else None
        if column and column.stored.is_spelled and not _fits_values(column.stored, right.text):
            told = f"{quoted_name(column.column)}, which is of {name_of_kind(column.stored)}"
            raise refuse(f"expected {spelling_of(column)} {word} …, found {told}")

    def _primary(self) -> Expr:
        token, word = self._token, self._token.upper
        if token.text == "(":
            return self._parenthesis()
        if token.kind in ("string", "number"):
            self._at += 1
            is_text = token.kind == "string"
            return Expr(kind=Kind.TEXT if is_text else Kind.NUMBER, literal=token, text=token.name if is_text else None)
        if token.kind == "bare" and self._left is not None:
            return self._bare_text()
        if word == "CASE" and (self._ahead() == "WHEN" or not self._resolve([token])):
            return self._case()
        if word == "EXISTS" and self._ahead() == "(":
            self._at += 1
            self._subquery()
            return Expr(kind=Kind.BOOLEAN)
        if word in _PRESENT:
            raise _refuse_present_time(token.text)
        if token.kind == "word" and self._ahead() == "(" and word != "IN":
            return self._call()
        if token.is_name or token.kind == "reference":
            return self._named_value()
        raise self._unexpected("a column or a value")

    def _parenthesis(self) -> Expr:
        if self._ahead() in _BEGINNINGS:
            outputs = self._subquery()
            return merged([outputs[0][1]]) if len(outputs) == 1 else Expr()
        found = self._parenthesized(lambda: self._operators(0))
        return found[0] if len(found) == 1 else Expr()

    def _case(self) -> Expr:
        self._within()
        start = self._at
        self._at += 1
        base = None if self._token.upper == "WHEN" else self._expression()
        results: list[Expr] = []
        while self._take("WHEN"):
            condition = self._beside(base, 0 if base is None else _ADDITION)
            if base is not None:
                self._check_pair(base, condition, "=")
            self._need("THEN")
            results.append(self._result())
        if self._take("ELSE"):
            results.append(self._result())
        if not self._take("END"):
            raise refuse(f"expected END of CASE, found {self._source[self._tokens[start].start :][:MAX_SHOWN]!r}")
        self._depth -= 1
        return self._one_of(results)

    def _one_of(self, parts: Sequence[Expr]) -> Expr:
        """Return what the value of one of some expressions is, and have texts among them read as the others are."""
        result = merged(parts)
        for part in parts:
            self._fit(part, result)
        return result

    def _call(self) -> Expr:
        token = self._token
        name = token.text.lower()
        if name == "cast":
            return self._cast()
        if name not in CALLS:
            raise refuse(f"expected a function of SQLite that reads, such as {_SOME}; found {token.text!r}")
        self._at += 2
        self._take("DISTINCT")
        arguments: list[Expr] = []
        if not (name == "count" and self._take("*")) and self._token.text != ")":
            is_alone = self._next(",") == self._closing[self._tokens.index(token) + 1]
            arguments = self._separated(self._expression if is_alone else self._result)
        self._need(")")
        return self._over(self._called(name, arguments))

    def _called(self, name: str, arguments: Sequence[Expr]) -> Expr:
        texts = [each.text and each.text.strip().casefold() for each in arguments]
        if name in _DATES and (len(texts) <= (name == "strftime") or "now" in texts):
            raise _refuse_present_time(f"{name}('now')")
        group, is_extreme = CALLS[name], name in ("max", "min")
        for each in arguments[:1] if group == "adds" else ():
            self._check_number(each, name)
        self.query.patterns += [""] * (group == "tests")
        for one, other in pairwise(arguments if is_extreme else ()):
            self._check_pair(one, other, "<")
        self._use(*(arguments if is_extreme else ()))
        if group not in ("chooses", "looks"):
            return Expr(kind=_KINDS.get(group))
        found = self._one_of(arguments[name == "iif" : 1 if group == "looks" else None])
        return replace(found, is_extreme=is_extreme and len(arguments) == 1 and bool(arguments[0].sql))

    def _over(self, found: Expr) -> Expr:
        """Return a call with what stands behind it: FILTER (WHERE …), OVER (…)."""
        if self._token.upper == "FILTER" and self._ahead() == "(":
            self._at += 2
            self._need("WHERE")
            self._expression()
            self._need(")")
        if not self._take("OVER"):
            return found
        end = self._closing.get(self._at, self._at)
        self._need("(")
        while self._take("PARTITION", "ORDER"):
            self._expressions()
        # The frame is SQLite's to read: it holds no names.
        self._at = end + 1
        return replace(found, is_extreme=False)

    def _cast(self) -> Expr:
        self._at += 2
        inner = self._expression()
        self._need("AS", " in CAST")
        kind = _CASTS.get(self._token.upper)
        if kind is None:
            raise self._unexpected("CAST(… AS INTEGER), REAL or TEXT")
        self._at += 1
        if self._token.text == "(":
            self._parenthesized(self._expression)
        self._need(")")
        if kind is Kind.NUMBER:
            self._use(inner)
        return Expr(kind=kind)


def _fits_values(stored: StoredColumn, pattern: str | None) -> bool:
    """Return whether a pattern may be meant of the ISO texts of moments, not of their spellings."""
    return stored.kind is Kind.MOMENT and bool(pattern and re.match(r"[%*]?\d{4}(-|[%*]$)", pattern))


def _refuse_present_time(found: str) -> ProtocolError:
    """Return the refusal of a query that asks what time it is (E1004)."""
    return refuse(f"expected a date such as '2026-01-05', found {found!r}: a query has no clock")
