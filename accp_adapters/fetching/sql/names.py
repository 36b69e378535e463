"""What the names of a query are, and what stands beside what."""

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
)
from accp_adapters.fetching.sql.tokens import Token, Tokens
from accp_core.references import find_references
from accp_core.tables.values import Kind

__all__ = [
    "ComparedColumn",
    "Expr",
    "Names",
    "Output",
    "ResolvedQuery",
    "Scope",
    "Source",
    "all_merged",
    "fitted",
    "merged",
    "name_of_kind",
    "spelling_of",
    "sql_text",
]

_BARE_TEXT: Final = re.compile(r"[^\s,()'\"`;]+")
_NULLS: Final = frozenset(("NULL", "NONE", "NIL", "UNDEFINED"))
_BOOLEANS: Final = {"TRUE": "1", "FALSE": "0"}
_ENDS_TEXT: Final = frozenset(["AND", "OR", "NOT", "IS", "LIKE", "ILIKE", "BETWEEN", "GLOB", "COLLATE"])
_EXACT: Final = frozenset(("=", "!=", "<>", "IS", "IS NOT"))
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
    comparisons: list[ComparedColumn] = field(default_factory=list)
    """The columns that its conditions compare."""
    used: list[ComparedColumn] = field(default_factory=list)
    """The columns that it compares, sorts or adds by their order."""
    shown: dict[int, StoredColumn] = field(default_factory=dict)
    """The columns of the result that are the greatest or least cell of a column, by their place."""
    shows_rows: bool = False
    """Whether it shows whole rows: `*`."""
    looks: int = 0
    """How often it looks at a table."""
    groups: bool = False
    """Whether it groups, or shows a part."""
    patterns: list[str] = field(default_factory=list)
    """The patterns of LIKE and GLOB; an empty one for what is no text in the query."""
    orders: bool = False

    @property
    def is_scan(self) -> bool:
        """Whether it looks at each row of one table once."""
        return len(self.tables) == 1 and self.looks == 1


