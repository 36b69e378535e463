"""What every request and connection passes first: host and origin, principal, a place, a rate, and the body.

A server has one `Gate`, which its limits configure; `refusal_of` says how a client is refused.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, MutableMapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from math import ceil
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit

from starlette.requests import ClientDisconnect, Request

from accp_adapters.serving.limits import Quota, RateLimit, ServerLimits, TooMany
from accp_adapters.serving.principals import AccessDenied, Authenticate, Principal, Scope
from accp_adapters.serving.threads import OWNER
from accp_adapters.serving.turns import Turns
from accp_core.error_codes import ErrorCode
from accp_core.errors import DecodeError, ProtocolError

__all__ = [
    "LOOPBACK", "OUT_OF_REACH", "AllowedHosts", "Gate", "Headers", "OutOfReach", "Receive", "Refusal", "RequestRefused",
    "Send", "read_body", "refusal_of", "run_until_disconnect", "run_until_first", "too_large",
]  # fmt: skip

_LOG: Final = logging.getLogger(__name__)
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Headers: TypeAlias = Sequence[tuple[bytes, bytes]]
"""Names in lower case and values, in their order; a name may occur several times."""
LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
OUT_OF_REACH: Final = "the store of the sessions is out of reach"
"""The reason that a peer is given. The cause and the address of the store are in the log of the server only."""
# Of two such fields, a proxy might read one and its server the other.
_SINGLE: Final = frozenset(b"host origin authorization content-type".split())


class RequestRefused(Exception):
    """A request that is refused before its frame is looked at."""

    def __init__(self, status: HTTPStatus, reason: str) -> None:
        """Refuse with `status`, and say why."""
        super().__init__(reason)
        self.status: Final = status


class OutOfReach(ProtocolError):
    """What a server stores in is out of reach (E3001). The reason names the store: it is for our own log."""

    def __init__(self, reason: str) -> None:
        """Refuse, and say why."""
        super().__init__(reason, code=ErrorCode.TIMEOUT)


# A web page reaches a local server by DNS rebinding unless the server checks `Host` and `Origin`.
@dataclass(frozen=True, slots=True)
class AllowedHosts:
    """The names by which clients may reach the server, at any port."""

    names: frozenset[str] = LOOPBACK

    @classmethod
    def of(cls, names: Iterable[str]) -> AllowedHosts:
        """Return the loopback names and `names`: host names or addresses, without ports."""
        return cls(LOOPBACK | {name.strip("[]").lower() for name in names if name})

    def check(self, headers: Headers) -> None:
        """Refuse a request for another host, from another origin, or with such a field twice.

        Raises:
            RequestRefused: 421, 403 or 400.
        """
        names = [name for name, _ in headers if name in _SINGLE]
        if repeated := next((name for name in names if names.count(name) > 1), b""):
            raise RequestRefused(HTTPStatus.BAD_REQUEST, f"expected one field {repeated.decode()!r}, found several")
        host, origin = (dict(headers).get(name, b"").decode("latin-1") for name in (b"host", b"origin"))
        if not self._allows(f"//{host}"):
            reason = f"expected a host in {sorted(self.names)}, found {host!r:.200}"
            raise RequestRefused(HTTPStatus.MISDIRECTED_REQUEST, reason)
        if origin and not self._allows(origin):
            reason = f"expected an origin in {sorted(self.names)}, found {origin!r:.200}"
            raise RequestRefused(HTTPStatus.FORBIDDEN, reason)

    def _allows(self, address: str) -> bool:
        try:
            parts = urlsplit(address)
            # A port that is no number raises.
            is_bare = parts.port != -1 and parts.netloc == address.partition("//")[2] and "@" not in parts.netloc
            return is_bare and (parts.hostname or "") in self.names
        except ValueError:
            return False


class Gate:
    """Lets requests and connections in, or says why not; one for each application."""

    def __init__(self, authenticate: Authenticate, limits: ServerLimits, hosts: AllowedHosts) -> None:
        """Let in the principals of `authenticate`, under the names of `hosts`."""
        self.limits: Final = limits
        self.rate: Final = RateLimit(limits.rate, limits.burst)
        """How many frames each principal may send."""
        self._places: Final = Quota(limits.places, limits.places_each, "requests and connections")
        self._buffered: Final = Quota(limits.buffered_bytes, limits.buffered_bytes // 2, "bytes of frames")
        self._authenticate, self._hosts, self._turns = authenticate, hosts, Turns()

    @asynccontextmanager
    async def admitted(self, scope: Scope) -> AsyncIterator[Principal]:
        """Yield whose a request or connection is; it has a place until the block ends.

        Raises:
            RequestRefused: It names another host, or comes from another origin.
            AccessDenied: It has no known principal.
            TooMany: There is no place.
        """
        self._hosts.check(scope["headers"])
        principal = await self._authenticate(scope)
        OWNER.set(principal.name)
        with self._places.taken(principal.name):
            await self._turns.begin(self._turns.line(principal.name, scope.get("client")))
            yield principal

    async def body(self, request: Request, principal: Principal, media_type: str) -> bytes:
        """Return the body of a request.

        Raises:
            RequestRefused: 415, it has another type or is compressed; otherwise as `read_body`.
            TooMany: There is no memory for it now.
        """
        check_content(request, media_type)
        limit, seconds = self.limits.frame_bytes, self.limits.body_time
        return await read_body(request, self._buffered, principal.name, limit=limit, seconds=seconds)


async def read_body(request: Request, memory: Quota, owner: str, *, limit: int, seconds: float) -> bytes:
    """Return the body of a request, of at most `limit` bytes, which count for `owner` while they arrive.

    Raises:
        RequestRefused: 413, it is longer; 408, it takes more than `seconds`; 400, the client has disconnected.
        TooMany: There is no memory for it now.
    """
    try:
        async with asyncio.timeout(seconds):
            return await _joined(request, memory, owner, limit)
    except TimeoutError:
        raise RequestRefused(HTTPStatus.REQUEST_TIMEOUT, f"expected the body within {seconds:g} seconds") from None
    except ClientDisconnect:
        raise RequestRefused(HTTPStatus.BAD_REQUEST, "expected a body, found a closed connection") from None


def too_large(limit: str) -> RequestRefused:
    """Return the refusal of a body beyond `limit`, such as "1,000 bytes" (413)."""
    reason = f"expected a body of at most {limit}, found a larger one"
    return RequestRefused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, reason)


async def _joined(request: Request, memory: Quota, owner: str, limit: int) -> bytes:
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length[:20]) > limit:
        raise too_large(f"{limit:,} bytes")
    body = bytearray()
    try:
        async for part in request.stream():
            if len(body) + len(part) > limit:
                raise too_large(f"{limit:,} bytes")
            memory.take(owner, len(part))
            body += part
    finally:
        memory.take(owner, -len(body))
    return bytes(body)


def check_content(request: Request, media_type: str) -> None:
    """Refuse another content type, and a compressed body, whose content may be far longer than its length says.

    Raises:
        RequestRefused: 415.
    """
    given = request.headers.get("content-type", "")
    kind, _, parameters = given.partition(";")
    charset = parameters.strip().lower().replace('"', "")
    if kind.strip().lower() != media_type or charset not in ("", "charset=utf-8"):
        reason = f"expected the content type {media_type!r} in UTF-8, found {given!r:.100}"
        raise RequestRefused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, reason)
    encoding = request.headers.get("content-encoding", "").lower()
    if encoding not in ("", "identity"):
        raise RequestRefused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"expected no compression, found {encoding!r:.100}")


@dataclass(frozen=True, slots=True)
class Refusal:
    """How a client is refused."""

    status: HTTPStatus
    """The status of the HTTP response."""
    close_code: int
    """The code with which a WebSocket is closed."""
    error: ProtocolError
    """The content of the error frame."""
    headers: tuple[tuple[str, str], ...] = ()
    """More fields of the HTTP response."""


_POLICY, _TOO_BIG, _TRY_LATER, _INTERNAL = 1008, 1009, 1013, 1011
_BY_STATUS: Final = {
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: ErrorCode.BUDGET_EXCEEDED,
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
    if isinstance(error, RequestRefused):
        refused = ProtocolError(str(error), code=_BY_STATUS.get(error.status, ErrorCode.PARSE_ERROR))
        is_long = error.status is HTTPStatus.REQUEST_ENTITY_TOO_LARGE
        return Refusal(error.status, _TOO_BIG if is_long else _POLICY, refused)
    if isinstance(error, AccessDenied):
        status = HTTPStatus.SERVICE_UNAVAILABLE if error.is_temporary else HTTPStatus.UNAUTHORIZED
        return Refusal(status, _POLICY, error, () if error.is_temporary else (("www-authenticate", "Bearer"),))
    if isinstance(error, TooMany):
        status = HTTPStatus.TOO_MANY_REQUESTS if error.is_own else HTTPStatus.SERVICE_UNAVAILABLE
        return Refusal(status, _TRY_LATER, error, (("retry-after", f"{ceil(error.retry_after)}"),))
    if isinstance(error, DecodeError):
        return Refusal(HTTPStatus.BAD_REQUEST, _POLICY, error)
    if isinstance(error, ProtocolError):
        known = ErrorCode(error.code) if error.code in set(ErrorCode) else None
        status, code = _BY_CODE.get(known, (HTTPStatus.BAD_REQUEST, _POLICY)) if known else (HTTPStatus(500), _INTERNAL)
        return Refusal(status, code, error)
    _LOG.error("a request failed", exc_info=error)
    internal = ProtocolError("internal error", code=ErrorCode.INTERNAL_ERROR)
    return Refusal(HTTPStatus.INTERNAL_SERVER_ERROR, _INTERNAL, internal)


async def run_until_disconnect(receive: Receive, exchange: Coroutine[Any, Any, object]) -> None:
    """Await `exchange`; cancel it when the client disconnects, which is how a client cancels a call."""
    await run_until_first(exchange, _disconnected(receive))


async def run_until_first(*works: Coroutine[Any, Any, object]) -> None:
    """Await what ends first, and cancel the others; raises what that raises."""
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
