"""One walk through a query that decides on each name, value and operator in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from accp_adapters.fetching.sql.bare_text import COMPARES, digits_of_text, end_of_text, end_of_text_with_digits
from accp_adapters.fetching.sql.catalog import Catalog, NamedTable, find_name, quoted_name
from accp_adapters.fetching.sql.functions import FUNCTIONS
from accp_adapters.fetching.sql.operands import has_arithmetic_behind, is_column_before, is_text_call_before
from accp_adapters.fetching.sql.scope import BEGINS_QUERY, FromTable, SqlScope, chain_at, is_keyword, quote
from accp_adapters.fetching.sql.storage import StoredColumn
from accp_adapters.fetching.sql.tokens import SqlToken, refuse, refuse_present_time
from accp_core.references import find_references

__all__ = ["ComparedColumn", "Resolver"]

_BEGINS_OPERAND: Final = frozenset(("AND", "OR", "WHEN", "THEN", "ELSE", ",", "SELECT", "WHERE", "ON", "HAVING"))
_OPENS: Final = frozenset(("IN", "CAST"))
_EQUALS: Final = frozenset(("=", "==", "===", "IN"))
_SPELLED: Final = {"===": "=", "==": "=", "<=>": "IS", "&&": "AND", "ILIKE": "LIKE", "!": "NOT"}
_NULLS: Final = frozenset(("NULL", "NONE", "NIL", "UNDEFINED"))
_BOOLEANS: Final = {"TRUE": "1", "FALSE": "0"}
_PRESENT: Final = frozenset(("CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP"))
_ENDS_WHERE: Final = frozenset(("GROUP", "ORDER", "LIMIT", "UNION", "EXCEPT", "INTERSECT", "SELECT", "WINDOW"))
_SOME: Final = "count, sum, avg, min, max, total, round, substr, instr, lower, coalesce, json_extract, strftime"


@dataclass(frozen=True, slots=True)
class ComparedColumn:
    """A column that a query compares with something."""

    table: NamedTable
    column: str
    text: str | None = None
    """The text with which `=` compares it; None: another value or operator."""


class Resolver:
    """One walk through a query that decides on every name and value in it."""

    def __init__(
        self, source: str, tokens: list[SqlToken], scope: SqlScope, catalog: Catalog, *, is_condition: bool = False
    ) -> None:
        self._source = source
        self._tokens = tokens
        self._scope = scope
        self._catalog = catalog
        self._is_condition = is_condition
        self._in_where = is_condition
        self._calls: list[str] = []
        """What each open parenthesis belongs to: a function, IN, or nothing."""
        self._left: ComparedColumn | None = None
        """The column in front of the last operator."""
        self._left_is_column = False
        """Whether that column is all that stands in front of the operator."""
        self._left_is_call = False
        """Whether it is a call of that column which returns a text where the column has one: `lower(status)`."""
        self._last: ComparedColumn | None = None
        """The last column."""
        self._last_run = (0, 0)
        """The index of its first token, and the one behind its last."""
        self._is_equality = False
        self._is_between = False
        self._second_bound = -1
        """The index behind the AND of a BETWEEN."""
        self.comparisons: list[ComparedColumn] = []
        self.columns: dict[int, tuple[int, ComparedColumn]] = {}
        """The columns by the index of their first token, each with the one behind its last."""
        self.derived: dict[int, tuple[int, str]] = {}
        """The same of names that the query itself gives."""

    def resolve(self) -> None:
        """Decide on every token."""
        at = 0
        while at < len(self._tokens):
            at = at + 1 if self._tokens[at].out is not None else self._step(at)

    def _step(self, at: int) -> int:
        token = self._tokens[at]
        if token.text in "()" and token.kind == "sign":
            self._parenthesis(at)
        elif token.kind == "sign" or is_keyword(self._tokens, at):
            self._operator(at)
        elif token.kind == "string":
            self._string(token)
        elif token.kind == "number":
            return self._number(at)
        elif token.kind == "reference":
            self._reference(at)
        else:
            return self._name(at)
        return at + 1

    def _parenthesis(self, at: int) -> None:
        if self._tokens[at].text == ")":
            self._calls = self._calls[:-1]
            return
        previous = self._tokens[at - 1] if at else None
        is_call = (
            previous is not None and previous.kind == "word" and (previous.upper in _OPENS or previous.out is None)
        )
        is_list = is_call and not self._follows(at, BEGINS_QUERY)
        self._calls.append(previous.upper if previous is not None and is_list else "")

    def _operator(self, at: int) -> None:
        token = self._tokens[at]
        word = token.upper
        token.out = _SPELLED.get(word, token.text)
        if word == "REGEXP":
            # An expression may take time without end.
            raise refuse(f"expected LIKE '%a%', GLOB '*a[0-9]*', OR or words, found {token.text!r}")
        if word in COMPARES or word in ("BETWEEN", "IN"):
            self._left, self._is_equality = self._last, word in _EQUALS
            self._left_is_column = is_column_before(self._tokens, self._last_run, at)
            self._left_is_call = is_text_call_before(self._tokens, self._last_run, at)
            if self._left is not None and self._in_where:
                self.comparisons.append(self._left)
        if word in ("=", "==", "===", "!=", "<>") and self._follows(at, _NULLS):
            token.out = "IS NOT" if word in ("!=", "<>") else "IS"
        if word in _BEGINS_OPERAND and not (self._is_between or (self._calls and self._calls[-1] == "IN")):
            self._left = None
            if word != "," or not (self._calls and self._calls[-1]):
                self._last = None
        if word == "AND" and self._is_between:
            self._second_bound = at + 1
        self._is_between = word == "BETWEEN" or (self._is_between and word != "AND")
        if word == "WHERE":
            self._in_where = True
        elif word in _ENDS_WHERE:
            self._in_where = False

    def _follows(self, at: int, words: frozenset[str]) -> bool:
        return at + 1 < len(self._tokens) and self._tokens[at + 1].upper in words

    def _is_value(self, at: int) -> bool:
        """Return whether a value is expected at `at`: behind an operator that compares, or in a list behind IN."""
        previous = self._tokens[at - 1].upper if at else ""
        if previous in ("(", ","):
            return bool(self._calls) and self._calls[-1] == "IN"
        if previous == "NOT":
            return at > 1 and self._tokens[at - 2].upper == "IS"
        return previous in COMPARES or previous == "BETWEEN" or at == self._second_bound

    def _string(self, token: SqlToken) -> None:
        self._write_text(token, token.name)

    def _write_text(self, token: SqlToken, text: str) -> None:
        """Write a text as a value; `'true'` beside a column of booleans is true."""
        left = self._left_column()
        if left is not None and left.is_boolean and text.upper() in _BOOLEANS:
            token.out = _BOOLEANS[text.upper()]
            return
        doubled = text.replace("'", "''").replace("\0", "")
        token.out = f"'{doubled}'"
        if self._is_equality and self.comparisons and self._left is self.comparisons[-1] and self._left.text is None:
            self.comparisons[-1] = ComparedColumn(self._left.table, self._left.column, text)

    def _left_column(self) -> StoredColumn | None:
        return None if self._left is None else self._left.table.stored.columns[self._left.column]

    def _number(self, at: int) -> int:
        token = self._tokens[at]
        end = end_of_text_with_digits(self._source, token) if self._is_value(at) else None
        if end is not None:
            return self._absorb(at, end)
        if digits_of_text(token.text) and self._is_value(at):
            return self._absorb(at, token.end)
        token.out = token.text
        return at + 1

    def _absorb(self, at: int, end: int) -> int:
        """Write the source from the token at `at` up to `end` as one text; return the index behind it."""
        token = self._tokens[at]
        self._write_text(token, self._source[token.start : end])
        at += 1
        while at < len(self._tokens) and self._tokens[at].start < end:
            self._tokens[at].out = ""
            at += 1
        token.end = end
        return at

    def _reference(self, at: int) -> None:
        """Resolve a column that is named by its reference: `$cold.….id`, `$cold.….orders.id`."""
        token = self._tokens[at]
        keys = find_references(token.text)
        rest = token.text.partition(keys[0])[2].strip(".") if keys else ""
        for source in self._scope.all_from(at):
            names = find_name(rest.removeprefix(f"{source.table.name}."), source.table.columns) if rest else []
            if len(names) == 1 and keys and self._catalog.key_of(source.table) == keys[0]:
                self._write_column(at, at + 1, source, names[0], is_qualified=True)
                return
        raise refuse(f"expected a column, found {token.text!r}; a reference stands behind FROM or JOIN")

    def _name(self, at: int) -> int:
        token = self._tokens[at]
        if self._calls and self._calls[-1] == "CAST" and self._tokens[at - 1].upper == "AS":
            token.out = quote(token.name)
            return at + 1
        if at + 1 < len(self._tokens) and self._tokens[at + 1].text == "(" and token.kind == "word":
            return self._function(at)
        end = chain_at(self._tokens, at)
        if end + 1 < len(self._tokens) and self._tokens[end].text == "." and self._tokens[end + 1].text == "*":
            return self._all_of(at, end)
        if self._column(at, end):
            return end
        if token.kind == "word" and end == at + 1 and token.upper in _NULLS | set(_BOOLEANS):
            self._literal(token)
            return end
        return self._bare_text(at, end)

    def _function(self, at: int) -> int:
        token = self._tokens[at]
        if token.text.lower() not in FUNCTIONS:
            if token.out is None and token.name.casefold() not in self._scope.derived:
                raise refuse(f"expected a function of SQLite that reads, such as {_SOME}; found {token.text!r}")
            token.out = quote(token.name)
        return at + 1

    def _all_of(self, at: int, end: int) -> int:
        """Resolve `orders.*`."""
        name = ".".join(self._names(at, end))
        sources = self._sources(name, at)
        if not sources and name.casefold() not in self._scope.derived:
            raise self._unknown(name)
        self._tokens[at].out = quote(sources[0].alias if sources else name)
        for token in self._tokens[at + 1 : end]:
            token.out = ""
        return end

    def _literal(self, token: SqlToken) -> None:
        """Write `null`, `true` or `false` in the form in which the preceding column stores it."""
        if token.upper in _NULLS:
            token.out = "NULL"
            return
        left = self._left_column()
        is_text = left is not None and left.type == "TEXT"
        token.out = f"'{token.text.lower()}'" if is_text else _BOOLEANS[token.upper]

    def _names(self, at: int, end: int) -> list[str]:
        """Return the names that dots join from `at` to `end`."""
        return [token.name for token in self._tokens[at:end:2]]

    def _column(self, at: int, end: int) -> bool:
        """Resolve the names from `at` to `end` as a column; return whether they are one."""
        names = self._names(at, end)
        splits = [(".".join(names[:split]), ".".join(names[split:])) for split in range(len(names))]
        # `orders.id` is the column `id` of `orders`, whatever other table has a column `orders_id`.
        return any(self._exact_column(at, end, *split) for split in splits) or any(
            self._similar_column(at, end, *split) for split in reversed(splits)
        )

    def _exact_column(self, at: int, end: int, qualifier: str, column: str) -> bool:
        for source in self._sources(qualifier, at):
            for name in source.table.columns:
                if name.casefold() != column.casefold():
                    continue
                may_be_text = self._may_be_text(at, qualifier, source, name)
                if may_be_text and self._end_of_text(at) > self._tokens[at].end:
                    return False
                is_qualified = bool(qualifier) or self._scope.calls_table or self._scope.has_parents
                self._write_column(at, end, source, name, is_qualified=is_qualified)
                if may_be_text:
                    self._write_either(at)
                return True
        if not self._is_derived(qualifier, column):
            return False
        self._tokens[at].out = f"{quote(qualifier)}.{quote(column)}" if qualifier else quote(column)
        self._clear(at + 1, end)
        self._last = None
        self.derived[at] = (end, column.casefold())
        return True

    def _is_derived(self, qualifier: str, column: str) -> bool:
        """Return whether the query itself gives such a name; a subquery has columns of its tables under their names."""
        derived, folded = self._scope.derived, column.casefold()
        if not qualifier:
            return folded in derived
        columns = (name.casefold() for source in self._scope.sources for name in source.table.columns)
        return qualifier.casefold() in derived and (folded in derived or folded in columns)

    def _similar_column(self, at: int, end: int, qualifier: str, column: str) -> bool:
        sources = self._sources(qualifier, at)
        alike = [(each, name) for each in sources for name in find_name(column, each.table.columns)]
        is_table = any(self._catalog.has_child(source.table, column) for source in sources)
        is_other = is_table and not any(name in each.table.stored.source.repeated for each, name in alike)
        if is_other or (not qualifier and self._is_value(at)):
            return False
        # Those of the innermost SELECT come first.
        found = [(each, name) for each, name in alike if each.start == alike[0][0].start]
        if len(found) > 1:
            raise refuse(
                f"expected one of {', '.join(sorted({quoted_name(name) for _, name in found}))}; found {column!r}"
            )
        for source, name in found:
            self._write_column(at, end, source, name, is_qualified=bool(qualifier) or self._scope.has_parents)
        return bool(found)

    def _sources(self, qualifier: str, at: int) -> list[FromTable]:
        """Return the tables that `qualifier` may mean, those of the innermost SELECT first."""
        sources = self._scope.all_from(at)
        if not qualifier:
            return sources
        named = [source for source in sources if source.alias.casefold() == qualifier.casefold()]
        return named or _only_named(qualifier, self._scope.visible(at)) or _only_named(qualifier, sources)

    def _may_be_text(self, at: int, qualifier: str, source: FromTable, name: str) -> bool:
        """Return whether a text may be meant by the name of a column: `status = paid` beside a boolean `paid`."""
        left = self._left_column() if self._left_is_column or self._left_is_call else None
        is_word = not qualifier and self._tokens[at].text[0] not in "`[" and self._is_value(at)
        if not is_word or left is None or left.type != "TEXT" or source.table.stored.columns[name].type == "TEXT":
            return False
        columns = {name.casefold() for source in self._scope.sources for name in source.table.columns}
        return not has_arithmetic_behind(self._tokens, at, columns)

    def _write_either(self, at: int) -> None:
        """Write a value that is a text if the column on the left has it anywhere, else the column of that name."""
        assert self._left is not None
        token, column, table = self._tokens[at], self._tokens[at].out, self._left.table
        self._write_text(token, token.name)
        del self.columns[at]
        has_text = f"{quote(self._left.column)} = {token.out} COLLATE NOCASE"
        anywhere = f"EXISTS (SELECT 1 FROM r{table.number}.{quote(table.name)} WHERE {has_text})"
        token.out = f"CASE WHEN {anywhere} THEN {token.out} ELSE {column} END"

    def _clear(self, at: int, end: int) -> None:
        for token in self._tokens[at:end]:
            token.out = ""

    def _write_column(self, at: int, end: int, source: FromTable, name: str, *, is_qualified: bool) -> None:
        self._tokens[at].out = f"{quote(source.alias)}.{quote(name)}" if is_qualified else quote(name)
        self._clear(at + 1, end)
        self._last, self._last_run = ComparedColumn(source.table, name), (at, end)
        self.columns[at] = (end, self._last)

    def _bare_text(self, at: int, end: int) -> int:
        """Write a name that is no column as a text, where a text may stand."""
        token = self._tokens[at]
        name = ".".join(self._names(at, end))
        if token.upper in _PRESENT:
            raise refuse_present_time(token.text)
        if not self._is_value(at) and not (token.text.startswith('"') and self._is_argument(at)):
            raise self._unknown(name)
        if token.kind == "quoted":
            if token.text[0] != '"':
                raise self._unknown(name)
            self._write_text(token, token.name)
            return at + 1
        return self._absorb(at, self._end_of_text(at))

    def _end_of_text(self, at: int) -> int:
        return end_of_text(self._source, self._tokens, at, of_words=self._is_condition)

    def _is_argument(self, at: int) -> bool:
        """Return whether one of several operands stands at `at`, where a text is usual: `coalesce(x, "none")`."""
        previous = self._tokens[at - 1].upper if at else ""
        following = self._tokens[at + 1].text if at + 1 < len(self._tokens) else ""
        in_call = bool(self._calls) and self._calls[-1] not in ("", "COUNT")
        return previous in ("THEN", "ELSE", "||") or following == "||" or (in_call and "," in (previous, following))

    def _unknown(self, name: str) -> Exception:
        return self._catalog.unknown_column(name, [source.table for source in self._scope.sources])


def _only_named(name: str, sources: list[FromTable]) -> list[FromTable]:
    meant = find_name(name, [source.table.name for source in sources])
    named = [source for source in sources if source.table.name in meant]
    return named if len(named) == 1 else []
