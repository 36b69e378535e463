"""The entries of the lists in a context: goals, items to do, their states and their results (ACI section 5)."""

from __future__ import annotations

import reprlib
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Final, TypeAlias

from accp_core.error_codes import ErrorCode
from accp_core.errors import EncodeError, ProtocolError
from accp_core.references import is_reference
from accp_core.strict_json import compact_json

__all__ = [
    "DONE", "MAX_ABSTRACT_CHARS", "MAX_CONTEXT_CHARS", "MAX_ENTRIES", "MAX_JSON_DEPTH", "MAX_TEXT_CHARS",
    "NO_USAGE", "OPEN", "Goal", "ItemState", "Json", "KeyInformation", "Outcome", "Status", "TodoItem", "Usage",
    "check_context", "check_entries", "check_json", "check_text", "check_unique", "is_map", "is_time", "time_text",
    "todo", "violation",
]  # fmt: skip


# The checks that every field of a context passes, and their bounds (ACI sections 5.1 and 5.2).

Json: TypeAlias = Any
"""A JSON value."""

MAX_ENTRIES: Final = 1_000
"""Entries of any list of a context: items, goals, dependencies, references."""
MAX_TEXT_CHARS: Final = 100_000
"""Characters of any text of a context but an abstract."""
MAX_ABSTRACT_CHARS: Final = 2_000
"""Characters of an abstract. A longer text is a full output, which belongs behind a reference."""
MAX_CONTEXT_CHARS: Final = 1_000_000
"""Characters of one inline context, as compact JSON."""
MAX_JSON_DEPTH: Final = 50
"""Levels of arrays and objects in inline context."""

# The value of a peer may be deep or long: an error shows only a part of it.
_SHOWN: Final = reprlib.Repr()
_SHOWN.maxstring = _SHOWN.maxother = 80
_SHOWN.maxlevel = 3


def violation(code: str, expected: str, found: object) -> ProtocolError:
    """Return the error "expected …, found …", with a shortened `found`."""
    return ProtocolError(f"expected {expected}, found {_SHOWN.repr(found)}", code=code)


def check_text(name: str, value: object, *, non_empty: bool = False, max_chars: int = MAX_TEXT_CHARS) -> str:
    """Return `value`, which must be text.

    Args:
        name: The field, for the error.
        value: The value of the field.
        non_empty: Whether an empty text is refused.
        max_chars: Characters of the text.

    Raises:
        ProtocolError: E1004, it is not text, or empty; E2003, it is too long.
    """
    if not isinstance(value, str) or (non_empty and not value):
        kind = "a text that is not empty" if non_empty else "text"
        raise violation(ErrorCode.INVALID_TYPE, f"{name} to be {kind}", value)
    if len(value) > max_chars:
        raise violation(ErrorCode.BUDGET_EXCEEDED, f"{name} of at most {max_chars:,} characters", value)
    return value


def check_entries(name: str, values: object) -> None:
    """Check that `values` is a tuple of at most MAX_ENTRIES.

    Raises:
        ProtocolError: E1004, it is no tuple; E2003, it has too many entries.
    """
    if not isinstance(values, tuple):
        raise violation(ErrorCode.INVALID_TYPE, f"{name} to be a tuple", values)
    if len(values) > MAX_ENTRIES:
        raise violation(ErrorCode.BUDGET_EXCEEDED, f"at most {MAX_ENTRIES:,} {name}", len(values))


def check_unique(name: str, keys: Iterable[Hashable]) -> None:
    """Check that no key comes twice.

    Raises:
        ProtocolError: E1004, with the first key that does.
    """
    seen: set[Hashable] = set()
    for key in keys:
        if key in seen:
            raise violation(ErrorCode.INVALID_TYPE, f"each of {name} once", key)
        seen.add(key)


def check_context(value: Json) -> Json:
    """Return inline context, which must be JSON, not empty and not a reference.

    Raises:
        ProtocolError: E1004, it is something else; E2003, it has too many characters or levels.
    """
    if value in (None, "") or (isinstance(value, str) and is_reference(value)):
        raise violation(ErrorCode.INVALID_TYPE, "inline context: JSON that is neither empty nor a reference", value)
    return check_json("inline context", value)


def check_json(name: str, value: Json) -> Json:
    """Return `value`, which must be JSON.

    Raises:
        ProtocolError: E1004, it is not JSON; E2003, it has too many characters or levels.
    """
    if _is_too_deep(value):
        raise violation(ErrorCode.BUDGET_EXCEEDED, f"{name} of at most {MAX_JSON_DEPTH} levels", "more")
    try:
        text = compact_json(value)
    except EncodeError:
        raise violation(ErrorCode.INVALID_TYPE, f"{name} that is JSON", value) from None
    if len(text) > MAX_CONTEXT_CHARS:
        raise violation(ErrorCode.BUDGET_EXCEEDED, f"{name} of at most {MAX_CONTEXT_CHARS:,} characters", len(text))
    return value


def _is_too_deep(value: Json) -> bool:
    level = [value]
    for _ in range(MAX_JSON_DEPTH + 1):
        level = [member for parent in level for member in _members(parent)]
        if not level:
            return False
    return True


