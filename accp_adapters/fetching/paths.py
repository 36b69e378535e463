"""The part of a stored value that a path leads to, and the rows in it."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final
from urllib.parse import unquote

__all__ = ["NO_VALUE", "POINTER", "find_rows", "follow", "follow_pointer"]

NO_VALUE: Final = object()
"""Nothing is at a path."""

POINTER: Final = "#/"
"""How a JSON Pointer begins in a URI (RFC 6901, section 6): `#/orders/3`."""
_POINTER_INDEX: Final = re.compile("0|[1-9][0-9]{0,8}")
_MAX_KEYS: Final = 8
"""Keys of an object that a refusal names."""
_IN_BRACKETS: Final = re.compile(r"\[\s*(?:(-?\d+)|\"([^\"]*)\"|'([^']*)')\s*\]|\.\"([^\"]*)\"")


def find_rows(value: Any, path: str = "") -> tuple[list[Any], str, Callable[[list[Any]], Any]] | None:
    """Return the rows of a value: its items, or those of the only list in it; None: it has none.

    Args:
        value: A list or an object; other values have no rows.
        path: The path to it in the whole stored value.

    Returns:
        The rows, the path to them, and what returns the value with some rows in place of all.
    """
    if isinstance(value, list):
        return value, path, lambda rows: rows
    names = [name for name in value if isinstance(value[name], list)] if isinstance(value, dict) else []
    if len(names) != 1:
        return None
    (key,) = names
    return value[key], f"{path}.{key}".removeprefix("."), lambda rows: {**value, key: rows}


def follow(value: Any, path: str) -> Any:
    """Return the value at `path`, or NO_VALUE; a key that contains dots comes before a path through keys.

    A path is `a.0.b`, and, as it is written elsewhere, `$.a[0].b`, `a["b"]`, `a."b"` or `#/a/0/b`. Where no key is
    empty, a dot at the end means nothing.
    """
    if not path:
        return value
    found = _follow(value, path)
    if found is not NO_VALUE:
        return found
    with suppress(LookupError):
        return follow_pointer(value, path)
    dotted = _IN_BRACKETS.sub(lambda key: "." + next(filter(None, key.groups()), ""), path)
    rest = (dotted[1:] if dotted.startswith("$.") else dotted).removeprefix(".")
    return _follow(value, rest) if rest != path else NO_VALUE


def follow_pointer(value: Any, pointer: str) -> Any:
    """Return the value at a JSON Pointer as a URI holds it (RFC 6901): `#/orders/3`.

    Raises:
        LookupError: Nothing is there, or it is no such pointer; it says what was expected, and where.
    """
    if not pointer.startswith(POINTER):
        raise LookupError(f"expected a pointer such as '#/orders/3', found {pointer[:100]!r}")
    at = "#"
    for token in unquote(pointer).split("/")[1:]:
        # "first transforming any occurrence of the sequence '~1' to '/', and then … '~0' to '~'" (section 4)
        key = token.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict) and key in value:
            value = value[key]
        elif isinstance(value, list) and _POINTER_INDEX.fullmatch(key) and int(key) < len(value):
            value = value[int(key)]
        else:
            raise LookupError(f"expected {_parts_of(value)} at {at[:100]!r}, found {key[:100]!r}")
        at += f"/{token}"
    return value


def _parts_of(value: Any) -> str:
    """Return what may stand behind a pointer to a value."""
    if isinstance(value, dict) and value:
        keys = ", ".join(repr(key[:100]) for key in list(value)[:_MAX_KEYS])
        return f"one of the {len(value):,} keys ({keys}{', …' * (len(value) > _MAX_KEYS)})"
    if isinstance(value, list) and value:
        return f"an index from 0 to {len(value) - 1}"
    return "the pointer to end"


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
