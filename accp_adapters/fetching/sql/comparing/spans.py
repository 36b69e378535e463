"""Where operands, arguments and items of a query begin and end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

from accp_adapters.fetching.sql.scope import is_keyword
from accp_adapters.fetching.sql.tokens import SqlToken, refuse, tokenize

__all__ = ["ORDERS", "Spans", "TokenSpan", "spread_chains"]

TokenSpan: TypeAlias = tuple[int, int]
"""The indices of the first and the last token; the last before the first: there is none."""

ORDERS: Final = frozenset(("<", ">", "<=", ">="))
"""Operators that compare which operand is less."""
_COMPARES: Final = ORDERS | {"=", "==", "===", "!=", "<>", "<=>"}
_MAX_NESTED: Final = 200
"""SQLite has no deeper expressions."""
_WORDS: Final = """
    ALL AND AS ASC BETWEEN BY CROSS DESC DISTINCT ELSE EXCEPT EXISTS FROM FULL GLOB GROUP HAVING ILIKE IN INNER
    INTERSECT IS ISNULL JOIN LEFT LIKE LIMIT NATURAL NOT NOTNULL NULLS OFFSET ON OR ORDER OUTER RANGE RIGHT ROWS SELECT
    THEN UNION USING VALUES WHEN WHERE WINDOW WITH
"""
_ENDS_OPERAND: Final = frozenset(_WORDS.split())
_ENDS_ITEM: Final = frozenset(("SELECT", "DISTINCT", "ALL", "FROM", "JOIN", "WITH", "WHERE", "ON", "BY"))


class Spans:
    """The parts of a query whose tokens are resolved."""

    def __init__(self, tokens: Sequence[SqlToken]) -> None:
        """Find the pairs of parentheses; E1004: one has no end, or there are too many within each other."""
        self._tokens = tokens
        self._pairs: dict[int, int] = {}
        """The index of each parenthesis and CASE to that of its end, and back."""
        opened: list[int] = []
        for at, token in enumerate(tokens):
            if token.text == "(" or self._is_word(at, "CASE"):
                opened.append(at)
                if len(opened) > _MAX_NESTED:
                    raise refuse(f"expected at most {_MAX_NESTED} parentheses within each other, found more")
            elif opened and (token.text == ")" or self._is_word(at, "END")):
                self._pairs[at] = opened[-1]
                self._pairs[opened.pop()] = at
        for at in opened:
            if tokens[at].text == "(":
                written = "".join(token.text for token in tokens[max(at - 1, 0) : at + 1])
                raise refuse(f"expected ) for each (, found {written!r} without it")

    def _is_word(self, at: int, word: str) -> bool:
        return self._tokens[at].upper == word and is_keyword(self._tokens, at)

    def _ends(self, at: int, words: frozenset[str]) -> bool:
        token = self._tokens[at]
        if token.out == "":
            return False
        signs = _COMPARES if words is _ENDS_OPERAND else ()
        return token.text == "," or token.text in signs or (token.upper in words and is_keyword(self._tokens, at))

    def end_of(self, at: int) -> int:
        """Return the index of the end of what `(` or CASE at `at` begins."""
        return self._pairs.get(at, len(self._tokens) - 1)

    def before(self, at: int) -> TokenSpan:
        """Return the operand in front of the operator at `at`."""
        return self._before(at, _ENDS_OPERAND)

    def item_before(self, at: int) -> TokenSpan:
        """Return the item of a SELECT whose alias, or the AS in front of it, is at `at`."""
        return self._before(at, _ENDS_ITEM)

    def _before(self, at: int, words: frozenset[str]) -> TokenSpan:
        start = at
        while start:
            opening = self._pairs.get(start - 1, start - 1)
            if opening > start - 1 or self._tokens[start - 1].text == "(" or self._ends(start - 1, words):
                break
            start = opening
        return start, at - 1

    def after(self, at: int) -> TokenSpan:
        """Return the operand behind the operator at `at`."""
        end, ends_operand = at + 1, False
        while end < len(self._tokens):
            token, closing = self._tokens[end], self._pairs.get(end, end)
            if closing < end or token.text == ")" or self._ends(end, _ENDS_OPERAND):
                break
            is_value = token.kind in ("string", "number", "quoted", "word") and not is_keyword(self._tokens, end)
            if ends_operand and is_value and token.out != "":
                break
            ends_operand = is_value or closing > end or token.out == ""
            end = closing + 1
        return at + 1, end - 1

    def arguments(self, opening: int) -> list[TokenSpan]:
        """Return the arguments of a call whose parenthesis is at `opening`, without DISTINCT."""
        closing = self.end_of(opening)
        first = opening + 2 if self._tokens[opening + 1].upper == "DISTINCT" else opening + 1
        return list(self._split(first, closing))

    def _split(self, start: int, end: int) -> Iterator[TokenSpan]:
        at = start
        while at < end:
            if self._tokens[at].text == "," and self._tokens[at].kind == "sign":
                yield start, at - 1
                start = at + 1
            at = max(self._pairs.get(at, at), at) + 1
        if start < end:
            yield start, end - 1

    def sorted_items(self, by: int) -> list[TokenSpan]:
        """Return the items behind the BY of an ORDER BY, with their ASC, DESC and NULLS."""
        stops = frozenset(("LIMIT", "ROWS", "RANGE", "UNION", "EXCEPT", "INTERSECT", "OFFSET"))
        end = by + 1
        while end < len(self._tokens):
            if self._tokens[end].text == ")" or (self._tokens[end].upper in stops and is_keyword(self._tokens, end)):
                break
            end = max(self._pairs.get(end, end), end) + 1
        return list(self._split(by + 1, end))

    def branches(self, case: int) -> list[TokenSpan]:
        """Return what stands behind each THEN and ELSE of the CASE at `case`."""
        end, found = self.end_of(case), []
        at = case + 1
        while at < end:
            if self._is_word(at, "THEN") or self._is_word(at, "ELSE"):
                found.append(self._branch(at, end))
            at = max(self._pairs.get(at, at), at) + 1
        return found

    def _branch(self, at: int, end: int) -> TokenSpan:
        stop = at + 1
        while stop < end and not (self._is_word(stop, "WHEN") or self._is_word(stop, "ELSE")):
            stop = max(self._pairs.get(stop, stop), stop) + 1
        return at + 1, stop - 1


def spread_chains(query: str) -> str:
    """Return a query whose chains of comparisons are what they mean: `1 <= id <= 3` is `(1 <= id AND id <= 3)`."""
    tokens = tokenize(query)
    spans, parts, start = Spans(tokens), [], 0
    for at, token in enumerate(tokens):
        if token.text not in ORDERS or token.start < start:
            continue
        operators = [at]
        while (following := spans.after(operators[-1])[1] + 1) < len(tokens) and tokens[following].text in ORDERS:
            operators.append(following)
        operands = [spans.before(at), *map(spans.after, operators)]
        if len(operators) == 1 or any(first > last for first, last in operands):
            continue
        texts = [query[tokens[first].start : tokens[last].end] for first, last in operands]
        signs = [tokens[operator].text for operator in operators]
        links = [" ".join(link) for link in zip(texts, signs, texts[1:], strict=False)]
        parts += [query[start : tokens[operands[0][0]].start], f"({' AND '.join(links)})"]
        start = tokens[operands[-1][1]].end
    return "".join(parts) + query[start:]
