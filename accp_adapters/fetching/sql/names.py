"""What the names of a query are, and what may stand beside what."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Final, TypeAlias

from accp_adapters.fetching.sql.tables import (
    SPELLING,
    Catalog,
    NamedTable,
    StoredColumn,
    find_name,
    quote,
    quoted_name,
    refuse,
    sql_text,
)
from accp_adapters.fetching.sql.tokens import Token, Tokens
from accp_core.references import find_references
from accp_core.tables.values import Kind

__all__ = ["ComparedColumn", "Expr", "Names", "Output", "ResolvedQuery", "Scope", "Source", "merged"]
__all__ += ["join_parents", "name_of_kind", "place", "row_number", "spelling_of"]

_BARE_TEXT: Final = re.compile(r"[^\s,()'\"`;]+")
_NULLS: Final = frozenset(("NULL", "NONE", "NIL", "UNDEFINED"))
_BOOLEANS: Final = {"TRUE": "1", "FALSE": "0"}
_ENDS_TEXT: Final = frozenset(["AND", "OR", "NOT", "IS", "LIKE", "BETWEEN", "GLOB", "COLLATE"])
_EXACT: Final = frozenset(("=", "!=", "IS"))
_NUMERIC: Final = frozenset((Kind.NUMBER, Kind.DURATION, Kind.BOOLEAN))


@dataclass(frozen=True, slots=True)
class ComparedColumn:
    """A column that a query compares with something."""

    table: NamedTable
    column: str
    text: str | None = None
    """The text with which `=` compares it; None: another value or operator."""

    @property
    def stored(self) -> StoredColumn:
        """How it is kept."""
        return self.table.stored.columns[self.column]


@dataclass(slots=True)
class ResolvedQuery:
    """A query as SQLite is given it."""

    sql: str = ""
    tables: list[NamedTable] = field(default_factory=list)
    """The tables in its FROM clauses."""
    words: Sequence[str] = ("SELECT",)
    """Its words and signs, in upper case."""
    comparisons: list[ComparedColumn] = field(default_factory=list)
    """The columns that its conditions compare."""
    used: list[ComparedColumn] = field(default_factory=list)
    """The columns that it compares, sorts or adds by their order."""
    shown: dict[str, StoredColumn] = field(default_factory=dict)
    """The columns of the result that are the greatest or least cell of a column, by their names."""
    shows_rows: bool = False
    """Whether it shows whole rows: `*`."""
    patterns: list[str] = field(default_factory=list)
    """The patterns of LIKE and GLOB; an empty one for what is no text in the query."""

    @property
    def is_scan(self) -> bool:
        """Whether it looks at each row of one table once."""
        looks = sum(word in ("SELECT", "VALUES", "JSON_EACH", "JSON_TREE") for word in self.words)
        return len(self.tables) == 1 and looks <= 1

    def has(self, *words: str) -> bool:
        """Return whether the query contains one of these words."""
        return not self._found.isdisjoint(words)

    @property
    def _found(self) -> frozenset[str]:
        return frozenset(self.words)


@dataclass(frozen=True, slots=True)
class Expr:
    """An expression: its words, and what its values are."""

    first: int = 0
    behind: int = 0
    """The place of its first word, and that behind its last."""
    kind: Kind | None = None
    """None: only the values tell it."""
    column: ComparedColumn | None = None
    """The column whose cells its values are; a text beside it is read as these are."""
    sql: str = ""
    """The name of that column; empty: it is a call or a query of it."""
    literal: Token | None = None
    """The text or the number that it is."""
    text: str | None = None
    """That text."""
    is_extreme: bool = False
    """Whether it is one of the cells of `column`: `max(total)`."""

    @property
    def is_number(self) -> bool:
        """Whether it is a number as it is written."""
        return self.literal is not None and self.text is None


@dataclass(slots=True)
class Source:
    """What stands in a FROM clause."""

    alias: str
    table: NamedTable | None = None
    columns: dict[str, tuple[str, Expr]] = field(default_factory=dict)
    """Of a query in parentheses: its columns by their names without regard to case."""


@dataclass(slots=True)
class Scope:
    """The names of one SELECT."""

    outer: Scope | None = None
    sources: list[Source] = field(default_factory=list)
    outputs: dict[str, tuple[str, Expr]] = field(default_factory=dict)
    """The columns of its result, by their names without regard to case."""
    in_order: bool = False
    """Whether names mean columns of the result first."""
    is_compound: bool = False
    """Whether its rows may be none of its tables."""

    def scopes(self) -> Iterator[Scope]:
        """Yield it and those around it."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.outer


