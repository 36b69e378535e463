"""What a query may call. Functions whose time or result SQLite does not bound are replaced by ones that are."""

from __future__ import annotations

import functools
import math
import re
import sqlite3
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from accp_adapters.fetching.budget import PIECE, WorkBudget
from accp_adapters.fetching.sql.tables import refuse
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError

__all__ = ["CALLS", "CHECKED", "FUNCTIONS", "OPERATORS", "TABLE_FUNCTIONS", "QueryConnection", "add_functions", "guard"]

_NAMES: Final = {
    "adds": "abs avg ceil ceiling floor mod pow power round sign sqrt sum total",
    "counts": """count cume_dist dense_rank instr json_array_length json_valid julianday length ntile percent_rank rank
        row_number unicode unixepoch""",
    "writes": """char concat format group_concat json_type lower ltrim printf replace rtrim substr substring trim typeof
        upper""",
    "chooses": "coalesce ifnull iif max min nullif",
    "looks": "first_value lag last_value lead nth_value",
    "tests": "glob like",
    "": "date datetime json_extract strftime time",
}
CALLS: Final = {name: group for group, names in _NAMES.items() for name in names.split()}
"""The functions that a query may call, in lower case, by what they do."""
FUNCTIONS: Final = frozenset(CALLS)
TABLE_FUNCTIONS: Final = frozenset(("json_each", "json_tree"))
"""The functions that a query may call in place of a table."""
OPERATORS: Final = frozenset(("->", "->>"))
"""The operators that SQLite treats as functions."""

CHECKED: Final = "accp_checked"
"""The function that checks a value which only its row tells, such as one of `json_extract`."""
_NUMERAL: Final = re.compile(r"-?(?:0|[1-9]\d{0,17})(?:\.\d{1,17})?")
_READ: Final = re.compile(r"\s*[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?\s*")
"""A text that SQLite adds as a number."""

_Function: TypeAlias = tuple[str, int, Callable[..., Any]]
"""The name of a function, how many arguments it has (-1: any number), and what is called."""
_CALL: Final = 10
"""Steps of a call."""
_PATTERN_CHAR: Final = 100
"""Steps for each character of a pattern that is read."""
_MAX_RESULT_CHARS: Final = 1_000_000
_MAX_PATTERN_CHARS: Final = 1_000
_GLOB: Final = re.compile(r"\[\^?\]?[^\]]*\]|.", re.DOTALL)
_FORMAT: Final = re.compile(r"%(?:%|[-+ 0,]*[0-9]{0,2}(?:\.[0-9]{1,2})?[sdifgxXeE])")


class QueryConnection(sqlite3.Connection):
    """A connection of one query."""

    is_large: bool = False
    """Whether the query took too much memory."""
    failure: ProtocolError | None = None
    """Why one of our functions refused its arguments; SQLite only says that one did."""
    budget: WorkBudget = WorkBudget(math.inf, "")
    """The work that is left for the query, that of our functions among it."""


def add_functions(connection: QueryConnection, *, with_patterns: bool = True) -> None:
    """Replace the functions of SQLite that a hostile text or pattern makes slow, and add what models expect.

    LIKE of SQLite tries every way to match `%a%a%a%`; these match in one pass, and letters of any alphabet without
    regard to case. Their work is taken from the budget of `connection`.
    """
    texts = _Texts(connection.budget)
    for name, arguments, function in (*_REPLACED, *texts.functions()):
        if name in ("like", "glob") and not with_patterns:
            continue
        guarded = guard(connection, function, takes_null=arguments < 0)
        connection.create_function(name, arguments, guarded, deterministic=True)


def guard(connection: QueryConnection, function: Callable[..., Any], *, takes_null: bool) -> Callable[..., Any]:
    """Return a function whose calls are counted; null is its answer where an argument fits it not, as in SQL."""
    spend = connection.budget.spend

    def guarded(*arguments: Any) -> Any:
        if not takes_null and None in arguments:
            return None
        try:
            spend(_CALL)
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


class _Part(NamedTuple):
    """A part of a pattern that matches texts of one length."""

    width: int
    literal: str
    pattern: re.Pattern[str] | None
    """What it matches; None: the text `literal` alone."""

    def matches(self, text: str, at: int) -> bool:
        """Return whether it matches what stands at `at`."""
        return text.startswith(self.literal, at) if self.pattern is None else self.pattern.match(text, at) is not None


