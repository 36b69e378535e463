"""What a query may call. Functions whose time or result SQLite does not bound are replaced by ones that are."""

from __future__ import annotations

import functools
import math
import re
import sqlite3
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from accp_adapters.fetching.deadline import PIECE, Deadline
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError

__all__ = ["FUNCTIONS", "OPERATORS", "TABLE_FUNCTIONS", "QueryConnection", "add_functions"]

_NAMES: Final = """
    abs avg ceil ceiling coalesce concat count cume_dist date datetime dense_rank first_value floor format glob
    group_concat ifnull iif instr json_array_length json_extract json_type json_valid julianday lag last_value lead
    length like lower ltrim max min mod nth_value ntile nullif percent_rank pow power printf rank replace round
    row_number rtrim sign sqrt strftime substr substring sum time total trim typeof unicode unixepoch upper
"""
FUNCTIONS: Final = frozenset(_NAMES.split())
"""The functions that a query may call, in lower case."""
TABLE_FUNCTIONS: Final = frozenset(("json_each", "json_tree"))
"""The functions that a query may call in place of a table."""
OPERATORS: Final = frozenset(("->", "->>"))
"""The operators that SQLite treats as functions."""

_MAX_RESULT_CHARS: Final = 1_000_000
_MAX_PATTERN_CHARS: Final = 1_000
_GLOB: Final = re.compile(r"\[\^?\]?[^\]]*\]|.", re.DOTALL)
_FORMAT: Final = re.compile(r"%(?:%|[-+ 0,]*[0-9]{0,2}(?:\.[0-9]{1,2})?[sdifgxXeE])")


class QueryConnection(sqlite3.Connection):
    """A connection of one query."""

    failure: ProtocolError | None = None
    """Why one of our functions refused its arguments; SQLite only says that one did."""
    deadline: Deadline | None = None
    """When the query is over; SQLite does not look at the clock while one of our functions runs."""


def add_functions(connection: QueryConnection) -> None:
    """Replace the functions of SQLite that a hostile text or pattern makes slow, and add what models expect.

    LIKE of SQLite tries every way to match `%a%a%a%`; these match in one pass, and letters of any alphabet without
    regard to case. The deadline is that of `connection`.
    """
    deadline = connection.deadline or Deadline(math.inf, "")
    for name, arguments, function in _REPLACED:
        bound = functools.partial(function, deadline) if function in _TIMED else function
        guarded = _guard(connection, bound, deadline, takes_null=arguments < 0)
        connection.create_function(name, arguments, guarded, deterministic=True)


def _guard(
    connection: QueryConnection, function: Callable[..., Any], deadline: Deadline, *, takes_null: bool
) -> Callable[..., Any]:
    """Return the function with the answer null where an argument is null or fits it not, as in SQL."""

    def guarded(*arguments: Any) -> Any:
        if not takes_null and None in arguments:
            return None
        try:
            deadline.check()
            return function(*arguments)
        except ProtocolError as error:
            connection.failure = error
            raise
        except (ArithmeticError, TypeError, ValueError):
            return None

    return guarded


def _refusal(reason: str) -> ProtocolError:
    return ProtocolError(reason, code=ErrorCode.BUDGET_EXCEEDED)


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _like(deadline: Deadline, pattern: Any, text: Any, escape: str = "") -> bool:
    parts = _like_parts(deadline.in_pieces(str.casefold, _text(pattern)), escape)
    return _matches(parts, deadline.in_pieces(str.casefold, _text(text)), deadline)


def _glob(deadline: Deadline, pattern: Any, text: Any) -> bool:
    return _matches(_glob_parts(_text(pattern)), _text(text), deadline)


class _Part(NamedTuple):
    """A part of a pattern that matches texts of one length."""

    pattern: re.Pattern[str]
    width: int


def _check_pattern(pattern: str) -> None:
    if len(pattern) > _MAX_PATTERN_CHARS:
        found = f"{len(pattern):,}"
        raise _refusal(f"expected a pattern of at most {_MAX_PATTERN_CHARS:,} characters, found one of {found}")


def _compile(parts: list[list[str]]) -> tuple[_Part, ...]:
    return tuple(_Part(re.compile("".join(part), re.DOTALL), len(part)) for part in parts)


@functools.lru_cache(maxsize=64)
def _like_parts(pattern: str, escape: str) -> tuple[_Part, ...]:
    """Return the parts of a pattern between `%`."""
    _check_pattern(pattern)
    parts: list[list[str]] = [[]]
    letters = iter(pattern)
    for letter in letters:
        if escape and letter == escape:
            parts[-1].append(re.escape(next(letters, "")))
        elif letter == "%":
            parts.append([])
        else:
            parts[-1].append("." if letter == "_" else re.escape(letter))
    return _compile(parts)