Output: TypeAlias = "tuple[str, Expr]"


class Names(Tokens):
    """Resolves the names of a query, and checks what is compared."""

    def __init__(self, source: str, catalog: Catalog, *, condition: NamedTable | None = None) -> None:
        """Begin with a query of the tables of `catalog`, or with a `condition` of the rows of a table."""
        super().__init__(source)
        self._catalog = catalog
        self._is_condition = condition is not None
        self._named: list[dict[str, list[Output]]] = [{}]
        """The queries of WITH, by their names, with the columns that they have."""
        self._scope = Scope(sources=[] if condition is None else [Source(condition.name, condition)])
        self._left: Expr | None = None
        """What a value is compared with; None: no value is expected."""
        self.query = ResolvedQuery(words=[token.upper for token in self._tokens])

    def _named_value(self) -> Expr:
        start, left = self._at, self._left
        names = self._chain()
        found = self._resolve(names)
        first, is_alone = names[0], len(names) == 1
        if found is None and is_alone and first.upper in (*_NULLS, *_BOOLEANS):
            return self._constant(first)
        if found is not None and not (is_alone and self._means_text(first, found)):
            self._replace(start, found.sql)
            return replace(found, first=start, behind=self._at)
        if left is not None and first.kind != "reference" and (first.kind == "word" or first.text[0] == '"'):
            self._at = start
            return self._bare_text()
        raise self._unknown(".".join(token.text if token.kind == "reference" else token.name for token in names))

    def _constant(self, token: Token) -> Expr:
        """Return what null, true or false is beside what it is compared with."""
        if token.upper in _NULLS:
            token.sql = "NULL"
            return Expr(kind=Kind.NOTHING)
        if self._left is not None and self._left.kind is Kind.TEXT:
            token.sql = sql_text(token.text.lower())
            return Expr(kind=Kind.TEXT, literal=token, text=token.text.lower())
        token.sql = _BOOLEANS[token.upper]
        return Expr(kind=Kind.BOOLEAN, literal=token)

    def _means_text(self, token: Token, found: Expr) -> bool:
        """Return whether a word beside a column of texts is a text, although a column of numbers is called so."""
        if self._left is None or self._left.kind is not Kind.TEXT or token.kind != "word":
            return False
        if self._is_condition and self._token.kind == "word" and self._token.upper not in _ENDS_TEXT:
            return True
        return bool(found.sql) and found.kind is not Kind.TEXT and self._token.text not in tuple("+-*/%")

    def _bare_text(self) -> Expr:
        """Take a text without quotes: a word, and in a condition all words up to AND, OR or a sign."""
        start, first = self._at, self._token
        run = _BARE_TEXT.match(self._source, first.start)
        end = max(run.end() if run and first.kind != "quoted" else 0, first.end)
        if self._is_condition and first.kind != "quoted":
            end = self._end_of_words(end)
        while self._token.kind != "end" and self._token.start < end:
            self._at += 1
        text = first.name if first.kind == "quoted" else self._source[first.start : end]
        self._replace(start, sql_text(text))
        return Expr(start, self._at, Kind.TEXT, literal=first, text=text)

    def _end_of_words(self, end: int) -> int:
        for token in self._tokens[self._at :]:
            if token.start < end:
                continue
            if token.kind not in ("word", "number", "bare") or token.upper in _ENDS_TEXT:
                break
            end = token.end
        return end

    def _resolve(self, names: Sequence[Token]) -> Expr | None:
        """Return what the names that dots join are: a column, or a name that the query gives; None: nothing."""
        if names[0].kind == "reference":
            return self._by_reference(names[0])
        parts = [token.name for token in names]
        is_one = len(parts) == 1
        splits = [(".".join(parts[:split]), ".".join(parts[split:])) for split in range(len(parts))]
        if is_one and self._scope.in_order and (output := self._output(parts[0])):
            return output
        for scope in self._scope.scopes():
            if found := self._first_in(scope, splits, exact=True):
                return found
            if is_one and scope is self._scope and (output := self._output(parts[0])):
                return output
        if self._left is not None and is_one and names[0].kind == "word":
            return None
        splits.reverse()
        return next(filter(None, (self._first_in(scope, splits, exact=False) for scope in self._scope.scopes())), None)

    def _output(self, name: str) -> Expr | None:
        """Return a column of the result that has a name of its own."""
        found = self._scope.outputs.get(name.casefold())
        if found is None:
            return None
        own, expr = found
        is_same = expr.sql and not self._scope.is_compound
        return expr if is_same else replace(expr, sql=quote(own), text=None, literal=None)

    def _first_in(self, scope: Scope, splits: Sequence[tuple[str, str]], *, exact: bool) -> Expr | None:
        return next(filter(None, (self._in_scope(scope, *split, exact=exact) for split in splits)), None)

    def _in_scope(self, scope: Scope, qualifier: str, column: str, *, exact: bool) -> Expr | None:
        sources = [each for each in scope.sources if not qualifier or self._means(each, qualifier)]
        if qualifier and len(sources) > 1:
            sources = [each for each in sources if each.alias.casefold() == qualifier.casefold()] or sources
        found = [(each, expr) for each in sources if (expr := self._find_column(each, column, exact=exact))]
        # USING and NATURAL make one column of several.
        if len(found) > 1 and not qualifier and exact and not self.query.has("USING", "NATURAL"):
            owners = [f"{quoted_name(each.alias)}.{quoted_name(column)}" for each, _ in found]
            raise refuse(f"expected {' or '.join(owners)}, found {column!r}")
        return found[0][1] if found else None

    def _means(self, source: Source, qualifier: str) -> bool:
        if source.alias.casefold() == qualifier.casefold():
            return True
        keys = find_references(qualifier)
        if keys and source.table and self._catalog.key_of(source.table) == keys[0]:
            return True
        return source.table is not None and bool(find_name(qualifier, [source.table.name]))

    def _find_column(self, source: Source, column: str, *, exact: bool) -> Expr | None:
        folded, table = column.casefold(), source.table
        if table is None:
            name, expr = source.columns.get(folded, ("", Expr()))
            sql = f"{quote(source.alias)}." * bool(source.alias) + quote(name)
            return replace(expr, sql=sql, is_extreme=False) if name else None
        names = [name for name in table.columns if name.casefold() == folded]
        if not exact and not names:
            names = find_name(column, table.columns)
            is_repeated = any(name in table.stored.source.repeated for name in names)
            if self._catalog.has_child(table, column) and not is_repeated:
                return None
        if len(names) > 1:
            raise refuse(f"expected one of {', '.join(sorted(map(quoted_name, names)))}; found {column!r}")
        return self._column_of(source, names[0]) if names else None

    def _column_of(self, source: Source, name: str) -> Expr:
        assert source.table is not None
        compared = ComparedColumn(source.table, name)
        return Expr(kind=compared.stored.kind, column=compared, sql=f"{quote(source.alias)}.{quote(name)}")

    def _by_reference(self, token: Token) -> Expr:
        """Return a column that is named by its reference: `$cold.….id`, `$cold.….orders.id`."""
        keys = find_references(token.text)
        rest = token.text.partition(keys[0])[2].strip(".") if keys else ""
        for source in (each for scope in self._scope.scopes() for each in scope.sources if each.table):
            assert source.table is not None
            names = find_name(rest.removeprefix(f"{source.table.name}."), source.table.columns) if rest else []
            if len(names) == 1 and keys and self._catalog.key_of(source.table) == keys[0]:
                return self._column_of(source, names[0])
        raise refuse(f"expected a column, found {token.text!r}; a reference stands behind FROM or JOIN")

    def _unknown(self, name: str, what: str = "a column") -> Exception:
        tables = [each.table for scope in self._scope.scopes() for each in scope.sources if each.table]
        return self._catalog.unknown_column(name, tables, what)

    def _use(self, *exprs: Expr) -> None:
        """Remember columns whose order or numbers count."""
        self.query.used += [expr.column for expr in exprs if expr.column is not None]

    def _shown(self, expr: Expr) -> str:
        """Return how a refusal names an expression."""
        return quoted_name(expr.column.column) if expr.column else self._written(expr.first, expr.behind)

    def _check_number(self, expr: Expr, where: str) -> None:
        """Refuse texts and times where numbers are needed. Where only values show a type, check each at run time."""
        self._use(expr)
        name = self._shown(expr)
        if expr.kind is None:
            self._check_when_run(expr, "number", "+")
        elif expr.kind is Kind.MOMENT and expr.text is None:
            raise refuse(f"expected a number for {where!r}, found the times {name}; write julianday({name})")
        elif expr.kind is Kind.TEXT and expr.text is None:
            raise refuse(f"expected numbers for {where!r}, found {name}, {_told(expr)}; write CAST({name} AS REAL)")

    def _check_when_run(self, expr: Expr, wanted: str, sign: str) -> None:
        """Have each value of an expression checked: beside a number no text has an order, nor a number beside texts."""
        shown = sql_text(self._written(expr.first, expr.behind))
        if not self._tokens[expr.first].sql.startswith("accp_checked("):
            self._enclose(expr.first, expr.behind, "accp_checked(", f", '{wanted}', '{sign}', {shown})")

    def _check_pair(self, left: Expr, right: Expr, sign: str) -> None:
        """Check the two sides of a comparison, and have a text of one read as the cells of the other are."""
        one, other = self._fit(left, right), self._fit(right, left)
        kinds = {one.kind, other.kind}
        for each, beside in ((one, other), (other, one)):
            if each.kind is None and beside.kind in (*_NUMERIC, Kind.TEXT):
                self._check_when_run(each, "text" if beside.kind is Kind.TEXT else "number", sign)
        if kinds & {None, Kind.NOTHING} or kinds <= _NUMERIC:
            self._check_units(one, other)
            return
        if kinds == {Kind.MOMENT}:
            self._check_forms(one, other)
            return
        is_exact = sign in _EXACT and any(each.column and each.column.stored.has_numbers for each in (one, other))
        if len(kinds) > 1 and not is_exact:
            raise self._unlike(one, other, sign)

    def _fit(self, value: Expr, beside: Expr) -> Expr:
        """Return a text as the cells of the column beside it are read, and give SQLite that; any other value."""
        found = fitted(value, beside)
        if found is not value and value.literal is not None and beside.column is not None:
            read = beside.column.stored.typed.read(value.text or "")
            value.literal.sql = sql_text(read) if isinstance(read, str) else repr(read + 0)
        return found

    def _unlike(self, one: Expr, other: Expr, sign: str) -> Exception:
        is_first = other.literal is not None or (other.kind is Kind.TEXT and not one.is_number)
        known, value = (one, other) if is_first else (other, one)
        name = self._shown(known)
        found = repr(value.text) if value.text is not None else self._written(value.first, value.behind)
        if known.kind is Kind.TEXT:
            has_numbers = known.column is not None and known.column.stored.has_numbers
            write = f"{name} {sign} '{found}'" if value.is_number and not has_numbers else f"CAST({name} AS REAL)"
            ways = f"write {write}" + (f", or CAST({name} AS REAL) {sign} {found}" if value.is_number else "")
            return refuse(f"expected a text beside {name}, {_told(known)}, found {found}; {ways}")
        told = f"which is of {name_of_kind(known.column.stored)}" if known.column else f"which is a {known.kind}"
        is_spelled = known.column is not None and known.column.stored.is_spelled
        spelling = f", or {spelling_of(known.column)} for its spelling" if known.column and is_spelled else ""
        if known.kind is Kind.MOMENT:
            return refuse(f"expected a time as {_example(known)} beside {name}, found {found}{spelling}")
        return refuse(f"expected a number beside {name}, {told}, found {found}{spelling}")

    def _check_units(self, one: Expr, other: Expr) -> None:
        units = [each.column.stored.typed.unit if each.column else "" for each in (one, other)]
        if all(units) and units[0] != units[1]:
            found = f"{units[0]!r} and {units[1]!r}"
            raise refuse(f"expected columns of one unit, found {found}; write their factor, as a * 60")

    def _check_forms(self, one: Expr, other: Expr) -> None:
        forms = [_form(each.column.stored) if each.column and each.text is None else "" for each in (one, other)]
        if all(forms) and forms[0] != forms[1]:
            raise refuse("expected times of one form, found others; compare datetime(…) of both")


