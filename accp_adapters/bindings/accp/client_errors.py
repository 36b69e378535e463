"""What can go wrong for a client of ACCP over a network."""

from __future__ import annotations

from typing import Final

from accp_core.accp.frame import Message
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError

__all__ = ["ConnectionRefused", "RequestFailed", "SessionLost"]


class SessionLost(ProtocolError):
    """The session is over: nothing else is sent or received in it."""


class ConnectionRefused(SessionLost):
    """The server does not let this client in, or cannot be reached; another attempt would end alike."""

    def __init__(self, reason: str, *, status: int | None = None, code: str = ErrorCode.POLICY_DENIED) -> None:
        """Refuse, and say why; `status` is that of the server's HTTP response."""
        super().__init__(reason, code=code)
        self.status: Final = status


class RequestFailed(ProtocolError):
    """The answer to a request is a failure, or there is none in time (E3001)."""

    def __init__(self, reason: str, *, code: str, message: Message | None = None) -> None:
        """Fail with the code of the answer."""
        super().__init__(reason, code=code)
        self.message: Final = message
        """The answer; None where there is none."""
