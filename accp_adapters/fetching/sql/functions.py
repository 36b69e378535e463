"""What a query may call. Functions whose time or result SQLite does not bound are replaced by ones that are."""

from __future__ import annotations

import functools
import math
import re
import sqlite3
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

from accp_adapters.fetching.budget import WorkBudget
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
_MAX_COMPARED: Final = 40_000_000
"""Comparisons of a character in one match of a pattern: some tenths of a second, in which no other thread runs."""
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


class _Texts:
    """The functions of one query that look at long texts."""

    def __init__(self, budget: WorkBudget) -> None:
        self._budget = budget
        # Not shared with other queries: what is remembered decides which patterns are counted again.
        self._compiled = functools.lru_cache(maxsize=64)(self._compile)

    def functions(self) -> Sequence[_Function]:
        """Return them as `_REPLACED` has the others."""
        like, glob = self._like, self._glob
        in_pieces = (("lower", 1, self._lower), ("upper", 1, self._upper), ("instr", 2, self._instr))
        return (("like", 2, like), ("like", 3, like), ("glob", 2, glob), *in_pieces)

    def _like(self, pattern: Any, text: Any, escape: str = "") -> bool:
        folded, given = self._budget.in_pieces(str.casefold, _text(text)), _text(pattern).casefold()
        word = given.strip("%")
        if given == f"%{word}%" and not escape and not {"%", "_"} & {*word}:
            return self._budget.find(folded, word) >= 0
        return self._matches(given, folded, "%", escape.casefold())

    def _glob(self, pattern: Any, text: Any) -> bool:
        return self._matches(_text(pattern), _text(text), "*")

    def _lower(self, text: Any) -> str:
        given = _text(text)
        # How a sigma is written depends on the letters around it.
        return given.lower() if "\u03a3" in given else self._budget.in_pieces(str.lower, given)

    def _upper(self, text: Any) -> str:
        return self._budget.in_pieces(str.upper, _text(text))

    def _instr(self, text: Any, part: Any) -> int:
        return self._budget.find(_text(text), _text(part)) + 1

    def _matches(self, pattern: str, text: str, star: str, escape: str = "") -> bool:
        """Return whether a text is what a pattern says; `re` looks at each of its places for each sign of a part."""
        longest = max(map(len, pattern.split(star)))
        self._budget.look_at(len(text) * longest)
        if len(text) * longest > _MAX_COMPARED:
            found = f"one of {longest} for texts of {len(text):,}"
            raise _refusal(
                f"expected a pattern of fewer characters, or of a word between {star!r} alone, found {found}"
            )
        return self._compiled(pattern, star, escape).fullmatch(text) is not None

    def _compile(self, pattern: str, star: str, escape: str) -> re.Pattern[str]:
        """Return a pattern for `re` that takes each part between stars where it first occurs, and tries no other."""
        if len(pattern) > _MAX_PATTERN_CHARS:
            found = f"{len(pattern):,}"
            raise _refusal(f"expected a pattern of at most {_MAX_PATTERN_CHARS:,} characters, found one of {found}")
        self._budget.spend(_PATTERN_CHAR * len(pattern))
        parts: list[list[str]] = [[]]
        signs = _GLOB if star == "*" else re.compile(f"{re.escape(escape)}.|." if escape else ".", re.DOTALL)
        for sign in signs.findall(pattern):
            if sign == star:
                parts.append([])
            else:
                parts[-1].append(_sign(sign, "?" if star == "*" else "_", escape))
        first, *others = ("".join(part) for part in parts)
        between = "".join(f"(?>.*?{part})" for part in others[:-1])
        # The last part stands at the end, behind all others.
        last = f"(?=.{{{len(parts[-1])}}})(?>.*)(?<={others[-1]})" if others else ""
        return re.compile(first + between + last, re.DOTALL)


def _sign(sign: str, one: str, escape: str) -> str:
    """Return for `re` what a sign of LIKE or GLOB matches, which is one character."""
    if sign == one:
        return "."
    if escape and sign[0] == escape:
        return re.escape(sign[1:])
    if len(sign) == 1:
        return re.escape(sign)
    is_not = sign.startswith("[^")
    inner = re.sub(r"([\\\[\]&~|^])", r"\\\1", sign[1 + is_not : -1])
    return f"[{'^' * is_not}{inner}]"


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
