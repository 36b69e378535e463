"""What an operand is: numbers, texts of which some spell numbers, or other texts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from accp_adapters.fetching.sql.comparing.spans import Spans, TokenSpan
from accp_adapters.fetching.sql.resolver import ComparedColumn, Resolver
from accp_adapters.fetching.sql.scope import FromTable, is_keyword
from accp_adapters.fetching.sql.storage import StoredColumn
from accp_adapters.fetching.sql.tokens import SqlToken

__all__ = ["ADDS", "EXTREMES", "NUMBERS", "TAKES_NUMBER", "TEXTS", "OperandKinds", "stored_column"]
__all__ += ["ARITHMETIC", "CASTS_TO_TEXT", "NUMBER", "NUMERALS", "TEXT", "UNKNOWN"]

ADDS: Final = frozenset(("SUM", "AVG", "TOTAL"))
EXTREMES: Final = frozenset(("MAX", "MIN"))
TAKES_NUMBER: Final = frozenset(("ABS", "ROUND", "CEIL", "CEILING", "FLOOR", "SQRT", "POW", "POWER", "MOD", "SIGN"))
_GIVES_NUMBER: Final = ADDS | TAKES_NUMBER | {"COUNT", "LENGTH", "INSTR", "JSON_ARRAY_LENGTH", "UNICODE"}
_TEXT_CALLS: Final = "LOWER UPPER SUBSTR SUBSTRING DATE DATETIME TIME STRFTIME TYPEOF CONCAT GROUP_CONCAT"
_GIVES_TEXT: Final = frozenset(_TEXT_CALLS.split())
_ARGUMENT_CALLS: Final = "COALESCE IFNULL IIF NULLIF LAG LEAD FIRST_VALUE LAST_VALUE NTH_VALUE"
_GIVES_ARGUMENT: Final = EXTREMES | frozenset(_ARGUMENT_CALLS.split())
ARITHMETIC: Final = frozenset(("+", "-", "*", "/", "%"))
CASTS_TO_TEXT: Final = frozenset(("TEXT", "CHAR", "VARCHAR", "STRING", "BLOB"))

NUMBER, NUMERALS, TEXT, NULL, UNKNOWN = "number", "numerals", "text", "null", ""
"""What an operand is: numbers of SQLite; texts of which some spell numbers; other texts; NULL; any of them."""
NUMBERS: Final = frozenset((NUMBER, NULL))
TEXTS: Final = frozenset((TEXT, NUMERALS))


class OperandKinds:
    """What the operands of a query are whose tokens are resolved."""

    def __init__(
        self, tokens: Sequence[SqlToken], resolver: Resolver, sources: Sequence[FromTable], spans: Spans
    ) -> None:
        self._tokens = tokens
        self._columns = resolver.columns
        self._derived = resolver.derived
        self._sources = sources
        self._spans = spans
        self._named: dict[str, str] = {}
        """What the names are that the query gives to columns."""

    def learn(self, aliases: Sequence[int]) -> None:
        """Find out what the columns are that the query names."""
        for at in aliases:
            behind = at - 1 if self._tokens[at - 1].upper == "AS" else at
            first, last = self._spans.item_before(behind)
            is_item = first and self._tokens[first - 1].upper in ("SELECT", "DISTINCT", "ALL", ",") and first <= last
            if is_item:
                name, kind = self._tokens[at].name.casefold(), self.kind((first, last))
                self._named[name] = kind if self._named.get(name, kind) == kind else UNKNOWN

    def column(self, span: TokenSpan) -> ComparedColumn | None:
        """Return the column that is all of a span."""
        end, column = self._columns.get(span[0], (0, None))
        return column if end == span[1] + 1 else None

    def literal(self, span: TokenSpan) -> str | None:
        """Return the text that is all of a span."""
        first, *others = (self._tokens[at].out or "" for at in range(span[0], span[1] + 1))
        is_text = first.startswith("'") and not any(others)
        return first[1:-1].replace("''", "'") if is_text else None

    def digits(self, span: TokenSpan) -> str | None:
        """Return the number that is all of a span."""
        first, last = span
        sign = self._tokens[first].text if self._tokens[first].text in ("-", "+") else ""
        token = self._tokens[last]
        is_number = first + len(sign) == last and token.kind == "number" and token.out == token.text
        return sign.strip("+") + token.text if is_number else None

    def kind(self, span: TokenSpan) -> str:
        """Return what the operand is that a span has."""
        first, last = span
        tokens = self._tokens
        if first > last:
            return UNKNOWN
        if column := self.column(span):
            return _kind_of(column)
        if (derived := self._derived.get(first)) and derived[0] == last + 1:
            return self._kind_of_name(derived[1])
        if self.literal(span) is not None:
            return TEXT
        if self.digits(span) is not None:
            return NUMBER
        if first == last and tokens[first].out == "NULL":
            return NULL
        if first < last and tokens[first].text == "(" and self._spans.end_of(first) == last:
            return self._kind_in((first, last))
        if is_keyword(tokens, first) and tokens[first].upper == "CASE" and self._spans.end_of(first) == last:
            return _merged(map(self.kind, self._spans.branches(first)))
        return self._kind_of_expression(span)

    def _kind_of_name(self, name: str) -> str:
        """Return what a name is that the query gives, or that a subquery has of its tables."""
        if name in self._named:
            return self._named[name]
        found = {
            _kind_of(ComparedColumn(source.table, column))
            for source in self._sources
            for column in source.table.columns
            if column.casefold() == name
        }
        return found.pop() if len(found) == 1 else UNKNOWN

    def _kind_in(self, span: TokenSpan) -> str:
        """Return the kind of a value in parentheses, or of the first column of a query in them."""
        first, last = span
        if self._tokens[first + 1].upper == "SELECT":
            return self.kind(self.selected(first + 1))
        return self.kind((first + 1, last - 1))

    def selected(self, select: int) -> TokenSpan:
        """Return the first item behind a SELECT."""
        start = select + 1 if self._tokens[select + 1].upper in ("DISTINCT", "ALL") else select
        return self._spans.after(start)

    def _kind_of_expression(self, span: TokenSpan) -> str:
        first, last = span
        tokens, at, signs = self._tokens, first, set()
        while at <= last:
            signs.add(tokens[at].text if tokens[at].kind == "sign" and tokens[at].out != "" else "")
            at = max(self._spans.end_of(at) if tokens[at].text == "(" else at, at) + 1
        if signs & ARITHMETIC:
            return NUMBER
        if "||" in signs:
            return TEXT
        if first == last or tokens[first + 1].text != "(":
            return UNKNOWN
        name = tokens[first].upper
        if name in _GIVES_NUMBER:
            return NUMBER
        if name in _GIVES_TEXT:
            return TEXT
        if name == "CAST":
            return UNKNOWN if tokens[self._spans.end_of(first + 1) - 1].upper in CASTS_TO_TEXT else NUMBER
        if name in _GIVES_ARGUMENT:
            return _merged(map(self.kind, self._spans.arguments(first + 1)[name == "IIF" :]))
        return UNKNOWN


def stored_column(column: ComparedColumn) -> StoredColumn:
    """Return how a column is kept."""
    return column.table.stored.columns[column.column]


def _kind_of(column: ComparedColumn) -> str:
    stored = stored_column(column)
    if stored.is_number:
        return NUMBER
    return NUMERALS if stored.numbers else TEXT


def _merged(kinds: Iterable[str]) -> str:
    found = set(kinds) - {NULL}
    if len(found) == 1:
        return found.pop()
    return NUMERALS if NUMERALS in found and UNKNOWN not in found else UNKNOWN
