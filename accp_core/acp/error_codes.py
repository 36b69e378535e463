"""The error codes of ACP and the HTTP status that goes with each (ACP transport 0.3, binding D of the reference)."""

from enum import StrEnum
from typing import Final

__all__ = ["AcpError"]


class AcpError(StrEnum):
    """A code; the value is what `error_code` holds."""

    INVALID_REQUEST = "ERR_INVALID_REQUEST"
    AMBIGUOUS_PEER = "ERR_AMBIGUOUS_PEER"
    NOT_FOUND = "ERR_NOT_FOUND"
    TIMEOUT = "ERR_TIMEOUT"
    TOO_LARGE = "ERR_MSG_TOO_LARGE"
    INTERNAL = "ERR_INTERNAL"
    NOT_CONNECTED = "ERR_NOT_CONNECTED"

    @property
    def status(self) -> int:
        """The HTTP status of an answer with this code."""
        return _STATUS[self]


_STATUS: Final = {
    AcpError.INVALID_REQUEST: 400,
    AcpError.AMBIGUOUS_PEER: 400,
    AcpError.NOT_FOUND: 404,
    AcpError.TIMEOUT: 408,
    AcpError.TOO_LARGE: 413,
    AcpError.INTERNAL: 500,
    AcpError.NOT_CONNECTED: 503,
}