def place(table: NamedTable) -> str:
    """Return the name of a table in the connection of a query."""
    return f"r{table.number}.{quote(table.name)}"


def join_parents(table: NamedTable, catalog: Catalog, alias: str) -> tuple[str, str]:
    """Return the joins of a child table with the tables whose rows hold its rows, and the columns that name those.

    Of the parent that is its name or number, and from there on also the key of the next one.
    """
    link, child = table.stored.source.parent, quote(alias)
    joins, columns, key = "", "", catalog.key_of(table)
    while link is not None:
        parent, name = catalog.find(link.table, key), f"accp_parent_{len(joins)}"
        above = parent.stored.source.parent
        joins += f" LEFT JOIN {place(parent)} AS {name} ON {name}.{quote(link.key)} = {child}.{quote(link.column)}"
        names = dict.fromkeys([*parent.stored.source.naming(link.key), *([above.column] if above else [])])
        columns += "".join(f", {name}.{quote(each)} AS {quote(f'{parent.name}.{each}')}" for each in names)
        link, child = above, name
    return joins, columns


def row_number(source: Source) -> str:
    """Return a name that SQLite gives to the number of a row; "" where columns have all of them."""
    columns = {name.casefold() for name in source.table.columns} if source.table else set()
    name = next((name for name in ("rowid", "_rowid_", "oid") if name not in columns), "")
    return f"{quote(source.alias)}.{name}" if name else ""


