"""A handler behind ACCP over HTTP and WebSocket."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import typer

from accp_adapters.cli.commands.serve.entrance import Entrance, url_of
from accp_adapters.cli.sources import say
from accp_core.errors import ProtocolError

if TYPE_CHECKING:
    from accp_adapters.bindings.hosts import Handler
    from accp_adapters.bindings.logs import FrameLog

__all__ = ["prepare_handler"]

_HEARTBEAT = 30
"""Seconds: "ping/pong intent frames every 30 seconds" (ACCP section 11.2)."""


def prepare_handler(
    handler: Handler, entrance: Entrance, written: Mapping[str, Any], *, log: str, **options: Any
) -> Callable[[], Coroutine[Any, Any, None]]:
    """Return what serves a handler at the place of `--http`, with its sessions in `log`.

    `written` are the options of the codec, `options` those of the host.
    """
    place = entrance.http
    return partial(_serve, handler, _open_log(log), entrance, place, written, **options)


def _open_log(address: str) -> FrameLog:
    from accp_adapters.bindings.logs import open_log

    try:
        return open_log(address)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--log") from error


async def _serve(
    handler: Handler,
    log: FrameLog,
    entrance: Entrance,
    place: tuple[str, int],
    written: Mapping[str, Any],
    *,
    agent_id: str,
    **options: Any,
) -> None:
    from dataclasses import replace

    from accp_adapters.bindings.accp.app import accp_app
    from accp_adapters.bindings.hosts import HOST_SESSION, SessionHost
    from accp_adapters.serving.limits import ServerLimits
    from accp_adapters.serving.listening import http_server, listen_at
    from accp_adapters.serving.websockets import WebSocketConnection
    from accp_adapters.tokens import o200k_base
    from accp_core.accp.codec import Codec

    limits, sessions = ServerLimits(), replace(HOST_SESSION, heartbeat=_HEARTBEAT)
    codec = Codec(counter=o200k_base(), **written)
    try:
        with listen_at(*place) as listening:
            host = SessionHost(handler, agent_id=agent_id, log=log, codec=codec, options=sessions, **options)
            async with host:
                app = accp_app(host, authenticate=entrance.authenticate, limits=limits, hosts=entrance.hosts)
                server = http_server(
                    app,
                    header_seconds=limits.body_time,
                    write_seconds=limits.write_time,
                    websocket=WebSocketConnection,
                    message_bytes=limits.frame_bytes,
                    tls=entrance.tls,
                    drain_seconds=10,
                )
                url = url_of(entrance.scheme, place[0], listening.getsockname()[1])
                say(f"serving @{agent_id} at {url}")
                await server.serve(sockets=[listening])
    except ProtocolError as error:  # it is unreachable, or that of other workers
        raise typer.BadParameter(str(error), param_hint="--log") from error
    finally:
        await log.aclose()
