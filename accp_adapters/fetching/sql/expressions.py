"""The expressions of a query, by how tightly their operators bind."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from accp_adapters.fetching.sql.functions import CALLS
from accp_adapters.fetching.sql.names import (
    Expr,
    Names,
    Output,
    all_merged,
    fitted,
    name_of_kind,
    spelling_of,
    sql_text,
)
from accp_adapters.fetching.sql.tables import (
    StoredColumn,
    quote,
    quoted_name,
    refuse,
)
from accp_adapters.fetching.sql.tokens import EQUALS, MAX_SHOWN, ORDERS, PATTERNS
from accp_core.errors import ProtocolError
from accp_core.tables.values import Kind

__all__ = ["Expressions", "refuse_present_time"]

_PRESENT: Final = frozenset(("CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP"))
_NEGATED: Final = ("IN", "LIKE", "ILIKE", "GLOB", "BETWEEN", "NULL")
_JOINTS: Final = {"OR": "OR", "AND": "AND", "&&": "AND"}
_ADDITIVE: Final = ("&", "|", "<<", ">>", "+", "-", "*", "/", "%")
_LEVELS: Final = (
    ("OR",), ("AND", "&&"), (),
    (*EQUALS, "IS", "IN", "BETWEEN", "ISNULL", "NOTNULL", "NULL", "REGEXP", "MATCH", "RLIKE", *PATTERNS),
    ("<", ">", "<=", ">="), ("&", "|", "<<", ">>", "+", "-"), ("*", "/", "%"), ("||", "->", "->>"), ("COLLATE",), (),
)  # fmt: skip
_BINDS: Final = {word: level for level, words in enumerate(_LEVELS) for word in words}
"""How tightly each operator binds."""
_NEGATION, _EQUALITY, _ADDITION, _CONCATENATION, _UNARY = 2, 3, 5, 7, 9
_DATES: Final = frozenset(("date", "datetime", "time", "julianday", "strftime", "unixepoch"))
_SOME: Final = "count, sum, avg, min, max, total, round, substr, instr, lower, coalesce, json_extract, strftime"
_KINDS: Final = {"adds": Kind.NUMBER, "counts": Kind.NUMBER, "writes": Kind.TEXT, "tests": Kind.BOOLEAN}
"""What calls give."""
_CAST_TO_NUMBER: Final = ("INTEGER", "INT", "REAL", "NUMERIC", "FLOAT", "DOUBLE", "DECIMAL", "BIGINT")


class Expressions(Names):
    """Reads expressions; each method returns what SQLite is given, and what the values are."""

    def _select(self, *, is_top: bool = False) -> tuple[str, list[Output]]:
        """Return a SELECT within an expression."""
        raise NotImplementedError

    def _terms(self) -> list[str]:
        """Return what stands behind ORDER."""
        raise NotImplementedError

    def _expression(self, level: int = 0) -> Expr:
        """Return an expression that is no value beside another."""
        return self._beside(None, level)

    def _beside(self, left: Expr | None, level: int = _ADDITION) -> Expr:
        """Return what is compared with `left`, which may be a text without quotes."""
        before, self._left = self._left, left
        found = self._operators(level)
        self._left = before
        return found

    def _operators(self, level: int) -> Expr:
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

    def _prefix(self, level: int) -> Expr:
        word = self._token.upper
        if word in ("NOT", "!") and level <= _NEGATION and self._ahead() != ".":
            self._at += 1
            return Expr(f"NOT ({self._operators(_NEGATION).sql})", Kind.BOOLEAN)
        if word in ("-", "+", "~") and self._token.kind == "sign":
            self._at += 1
            inner = self._operators(_UNARY)
            self._check_number(inner, word)
            return Expr(f"{word}{' ' * inner.sql.startswith(word)}{inner.sql}", Kind.NUMBER, is_number=inner.is_number)
        return self._primary()

    def _operator(self, left: Expr, word: str, is_not: bool) -> Expr:
        """Return an operator, which was taken, with its operands."""
        if word in _JOINTS:
            return Expr(f"{left.sql} {_JOINTS[word]} {self._expression(_BINDS[word] + 1).sql}", Kind.BOOLEAN)
        if word in _ADDITIVE:
            right = self._expression(_BINDS[word] + 1)
            for each in (left, right):
                self._check_number(each, word)
                self._use(each)
            return Expr(f"{left.sql} {word} {right.sql}", Kind.NUMBER)
        if word in ("||", "->", "->>"):
            right = self._beside(left if self._token.text[:1] == '"' else None, _CONCATENATION + 1)
            if word == "||" and Kind.BOOLEAN in (left.kind, right.kind):
                raise refuse("expected OR between conditions, found '||', which joins texts")
            return Expr(f"{left.sql} {word} {right.sql}", Kind.TEXT if word == "||" else None)
        if word == "COLLATE":
            return replace(left, sql=f"{left.sql} COLLATE {quote(self._name())}", is_column=False)
        self._compared(left)
        if word in ("ISNULL", "NOTNULL", "NULL"):
            return Expr(f"{left.sql} {'NOTNULL' if word == 'NULL' else word}", Kind.BOOLEAN)
        return self._comparison(left, word, "NOT " * is_not)

    def _comparison(self, left: Expr, word: str, negated: str) -> Expr:
        if word in ("REGEXP", "MATCH", "RLIKE"):
            # An expression may take time without end.
            raise refuse(f"expected LIKE '%a%', GLOB '*a[0-9]*', OR or words, found {word!r}")
        if word in ORDERS:
            return self._order(left, word)
        if word == "BETWEEN":
            _, low = self._check_pair(left, self._beside(left), "<=")
            self._need("AND", " of BETWEEN")
            left, high = self._check_pair(left, self._beside(left), "<=")
            self._use(left)
            return Expr(f"{left.sql} {negated}BETWEEN {low.sql} AND {high.sql}", Kind.BOOLEAN)
        if word == "IN":
            return Expr(f"{left.sql} {negated}IN ({self._members(left)})", Kind.BOOLEAN)
        if word in PATTERNS:
            return self._like(left, PATTERNS[word], negated)
        is_word = word == "IS"
        sign = f"IS{' NOT' * bool(self._take('NOT'))}" if is_word else EQUALS[word]
        if is_word and self._take("DISTINCT"):
            self._need("FROM")
            sign = "IS" if sign == "IS NOT" else "IS NOT"
        right = self._beside(left, _EQUALITY + 1)
        if right.sql == "NULL" and not is_word:
            sign = "IS" if sign in ("=", "IS") else "IS NOT"
        one, other = self._check_pair(left, right, "=" if is_word else sign)
        self._compared(one, other.text if sign == "=" else None)
        self._compared(other)
        return Expr(f"{one.sql} {sign} {other.sql}", Kind.BOOLEAN)

    def _order(self, left: Expr, sign: str) -> Expr:
        parts: list[str] = []
        while sign:
            right = self._beside(left)
            one, other = self._check_pair(left, right, sign)
            for each in (one, other):
                self._compared(each)
                self._use(each)
            # `1 <= id <= 3` is both.
            parts.append(f"{one.sql} {sign} {other.sql}")
            left, sign = right, self._take(*ORDERS)
        return Expr(parts[0] if len(parts) == 1 else f"({' AND '.join(parts)})", Kind.BOOLEAN)

    def _members(self, left: Expr) -> str:
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

    def _like(self, left: Expr, word: str, negated: str) -> Expr:
        right = self._beside(left)
        escape = f" ESCAPE {self._expression(_ADDITION).sql}" if self._take("ESCAPE") else ""
        self.query.patterns.append("" if escape else right.text or "")
        column = left.column if left.is_column else None
        if column and column.stored.is_spelled and not _fits_values(column.stored, right.text):
            told = f"{quoted_name(column.column)}, which is of {name_of_kind(column.stored)}"
            raise refuse(f"expected {spelling_of(column)} {word} …, found {told}")
        return Expr(f"{left.sql} {negated}{word} {right.sql}{escape}", Kind.BOOLEAN)

    def _primary(self) -> Expr:
        token, word = self._token, self._token.upper
        if token.text == "(":
            return self._parenthesis()
        if token.kind == "string":
            self._at += 1
            return Expr(sql_text(token.name), Kind.TEXT, text=token.name)
        if token.kind == "number":
            self._at += 1
            return Expr(token.text, Kind.NUMBER, is_number=True)
        if token.kind == "bare" and self._left is not None:
            return self._bare_text()
        if word == "CASE" and not self._is_column_name():
            return self._case()
        if word == "EXISTS" and self._ahead() == "(":
            self._at += 1
            inner = self._parenthesis()
            return Expr(f"EXISTS {inner.sql}", Kind.BOOLEAN)
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

    def _parenthesis(self) -> Expr:
        opening = self._at
        self._at += 1
        if self._token.upper in ("SELECT", "WITH", "VALUES"):
            sql, outputs = self._select()
            self._close(opening)
            inner = outputs[0][1] if len(outputs) == 1 else Expr("")
            return replace(inner, sql=f"({sql})", is_column=False, is_extreme=False, text=None, is_number=False)
        self._within()
        found = self._operators(0)
        self._depth -= 1
        if self._take(","):
            parts = [found, *self._separated(self._expression)]
            self._close(opening)
            return Expr(f"({', '.join(each.sql for each in parts)})")
        self._close(opening)
        return replace(found, sql=f"({found.sql})")

    def _case(self) -> Expr:
        self._within()
        start = self._at
        self._at += 1
        base = None if self._token.upper == "WHEN" else self._expression()
        parts = [f"CASE{f' {base.sql}' if base else ''}"]
        results: list[Expr] = []
        while self._take("WHEN"):
            if base is None:
                condition = self._expression().sql
            else:
                _, beside = self._check_pair(base, self._beside(base), "=")
                condition = beside.sql
            self._need("THEN")
            results.append(self._result())
            parts.append(f"WHEN {condition} THEN {{}}")
        if self._take("ELSE"):
            results.append(self._result())
            parts.append("ELSE {}")
        if not self._take("END"):
            raise refuse(f"expected END of CASE, found {self._source[self._tokens[start].start :][:MAX_SHOWN]!r}")
        self._depth -= 1
        result = all_merged(results)
        texts = iter([fitted(each, result).sql for each in results])
        sql = " ".join(
            part.replace("{}", next(texts), 1) if part.endswith(("THEN {}", "ELSE {}")) else part for part in parts
        )
        return replace(result, sql=f"{sql} END", is_column=False)

    def _result(self) -> Expr:
        """Return a value where a name in double quotes that is none is a text."""
        return self._beside(Expr("", Kind.TEXT) if self._token.text[:1] == '"' else None, 0)

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

    def _call(self) -> Expr:
        token, opening = self._token, self._at + 1
        name = token.text.lower()
        if name == "cast":
            return self._cast()
        if name not in CALLS:
            raise refuse(f"expected a function of SQLite that reads, such as {_SOME}; found {token.text!r}")
        self._at += 2
        distinct = self._take("DISTINCT")
        arguments: list[Expr] = []
        if self._token.text == "*" and name == "count":
            self._at += 1
            arguments = [Expr("*")]
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

    def _called(self, name: str, arguments: list[Expr], distinct: str) -> Expr:
        _refuse_clock(name, arguments)
        group, is_extreme = CALLS[name], name in ("max", "min")
        for each in arguments[:1] if group == "adds" else ():
            self._check_number(each, name)
            self._use(each)
        self.query.patterns += [""] * (group == "tests")
        result = Expr("", _KINDS.get(group))
        if group in ("chooses", "looks"):
            first, end = name == "iif", 1 if group == "looks" else None
            result = all_merged(arguments[first:end])
            arguments[first:end] = [fitted(each, result) for each in arguments[first:end]]
        for one, other in pairwise(arguments if is_extreme else ()):
            self._check_pair(one, other, "<")
        for each in arguments if is_extreme else ():
            self._use(each)
        sql = f"{name}({f'{distinct} ' * bool(distinct)}{', '.join(each.sql for each in arguments)})"
        is_cell = is_extreme and len(arguments) == 1 and arguments[0].is_column
        return Expr(sql, result.kind, result.column, is_extreme=is_cell)

    def _over(self, found: Expr) -> Expr:
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
            parts.append(f"PARTITION BY {', '.join(each.sql for each in self._separated(self._expression))}")
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

    def _cast(self) -> Expr:
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
        return Expr(f"CAST({inner.sql} AS {kind})", Kind.NUMBER if kind in _CAST_TO_NUMBER else Kind.TEXT)


def _fits_values(stored: StoredColumn, pattern: str | None) -> bool:
    """Return whether a pattern may be meant of the ISO texts of moments, not of their spellings."""
    return stored.kind is Kind.MOMENT and bool(pattern and re.match(r"[%*]?\d{4}(-|[%*]$)", pattern))


def _refuse_clock(name: str, arguments: Sequence[Expr]) -> None:
    texts = [each.text and each.text.strip().casefold() for each in arguments]
    if name in _DATES and (len(texts) <= (name == "strftime") or "now" in texts):
        raise refuse_present_time(f"{name}('now')")


def refuse_present_time(found: str) -> ProtocolError:
    """Return the refusal of a query that asks what time it is (E1004)."""
    return refuse(f"expected a date such as '2026-01-05', found {found!r}: a query has no clock")
