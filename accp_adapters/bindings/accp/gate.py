"""What every request and connection passes first: its host and origin, who it is of, and a free place."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from http import HTTPStatus
from math import ceil
from typing import Final

from accp_adapters.bindings.hosts import SessionHost
from accp_adapters.bindings.identity import AccessDenied, Authenticate, Principal, Scope
from accp_adapters.bindings.limits import BindingLimits, Places, RateLimit
from accp_adapters.bindings.logs import LogError
from accp_adapters.serving.bodies import BodyRefused, ByteBudget
from accp_adapters.serving.hosts import AllowedHosts
from accp_adapters.serving.shares import TooMany
from accp_core.error_codes import ErrorCode
from accp_core.errors import DecodeError, ProtocolError

__all__ = ["OUT_OF_REACH", "Gate", "HostGate", "Refusal", "refusal_of"]

_LOG: Final = logging.getLogger(__name__)

OUT_OF_REACH: Final = "the log of the sessions is out of reach"
"""The reason that a peer is given. The cause and the address of the store are in the log of the server only."""


class Gate:
    """Lets requests and connections in, or says why not; one for each application."""

    def __init__(self, authenticate: Authenticate, limits: BindingLimits, hosts: AllowedHosts) -> None:
        """Let in whom `authenticate` knows, at the names of `hosts`."""
        self.limits: Final = limits
        """Limits of memory and time."""
        self.rate: Final = RateLimit(limits.rate, limits.burst)
        """How many frames each principal may send."""
        self.places: Final = Places(limits.places, limits.places_each)
        """The places for requests and connections."""
        self.budget: Final = ByteBudget(limits.buffered_bytes)
        """Bytes of the frames that are being received."""
        self._authenticate, self._hosts = authenticate, hosts

    async def admit(self, scope: Scope) -> Principal:
        """Return whom a request is of.

        Raises:
            BodyRefused: It names another host, or comes from another origin.
            AccessDenied: It is of no known principal.
        """
        if refused := self._hosts.refusal(scope["headers"]):
            raise BodyRefused(*refused)
        return await self._authenticate(scope)


class HostGate(Gate):
    """The gate of a session host."""

    def __init__(
        self, host: SessionHost, authenticate: Authenticate, limits: BindingLimits, hosts: AllowedHosts
    ) -> None:
        """Let requests for the sessions of `host` in."""
        super().__init__(authenticate, limits, hosts)
        self.host: Final = host
        """Serves the sessions."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """How a refusal is told to the peer."""

    status: HTTPStatus
    """The status of the HTTP response."""
    close_code: int
    """The code with which a WebSocket is closed."""
    error: ProtocolError
    """The content of the error frame."""
    headers: tuple[tuple[bytes, bytes], ...] = ()
    """More fields of the HTTP response."""


_POLICY, _TOO_BIG, _TRY_LATER, _INTERNAL = 1008, 1009, 1013, 1011
_BY_STATUS: Final = {
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: ErrorCode.BUDGET_EXCEEDED,
    HTTPStatus.SERVICE_UNAVAILABLE: ErrorCode.BUDGET_EXCEEDED,
    HTTPStatus.REQUEST_TIMEOUT: ErrorCode.TIMEOUT,
    HTTPStatus.FORBIDDEN: ErrorCode.POLICY_DENIED,
    HTTPStatus.MISDIRECTED_REQUEST: ErrorCode.POLICY_DENIED,
}
_BY_CODE: Final = {
    ErrorCode.POLICY_DENIED: (HTTPStatus.FORBIDDEN, _POLICY),
    ErrorCode.TIMEOUT: (HTTPStatus.SERVICE_UNAVAILABLE, _TRY_LATER),
    ErrorCode.BUDGET_EXCEEDED: (HTTPStatus.SERVICE_UNAVAILABLE, _TRY_LATER),
    ErrorCode.SEQUENCE_GAP: (HTTPStatus.SERVICE_UNAVAILABLE, _TRY_LATER),
}


# "Response: 200 OK with response ACCP frame, or 400 with ER-schema error frame body" (section 11.1); HTTP's own
# statuses where the frame was not looked at.
def refusal_of(error: Exception) -> Refusal:
    """Return how `error` is told to the peer; what it did not cause is an internal error without a reason."""
    if isinstance(error, LogError):
        _LOG.warning("a frame was not taken: %s", error)
        error = ProtocolError(OUT_OF_REACH, code=ErrorCode.TIMEOUT)
    if isinstance(error, BodyRefused):
        refused = ProtocolError(str(error), code=_BY_STATUS.get(error.status, ErrorCode.PARSE_ERROR))
        is_long = error.status is HTTPStatus.REQUEST_ENTITY_TOO_LARGE
        return Refusal(error.status, _TOO_BIG if is_long else _POLICY, refused)
    if isinstance(error, AccessDenied):
        status = HTTPStatus.SERVICE_UNAVAILABLE if error.is_temporary else HTTPStatus.UNAUTHORIZED
        return Refusal(status, _POLICY, error, () if error.is_temporary else ((b"www-authenticate", b"Bearer"),))
    if isinstance(error, TooMany):
        status = HTTPStatus.TOO_MANY_REQUESTS if error.is_own else HTTPStatus.SERVICE_UNAVAILABLE
        return Refusal(status, _TRY_LATER, error, ((b"retry-after", b"%d" % ceil(error.retry_after)),))
    if isinstance(error, DecodeError):
        return Refusal(HTTPStatus.BAD_REQUEST, _POLICY, error)
    if isinstance(error, ProtocolError):
        status, code = _BY_CODE.get(ErrorCode(error.code), (HTTPStatus.BAD_REQUEST, _POLICY))
        return Refusal(status, code, error)
    _LOG.error("a request failed", exc_info=error)
    internal = ProtocolError("internal error", code=ErrorCode.INTERNAL_ERROR)
    return Refusal(HTTPStatus.INTERNAL_SERVER_ERROR, _INTERNAL, internal)
