"""What the columns of a condition hold, for a reader whose condition no row met."""

from __future__ import annotations

import difflib
import re
import sqlite3
from collections.abc import Sequence
from typing import Any, Final

from accp_adapters.fetching.sql.catalog import quoted_name
from accp_adapters.fetching.sql.comparing.numerals import ASCENDING
from accp_adapters.fetching.sql.database import Database
from accp_adapters.fetching.sql.resolver import ComparedColumn
from accp_adapters.fetching.sql.run import open_connection
from accp_adapters.fetching.sql.scope import quote
from accp_adapters.fetching.sql.storage import StoredColumn
from accp_core.strict_json import compact_json

__all__ = ["describe_comparisons"]

_BESIDE: Final = ("arrays", "objects", "null", "absent")
"""Kinds of cells that are counted, not shown."""
_MAX_COMPARISONS: Final = 3
_MAX_VALUES: Final = 8
"""Different values of a column that are all listed."""
_MAX_COMPARED: Final = 2_000
_MAX_CHARS: Final = 60
_MAX_STEPS: Final = 5_000_000
# A value that has one of them could pass for the end of the list, or for a line of ours.
_NOT_PLAIN: Final = re.compile(r"""[();"\[\]…\x00-\x1f\x7f-\x9f\u2028\u2029]""")


def describe_comparisons(comparisons: Sequence[ComparedColumn], databases: Sequence[Database]) -> str:
    """Return what each compared column holds: `status has: late (12), paid (588)`."""
    by_column = {(each.table.number, each.table.name, each.column): each for each in comparisons}
    described = [_describe(each, databases) for each in list(by_column.values())[:_MAX_COMPARISONS]]
    return "; ".join(filter(None, described))


def _describe(comparison: ComparedColumn, databases: Sequence[Database]) -> str:
    table, column = comparison.table, comparison.column
    try:
        with open_connection([databases[table.number]], _MAX_STEPS) as connection:
            return f"{quoted_name(column)} has{_values(comparison, connection)}"
    except sqlite3.Error:
        # It was too much work; the answer does without.
        return ""


def _values(comparison: ComparedColumn, connection: sqlite3.Connection) -> str:
    stored = comparison.table.stored.columns[comparison.column]
    beside = [f"{kind} ({count:,})" for kind in _BESIDE if (count := stored.kinds.get(kind))]
    shown = _scalars(comparison, stored, connection) if set(stored.kinds) - set(_BESIDE) else []
    if not shown and not beside:
        return " no values"
    text = ", ".join([*shown, *beside])
    return f"{'' if shown and shown[0].startswith(' ') else ': '}{text}{_inside(comparison, stored)}"


def _scalars(comparison: ComparedColumn, stored: StoredColumn, connection: sqlite3.Connection) -> list[str]:
    """Return the values of a column that are no arrays or objects: each with its number, their range, or some."""
    name = quote(comparison.column)
    cell = f"accp_scalar({name})" if stored.holds_json else name
    source = f"FROM r0.{quote(comparison.table.name)} WHERE {cell} IS NOT NULL"
    (different,) = connection.execute(f"SELECT count(DISTINCT {name}) {source}").fetchone()
    if different <= _MAX_VALUES:
        order = f"{name} COLLATE {ASCENDING}"
        counted = connection.execute(f"SELECT {name}, count(*) {source} GROUP BY {name} ORDER BY {order}")
        return [f"{_shown(stored.restore(value))} ({count})" for value, count in counted]
    if stored.is_number or stored.numbers:
        number = name if stored.is_number else f"accp_numeral({name}) COLLATE {ASCENDING}"
        least, most = connection.execute(f"SELECT min({number}), max({number}) {source}").fetchone()
        others = stored.kinds.get("text", 0) + stored.kinds.get("number", 0) - stored.numbers
        shown = f"{_shown(stored.restore(least))} to {_shown(stored.restore(most))}"
        return [shown, f"other texts ({others:,})"] if others else [shown]
    values = [value for (value,) in connection.execute(f"SELECT DISTINCT {name} {source} LIMIT {_MAX_COMPARED}")]
    nearest = ", ".join(map(_shown, _nearest(comparison.text or "", values)))
    return [f" {different} values, such as {nearest}"]


def _inside(comparison: ComparedColumn, stored: StoredColumn) -> str:
    """Return how to query what is in the arrays and objects of a column."""
    table, column = comparison.table, comparison.column
    name = quoted_name(column)
    if not (stored.kinds.get("arrays") or stored.kinds.get("objects")):
        return ""
    repeated = table.stored.source.repeated
    nested = [each for each in table.columns if each.startswith(f"{column}.") and each not in repeated]
    if nested:
        return f"; see {', '.join(map(quoted_name, nested[:_MAX_COMPARISONS]))}"
    if column in repeated:
        return f"; see the table of {name}"
    item = "[0]" if stored.kinds.get("arrays") else ".name"
    return f"; see json_extract({name}, '${item}') or json_each({name})"


def _nearest(text: str, values: list[str]) -> list[str]:
    """Return the values that are most like `text`: those that contain it, those that are spelled alike, else any."""
    folded = text.casefold()
    containing = [value for value in values if folded and folded in value.casefold()]
    short = [value for value in values if len(value) <= _MAX_CHARS]
    return (containing or difflib.get_close_matches(text, short, 3, 0.6) or values)[:3]


def _shown(value: Any) -> str:
    if not isinstance(value, str):
        return compact_json(value) if isinstance(value, bool) else repr(value)
    cut = value[:_MAX_CHARS]
    shown = compact_json(cut) if not cut or _NOT_PLAIN.search(cut) else cut
    return shown if len(value) <= _MAX_CHARS else f"{shown}…"
