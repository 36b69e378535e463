"""What every field of a context must be, and how references are spelled (ACI sections 5.1 and 5.2)."""

from __future__ import annotations

import json
import reprlib
from collections.abc import Hashable, Iterable, Mapping
from datetime import datetime
from typing import Any, Final, TypeAlias

from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError
from accp_core.references import is_reference

__all__ = [
    "MAX_ABSTRACT_CHARS", "MAX_CONTEXT_CHARS", "MAX_DEPTH", "MAX_ENTRIES", "MAX_TEXT_CHARS", "Json", "check_context",
    "check_entries", "check_json", "check_text", "check_unique", "is_map", "is_time", "violation",
]  # fmt: skip

Json: TypeAlias = Any
"""A JSON value."""

MAX_ENTRIES: Final = 1_000
"""Entries of any list of a context: items, goals, dependencies, references."""
MAX_TEXT_CHARS: Final = 100_000
"""Characters of any text of a context but an abstract."""
MAX_ABSTRACT_CHARS: Final = 2_000
"""Characters of an abstract. What is longer is a full output, which belongs behind a reference."""
MAX_CONTEXT_CHARS: Final = 1_000_000
"""Characters of one inline context, as JSON."""
MAX_DEPTH: Final = 50
"""Arrays and objects within each other in inline context."""

# What a peer sent may be deep or long: a refusal shows some of it.
_SHOWN: Final = reprlib.Repr()
_SHOWN.maxstring = _SHOWN.maxother = 80
_SHOWN.maxlevel = 3


def violation(code: str, expected: str, found: object) -> ProtocolError:
    """Return the refusal that says what was expected and shows, shortened, what was found."""
    return ProtocolError(f"expected {expected}, found {_SHOWN.repr(found)}", code=code)


def check_text(name: str, value: object, *, non_empty: bool = False, max_chars: int = MAX_TEXT_CHARS) -> str:
    """Return `value` when it is text, with `non_empty` not an empty one.

    Raises: ProtocolError E1004 for anything else, E2003 for more than `max_chars` characters.
    """
    if not isinstance(value, str) or (non_empty and not value):
        kind = "a text that is not empty" if non_empty else "text"
        raise violation(ErrorCode.INVALID_TYPE, f"{name} to be {kind}", value)
    if len(value) > max_chars:
        raise violation(ErrorCode.BUDGET_EXCEEDED, f"{name} of at most {max_chars:,} characters", value)
    return value


def check_entries(name: str, values: object) -> None:
    """Refuse what is no tuple (E1004) or too long (E2003)."""
    if not isinstance(values, tuple):
        raise violation(ErrorCode.INVALID_TYPE, f"{name} to be a tuple", values)
    if len(values) > MAX_ENTRIES:
        raise violation(ErrorCode.BUDGET_EXCEEDED, f"at most {MAX_ENTRIES:,} {name}", len(values))


def check_unique(name: str, keys: Iterable[Hashable]) -> None:
    """Refuse the first key that comes twice (E1004)."""
    seen: set[Hashable] = set()
    for key in keys:
        if key in seen:
            raise violation(ErrorCode.INVALID_TYPE, f"each of {name} once", key)
        seen.add(key)


def check_context(value: Json) -> Json:
    """Return inline context when it is JSON that says something and is no reference.

    Raises: ProtocolError E1004 for anything else, E2003 for too many characters or levels.
    """
    if value in (None, "") or (isinstance(value, str) and is_reference(value)):
        raise violation(ErrorCode.INVALID_TYPE, "inline context: JSON that is neither empty nor a reference", value)
    return check_json("inline context", value)


def check_json(name: str, value: Json) -> Json:
    """Return `value` when it is JSON (E1004) and neither too deep nor too long (E2003)."""
    if _is_deep(value):
        raise violation(ErrorCode.BUDGET_EXCEEDED, f"{name} of at most {MAX_DEPTH} levels", "more")
    try:
        text = json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        raise violation(ErrorCode.INVALID_TYPE, f"{name} that is JSON", value) from None
    if len(text) > MAX_CONTEXT_CHARS:
        raise violation(ErrorCode.BUDGET_EXCEEDED, f"{name} of at most {MAX_CONTEXT_CHARS:,} characters", len(text))
    return value


def _is_deep(value: Json) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        level = [member for each in level for member in _members(each)]
        if not level:
            return False
    return True


def _members(value: Json) -> Iterable[Json]:
    if isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, (list, tuple)) else ()


def is_time(text: str) -> bool:
    """Tell whether a text is a time in ISO 8601 that says its zone."""
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False


def is_map(value: object) -> bool:
    """Tell whether `value` is a JSON object."""
    return isinstance(value, Mapping) and all(isinstance(key, str) for key in value)
