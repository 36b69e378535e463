"""What validators report: a code for programs, a field and a reason for people (AACP section 7)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Finding", "FindingCode"]


class FindingCode(StrEnum):
    """What is wrong or doubtful about a packet; stable, for programs."""

    CONTROL = "control-character"
    LENGTH = "too-long"
    ESCAPE = "bad-escape"
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
    TONE = "sentiment-without-tone"
    CURRENCY = "ltv-without-ccy"
    PERSONAL = "personal-data"
    CREDENTIAL = "credential"
    OMITTED = "omitted"
    UNWRITABLE = "cannot-be-written"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong or doubtful."""

    code: FindingCode
    field: str
    """The key, "TASK", "DOM", "packet" for the whole, or the place among the fields, such as "slot 3"."""
    reason: str
    """For a person; names what was found."""
    position: int = 0
    """Where in the text, in characters from 0; 0 where there is no text."""
