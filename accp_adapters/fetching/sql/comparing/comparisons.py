"""What a query compares, sorts and adds: as numbers where they are numbers, as texts where they are texts.

SQLite compares a text with a number as texts, counts a text that is none as 0, and has every text above every number.
So the operators and functions whose operands may be texts are written as calls of our own functions (`numerals`):

    price > 100              accp_order(price, 100) > 0: unknown where `price` is no number
    price = 9.5              accp_equals(price, 9.5): 9.50, too
    max(price), sum(price)   max(accp_numeral(price) COLLATE …), sum(accp_number(price)): of numbers only
    ORDER BY price           ORDER BY price COLLATE …: numbers by their value, then other texts, then null
    id = code                id = code AND accp_numeral(code) IS NOT NULL, where `id` has numbers and `code` has texts

Two texts are equal by their spelling, and so are groups and different values; SQLite does that by itself.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, TypeAlias

from accp_adapters.fetching.sql.comparing.kinds import (
    ADDS,
    ARITHMETIC,
    CASTS_TO_TEXT,
    EXTREMES,
    NUMBER,
    NUMBERS,
    NUMERALS,
    TAKES_NUMBER,
    TEXT,
    TEXTS,
    UNKNOWN,
    OperandKinds,
    stored_column,
)  # fmt: skip
from accp_adapters.fetching.sql.comparing.numerals import ASCENDING, DESCENDING
from accp_adapters.fetching.sql.comparing.spans import ORDERS, Spans, TokenSpan
from accp_adapters.fetching.sql.resolver import ComparedColumn, Resolver
from accp_adapters.fetching.sql.scope import SqlScope, is_keyword
from accp_adapters.fetching.sql.storage import is_numeral
from accp_adapters.fetching.sql.tokens import SqlToken, refuse_present_time
from accp_core.strict_json import compact_json

__all__ = ["as_written", "compare_by_value"]

_EQUALS: Final = {"=": "", "==": "", "!=": "NOT ", "<>": "NOT "}
_DATES: Final = frozenset(("DATE", "DATETIME", "TIME", "JULIANDAY", "STRFTIME", "UNIXEPOCH"))
_MAX_EXACT_DIGITS: Final = 15
"""Digits of a number that every float keeps."""

_Wrap: TypeAlias = tuple[TokenSpan, str, str]
"""A span, and what is written in front of it and behind it."""

# No query of a model has a form feed: what stands between two of them is not shown.
_OURS: Final = re.compile(r"\f[^\f]*\f")
_BEGINS_OURS: Final = re.compile(r"\(?(?:NOT )?accp_\w+\(\f|CAST\(\f|[(+]\f")


def as_written(name: str) -> str:
    """Return the name of a result column without what this module wrote."""
    # SQLite leaves out blanks around an expression, and a form feed is one.
    opened = f"\f{name}" if _BEGINS_OURS.match(name) else name
    return _OURS.sub("", f"{opened}\f" if opened.count("\f") % 2 else opened)


def compare_by_value(
    tokens: Sequence[SqlToken], resolver: Resolver, scope: SqlScope, aliases: Sequence[int]
) -> list[ComparedColumn]:
    """Change what is written for each operator and call whose operands may be texts.

    Args:
        tokens: The tokens of a query that was resolved.
        resolver: What resolved them.
        scope: Its tables and names.
        aliases: The indices of the names that the query gives.

    Returns:
        The columns whose cells are left out, or sorted last, where they are no numbers.
    """
    rewriting = _Rewriting(tokens, resolver, scope, aliases)
    rewriting.rewrite()
    by_column = {(each.table.number, each.table.name, each.column): each for each in rewriting.numeric}
    return list(by_column.values())


def _ours(text: str) -> str:
    return f"\f{text}\f"


class _Rewriting:
    """One walk over the operators and calls of a query."""

    def __init__(self, tokens: Sequence[SqlToken], resolver: Resolver, scope: SqlScope, aliases: Sequence[int]) -> None:
        self._tokens = tokens
        self._columns = resolver.columns
        self._derived = resolver.derived
        self._spans = Spans(tokens)
        self._kinds = OperandKinds(tokens, resolver, scope.sources, self._spans)
        self._kinds.learn(aliases)
        self._casts: list[_Wrap] = []
        """What is written around calls; it is inside what is written around them as operands."""
        self._wraps: list[_Wrap] = []
        self.numeric: list[ComparedColumn] = []

    def rewrite(self) -> None:
        """Write all operators and calls."""
        for at, token in enumerate(self._tokens):
            if token.text in ORDERS:
                self._order(at)
            elif token.text in ("=", "==", "===", "!=", "<>") and token.out in _EQUALS:
                self._equate(at)
            elif token.text == "(" and at and self._tokens[at - 1].kind == "word":
                self._call(at)
            elif is_keyword(self._tokens, at):
                self._word(at)
            elif at in self._columns or at in self._derived:
                self._add(at)
        # What is inside is written first.
        wraps = sorted([*self._casts, *self._wraps], key=lambda wrap: wrap[0][1] - wrap[0][0])
        for (first, last), before, behind in wraps:
            for at, form in ((first, f"{before}{{}}"), (last, f"{{}}{behind}")):
                written = self._tokens[at].out
                self._tokens[at].out = form.format(self._tokens[at].text if written is None else written)

    def _word(self, at: int) -> None:
        word = self._tokens[at].upper
        if word == "BETWEEN":
            self._between(at)
        elif word == "BY" and self._tokens[at - 1].upper == "ORDER":
            for item in self._spans.sorted_items(at):
                self._sort(item)

    def _wrap(self, span: TokenSpan, before: str, behind: str) -> None:
        self._wraps.append((span, _ours(before), _ours(behind)))

    def _note(self, span: TokenSpan) -> None:
        if (column := self._kinds.column(span)) and not stored_column(column).is_number:
            self.numeric.append(column)

    def _has_collation(self, *spans: TokenSpan) -> bool:
        return any(self._tokens[at].upper == "COLLATE" for first, last in spans for at in range(first, last + 1))

    def _is_order_of_texts(self, *spans: TokenSpan) -> bool:
        """Return whether operands are compared as texts: one is a text that is no number, and none is a number."""
        kinds = list(map(self._kinds.kind, spans))
        texts = [text for span in spans if (text := self._kinds.literal(span)) is not None]
        return NUMBER not in kinds and (
            any(not is_numeral(text) for text in texts) or all(kind == TEXT for kind in kinds)
        )

    def _orders_by_sqlite(self, *spans: TokenSpan) -> bool:
        """Return whether SQLite compares the operands as it should; arrays and objects, then, are none of them."""
        if self._has_collation(*spans) or any(first > last for first, last in spans):
            return True
        if all(self._kinds.kind(span) in NUMBERS for span in spans):
            return True
        if not self._is_order_of_texts(*spans):
            return False
        for span in spans:
            if (column := self._kinds.column(span)) and stored_column(column).holds_json:
                self._wrap(span, "accp_scalar(", ")")
        return True

    def _exact(self, *spans: TokenSpan) -> None:
        """Write long numbers as texts: a float has not all of their digits."""
        for span in spans:
            digits = self._kinds.digits(span)
            if digits is not None and len(digits.strip("-").replace(".", "")) > _MAX_EXACT_DIGITS:
                self._tokens[span[0]].out, self._tokens[span[1]].out = "", f"'{digits}'"

    def _operator(self, at: int, out: str) -> None:
        """Write an operator as something else; a comment keeps it for the name of the column."""
        token = self._tokens[at]
        token.out = f"\f{out} /*\f{token.text if token.out is None else token.out}\f*/\f"

    def _order(self, at: int) -> None:
        left, right = self._spans.before(at), self._spans.after(at)
        if self._orders_by_sqlite(left, right):
            return
        self._note(left)
        self._note(right)
        self._exact(left, right)
        sign = self._tokens[at].text
        self._operator(at, ",")
        self._wrap((left[0], right[1]), "(accp_order(", f") {sign} 0)")

    def _between(self, at: int) -> None:
        is_not = self._tokens[at - 1].upper == "NOT"
        value, low = self._spans.before(at - is_not), self._spans.after(at)
        joint = low[1] + 1
        if joint >= len(self._tokens) or self._tokens[joint].upper != "AND":
            return
        high = self._spans.after(joint)
        if self._orders_by_sqlite(value, low, high):
            return
        self._note(value)
        self._exact(low, high)
        if is_not:
            self._operator(at - 1, "")
        self._operator(at, ",")
        self._operator(joint, ",")
        self._wrap((value[0], high[1]), f"({'NOT ' * is_not}accp_between(", "))")

    def _equate(self, at: int) -> None:
        left, right = self._spans.before(at), self._spans.after(at)
        kinds = (self._kinds.kind(left), self._kinds.kind(right))
        if left[0] > left[1] or right[0] > right[1] or self._has_collation(left, right):
            return
        if NUMBER not in kinds or set(kinds) <= NUMBERS:
            return
        other = left if kinds[1] == NUMBER else right
        literal = self._kinds.literal(other)
        if literal is not None and is_numeral(literal):
            return
        negated = _EQUALS[self._tokens[at].out or "="]
        if not negated and self._joins(left, right, other):
            return
        self._exact(left, right)
        self._operator(at, ",")
        self._wrap((left[0], right[1]), f"({negated}accp_equals(", "))")

    def _joins(self, left: TokenSpan, right: TokenSpan, other: TokenSpan) -> bool:
        """Write `id = code` so that SQLite makes an index for it, where `other` has the texts; return whether it is so.

        By the type of a column of numbers SQLite reads 01234 as 1234: that is looked at where both are equal.
        """
        if (
            self._kinds.kind(other) not in TEXTS
            or self._kinds.literal(other) is not None
            or self._kinds.digits(left)
            or self._kinds.digits(right)
        ):
            return False
        name = self._tokens[other[0]].out
        is_name = name and not any(self._tokens[at].out for at in range(other[0] + 1, other[1] + 1))
        if is_name and self._kinds.column(left if other == right else right):
            self._wrap((left[0], right[1]), "(", f" AND accp_numeral({name}) IS NOT NULL)")
        else:
            self._wrap(other, "accp_number(", ")")
        return True

    def _call(self, at: int) -> None:
        name = self._tokens[at - 1].upper
        if name == "IN" and is_keyword(self._tokens, at - 1):
            self._among(at)
            return
        if name == "CAST":
            self._cast(at)
        if name in _DATES:
            self._date(at, name)
        if name not in ADDS | EXTREMES | TAKES_NUMBER:
            return
        spans = self._spans.arguments(at)
        if name in EXTREMES and len(spans) > 1 and NUMERALS in map(self._kinds.kind, spans):
            self._casts.append(((at - 1, self._spans.end_of(at)), _ours("CAST("), _ours(" AS TEXT)")))
        for span in spans if name not in TAKES_NUMBER else spans[:1]:
            kind = self._kinds.kind(span)
            if kind in NUMBERS:
                continue
            if name in EXTREMES and len(spans) == 1:
                self._extreme(span, kind)
            elif name not in EXTREMES or kind == NUMERALS:
                self._note(span)
                self._wrap(span, "accp_number(", ")")

    def _date(self, at: int, name: str) -> None:
        """Refuse what means the present time: answers would differ from call to call."""
        spans = self._spans.arguments(at)
        texts = [self._kinds.literal(span) for span in spans if span[0] <= span[1]]
        if len(texts) <= (name == "STRFTIME") or "now" in [text and text.casefold() for text in texts]:
            raise refuse_present_time(f"{name.lower()}('now')")

    def _extreme(self, span: TokenSpan, kind: str) -> None:
        if kind == NUMERALS:
            self._note(span)
            self._wrap(span, "accp_numeral(", f") COLLATE {ASCENDING}")
        elif kind == UNKNOWN and not self._has_collation(span):
            self._wrap(span, "", f" COLLATE {ASCENDING}")

    def _cast(self, at: int) -> None:
        closing = self._spans.end_of(at)
        last = closing - 1
        while last > at and self._tokens[last].upper != "AS":
            last -= 1
        span = (at + 1, last - 1)
        if self._tokens[last + 1].upper not in CASTS_TO_TEXT and self._kinds.kind(span) not in NUMBERS:
            self._note(span)
            self._wrap(span, "accp_castable(", ")")

    def _add(self, at: int) -> None:
        """Write a column that is an operand of arithmetic."""
        end = self._columns[at][0] if at in self._columns else self._derived[at][0]
        signs = {token.text for token in (*self._tokens[max(at - 1, 0) : at], *self._tokens[end : end + 1])}
        if signs & ARITHMETIC and self._kinds.kind((at, end - 1)) not in NUMBERS:
            self._note((at, end - 1))
            self._wrap((at, end - 1), "accp_number(", ")")

    def _among(self, at: int) -> None:
        is_not = self._tokens[at - 2].upper == "NOT"
        left, closing = self._spans.before(at - 1 - is_not), self._spans.end_of(at)
        if left[0] > left[1] or closing == at + 1:
            return
        if self._tokens[at + 1].upper == "SELECT":
            self._among_rows(left, self._kinds.selected(at + 1))
            return
        spans = self._spans.arguments(at)
        members = [each for span in spans if (each := self._member(span)) is not None]
        kind = self._kinds.kind(left)
        is_mixed = (
            any(each[0] != '"' for each in members) if kind != NUMBER else any(each[0] == '"' for each in members)
        )
        if len(members) < len(spans) or not is_mixed:
            return
        for token in self._tokens[at : closing + 1]:
            token.out = ""
        if is_not:
            self._operator(at - 2, "")
        self._operator(at - 1, ",")
        listed = f"[{','.join(members)}]".replace("'", "''")
        self._tokens[closing].out = f"'{listed}'"
        self._wrap((left[0], closing), f"({'NOT ' * is_not}accp_among(", "))")

    def _member(self, span: TokenSpan) -> str | None:
        """Return a text or a number in JSON; None: it is neither."""
        text, digits = self._kinds.literal(span), self._kinds.digits(span)
        if text is not None:
            return compact_json(text)
        if digits is None:
            return None
        return digits if is_numeral(digits) else repr(float(digits))

    def _among_rows(self, left: TokenSpan, item: TokenSpan) -> None:
        """Compare numbers with texts that a query finds; none of them is converted by the type of the other."""
        kinds = (self._kinds.kind(left), self._kinds.kind(item))
        if NUMBER in kinds and not TEXTS.isdisjoint(kinds):
            for span, kind in zip((left, item), kinds, strict=True):
                self._wrap(span, *(("+", "") if kind == NUMBER else ("accp_either(", ")")))

    def _sort(self, item: TokenSpan) -> None:
        first, last = item
        while last > first and self._tokens[last].upper in ("FIRST", "LAST", "NULLS", "ASC", "DESC"):
            last -= 1
        span = (first, last)
        words = [self._tokens[at].upper for at in range(last + 1, item[1] + 1)]
        # A number alone counts the columns of the result.
        kind = UNKNOWN if self._kinds.digits(span) is not None else self._kinds.kind(span)
        if first > last or kind in NUMBERS | {TEXT} or self._has_collation(span):
            return
        self._wrap(span, "", f" COLLATE {DESCENDING if 'DESC' in words else ASCENDING}")
        if self._kinds.column(span) is not None:
            self._note(span)
            if "NULLS" not in words:
                self._wrap((first, item[1]), "", " NULLS LAST")
