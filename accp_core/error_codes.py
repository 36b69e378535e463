"""Every error code of the wire: what it means, whether the frame may be sent again, where it is defined (ACCP 3.6).

Tables 5 and 6 of the draft are one table here. An exception is not a code; it carries one.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final, NamedTuple

__all__ = ["ERROR_CODES", "CodeInfo", "ErrorCategory", "ErrorCode"]


class ErrorCategory(StrEnum):
    """The range that a code belongs to (Table 5); the value is the range's wording in the draft."""

    PARSE = "Parse / grammar errors"
    STATE = "State store errors"
    DELIVERY = "Transport / delivery errors"
    TOOL = "Tool / MCP errors"
    POLICY = "Policy / authorization errors"
    INTERNAL = "Internal / unknown errors"


class ErrorCode(StrEnum):
    """A standard error code (Table 6); the value is what a frame holds, such as "E3002"."""

    PARSE_ERROR = "E1001"
    INVALID_INTENT = "E1002"
    UNKNOWN_SCHEMA = "E1003"
    INVALID_TYPE = "E1004"
    REF_NOT_FOUND = "E2001"
    REF_EXPIRED = "E2002"
    BUDGET_EXCEEDED = "E2003"
    TIMEOUT = "E3001"
    DUPLICATE = "E3002"
    SEQUENCE_GAP = "E3003"
    TOOL_NOT_FOUND = "E4001"
    TOOL_EXEC_FAILED = "E4002"
    TOOL_SCHEMA_MISMATCH = "E4003"
    POLICY_DENIED = "E5001"
    UNAUTHORIZED_REF = "E5002"
    INTERNAL_ERROR = "E9999"

    @property
    def category(self) -> ErrorCategory:
        """The range of Table 5 that the code belongs to."""
        return ERROR_CODES[self].category

    @property
    def meaning(self) -> str:
        """The meaning of the code, in words."""
        return ERROR_CODES[self].meaning

    @property
    def retryable(self) -> bool:
        """Whether the frame may be sent again, with a new msg_id and sequence (section 3.7, item 3)."""
        return ERROR_CODES[self].retryable


class CodeInfo(NamedTuple):
    """One row of the table."""

    category: ErrorCategory
    meaning: str
    retryable: bool
    section: str
    """The section of the ACCP draft that defines when the code is used."""


ERROR_CODES: Final[Mapping[ErrorCode, CodeInfo]] = MappingProxyType(
    {
        ErrorCode.PARSE_ERROR: CodeInfo(ErrorCategory.PARSE, "the text is malformed", False, "3.6"),
        ErrorCode.INVALID_INTENT: CodeInfo(ErrorCategory.PARSE, "the intent is unknown or not allowed", False, "3.2"),
        ErrorCode.UNKNOWN_SCHEMA: CodeInfo(ErrorCategory.PARSE, "the schema is not registered", False, "6.2"),
        ErrorCode.INVALID_TYPE: CodeInfo(ErrorCategory.PARSE, "a value has the wrong type", False, "3.1.1"),
        ErrorCode.REF_NOT_FOUND: CodeInfo(ErrorCategory.STATE, "nothing is stored there", False, "5.1"),
        ErrorCode.REF_EXPIRED: CodeInfo(ErrorCategory.STATE, "the stored value has expired", False, "5.1"),
        ErrorCode.BUDGET_EXCEEDED: CodeInfo(ErrorCategory.STATE, "a limit is exceeded", False, "5.1"),
        ErrorCode.TIMEOUT: CodeInfo(ErrorCategory.DELIVERY, "no answer came in time", True, "3.7"),
        ErrorCode.DUPLICATE: CodeInfo(ErrorCategory.DELIVERY, "the frame came twice", False, "3.7"),
        ErrorCode.SEQUENCE_GAP: CodeInfo(ErrorCategory.DELIVERY, "an earlier frame is missing", True, "3.7"),
        ErrorCode.TOOL_NOT_FOUND: CodeInfo(ErrorCategory.TOOL, "there is no such tool", False, "10.2"),
        ErrorCode.TOOL_EXEC_FAILED: CodeInfo(ErrorCategory.TOOL, "the tool failed", True, "10.2"),
        ErrorCode.TOOL_SCHEMA_MISMATCH: CodeInfo(ErrorCategory.TOOL, "a value breaks the schema", False, "10.2"),
        ErrorCode.POLICY_DENIED: CodeInfo(ErrorCategory.POLICY, "a policy does not allow it", False, "9"),
        ErrorCode.UNAUTHORIZED_REF: CodeInfo(ErrorCategory.POLICY, "the reference was not granted", False, "9"),
        ErrorCode.INTERNAL_ERROR: CodeInfo(ErrorCategory.INTERNAL, "an internal error", True, "3.6"),
    }
)
