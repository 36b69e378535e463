"""The part of a stored value that a path leads to, and the rows in it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

__all__ = ["NO_VALUE", "RowSelection", "find_rows", "follow"]

NO_VALUE: Final = object()
"""Nothing is at a path."""

_IN_BRACKETS: Final = re.compile(r"\[\s*(?:(-?\d+)|\"([^\"]*)\"|'([^']*)')\s*\]|\.\"([^\"]*)\"")


@dataclass(frozen=True, slots=True, kw_only=True)
class RowSelection:
    """Rows of a value, which can be counted and shown in pages."""

    rows: Sequence[Any]
    """The items of the list that holds them."""
    path: str
    """The path to that list, such as "data.items"; empty: the whole value is the list."""
    key: str = ""
    """The key of the list in the object that holds it; empty: no object does."""
    parent: Mapping[str, Any] | None = None
    """That object, shown with the rows; None: there is none."""

    def page(self, start: int, count: int) -> Any:
        """Return the value with `count` of its rows, from row `start` on."""
        rows = list(self.rows[start : start + count])
        return rows if self.parent is None else {**self.parent, self.key: rows}


def find_rows(value: Any, path: str = "") -> RowSelection | None:
    """Return the rows of `value`: its items, or those of the only list in it; None where it has none.

    Args:
        value: A list or an object; other values have no rows.
        path: The path to `value` in the whole stored value.
    """
    if isinstance(value, list):
        return RowSelection(rows=value, path=path)
    names = [name for name in value if isinstance(value[name], list)] if isinstance(value, dict) else []
    if len(names) != 1:
        return None
    key = names[0]
    return RowSelection(rows=value[key], path=f"{path}.{key}" if path else key, key=key, parent=value)


def follow(value: Any, path: str) -> Any:
    """Return the value at `path`, or ABSENT; a key that contains dots comes before a path through keys.

    A path is `a.0.b`, and, as it is written elsewhere, `$.a[0].b`, `a["b"]` or `a."b"`. Where no key is empty, a dot at
    the end means nothing.
    """
    if not path:
        return value
    found = _follow(value, path)
    if found is not NO_VALUE:
        return found
    dotted = _IN_BRACKETS.sub(lambda key: "." + next(filter(None, key.groups()), ""), path)
    rest = (dotted[1:] if dotted.startswith("$.") else dotted).removeprefix(".")
    return _follow(value, rest) if rest != path else NO_VALUE


def _follow(value: Any, path: str) -> Any:
    # A loop: a tool may nest its result as deep as it likes, and a path may have as many keys.
    waiting = [(value, path)]
    while waiting:
        value, path = waiting.pop()
        if isinstance(value, dict) and path in value:
            return value[path]
        if not path:
            return value
        if isinstance(value, dict):
            names = [name for name in value if path.startswith(f"{name}.")]
            waiting += [(value[name], path[len(name) + 1 :]) for name in reversed(names)]
        elif isinstance(value, list):
            index, dot, rest = path.partition(".")
            if index.isdecimal() and len(index) < 10 and int(index) < len(value):
                if not dot:
                    return value[int(index)]
                waiting.append((value[int(index)], rest))
    return NO_VALUE
