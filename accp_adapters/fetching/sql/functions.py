"""What a query may call. Functions whose time or result SQLite does not bound are replaced by ones that are."""

from __future__ import annotations

import math
import re
import sqlite3
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

from accp_adapters.fetching.opening import WorkBudget
from accp_adapters.fetching.request import refuse
from accp_core.errors import ProtocolError

__all__ = ["AS_NUMBER", "CALLS", "CHECKED", "OPERATORS", "TABLE_FUNCTIONS", "QueryConnection", "add_functions"]

_NAMES: Final = {
    "adds": "abs avg ceil ceiling floor mod pow power round sign sqrt sum total",
    "counts": """count cume_dist dense_rank instr json_array_length json_valid julianday length ntile percent_rank rank
        row_number unicode unixepoch""",
    "writes": """char concat format group_concat json_type lower ltrim printf replace rtrim strftime substr substring
        trim typeof upper""",
    "chooses": "coalesce ifnull iif max min nullif",
    "looks": "first_value lag last_value lead nth_value",
    "dates": "date datetime time",
    "tests": "exists",
    "": "cast json_extract",
}
CALLS: Final = {name: group for group, names in _NAMES.items() for name in names.split()}
"""The functions that a query may call, in lower case, by what they do."""
TABLE_FUNCTIONS: Final = frozenset(("json_each", "json_tree"))
"""The functions that a query may call in place of a table."""
OPERATORS: Final = frozenset(("->", "->>", "like", "glob"))
"""The operators that SQLite treats as functions."""

CHECKED: Final = "accp_checked"
"""The function that checks a value which only its row tells, such as one of `json_extract`."""
_NUMERAL: Final = re.compile(r"-?(?:0|[1-9]\d{0,17})(?:\.\d{1,17})?")
AS_NUMBER: Final = re.compile(r"\s*[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?\s*")
"""A text that SQLite adds as a number."""

_FORMAT: Final = re.compile(r"%(?:%|[-+ 0]*[0-9]{0,2}(?:\.[0-9]{1,2})?[sdifgxXeE])")

_Function: TypeAlias = tuple[str, int, Callable[..., Any]]
"""The name of a function, how many arguments it has (-1: any number), and what is called."""
_CALL: Final = 10
"""Steps of a call."""


class QueryConnection(sqlite3.Connection):
    """A connection of one query."""

    failure: ProtocolError | None = None
    """Why one of our functions refused its arguments; SQLite only says that one did."""
    budget: WorkBudget = WorkBudget(math.inf, "")
    """The work that is left for the query, that of our functions among it."""


def add_functions(connection: QueryConnection) -> None:
    """Replace the functions of SQLite that a hostile text makes slow, and add what some builds of it lack."""
    for name, arguments, function in _REPLACED:
        connection.create_function(name, arguments, _guard(connection, function), deterministic=True)


def _guard(connection: QueryConnection, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function whose work is counted; null is its answer where an argument fits it not, as in SQL."""
    budget = connection.budget

    def guarded(*arguments: Any) -> Any:
        try:
            budget.spend(_CALL)
            budget.look_at(sum(len(each) for each in arguments if type(each) is str))
            return function(*arguments)
        except ProtocolError as error:
            connection.failure = error
            raise
        except (ArithmeticError, AttributeError, TypeError, ValueError):
            return None

    return guarded


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
    is_read = is_text and AS_NUMBER.fullmatch(value)
    if is_text and (is_read if sign == "+" else is_exact and not is_read):
        return value
    found = f"found {value!r:.40}; write CAST({shown} AS {'REAL' if is_text else 'TEXT'})"
    raise refuse(f"expected {wanted}s from {shown}, {found}")


def _printf(pattern: Any, *values: Any) -> str:
    """Write values as `printf` does, with widths of at most 99."""
    if "%" in _FORMAT.sub("", str(pattern)):
        raise refuse(f"expected a format such as '%.2f' of at most 99 characters, found {pattern!r:.60}")
    return str(pattern) % tuple("" if value is None else value for value in values)


def _concat(*values: Any) -> str:
    return "".join(str(value) for value in values if value is not None)


def _replace(text: Any, old: Any, new: Any) -> Any:
    return str(text).replace(str(old), str(new)) if None not in (text, old, new) and old != "" else text


def _instr(text: Any, part: Any) -> int | None:
    return None if None in (text, part) else str(text).find(str(part)) + 1


_REPLACED: Final[Sequence[_Function]] = (
    (CHECKED, 4, _checked), ("replace", 3, _replace), ("concat", -1, _concat), ("printf", -1, _printf),
    ("format", -1, _printf), ("instr", 2, _instr),
    ("lower", 1, lambda value: None if value is None else str(value).lower()),
    ("upper", 1, lambda value: None if value is None else str(value).upper()),
    ("ceil", 1, math.ceil), ("ceiling", 1, math.ceil), ("floor", 1, math.floor), ("sqrt", 1, math.sqrt),
    ("mod", 2, math.fmod), ("pow", 2, math.pow), ("power", 2, math.pow),
)  # fmt: skip