def _members(value: Json) -> Iterable[Json]:
    if isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, (list, tuple)) else ()


def is_time(text: str) -> bool:
    """Return whether `text` is a time in ISO 8601 with its time zone."""
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False


def time_text(now: float | None) -> str | None:
    """Return a time as text, such as "2026-03-20T02:51:00Z"; None for None.

    Args:
        now: Seconds since 1970 (Unix time); parts of a second are kept to three places.

    Raises:
        ProtocolError: E1004, it is no number, or beyond the years 1 to 9999.
    """
    if now is None:
        return None
    try:
        time = datetime.fromtimestamp(now, UTC)
    except (TypeError, ValueError, OverflowError, OSError):
        raise violation(ErrorCode.INVALID_TYPE, "a time in seconds since 1970", now) from None
    return time.isoformat(timespec="milliseconds" if time.microsecond else "seconds").replace("+00:00", "Z")


def is_map(value: object) -> bool:
    """Return whether `value` is a JSON object."""
    return isinstance(value, Mapping) and all(isinstance(key, str) for key in value)


DONE: Final = 1
OPEN: Final = 0


class Status(StrEnum):
    """The status of a goal or of the whole task; the value is the word that we write."""

    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    FAILED = "failed"


class Outcome(StrEnum):
    """What is known of an item after its agent has answered."""

    DONE = "done"
    """It is done, and its result is known."""
    FAILED = "failed"
    """It is not done; the reason is known."""
    UNVERIFIED = "unverified"
    """Nobody knows: the answer could not be understood, or has no result."""


@dataclass(frozen=True, slots=True)
class Goal:
    """One goal of a task and its status."""

    goal: str
    """The goal, in words."""
    status: str = Status.PENDING
    """A `Status`, or another word that a peer wrote, unchanged."""

    def __post_init__(self) -> None:
        """Check both texts (ProtocolError E1004, E2003)."""
        check_text("Goal", self.goal, non_empty=True)
        check_text("Status", self.status)


@dataclass(frozen=True, slots=True)
class TodoItem:
    """One step of a subtask."""

    item_id: str
    """Identifies the item within its context."""
    description: str
    """What is to be done."""

    def __post_init__(self) -> None:
        """Check both texts (ProtocolError E1004, E2003)."""
        check_text("itemId", self.item_id, non_empty=True)
        check_text("description", self.description)


# "a binary code where 0 denotes not completed and 1 denotes completed" (section 5.2)
@dataclass(frozen=True, slots=True)
class ItemState:
    """Whether an agent reports an item as done."""

    item_id: str
    """The item."""
    state: int
    """The integer 1 (done) or 0 (not done); texts and booleans are refused."""

    def __post_init__(self) -> None:
        """Check id and state (ProtocolError E1004)."""
        check_text("itemId", self.item_id, non_empty=True)
        if type(self.state) is not int or self.state not in (OPEN, DONE):
            raise violation(
                ErrorCode.INVALID_TYPE, f"state of item {self.item_id!r} to be the integer 0 or 1", self.state
            )


# "concise output abstracts generated by the agent for each item, capturing the semantic evidence necessary for
# result validation" (section 5.2)
@dataclass(frozen=True, slots=True)
class KeyInformation:
    """The result of an item, in few words."""

    item_id: str
    """The item."""
    output_abstract: str
    """At most 2,000 characters; a longer result belongs behind a reference."""

    def __post_init__(self) -> None:
        """Check id and abstract (ProtocolError E1004, E2003)."""
        check_text("itemId", self.item_id, non_empty=True)
        check_text(f"outputabstract of item {self.item_id!r}", self.output_abstract, max_chars=MAX_ABSTRACT_CHARS)


def todo(*descriptions: str) -> tuple[TodoItem, ...]:
    """Return items with these descriptions, numbered "1", "2" and so on."""
    return tuple(TodoItem(str(number), text) for number, text in enumerate(descriptions, 1))


# What an agent's work cost: calls of its model and tokens.


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Calls and tokens, as the models reported them; they add up with `+`.

    Raises:
        ProtocolError: E1004, a number is not a whole number from 0.
    """

    calls: int = 0
    """Calls of a model."""
    input_tokens: int = 0
    """Tokens that models read."""
    output_tokens: int = 0
    """Tokens that models wrote."""

    def __post_init__(self) -> None:
        for number in (self.calls, self.input_tokens, self.output_tokens):
            if type(number) is not int or number < 0:
                raise violation(ErrorCode.INVALID_TYPE, "a whole number from 0", number)

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
        )

    def to_json(self) -> dict[str, Json]:
        """Return the numbers that are not 0."""
        numbers = {"calls": self.calls, "input_tokens": self.input_tokens, "output_tokens": self.output_tokens}
        return {name: number for name, number in numbers.items() if number}

    @classmethod
    def from_json(cls, data: Json) -> Usage:
        """Return the usage that `to_json` wrote.

        Raises:
            ProtocolError: E1004, it is something else.
        """
        if not is_map(data) or not set(data) <= {"calls", "input_tokens", "output_tokens"}:
            raise violation(ErrorCode.INVALID_TYPE, "calls, input_tokens and output_tokens", data)
        return cls(**data)


NO_USAGE: Final = Usage()
"""No call and no token."""