@dataclass(frozen=True, slots=True)
class Expr:
    """An expression: what SQLite is given, and what its values are."""

    sql: str
    kind: Kind | None = None
    """None: not known, or null."""
    column: ComparedColumn | None = None
    """The column whose cells its values are; a text beside it is read as these are."""
    is_column: bool = False
    """Whether it is that column, and no call or query of it."""
    text: str | None = None
    """The text that it is, where it is one."""
    is_number: bool = False
    """Whether it is a number as it is written."""
    is_extreme: bool = False
    """Whether it is one of the cells of `column`: `max(total)`."""


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
        self.query = ResolvedQuery()

    def _named_value(self) -> Expr:
        start = self._at
        names = self._chain()
        found = self._resolve(names)
        first = names[0]
        is_value = self._left is not None and len(names) == 1
        if found is None and len(names) == 1 and first.kind == "word" and first.upper in _NULLS | set(_BOOLEANS):
            is_null = first.upper in _NULLS
            return Expr("NULL") if is_null else self._boolean(first)
        if found is not None and not (is_value and self._means_text(first, found, start)):
            return found
        if self._left is not None and first.kind != "reference" and (first.kind == "word" or first.text[0] == '"'):
            self._at = start
            return self._bare_text()
        raise self._unknown(".".join(token.text if token.kind == "reference" else token.name for token in names))

    def _boolean(self, token: Token) -> Expr:
        left = self._left
        if left is not None and left.kind is Kind.TEXT:
            return Expr(sql_text(token.text.lower()), Kind.TEXT, text=token.text.lower())
        return Expr(_BOOLEANS[token.upper], Kind.BOOLEAN, is_number=True)

    def _means_text(self, token: Token, found: Expr, start: int) -> bool:
        """Return whether a word beside a column of texts is a text, although a column of numbers is called so."""
        left = self._left
        if left is None or left.kind is not Kind.TEXT or token.kind != "word":
            return False
        if self._is_condition and self._token.kind == "word" and self._token.upper not in _ENDS_TEXT:
            return True
        return found.is_column and found.kind is not Kind.TEXT and self._token.text not in tuple("+-*/%")

    def _bare_text(self) -> Expr:
        """Take a text without quotes: a word, and in a condition all words up to AND, OR or a sign."""
        first = self._token
        if first.kind == "quoted":
            self._at += 1
            return Expr(sql_text(first.name), Kind.TEXT, text=first.name)
        run = _BARE_TEXT.match(self._source, first.start)
        end = max(run.end() if run else first.end, first.end)
        if self._is_condition:
            end = self._end_of_words(end)
        while self._token.kind != "end" and self._token.start < end:
            self._at += 1
        text = self._source[first.start : end]
        return Expr(sql_text(text), Kind.TEXT, text=text)

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
        splits = [(".".join(parts[:split]), ".".join(parts[split:])) for split in range(len(parts))]
        if len(parts) == 1 and self._scope.in_order and (output := self._output(parts[0])):
            return output
        for scope in self._scope.scopes():
            for qualifier, column in splits:
                if found := self._in_scope(scope, qualifier, column, exact=True):
                    return found
            if len(parts) == 1 and scope is self._scope and (output := self._output(parts[0])):
                return output
        is_value = self._left is not None and len(parts) == 1 and names[0].kind == "word"
        for scope in self._scope.scopes() if not is_value else ():
            for qualifier, column in reversed(splits):
                if found := self._in_scope(scope, qualifier, column, exact=False):
                    return found
        return None

    def _output(self, name: str) -> Expr | None:
        """Return a column of the result that has a name of its own."""
        found = self._scope.outputs.get(name.casefold())
        if found is None:
            return None
        own, expr = found
        is_same = expr.is_column and not self._scope.is_compound
        return expr if is_same else replace(expr, sql=quote(own), text=None, is_number=False)

    def _in_scope(self, scope: Scope, qualifier: str, column: str, *, exact: bool) -> Expr | None:
        sources = [each for each in scope.sources if not qualifier or self._means(each, qualifier)]
        if qualifier and len(sources) > 1:
            named = [each for each in sources if each.alias.casefold() == qualifier.casefold()]
            sources = named or sources
        found = [expr for each in sources if (expr := self._find_column(each, column, exact=exact))]
        # USING and NATURAL make one column of several.
        is_joined = any(token.upper in ("USING", "NATURAL") for token in self._tokens)
        if len(found) > 1 and not qualifier and exact and not is_joined:
            owners = [
                f"{quoted_name(each.alias)}.{quoted_name(column)}"
                for each in sources
                if self._find_column(each, column, exact=True)
            ]
            raise refuse(f"expected {' or '.join(owners)}, found {column!r}")
        return found[0] if found else None

    def _means(self, source: Source, qualifier: str) -> bool:
        if source.alias.casefold() == qualifier.casefold():
            return True
        keys = find_references(qualifier)
        if keys and source.table and self._catalog.key_of(source.table) == keys[0]:
            return True
        return source.table is not None and bool(find_name(qualifier, [source.table.name]))

    def _find_column(self, source: Source, column: str, *, exact: bool) -> Expr | None:
        folded = column.casefold()
        if source.table is None:
            found = source.columns.get(folded)
            if found is None:
                return None
            name, expr = found
            sql = f"{quote(source.alias)}.{quote(name)}" if source.alias else quote(name)
            return replace(expr, sql=sql, is_extreme=False)
        names = [name for name in source.table.columns if name.casefold() == folded]
        if not exact and not names:
            if self._catalog.has_child(source.table, column) and not self._repeats(source.table, column):
                return None
            names = find_name(column, source.table.columns)
        if len(names) > 1:
            raise refuse(f"expected one of {', '.join(sorted(map(quoted_name, names)))}; found {column!r}")
        return self._column_of(source, names[0]) if names else None

    def _repeats(self, table: NamedTable, column: str) -> bool:
        return any(name in table.stored.source.repeated for name in find_name(column, table.columns))

    def _column_of(self, source: Source, name: str) -> Expr:
        assert source.table is not None
        compared = ComparedColumn(source.table, name)
        kind = None if compared.stored.kind is Kind.NOTHING else compared.stored.kind
        return Expr(f"{quote(source.alias)}.{quote(name)}", kind, compared, is_column=True)

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

    def _unknown(self, name: str) -> Exception:
        tables = [each.table for scope in self._scope.scopes() for each in scope.sources if each.table]
        return self._catalog.unknown_column(name, tables)

    def _compared(self, expr: Expr, text: str | None = None) -> None:
        if expr.column is not None and expr.is_column:
            self.query.comparisons.append(replace(expr.column, text=text))

    def _use(self, expr: Expr) -> None:
        """Remember a column whose order or numbers count."""
        if expr.column is not None:
            self.query.used.append(expr.column)

    def _check_number(self, expr: Expr, where: str) -> None:
        if expr.kind in (Kind.TEXT, Kind.MOMENT) and expr.text is None:
            name = quoted_name(expr.column.column) if expr.column else expr.sql.replace("`", "")
            if expr.kind is Kind.MOMENT:
                raise refuse(f"expected a number for {where!r}, found the times {name}; write julianday({name})")
            raise refuse(f"expected numbers for {where!r}, found {name}, {_told(expr)}; write CAST({name} AS REAL)")

    def _check_pair(self, left: Expr, right: Expr, sign: str) -> tuple[Expr, Expr]:
        """Return two sides of a comparison, a text of one read as the cells of the other are; or refuse it."""
        one, other = fitted(left, right), fitted(right, left)
        kinds = {one.kind, other.kind}
        if None in kinds or kinds <= _NUMERIC:
            self._check_units(one, other)
            return one, other
        if kinds == {Kind.MOMENT}:
            self._check_forms(one, other)
            return one, other
        is_exact = sign in _EXACT and any(each.column and each.column.stored.has_numbers for each in (one, other))
        if len(kinds) == 1 or Kind.NOTHING in kinds or is_exact:
            return one, other
        raise self._unlike(one, other, sign)

    def _unlike(self, one: Expr, other: Expr, sign: str) -> Exception:
        is_first = other.is_number or other.text is not None or (other.kind is Kind.TEXT and not one.is_number)
        known, value = (one, other) if is_first else (other, one)
        name = quoted_name(known.column.column) if known.column else known.sql.replace("`", "")
        found = repr(value.text) if value.text is not None else value.sql.replace("`", "")
        if known.kind is Kind.TEXT:
            has_numbers = known.column is not None and known.column.stored.has_numbers
            write = f"{name} {sign} '{found}'" if value.is_number and not has_numbers else f"CAST({name} AS REAL)"
            ways = f"write {write}" + (f", or CAST({name} AS REAL) {sign} {found}" if value.is_number else "")
            return refuse(f"expected a text beside {name}, {_told(known)}, found {found}; {ways}")
        told = f"which is of {name_of_kind(known.column.stored)}" if known.column else f"which is a {known.kind}"
        spelling = (
            f", or {spelling_of(known.column)} for its spelling"
            if known.column and known.column.stored.is_spelled
            else ""
        )
        if known.kind is Kind.MOMENT:
            return refuse(f"expected a time as {_example(known)} beside {name}, found {found}{spelling}")
        return refuse(f"expected a number beside {name}, {told}, found {found}{spelling}")

    def _check_units(self, one: Expr, other: Expr) -> None:
        units = [each.column.stored.typed.unit if each.column else "" for each in (one, other)]
        if all(units) and units[0] != units[1]:
            raise refuse(
                f"expected columns of one unit, found {units[0]!r} and {units[1]!r}; write their factor, as a * 60"
            )

    def _check_forms(self, one: Expr, other: Expr) -> None:
        forms = [_form(each.column.stored) if each.column and each.text is None else "" for each in (one, other)]
        if all(forms) and forms[0] != forms[1]:
            raise refuse("expected times of one form, found others; compare datetime(…) of both")


