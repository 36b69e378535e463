"""Read a query as models write it, and write it for SQLite: its names as the tables have them, its texts in quotes.

SQLite takes a name in double quotes that it does not know for a text, has every text above every number, and knows
neither `customer.name` as one column nor `status = returned`. So a query is parsed here. Each name is resolved; a text
beside a column is read as its cells are ("03/04/2026" is a day, "$1,200" a number); and what can only be answered
wrongly is refused with the way out: a column of texts beside a number, or added; a moment beside a text that is none.
Everything else is as SQLite documents it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from accp_adapters.fetching.sql.expressions import Expressions
from accp_adapters.fetching.sql.functions import TABLE_FUNCTIONS
from accp_adapters.fetching.sql.names import ComparedColumn, Expr, Output, ResolvedQuery, Scope, Source, merged
from accp_adapters.fetching.sql.tables import (
    Catalog,
    NamedTable,
    find_name,
    quote,
    refuse,
)
from accp_adapters.fetching.sql.tokens import MAX_SHOWN, Token, tokenize
from accp_core.references import find_references
from accp_core.tables.values import Kind

__all__ = ["ComparedColumn", "ResolvedQuery", "resolve_condition", "resolve_select", "split_parts"]

_JOINS: Final = frozenset(["JOIN", "LEFT", "RIGHT", "FULL", "INNER", "OUTER", "CROSS", "NATURAL"])
_CLAUSES: Final = {
    "FROM": (), "WHERE": (), "GROUP": ("BY",), "ORDER": ("BY",), "HAVING": (), "LIMIT": (), "OFFSET": (),
    "UNION": ("SELECT", "ALL", "VALUES", "("), "EXCEPT": ("SELECT", "VALUES", "("), "INTERSECT": ("SELECT", "VALUES"),

}  # fmt: skip
"""The words that begin a clause, some only before one of those on the right."""


def resolve_select(query: str, catalog: Catalog) -> ResolvedQuery:
    """Return a SELECT as SQLite is to run it.

    Raises:
        ProtocolError: E1004, it is not understood, or a table, column or function is unknown or ambiguous; E2003, the
            query is too long.
    """
    parser = _Parser(query, catalog)
    return parser.whole_select()


def split_parts(query: str) -> list[str]:
    """Return the parts of a query between the commas outside parentheses."""
    depth, start, parts = 0, 0, []
    for token in tokenize(query):
        depth += (token.text == "(") - (token.text == ")")
        if token.kind == "end" or (token.text == "," and depth == 0):
            parts.append(query[start : token.start].strip())
            start = token.end
    return list(filter(None, parts))


def resolve_condition(parts: Sequence[str], table: NamedTable, catalog: Catalog) -> ResolvedQuery:
    """Return the SELECT of the rows of `table` that meet conditions, or of some columns of them.

    Args:
        parts: Conditions, and names of columns to show; no name: all.
        table: The table.
        catalog: The tables of the query.

    Raises:
        ProtocolError: E1004, a part is neither; E2003, it is too long.
    """
    columns: list[str] = []
    conditions: list[_Parser] = []
    joins, of_parents = _join_parents(table, catalog)
    for part in parts:
        names = find_name(part.strip('"`'), table.columns)
        if len(names) == 1:
            columns.append(names[0])
            continue
        parser = _Parser(part, catalog, condition=table)
        parser.query.sql = parser.whole_condition(part)
        conditions.append(parser)
    shown = columns or table.stored.own_columns
    names = [f"{quote(table.name)}.{quote(name)}" for name in shown]
    if columns or not joins:
        joins, of_parents = "", list[str]()
    sql = f"SELECT {', '.join([*names, *of_parents])} FROM {_place(table)} AS {quote(table.name)}{joins}"
    where = " AND ".join(f"({each.query.sql})" for each in conditions)
    found = ResolvedQuery(f"{sql} WHERE {where}" if where else sql, [table], shows_rows=not columns, looks=1)
    for each in conditions:
        found.comparisons += each.query.comparisons
        found.used += each.query.used
        found.looks += each.query.looks
        found.patterns += each.query.patterns
    return found


def _place(table: NamedTable) -> str:
    return f"r{table.number}.{quote(table.name)}"


def _join_parents(table: NamedTable, catalog: Catalog, alias: str = "") -> tuple[str, list[str]]:
    """Return the joins of a child table with the tables whose rows hold its rows, and the columns that name those.

    Of the parent that is its name or number, and from there on also the key of the next one.
    """
    link, child = table.stored.source.parent, quote(alias or table.name)
    joins, columns, key = "", [], catalog.key_of(table)
    while link is not None:
        parent, name = catalog.find(link.table, key), f"accp_parent_{len(joins)}"
        above = parent.stored.source.parent
        joins += f" LEFT JOIN {_place(parent)} AS {name} ON {name}.{quote(link.key)} = {child}.{quote(link.column)}"
        names = dict.fromkeys([*parent.stored.source.naming(link.key), *([above.column] if above else [])])
        columns += [f"{name}.{quote(each)} AS {quote(f'{parent.name}.{each}')}" for each in names]
        link, child = above, name
    return joins, columns


def _row_number(source: Source) -> str:
    """Return a name that SQLite gives to the number of a row; "" where columns have all of them."""
    columns = {name.casefold() for name in source.table.columns} if source.table else set()
    name = next((name for name in ("rowid", "_rowid_", "oid") if name not in columns), "")
    return f"{quote(source.alias)}.{name}" if name else ""


class _Parser(Expressions):
    """One walk through a query, by recursive descent; each method returns what SQLite is given of its part."""

    @property
    def _merges(self) -> bool:
        """Return whether rows of the result may be none of the tables."""
        return any(token.upper in ("UNION", "EXCEPT", "INTERSECT", "GROUP", "DISTINCT") for token in self._tokens)

    def _is_clause(self) -> bool:
        word = self._token.upper
        if self._token.kind != "word" or word not in _CLAUSES:
            return False
        return not _CLAUSES[word] or self._ahead() in _CLAUSES[word]

    def whole_select(self) -> ResolvedQuery:
        """Return the whole query."""
        self.query.sql, _ = self._select(is_top=True)
        if self._token.kind != "end":
            raise self._unexpected("the end of the query")
        return self.query

    def whole_condition(self, part: str) -> str:
        """Return a condition of the rows of a table."""
        found = self._expression()
        if self._token.kind != "end":
            raise self._unexpected("AND, OR or the end of the condition")
        if found.kind is not Kind.BOOLEAN:
            tables = [source.table for source in self._scope.sources if source.table]
            raise self._catalog.unknown_column(part, tables, "a column or a condition")
        return found.sql

    def _select(self, *, is_top: bool = False) -> tuple[str, list[Output]]:
        """Return a SELECT with what stands before and behind it, and its columns."""
        self._within()
        beginning = self._with() if self._token.upper == "WITH" else ""
        outer, self._scope = self._scope, Scope(self._scope)
        first = self._scope
        parts, outputs = [self._core(is_top=is_top)], list(first.outputs.values())
        while word := self._take("UNION", "EXCEPT", "INTERSECT"):
            first.is_compound = True
            word += " ALL" if self._take("ALL") else ""
            self._scope = Scope(outer)
            parts += [word, self._core(is_top=False)]
            outputs = [
                (name, merged(a, b)) for (name, a), (_, b) in zip(outputs, self._scope.outputs.values(), strict=False)
            ]
        self._scope = first
        sql = f"{beginning}{' '.join(parts)}{self._order_by(is_top=is_top)}{self._limit()}"
        if beginning:
            self._named.pop()
        self._scope = outer
        self._depth -= 1
        return sql, outputs

    def _with(self) -> str:
        self._at += 1
        self._named.append({})
        parts = []
        while True:
            if not self._token.is_name or self._ahead() not in ("AS", "("):
                raise self._unexpected("a name and AS (SELECT …) behind WITH; a query does not recur")
            name = self._name()
            columns = self._names_in_parentheses() if self._token.text == "(" else []
            self._need("AS")
            materialized = f"{'NOT ' * bool(self._take('NOT'))}MATERIALIZED " * bool(self._take("MATERIALIZED"))
            opening = self._at
            self._need("(")
            sql, outputs = self._select()
            self._close(opening)
            outputs = [(new, expr) for new, (_, expr) in zip(columns, outputs, strict=False)] or outputs
            self._named[-1][name.casefold()] = outputs
            listed = f"({', '.join(map(quote, columns))})" if columns else ""
            parts.append(f"{quote(name)}{listed} AS {materialized}({sql})")
            if not self._take(","):
                return f"WITH {', '.join(parts)} "

    def _core(self, *, is_top: bool) -> str:
        if self._token.text == "(" and self._ahead() in ("SELECT", "WITH"):
            opening = self._at
            self._at += 1
            sql, outputs = self._select(is_top=is_top)
            self._close(opening)
            self._scope.outputs = {name.casefold(): (name, expr) for name, expr in outputs}
            return sql if is_top else f"SELECT * FROM ({sql})"
        if self._take("VALUES"):
            self.query.looks += 1
            rows = self._separated(self._list)
            return f"VALUES {', '.join('(' + ', '.join(row) + ')' for row in rows)}"
        self._need("SELECT")
        self.query.looks += 1
        distinct = self._take("DISTINCT", "ALL")
        if distinct == "DISTINCT":
            self.query.groups = True
        # Names are resolved by the tables, which stand behind them.
        start, end = self._at, self._end_of_items()
        self._at = end
        if self._take("FROM"):
            tables = f" FROM {self._tables()}"
        else:
            tables = self._main_table(start) if is_top and len(self._named) == 1 else ""
        behind = self._at
        self._at = start
        items, of_parents, joins = self._items(end, is_top=is_top)
        self._at = behind
        where = f" WHERE {self._expression().sql}" if self._take("WHERE") else ""
        sql = f"SELECT {f'{distinct} ' * bool(distinct)}{', '.join([*items, *of_parents])}{tables}{joins}{where}"
        return sql + self._group_by()

    def _end_of_items(self) -> int:
        depth, at = 0, self._at
        while self._tokens[at].kind != "end":
            token = self._tokens[at]
            if depth == 0 and (token.text == ")" or (at > self._at and self._begins_clause(at))):
                break
            depth += (token.text == "(") - (token.text == ")")
            at += 1
        if at == self._at:
            raise self._unexpected("columns behind SELECT")
        return at

    def _begins_clause(self, at: int) -> bool:
        before, self._at = self._at, at
        is_distinct_from = self._tokens[at].upper == "FROM" and self._tokens[at - 1].upper == "DISTINCT"
        found = self._is_clause() and not is_distinct_from
        self._at = before
        return found

    def _main_table(self, start: int) -> str:
        """Return the FROM clause that the model left out, where only one table can be meant."""
        table = self._catalog.main()
        if table is None or not table.columns:
            return ""
        words = [token for token in self._tokens[start:] if token.is_name or token.text == "*"]
        if not any(token.text == "*" or find_name(token.name, table.columns) for token in words):
            return ""
        self._scope.sources.append(Source(table.name, table))
        self.query.tables.append(table)
        return f" FROM {_place(table)} AS {quote(table.name)}"

    def _tables(self) -> str:
        parts = [self._table()]
        while True:
            if self._take(","):
                parts.append(f", {self._table()}")
            elif self._token.upper in _JOINS:
                words = []
                while word := self._take(*_JOINS):
                    words.append(word)
                if words[-1] != "JOIN":
                    raise self._unexpected("JOIN")
                joined = self._table()
                parts.append(f" {' '.join(words)} {joined}{self._on()}")
            else:
                return "".join(parts)

    def _on(self) -> str:
        if self._take("ON"):
            return f" ON {self._expression().sql}"
        if self._take("USING"):
            names = [self._shared(name) for name in self._names_in_parentheses()]
            return f" USING ({', '.join(map(quote, names))})"
        return ""

    def _shared(self, written: str) -> str:
        """Return the name of a column of the last two tables, which must be of one kind."""
        found = [self._find_column(source, written, exact=False) for source in self._scope.sources]
        known = [each for each in found if each]
        if len(known) > 1:
            self._check_pair(known[0], known[-1], "=")
        return known[0].column.column if known and known[0].column else written

    def _table(self) -> str:
        self._within()
        try:
            return self._table_within()
        finally:
            self._depth -= 1

    def _table_within(self) -> str:
        token, opening = self._token, self._at
        if token.text == "(" and self._ahead() in ("SELECT", "WITH", "VALUES"):
            self._at += 1
            outer, self._scope = self._scope, Scope(self._scope.outer)
            sql, outputs = self._select()
            self._scope = outer
            self._close(opening)
            return f"({sql}){self._derived(outputs, self._alias())}"
        if token.text == "(":
            self._at += 1
            self.query.groups = True
            sql = self._tables()
            self._close(opening)
            return f"({sql})"
        if token.text.lower() in TABLE_FUNCTIONS and self._ahead() == "(":
            self._at += 1
            arguments = self._list()
            given = ("key", "value", "type", "atom", "fullkey", "path")
            outputs = [(name, Expr("")) for name in given]
            self.query.looks += 1
            alias = self._alias() or token.text.lower()
            return f"{token.text.lower()}({', '.join(arguments)}){self._derived(outputs, alias)}"
        names = self._chain()
        written = ".".join(each.text if each.kind == "reference" else each.name for each in names)
        self._refuse_path(opening)
        if len(names) == 1 and (of_with := self._with_named(written)) is not None:
            return f"{quote(written)}{self._derived(of_with, self._alias() or written)}"
        table = self._find_table(written)
        alias = self._alias() or self._free_name(table)
        self._scope.sources.append(Source(alias, table))
        self.query.tables.append(table)
        return f"{_place(table)} AS {quote(alias)}"

    def _refuse_path(self, start: int) -> None:
        """Refuse names behind which an index stands: `orders.0.items`, `orders[0]`."""
        before, token = self._tokens[self._at - 1], self._token
        is_index = token.start == before.end and re.fullmatch(r"\.?[0-9][\w.]*|\[\s*-?[0-9]+\s*\]|\.", token.text)
        last = re.fullmatch(r"\[\s*-?[0-9]+\s*\]", before.text) if self._at - start > 1 else None
        if not is_index and not last:
            return
        end = self._at
        while self._tokens[end].start == self._tokens[end - 1].end and self._tokens[end].text not in (
            ",",
            ")",
            "(",
            "",
        ):
            end += 1
        path = self._source[self._tokens[start].start : self._tokens[end - 1].end]
        reason = "a query that is a path alone shows what is at one"
        raise refuse(f"expected a table behind FROM or JOIN, found the path {path[:MAX_SHOWN]!r}; {reason}")

    def _derived(self, outputs: Sequence[Output], alias: str) -> str:
        columns = {name.casefold(): (name, replace(expr, text=None, is_number=False)) for name, expr in outputs}
        self._scope.sources.append(Source(alias, None, columns))
        return f" AS {quote(alias)}" if alias else ""

    def _with_named(self, name: str) -> list[Output] | None:
        return next((each[name.casefold()] for each in reversed(self._named) if name.casefold() in each), None)

    def _find_table(self, written: str) -> NamedTable:
        """Return the table that `orders`, `$cold.…`, or `$cold.….orders` is; an array may have such a name itself."""
        catalog = self._catalog
        keys = [] if any(table.name == written for table in catalog.tables) else find_references(written)
        if keys:
            return catalog.find(written.partition(keys[0])[2].strip("./ "), keys[0])
        if written.startswith("$") and all(table.name != written for table in catalog.tables):
            return catalog.find("", written[1:])
        return catalog.find(written)

    def _free_name(self, table: NamedTable) -> str:
        taken = [source.alias.casefold() for source in self._scope.sources]
        return table.name if table.name.casefold() not in taken else f"{table.name}_{len(taken) + 1}"

    def _alias(self) -> str:
        if self._take("AS"):
            if self._token.kind == "end":
                raise refuse("expected a name behind AS, found the end")
            return self._name()
        is_word = self._token.upper in _JOINS | {"ON", "USING"} or self._is_clause()
        return "" if is_word or not self._token.is_name else self._name()

    def _items(self, end: int, *, is_top: bool) -> tuple[list[str], list[str], str]:
        """Return the items of a SELECT, and the columns and joins that say which rows hold those of a child table."""
        items: list[str] = []
        joins, of_parents = "", list[str]()
        while True:
            if star := self._star():
                sources, items_of_star = star
                items += items_of_star
                if is_top and len(self._scope.sources) == 1 and sources[0].table and not self._merges:
                    joins, of_parents = _join_parents(sources[0].table, self._catalog, sources[0].alias)
                self.query.shows_rows = self.query.shows_rows or is_top
            else:
                items.append(self._item(len(items), end, is_top=is_top))
            if not self._take(","):
                break
        if self._at != end:
            raise self._unexpected("a comma or FROM")
        return items, of_parents, joins

    def _star(self) -> tuple[list[Source], list[str]] | None:
        """Take `*` or `orders.*`; the columns that it shows do not say again what others or child tables say."""
        start = self._at
        names: list[Token] = []
        if self._token.is_name or self._token.kind == "reference":
            names = self._chain()
            if self._token.text != "." or self._ahead() != "*":
                self._at = start
                return None
            self._at += 1
        if self._token.text != "*":
            return None
        self._at += 1
        sources = self._scope.sources
        if names:
            written = ".".join(token.name for token in names)
            sources = [each for each in sources if self._means(each, written)][:1]
            if not sources:
                raise self._unknown(written)
        if not sources:
            raise refuse("expected FROM with a table behind *, found none")
        return sources, [
            item for source in sources for item in self._columns_of_star(source, is_alone=len(sources) == 1)
        ]

    def _columns_of_star(self, source: Source, *, is_alone: bool) -> list[str]:
        if source.table is None:
            for name, _ in source.columns.values():
                if expr := self._find_column(source, name, exact=True):
                    self._scope.outputs.setdefault(name.casefold(), (name, expr))
            return [f"{quote(source.alias)}.*" if source.alias else "*"]
        items = []
        for name in source.table.stored.own_columns:
            expr = self._column_of(source, name)
            items.append(f"{expr.sql} AS {quote(name)}" if is_alone else expr.sql)
            self._scope.outputs.setdefault(name.casefold(), (name, expr))
        return items

    def _item(self, place: int, end: int, *, is_top: bool) -> str:
        start = self._at
        expr = self._expression()
        written = self._source[self._tokens[start].start : self._tokens[self._at - 1].end]
        name = expr.column.column if expr.is_column and expr.column else written.replace("`", "").replace('"', "")
        if self._take("AS") or (self._at < end and self._token.is_name):
            name = self._name()
        if is_top and expr.is_extreme and expr.column:
            self.query.shown[place] = expr.column.stored
        self._scope.outputs.setdefault(name.casefold(), (name, expr))
        return f"{expr.sql} AS {quote(name)}"

    def _group_by(self) -> str:
        sql = ""
        if self._take("GROUP"):
            self._need("BY")
            self.query.groups = True
            sql = f" GROUP BY {', '.join(each.sql for each in self._separated(self._expression))}"
        return f"{sql} HAVING {self._expression().sql}" if self._take("HAVING") else sql

    def _order_by(self, *, is_top: bool) -> str:
        terms = self._terms() if self._take("ORDER") else []
        if is_top and self._token.kind in ("end", "word"):
            terms += self._row_numbers(has_order=bool(terms))
        if terms and is_top:
            self.query.orders = self.query.orders or self._tokens[self._at - 1].kind != "end"
        return f" ORDER BY {', '.join(terms)}" if terms else ""

    def _row_numbers(self, *, has_order: bool) -> list[str]:
        """Return the order of the tables, also where ORDER BY has ties: SQLite chooses which table is read first."""
        words = {token.upper for token in self._tokens}
        sources = self._scope.sources
        is_rows = all(source.table for source in sources) and not self._scope.is_compound and not self.query.groups
        if not is_rows or not (len(sources) > 1 or "OVER" in words) or self._merges:
            return []
        rowids = [_row_number(source) for source in sources]
        return [each for each in rowids if each] if all(rowids) else []

    def _terms(self) -> list[str]:
        """Return what stands behind ORDER."""
        self._need("BY")
        before, self._scope.in_order = self._scope.in_order, True
        terms = self._separated(self._term)
        self._scope.in_order = before
        return terms

    def _term(self) -> str:
        expr = self._expression()
        self._use(expr)
        word = self._take("ASC", "DESC")
        nulls = f" NULLS {self._take('FIRST', 'LAST')}" if self._take("NULLS") else ""
        return f"{expr.sql}{f' {word}' * bool(word)}{nulls}"

    def _limit(self) -> str:
        sql = ""
        if self._take("LIMIT"):
            self.query.groups = True
            sql = f" LIMIT {self._expression().sql}"
            if word := self._take("OFFSET", ","):
                sql += f"{f' {word}' if word == 'OFFSET' else ','} {self._expression().sql}"
        return sql