@functools.lru_cache(maxsize=64)
def _glob_parts(pattern: str) -> tuple[_Part, ...]:
    """Return the parts of a pattern between `*`."""
    _check_pattern(pattern)
    parts: list[list[str]] = [[]]
    for piece in _GLOB.findall(pattern):
        if piece == "*":
            parts.append([])
        elif len(piece) > 1:
            start = 2 if piece.startswith("[^") else 1
            inner = re.sub(r"([\\\[\]&~|^])", r"\\\1", piece[start:-1])
            parts[-1].append(f"[{'^' if start == 2 else ''}{inner}]")
        else:
            parts[-1].append("." if piece == "?" else re.escape(piece))
    return _compile(parts)


def _matches(parts: tuple[_Part, ...], text: str, deadline: Deadline) -> bool:
    """Return whether `text` is the parts in order with any text between them; each is taken where it first occurs."""
    first, *others = parts
    if not others:
        return first.pattern.fullmatch(text) is not None
    end = first.width if first.pattern.match(text) else -1
    for part in others[:-1]:
        end = end if end < 0 else _search(part, text, end, deadline)
    last = len(text) - others[-1].width
    return 0 <= end <= last and others[-1].pattern.fullmatch(text, last) is not None


def _search(part: _Part, text: str, start: int, deadline: Deadline) -> int:
    """Return where the first occurrence of `part` from `start` on ends, -1 without one.

    At each place of the text, `re` may look at the whole pattern; no other thread runs meanwhile.
    """
    places = PIECE // (len(part.pattern.pattern) + 1) + 1
    for at in range(start, len(text) - part.width + 1, places):
        deadline.check()
        if found := part.pattern.search(text, at, at + places + part.width - 1):
            return found.end()
    return -1


def _lower(deadline: Deadline, text: Any) -> str:
    given = _text(text)
    # How a sigma is written depends on the letters around it.
    return given.lower() if "\u03a3" in given else deadline.in_pieces(str.lower, given)


def _upper(deadline: Deadline, text: Any) -> str:
    return deadline.in_pieces(str.upper, _text(text))


def _instr(text: Any, part: Any) -> int:
    return _text(text).find(_text(part)) + 1


def _replace(text: Any, old: Any, new: Any) -> str:
    given, part, by = _text(text), _text(old), _text(new)
    if not part:
        return given
    if len(given) + given.count(part) * (len(by) - len(part)) > _MAX_RESULT_CHARS:
        raise _refusal(f"expected a text of at most {_MAX_RESULT_CHARS:,} characters from replace, found a longer one")
    return given.replace(part, by)


def _printf(pattern: Any, *values: Any) -> str:
    """Write values as `printf` does, with widths of at most 99; `%,d` groups thousands."""
    given = _text(pattern)
    if "%" in _FORMAT.sub("", given):
        raise _refusal(f"expected a format such as '%.2f' of at most 99 characters, found {given[:40]!r}")
    left = list(values)
    return _FORMAT.sub(lambda found: _formatted(found[0], left), given)


def _formatted(pattern: str, left: list[Any]) -> str:
    if pattern == "%%":
        return "%"
    value = left.pop(0) if left else None
    kind = pattern[-1]
    if kind == "s":
        return pattern.replace(",", "") % ("" if value is None else _text(value))
    number = float(value or 0) if kind in "fgeE" else int(float(value or 0))
    if "," in pattern:
        return format(number, "," + pattern[1:].replace(",", "").replace("i", "d"))
    return pattern % number


def _concat(*values: Any) -> str:
    return "".join(_text(value) for value in values if value is not None)


_REPLACED: Final[tuple[tuple[str, int, Callable[..., Any]], ...]] = (
    ("like", 2, _like), ("like", 3, _like), ("glob", 2, _glob), ("instr", 2, _instr), ("replace", 3, _replace),
    ("lower", 1, _lower), ("upper", 1, _upper),
    ("ceil", 1, math.ceil), ("ceiling", 1, math.ceil), ("floor", 1, math.floor), ("sqrt", 1, math.sqrt),
    ("mod", 2, math.fmod), ("pow", 2, math.pow), ("power", 2, math.pow),
    ("printf", -1, _printf), ("format", -1, _printf), ("concat", -1, _concat),
)  # fmt: skip
_TIMED: Final = frozenset((_like, _glob, _lower, _upper))
"""Those that look at the deadline themselves, their first argument."""