def sql_text(value: str) -> str:
    """Return a text as a literal of SQL, without NUL."""
    doubled = value.replace("'", "''").replace("\0", "")
    return f"'{doubled}'"


def merged(one: Expr, other: Expr) -> Expr:
    """Return what the values of two expressions in one place are."""
    one, other = fitted(one, other), fitted(other, one)
    if one.kind is None or one.sql == "NULL":
        return replace(other, is_column=False, is_extreme=False, text=None, is_number=False)
    if other.kind is None or one.kind is other.kind or {one.kind, other.kind} <= _NUMERIC:
        column = one.column or other.column
        kind = Kind.NUMBER if other.kind in _NUMERIC and one.kind is not other.kind else one.kind
        return Expr(one.sql, kind, column)
    return Expr(one.sql, Kind.TEXT)


def all_merged(parts: Sequence[Expr]) -> Expr:
    """Return what several expressions are together, which is no text of a query."""
    if not parts:
        return Expr("")
    return replace(reduce(merged, parts), text=None, is_number=False)


def fitted(value: Expr, beside: Expr) -> Expr:
    """Return a text as the cells of the column beside it are read; any other value as it is."""
    column = beside.column
    if (
        value.text is None
        or column is None
        or column.stored.kind in (Kind.TEXT, Kind.NOTHING)
        or beside.kind is Kind.TEXT
    ):
        return value
    read = column.stored.typed.read(value.text)
    if read is None:
        return value
    if isinstance(read, str):
        return replace(value, sql=sql_text(read), kind=Kind.MOMENT)
    return replace(value, sql=repr(int(read) if isinstance(read, bool) else read), kind=column.stored.kind)


def name_of_kind(stored: StoredColumn) -> str:
    """Return in a word what the cells of a typed column are."""
    return {Kind.MOMENT: "times", Kind.BOOLEAN: "true and false"}.get(stored.kind, "numbers")


def _told(expr: Expr) -> str:
    if expr.column is None:
        return "which is a text"
    name = quoted_name(expr.column.column)
    if expr.column.stored.holds_json:
        item = "[0]" if expr.column.stored.kinds.get("arrays") else ".name"
        return f"which is of arrays or objects; see json_extract({name}, '${item}') or json_each({name})"
    few = sorted(expr.column.stored.few or ())[:3]
    return "which is of texts" + (f" such as {', '.join(map(repr, (text[:20] for text in few)))}" if few else "")


def spelling_of(column: ComparedColumn) -> str:
    """Return the quoted name of the column that holds the spellings of a typed one."""
    name = f"{column.column}{SPELLING}"
    return f'"{name}"'


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
