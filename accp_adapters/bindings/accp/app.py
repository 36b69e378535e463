"""ACCP over HTTP and WebSocket as an ASGI application (ACCP sections 11.1 and 11.2)."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Final

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute

from accp_adapters.bindings.accp.addresses import FRAMES_PATH, WEBSOCKET_PATH
from accp_adapters.bindings.accp.http_endpoint import HttpEndpoint
from accp_adapters.bindings.accp.websocket_endpoint import WebSocketEndpoint
from accp_adapters.bindings.hosts import SessionHost
from accp_adapters.bindings.identity import Authenticate, loopback_only
from accp_adapters.serving.admission import OUT_OF_REACH, Gate
from accp_adapters.serving.hosts import AllowedHosts
from accp_adapters.serving.limits import ServerLimits
from accp_core.errors import ProtocolError

__all__ = ["accp_app"]

_LOG: Final = logging.getLogger(__name__)


def accp_app(
    host: SessionHost,
    *,
    authenticate: Authenticate = loopback_only,
    limits: ServerLimits | None = None,
    hosts: Iterable[str] = (),
) -> Starlette:
    """Return the application that serves the sessions of `host`, by itself or mounted in another one.

    It has POST /accp/v1/frames, the WebSocket /accp/v1/ws, and for monitoring /health (it runs) and
    /ready (it reaches its log). The host stays the caller's: close it when the application ends.

    Args:
        host: Serves the sessions.
        authenticate: Returns the principal of a request; without it, only clients on this machine are served.
        limits: The limits of memory and time; None: the defaults.
        hosts: The names by which clients reach the server, beside the loopback names; requests for other hosts and
            from web pages of other origins are refused.
    """
    gate = Gate(authenticate, limits or ServerLimits(), AllowedHosts.of(hosts))

    async def ready(_: Request) -> PlainTextResponse:
        try:
            await host.check()
        except ProtocolError as error:
            _LOG.warning("not ready: %s", error)
            return PlainTextResponse(f"{OUT_OF_REACH}\n", 503)
        return PlainTextResponse("ready\n")

    return Starlette(
        routes=[
            Route(FRAMES_PATH, HttpEndpoint(gate, host), methods=["POST"]),
            WebSocketRoute(WEBSOCKET_PATH, WebSocketEndpoint(gate, host)),
            Route("/health", lambda _: PlainTextResponse("ok\n")),
            Route("/ready", ready),
        ]
    )
