"""Admission to an endpoint of ours by a token, which is not forwarded to the servers behind it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Any, Final, TypeAlias

from accp_adapters.mcp.proxy.exchange import ClientResponse
from accp_adapters.mcp.proxy.message import error_message
from accp_adapters.serving.bodies import Receive, Scope, Send
from accp_core.errors import ProtocolError

__all__ = ["TOKEN_FIELD", "Admission", "Admit", "admitted"]

TOKEN_FIELD: Final = b"authorization"
"""The field with the token."""

Admit: TypeAlias = Callable[[Scope], Awaitable[object]]
"""Raises ProtocolError for a request that may not come in; an `Authenticate` of `accp_adapters.bindings`, say."""
_Application: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[Any]]


class Admission:
    """The ASGI application in front of another one."""

    def __init__(self, app: _Application, admit: Admit) -> None:
        """Let in to `app` whom `admit` lets in."""
        self._app: Final = app
        self._admit: Final = admit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        try:
            await self._admit(scope)
        except ProtocolError as refused:
            fields = [
                (b"content-type", b"application/json"),
                (b"www-authenticate", b"Bearer"),
                (b"connection", b"close"),
            ]
            await ClientResponse(send).send_all(HTTPStatus.UNAUTHORIZED, fields, error_message(str(refused)).data)
            return
        await self._app(scope, receive, send)


def admitted(app: _Application, admit: Admit | None) -> _Application:
    """Return `app` behind `admit`; None: `app` itself."""
    return app if admit is None else Admission(app, admit)
