"""What every request of binding D goes through: the host, the caller, its session, the body, the answer."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeAlias

from starlette.requests import Request
from starlette.responses import Response

from accp_adapters.bindings.acp.sessions.host import AcpHost
from accp_adapters.bindings.acp.sessions.session import AcpSession
from accp_adapters.bindings.identity import AccessDenied, Principal, with_bearer_token
from accp_adapters.serving.bodies import BodyRefused, ByteBudget, read_body, weight_of
from accp_adapters.serving.hosts import AllowedHosts
from accp_adapters.serving.off_loop import OWNER
from accp_adapters.serving.responses import HeldResponse
from accp_adapters.wire_log import WIRE, log_frame
from accp_core.accp.debug import Direction
from accp_core.acp import AcpError, error_body
from accp_core.acp.document import Json
from accp_core.acp.handshake import TOKEN_HEADER
from accp_core.errors import LocalProtocolError, ProtocolError
from accp_core.strict_json import compact_json

__all__ = ["AcpGate", "answer", "refuse"]

_LOGGER: Final = logging.getLogger("accp.acp")
Endpoint: TypeAlias = Callable[[Request], Awaitable[Response]]


class AcpGate:
    """Lets a request in, and finds its principal and its session."""

    def __init__(self, host: AcpHost, allowed: AllowedHosts, *, memory: int) -> None:
        """Check requests for the agent of `host`.

        Args:
            host: The agent's sessions.
            allowed: The names by which clients may reach the server.
            memory: Bytes that all bodies may take at the same time, those of one principal a quarter of them.
        """
        self.host = host
        self.allowed = allowed
        self._budget = ByteBudget(memory, each=memory // 4)

    async def principal(self, request: Request) -> Principal:
        """Return the principal of a request, by `Authorization` or `X-ACP-Token`.

        Raises:
            AccessDenied: No principal is authenticated.
        """
        token = request.headers.get(TOKEN_HEADER)
        scope: Any = with_bearer_token(request.scope, token) if token else request.scope
        principal = await self.host.authenticate(scope)
        OWNER.set(principal.name)
        return principal

    async def session(self, request: Request) -> AcpSession:
        """Return the session of the caller; raises as `principal` and `AcpHost.shared_session`."""
        return self.host.shared_session(await self.principal(request))

    async def body(self, request: Request, session: AcpSession) -> str:
        """Return the body of a request that adds to the work of the agent.

        Raises:
            BodyRefused: It is too large, too slow, or there is no memory for it.
            LocalProtocolError: ERR_NOT_CONNECTED, the caller sends too much.
            UnicodeDecodeError: It is not UTF-8.
        """
        limits = self.host.limits
        with self._budget.lease(session.principal.name) as lease:
            data = await read_body(
                request.scope, request.receive, lease, limit=limits.message_bytes, seconds=limits.body_seconds
            )
        if session.rate.take() or session.is_full:
            raise LocalProtocolError("expected fewer messages at once", code=AcpError.NOT_CONNECTED)
        text = data.decode()
        log_frame(Direction.RECEIVED, "acp", text)
        return text

    async def weighed_body(self, request: Request, session: AcpSession) -> tuple[str, int]:
        """Return the body of a request, and about how many bytes it takes while it is read; raises as `body`."""
        text = await self.body(request, session)
        return text, await weight_of(text.encode())

    def wrap(self, endpoint: Endpoint) -> Callable[[Request], Awaitable[HeldResponse]]:
        """Return `endpoint`, for allowed hosts and origins only, and with every refusal as ACP writes it."""

        async def wrapped(request: Request) -> HeldResponse:
            if refusal := self.allowed.refusal(request.scope["headers"]):
                return self._held(refuse(AcpError.INVALID_REQUEST, refusal[1], status=refusal[0]))
            try:
                return self._held(await endpoint(request))
            except Exception as error:
                return self._held(_refusal_of(error))

        return wrapped

    def _held(self, response: Response) -> HeldResponse:
        if WIRE.get() is not None and response.media_type == "application/json":
            log_frame(Direction.SENT, "acp", bytes(response.body).decode())
        busy = refuse(AcpError.NOT_CONNECTED, "expected fewer answers at once")
        return HeldResponse(response, self._budget, seconds=self.host.limits.write_seconds, refusal=busy)


def answer(value: Json, status: int = 200) -> Response:
    """Return a response of JSON."""
    return Response(compact_json(value), status, media_type="application/json")


def refuse(code: AcpError, reason: str, *, status: int = 0, message_id: str | None = None) -> Response:
    """Return the response that refuses a request; `status` in place of the code's, if it is not 0."""
    headers = {"retry-after": "1"} if code is AcpError.NOT_CONNECTED else {}
    if status == 401:
        headers["www-authenticate"] = "Bearer"
    body = error_body(code, reason, now=time.time(), failed_message_id=message_id)
    return Response(body, status or code.status, headers, media_type="application/json")


def _refusal_of(error: Exception) -> Response:
    match error:
        case AccessDenied():
            return refuse(AcpError.INVALID_REQUEST, f"invalid_token: {error.reason}", status=401)
        case BodyRefused(status=413):
            return refuse(AcpError.TOO_LARGE, str(error))
        case BodyRefused(status=408):
            return refuse(AcpError.TIMEOUT, str(error))
        case BodyRefused(status=503):
            return refuse(AcpError.NOT_CONNECTED, str(error))
        case ProtocolError() if error.code in set(AcpError):
            return refuse(AcpError(error.code), error.reason)
        case ValueError() | BodyRefused():
            return refuse(AcpError.INVALID_REQUEST, str(error)[:500])
    _LOGGER.error("a request failed", exc_info=error)
    return refuse(AcpError.INTERNAL, "the request could not be handled")
