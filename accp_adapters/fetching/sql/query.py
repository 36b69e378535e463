"""Read a query as models write it, and give SQLite its words: names as the tables have them, texts in quotes.

SQLite takes a name in double quotes that it does not know for a text, has every text above every number, and knows
neither `customer.name` as one column nor `status = returned`. So each name is found; a text beside a column is read
as its cells are ("03/04/2026" is a day, "$1,200" a number); and what can only be answered wrongly is refused with the
way out: a column of texts beside a number, or added; a moment beside a text that is none. The words that need it are
changed where they stand. All others are SQLite's to read, and mean what its documentation says.

Only expressions are read. What stands between them, and where a name is valid, is SQLite's to know. Here a name is
whatever it may be anywhere in the query: a column of a table behind FROM, or what stands before an AS. If these are of
unlike kinds, or only a row tells the kind, as for `json_extract`, each value is checked when the query runs.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise, product
from typing import Final

from accp_adapters.fetching.request import refuse
from accp_adapters.fetching.sql.operands import CONDITION, EQUALS, FORMS, Expr, Operands, ResolvedQuery, Token, union
from accp_adapters.fetching.sql.tables import Catalog, NamedColumn, NamedTable, find_name, quote, quoted_name, sql_text
from accp_core.references import find_references
from accp_core.tables.values import Kind

__all__ = ["CALLS", "TABLE_FUNCTIONS", "in_quotes", "resolve_condition", "resolve_select"]

_NAMES: Final = {
    "adds": "abs avg ceil ceiling floor mod pow power round sign sqrt sum total",
    "counts": """count cume_dist dense_rank json_array_length json_valid julianday ntile percent_rank rank row_number
        unixepoch""",
    "measures": "instr length unicode",
    "cuts": "group_concat lower ltrim replace rtrim substr substring trim upper",
    "writes": "char json_type strftime typeof",
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
_COMPOUND: Final = ("UNION", "UNION ALL", "EXCEPT", "INTERSECT")
_ENDS_FROM: Final = frozenset(("SELECT", "WHERE", "GROUP BY", "ORDER BY", "HAVING", "LIMIT", *_COMPOUND))
_OPENS: Final = _ENDS_FROM | {
    "ALL", "AND", "BETWEEN", "DISTINCT", "ELSE", "OFFSET", "ON", "PARTITION BY", "THEN", "WHEN",
}  # fmt: skip
"""The words before expressions."""
_BETWEEN: Final = _OPENS | {
    "AS", "ASC", "CURRENT ROW", "DESC", "END", "FOLLOWING", "FROM", "NULLS FIRST", "NULLS LAST", "PRECEDING",
    "RANGE", "RECURSIVE", "ROWS", "UNBOUNDED FOLLOWING", "UNBOUNDED PRECEDING", "USING", "WITH",
}  # fmt: skip
"""The words between expressions."""
_BEFORE: Final = frozenset(("ALL", "DISTINCT", "FROM", "SELECT", "WHEN", "WITH"))
"""Those that stand where a value may; any other one is a name there, if there is such a column."""
_NO_CLAUSE: Final = frozenset(("ALL", "AND", "ASC", "DESC", "DISTINCT"))

_ORDERS: Final = ("<", ">", "<=", ">=")
_PATTERNS: Final = ("LIKE", "NOT LIKE", "NOT ILIKE", "GLOB", "NOT GLOB")
_LISTS: Final = ("IN", "NOT IN")
_RANGES: Final = ("BETWEEN", "NOT BETWEEN")
_NULL_TESTS: Final = ("ISNULL", "NOTNULL", "NOT NULL")
_ENDLESS: Final = ("REGEXP", "MATCH", "RLIKE")
_LEVELS: Final = (
    ("OR",), ("AND",), (), (*EQUALS, *_PATTERNS, *_LISTS, *_RANGES, *_NULL_TESTS, *_ENDLESS), _ORDERS,
    ("&", "|", "<<", ">>", "+", "-"), ("*", "/", "%"), ("||", "->", "->>"), (),
)  # fmt: skip
_BINDS: Final = {word: level for level, words in enumerate(_LEVELS) for word in words}
"""How tightly each operator binds."""
_NEGATION, _EQUALITY, _ORDER, _ADDITION, _CONCATENATION, _UNARY = 2, 3, 4, 5, 7, 8

_QUOTED: Final = ("quoted",)
"""The words that are a text behind THEN or in a call of several arguments, if they name nothing."""
_ANY_TEXT: Final = ("quoted", "word", "bare")
"""Those beside something that is compared."""
_BARE_TEXT: Final = re.compile(r"[^\s,()'\"`;]+")
_UNQUOTED: Final = re.compile(r"""(?<![\w."'`\[])\w+(?![\w."'`\]])""")
_CONSTANTS: Final = {
    "NULL": (Kind.NOTHING, "NULL"), "NONE": (Kind.NOTHING, "NULL"),
    "TRUE": (Kind.BOOLEAN, "1"), "FALSE": (Kind.BOOLEAN, "0"),
}  # fmt: skip

_NO_CLOCK: Final = "expected a date such as '2026-01-05', found {!r}: a query has no clock"
_PRESENT: Final = frozenset(("CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP"))
_DATES: Final = (*FORMS, "julianday", "strftime", "unixepoch")
_OF_JSON: Final = ("key", "value", "type", "atom", "fullkey", "path")
"""The columns of json_each and json_tree."""
_SOME: Final = "count, sum, avg, min, max, total, round, substr, instr, lower, coalesce, json_extract, strftime"
_GIVES: Final = {
    **dict.fromkeys(("adds", "counts", "measures"), Kind.NUMBER), **dict.fromkeys(("cuts", "writes"), Kind.TEXT),
    "dates": Kind.MOMENT, "tests": Kind.BOOLEAN,
}  # fmt: skip
_NUMBERS: Final = ("INTEGER", "INT", "REAL", "NUMERIC", "FLOAT", "DOUBLE", "DECIMAL", "BIGINT")
_CASTS: Final = {**dict.fromkeys(_NUMBERS, Kind.NUMBER), **dict.fromkeys(("TEXT", "VARCHAR", "CHAR"), Kind.TEXT)}


def resolve_select(query: str, catalog: Catalog) -> ResolvedQuery:
    """Return a SELECT as SQLite is to run it.

    Raises:
        ProtocolError: E1004, it is not understood, or a table, column or function is unknown or ambiguous; E2003, the
            query is too long.
    """
    return _Parser(query, catalog).whole_select()


def in_quotes(query: str, catalog: Catalog) -> str:
    """Return which columns a SELECT has to quote, because they are words of SQL, as its refusal says it."""
    words = {word.upper() for word in _UNQUOTED.findall(query)} & {*_BETWEEN, "CASE", "JOIN", "NOT"}
    found = {quote(name) for table in catalog.tables for name in table.stored.columns if name.upper() in words}
    return f"; write {', '.join(sorted(found))} for columns".replace("`", '"') if found else ""


def resolve_condition(query: str, table: NamedTable, catalog: Catalog) -> ResolvedQuery:
    """Return the SELECT of the rows of a table that meet a condition.

    Raises:
        ProtocolError: As `resolve_select`.
    """
    return _Parser(query, catalog).whole_condition(table)


class _Parser(Operands):
    """Reads a query, and changes its words where they stand."""

    def __init__(self, source: str, catalog: Catalog) -> None:
        """Begin before the first word."""
        super().__init__(source)
        self._catalog = catalog
        self._given: dict[str, dict[int, Expr]] = defaultdict(dict)
        """What is a column of a result, by its name and its place."""
        self._known: dict[str, dict[str, list[Expr]]] = defaultdict(dict)
        """For each name without regard to case, alone and behind its table, what it is for SQLite, and its values."""
        self._starred: dict[int, list[Expr]] = {}
        """The columns of each table behind FROM, by the place of its name."""
        self._tables: dict[str, str] = {}
        """The aliases of what stands behind FROM, by the names that mean it."""
        self._queries: set[str] = set()
        """The names of the queries of WITH."""
        self._is_order = False
        """Whether a name stands behind ORDER BY, where that of a result comes before that of a column."""
        self._texts: Sequence[str] = ()
        """The kinds of words that are texts where they name nothing."""
        nested = sum(word in ("SELECT", "WITH") for word in self.query.words)
        # The columns of a compound query are what all of its parts have in one place.
        self._is_certain = not self.query.has(*_COMPOUND) or nested == sum(map(self.query.words.count, _COMPOUND)) + 1

    def whole_select(self) -> ResolvedQuery:
        """Return the whole query."""
        self._find_tables()
        self._twice(self._group)
        if self._token.kind != "end":
            raise self._unexpected("the end of the query")
        self.query.sql = self._sql(0, len(self._tokens))
        return self.query

    def _twice(self, walk: Callable[[], object]) -> None:
        """Walk through the query; twice, if names may stand before the AS of an inner query that gives them."""
        if self.query.words.count("SELECT") > 1:
            self._is_checked = False
            walk()
            self._at, self._is_checked = 0, True
        walk()

    def whole_condition(self, table: NamedTable) -> ResolvedQuery:
        """Return the rows of a table that meet a condition."""
        self._add_table(table, table.name)
        if self.query.has("SELECT"):
            self._find_tables()
        self._twice(self._condition)
        own = [name for name, column in table.stored.columns.items() if not column.is_extra]
        shown = ", ".join(f"{quote(table.name)}.{quote(name)}" for name in own)
        condition = self._sql(0, len(self._tokens))
        self.query.sql = f"SELECT {shown} FROM {place(table)} AS {quote(table.name)} WHERE {condition}"
        self.query.shows_rows = True
        return self.query

    def _condition(self) -> None:
        is_condition = self._read().kind is Kind.BOOLEAN
        if self._token.kind != "end":
            raise self._unexpected("AND, OR or the end of the condition; write SELECT … WHERE … for some columns")
        if not is_condition:
            raise self._unknown(self._source, "a column or a condition")

    # What stands between expressions.

    def _find_tables(self) -> None:
        """Find what stands behind FROM, and the names that the query gives it; nothing of this is an expression."""
        expects, levels = False, [(False, False)]
        while self._token.kind != "end":
            word, start = self._token.upper, self._at
            is_list, _ = levels[-1]
            self._at += 1
            if word == "(":
                is_function = self._tokens[start - 1].text.lower() in TABLE_FUNCTIONS
                levels.append((expects and self._token.upper not in ("SELECT", "WITH") and not is_function, expects))
                expects, _ = levels[-1]
            elif word == ")" and len(levels) > 1:
                if levels.pop()[1] and (alias := self._alias()):
                    self._tables[alias.casefold()] = alias
            elif expects and word.lower() in TABLE_FUNCTIONS and self._token.text == "(":
                self.query.sources += 1
                self._tables[word.lower()] = word.lower()
                for name in _OF_JSON:
                    self._know(name, "", Expr())
            elif self._tokens[start].is_name and (self._token.upper, self._ahead()) == ("AS", "("):
                self._with(start)
            elif expects and self._tokens[start].kind in ("word", "quoted", "reference"):
                self._at, expects = start, False
                self._table()
            else:
                is_list = word == "FROM" or word.endswith("JOIN") or (is_list and word not in _ENDS_FROM)
                levels[-1] = (is_list, levels[-1][1])
                expects = is_list and (word in (",", "FROM") or word.endswith("JOIN"))
        self._at = 0

    def _with(self, start: int) -> None:
        """Take the name of a query of WITH."""
        name = self._tokens[start].name
        self._tokens[start].sql = quote(name)
        self._tables[name.casefold()] = name
        self._queries.add(name.casefold())
        self._skip(start, self._at)

    def _skip(self, start: int, behind: int) -> None:
        for token in self._tokens[start:behind]:
            token.kind = "skipped"
        self._at = behind

    def _table(self) -> None:
        start, written = self._at, self._chain()
        behind = self._at
        alias = self._alias()
        if written.casefold() in self._queries:
            self._tables[(alias or written).casefold()] = alias or written
            self._skip(start, self._at)
            return
        table = self._find_table(written)
        self._starred[start] = self._add_table(table, alias or table.name)
        after, self._at = self._at, behind
        self._replace(start, place(table) + f" AS {quote(table.name)}" * (after == behind))
        self._skip(start, after)

    def _find_table(self, written: str) -> NamedTable:
        """Return the table that `orders`, `$cold.…`, or `$cold.….orders` is; an array may have such a name itself."""
        catalog = self._catalog
        if any(table.name == written for table in catalog.tables):
            return catalog.find(written)
        if keys := find_references(written):
            return catalog.find(written.partition(keys[0])[2].strip("./ "), keys[0])
        return catalog.find("", written[1:]) if written.startswith("$cold.") else catalog.find(written)

    def _alias(self) -> str:
        start = self._at
        if self._take("AS") or (self._token.is_name and self._token.upper not in _BETWEEN):
            name = self._name()
            self._skip(start, self._at)
            return name
        return ""

    def _add_table(self, table: NamedTable, alias: str) -> list[Expr]:
        key = self._catalog.keys[table.number]
        self.query.sources += 1
        self.query.tables += [table] * (table not in self.query.tables)
        self._tables[alias.casefold()] = alias
        for qualifier in (table.name, key, f"${key}", f"{key}.{table.name}"):
            self._tables.setdefault(qualifier.casefold(), alias)
        columns = [NamedColumn(table, name) for name in table.stored.columns]
        known = [Expr(kind=each.stored.kind, columns=(each,), name=each.column) for each in columns]
        for expr in known:
            self._know(expr.name, alias, expr)
        return known

    def _know(self, name: str, alias: str, expr: Expr) -> None:
        sql = f"{quote(alias)}.{quote(name)}" if alias else quote(name)
        for written in (name, f"{alias}.{name}")[: 1 + bool(alias)]:
            self._known[written.casefold()].setdefault(sql, []).append(expr)

    def _group(self, texts: Sequence[str] = (), end: str = "") -> list[tuple[str, Expr]]:
        """Take expressions, and the words between them, up to `end` or the end of the parentheses around them.

        Returns:
            Each expression behind the word that begins its clause: SELECT, WHERE, THEN, or "" for none.
        """
        self._within()
        found: list[tuple[str, Expr]] = []
        starts: list[int] = []
        clause, is_behind = "", False
        while self._token.kind == "skipped" or self._token.text not in (")", ""):
            word = self._token.upper
            is_name = not is_behind and word not in _BEFORE and word.casefold() in self._known
            if self._token.kind == "skipped" or word == "," or (word == "*" and not is_behind):
                if word == "*" and clause == "SELECT":
                    self.query.shows_rows |= self._depth == 1
                    found += [("SELECT", each) for each in self._starred.get(self._at + 2, ())]
                self._at += 1
                is_behind = word != ","
            elif word in _BETWEEN and self._token.kind in ("word", "phrase") and not is_name:
                if word == end:
                    break
                clause = clause if word in _NO_CLAUSE else word
                starts += [len(found)] * (word == "SELECT")
                self._at += 1
                is_behind = word not in _OPENS
            elif self._token.kind == "phrase" and word.endswith("JOIN"):
                self._at += 1
            else:
                self._is_order, is_behind = clause == "ORDER BY", True
                found.append((clause, self._item() if clause == "SELECT" else self._read(0, texts)))
                if clause == "ORDER BY":
                    self._use_order(found[-1][1])
        parts = (found[start:end] for start, end in pairwise([*starts, len(found)]))
        for column in zip(*([expr for word, expr in part if word == "SELECT"] for part in parts), strict=False):
            self._check_units(*column)
        self._depth -= 1
        return found

    def _item(self) -> Expr:
        """Take a column of the result."""
        start, expr = self._at, self._read()
        name = self._written(start, self._at).replace("`", "").replace('"', "")
        if self._take("AS") or (self._token.is_name and self._token.upper not in _BETWEEN):
            name = self._name()
        elif expr.name or expr == Expr(start, self._at):
            return expr
        else:
            self._enclose(self._at - 1, self._at, "", f" AS {quote(name)}")
        self._given[name.casefold()][start] = replace(expr, text=None, literal=None, name=name)
        return expr

    # Names.

    def _named_value(self) -> Expr:
        start, first = self._at, self._token
        may_be_text = first.kind in self._texts
        if first.kind == "bare":
            return self._bare_text()
        written = self._chain()
        if self._token.text == "." and self._ahead() == "*":
            return self._star(start, written)
        is_compared = _BINDS.get(self._token.upper) in (_EQUALITY, _ORDER)
        if (first.upper != "NULL" or is_compared) and (found := self._find(written, exact=may_be_text)):
            sql, expr = found
            self._replace(start, sql)
            self.query.names.add(expr.name)
            return expr if self._is_certain else replace(expr, kind=None)
        if first.upper in _CONSTANTS:
            kind, first.sql = _CONSTANTS[first.upper]
            return Expr(kind=kind, literal=first)
        if may_be_text:
            if self._catalog.is_spelling(written, self.query.tables):
                raise self._unknown(written)
            self._at = start
            return self._bare_text()
        if not self._is_checked:
            return Expr()
        raise self._unknown(written)

    def _star(self, start: int, qualifier: str) -> Expr:
        """Take `orders.*`."""
        self._at += 2
        if qualifier.casefold() not in self._tables:
            raise self._unknown(qualifier)
        self._replace(start, f"{quote(self._tables[qualifier.casefold()])}.*")
        self.query.shows_rows |= self._depth <= 2
        return Expr()

    def _bare_text(self) -> Expr:
        """Take a text without quotes, up to a blank, a comma or a parenthesis."""
        start, first = self._at, self._token
        run = None if first.kind == "quoted" else _BARE_TEXT.match(self._source, first.start)
        end = max(run.end() if run else 0, first.end)
        self._at += 1
        while self._token.start < end:
            end = max(end, self._token.end)
            self._at += 1
        text = self._source[first.start : end] if run else first.name
        self._replace(start, sql_text(text))
        return Expr(kind=Kind.TEXT, literal=first, text=text)

    def _find(self, written: str, *, exact: bool) -> tuple[str, Expr] | None:
        """Return for SQLite what a name is, and what its values are; None: nothing has such a name."""
        folded = written.casefold()
        given = self._given[folded].values() if folded in self._given else ()
        found = self._known.get(folded, {}) if not (given and self._is_order) else {}
        if not found and not given and not exact:
            if any(self._catalog.has_child(table, written) for table in self.query.tables):
                return None
            names = find_name(written, list(self._known))
            found = {sql: exprs for name in names for sql, exprs in self._known[name].items()}
        # A column `id.id` comes before the column `id` of a table `id`, and `ID_2` before `id_1` where `ID` is written.
        bases = {sql: each[0].name.rpartition("_")[0] for sql, each in found.items()}
        own = {sql: kept for sql, each in found.items() if (kept := [e for e in each if e.name.casefold() == folded])}
        found = own or {sql: found[sql] for sql, base in bases.items() if f".{written}".endswith(f".{base}")} or found
        exprs = [*(expr for each in found.values() for expr in each), *given]
        names = list(dict.fromkeys(expr.name or written for expr in exprs))
        if len(names) > 1:
            raise refuse(f"expected one of {', '.join(sorted(map(quoted_name, names)))}; found {written!r}")
        if not names:
            return self._in_query(written)
        # A result may have the name, too; in one SELECT, the alias tells a column from one of json_each.
        is_one = len(found) == 1 and not given and self.query.words.count("SELECT") <= 1
        sql = next(iter(found)) if found and (is_one or "." in written) else quote(names[0])
        return sql, replace(union(exprs), name=names[0])

    def _in_query(self, written: str) -> tuple[str, Expr] | None:
        """Return what a name behind that of a subquery is."""
        qualifier = next((each for each in self._tables if written.casefold().startswith(f"{each}.")), "")
        inner = self._find(written[len(qualifier) + 1 :], exact=True) if qualifier else None
        return (f"{quote(self._tables[qualifier])}.{quote(inner[1].name)}", inner[1]) if inner else None

    def _unknown(self, name: str, what: str = "a column") -> Exception:
        return self._catalog.unknown_column(name, self.query.tables, what)

    # Expressions, by how tightly their operators bind.

    def _read(self, level: int = 0, texts: Sequence[str] = ()) -> Expr:
        """Take an expression whose operators bind at least as `level` does.

        Args:
            level: The place in `_LEVELS`.
            texts: The kinds of words that are texts in it if they name nothing.
        """
        self._within()
        before, self._texts = self._texts, texts
        start = self._at
        found = replace(self._prefix(level), first=start, behind=self._at)
        while self._token.kind in ("word", "phrase", "sign") and _BINDS.get(self._token.upper, -1) >= level:
            self._at += 1
            found = replace(self._operator(found, self._last), first=start, behind=self._at)
        self._texts = before
        self._depth -= 1
        return found

    def _prefix(self, level: int) -> Expr:
        word = self._token.upper
        if word == "NOT" and level <= _NEGATION:
            self._at += 1
            before = len(self.query.comparisons)
            self._read(_NEGATION)
            self.query.denied += self.query.comparisons[before:]
            return CONDITION
        if self._take("-", "+", "~"):
            inner = self._read(_UNARY)
            self._check_number(inner, word)
            return Expr(kind=Kind.NUMBER, literal=inner.literal)
        return self._primary()

    def _primary(self) -> Expr:
        token, word = self._token, self._token.upper
        if token.text == "(":
            return self._parenthesis()
        if token.kind in ("string", "number"):
            self._at += 1
            text = token.name if token.kind == "string" else None
            return Expr(kind=Kind.NUMBER if text is None else Kind.TEXT, literal=token, text=text)
        if word in _PRESENT:
            raise refuse(_NO_CLOCK.format(token.text))
        if token.kind == "word" and word == "CASE":
            return self._case()
        if token.kind == "word" and self._ahead() == "(":
            return self._call()
        if token.is_name or token.kind == "reference" or token.kind in self._texts:
            return self._named_value()
        raise self._unexpected("a column or a value")

    def _parenthesis(self) -> Expr:
        is_list = self._last.upper == "USING"
        found = self._parenthesized(self._texts)
        selected = [expr for clause, expr in found if clause == "SELECT"]
        if len(found) > 1 and not selected and not is_list:
            raise refuse("expected one value in parentheses, found several; write a = 1 AND b = 2")
        for _, expr in found if is_list else ():
            self._check_units(*(Expr(columns=(column,)) for column in expr.columns))
        if is_list and any(expr.kind is None for _, expr in found):
            raise refuse("expected columns of one kind behind USING, found others; compare CAST(…) of both behind ON")
        return replace(union(selected), name="") if selected else found[0][1] if found else Expr()

    def _parenthesized(self, texts: Sequence[str] = ()) -> list[tuple[str, Expr]]:
        self._need("(")
        found = self._group(texts)
        self._need(")")
        return found

    def _case(self) -> Expr:
        self._at += 1
        found = self._group(_QUOTED, "END")
        self._need("END")
        bases, tests = ([expr for clause, expr in found if clause == each] for each in ("", "WHEN"))
        for base, test in product(bases[:1], tests):
            self._check_pair(base, test, "=")
        return self._one_of([expr for clause, expr in found if clause in ("THEN", "ELSE")])

    def _one_of(self, parts: Sequence[Expr]) -> Expr:
        """Return what the value of one of some expressions is, and have texts among them read as the others are."""
        self._check_units(*parts)
        known = union([part for part in parts if part.text is None])
        return union([known, *(self._fit(part, known) for part in parts if part.text is not None)])

    def _call(self) -> Expr:
        name = self._token.text.lower()
        if name not in CALLS and name not in TABLE_FUNCTIONS:
            raise refuse(f"expected a function of SQLite that reads, such as {_SOME}; found {self._token.text!r}")
        self._at += 1
        if name == "cast":
            return self._cast()
        arguments = [expr for _, expr in self._parenthesized(_QUOTED)]
        if len(arguments) == 1 and (only := arguments[0].literal) and only.kind == "quoted":
            raise self._unknown(only.name)
        found = self._called(name, arguments)
        while self._token.upper in ("FILTER", "OVER") and self._ahead() == "(":
            self._at += 1
            self._parenthesized()
        return found

    def _called(self, name: str, arguments: Sequence[Expr]) -> Expr:
        group = CALLS.get(name, "")
        self._use(*(each for each in arguments if each.kind is Kind.MOMENT))
        told = [(each.text or "").strip().casefold() for each in arguments]
        if name in _DATES and (len(told) <= (name == "strftime") or "now" in told):
            raise refuse(_NO_CLOCK.format(f"{name}('now')"))
        for each in arguments[:1] if group == "adds" else ():
            self._check_number(each, name)
        for each in arguments[:1] if group in ("cuts", "measures") else ():
            self._check_parts(each, f"{name}(…)")
        if name in ("max", "min", "nullif"):
            (self._use if name == "nullif" else self._use_order)(*arguments)
            for one, other in pairwise(arguments):
                self._check_pair(one, other, "<")
        if group in ("chooses", "looks"):
            return self._one_of(arguments[name == "iif" : 1 if group == "looks" else None])
        return Expr(kind=_GIVES.get(group), form=FORMS.get(name, ""))

    def _cast(self) -> Expr:
        self._need("(")
        inner = self._read()
        self._need("AS")
        kind = _CASTS.get(self._token.upper)
        if kind is None:
            raise self._unexpected("CAST(… AS INTEGER), REAL or TEXT")
        self._at += 1
        self._need(")")
        if kind is Kind.TEXT:
            self._check_parts(inner, "CAST(…)")
        else:
            self._use(inner)
            if inner.kind is Kind.MOMENT and inner.columns:
                self._check_number(inner, "CAST")
            elif inner.kind in (None, Kind.TEXT):
                self._check_when_run(inner, "numeral", "")
        return Expr(kind=kind)

    def _operator(self, left: Expr, operator: Token) -> Expr:
        """Take the other operand of an operator, which was taken."""
        word, level = operator.upper, _BINDS[operator.upper]
        if level < _NEGATION:
            self._read(level + 1)
        elif level < _ADDITION:
            self._compare(left, operator)
        elif level < _CONCATENATION:
            right = self._read(level + 1)
            self._check_number(left, word)
            self._check_number(right, word)
            if word in ("+", "-"):
                self._check_units(left, right)
            return Expr(kind=Kind.NUMBER)
        else:
            right = self._read(level + 1, _QUOTED)
            for each in (left, right) if word == "||" else ():
                self._check_parts(each, word)
            if word == "||" and Kind.BOOLEAN in (left.kind, right.kind):
                raise refuse("expected OR between conditions, found '||', which joins texts")
            return Expr(kind=Kind.TEXT if word == "||" else None)
        return CONDITION

    def _compare(self, left: Expr, operator: Token) -> None:
        word, before = operator.upper, len(self.query.comparisons)
        self._compared(left)
        if word in _ENDLESS:
            # An expression may take time without end.
            raise refuse(f"expected LIKE '%a%', GLOB '*a[0-9]*', OR or words, found {word!r}")
        if word in _RANGES:
            low = self._read(_ADDITION, _ANY_TEXT)
            self._need("AND")
            for end in (low, self._read(_ADDITION, _ANY_TEXT)):
                self._check_pair(left, end, "<=")
            self._use_order(left)
        elif word in _LISTS:
            found = self._parenthesized(_ANY_TEXT)
            selected = [expr for clause, expr in found if clause == "SELECT"]
            for expr in selected or [expr for _, expr in found]:
                self._check_pair(left, expr, "=")
        elif word in _PATTERNS:
            self._like(left, operator)
        elif word not in _NULL_TESTS:
            self._beside(left, operator)
        self.query.denied += self.query.comparisons[before:] if word.startswith(("!", "NOT")) else ()

    def _beside(self, left: Expr, operator: Token) -> None:
        word = operator.upper
        right = self._read(_BINDS[word] + 1, _ANY_TEXT)
        if right.kind is Kind.NOTHING and right.literal:
            operator.sql = {"=": "IS", "!=": "IS NOT"}.get(word, word)
        self._check_pair(left, right, word)
        self._compared(left, right.text if word == "=" else None)
        self._compared(right)
        if word in _ORDERS:
            self._use_order(left, right)

    def _like(self, left: Expr, operator: Token) -> None:
        operator.sql = operator.upper.replace("ILIKE", "LIKE")
        self._refuse_tests(operator.sql, left)
        self._use(*(each for each in (left,) if each.kind is Kind.MOMENT))
        right = self._read(_BINDS["LIKE"] + 1, _ANY_TEXT)
        if right.text and not right.text.isascii() and "LIKE" in operator.sql:
            # SQLite's LIKE ignores the case of ASCII letters only.
            for each in (left, right):
                self._enclose(each.first, each.behind, "lower(", ")")
        self._check_pattern(left, right, operator.sql)


def place(table: NamedTable) -> str:
    """Return the name of a table in the connection of a query."""
    return f"r{table.number}.{table.stored.place}"
