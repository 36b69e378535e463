"""What stands beside a column in an expression: whether a column, a text or a number is meant there."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from accp_adapters.fetching.sql.tokens import SqlToken

__all__ = ["has_arithmetic_behind", "is_column_before", "is_text_call_before"]

_ARITHMETIC: Final = frozenset(("+", "-", "*", "/", "%", "||"))
_GIVES_TEXT: Final = frozenset(
    ("LOWER", "UPPER", "TRIM", "LTRIM", "RTRIM", "SUBSTR", "SUBSTRING", "COALESCE", "IFNULL")
)
"""Functions that return a text where their first argument is one."""
_NO_TOKEN: Final = SqlToken("sign", "", 0, 0)


def is_column_before(tokens: Sequence[SqlToken], run: tuple[int, int], at: int) -> bool:
    """Return whether what the operator at `at` compares is the column in the tokens of `run`, and no expression."""
    start, end = run
    return not _words(tokens[end:at]) and not (start and tokens[start - 1].text in _ARITHMETIC)


def is_text_call_before(tokens: Sequence[SqlToken], run: tuple[int, int], at: int) -> bool:
    """Return whether what the operator compares is a call of the column that returns a text: `lower(status)`."""
    start, end = run
    words = _words(tokens[end:at])
    is_call = start > 1 and tokens[start - 1].text == "(" and tokens[start - 2].upper in _GIVES_TEXT
    return is_call and words[-1:] == [")"] and words.count(")") == 1


def _words(tokens: Sequence[SqlToken]) -> list[str]:
    return [token.text for token in tokens if token.upper not in ("IS", "NOT")]


def has_arithmetic_behind(tokens: Sequence[SqlToken], at: int, columns: Collection[str]) -> bool:
    """Return whether the name at `at` is an operand: `price * 2`, `price-discount`, but not `paid-late`.

    `columns`: the names of all columns, without regard to case.
    """
    sign, behind = [*tokens[at + 1 : at + 3], _NO_TOKEN, _NO_TOKEN][:2]
    is_operand = behind.kind == "number" or behind.text == "(" or behind.name.casefold() in columns
    return sign.text in _ARITHMETIC and is_operand