def merged(parts: Sequence[Expr]) -> Expr:
    """Return what the values of some expressions in one place are."""
    return replace(reduce(_merged, parts), sql="", is_extreme=False, text=None, literal=None) if parts else Expr()


def _merged(one: Expr, other: Expr) -> Expr:
    one, other = fitted(one, other), fitted(other, one)
    if one.kind is Kind.NOTHING or other.kind is Kind.NOTHING:
        return other if one.kind is Kind.NOTHING else one
    column, kinds = one.column or other.column, {one.kind, other.kind}
    if None in kinds or len(kinds) == 1:
        return Expr(kind=None if None in kinds else one.kind, column=column)
    return Expr(kind=Kind.NUMBER, column=column) if kinds <= _NUMERIC else Expr(kind=Kind.TEXT)


def fitted(value: Expr, beside: Expr) -> Expr:
    """Return a text as the cells of the column beside it are read; any other value as it is."""
    column = beside.column
    if value.text is None or column is None or beside.kind is Kind.TEXT:
        return value
    kind = column.stored.kind
    is_read = kind not in (Kind.TEXT, Kind.NOTHING) and column.stored.typed.read(value.text) is not None
    return replace(value, kind=kind) if is_read else value


def name_of_kind(stored: StoredColumn) -> str:
    """Return in a word what the cells of a typed column are."""
    return {Kind.MOMENT: "times", Kind.BOOLEAN: "true and false"}.get(stored.kind, "numbers")


def _told(expr: Expr) -> str:
    if expr.column is None:
        return "which is a text"
    name, stored = quoted_name(expr.column.column), expr.column.stored
    if stored.holds_json:
        item = "[0]" if stored.kinds.get("arrays") else ".name"
        return f"which is of arrays or objects; see json_extract({name}, '${item}') or json_each({name})"
    few = sorted(stored.few or ())[:3]
    return "which is of texts" + (f" such as {', '.join(map(repr, (text[:20] for text in few)))}" if few else "")


def spelling_of(column: ComparedColumn) -> str:
    """Return the quoted name of the column that holds the spellings of a typed one."""
    return f'"{column.column}{SPELLING}"'


def _example(expr: Expr) -> str:
    form = _form(expr.column.stored) if expr.column else ""
    return {"date": "'2026-01-31'", "clock": "'14:05'"}.get(form, "'2026-01-31T14:05'")


def _form(stored: StoredColumn) -> str:
    """Return in which form the moments of a column are written: those of unlike forms have no order as texts."""
    sample = stored.typed.read("2026-01-31T14:05:00")
    if sample is None:
        return "clock"
    date = stored.typed.read("2026-01-31")
    return "date" if date == "2026-01-31" else str(date)
