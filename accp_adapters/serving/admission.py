"""What every request and connection passes first: its host and origin, its principal, a free place, its rate, its body.

A server of ours has one `Gate`, which its limits configure; `refusal_of` says how a client is refused.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from math import ceil
from typing import Final

from accp_adapters.serving.bodies import BodyRefused, ByteBudget, ByteLease, Receive, Scope, read_body
from accp_adapters.serving.hosts import AllowedHosts, Headers, header
from accp_adapters.serving.limits import ServerLimits
from accp_adapters.serving.off_loop import OWNER
from accp_adapters.serving.principals import AccessDenied, Authenticate, Principal
from accp_adapters.serving.rates import RateLimit
from accp_adapters.serving.shares import Places, TooMany
from accp_core.error_codes import ErrorCode
from accp_core.errors import DecodeError, ProtocolError

__all__ = ["OUT_OF_REACH", "Gate", "OutOfReach", "Refusal", "check_content", "refusal_of"]

_LOG: Final = logging.getLogger(__name__)

OUT_OF_REACH: Final = "the log of the sessions is out of reach"
"""The reason that a peer is given. The cause and the address of the store are in the log of the server only."""


class OutOfReach(ProtocolError):
    """What a server stores in is out of reach (E3001). The reason names the store: it is for our own log."""

    def __init__(self, reason: str) -> None:
        """Refuse, and say why."""
        super().__init__(reason, code=ErrorCode.TIMEOUT)


class Gate:
    """Lets requests and connections in, or says why not; one for each application."""

    def __init__(self, authenticate: Authenticate, limits: ServerLimits, hosts: AllowedHosts) -> None:
        """Let in the principals of `authenticate`, under the names of `hosts`."""
        self.limits: Final = limits
        """Limits of memory and time."""
        self.rate: Final = RateLimit(limits.rate, limits.burst)
        """How many frames each principal may send."""
        self.budget: Final = ByteBudget(limits.buffered_bytes)
        """Bytes of the bodies and answers in memory."""
        self._places: Final = Places(limits.places, limits.places_each)
        self._authenticate, self._hosts = authenticate, hosts

    @asynccontextmanager
    async def admitted(self, scope: Scope) -> AsyncIterator[tuple[Principal, ByteLease]]:
        """Yield whose a request or connection is, and the bytes that it holds; it has a place until the block ends.

        Raises:
            BodyRefused: It names another host, or comes from another origin.
            AccessDenied: It has no known principal.
            TooMany: There is no place.
        """
        if refused := self._hosts.refusal(scope["headers"]):
            raise BodyRefused(*refused)
        principal = await self._authenticate(scope)
        OWNER.set(principal.name)
        with self._places.take(principal.name), self.budget.lease() as lease:
            yield principal, lease

    async def body(self, scope: Scope, receive: Receive, lease: ByteLease, media_type: str) -> bytes:
        """Return the body of a request, whose bytes `lease` holds.

        Raises:
            BodyRefused: As `check_content` and `read_body`.
        """
        check_content(scope["headers"], media_type)
        limits = self.limits
        return await read_body(scope, receive, lease, limit=limits.frame_bytes, seconds=limits.body_time)


def check_content(headers: Headers, media_type: str) -> None:
    """Refuse another content type, and a compressed body, whose content may be far longer than its length says.

    Raises:
        BodyRefused: 415.
    """
    given = header(headers, b"content-type")
    kind, _, parameters = given.partition(";")
    charset = parameters.strip().lower().replace('"', "")
    if kind.strip().lower() != media_type or charset not in ("", "charset=utf-8"):
        reason = f"expected the content type {media_type!r} in UTF-8, found {given!r:.100}"
        raise BodyRefused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, reason)
    encoding = header(headers, b"content-encoding").lower()
    if encoding not in ("", "identity"):
        raise BodyRefused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"expected no compression, found {encoding!r:.100}")


@dataclass(frozen=True, slots=True)
class Refusal:
    """How a client is refused."""

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
    """Return how a client is refused for `error`; where it is not to blame, by an internal error without a reason."""
    if isinstance(error, OutOfReach):
        _LOG.warning("a request was not taken: %s", error)
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
