"""What every field of a context must be, and how references are spelled (ACI sections 5.1 and 5.2)."""

from __future__ import annotations

import json
import re
import reprlib
from collections.abc import Hashable, Iterable, Mapping
from datetime import datetime
from typing import Any, Final, TypeAlias

from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError

__all__ = [
    "LONGEST_ABSTRACT", "LONGEST_CONTEXT", "LONGEST_TEXT", "MOST", "Json", "breach", "check_context", "check_json",
    "check_most", "check_text", "check_unique", "is_map", "is_reference", "is_time", "ref_of", "uri_of",
]  # fmt: skip

Json: TypeAlias = Any
"""A JSON value."""

MOST: Final = 1_000
"""Entries of any list of a context: items, goals, dependencies, references."""
LONGEST_TEXT: Final = 100_000
"""Characters of any text of a context but an abstract."""
LONGEST_ABSTRACT: Final = 2_000
"""Characters of an abstract. What is longer is a full output, which belongs behind a reference."""
LONGEST_CONTEXT: Final = 1_000_000
"""Characters of one inline context, as JSON."""
DEEPEST: Final = 50
"""Arrays and objects within each other in inline context."""

# What a peer sent may be deep or long: a refusal shows some of it.
_SHOWN: Final = reprlib.Repr()
_SHOWN.maxstring = _SHOWN.maxother = 80
_SHOWN.maxlevel = 3

# A scheme of one letter is the drive of a file name; a blank makes a sentence of it ("note: call back").
_URI: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:\S+")
_REF: Final = re.compile(r"\$([a-z]+)\.([A-Za-z0-9_.]+)")
_STATE_URI: Final = re.compile(r"accp://([a-z]+)/([A-Za-z0-9_.]+)")


def breach(code: str, expected: str, found: object) -> ProtocolError:
    """Return the refusal that says what was expected and shows, shortened, what was found."""
    return ProtocolError(f"expected {expected}, found {_SHOWN.repr(found)}", code=code)


def check_text(name: str, value: object, *, filled: bool = False, longest: int = LONGEST_TEXT) -> str:
    """Return `value` when it is text, with `filled` not an empty one.

    Raises: ProtocolError E1004 for anything else, E2003 for more than `longest` characters.
    """
    if not isinstance(value, str) or (filled and not value):
        raise breach(ErrorCode.INVALID_TYPE, f"{name} to be {'a text that is not empty' if filled else 'text'}", value)
    if len(value) > longest:
        raise breach(ErrorCode.BUDGET_EXCEEDED, f"{name} of at most {longest:,} characters", value)
    return value


def check_most(name: str, values: object) -> None:
    """Refuse what is no tuple (E1004) or too long (E2003)."""
    if not isinstance(values, tuple):
        raise breach(ErrorCode.INVALID_TYPE, f"{name} to be a tuple", values)
    if len(values) > MOST:
        raise breach(ErrorCode.BUDGET_EXCEEDED, f"at most {MOST:,} {name}", len(values))


def check_unique(name: str, keys: Iterable[Hashable]) -> None:
    """Refuse the first key that comes twice (E1004)."""
    seen: set[Hashable] = set()
    for key in keys:
        if key in seen:
            raise breach(ErrorCode.INVALID_TYPE, f"each of {name} once", key)
        seen.add(key)


def check_context(value: Json) -> Json:
    """Return inline context when it is JSON that says something and is no reference.

    Raises: ProtocolError E1004 for anything else, E2003 for too many characters or levels.
    """
    if value in (None, "") or (isinstance(value, str) and is_reference(value)):
        raise breach(ErrorCode.INVALID_TYPE, "inline context: JSON that is neither empty nor a reference", value)
    return check_json("inline context", value)


def check_json(name: str, value: Json) -> Json:
    """Return `value` when it is JSON (E1004) and neither too deep nor too long (E2003)."""
    if _is_deep(value):
        raise breach(ErrorCode.BUDGET_EXCEEDED, f"{name} of at most {DEEPEST} levels", "more")
    try:
        text = json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        raise breach(ErrorCode.INVALID_TYPE, f"{name} that is JSON", value) from None
    if len(text) > LONGEST_CONTEXT:
        raise breach(ErrorCode.BUDGET_EXCEEDED, f"{name} of at most {LONGEST_CONTEXT:,} characters", len(text))
    return value


def _is_deep(value: Json) -> bool:
    level = [value]
    for _ in range(DEEPEST + 1):
        level = [member for each in level for member in _members(each)]
        if not level:
            return False
    return True


def _members(value: Json) -> Iterable[Json]:
    if isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, (list, tuple)) else ()


# "The field Context/ContextURI specifies the address of external or long-term context" (section 5.2)
def is_reference(text: str) -> bool:
    """Tell whether a text is an address: a URI or the reference of an ACCP state, such as `$cold.c9523506b4bd`."""
    return bool(_URI.fullmatch(text) or _REF.fullmatch(text))


def uri_of(reference: str) -> str:
    """Return a reference as a context spells it: `$cold.c95` is `accp://cold/c95`; a URI stays."""
    found = _REF.fullmatch(reference)
    return f"accp://{found[1]}/{found[2]}" if found else reference


def ref_of(uri: str) -> str | None:
    """Return the ref-key of a URI of ours, such as "cold.c95"; None for other people's."""
    found = _STATE_URI.fullmatch(uri)
    return f"{found[1]}.{found[2]}" if found else None


def is_time(text: str) -> bool:
    """Tell whether a text is a time in ISO 8601 that says its zone."""
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False


def is_map(value: object) -> bool:
    """Tell whether `value` is a JSON object."""
    return isinstance(value, Mapping) and all(isinstance(key, str) for key in value)
