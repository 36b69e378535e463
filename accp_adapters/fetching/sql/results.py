"""Results of functions, CASE and queries that are numerals in a text compare as their column does.

SQLite forgets it: `max(price) > 100` of "9.50" and "250.00" would compare a text with a number, and ORDER BY would sort
texts. So what such a call returns is written as a text in the collation NUMBER again, in the spelling of its column.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from accp_adapters.fetching.sql.bare_text import COMPARES
from accp_adapters.fetching.sql.functions import AS_NUMBER
from accp_adapters.fetching.sql.scope import BEGINS_QUERY, is_keyword
from accp_adapters.fetching.sql.storage import NUMBER
from accp_adapters.fetching.sql.tokens import Token

__all__ = ["compare_results_as_numbers", "without_casts"]

_RETURNS_ARGUMENT: Final = frozenset(
    ("MAX", "MIN", "COALESCE", "IFNULL", "IIF", "LAG", "LEAD", "FIRST_VALUE", "LAST_VALUE", "NTH_VALUE")
)
_COMPARES_ARGUMENTS: Final = frozenset(("MAX", "MIN"))
"""Functions of several arguments that compare them as constants."""
_BEHIND_CALL: Final = frozenset(("FILTER", "OVER"))
_BEFORE_ROWS: Final = frozenset(("IN", "EXISTS", "FROM", "JOIN"))
_BEHIND_OPERAND: Final = COMPARES | {"BETWEEN", "IN", "NOT"}
# No query of a model has a form feed; the names of columns are cleaned of these.
_BEFORE: Final = "CAST(\f"
_BEHIND: Final = f"\f AS TEXT) COLLATE {NUMBER}"


@dataclass(slots=True)
class _Open:
    """A function, CASE or query whose end is not reached."""

    name: str
    """In upper case; empty: neither of them."""
    first: int
    """The index of its first token."""
    holds_numerals: bool = False
    """Whether it may return a numeral."""


def without_casts(name: str) -> str:
    """Return the name that a result column has without what this module wrote."""
    return name.replace(_BEFORE, "").replace(_BEHIND, "")


def compare_results_as_numbers(tokens: Sequence[Token], numerals: Mapping[int, int]) -> None:
    """Change what is written for each call that may return a numeral.

    Args:
        tokens: The tokens of a query that was resolved.
        numerals: The columns whose texts compare as numbers: the index of the first token, and that behind the last.
    """
    opened: list[_Open] = []
    for at, token in enumerate(tokens):
        if token.text == "(" or (token.upper == "CASE" and is_keyword(tokens, at)):
            opened.append(_open(tokens, at))
        elif opened and (token.text == ")" or (token.upper == "END" and opened[-1].name == "CASE")):
            _close(tokens, at, opened)
        elif opened and at in numerals:
            _find_result(tokens, at, numerals[at], opened[-1])


def _open(tokens: Sequence[Token], at: int) -> _Open:
    previous = tokens[at - 1] if at else None
    if tokens[at].text != "(":
        return _Open("CASE", at)
    if at + 1 < len(tokens) and tokens[at + 1].upper in BEGINS_QUERY:
        return _Open("SELECT", at)
    is_call = previous is not None and previous.upper in _RETURNS_ARGUMENT
    return _Open(previous.upper, at - 1) if previous is not None and is_call else _Open("", at)


def _find_result(tokens: Sequence[Token], at: int, end: int, inside: _Open) -> None:
    """Note whether what stands from `at` to `end` is a result of what it stands in."""
    previous = tokens[at - 1].upper
    following = tokens[end].upper if end < len(tokens) else ""
    if inside.name == "CASE":
        inside.holds_numerals |= previous in ("THEN", "ELSE") and following in ("WHEN", "ELSE", "END")
    elif inside.name == "SELECT":
        inside.holds_numerals |= previous in ("SELECT", "DISTINCT") and following in ("FROM", "AS")
    elif inside.name and previous in ("(", ",", "DISTINCT") and following in (",", ")"):
        if inside.name in _COMPARES_ARGUMENTS and "," in (previous, following):
            _wrap(tokens, at, end - 1, f"{AS_NUMBER}(", ")")
        inside.holds_numerals = True


def _close(tokens: Sequence[Token], at: int, opened: list[_Open]) -> None:
    closed = opened.pop()
    end = _end_of_call(tokens, at)
    inside = opened[-1] if opened else _Open("", 0)
    if closed.holds_numerals and (closed.name != "SELECT" or _is_operand(tokens, closed.first, end, inside)):
        _wrap(tokens, closed.first, end - 1, _BEFORE, _BEHIND)
        if opened:
            _find_result(tokens, closed.first, end, inside)


def _end_of_call(tokens: Sequence[Token], at: int) -> int:
    """Return the index behind the call that ends with the token `at`, its FILTER and its OVER."""
    at += 1
    while at + 1 < len(tokens) and tokens[at].upper in _BEHIND_CALL and tokens[at + 1].text == "(":
        depth, at = 1, at + 2
        while depth and at < len(tokens):
            depth += (tokens[at].text == "(") - (tokens[at].text == ")")
            at += 1
    return at


def _is_operand(tokens: Sequence[Token], first: int, end: int, inside: _Open) -> bool:
    """Return whether a query is one value, in a call or beside an operator; behind FROM or IN it has rows."""
    previous = tokens[first - 1].upper if first else ""
    following = tokens[end].upper if end < len(tokens) else ""
    is_beside = inside.name not in ("", "SELECT") or previous in COMPARES or following in _BEHIND_OPERAND
    return is_beside and previous not in _BEFORE_ROWS


def _wrap(tokens: Sequence[Token], first: int, last: int, before: str, behind: str) -> None:
    for at, form in ((first, f"{before}{{}}"), (last, f"{{}}{behind}")):
        written = tokens[at].out
        tokens[at].out = form.format(tokens[at].text if written is None else written)
