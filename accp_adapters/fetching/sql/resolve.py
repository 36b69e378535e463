"""Translate a query as models write it into SQLite's dialect, or refuse it.

SQLite takes a name in double quotes that it does not know for a text, so that a wrong column would be an empty answer;
and it knows neither `customer.name` as one column nor `status = returned`. So every name is resolved here: a column is
written in backticks, which are never a text, and a word that stands where a value is compared becomes one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from accp_adapters.fetching.sql.catalog import Catalog, NamedTable
from accp_adapters.fetching.sql.comparing.comparisons import compare_by_value
from accp_adapters.fetching.sql.comparing.spans import spread_chains
from accp_adapters.fetching.sql.resolver import ComparedColumn, Resolver
from accp_adapters.fetching.sql.scope import FromTable, SqlScope, find_scope, is_keyword, quote
from accp_adapters.fetching.sql.tokens import SqlToken, tokenize

__all__ = ["ResolvedQuery", "resolve_condition", "resolve_select"]

_MERGES: Final = frozenset(("UNION", "EXCEPT", "INTERSECT", "GROUP", "DISTINCT"))
"""Words behind which a row of the result is none of the tables."""
_LOOKS: Final = re.compile(r"SELECT|VALUES|JSON_EACH|JSON_TREE", re.IGNORECASE)


@dataclass(slots=True)
class ResolvedQuery:
    """A query as SQLite is given it."""

    sql: str = ""
    tables: list[NamedTable] = field(default_factory=list)
    """The tables in its FROM clauses."""
    comparisons: list[ComparedColumn] = field(default_factory=list)
    """The columns that its conditions compare."""
    numeric: list[ComparedColumn] = field(default_factory=list)
    """The columns of texts that it compares, sorts or adds as numbers."""
    shows_rows: bool = False
    """Whether it shows whole rows: `*`."""

    @property
    def is_scan(self) -> bool:
        """Whether it looks at each row of one table once."""
        return len(self.tables) == 1 and len(_LOOKS.findall(self.sql)) == 1


def resolve_select(query: str, catalog: Catalog) -> ResolvedQuery:
    """Return a SELECT as SQLite is to run it.

    Raises:
        ProtocolError: E1004, a table, column or function is unknown or ambiguous; E2003, the query is too long.
    """
    query = spread_chains(query)
    tokens = tokenize(query)
    scope = find_scope(tokens, catalog)
    if not scope.sources and not scope.derived and not any(token.upper == "FROM" for token in tokens):
        _add_main(tokens, scope, catalog)
    of_parents = _add_parents(tokens, scope, catalog)
    resolver = Resolver(query, tokens, scope, catalog)
    aliases = [at for at, token in enumerate(tokens) if token.out is not None and token.out == quote(token.name)]
    resolver.resolve()
    numeric = compare_by_value(tokens, resolver, scope, aliases)
    _write_stars(tokens, scope, of_parents)
    _keep_order(tokens, scope)
    sql = _write(query, tokens)
    tables = [source.table for source in scope.sources]
    return ResolvedQuery(sql, tables, resolver.comparisons, numeric, _has_star(tokens))


def resolve_condition(
    condition: str, table: NamedTable, catalog: Catalog, columns: Sequence[str] = ()
) -> ResolvedQuery:
    """Return the SELECT of the rows of `table` that meet a condition.

    Args:
        condition: What stands behind WHERE; empty: all rows.
        table: The table.
        catalog: The tables of the query.
        columns: The columns to show; none: all.

    Raises:
        ProtocolError: E1004, a column or function is unknown; E2003, the condition is too long.
    """
    source = FromTable(table.name, table)
    joins, of_parents = ("", []) if columns else _join_parents(source, catalog)
    scope = SqlScope([source], has_parents=bool(joins))
    condition = spread_chains(condition)
    tokens = tokenize(condition)
    resolver = Resolver(condition, tokens, scope, catalog, is_condition=True)
    resolver.resolve()
    numeric = compare_by_value(tokens, resolver, scope, ())
    names = [f"{quote(table.name)}.{quote(name)}" for name in columns or table.stored.own_columns]
    shown = ", ".join([*names, *([] if columns else of_parents)])
    where = f" WHERE {_write(condition, tokens)}" if tokens else ""
    sql = f"SELECT {shown} FROM r{table.number}.{quote(table.name)}{joins}{where}"
    return ResolvedQuery(sql, [table], resolver.comparisons, numeric, shows_rows=not columns)


def _join_parents(source: FromTable, catalog: Catalog) -> tuple[str, list[str]]:
    """Return the joins of a child table with the tables whose rows hold its rows, and the columns that name those.

    Of the parent that is its name or number, and from there on also the key of the next one.
    """
    link, child = source.table.stored.source.parent, quote(source.alias)
    joins, columns, key = "", [], catalog.key_of(source.table)
    while link is not None:
        parent, alias = catalog.find(link.table, key), f"accp_parent_{len(joins)}"
        above = parent.stored.source.parent
        is_it = f"{alias}.{quote(link.key)} = {child}.{quote(link.column)}"
        joins += f" LEFT JOIN r{parent.number}.{quote(parent.name)} AS {alias} ON {is_it}"
        names = dict.fromkeys([*parent.stored.source.naming(link.key), *([above.column] if above else [])])
        columns += [f"{alias}.{quote(name)} AS {quote(f'{parent.name}.{name}')}" for name in names]
        link, child = above, alias
    return joins, columns


def _add_parents(tokens: Sequence[SqlToken], scope: SqlScope, catalog: Catalog) -> list[str]:
    """Join the only table of a query with its parents where a star shows its rows; return the columns of these."""
    words = {token.upper for token in tokens}
    if len(scope.sources) > 1 or scope.reads_query or scope.calls_table or words & _MERGES:
        return []
    for source in scope.sources:
        joins, columns = _join_parents(source, catalog)
        named = next((token for token in tokens if (token.out or "").endswith(f" AS {quote(source.alias)}")), None)
        if columns and _has_star(tokens) and named is not None:
            scope.has_parents = True
            named.out = f"{named.out}{joins}"
            return columns
    return []


def _add_main(tokens: list[SqlToken], scope: SqlScope, catalog: Catalog) -> None:
    """Add the FROM clause that the model left out, where only one table can be meant."""
    table = catalog.main()
    if table is None:
        return
    scope.sources.append(FromTable(table.name, table))
    ends = ("WHERE", "GROUP", "ORDER", "LIMIT", "HAVING")
    at = next((at for at, token in enumerate(tokens) if token.upper in ends and is_keyword(tokens, at)), len(tokens))
    position = tokens[at].start if at < len(tokens) else tokens[-1].end
    out = f" FROM r{table.number}.{quote(table.name)} AS {quote(table.name)} "
    tokens.insert(at, SqlToken("sign", "", position, position, out))


def _keep_order(tokens: list[SqlToken], scope: SqlScope) -> None:
    """Give the rows of a join or a window the order of their tables, also where ORDER BY has ties.

    Without that SQLite chooses which table is read first. Rows of one table have its order by themselves.
    """
    top = list(_outside_parentheses(tokens))
    words = {tokens[at].upper for at in top if is_keyword(tokens, at)}
    tables = [source for source in scope.sources if not source.start]
    if scope.reads_query or words & _MERGES or not (len(tables) > 1 or "OVER" in words):
        return
    numbers = [f"{quote(each.alias)}.{name}" for each in tables if (name := _row_number(each)) is not None]
    at = next((at for at in top if tokens[at].upper == "LIMIT" and is_keyword(tokens, at)), len(tokens))
    if len(numbers) == len(tables):
        position = tokens[at].start if at < len(tokens) else tokens[-1].end
        out = f"{',' if 'ORDER' in words else ' ORDER BY'} {', '.join(numbers)} "
        tokens.insert(at, SqlToken("sign", "", position, position, out))


def _outside_parentheses(tokens: Sequence[SqlToken]) -> Iterator[int]:
    depth = 0
    for at, token in enumerate(tokens):
        depth -= token.text == ")"
        if not depth:
            yield at
        depth += token.text == "("


def _row_number(source: FromTable) -> str | None:
    """Return a name that SQLite gives to the number of a row; None where columns have all of them."""
    columns = {name.casefold() for name in source.table.columns}
    return next((name for name in ("rowid", "_rowid_", "oid") if name not in columns), None)


def _write(source: str, tokens: Sequence[SqlToken]) -> str:
    """Return the query with the blanks of the source."""
    parts, at = [], 0
    for token in tokens:
        if token.start >= at:
            parts.append(source[at : token.start])
        parts.append(token.text if token.out is None else token.out)
        at = max(at, token.end)
    return "".join(parts)


def _has_star(tokens: Sequence[SqlToken]) -> bool:
    return any(_is_star(tokens, at) for at in range(len(tokens)))


def _is_star(tokens: Sequence[SqlToken], at: int) -> bool:
    """Return whether a star shows all columns: it is no operand and not that of `count(*)`."""
    previous = tokens[at - 1].upper if at else ""
    return tokens[at].text == "*" and previous in ("SELECT", "DISTINCT", "ALL", ",", ".")


def _write_stars(tokens: Sequence[SqlToken], scope: SqlScope, of_parents: Sequence[str]) -> None:
    """Write the columns for a star, but for those that say again what others or child tables say."""
    for at in range(len(tokens)):
        if not _is_star(tokens, at) or scope.reads_query or scope.calls_table:
            continue
        visible = scope.visible(at)
        sources = [each for each in visible if each.start == max(each.start for each in visible)]
        if tokens[at - 1].text == ".":
            first = max(before for before in range(at - 1) if tokens[before].out)
            sources = [each for each in sources if quote(each.alias) == tokens[first].out]
            tokens[first].out = tokens[at - 1].out = ""
        names = [f"{quote(each.alias)}.{quote(name)}" for each in sources for name in each.table.stored.own_columns]
        tokens[at].out = ", ".join([*names, *of_parents])
