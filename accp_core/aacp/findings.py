"""The findings of validators: a code for programs, a field and a reason for people (AACP section 7)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Finding", "FindingCode"]


class FindingCode(StrEnum):
    """A kind of error or warning about a packet; the values are stable."""

    CONTROL = "control-character"
    LENGTH = "too-long"
    EMPTY = "empty"
    NAMED = "misplaced-field"
    NO_VALUE = "no-value"
    EMPTY_KEY = "empty-key"
    DUPLICATE = "duplicate-key"
    SPACE = "white-space"
    MISSING = "missing"
    UNKNOWN_TASK = "unknown-task"
    UNKNOWN_DOMAIN = "unknown-domain"
    UNKNOWN_KEY = "unknown-key"
    PRIORITY = "unknown-priority"
    VERSION = "other-version"
    VALUE = "unexpected-value"
    TONE = "sentiment-without-tone"
    CURRENCY = "ltv-without-ccy"
    PERSONAL = "personal-data"
    CREDENTIAL = "credential"
    OMITTED = "omitted"
    UNWRITABLE = "cannot-be-written"


@dataclass(frozen=True, slots=True)
class Finding:
    """One error or warning about a packet."""

    code: FindingCode
    """The kind."""
    field: str
    """The key, or "TASK", "DOM", "packet" (the whole text), or the number of a field such as "slot 3"."""
    reason: str
    """A phrase for people; it may quote the packet."""
    position: int = 0
    """Where in the text, in characters from 0; 0 where the packet was no text."""
