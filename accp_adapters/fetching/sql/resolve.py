"""Read a query as models write it, and write it for SQLite: its names as the tables have them, its texts in quotes.

SQLite takes a name in double quotes that it does not know for a text, has every text above every number, and knows
neither `customer.name` as one column nor `status = returned`. So a query is parsed here. Each name is resolved; a text
beside a column is read as its cells are ("03/04/2026" is a day, "$1,200" a number); and what can only be answered
wrongly is refused with the way out: a column of texts beside a number, or added; a moment beside a text that is none.
Everything else is as SQLite documents it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Final, TypeAlias

from accp_adapters.fetching.sql.functions import CALLS, TABLE_FUNCTIONS
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
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError
from accp_core.references import find_references
from accp_core.tables.values import Kind

__all__ = ["ComparedColumn", "ResolvedQuery", "resolve_condition", "resolve_select", "split_parts"]

_MAX_CHARS: Final = 10_000
"""Characters of a query."""
_MAX_DEPTH: Final = 60
"""Parentheses, calls and signs within each other."""
_MAX_SHOWN: Final = 60

# A reference may be followed by the name of one of its tables: `$cold.….orders`.
_TOKEN: Final = re.compile(
    r"""(?P<blank>\s+)
      | (?P<comment>--|/\*)
      | (?P<string>'(?:[^']|'')*')
      | (?P<quoted>"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\[\]]*\])
      | (?P<reference>\$[a-z]+\.[A-Za-z0-9_]+(?:\.[^\W\d][\w.]*)?|[a-z]+\.[0-9]{12,29}(?![\w])(?:\.[^\W\d][\w.]*)?)
      | (?P<number>(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?![\w.:@]|-[0-9][0-9]-))
      | (?P<bare>[0-9][^\s,()'"`;<>=!|&]*)
      | (?P<word>[^\W\d][\w$]*)
      | (?P<sign>===|<=>|->>|->|==|!=|<>|<=|>=|<<|>>|\|\||&&|[-+*/%<>=~,.()|&!:@#])
    """,
    re.VERBOSE,
)
_BARE_TEXT: Final = re.compile(r"[^\s,()'\"`;]+")
_SUM_OF_NUMBERS: Final = re.compile(r"[0-9]+(?:\.[0-9]+)?(?:[-+*/%][0-9]+(?:\.[0-9]+)?)+")
_NULLS: Final = frozenset(("NULL", "NONE", "NIL", "UNDEFINED"))
_BOOLEANS: Final = {"TRUE": "1", "FALSE": "0"}
_PRESENT: Final = frozenset(("CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP"))
_EQUALS: Final = {"=": "=", "==": "=", "===": "=", "!=": "!=", "<>": "<>", "<=>": "IS"}
_ORDERS: Final = frozenset(("<", ">", "<=", ">="))
_EXACT: Final = frozenset(("=", "!=", "<>", "IS", "IS NOT"))
_PATTERNS: Final = {"LIKE": "LIKE", "ILIKE": "LIKE", "GLOB": "GLOB"}
_COMPARES: Final = frozenset(
    (*_EQUALS, *_ORDERS, *_PATTERNS, *["IS", "IN", "BETWEEN", "ISNULL", "NOTNULL", "NOT", "!"])
)
_NEGATED: Final = ("IN", "LIKE", "ILIKE", "GLOB", "BETWEEN", "NULL")
_JOINTS: Final = {"OR": "OR", "AND": "AND", "&&": "AND"}
_ADDITIVE: Final = ("&", "|", "<<", ">>", "+", "-", "*", "/", "%")
_LEVELS: Final = (
    ("OR",), ("AND", "&&"), (),
    (*_EQUALS, "IS", "IN", "BETWEEN", "ISNULL", "NOTNULL", "NULL", "REGEXP", "MATCH", "RLIKE", *_PATTERNS),
    ("<", ">", "<=", ">="), ("&", "|", "<<", ">>", "+", "-"), ("*", "/", "%"), ("||", "->", "->>"), ("COLLATE",), (),
)  # fmt: skip
_BINDS: Final = {word: level for level, words in enumerate(_LEVELS) for word in words}
"""How tightly each operator binds."""
_NEGATION, _EQUALITY, _ADDITION, _CONCATENATION, _UNARY = 2, 3, 5, 7, 9
_JOINS: Final = frozenset(["JOIN", "LEFT", "RIGHT", "FULL", "INNER", "OUTER", "CROSS", "NATURAL"])
_CLAUSES: Final = {
    "FROM": (), "WHERE": (), "GROUP": ("BY",), "ORDER": ("BY",), "HAVING": (), "LIMIT": (), "OFFSET": (),
    "UNION": ("SELECT", "ALL", "VALUES", "("), "EXCEPT": ("SELECT", "VALUES", "("), "INTERSECT": ("SELECT", "VALUES"),

}  # fmt: skip
"""The words that begin a clause, some only before one of those on the right."""
_ENDS_TEXT: Final = frozenset(["AND", "OR", "NOT", "IS", "LIKE", "ILIKE", "BETWEEN", "GLOB", "COLLATE"])
_DATES: Final = frozenset(("date", "datetime", "time", "julianday", "strftime", "unixepoch"))
_SOME: Final = "count, sum, avg, min, max, total, round, substr, instr, lower, coalesce, json_extract, strftime"
_KINDS: Final = {"adds": Kind.NUMBER, "counts": Kind.NUMBER, "writes": Kind.TEXT, "tests": Kind.BOOLEAN}
"""What calls give."""
_NUMERIC: Final = frozenset((Kind.NUMBER, Kind.DURATION, Kind.BOOLEAN))
_CAST_TO_NUMBER: Final = ("INTEGER", "INT", "REAL", "NUMERIC", "FLOAT", "DOUBLE", "DECIMAL", "BIGINT")


@dataclass(frozen=True, slots=True)
class _Token:
    """A word of a query."""

    kind: str
    """`string`, `quoted` (a quoted name), `reference`, `number`, `bare` (a text that begins with a digit), `word`,
    `sign` or `end`."""
    text: str
    start: int
    end: int

    @property
    def upper(self) -> str:
        """The text of a word in upper case, to compare it with keywords; of any other token, its text."""
        return self.text.upper() if self.kind == "word" else self.text

    @property
    def is_name(self) -> bool:
        """Whether it can be a name."""
        return self.kind in ("word", "quoted")

    @property
    def name(self) -> str:
        """The name or the string without its quotes."""
        if self.kind not in ("quoted", "string"):
            return self.text
        mark, inner = self.text[-1], self.text[1:-1]
        return inner if mark == "]" else inner.replace(mark * 2, mark)


def _tokenize(query: str) -> list[_Token]:
    """Return the tokens of one statement, and one that is its end; a semicolon at its end is left out."""
    if len(query) > _MAX_CHARS:
        reason = f"expected a query of at most {_MAX_CHARS:,} characters, found {len(query):,}"
        raise ProtocolError(reason, code=ErrorCode.BUDGET_EXCEEDED)
    text = query.rstrip().rstrip(";").rstrip()
    tokens: list[_Token] = []
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None or found.lastgroup == "comment":
            raise refuse(f"expected one SELECT without comments or parameters, found {text[at : at + _MAX_SHOWN]!r}")
        kind, end = str(found.lastgroup), found.end()
        if kind == "bare" and (_SUM_OF_NUMBERS.fullmatch(found[0]) and not re.match(r"\d{4}-\d\d", found[0])):
            # `10-5` is a difference.
            kind, end = "number", at + len(re.match(r"[0-9]+(?:\.[0-9]+)?", found[0])[0])  # type: ignore[index]
        if kind != "blank":
            tokens.append(_Token(kind, text[at:end], at, end))
        at = end
    return [*_with_or(tokens), _Token("end", "", len(text), len(text))]


def _with_or(tokens: list[_Token]) -> list[_Token]:
    """Return the tokens with OR for each `||` between conditions; between texts it joins them, as in SQL."""
    bars = [at for at, token in enumerate(tokens) if token.text == "||"]
    if not bars:
        return tokens
    changed = list(tokens)
    for at in bars:
        sides = (_side(tokens, at, -1), _side(tokens, at, 1))
        if all(_COMPARES.intersection(token.upper for token in side) for side in sides):
            changed[at] = replace(tokens[at], kind="word", text="OR")
    return changed


def _side(tokens: Sequence[_Token], at: int, step: int) -> list[_Token]:
    """Return the tokens beside a sign up to the next AND, OR, comma, keyword or parenthesis around it."""
    ends = {"AND", "OR", "&&", "||", ",", "WHERE", "SELECT", "ON", "HAVING", "WHEN", "THEN", "ELSE", "BY", "LIMIT"}
    opening, closing = ("(", ")") if step > 0 else (")", "(")
    depth, found = 0, []
    at += step
    while 0 <= at < len(tokens):
        token = tokens[at]
        if depth == 0 and (token.text == closing or token.upper in ends):
            break
        depth += (token.text == opening) - (token.text == closing)
        found.append(token)
        at += step
    return found


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
class _Expr:
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
class _Source:
    """What stands in a FROM clause."""

    alias: str
    table: NamedTable | None = None
    columns: dict[str, tuple[str, _Expr]] = field(default_factory=dict)
    """Of a query in parentheses: its columns by their names without regard to case."""


@dataclass(slots=True)
class _Scope:
    """The names of one SELECT."""

    outer: _Scope | None = None
    sources: list[_Source] = field(default_factory=list)
    outputs: dict[str, tuple[str, _Expr]] = field(default_factory=dict)
    """The columns of its result, by their names without regard to case."""
    in_order: bool = False
    """Whether names mean columns of the result first."""
    is_compound: bool = False

    def scopes(self) -> Iterator[_Scope]:
        """Yield it and those around it."""
        scope: _Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.outer


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
    for token in _tokenize(query):
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


def _text(value: str) -> str:
    doubled = value.replace("'", "''").replace("\0", "")
    return f"'{doubled}'"


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


_Output: TypeAlias = "tuple[str, _Expr]"


class _Parser:
    """One walk through a query, by recursive descent; each method returns what SQLite is given of its part."""

    def __init__(self, source: str, catalog: Catalog, *, condition: NamedTable | None = None) -> None:
        self._source = source
        self._tokens = _tokenize(source)
        self._at = 0
        self._depth = 0
        self._catalog = catalog
        self._is_condition = condition is not None
        self._named: list[dict[str, list[_Output]]] = [{}]
        """The queries of WITH, by their names, with the columns that they have."""
        self._scope = _Scope(sources=[] if condition is None else [_Source(condition.name, condition)])
        self._left: _Expr | None = None
        """What a value is compared with; None: no value is expected."""
        self.query = ResolvedQuery()

    # -- tokens

    @property
    def _token(self) -> _Token:
        return self._tokens[self._at]

    def _ahead(self, steps: int = 1) -> str:
        return self._tokens[min(self._at + steps, len(self._tokens) - 1)].upper

    def _take(self, *words: str) -> str:
        """Return the next word if it is one of these, and go behind it; else ""."""
        if self._token.kind in ("word", "sign") and self._token.upper in words:
            self._at += 1
            return self._tokens[self._at - 1].upper
        return ""

    def _need(self, word: str, where: str = "") -> None:
        if not self._take(word):
            raise self._unexpected(f"{word}{where}")

    def _unexpected(self, expected: str) -> ProtocolError:
        found = self._source[self._token.start : self._token.start + _MAX_SHOWN]
        return refuse(f"expected {expected}, found {found!r}" if found else f"expected {expected}, found the end")

    def _close(self, opening: int) -> None:
        if self._token.kind == "end":
            before = self._tokens[opening - 1] if opening and self._tokens[opening - 1].kind == "word" else None
            shown = f"{before.text if before else ''}("
            raise refuse(f"expected ) for each (, found {shown!r} without it")
        self._need(")")

    @property
    def _merges(self) -> bool:
        """Return whether rows of the result may be none of the tables."""
        return any(token.upper in ("UNION", "EXCEPT", "INTERSECT", "GROUP", "DISTINCT") for token in self._tokens)

    def _is_clause(self) -> bool:
        word = self._token.upper
        if self._token.kind != "word" or word not in _CLAUSES:
            return False
        return not _CLAUSES[word] or self._ahead() in _CLAUSES[word]

    def _within(self) -> None:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise refuse(f"expected a query of at most {_MAX_DEPTH} levels, found more")

    # -- statements

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

    def _select(self, *, is_top: bool = False) -> tuple[str, list[_Output]]:
        """Return a SELECT with what stands before and behind it, and its columns."""
        self._within()
        beginning = self._with() if self._token.upper == "WITH" else ""
        outer, self._scope = self._scope, _Scope(self._scope)
        first = self._scope
        parts, outputs = [self._core(is_top=is_top)], list(first.outputs.values())
        while word := self._take("UNION", "EXCEPT", "INTERSECT"):
            first.is_compound = True
            word += " ALL" if self._take("ALL") else ""
            self._scope = _Scope(outer)
            parts += [word, self._core(is_top=False)]
            outputs = [
                (name, _merged(a, b)) for (name, a), (_, b) in zip(outputs, self._scope.outputs.values(), strict=False)
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

    def _name(self) -> str:
        if not self._token.is_name and self._token.kind != "string":
            raise self._unexpected("a name")
        self._at += 1
        return self._tokens[self._at - 1].name

    def _names_in_parentheses(self) -> list[str]:
        self._need("(")
        names = [self._name()]
        while self._take(","):
            names.append(self._name())
        self._need(")")
        return names

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
            rows = [f"({', '.join(self._list())})"]
            while self._take(","):
                rows.append(f"({', '.join(self._list())})")
            return f"VALUES {', '.join(rows)}"
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
        self._scope.sources.append(_Source(table.name, table))
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
            outer, self._scope = self._scope, _Scope(self._scope.outer)
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
            outputs = [(name, _Expr("")) for name in given]
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
        self._scope.sources.append(_Source(alias, table))
        self.query.tables.append(table)
        return f"{_place(table)} AS {quote(alias)}"

    def _chain(self) -> list[_Token]:
        """Take names that dots join."""
        if not self._token.is_name and self._token.kind != "reference":
            raise self._unexpected("a table")
        names = [self._token]
        self._at += 1
        while self._token.text == "." and self._tokens[self._at + 1].is_name:
            names.append(self._tokens[self._at + 1])
            self._at += 2
        return names

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
        raise refuse(f"expected a table behind FROM or JOIN, found the path {path[:_MAX_SHOWN]!r}; {reason}")

    def _derived(self, outputs: Sequence[_Output], alias: str) -> str:
        columns = {name.casefold(): (name, replace(expr, text=None, is_number=False)) for name, expr in outputs}
        self._scope.sources.append(_Source(alias, None, columns))
        return f" AS {quote(alias)}" if alias else ""

    def _with_named(self, name: str) -> list[_Output] | None:
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

    # -- the parts of a SELECT

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

    def _star(self) -> tuple[list[_Source], list[str]] | None:
        """Take `*` or `orders.*`; the columns that it shows do not say again what others or child tables say."""
        start = self._at
        names: list[_Token] = []
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

    def _columns_of_star(self, source: _Source, *, is_alone: bool) -> list[str]:
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
            terms = [self._expression().sql]
            while self._take(","):
                terms.append(self._expression().sql)
            sql = f" GROUP BY {', '.join(terms)}"
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
        terms = []
        while True:
            expr = self._expression()
            self._use(expr)
            word = self._take("ASC", "DESC")
            nulls = f" NULLS {self._take('FIRST', 'LAST')}" if self._take("NULLS") else ""
            terms.append(f"{expr.sql}{f' {word}' * bool(word)}{nulls}")
            if not self._take(","):
                break
        self._scope.in_order = before
        return terms

    def _limit(self) -> str:
        sql = ""
        if self._take("LIMIT"):
            self.query.groups = True
            sql = f" LIMIT {self._expression().sql}"
            if word := self._take("OFFSET", ","):
                sql += f"{f' {word}' if word == 'OFFSET' else ','} {self._expression().sql}"
        return sql

    # -- conditions and expressions

    def _expression(self, level: int = 0) -> _Expr:
        """Return an expression that is no value beside another."""
        return self._beside(None, level)

    def _beside(self, left: _Expr | None, level: int = _ADDITION) -> _Expr:
        """Return what is compared with `left`, which may be a text without quotes."""
        before, self._left = self._left, left
        found = self._operators(level)
        self._left = before
        return found

    def _operators(self, level: int) -> _Expr:
        """Return an expression of operators that bind at least as `level` does."""
        self._within()
        found = self._prefix(level)
        while True:
            is_not = self._token.upper == "NOT" and self._ahead() in _NEGATED
            word = self._ahead() if is_not else self._token.upper
            is_list = word != "IN" or self._ahead(1 + is_not) == "("
            if self._token.kind not in ("word", "sign") or _BINDS.get(word, -1) < level or not is_list:
                break
            self._at += 1 + is_not
            found = self._operator(found, word, is_not)
        self._depth -= 1
        return found

    def _prefix(self, level: int) -> _Expr:
        word = self._token.upper
        if word in ("NOT", "!") and level <= _NEGATION and self._ahead() != ".":
            self._at += 1
            return _Expr(f"NOT ({self._operators(_NEGATION).sql})", Kind.BOOLEAN)
        if word in ("-", "+", "~") and self._token.kind == "sign":
            self._at += 1
            inner = self._operators(_UNARY)
            self._check_number(inner, word)
            return _Expr(f"{word}{' ' * inner.sql.startswith(word)}{inner.sql}", Kind.NUMBER, is_number=inner.is_number)
        return self._primary()

    def _operator(self, left: _Expr, word: str, is_not: bool) -> _Expr:
        """Return an operator, which was taken, with its operands."""
        if word in _JOINTS:
            return _Expr(f"{left.sql} {_JOINTS[word]} {self._expression(_BINDS[word] + 1).sql}", Kind.BOOLEAN)
        if word in _ADDITIVE:
            right = self._expression(_BINDS[word] + 1)
            for each in (left, right):
                self._check_number(each, word)
                self._use(each)
            return _Expr(f"{left.sql} {word} {right.sql}", Kind.NUMBER)
        if word in ("||", "->", "->>"):
            right = self._beside(left if self._token.text[:1] == '"' else None, _CONCATENATION + 1)
            if word == "||" and Kind.BOOLEAN in (left.kind, right.kind):
                raise refuse("expected OR between conditions, found '||', which joins texts")
            return _Expr(f"{left.sql} {word} {right.sql}", Kind.TEXT if word == "||" else None)
        if word == "COLLATE":
            return replace(left, sql=f"{left.sql} COLLATE {quote(self._name())}", is_column=False)
        self._compared(left)
        if word in ("ISNULL", "NOTNULL", "NULL"):
            return _Expr(f"{left.sql} {'NOTNULL' if word == 'NULL' else word}", Kind.BOOLEAN)
        return self._comparison(left, word, "NOT " * is_not)

    def _comparison(self, left: _Expr, word: str, negated: str) -> _Expr:
        if word in ("REGEXP", "MATCH", "RLIKE"):
            # An expression may take time without end.
            raise refuse(f"expected LIKE '%a%', GLOB '*a[0-9]*', OR or words, found {word!r}")
        if word in _ORDERS:
            return self._order(left, word)
        if word == "BETWEEN":
            _, low = self._check_pair(left, self._beside(left), "<=")
            self._need("AND", " of BETWEEN")
            left, high = self._check_pair(left, self._beside(left), "<=")
            self._use(left)
            return _Expr(f"{left.sql} {negated}BETWEEN {low.sql} AND {high.sql}", Kind.BOOLEAN)
        if word == "IN":
            return _Expr(f"{left.sql} {negated}IN ({self._members(left)})", Kind.BOOLEAN)
        if word in _PATTERNS:
            return self._like(left, _PATTERNS[word], negated)
        is_word = word == "IS"
        sign = f"IS{' NOT' * bool(self._take('NOT'))}" if is_word else _EQUALS[word]
        if is_word and self._take("DISTINCT"):
            self._need("FROM")
            sign = "IS" if sign == "IS NOT" else "IS NOT"
        right = self._beside(left, _EQUALITY + 1)
        if right.sql == "NULL" and not is_word:
            sign = "IS" if sign in ("=", "IS") else "IS NOT"
        one, other = self._check_pair(left, right, "=" if is_word else sign)
        self._compared(one, other.text if sign == "=" else None)
        self._compared(other)
        return _Expr(f"{one.sql} {sign} {other.sql}", Kind.BOOLEAN)

    def _order(self, left: _Expr, sign: str) -> _Expr:
        parts: list[str] = []
        while sign:
            right = self._beside(left)
            one, other = self._check_pair(left, right, sign)
            for each in (one, other):
                self._compared(each)
                self._use(each)
            # `1 <= id <= 3` is both.
            parts.append(f"{one.sql} {sign} {other.sql}")
            left, sign = right, self._take(*_ORDERS)
        return _Expr(parts[0] if len(parts) == 1 else f"({' AND '.join(parts)})", Kind.BOOLEAN)

    def _members(self, left: _Expr) -> str:
        """Return what stands in the parentheses behind IN."""
        opening = self._at
        self._need("(")
        if self._token.upper in ("SELECT", "WITH", "VALUES"):
            sql, outputs = self._select()
            if len(outputs) == 1:
                self._check_pair(left, outputs[0][1], "=")
        else:
            members: list[str] = []
            while self._token.text != ")":
                members.append(self._check_pair(left, self._beside(left), "=")[1].sql)
                if not self._take(","):
                    break
            sql = ", ".join(members)
        self._close(opening)
        return sql

    def _like(self, left: _Expr, word: str, negated: str) -> _Expr:
        right = self._beside(left)
        escape = f" ESCAPE {self._expression(_ADDITION).sql}" if self._take("ESCAPE") else ""
        self.query.patterns.append("" if escape else right.text or "")
        column = left.column if left.is_column else None
        if column and column.stored.is_spelled and not _fits_values(column.stored, right.text):
            told = f"{quoted_name(column.column)}, which is of {_called(column.stored)}"
            raise refuse(f"expected {_spelling_of(column)} {word} …, found {told}")
        return _Expr(f"{left.sql} {negated}{word} {right.sql}{escape}", Kind.BOOLEAN)

    def _primary(self) -> _Expr:
        token, word = self._token, self._token.upper
        if token.text == "(":
            return self._parenthesis()
        if token.kind == "string":
            self._at += 1
            return _Expr(_text(token.name), Kind.TEXT, text=token.name)
        if token.kind == "number":
            self._at += 1
            return _Expr(token.text, Kind.NUMBER, is_number=True)
        if token.kind == "bare" and self._left is not None:
            return self._bare_text()
        if word == "CASE" and not self._is_column_name():
            return self._case()
        if word == "EXISTS" and self._ahead() == "(":
            self._at += 1
            inner = self._parenthesis()
            return _Expr(f"EXISTS {inner.sql}", Kind.BOOLEAN)
        if word in _PRESENT:
            raise refuse_present_time(token.text)
        if token.kind == "word" and self._ahead() == "(" and word != "IN":
            return self._call()
        if token.is_name or token.kind == "reference":
            return self._named_value()
        raise self._unexpected("a column or a value")

    def _is_column_name(self) -> bool:
        return (
            any(source.table and self._token.text in source.table.columns for source in self._scope.sources)
            and self._ahead() != "WHEN"
        )

    def _parenthesis(self) -> _Expr:
        opening = self._at
        self._at += 1
        if self._token.upper in ("SELECT", "WITH", "VALUES"):
            sql, outputs = self._select()
            self._close(opening)
            inner = outputs[0][1] if len(outputs) == 1 else _Expr("")
            return replace(inner, sql=f"({sql})", is_column=False, is_extreme=False, text=None, is_number=False)
        self._within()
        found = self._operators(0)
        self._depth -= 1
        if self._token.text == ",":
            parts = [found.sql]
            while self._take(","):
                parts.append(self._expression().sql)
            self._close(opening)
            return _Expr(f"({', '.join(parts)})")
        self._close(opening)
        return replace(found, sql=f"({found.sql})")

    def _case(self) -> _Expr:
        self._within()
        start = self._at
        self._at += 1
        base = None if self._token.upper == "WHEN" else self._expression()
        parts = [f"CASE{f' {base.sql}' if base else ''}"]
        results: list[_Expr] = []
        while self._take("WHEN"):
            if base is None:
                condition = self._expression().sql
            else:
                _, fitted = self._check_pair(base, self._beside(base), "=")
                condition = fitted.sql
            self._need("THEN")
            results.append(self._result())
            parts.append(f"WHEN {condition} THEN {{}}")
        if self._take("ELSE"):
            results.append(self._result())
            parts.append("ELSE {}")
        if not self._take("END"):
            raise refuse(f"expected END of CASE, found {self._source[self._tokens[start].start :][:_MAX_SHOWN]!r}")
        self._depth -= 1
        merged = _all_merged(results)
        texts = iter([_fitted(each, merged).sql for each in results])
        sql = " ".join(
            part.replace("{}", next(texts), 1) if part.endswith(("THEN {}", "ELSE {}")) else part for part in parts
        )
        return replace(merged, sql=f"{sql} END", is_column=False)

    def _result(self) -> _Expr:
        """Return a value where a name in double quotes that is none is a text."""
        return self._beside(_Expr("", Kind.TEXT) if self._token.text[:1] == '"' else None, 0)

    def _list(self) -> list[str]:
        opening = self._at
        self._need("(")
        found = []
        while self._token.text != ")":
            found.append(self._result().sql)
            if not self._take(","):
                break
        self._close(opening)
        return found

    # -- calls

    def _call(self) -> _Expr:
        token, opening = self._token, self._at + 1
        name = token.text.lower()
        if name == "cast":
            return self._cast()
        if name not in CALLS:
            raise refuse(f"expected a function of SQLite that reads, such as {_SOME}; found {token.text!r}")
        self._at += 2
        distinct = self._take("DISTINCT")
        arguments: list[_Expr] = []
        if self._token.text == "*" and name == "count":
            self._at += 1
            arguments = [_Expr("*")]
        while self._token.text != ")" and self._token.kind != "end":
            arguments.append(self._result() if arguments or self._has_comma(opening) else self._expression())
            if not self._take(","):
                break
        self._close(opening)
        found = self._called(name, arguments, distinct)
        return self._over(found)

    def _has_comma(self, opening: int) -> bool:
        depth = 0
        for token in self._tokens[opening:]:
            depth += (token.text == "(") - (token.text == ")")
            if depth == 0:
                return False
            if depth == 1 and token.text == ",":
                return True
        return False

    def _called(self, name: str, arguments: list[_Expr], distinct: str) -> _Expr:
        _refuse_clock(name, arguments)
        group, is_extreme = CALLS[name], name in ("max", "min")
        for each in arguments[:1] if group == "adds" else ():
            self._check_number(each, name)
            self._use(each)
        self.query.patterns += [""] * (group == "tests")
        result = _Expr("", _KINDS.get(group))
        if group in ("chooses", "looks"):
            first, end = name == "iif", 1 if group == "looks" else None
            result = _all_merged(arguments[first:end])
            arguments[first:end] = [_fitted(each, result) for each in arguments[first:end]]
        for one, other in pairwise(arguments if is_extreme else ()):
            self._check_pair(one, other, "<")
        for each in arguments if is_extreme else ():
            self._use(each)
        sql = f"{name}({f'{distinct} ' * bool(distinct)}{', '.join(each.sql for each in arguments)})"
        is_cell = is_extreme and len(arguments) == 1 and arguments[0].is_column
        return _Expr(sql, result.kind, result.column, is_extreme=is_cell)

    def _over(self, found: _Expr) -> _Expr:
        """Return a call with what stands behind it: FILTER (WHERE …), OVER (…)."""
        if self._token.upper == "FILTER" and self._ahead() == "(":
            opening = self._at + 1
            self._at += 2
            self._need("WHERE")
            found = replace(found, sql=f"{found.sql} FILTER (WHERE {self._expression().sql})")
            self._close(opening)
        if self._token.upper == "OVER":
            self._at += 1
            found = replace(found, sql=f"{found.sql} OVER {self._window()}", is_extreme=False)
        return found

    def _window(self) -> str:
        opening = self._at
        self._need("(")
        parts = []
        if self._take("PARTITION"):
            self._need("BY")
            terms = [self._expression().sql]
            while self._take(","):
                terms.append(self._expression().sql)
            parts.append(f"PARTITION BY {', '.join(terms)}")
        if self._take("ORDER"):
            before, self._scope.in_order = self._scope.in_order, False
            parts.append(f"ORDER BY {', '.join(self._terms())}")
            self._scope.in_order = before
        frame = {"ROWS", "RANGE", "GROUPS", "BETWEEN", "AND", "UNBOUNDED", "PRECEDING", "FOLLOWING", "CURRENT", "ROW"}
        while self._token.upper in frame or self._token.kind == "number":
            parts.append(self._token.upper)
            self._at += 1
        self._close(opening)
        return f"({' '.join(parts)})"

    def _cast(self) -> _Expr:
        opening = self._at + 1
        self._at += 2
        inner = self._expression()
        self._need("AS", " in CAST")
        kind = self._token.upper
        if kind not in (*_CAST_TO_NUMBER, "TEXT", "VARCHAR", "CHAR", "BLOB"):
            raise self._unexpected("CAST(… AS INTEGER), REAL or TEXT")
        self._at += 1
        if self._token.text == "(":
            self._list()
        self._close(opening)
        if kind in _CAST_TO_NUMBER:
            self._use(inner)
        return _Expr(f"CAST({inner.sql} AS {kind})", Kind.NUMBER if kind in _CAST_TO_NUMBER else Kind.TEXT)

    # -- names

    def _named_value(self) -> _Expr:
        start = self._at
        names = self._chain()
        found = self._resolve(names)
        first = names[0]
        is_value = self._left is not None and len(names) == 1
        if found is None and len(names) == 1 and first.kind == "word" and first.upper in _NULLS | set(_BOOLEANS):
            is_null = first.upper in _NULLS
            return _Expr("NULL") if is_null else self._boolean(first)
        if found is not None and not (is_value and self._means_text(first, found, start)):
            return found
        if self._left is not None and first.kind != "reference" and (first.kind == "word" or first.text[0] == '"'):
            self._at = start
            return self._bare_text()
        raise self._unknown(".".join(token.text if token.kind == "reference" else token.name for token in names))

    def _boolean(self, token: _Token) -> _Expr:
        left = self._left
        if left is not None and left.kind is Kind.TEXT:
            return _Expr(_text(token.text.lower()), Kind.TEXT, text=token.text.lower())
        return _Expr(_BOOLEANS[token.upper], Kind.BOOLEAN, is_number=True)

    def _means_text(self, token: _Token, found: _Expr, start: int) -> bool:
        """Return whether a word beside a column of texts is a text, although a column of numbers is called so."""
        left = self._left
        if left is None or left.kind is not Kind.TEXT or token.kind != "word":
            return False
        if self._is_condition and self._token.kind == "word" and self._token.upper not in _ENDS_TEXT:
            return True
        return found.is_column and found.kind is not Kind.TEXT and self._token.text not in tuple("+-*/%")

    def _bare_text(self) -> _Expr:
        """Take a text without quotes: a word, and in a condition all words up to AND, OR or a sign."""
        first = self._token
        if first.kind == "quoted":
            self._at += 1
            return _Expr(_text(first.name), Kind.TEXT, text=first.name)
        run = _BARE_TEXT.match(self._source, first.start)
        end = max(run.end() if run else first.end, first.end)
        if self._is_condition:
            end = self._end_of_words(end)
        while self._token.kind != "end" and self._token.start < end:
            self._at += 1
        text = self._source[first.start : end]
        return _Expr(_text(text), Kind.TEXT, text=text)

    def _end_of_words(self, end: int) -> int:
        for token in self._tokens[self._at :]:
            if token.start < end:
                continue
            if token.kind not in ("word", "number", "bare") or token.upper in _ENDS_TEXT:
                break
            end = token.end
        return end

    def _resolve(self, names: Sequence[_Token]) -> _Expr | None:
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

    def _output(self, name: str) -> _Expr | None:
        """Return a column of the result that has a name of its own."""
        found = self._scope.outputs.get(name.casefold())
        if found is None:
            return None
        own, expr = found
        is_same = expr.is_column and not self._scope.is_compound
        return expr if is_same else replace(expr, sql=quote(own), text=None, is_number=False)

    def _in_scope(self, scope: _Scope, qualifier: str, column: str, *, exact: bool) -> _Expr | None:
        sources = [each for each in scope.sources if not qualifier or self._means(each, qualifier)]
        if qualifier and len(sources) > 1:
            named = [each for each in sources if each.alias.casefold() == qualifier.casefold()]
            sources = named or sources
        found = [expr for each in sources if (expr := self._find_column(each, column, exact=exact))]
        if len(found) > 1 and not qualifier and exact and not self._are_joined(scope, column):
            owners = [
                f"{quoted_name(each.alias)}.{quoted_name(column)}"
                for each in sources
                if self._find_column(each, column, exact=True)
            ]
            raise refuse(f"expected {' or '.join(owners)}, found {column!r}")
        return found[0] if found else None

    def _are_joined(self, scope: _Scope, column: str) -> bool:
        """Return whether USING or NATURAL makes one column of several."""
        return any(token.upper in ("USING", "NATURAL") for token in self._tokens)

    def _means(self, source: _Source, qualifier: str) -> bool:
        if source.alias.casefold() == qualifier.casefold():
            return True
        keys = find_references(qualifier)
        if keys and source.table and self._catalog.key_of(source.table) == keys[0]:
            return True
        return source.table is not None and bool(find_name(qualifier, [source.table.name]))

    def _find_column(self, source: _Source, column: str, *, exact: bool) -> _Expr | None:
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

    def _column_of(self, source: _Source, name: str) -> _Expr:
        assert source.table is not None
        compared = ComparedColumn(source.table, name)
        return _Expr(f"{quote(source.alias)}.{quote(name)}", _kind_of(compared.stored), compared, is_column=True)

    def _by_reference(self, token: _Token) -> _Expr:
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

    # -- what is compared, and how

    def _compared(self, expr: _Expr, text: str | None = None) -> None:
        if expr.column is not None and expr.is_column:
            self.query.comparisons.append(replace(expr.column, text=text))

    def _use(self, expr: _Expr) -> None:
        """Remember a column whose order or numbers count."""
        if expr.column is not None:
            self.query.used.append(expr.column)

    def _check_number(self, expr: _Expr, where: str) -> None:
        if expr.kind in (Kind.TEXT, Kind.MOMENT) and expr.text is None:
            name = quoted_name(expr.column.column) if expr.column else expr.sql.replace("`", "")
            if expr.kind is Kind.MOMENT:
                raise refuse(f"expected a number for {where!r}, found the times {name}; write julianday({name})")
            raise refuse(f"expected numbers for {where!r}, found {name}, {_told(expr)}; write CAST({name} AS REAL)")

    def _check_pair(self, left: _Expr, right: _Expr, sign: str) -> tuple[_Expr, _Expr]:
        """Return two sides of a comparison, a text of one read as the cells of the other are; or refuse it."""
        one, other = _fitted(left, right), _fitted(right, left)
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

    def _unlike(self, one: _Expr, other: _Expr, sign: str) -> Exception:
        is_first = other.is_number or other.text is not None or (other.kind is Kind.TEXT and not one.is_number)
        known, value = (one, other) if is_first else (other, one)
        name = quoted_name(known.column.column) if known.column else known.sql.replace("`", "")
        found = repr(value.text) if value.text is not None else value.sql.replace("`", "")
        if known.kind is Kind.TEXT:
            has_numbers = known.column is not None and known.column.stored.has_numbers
            write = f"{name} {sign} '{found}'" if value.is_number and not has_numbers else f"CAST({name} AS REAL)"
            ways = f"write {write}" + (f", or CAST({name} AS REAL) {sign} {found}" if value.is_number else "")
            return refuse(f"expected a text beside {name}, {_told(known)}, found {found}; {ways}")
        told = f"which is of {_called(known.column.stored)}" if known.column else f"which is a {known.kind}"
        spelling = (
            f", or {_spelling_of(known.column)} for its spelling"
            if known.column and known.column.stored.is_spelled
            else ""
        )
        if known.kind is Kind.MOMENT:
            return refuse(f"expected a time as {_example(known)} beside {name}, found {found}{spelling}")
        return refuse(f"expected a number beside {name}, {told}, found {found}{spelling}")

    def _check_units(self, one: _Expr, other: _Expr) -> None:
        units = [each.column.stored.typed.unit if each.column else "" for each in (one, other)]
        if all(units) and units[0] != units[1]:
            raise refuse(
                f"expected columns of one unit, found {units[0]!r} and {units[1]!r}; write their factor, as a * 60"
            )

    def _check_forms(self, one: _Expr, other: _Expr) -> None:
        forms = [_form(each.column.stored) if each.column and each.text is None else "" for each in (one, other)]
        if all(forms) and forms[0] != forms[1]:
            raise refuse("expected times of one form, found others; compare datetime(…) of both")


def _fits_values(stored: StoredColumn, pattern: str | None) -> bool:
    """Return whether a pattern may be meant of the ISO texts of moments, not of their spellings."""
    return stored.kind is Kind.MOMENT and bool(pattern and re.match(r"[%*]?\d{4}(-|[%*]$)", pattern))


def _refuse_clock(name: str, arguments: Sequence[_Expr]) -> None:
    texts = [each.text and each.text.strip().casefold() for each in arguments]
    if name in _DATES and (len(texts) <= (name == "strftime") or "now" in texts):
        raise refuse_present_time(f"{name}('now')")


def refuse_present_time(found: str) -> ProtocolError:
    """Return the refusal of a query that asks what time it is (E1004)."""
    return refuse(f"expected a date such as '2026-01-05', found {found!r}: a query has no clock")


def _kind_of(stored: StoredColumn) -> Kind | None:
    return None if stored.kind is Kind.NOTHING else stored.kind


def _row_number(source: _Source) -> str:
    """Return a name that SQLite gives to the number of a row; "" where columns have all of them."""
    columns = {name.casefold() for name in source.table.columns} if source.table else set()
    name = next((name for name in ("rowid", "_rowid_", "oid") if name not in columns), "")
    return f"{quote(source.alias)}.{name}" if name else ""


def _merged(one: _Expr, other: _Expr) -> _Expr:
    """Return what the values of two expressions in one place are."""
    one, other = _fitted(one, other), _fitted(other, one)
    if one.kind is None or one.sql == "NULL":
        return replace(other, is_column=False, is_extreme=False, text=None, is_number=False)
    if other.kind is None or one.kind is other.kind or {one.kind, other.kind} <= _NUMERIC:
        column = one.column or other.column
        kind = Kind.NUMBER if other.kind in _NUMERIC and one.kind is not other.kind else one.kind
        return _Expr(one.sql, kind, column)
    return _Expr(one.sql, Kind.TEXT)


def _all_merged(parts: Sequence[_Expr]) -> _Expr:
    if not parts:
        return _Expr("")
    merged = parts[0]
    for each in parts[1:]:
        merged = _merged(merged, each)
    return replace(merged, text=None, is_number=False)


def _fitted(value: _Expr, beside: _Expr) -> _Expr:
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
        return replace(value, sql=_text(read), kind=Kind.MOMENT)
    return replace(value, sql=repr(int(read) if isinstance(read, bool) else read), kind=column.stored.kind)


def _called(stored: StoredColumn) -> str:
    return {Kind.MOMENT: "times", Kind.BOOLEAN: "true and false"}.get(stored.kind, "numbers")


def _told(expr: _Expr) -> str:
    if expr.column is None:
        return "which is a text"
    name = quoted_name(expr.column.column)
    if expr.column.stored.holds_json:
        item = "[0]" if expr.column.stored.kinds.get("arrays") else ".name"
        return f"which is of arrays or objects; see json_extract({name}, '${item}') or json_each({name})"
    few = sorted(expr.column.stored.few or ())[:3]
    return "which is of texts" + (f" such as {', '.join(map(repr, (text[:20] for text in few)))}" if few else "")


def _spelling_of(column: ComparedColumn) -> str:
    name = f"{column.column}{SPELLING}"
    return f'"{name}"'


def _example(expr: _Expr) -> str:
    form = _form(expr.column.stored) if expr.column else ""
    return {"date": "'2026-01-31'", "clock": "'14:05'"}.get(form, "'2026-01-31T14:05'")


def _form(stored: StoredColumn) -> str:
    """Return in which form the moments of a column are written: those of unlike forms have no order as texts."""
    sample = stored.typed.read("2026-01-31T14:05:00")
    if sample is None:
        return "clock"
    date = stored.typed.read("2026-01-31")
    return "date" if date == "2026-01-31" else str(date)
