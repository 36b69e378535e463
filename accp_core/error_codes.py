"""The error codes of the wire and what each allows the sender to do (ACCP section 3.6, Tables 5 and 6)."""

from enum import StrEnum

__all__ = ["ErrorCategory", "ErrorCode"]


class ErrorCategory(StrEnum):
    """The range a code belongs to (Table 5); the value is the range's wording in the draft."""

    PARSE = "Parse / grammar errors"
    STATE = "State store errors"
    DELIVERY = "Transport / delivery errors"
    TOOL = "Tool / MCP errors"
    POLICY = "Policy / authorization errors"
    INTERNAL = "Internal / unknown errors"


class ErrorCode(StrEnum):
    """A standard error code (Table 6); the value is what stands on the wire, such as "E3002"."""

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
    def retryable(self) -> bool:
        """Whether the frame may be sent again, with a new msg_id and sequence (section 3.7, item 3)."""
        return self in _RETRYABLE

    @property
    def category(self) -> ErrorCategory:
        """The range of Table 5 that the first digit names."""
        return _CATEGORIES[self.value[1]]


_RETRYABLE = frozenset(
    {ErrorCode.TIMEOUT, ErrorCode.SEQUENCE_GAP, ErrorCode.TOOL_EXEC_FAILED, ErrorCode.INTERNAL_ERROR}
)
_CATEGORIES = {
    "1": ErrorCategory.PARSE,
    "2": ErrorCategory.STATE,
    "3": ErrorCategory.DELIVERY,
    "4": ErrorCategory.TOOL,
    "5": ErrorCategory.POLICY,
    "9": ErrorCategory.INTERNAL,
}