class _Texts:
    """The functions of one query that look at long texts."""

    def __init__(self, budget: WorkBudget) -> None:
        self._budget = budget
        # Not shared with other queries: what is remembered decides which patterns are counted again.
        self._like_parts = functools.lru_cache(maxsize=64)(self._parts_of_like)
        self._glob_parts = functools.lru_cache(maxsize=64)(self._parts_of_glob)

    def functions(self) -> Sequence[_Function]:
        """Return them as `_REPLACED` has the others."""
        like, glob = self._like, self._glob
        in_pieces = (("lower", 1, self._lower), ("upper", 1, self._upper), ("instr", 2, self._instr))
        return (("like", 2, like), ("like", 3, like), ("glob", 2, glob), *in_pieces)

    def _like(self, pattern: Any, text: Any, escape: str = "") -> bool:
        folded = self._budget.in_pieces(str.casefold, _text(text))
        return self._matches(self._like_parts(_text(pattern), escape), folded)

    def _glob(self, pattern: Any, text: Any) -> bool:
        return self._matches(self._glob_parts(_text(pattern)), _text(text))

    def _lower(self, text: Any) -> str:
        given = _text(text)
        # How a sigma is written depends on the letters around it.
        return given.lower() if "\u03a3" in given else self._budget.in_pieces(str.lower, given)

    def _upper(self, text: Any) -> str:
        return self._budget.in_pieces(str.upper, _text(text))

    def _instr(self, text: Any, part: Any) -> int:
        return self._budget.find(_text(text), _text(part)) + 1

    def _parts_of_like(self, pattern: str, escape: str) -> tuple[_Part, ...]:
        """Return the parts of a pattern between `%`."""
        self._check_pattern(pattern)
        parts: list[list[str]] = [[]]
        letters = iter(pattern.casefold())
        for letter in letters:
            if escape and letter == escape.casefold():
                parts[-1] += map(re.escape, next(letters, ""))
            elif letter == "%":
                parts.append([])
            else:
                parts[-1].append("." if letter == "_" else re.escape(letter))
        return tuple(map(_part, parts))

    def _parts_of_glob(self, pattern: str) -> tuple[_Part, ...]:
        """Return the parts of a pattern between `*`."""
        self._check_pattern(pattern)
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
        return tuple(map(_part, parts))

    def _check_pattern(self, pattern: str) -> None:
        if len(pattern) > _MAX_PATTERN_CHARS:
            found = f"{len(pattern):,}"
            raise _refusal(f"expected a pattern of at most {_MAX_PATTERN_CHARS:,} characters, found one of {found}")
        self._budget.spend(_PATTERN_CHAR * len(pattern))

    def _matches(self, parts: tuple[_Part, ...], text: str) -> bool:
        """Return whether `text` is the parts with any text between them; each is taken where it first occurs."""
        first, *others = parts
        if not others:
            return len(text) == first.width and first.matches(text, 0)
        end = first.width if first.matches(text, 0) else -1
        for part in others[:-1]:
            end = end if end < 0 else self._search(part, text, end)
        last = len(text) - others[-1].width
        return 0 <= end <= last and others[-1].matches(text, last)

    def _search(self, part: _Part, text: str, start: int) -> int:
        """Return where the first occurrence of `part` from `start` on ends, -1 without one.

        At each place of the text, `re` may look at the whole pattern; no other thread runs meanwhile.
        """
        if part.pattern is None:
            found = self._budget.find(text, part.literal, start)
            return found if found < 0 else found + part.width
        places = PIECE // (part.width + 1) + 1
        for at in range(start, len(text) - part.width + 1, places):
            end = min(at + places + part.width - 1, len(text))
            self._budget.look_at((end - at) * part.width)
            if match := part.pattern.search(text, at, end):
                return match.end()
        return -1


def _part(letters: list[str]) -> _Part:
    is_literal = not any(letter == "." or letter[0] == "[" for letter in letters)
    literal = "".join(letter[-1] for letter in letters)
    return _Part(len(letters), literal, None if is_literal else re.compile("".join(letters), re.DOTALL))


def _checked(value: Any, wanted: str, sign: str, shown: str) -> Any:
    """Return a value that only its row tells, such as one of JSON, as what stands beside it: a number or a text.

    Raises:
        ProtocolError: E1004, it is neither, and SQLite would compare it by its type alone, or add it as zero.
    """
    is_text, is_exact = isinstance(value, str), sign in ("=", "!=", "IS")
    if value is None or is_text == (wanted == "text"):
        return value
    if is_exact and not is_text:
        return repr(value)
    if is_text and _NUMERAL.fullmatch(value):
        return float(value) if "." in value else int(value)
    is_read = is_text and _READ.fullmatch(value)
    if is_text and (is_read if sign == "+" else is_exact and not is_read):
        return value
    found = f"found {value!r:.40}; write CAST({shown} AS {'REAL' if is_text else 'TEXT'})"
    raise refuse(f"expected {wanted}s from {shown}, {found}")


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
    _bounded("printf", [given, *map(_text, values)])
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
    return _bounded("concat", [_text(value) for value in values if value is not None])


def _bounded(name: str, texts: list[str]) -> str:
    """Return texts as one."""
    if sum(map(len, texts)) > _MAX_RESULT_CHARS:
        raise _refusal(f"expected a text of at most {_MAX_RESULT_CHARS:,} characters from {name}, found a longer one")
    return "".join(texts)


_REPLACED: Final[Sequence[_Function]] = (
    (CHECKED, 4, _checked), ("replace", 3, _replace),
    ("ceil", 1, math.ceil), ("ceiling", 1, math.ceil), ("floor", 1, math.floor), ("sqrt", 1, math.sqrt),
    ("mod", 2, math.fmod), ("pow", 2, math.pow), ("power", 2, math.pow),
    ("printf", -1, _printf), ("format", -1, _printf), ("concat", -1, _concat),
)  # fmt: skip
